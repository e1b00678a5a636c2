"""Eigenvalues of small matrices, next to LAPACK's."""

import numpy as np
import pytest
from numba import njit

from bouligand.core.tangents.eigenvalues import eigenvalues_of


@njit
def _found(A, factors, out):
    return eigenvalues_of(A, factors, out)


def _eigenvalues(A):
    out = np.full(2 * len(A), np.nan)
    assert not _found(A.copy(), np.zeros(len(A)), out)
    return out.view(complex)


def _furthest(A):
    """The largest distance of an eigenvalue to the one of LAPACK's that is its own, in units of the largest."""
    mine, known = _eigenvalues(A), np.linalg.eigvals(A)
    distances = np.abs(mine[:, None] - known)
    worst = 0.0
    for column in np.argsort(-np.abs(known)):
        row = np.argmin(distances[:, column])
        worst = max(worst, distances[row, column])
        distances[row] = np.inf
    return worst / np.abs(known).max()


@pytest.mark.parametrize("n", [1, 2, 3, 5, 12, 37, 64])
def test_random_matrices(n):
    rng = np.random.default_rng(n)
    for _ in range(20):
        A, units = rng.normal(size=(n, n)), 10.0 ** rng.uniform(-4, 4, n)
        assert _furthest(A) < 1e-4
        assert _furthest(A * units / units[:, None]) < 1e-4


@pytest.mark.parametrize("damping", [0.0, 1.0, 1e3])
def test_springs_and_dampers(damping):
    """Positions and velocities: half of the rows are those of a unit matrix, and rates differ by orders of magnitude."""
    rng = np.random.default_rng(0)
    for half in (1, 4, 18):
        M = rng.normal(size=(half, half))
        M = M @ M.T + np.diag(10.0 ** rng.uniform(-2, 2, half))
        A = np.block([[np.zeros((half, half)), np.eye(half)], [-1e4 * M, -damping * M]])
        assert _furthest(A) < 1e-4


def test_special_matrices():
    assert np.array_equal(_eigenvalues(np.zeros((4, 4))), np.zeros(4))
    assert np.array_equal(_eigenvalues(np.eye(5, k=1)), np.zeros(5))
    assert np.sort(_eigenvalues(np.diag([3.0, -1.0, 2.0])).real) == pytest.approx([-1.0, 2.0, 3.0])
    assert _furthest(np.roll(np.eye(6), 1, axis=0)) < 1e-6  # (without another shift the iteration would not begin)
    assert np.sort(_eigenvalues(np.ones((4, 4))).real) == pytest.approx([0.0, 0.0, 0.0, 4.0], abs=1e-9)


def test_what_is_not_finite_has_none():
    for value in (np.nan, np.inf):
        A = np.eye(3)
        A[1, 2] = value
        assert _found(A, np.zeros(3), np.zeros(6))
