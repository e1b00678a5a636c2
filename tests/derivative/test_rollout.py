"""Rollouts: closed forms, and A_k, B_k against one-sided differences of 1e-12 solves through events."""

import math

import numpy as np
import pytest

import bouligand as bd

CART = bd.System(lambda t, x, b, p: (x[1], p[1] - p[0] * x[1]), states=("q", "v"), params={"drag": 0.0, "force": 0.0})


def test_closed_form():
    times, U = np.array([0.0, 0.1, 0.3, 0.6]), np.array([1.0, -2.0, 0.5])
    run = bd.rollout(CART, [1.0, 0.0], U, times, inputs="force", rtol=1e-12)
    x = np.array([1.0, 0.0])
    for k, T in enumerate(np.diff(times)):
        A, B = np.array([[1.0, T], [0.0, 1.0]]), np.array([[0.5 * T * T], [T]])
        x = A @ x + B @ U[k : k + 1]
        assert np.allclose(run.x[k + 1], x, rtol=0, atol=1e-12)
        assert np.allclose(run.A[k], A, rtol=0, atol=1e-12)
        assert np.allclose(run.B[k], B, rtol=0, atol=1e-12)
    assert run.success
    assert run.u.shape == (3, 1)
    assert run.inputs == ("force",)


def hybrid(t, x, b, p, dx):
    """A mass with a motor that falls on a spring with a damper."""
    dx[0] = x[1]
    dx[1] = p[2] - 9.81 + ((-p[0] * x[0] - p[1] * x[1]) if b[0] > 0 else 0.0)


HYBRID = bd.System(
    hybrid, lambda t, x, p: (-x[0],), states=("z", "v"), guards=("ground",), params={"k": 900.0, "c": 3.0, "motor": 0.0}
)


def test_through_events_against_differences():
    times = np.linspace(0.0, 1.0, 21)
    U = 3.0 * np.sin(np.arange(20.0))[:, None]
    run = bd.rollout(HYBRID, [0.4, 0.0], U, times, inputs=["motor"], rtol=1e-12)
    assert len(run.solution.events) == 3
    step = 1e-6
    for k in range(20):

        def flow(x, u, k=k):
            return bd.solve(HYBRID, (times[k], times[k + 1]), x, {"motor": u}, rtol=1e-13).x[-1]

        for j in range(2):
            d = step * np.eye(2)[j]
            column = (flow(run.x[k] + d, U[k, 0]) - flow(run.x[k] - d, U[k, 0])) / (2 * step)
            assert np.allclose(run.A[k, :, j], column, rtol=0, atol=1e-6 * max(1.0, np.abs(column).max()))
        column = (flow(run.x[k], U[k, 0] + step) - flow(run.x[k], U[k, 0] - step)) / (2 * step)
        assert np.allclose(run.B[k, :, 0], column, rtol=0, atol=1e-6)


def test_gradient_is_that_of_the_chain_and_of_differences():
    times, rng = np.linspace(0.0, 1.0, 11), np.random.default_rng(3)
    U, target = rng.normal(size=(10, 1)), np.array([0.3, 0.1])

    def cost(x0, U):
        run = bd.rollout(HYBRID, x0, U, times, inputs="motor", rtol=1e-12)
        return 0.5 * np.sum((run.x - target) ** 2) + 0.05 * np.sum(U**2), run

    x0 = np.array([0.4, 0.0])
    _, run = cost(x0, U)
    by_start, by_inputs = run.gradient(run.x - target, 0.1 * U)
    adjoint, chain = (run.x - target)[-1], 0.1 * U
    for k in range(9, -1, -1):
        chain[k] += run.B[k].T @ adjoint
        adjoint = run.A[k].T @ adjoint + (run.x - target)[k]
    assert np.allclose(by_inputs, chain, rtol=0, atol=1e-9)
    assert np.allclose(by_start, adjoint, rtol=0, atol=1e-9)
    for k in (0, 4, 9):
        d = np.zeros((10, 1))
        d[k] = 1e-5
        assert by_inputs[k, 0] == pytest.approx((cost(x0, U + d)[0] - cost(x0, U - d)[0]) / 2e-5, abs=1e-6)


