"""iLQR against closed forms (linear systems), SciPy's optimisers and limits; statuses and refusals; MPC; tracking."""

from typing import Any

import numpy as np
import pytest
from scipy.linalg import solve_discrete_are
from scipy.optimize import minimize

import bouligand as bd
from bouligand.planning import ilqr
from bouligand.planning.boxes import minimise_in_box

P = bd.planning
CART = bd.System(lambda t, x, b, p: (x[1], p[0]), states=("q", "v"), params={"force": 0.0})


def lqr(A, B, Q, R, end, x0, nodes):
    """The optimal controls of a linear system."""
    V, gains = end, []
    for _ in range(nodes):
        K = np.linalg.solve(R + B.T @ V @ B, B.T @ V @ A)
        V = Q + A.T @ V @ (A - B @ K)
        gains.append(K)
    x, out = np.array(x0, dtype=float), []
    for K in gains[::-1]:
        out.append(-K @ x)
        x = A @ x + B @ out[-1]
    return np.array(out)


def test_linear_system_in_one_iteration():
    h, nodes = 0.1, 20
    plan = P.Plan(
        CART, np.linspace(0.0, 2.0, nodes + 1), P.Quadratic(x=[1.0, 0.1], u=0.01), P.Quadratic(x=10.0), inputs="force"
    )
    found = plan.solve([1.0, 0.0])
    A, B = np.array([[1.0, h], [0.0, 1.0]]), np.array([[0.5 * h * h], [h]])
    known = lqr(A, B, h * np.diag([1.0, 0.1]), h * np.array([[0.01]]), 10.0 * np.eye(2), [1.0, 0.0], nodes)
    assert found.status == "converged"
    assert found.iterations <= 2
    assert np.allclose(found.u, known, atol=1e-6)
    X = solve_discrete_are(A, B, h * np.diag([1.0, 0.1]), h * np.array([[0.01]]))  # far from the end: the steady gain
    K = np.linalg.solve(h * 0.01 + B.T @ X @ B, B.T @ X @ A)
    assert np.allclose(found.K[0], -K, rtol=0.02)


def test_limits_against_scipy():
    plan = P.Plan(
        CART,
        np.linspace(0.0, 2.0, 21),
        P.Quadratic(u=0.1),
        P.Quadratic([1.0, 0.0], x=100.0),
        inputs="force",
        limits=(-1.2, 0.9),
    )
    found = plan.solve([0.0, 0.0])
    known = minimize(
        plan.objective([0.0, 0.0]),
        plan.controls(None).ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=plan.bounds,
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 1000},
    )
    assert found.u.min() == pytest.approx(-1.2)
    assert found.u.max() == pytest.approx(0.9)
    assert found.cost == pytest.approx(known.fun, rel=1e-6)
    assert np.allclose(found.u.ravel(), known.x, atol=2e-3)


def test_box_against_enumeration():
    rng = np.random.default_rng(0)
    for _ in range(20):
        M = rng.standard_normal((3, 3))
        H, g = M @ M.T + 0.1 * np.eye(3), rng.standard_normal(3)
        low, high = -rng.uniform(0.05, 1.0, 3), rng.uniform(0.05, 1.0, 3)
        box = minimise_in_box(H, g, low, high, np.zeros(3))
        known = minimize(
            lambda x, H=H, g=g: (0.5 * x @ H @ x + g @ x, H @ x + g),
            np.zeros(3),
            jac=True,
            method="L-BFGS-B",
            bounds=list(zip(low, high, strict=True)),
            options={"ftol": 1e-16, "gtol": 1e-12},
        )
        assert box is not None
        assert np.allclose(box.x, known.x, atol=1e-6)
    assert minimise_in_box(-np.eye(2), np.ones(2), -np.ones(2), np.ones(2), np.zeros(2)) is None


def hopping(**more):
    """A hopper whose spring is chosen anew every 40 ms, for an apex of 2.6 m at the end."""
    return P.Plan(
        bd.models.hopper(),
        np.linspace(0.0, 1.2, 31),
        P.Quadratic(u=1e-7, rest=[1000.0]),
        P.Quadratic([2.6, 0.0], x=[10.0, 0.3]),
        inputs="k",
        limits=(500.0, 3000.0),
        **more,
    )


