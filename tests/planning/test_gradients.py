"""Gradients of plans against differences of 1e-12 solves, through one event and through six at once; and quick linearisations."""

import numpy as np
import pytest

import bouligand as bd
from bouligand.models.driven_hexapod import CONTROLS, START

P = bd.planning
REST = np.concatenate([np.zeros(6), np.full(6, 0.175)])


def second_order(function, e):
    """The one-sided derivative of a function at 0, of second order."""
    return (4.0 * function(0.5 * e) - 3.0 * function(0.0) - function(e)) / e


def compare(plan, x0, U, directions, e=1e-5, rtol=1e-6):
    for d in directions:
        cost, gradient = plan._gradient(x0, U, None, d)
        expected = second_order(lambda s, d=d: plan.cost(plan.rollout(x0, U + s * d)), e)
        assert np.isfinite(cost)
        assert (gradient * d).sum() == pytest.approx(expected, rel=rtol, abs=1e-9 * np.abs(gradient).max())


def test_hopper_through_a_bounce():
    plan = P.Plan(
        bd.models.hopper(),
        np.linspace(0.0, 0.8, 9),
        running=lambda t, x, u: np.cos(x[0]) + 0.01 * u[0] ** 2 * (1.0 + t),
        end=P.Quadratic([1.5, 0.0], x=[3.0, 0.1]),
        inputs="g",
        rtol=1e-12,
        atol=1e-14,
    )
    U = np.linspace(8.0, 12.0, 8)[:, None]
    assert len(plan.rollout([2.0, 0.0], U).solution.events) == 2
    compare(plan, [2.0, 0.0], U, np.eye(8)[:, :, None], rtol=2e-6)


def six_landings(**options):
    """All legs straight down, level: six feet land at the same instant, and the derivative is one of many pieces."""
    x0 = START.copy()
    x0[12:18], x0[2], x0[6] = 0.0, 0.19, 0.1
    target = np.zeros(24)
    target[2] = 0.15
    plan = P.Plan(
        bd.models.driven_hexapod(),
        np.linspace(0.0, 0.12, 7),
        running=P.Quadratic(target, x=1.0, u=1e-3, rest=REST),
        end=P.Quadratic(target, x=1.0),
        inputs=CONTROLS,
        **options,
    )
    draws = np.random.default_rng(1).standard_normal((3, 6, 12)) * np.concatenate([np.ones(6), np.full(6, 0.01)])
    return plan, x0, np.tile(REST, (6, 1)), draws


def test_hexapod_with_six_landings_at_once():
    plan, x0, U, draws = six_landings(rtol=1e-12, atol=1e-14)
    run = plan.rollout(x0, U)
    assert len(run.solution.events) == 6
    assert np.ptp(run.solution.events.t) < 1e-12
    compare(plan, x0, U, draws)
    run.linearise()
    assert run.corners == 1


def test_quick_linearisation_is_of_second_order():
    errors = []
    for longest in (2.5e-4, 1.25e-4):
        plan, x0, U, draws = six_landings(rtol=1e-6, max_step=longest)
        run, towards = plan.rollout(x0, U), (np.zeros((6, 24)), draws[0])
        exact, near = run.linearise(*towards, rtol=1e-10), run.linearise(*towards, quick=True)
        errors.append(max(np.abs(M - N).max() / np.abs(M).max() for M, N in zip(exact, near, strict=True)))
    assert errors[0] < 3e-3
    assert errors[1] < errors[0] / 3.0


def test_one_pass_is_interval_by_interval():
    """Also through jumps of the state."""
    for system, x0, inputs, span in (
        (bd.models.bouncing_ball(), [1.0, 0.0], "g", 1.2),
        (bd.models.hopper(), [2.0, 0.0], ("g", "k"), 1.0),
    ):
        names = [inputs] if isinstance(inputs, str) else inputs
        now = [system.defaults[system.params.index(name)] for name in names]
        run = bd.rollout(system, x0, np.tile(now, (7, 1)), np.linspace(0.0, span, 8), inputs=names, rtol=1e-10)
        assert len(run.solution.events) > 0
        A, B = run.linearise()
        for k in range(7):
            a, b = run.linear(k)
            assert np.allclose(A[k], a, rtol=1e-10, atol=1e-10)
            assert np.allclose(B[k], b, rtol=1e-10, atol=1e-10)


def test_functions_by_dual_numbers_and_by_differences():
    def compiled(t, x, u):
        return np.array([np.sin(x[0]) * u[1], t * x[1] ** 2, np.exp(0.1 * u[0])])

    def plain(t, x, u):
        return np.array([float(v) for v in compiled(t, x, u).tolist()])  # (tolist does not compile)

    t, X, U = np.array([0.3, 0.5]), np.array([[0.2, -1.0], [1.0, 2.0]]), np.array([[0.5, 1.5], [-1.0, 0.1]])
    one, other = P.Residuals(compiled), P.Residuals(plain)
    for a, b in zip(one.expand(t, X, U), other.expand(t, X, U), strict=True):
        assert np.allclose(a, b, rtol=1e-8, atol=1e-8)
    assert one.exact
    assert not other.exact
    x, u, moment = X[0], U[0], t[0]
    J = one._function.jacobian(moment, x, u)
    assert np.allclose(J[0], [np.cos(x[0]) * u[1], 0.0, 0.0, np.sin(x[0])], rtol=1e-14, atol=1e-15)
    assert np.allclose(J[1], [0.0, 2.0 * moment * x[1], 0.0, 0.0], rtol=1e-14, atol=1e-15)


def test_second_derivatives_without_negative_curvature():
    cost = P.Smooth(lambda t, x, u: x[0] ** 3 - x[1] ** 2 + x[0] * u[0])
    e = cost.expand(np.zeros(1), np.array([[2.0, 1.0]]), np.array([[0.5]]))
    assert np.allclose(e.x, [[12.5, -2.0]])
    assert np.linalg.eigvalsh(e.xx[0]).min() > -1e-9
    assert e.xx[0, 0, 0] == pytest.approx(12.0, rel=0.02)
