"""The derivative next to grazes: which perturbations it holds for. Against closed forms and one-sided differences."""

import math

import numpy as np
import pytest

import bouligand as bd

from ..integration.test_grazes import PUSHED, SPRING, SWINGS

SPAN = (0.0, 5.0)


@pytest.mark.parametrize("rtol", [1e-4, 1e-6])
def test_the_reach_of_a_derivative_beside_a_spring(rtol):
    """|Dh Phi dx| at the turn, t = pi, is |dx_0|: x(pi) = 1 - (x0 - 1)."""
    gap = 0.2 * rtol
    sol = bd.solve(SWINGS[SPRING], SPAN, [2.0 - gap, 0.0], rtol=rtol)
    B = sol.bderivative()
    [margin] = B.margins
    assert margin.guard == "floor"
    assert margin.t == pytest.approx(math.pi, abs=1e-2)
    assert not margin.finite
    assert margin.rows == pytest.approx(np.array([[-1.0, 0.0]]), abs=0.01)
    assert margin.reach == pytest.approx(abs(margin.h), rel=0.01)
    assert margin.holds([0.9 * abs(margin.h), 0.0])
    assert not margin.holds([1.1 * abs(margin.h), 0.0])
    assert margin.holds([0.0, 10.0 * abs(margin.h)])  # (a change of the speed moves the turn, but not its depth)

    # away from the floor the derivative is that of the free swing; a perturbation that reaches it feels the spring
    turned = np.array([[math.cos(5.0), math.sin(5.0)], [-math.sin(5.0), math.cos(5.0)]])
    assert B.matrix() == pytest.approx(turned, abs=1e-3)
    large = 100.0 * rtol
    base, moved = (bd.solve(SWINGS[SPRING], SPAN, [2.0 - gap + d, 0.0], rtol=1e-12).x[-1] for d in (0.0, large))
    assert not np.allclose((moved - base) / large, turned[:, 0], atol=0.05)


def test_margins_with_parameters_and_of_a_part():
    def f(t, x, b, p, dx):
        dx[0], dx[1] = x[1], p[0] - x[0] - (100.0 * x[0] if b[0] < 0.0 else 0.0)

    system = bd.System(
        f, lambda t, x, p: (x[0] - p[1],), states=("x", "v"), guards=("spring",), params={"c": 1.0, "floor": 0.0}
    )
    sol = bd.solve(system, SPAN, [2.0 - 5e-6, 0.0], rtol=1e-5)
    [margin] = sol.bderivative(params=True).margins
    # x(pi) = 2 c - x0, and the floor itself
    assert margin.rows == pytest.approx(np.array([[-1.0, 0.0, 2.0, -1.0]]), abs=0.01)
    assert margin.reach == pytest.approx(abs(margin.h) / math.sqrt(6.0), rel=0.01)
    assert sol.bderivative(3.0).margins == []
    assert sol.bderivative(since=3.5).margins == []
    with pytest.raises(ValueError, match="dx must have up to 4"):
        margin.holds(np.ones(5))


def test_a_jump_on_the_way_is_warned_of_by_name():
    sol = bd.solve(SWINGS[PUSHED], SPAN, [2.0 - 2e-5, 0.0], rtol=1e-4, on_graze="go on")
    with pytest.warns(bd.DerivativeWarning, match="guard 'floor' is grazed at t = 3.1") as caught:
        B = sol.bderivative()
    assert caught[0].filename == __file__
    [margin] = B.margins
    assert margin.finite
    assert margin.reach == pytest.approx(abs(margin.h), rel=0.01)
    # one-sided differences: within the reach B is right, beyond it the outcome changes like a square root
    base = bd.solve(SWINGS[PUSHED], SPAN, [2.0 - 2e-5, 0.0], rtol=1e-12).x[-1]
    inside = bd.solve(SWINGS[PUSHED], SPAN, [2.0 - 1e-5, 0.0], rtol=1e-12).x[-1]
    outside = bd.solve(SWINGS[PUSHED], SPAN, [2.0 + 1e-5, 0.0], rtol=1e-12).x[-1]
    assert inside - base == pytest.approx(B([1e-5, 0.0]), abs=1e-8)
    assert np.abs(outside - base - B([3e-5, 0.0])).max() > 1e-3