@pytest.mark.parametrize("quick", [False, True])
def test_jump_to_a_height(quick):
    plan = hopping(quick=quick)
    found = plan.solve([2.0, 0.0])
    assert found.success
    assert found.cost < 0.02 * found.costs[0]
    assert all(b <= a for a, b in zip(found.costs, found.costs[1:], strict=False))
    assert found.x[-1, 0] == pytest.approx(2.6, abs=0.05)
    again = plan.rollout([2.0, 0.0], found.u)
    assert plan.cost(again) == pytest.approx(found.cost, rel=1e-9)


def test_an_iteration_has_at_most_two_rollouts(monkeypatch):
    """And one that finds no step leaves the model and shorter steps to the next one."""
    plan = hopping()
    search = ilqr._Search(plan, [2.0, 0.0], plan.controls(None), None)
    counts = {"_follow": 0, "_linearised": 0}
    for name in counts:
        method = getattr(plan, name)

        def counted(*arguments, name=name, method=method):
            counts[name] += 1
            return method(*arguments)

        monkeypatch.setattr(plan, name, counted)
    without, fresh = 0, True
    for _ in range(25):
        counts.update(_follow=0, _linearised=0)
        if search.iterate(1e-12) is not None:
            break
        assert 1 <= counts["_follow"] <= 2
        assert counts["_linearised"] == int(fresh)
        fresh = bool(search.taken)
        without += not search.taken
    assert without > 0
    assert search.cost < 0.1 * search.costs[0]


def test_multiple_shooting():
    plan = P.Plan(
        bd.models.hopper(),
        np.linspace(0.0, 0.7, 5),
        P.Quadratic(u=1e-4, rest=[9.81]),
        P.Quadratic([1.2, 0.0], x=1.0),
        inputs="g",
        limits=(2.0, 20.0),
        rtol=1e-8,
    )
    shooting = plan.multiple_shooting([2.0, 0.0])
    z = shooting.start()
    rng, e = np.random.default_rng(0), 1e-6
    d = rng.standard_normal(z.size)
    slope = (shooting.defects(z + e * d) - shooting.defects(z - e * d)) / (2 * e)
    assert np.allclose(shooting.jacobian(z) @ d, slope, rtol=1e-4, atol=1e-4)
    found = minimize(
        shooting.value_and_gradient,
        z,
        jac=True,
        method="SLSQP",
        constraints=shooting.constraints,
        bounds=shooting.bounds,
    )
    assert np.abs(shooting.defects(found.x)).max() < 1e-5
    assert found.fun == pytest.approx(plan.solve([2.0, 0.0]).cost, rel=0.02)
    with pytest.raises(ValueError, match="z must have"):
        shooting.defects(z[1:])


def test_kept_best_and_statuses():
    plan = hopping()
    one = plan.solve([2.0, 0.0], iterations=1)
    assert one.status == "iterations"
    assert one.iterations == 1
    none = plan.solve([2.0, 0.0], deadline=1e-9)
    assert none.status == "deadline"
    assert none.cost == none.costs[0]
    assert "deadline" in none.message
    flat = P.Plan(CART, [0.0, 1.0], lambda t, x, u: 1.0 + 0.0 * u[0], inputs="force").solve([0.0, 0.0])
    assert flat.status == "converged"


def test_rollouts_that_fail_are_infinite_costs():
    """Beyond q = 1 the field is not a number: the plan stays before, or says that its start does not."""
    system = bd.System(lambda t, x, b, p: (p[0] * np.sqrt(1.0 - x[0]) / np.sqrt(1.0 - x[0]),), n=1, params={"u": 0.0})
    plan = P.Plan(system, np.linspace(0.0, 1.0, 6), P.Quadratic(u=1e-3), P.Quadratic([2.0], x=1.0), inputs="u")
    found = plan.solve([0.0])
    assert found.success
    assert 0.5 < found.x[-1, 0] <= 1.0
    assert found.cost < found.costs[0]
    failed = plan.solve([0.0], U=5.0 * np.ones(5))
    assert failed.status == "failed"
    assert not failed.success
    assert "first rollout failed" in failed.message
    assert "failed" in repr(failed)
    assert plan.gradient([0.0], 5.0 * np.ones(5))[0] == np.inf


