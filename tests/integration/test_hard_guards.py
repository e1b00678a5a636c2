"""Nonlinear guards, returns to a guard just left, jumps at breakpoints: regressions, found by adversarial tests."""

import numpy as np
import pytest

import bouligand as bd
from tests.helpers.systems import close


def along(h, tf, rtol, m=1):
    """x' = 1 from 0, y' = b: events are where h(x) changes sign, and y is known."""
    system = bd.System(lambda t, x, b, p: (1.0, b[0]), h, n=2, m=m, compile=False)
    return bd.solve(system, (0, tf), [0.0, 0.0], rtol=rtol)


@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize(
    ("h", "crossings"),
    [
        (lambda x: np.exp(5 * (x - 1)) - 1, [1.0]),
        (lambda x: 1 - np.exp(-5 * (x - 1)), [1.0]),
        (lambda x: np.tanh(20 * (x - 1)), [1.0]),
        (lambda x: np.log(x + 1e-3), [0.999]),
        (lambda x: (x - 1) * (x - 2) * (x - 3), [1.0, 2.0, 3.0]),
        (lambda x: 1 / (1 + 100 * (x - 0.5) ** 2) - 0.5, [0.4, 0.6]),
        (lambda x: 0.3 - np.hypot(x - 3, 0.1), [3 - np.sqrt(0.08), 3 + np.sqrt(0.08)]),
    ],
)
def test_guards_that_are_not_straight(h, crossings, rtol):
    sol = along(lambda t, x, p: (h(x[0]),), 4.0, rtol)
    assert len(sol.events) == len(crossings)
    close(sol.events.t, crossings, 10 * rtol)


def test_a_guard_touched_on_the_way_to_another():
    sol = along(lambda t, x, p: (1 / (1 + 100 * (x[0] - 0.5) ** 2) - 0.5, x[0] - 1.0), 2.0, 1e-6, m=2)
    close(sol.events.t, [0.4, 0.6, 1.0], 1e-6)


@pytest.mark.parametrize("end", [2.0005, 2.01, 2.3])
@pytest.mark.parametrize("rtol", [1e-6, 1e-10])
def test_a_return_to_the_guard_just_left(end, rtol):
    def f(t, x, b, p):
        return (x[1], 2.0 if b[0] > 0 else 0.0)

    system = bd.System(f, lambda t, x, p: (-x[0],), n=2, m=1, compile=False)
    sol = bd.solve(system, (0, 3), [1.0, -1.0], rtol=rtol, breakpoints=[end])
    close(sol.events.t, [1.0, 2.0], rtol)
    close(sol.x[-1], [1.0, 1.0], 10 * rtol)


def test_an_oscillating_floor():
    def f(t, x, b, p):
        return (x[1], -9.81 + (1e4 * (0.05 * np.sin(50 * t) - x[0]) if b[0] > 0 else 0.0))

    system = bd.System(f, lambda t, x, p: (0.05 * np.sin(50 * t) - x[0],), n=2, m=1, compile=False)
    tight = bd.solve(system, (0, 1.5), [0.5, 0.0], rtol=1e-11)
    assert np.abs(tight.events.residual).max() < 1e-10
    for rtol in (1e-5, 1e-8):
        sol = bd.solve(system, (0, 1.5), [0.5, 0.0], rtol=rtol)
        close(sol.events.t, tight.events.t, 100 * rtol)


@pytest.mark.parametrize(("levels", "events", "y"), [((0.5, -0.5), [1.0], -0.7), ((-0.5, 0.5), [0.5, 1.0], -0.3)])
def test_a_guard_that_jumps_at_a_breakpoint(levels, events, y):
    def h(t, x, p):
        return (x[0] - (levels[0] if t < 1 else levels[1]),)

    system = bd.System(lambda t, x, b, p: (1.0, b[0]), h, n=2, m=1, breakpoints=[1.0], compile=False)
    sol = bd.solve(system, (0, 1.3), [-1.0, 0.0], rtol=1e-9)
    close(sol.events.t, events, 1e-9)
    close(sol.x[-1], [0.3, y], 1e-8)


def test_a_guard_that_a_new_parameter_moves_across_the_state():
    system = bd.System(lambda t, x, b, p: (1.0, b[0]), lambda t, x, p: (x[0] - p[0],), n=2, m=1, params=[-0.5])
    stepper = bd.Stepper(system, (0, 1.3), [0.0, 0.0])
    stepper.step()
    stepper.step()
    t = stepper.t
    stepper.p = [0.5]
    sol = stepper.finish()
    close(sol.x[-1], [1.3, t - (0.5 - t) + 0.8], 1e-9)
    close(sol.events.t, [t, 0.5], 1e-9)


def test_a_breakpoint_just_before_a_guard():
    def f(t, x, b, p):
        return ((1.0 if t < 1 else -1.0) * (1.0 if b[0] < 0 else 2.0), b[0])

    system = bd.System(f, lambda t, x, p: (x[0] - p[0],), n=2, m=1, params=[1.0], breakpoints=[1.0])
    for gap in (1e-14, 1e-10, 1e-7, 1e-3):
        assert len(bd.solve(system, (0, 2), [0.0, 0.0], p=[1 + gap]).events) == 0


