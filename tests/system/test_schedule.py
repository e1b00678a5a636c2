"""Inputs over time: compiled and not, alone and in systems, against closed forms."""

import math
import pickle

import numpy as np
import pytest

import bouligand as bd

TARGET = bd.Schedule([0.0, 6.0, 22.0], [16.0, 21.0, 16.0])


def room(t, x, b, p):
    return (TARGET(t) - x[0],)


@pytest.mark.parametrize("compile", [True, False])
def test_a_room_follows_its_set_point(compile):
    system = bd.System(room, n=1, compile=compile)
    sol = bd.solve(system, (0.0, 24.0), [16.0], rtol=1e-10)
    warm = 16.0 + 5.0 * -math.expm1(-16.0)
    assert abs(sol.x[-1, 0] - (16.0 + (warm - 16.0) * math.exp(-2.0))) < 1e-9
    assert {6.0, 22.0} <= set(sol.t)
    assert abs(sol.bderivative().matrix()[0, 0] - math.exp(-24.0)) < 1e-12


def test_straight_lines_and_several_inputs():
    ramp = bd.Schedule([1.0, 2.0, 4.0], [[0.0, 1.0], [2.0, 1.0], [0.0, 3.0]], "linear")
    assert ramp(3.0).tolist() == [1.0, 2.0]
    assert ramp([0.0, 9.0]).tolist() == [[0.0, 1.0], [0.0, 3.0]]

    def f(t, x, b, p):
        u = ramp(t)
        return u[0], u[1] * p[0]

    system = bd.System(f, n=2, params=[2.0])
    sol = bd.solve(system, (0.0, 5.0), [0.0, 0.0])
    assert system.compiled
    assert np.allclose(sol.x[-1], [3.0, 2.0 * (2.0 + 4.0 + 3.0)], atol=1e-12)
    assert np.allclose(sol.bderivative(params=True).matrix(wrt="p"), [[0.0], [9.0]], atol=1e-12)


def test_a_guard_that_follows_a_schedule_and_a_schedule_called_by_a_called_function():
    from numba import njit

    level = bd.Schedule([0.0, 1.0], [1.0, 3.0])

    @njit
    def twice(t):
        return 2.0 * level(t)

    system = bd.System(lambda t, x, b, p: (1.0,), lambda t, x, p: (x[0] - twice(t),), n=1, guards=("full",))
    sol = bd.solve(system, (0.0, 10.0), [0.0])
    assert np.allclose(sol.events.t, [6.0], atol=1e-9)
    assert system.breakpoints.tolist() == [0.0, 1.0]


def test_equal_schedules_share_code_and_changed_ones_do_not():
    def make(value):
        held = bd.Schedule([0.0], [value])
        return bd.System(lambda t, x, b, p: (held(t),), n=1)

    one, same, other = make(1.0), make(1.0), make(2.0)
    ends = [bd.solve(system, (0.0, 1.0), [0.0]).x[-1, 0] for system in (one, same, other)]
    assert np.allclose(ends, [1.0, 1.0, 2.0])
    assert one._functions["f"].function is same._functions["f"].function


def test_it_travels():
    again = pickle.loads(pickle.dumps(TARGET))
    assert again.content == TARGET.content
    assert repr(again) == "Schedule(3 times from 0 to 22, constant)"


def test_a_schedule_that_was_replaced_is_noticed(monkeypatch):
    system = bd.System(room, n=1)
    bd.solve(system, (0.0, 1.0), [16.0])
    monkeypatch.setitem(globals(), "TARGET", bd.Schedule([0.0], [0.0]))
    with pytest.warns(bd.FunctionWarning, match="TARGET: changed since"):
        bd.solve(system, (0.0, 1.0), [16.0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.0, 0.0], [1.0, 2.0]), "times must be a vector of increasing times"),
        (([], []), "times must be a vector of increasing times"),
        (([0.0, 1.0], [1.0]), r"for each of 2 times; got shape \(1,\)"),
        (([0.0, math.inf], [1.0, 2.0]), "times must be finite"),
        (([0.0], [math.nan]), "values must be finite"),
        (([0.0], [1.0], "cubic"), "kind must be"),
    ],
)
def test_wrong_schedules(arguments, message):
    with pytest.raises(ValueError, match=message):
        bd.Schedule(*arguments)