def test_a_corner_has_pieces():
    """Two guards crossed together inside an interval: the perturbation selects the piece."""

    def f(t, x, b, p):
        return (p[0] if b[1] < 0 else 0.5 * p[0], 1.0 if b[0] < 0 else 0.5)

    system = bd.System(f, lambda t, x, p: (x[0], x[1]), n=2, m=2, params={"u": 1.0})
    run = bd.rollout(system, [-1.0, -1.0], [[1.0], [1.0]], [0.0, 0.5, 2.0], inputs="u", rtol=1e-10)
    first, _ = run.linear(1, [0.1, 0.0], [0.0])
    other, _ = run.linear(1, [-0.1, 0.0], [0.0])
    assert np.allclose(first @ [0.1, 0.0], [0.15, -0.05], atol=1e-8)
    assert np.allclose(other @ [-0.1, 0.0], [-0.1, 0.1], atol=1e-8)
    assert run.A.shape == (2, 2, 2)


def test_failures():
    # (there is no square root for x > 3)
    system = bd.System(lambda t, x, b, p: (math.sqrt(3.0 - p[0] * x[0]) + 1.0,), n=1, params={"u": 1.0})
    times = [0.0, 0.5, 2.0, 3.0]
    with pytest.raises(bd.SolveError):
        bd.rollout(system, [1.0], [1.0, 1.0, 1.0], times, inputs="u")
    run = bd.rollout(system, [1.0], [1.0, 1.0, 1.0], times, inputs="u", on_failure="return")
    assert not run.success
    assert isinstance(run.error, bd.SolveError)
    assert np.isfinite(run.x[:2]).all()
    assert np.isnan(run.x[2:]).all()
    assert run.linear(0)[0].shape == (1, 1)
    with pytest.raises(bd.DerivativeError, match="interval 1"):
        run.linear(1)
    with pytest.raises(ValueError, match="number of an interval"):
        run.linear(3)
    assert "ended early" in repr(run)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"times": [0.0, 0.2, 0.1]}, "increasing"),
        ({"times": [0.0, 0.1, 0.1]}, "increasing"),
        ({"times": [0.0, math.nan, 0.1]}, "times must be finite"),
        ({"times": [0.0]}, "at least two"),
        ({"times": [0.0, 0.1]}, "a row for each of 1 intervals"),
        ({"U": [[1.0, 2.0], [1.0, 2.0]]}, "a column for each of 1 inputs"),
        ({"U": [[1.0], [math.nan]]}, "U must be finite"),
        ({"U": "full throttle"}, "U must be made of real numbers"),
        ({"inputs": "thrust"}, "no parameter is called 'thrust'"),
        ({"inputs": ()}, "which parameters are inputs"),
        ({"inputs": ("force", "force")}, "once"),
        ({"inputs": None}, "which parameters are inputs"),
        ({"x0": [1.0]}, "x0 must have 2 values"),
        ({"on_failure": "ignore"}, "on_failure"),
        ({"system": "cart"}, "system must be a System"),
    ],
)
def test_bad_arguments(change, message):
    arguments = {"system": CART, "x0": [0.0, 0.0], "U": [[1.0], [2.0]], "times": [0.0, 0.1, 0.2], "inputs": "force"}
    with pytest.raises((ValueError, TypeError), match=message):
        bd.rollout(**{**arguments, **change})


def test_bad_weights():
    run = bd.rollout(CART, [0.0, 0.0], [1.0, 2.0], [0.0, 0.1, 0.2], inputs="force")
    with pytest.raises(ValueError, match="by_x must have the shape of x"):
        run.gradient([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="by_u must have the shape of u"):
        run.gradient([1.0, 2.0], [1.0])


def test_a_derivative_in_parameters_needs_an_interval_without_changes():
    run = bd.rollout(CART, [0.0, 0.0], [1.0, 2.0], [0.0, 0.1, 0.2], inputs="force")
    with pytest.raises(bd.DerivativeError, match=r"changed on the way, at t = 0\.1"):
        run.solution.bderivative(params=True)
    assert run.solution.bderivative(0.2, since=0.1, params=True).matrix(wrt="p").shape == (2, 2)
