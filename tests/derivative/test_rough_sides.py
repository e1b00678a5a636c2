"""Guards on whose one side Df is not smooth: steps are divided there, and the derivative is as accurate as elsewhere."""

import numpy as np
import pytest

import bouligand as bd
from bouligand.core.state import ROUGH, TRIED

SPAN, DX = (0.0, 0.6), np.array([1.0, 0.5])


def ball(force, up=False, **options):
    """A ball above a floor with this force, a function of depth and speed, in both senses of the guard."""

    def f(t, x, b, p):
        touches = b[0] < 0 if up else b[0] > 0
        return np.array([x[1], -9.81 + (force(max(-x[0], 0.0), -x[1]) if touches else 0.0)])

    guard = (lambda t, x, p: (x[0],)) if up else (lambda t, x, p: (-x[0],))
    return bd.System(f, guard, states=("z", "vz"), guards=("floor",), **options)


def hertz(depth, speed):
    return 4e5 * depth**1.5


def hunt_crossley(depth, speed):
    return 4e5 * depth**1.5 * (1.0 + 0.1 * speed)


def nearly_linear(depth, speed):
    return 4e4 * depth**1.2


def nearly_square(depth, speed):
    return 2e6 * depth**1.85


def above_square(depth, speed):
    return 2e7 * depth**2.5


def hertz_and_damper(depth, speed):
    return 4e5 * depth**1.5 + 20.0 * speed


def spring(depth, speed):
    return 4e4 * depth + 5.0 * speed


def square(depth, speed):
    return 4e6 * depth**2


def slope(system, x0, dx=DX, span=SPAN, step=1e-6):
    """Central differences of solves at 1e-12."""
    ends = [bd.solve(system, span, x0 + s * dx, rtol=1e-12, atol=1e-14).x[-1] for s in (step, -step)]
    return (ends[0] - ends[1]) / (2.0 * step)


def sides(sol):
    """Which sides were looked at, and are rough: a set of pairs (guard, side)."""
    walk = sol.bderivative()._map.chain.parts[0].walk
    rough = walk.memory.tangents.rough
    tried = {(k, side) for k, bits in enumerate(rough) for side in (-1, 1) if bits & (TRIED * (2 if side > 0 else 1))}
    return tried, {(k, side) for k, side in tried if rough[k] & (ROUGH * (2 if side > 0 else 1))}


@pytest.mark.parametrize("force", [hertz, hunt_crossley, nearly_linear, nearly_square, above_square, hertz_and_damper])
@pytest.mark.parametrize("up", [False, True])
def test_as_accurate_as_the_state(force, up):
    system, x0 = ball(force, up), np.array([0.3, 0.0])
    known = slope(system, x0)
    for rtol in (1e-4, 1e-6, 1e-8):
        sol = bd.solve(system, SPAN, x0, rtol=rtol)
        assert sides(sol) == ({(0, -1), (0, 1)}, {(0, -1 if up else 1)})
        B = sol.bderivative()
        assert np.abs(B(DX) - known).max() < 100.0 * rtol * np.abs(known).max()
        assert np.allclose(B.matrix() @ DX, B(DX), rtol=1e-9)
        assert np.allclose(B.vjp([1.0, 2.0]), [1.0, 2.0] @ B.matrix(), rtol=1e-9)


def test_with_given_jacobians_gradients_have_the_same_steps():
    def Df(t, x, b, p):
        return np.array([[0.0, 1.0], [-6e5 * max(-x[0], 0.0) ** 0.5 if b[0] > 0 else 0.0, 0.0]])

    system, x0 = ball(hertz, Df=Df), np.array([0.3, 0.0])
    B = bd.solve(system, SPAN, x0, rtol=1e-6).bderivative()
    gradient, known = B.vjp([1.0, 2.0]), slope(system, x0)
    assert abs(gradient @ DX - [1.0, 2.0] @ known) < 1e-4 * np.abs(known).max()
    assert np.allclose(gradient, [1.0, 2.0] @ B.matrix(), rtol=1e-4)


@pytest.mark.parametrize("force", [spring, square])
def test_smooth_forces_are_not_divided(force):
    for rtol in (1e-3, 1e-6, 1e-9, 1e-12):
        sol = bd.solve(ball(force), SPAN, [0.3, 0.0], rtol=rtol)
        assert sides(sol) == ({(0, -1), (0, 1)}, set())
        assert sol._rates is not None
        assert sol._rates.times is None


def test_a_start_in_contact():
    # the guard is crossed once, from its rough side
    system, x0, span = ball(hertz), np.array([-0.01, 0.0]), (0.0, 0.1)
    known = slope(system, x0, span=span)
    sol = bd.solve(system, span, x0, rtol=1e-8)
    assert len(sol.events) == 1
    assert sides(sol)[1] == {(0, 1)}
    assert np.abs(sol.bderivative()(DX) - known).max() < 1e-6 * np.abs(known).max()


def test_two_bounces_at_many_times_and_in_parameters():
    def f(t, x, b, p):
        return np.array([x[1], -9.81 + (p[0] * max(-x[0], 0.0) ** 1.5 if b[0] > 0 else 0.0)])

    system = bd.System(f, lambda t, x, p: (-x[0],), states=("z", "vz"), guards=("floor",), params={"k": 4e5})
    t, x0 = np.array([0.2, 0.255, 0.5, 1.0]), np.array([0.3, 0.0])

    def states(k):
        return bd.solve(system, (0.0, 1.0), x0, {"k": k}, rtol=1e-12, atol=1e-14)(t)

    known = (states(4e5 + 1.0) - states(4e5 - 1.0)) / 2.0
    sol = bd.solve(system, (0.0, 1.0), x0, rtol=1e-8)
    found = sol.sensitivity("k", t)[:, :, 0]
    assert np.abs(found - known).max() < 1e-6 * np.abs(known).max()


def test_many_springs_are_not_rough():
    def f(t, x, b, p):
        return np.concatenate([x[30:], np.where(b > 0, -1000.0 * x[:30], 0.0) - 9.81])

    system = bd.System(f, lambda t, x, p: -x[:30], n=60, m=30, compile=False)
    start = np.concatenate([np.linspace(0.1, 0.4, 30), np.zeros(30)])
    sol = bd.solve(system, (0.0, 0.6), start, rtol=1e-4)
    tried, rough = sides(sol)
    assert len(tried) >= 30
    assert not rough


def test_a_failure_beside_the_trajectory_is_no_failure():
    def f(t, x, b, p):
        if x[0] > 0.301:
            raise ValueError("too high")
        return np.array([x[1], -9.81 + (1000.0 * max(-x[0], 0.0) if b[0] > 0 else 0.0)])

    system = bd.System(f, lambda t, x, p: (-x[0],), n=2, m=1)
    assert np.isfinite(bd.solve(system, (0.0, 0.3), [0.3, 0.0], rtol=1e-6).bderivative()(DX)).all()
