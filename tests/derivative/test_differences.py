"""Jacobians by differences: right at every scale of states and parameters, or warned of; and where Jacobians come from."""

import math
import warnings

import numpy as np
import pytest

import bouligand as bd
from bouligand.errors import DerivativeWarning

BY_DIFFERENCES = [{"jacobians": "differences"}, {"compile": False}]
IDS = ["compiled", "Python"]


def swing(t, x, b, p):
    return np.array([x[1] + p[1], -p[0] * x[0] - 0.1 * x[1] + (0.3 if b[0] > 0 else 0.0)])


def half(t, x, p):
    return (x[0] - 0.5,)


@pytest.fixture
def no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def exact(f, h, **names):
    system = bd.System(f, h, jacobians="exact", **names)
    assert system.jacobians.exact
    return system


@pytest.mark.parametrize("how", BY_DIFFERENCES, ids=IDS)
@pytest.mark.parametrize("tiny", [0.0, 1e-3, 1e-9, 1e-14, 0.3 - 0.1 - 0.2, 1e-100])
def test_a_parameter_of_any_size(how, tiny, no_warning):
    names = {"n": 2, "m": 1, "params": [1.0, 0.0]}
    p, span, x0 = [1.0, tiny], (0.0, 4.0), [-1.0, 0.3]
    true = bd.solve(exact(swing, half, **names), span, x0, p, rtol=1e-10).bderivative(params=True).matrix(wrt="p")
    B = bd.solve(bd.System(swing, half, **names, **how), span, x0, p, rtol=1e-10).bderivative(params=True)
    assert B.matrix(wrt="p") == pytest.approx(true, rel=1e-8)
    assert 0.0 < B.error < 1e-8


@pytest.mark.parametrize("size", [1.0, 1e-3, 1e-6])
def test_a_state_of_any_size(size, no_warning):
    def f(t, x, b, p):
        a, c, e = x[0] / p[0], x[1], x[2]
        return np.array(
            [
                (np.tanh(c) + 0.3) * p[0],
                -np.sin(2 * a) + (1.0 if b[0] > 0 else -0.5),
                a * c + 0.2 * np.cos(3 * e),
            ]
        )

    def h(t, x, p):
        return (x[0] / p[0] + 0.35,)

    names, scales = {"n": 3, "m": 1, "params": [size]}, np.array([size, 1.0, 1.0])
    sol, other = (
        bd.solve(system, (0.0, 3.0), scales * [-0.5, 0.2, 0.0], rtol=1e-9)
        for system in (exact(f, h, **names), bd.System(f, h, **names, jacobians="differences"))
    )
    true, M = (s.bderivative().matrix() / scales[:, None] * scales for s in (sol, other))
    assert pytest.approx(true, abs=1e-7) == M
    assert other.bderivative().vjp(1.0 / scales) * scales == pytest.approx(np.ones(3) @ true, abs=1e-7)


def phase(t, x, b, p):
    return np.array([math.cos(x[0] - p[0]) + 0.2 + (0.1 if b[0] > 0 else 0.0)])


@pytest.mark.parametrize("turns", [0, 1e2, 1e6])
def test_a_phase_of_many_turns_is_right_or_warned_of(turns):
    system = bd.System(phase, half, n=1, m=1, params=[0.0], jacobians="differences")
    sol = bd.solve(system, (0.0, 2.0), [0.0], [2.0 * math.pi * turns + 0.3], rtol=1e-10)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        B = sol.bderivative(params=True)
    off = abs(B.matrix(wrt="p")[0, 0] - 0.69811565) / 0.698
    assert off < max(3.0 * B.error, 1e-7)
    assert bool(found) == (turns == 1e6)
    if found:
        assert found[0].category is DerivativeWarning
        assert "column x0" in str(found[0].message)
        assert found[0].filename == __file__


