"""Crossings inside spanning steps: perturbations find the states there on their way; corners are the same for all who look."""

import numpy as np
import pytest

import bouligand as bd
from bouligand.models.plate import START

PLATE, SPAN = bd.models.plate(100), (0.0, 0.8)
DX = np.linspace(0.2, 1.0, 6)
COUNT, DISTANCE = 60, 0.002


def two_runners():
    """Two masses on springs pass marks. At each mark a force on the other one begins or ends, and where a mark is depends on the
    speed: so that the order matters in which both pass."""

    def f0(t, x, p, dx):
        dx[0] = x[2]
        dx[1] = x[3]
        dx[2] = -0.3 * x[0]
        dx[3] = -0.3 * x[1]

    def g(t, x, k, p, dx):
        dx[3 - k % 2] += p[0] if (k // 2) % 2 == 0 else -p[0]

    def h(t, x, p, out):
        for k in range(out.size):
            out[k] = x[k % 2] + 0.1 * x[2 + k % 2] - DISTANCE * (k // 2)

    return bd.System(h=h, f0=f0, g=g, n=4, m=2 * COUNT, params={"force": 0.5})


@pytest.mark.parametrize("rtol", [1e-4, 1e-6])
def test_perturbations_find_the_states_at_crossings(rtol):
    sol, true = (bd.solve(PLATE, SPAN, START, rtol=r) for r in (rtol, 1e-12))
    assert sol.counts.spans > 0
    B = sol.bderivative()
    stretch = B._map.chain.stretch
    ahead = np.isinf(stretch.states[:, 0])
    assert ahead.sum() > 100
    B(DX)
    assert stretch.states == pytest.approx(true(stretch.t), abs=30.0 * rtol)


def test_the_states_are_the_same_without_perturbations():
    first, second = (bd.solve(PLATE, SPAN, START, rtol=1e-6).bderivative() for _ in range(2))
    first(DX)
    assert second.corners == []
    states = (B._map.chain.stretch.states for B in (first, second))
    assert next(states) == pytest.approx(next(states), abs=1e-13)


def test_ties_in_spanning_steps():
    system, start, span, rtol = two_runners(), np.array([-0.3, -0.3, 1.0, 1.0]), (0.0, 0.6), 1e-4
    sol = bd.solve(system, span, start, rtol=rtol)
    assert sol.counts.spans > 0
    found, walked = sol.bderivative(), sol.bderivative()
    assert len(found.corners) > 0  # (without perturbations)
    there, size = bd.solve(system, span, start, rtol=1e-12).x[-1], 1e-6
    for dx in ((1.0, 0.0, 0.0, 0.0), (-1.0, 0.0, 0.0, 0.0), (0.3, 1.0, 0.0, -0.5)):
        moved = bd.solve(system, span, start + size * np.array(dx), rtol=1e-12).x[-1]
        assert found(dx) == pytest.approx((moved - there) / size, abs=100.0 * rtol)
        assert walked(dx) == pytest.approx(found(dx), abs=1e-11)
        assert walked.orders(dx) == found.orders(dx)


@pytest.mark.parametrize("merge", [3e-4, 1e-3])
def test_merged_crossings_in_spanning_steps(merge):
    sol = bd.solve(PLATE, SPAN, START, rtol=1e-6)
    found, walked = sol.bderivative(merge=merge), sol.bderivative(merge=merge)
    corners = [(corner.t, corner.guards) for corner in found.corners]
    assert len(corners) > 0
    image = walked(1e-6 * DX)
    assert [(corner.t, corner.guards) for corner in walked.corners] == corners
    assert found(1e-6 * DX) == pytest.approx(image, rel=1e-10)
    assert sol.bderivative()(1e-6 * DX) == pytest.approx(image, abs=0.1 * np.abs(image).max())


@pytest.mark.parametrize("fraction", [0.2, 0.8])
def test_an_outcome_inside_a_spanning_step(fraction):
    sol, true = (bd.solve(PLATE, SPAN, START, rtol=r) for r in (1e-6, 1e-12))
    spanning = np.flatnonzero(sol.record.kind == sol.record.kind.max())[2]
    t = sol.record.t[spanning - 1] + fraction * (sol.record.t[spanning] - sol.record.t[spanning - 1])
    B, known = sol.bderivative(t), true.bderivative(t).matrix()
    assert B.matrix() == pytest.approx(known, abs=30e-6 * np.abs(known).max())
    assert sol.bderivative(t).vjp(DX) == pytest.approx(B.matrix().T @ DX, abs=1e-11 * np.abs(known).max())
