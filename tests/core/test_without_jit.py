"""A small part of everything that must also work with Numba's JIT switched off (where the core can be debugged)."""

import numpy as np
import pytest

import bouligand as bd
from bouligand.models.bouncing_ball import bounce
from bouligand.models.bouncing_ball import exact as bouncing_ball_exact
from bouligand.models.bouncing_ball import field as ball_field
from bouligand.models.bouncing_ball import guard as floor
from bouligand.models.circle import END as CIRCLE_END
from bouligand.models.circle import FINAL as CIRCLE_FINAL
from bouligand.models.circle import START as CIRCLE_START
from bouligand.models.hopper import START as HOPPER_START
from bouligand.models.hopper import exact as hopper_exact
from bouligand.models.order_test import FINAL as ORDER_TEST_FINAL
from bouligand.models.order_test import START as ORDER_TEST_START
from tests.helpers import sums, systems
from tests.helpers.systems import close


def test_hopper_with_dense_output():
    grid = np.linspace(0, 1, 21)
    sol = bd.solve(bd.models.hopper(), (0, 1), HOPPER_START, rtol=1e-8, t_eval=grid)
    close(sol.x, hopper_exact(grid), 1e-6)
    close(sol(grid), sol.x, 1e-12)
    assert len(sol.events) == 2


@pytest.mark.parametrize("projection", [2, 3, 5])
def test_bands(projection):
    sol = bd.solve(bd.models.order_test(), (0, 0.5), ORDER_TEST_START, eps=1e-2, projection=projection, rtol=1e-10)
    close(sol.x[-1], ORDER_TEST_FINAL, {2: 2e-4, 3: 4e-6, 5: 1e-9}[projection])


@pytest.mark.parametrize("method", ["dopri5", "bosh3", "dop853"])
def test_methods(method):
    sol = bd.solve(bd.models.circle(), (0, CIRCLE_END), CIRCLE_START, rtol=1e-6, method=method)
    close(sol.x[-1], CIRCLE_FINAL, 1e-3)


def test_a_spanning_step():
    grid = np.linspace(0, 0.4, 9)
    p = np.r_[9.81, np.linspace(0.99, 1.0, 30), np.full(30, 50.0), np.full(30, 0.1), np.zeros(30)]
    system = bd.System(None, sums._compressed, n=2, m=30, params=p, f0=sums._falling, g=sums._leg)
    sol = bd.solve(system, (0, 0.4), [1.5, 0.0], rtol=1e-4, t_eval=grid)
    hops = bd.solve(system, (0, 0.4), [1.5, 0.0], rtol=1e-8, method="dop853")
    assert sol.counts.spans > 0
    assert len(sol.events) == len(hops.events) == 30
    close(sol.x, hops(grid), 2e-3)
    close(sol(grid), sol.x, 5e-4)


def test_ties_and_refusals():
    sol = bd.solve(systems.balls(3), (0, 1), [1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    assert [len(t) for t in sol.t_events] == [2, 2, 2]
    with pytest.raises(bd.SlidingError):
        bd.solve(systems.relay, (0, 2), [1.0, 0.0])
    with pytest.raises(bd.NotEventSelectedError):
        bd.solve(systems.turned, (0, 2), [-1.0, -1.0])


def test_a_derivative():
    B = bd.solve(systems.corner, (0, 2), [-1.0, -1.0]).bderivative()
    close(B((-0.25, 0.0)), (-0.25, 0.0625), 1e-9)
    close(B.vjp((1.0, 2.0), (0.25, 0.0)), B.matrix((0.25, 0.0)).T @ (1.0, 2.0), 1e-12)
    with_params = bd.solve(systems.slope, (0.0, 1.0), [1.0, 0.0]).bderivative(params=True)
    close(with_params.matrix(wrt="p")[1], (-0.25, 0.5), 1e-9)


def test_an_ensemble():
    x0 = [[2.0, 0.0], [1.0, -1.0], [1.5, 0.0]]
    ens = bd.solve_many(bd.models.hopper(), (0, 1), x0, t_eval=[0.5], rtol=1e-5, threads=2)
    for i, start in enumerate(x0):
        sol = bd.solve(bd.models.hopper(), (0, 1), start, rtol=1e-5)
        assert np.array_equal(sol.x[-1], ens.x[i])
        assert np.array_equal(sol.events.t, ens.events[i].t)


def test_jumps_and_rest():
    """A ball bounces ever more often, and then rests."""
    ball = bd.System(
        ball_field, floor, n=2, guards=("floor",), params={"g": 9.81, "e": 0.3}, jumps={"floor": bounce}, rest="floor"
    )
    sol = bd.solve(ball, (0, 1.2), [1.0, 0.0], rtol=1e-8, t_eval=[0.5, 0.7, 1.0])
    close(sol.x, bouncing_ball_exact(sol.t, e=0.3), 1e-6)
    assert sol.b[-1, 0] == 0


def test_sliding():
    """x' = 0.5 - b on x = 0 from x = 1, b the sign of x: it arrives at t = 2, and stays."""
    system = bd.System(lambda t, x, b, p: (0.5 - b[0],), lambda t, x, p: (x[0],), n=1, m=1, sliding=True)
    sol = bd.solve(system, (0, 3), [1.0])
    close(sol.x[-1], [0.0], 1e-12)
    close(sol.events.t, [2.0], 1e-9)
    assert sol.b[-1, 0] == 0