def test_bad_input():
    quad, times = P.Quadratic(x=1.0), [0.0, 0.5, 1.0]
    with pytest.raises(ValueError, match="needs a cost"):
        P.Plan(CART, times, inputs="force")
    with pytest.raises(ValueError, match="increasing"):
        P.Plan(CART, [0.0, 0.0], quad, inputs="force")
    with pytest.raises(ValueError, match="no parameter is called"):
        P.Plan(CART, times, quad, inputs="power")
    with pytest.raises(ValueError, match="low <= high"):
        P.Plan(CART, times, quad, inputs="force", limits=(1.0, -1.0))
    with pytest.raises(ValueError, match="limits must be"):
        P.Plan(CART, times, quad, inputs="force", limits=([1.0, 2.0], 3.0))
    with pytest.raises(ValueError, match="there is no 'w' to be weighted"):
        P.Plan(CART, times, P.Quadratic(x={"w": 1.0}), inputs="force")
    with pytest.raises(ValueError, match="not negative"):
        P.Plan(CART, times, P.Quadratic(x=-1.0), inputs="force")
    with pytest.raises(ValueError, match="target must have 2"):
        P.Plan(CART, times, P.Quadratic([1.0, 2.0, 3.0], x=1.0), inputs="force")
    with pytest.raises(TypeError, match="must take"):
        P.Plan(CART, times, lambda t: 0.0, inputs="force")
    with pytest.raises(TypeError, match="system must be"):
        P.Plan("cart", times, quad, inputs="force")
    plan = P.Plan(CART, times, quad, inputs="force")
    with pytest.raises(ValueError, match="U must have a row"):
        plan.solve([0.0, 0.0], U=np.zeros((3, 1)))
    with pytest.raises(ValueError, match="x0"):
        plan.solve([0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match=r"running is nan at node 1, t = 0.5"):
        P.Plan(CART, times, lambda t, x, u: np.sqrt(0.25 - t) + 0.0 * u[0], inputs="force").solve([0.0, 0.0])
    with pytest.raises(ValueError, match="end is inf"):
        P.Plan(CART, times, end=lambda t, x: 1.0 / x[0], inputs="force").solve([0.0, 0.0])
    with pytest.raises(ValueError, match="deadline"):
        P.MPC(plan, deadline=0.0)
    with pytest.raises(ValueError, match="x must have 2"):
        P.MPC(plan).plan(0.0, [1.0])


def test_mpc_moves_on_and_counts():
    plan = P.Plan(
        CART,
        np.linspace(0.0, 1.0, 11),
        P.Quadratic(x=[1.0, 0.1], u=0.01),
        P.Quadratic(x=1.0),
        inputs="force",
        limits=(-2, 2),
    )
    mpc, x = P.MPC(plan, deadline=10.0, iterations=2), np.array([1.0, 0.0])
    first = mpc.start(0.0, x).u
    assert np.allclose(mpc.shifted(0.2)[:8], first[2:])
    assert np.allclose(mpc.shifted(0.2)[8:], first[-1])
    assert np.allclose(mpc.shifted(9.0), first[-1])
    for k in range(40):
        u = mpc.plan(0.1 * k, x)
        x = bd.rollout(CART, x, [u], [0.1 * k, 0.1 * k + 0.1], inputs="force").x[-1]
    assert np.abs(x).max() < 0.02
    assert len(mpc.statistics.seconds) == 40
    assert mpc.statistics.failed == mpc.statistics.late == 0
    assert mpc.statistics.percentile(99) >= mpc.statistics.percentile(50) > 0.0
    assert "40 plans" in str(mpc.statistics)


def test_mpc_survives_failures():
    system = bd.System(lambda t, x, b, p: (p[0] * np.sqrt(1.0 - x[0]) / np.sqrt(1.0 - x[0]),), n=1, params={"u": 0.0})
    plan = P.Plan(system, np.linspace(0.0, 1.0, 6), P.Quadratic(u=1e-3), P.Quadratic([0.5], x=1.0), inputs="u")
    mpc = P.MPC(plan)
    mpc.plan(0.0, [0.0])
    u = mpc.plan(0.1, [1.5])  # (nothing can be planned from there)
    assert np.isfinite(u).all()
    assert mpc.statistics.failed == 1
    assert mpc.plan(0.2, [0.1]).shape == (1,)
    assert mpc.statistics.failed == 1
    # (a cost that is not a number from some states is no crash either)
    steep = P.MPC(P.Plan(CART, [0.0, 0.5, 1.0], lambda t, x, u: np.log(x[0]) ** 2 + u[0] ** 2, inputs="force"))
    steep.start(0.0, [2.0, 0.0])
    with np.errstate(all="ignore"):
        assert np.isfinite(steep.plan(0.1, [-1.0, 0.0])).all()
    assert steep.statistics.failed == 1


def test_tracking_at_equal_mode():
    """A hopper that lands 10 ms late is compared with the reference that goes on falling, in closed form."""
    system = bd.models.hopper()
    reference = bd.solve(system, (0.0, 1.0), [2.0, 0.0], rtol=1e-10)
    cost = P.Tracking(reference, x=1.0, reach=0.1)
    cost.prepare(system, ("g",))
    touch, leave = reference.events.t[:2]
    late = touch + 0.01
    assert np.allclose(cost.target(late, np.array([1.01, -4.3])), [2.0 - 0.5 * 9.81 * late**2, -9.81 * late], atol=1e-6)
    assert np.allclose(cost.target(late, np.array([0.95, -4.3])), reference(late))
    early = touch - 0.01  # in stance already: the reference's stance, back in time
    w, v, s = np.sqrt(1000.0), -9.81 * touch, -0.01
    sag = 9.81 / 1000.0
    known = 1.0 - sag + sag * np.cos(w * s) + v / w * np.sin(w * s)
    assert cost.target(early, np.array([0.99, -4.0]))[0] == pytest.approx(known, abs=1e-6)
    assert np.allclose(cost.target(0.2, np.array([0.9, 0.0])), reference(0.2))  # (too far from any stance)
    assert leave > touch
    with pytest.raises(ValueError, match="reach"):
        P.Tracking(reference, reach=-1.0)
    with pytest.raises(ValueError, match="plan's system"):
        cost.prepare(CART, ("force",))


@pytest.mark.parametrize("tick", [0.04, 0.02, 0.05])
def test_a_latency_is_predicted_over(tick):
    """Where nothing disturbs it, the state from which a plan begins is the one that comes, through the contact."""
    latency = 0.04
    plan = P.Plan(
        bd.models.hopper(),
        np.linspace(0.0, 0.2, 11),
        inputs="g",
        running=P.Quadratic([1.5, 0.0], x=[100.0, 1.0], u=0.01, rest=[0.0]),
        rtol=1e-8,
    )
    mpc, x = P.MPC(plan, iterations=2, latency=latency), np.array([1.2, 0.0])
    decided, expected = [(0.0, mpc.start(0.0, x).u)], []
    moments, states = [0.0], [x]
    for k in range(25):
        t = k * tick
        mpc.plan(t, x)
        found: Any = mpc.result
        decided.append((t + latency, found.u))
        expected.append((t + latency, found.rollout.x[0]))
        for q in range(10):  # the plant, in small parts, under the controls that are applied at each time
            here = t + (q + 0.5) * tick / 10
            began, U = [pair for pair in decided if pair[0] <= here][-1]
            u = U[min(int((here - began) / 0.02), 9)]
            x = bd.rollout(plan.system, x, [u], [t + q * tick / 10, t + (q + 1) * tick / 10], inputs="g", rtol=1e-10).x[
                -1
            ]
            moments.append(t + (q + 1) * tick / 10)
            states.append(x)
    checked = 0
    for t, aim in expected:
        near = int(np.argmin(np.abs(np.array(moments) - t)))
        if abs(moments[near] - t) < 1e-9:
            np.testing.assert_allclose(aim, states[near], atol=1e-6)
            checked += 1
    assert checked > 20
    assert abs(x[0] - 1.5) < 0.1


@pytest.mark.parametrize("latency", [-0.1, np.nan, 0.2])
def test_a_latency_lies_within_the_horizon(latency):
    plan = P.Plan(
        bd.models.hopper(), np.linspace(0.0, 0.2, 3), inputs="g", running=P.Quadratic([1.5, 0.0], x=1.0, u=1.0)
    )
    with pytest.raises(ValueError, match="latency must be"):
        P.MPC(plan, latency=latency)
