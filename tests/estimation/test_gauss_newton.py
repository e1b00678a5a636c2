"""Least squares with few Jacobians: the minima that SciPy finds, on problems whose solutions are known."""

import numpy as np
import pytest
from scipy.optimize import least_squares

from bouligand.estimation.gauss_newton import minimise

T = np.linspace(0.0, 2.0, 40)
DATA = 1.5 * np.exp(-2.0 * T) + 0.02 * np.random.default_rng(0).normal(size=T.size)
OPEN = (np.full(2, -np.inf), np.full(2, np.inf))


class Counted:
    """A decay with two unknowns, and how often it was evaluated; it fails where the rate is negative."""

    def __init__(self, data=DATA):
        self.data, self.residuals, self.jacobians = data, 0, 0

    def __call__(self, x):
        self.residuals += 1
        return x[0] * np.exp(-x[1] * T) - self.data if x[1] > 0.0 else np.full(T.size, np.inf)

    def jacobian(self, x):
        self.jacobians += 1
        e = np.exp(-x[1] * T)
        return np.column_stack([e, -T * x[0] * e])


def found_from(start, bounds=OPEN, problem=None, scale=None, most=50):
    problem = problem or Counted()
    start = np.array(start)
    return minimise(problem, problem.jacobian, start, problem(start), bounds, scale, np.inf, 1e-12, most), problem


@pytest.mark.parametrize(
    "bounds", [OPEN, (np.array([0.0, 0.0]), np.array([1.45, 9.0])), (np.array([0, 2.2]), np.array([3, 9]))]
)
def test_the_minimum_is_that_of_scipy(bounds):
    """Within bounds, too: to a hundredth of the standard errors, with an exact Jacobian where it ends."""
    reference = least_squares(
        Counted(), [1.4, 2.5], Counted().jacobian, bounds=bounds, xtol=1e-14, ftol=1e-14, gtol=1e-14
    )
    found, problem = found_from([1.4, 2.5], bounds)
    assert found.success
    std = np.sqrt(np.diag(np.linalg.inv(found.jac.T @ found.jac)) * 2.0 * reference.cost / 38)
    assert (np.abs(found.x - reference.x) < 0.01 * std).all()
    assert np.abs(found.jac - Counted().jacobian(found.x)).max() < 0.01
    assert (found.active_mask == np.sign(found.x - np.clip(found.x, *(bounds[0] + 1e-9, bounds[1] - 1e-9)))).all()
    assert problem.jacobians < problem.residuals


def test_far_starts_and_failures():
    """A first step that leads where nothing can be evaluated is shortened; data without noise are met to rounding."""
    problem = Counted(1.5 * np.exp(-2.0 * T))
    found, _ = found_from([40.0, 0.1], problem=problem)
    assert found.success
    assert found.x == pytest.approx([1.5, 2.0], abs=1e-9)
    found, _ = found_from([40.0, 0.1], most=3)
    assert not found.success
    assert "3 evaluations" in found.message


def test_unknowns_that_nothing_depends_on_stay():
    start = np.array([2.0, 5.0])

    def residuals(x):
        return np.array([x[0] ** 2 - 2.0, 0.0, 0.0])

    def jacobian(x):
        return np.array([[2.0 * x[0], 0.0], [0.0, 0.0], [0.0, 0.0]])

    found = minimise(residuals, jacobian, start, residuals(start), OPEN, start, 1.0, 1e-12, 50)
    assert found.success
    assert found.x == pytest.approx([np.sqrt(2.0), 5.0], abs=1e-6)