def test_a_parameter_at_zero_whose_own_size_is_a_millionth(no_warning):
    def f(t, x, b, p):
        return np.array([math.tanh(1e6 * p[0] + x[0]) + 1.0 + (0.1 if b[0] > 0 else 0.0)])

    names = {"n": 1, "m": 1, "params": [0.0]}
    true = bd.solve(exact(f, half, **names), (0.0, 1.0), [0.1], rtol=1e-10).bderivative(params=True).matrix(wrt="p")
    B = bd.solve(bd.System(f, half, **names, compile=False), (0.0, 1.0), [0.1], rtol=1e-10).bderivative(params=True)
    assert B.matrix(wrt="p") == pytest.approx(true, rel=1e-7)


@pytest.mark.parametrize("how", [{}, *BY_DIFFERENCES], ids=["exact", *IDS])
def test_the_first_and_the_second_direction_are_equal_to_round_off(how):
    def f(t, x, b, p, dx):
        dx[0] = x[1]
        dx[1] = math.sin(x[0]) - p[0] * x[1] ** 3 + (2.0 if b[0] > 0 else -1.0)

    sol = bd.solve(bd.System(f, half, n=2, m=1, params=[0.2], **how), (0.0, 3.0), [0.1, 0.7], rtol=1e-6)
    B = sol.bderivative()
    first, second = B([0.3, -1.0]), B([0.3, -1.0])
    assert first == pytest.approx(second, rel=1e-13)
    assert first == pytest.approx(B.matrix() @ [0.3, -1.0], rel=1e-13)


def test_time_of_guards_that_move_by_differences():
    def f(t, x, b, p):
        return np.array([1.0 if b[0] > 0 else 2.0])

    def h(t, x, p):
        return (x[0] - 0.5 - 0.3 * math.sin(20.0 * t),)

    names = {"n": 1, "m": 1}
    true = bd.solve(exact(f, h, **names), (0.0, 1.0), [0.0], rtol=1e-10).bderivative().matrix()
    B = bd.solve(bd.System(f, h, **names, compile=False), (0.0, 1.0), [0.0], rtol=1e-10).bderivative()
    assert B.matrix() == pytest.approx(true, rel=1e-7)


# --------------------------------------------------------------------------------------------- where Jacobians come from


def test_system_tells_where_its_jacobians_come_from():
    names = {"n": 2, "m": 1, "params": [1.0, 0.0]}
    system = bd.System(swing, half, **names, Dh=lambda t, x, p: np.array([[1.0, 0.0]]))
    assert dict(system.jacobians) == {"Df": "exact", "Dp_f": "exact", "Dh": "given", "Dp_h": "exact", "Dt_h": "exact"}
    assert repr(system.jacobians) == "Df, Dp_f, Dp_h, Dt_h exact; Dh given"
    assert not system.jacobians.reason
    plain = bd.System(swing, half, **names, compile=False).jacobians
    assert plain.Df == "differences"
    assert not plain.exact
    assert "f runs as plain Python" in plain.reason
    assert "jacobians='differences'" in bd.System(swing, half, **names, jacobians="differences").jacobians.reason


def mass_matrix(t, x, b, p):
    return np.linalg.solve(np.array([[2.0 + math.cos(x[0]), 0.5], [0.5, 1.0]]), x)


def test_what_has_no_rule_is_differenced_and_named():
    def f(t, x, b, p):
        z = complex(x[0], x[1])
        return np.array([z.real, (z * z).imag])

    system = bd.System(f, half, n=2, m=1)
    assert system.compiled
    assert system.jacobians.Df == "differences"
    assert "complex(Dual, Dual)" in system.jacobians.reason
    B = bd.solve(system, (0.0, 0.2), [0.1, 0.2], rtol=1e-10).bderivative()
    assert 0.0 < B.error < 1e-8
    with pytest.raises(TypeError, match=r"jacobians='exact': f does not compile for dual numbers"):
        bd.solve(bd.System(f, half, n=2, m=1, jacobians="exact"), (0.0, 0.2), [0.1, 0.2]).bderivative()
    assert "Fill the array instead" in bd.System(mass_matrix, half, n=2, m=1).jacobians.reason
    with pytest.raises(ValueError, match="jacobians must be 'auto'"):
        bd.System(f, half, n=2, m=1, jacobians="symbolic")