@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-9])
def test_a_terminal_event_records_its_ties(rtol):
    def h(t, x, p):
        return (-x[0], np.exp(-x[0]) - 1, -(x[0] ** 3) - x[0], np.sin(-x[0]))

    system = bd.System(lambda t, x, b, p: (x[1], -9.81), h, n=2, m=4, compile=False)
    sol = bd.solve(system, (0, 2), [1.0, 0.0], rtol=rtol, terminal=0)
    assert sorted(sol.events.guard) == [0, 1, 2, 3]


@pytest.mark.parametrize("projection", [2, 3, 5])
def test_turning_round_at_the_edge_of_a_band(projection):
    system = bd.System(
        lambda t, x, b, p: (x[1], -x[0] + 0.5 * b[0]), lambda t, x, p: (x[0] - p[0],), n=2, m=1, params=[0.6]
    )
    tight = bd.solve(system, (0, 8), [-1.5, 0.0], rtol=1e-11)
    sol = bd.solve(system, (0, 8), [-1.5, 0.0], rtol=1e-8, eps=0.1, projection=projection)
    assert len(sol.events) == len(tight.events)
    close(sol.x[-1], tight.x[-1], 1e-5)


def test_a_start_after_zero_sees_h_at_its_own_time():
    system = bd.System(lambda t, x, b, p: (1.0, b[0]), lambda t, x, p: (t - x[0] - 0.5,), n=2, m=1, compile=False)
    sol = bd.solve(system, (1.0, 2.0), [0.0, 0.0])
    assert sol.b[0, 0] == 1
    close(sol.x[-1], [1.0, 1.0], 1e-9)
    watch = bd.System(
        lambda t, x, b, p: (1.0,), lambda t, x, p: (np.cos(t) - x[0],), n=1, m=1, observers=(0,), compile=False
    )
    assert len(bd.solve(watch, (1.4, 1.6), [0.5]).events) == 0


@pytest.mark.parametrize("gap", [0.03, 0.01, 1e-4])
@pytest.mark.parametrize("rtol", [1e-6, 1e-9])
def test_guards_of_different_shape_are_crossed_in_order(gap, rtol):
    def f(t, x, b, p):
        return (1.0, 10.0 * (b[0] > 0 and b[1] < 0) - 10.0 * (b[1] > 0 and b[0] < 0))

    system = bd.System(f, lambda t, x, p: (x[0] - 1 - gap, 1 - np.exp(-3 * (x[0] - 1))), n=2, m=2, compile=False)
    sol = bd.solve(system, (0, 2), [0.0, 0.0], rtol=rtol)
    assert list(sol.events.guard) == [1, 0]
    close(sol.x[-1, 1], -10 * gap, 100 * rtol)


def bent_guard(t, x, p, out):
    a = x[0] - p[0]
    out[0] = p[1] * a + a * a * a


BENT = bd.System(lambda t, x, b, p: (1.0, b[0]), bent_guard, n=2, m=1, params=[1.0, 0.01])


def test_landing_where_h_is_nearly_flat():
    rng = np.random.default_rng(0)
    for _ in range(300):
        place, slope, rtol = 0.5 + rng.random(), 10 ** (-4 * rng.random()), 10 ** (-3 - 7 * rng.random())
        sol = bd.solve(BENT, (0, 2), [0.0, 0.0], p=[place, slope], rtol=rtol)
        close(sol.events.t, [place], 10 * rtol)


def test_a_stiff_contact_shallower_than_the_tolerance_is_no_graze():
    system = bd.System(
        lambda t, x, b, p: (x[1], -9.81 + (1e6 * (10.0 - x[0]) if b[0] > 0 else 0.0)),
        lambda t, x, p: (10.0 - x[0],),
        n=2,
        m=1,
        compile=False,
    )
    assert len(bd.solve(system, (0, 2), [11.0, 0.0], rtol=1e-3).events) == 4


@pytest.mark.parametrize("gap", [1e-5, -1e-5, 1e-7, -1e-7, 0.0])
@pytest.mark.parametrize("rtol", [1e-3, 1e-5])
def test_a_spring_that_may_or_may_not_be_touched_is_not_refused(gap, rtol):
    """x swings to 1 and a stiff spring is ``gap`` beyond: on its guard f does not jump, so that it does not matter."""

    def f(t, x, b, p, dx):
        dx[0] = x[1]
        dx[1] = -x[0] - (1e5 * (x[0] - p[0]) if b[0] > 0.0 else 0.0)

    swing = bd.System(f, lambda t, x, p: (x[0] - p[0],), n=2, m=1, params=[1.0 + gap])
    sol = bd.solve(swing, (0.0, 3.0), [0.0, 1.0], rtol=rtol)
    if gap >= 0.0:
        exact = np.array([np.sin(3.0), np.cos(3.0)])
    else:  # the same in three pieces
        w = np.sqrt(1e5 + 1.0)
        a = np.arcsin(1.0 + gap)
        centre = 1e5 * (1.0 + gap) / w**2
        start, v = 1.0 + gap - centre, np.cos(a)
        stay = 2.0 * np.arctan2(v / w, start) / w
        left = 3.0 - a - stay
        exact = np.array(
            [(1.0 + gap) * np.cos(left) - v * np.sin(left), -(1.0 + gap) * np.sin(left) - v * np.cos(left)]
        )
    assert np.abs(sol.x[-1] - exact).max() < 30.0 * rtol
