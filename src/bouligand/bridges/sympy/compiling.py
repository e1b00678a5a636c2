"""How generated functions are compiled, and the linear algebra that they call. Does not import SymPy."""

import numpy as np
from numba import njit

from ...core.compiler.kept import kept
from ...system.frozen import note_own
from .stamp import STAMP


def compiled(function, source):
    """A function of a generated module with this source as a dispatcher, whose machine code is kept on disk."""
    dispatcher = njit(function, error_model="numpy", boundscheck=True, nogil=True)
    dispatcher._cache = kept("sympy", STAMP, source, function.__name__)
    note_own(dispatcher)  # (a generated function reads the two below and NumPy's, and no values)
    return dispatcher


@njit(error_model="numpy", boundscheck=True, nogil=True)
def factor(A):
    """LU factors of a square matrix, in place, with partial pivoting; returns the row exchanges."""
    n = A.shape[0]
    rows = np.empty(n, dtype=np.int64)
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[best, k]):
                best = i
        rows[k] = best
        if A[best, k] == 0.0:
            raise ZeroDivisionError("the mass matrix is singular here")
        for j in range(n):
            A[k, j], A[best, j] = A[best, j], A[k, j]
        for i in range(k + 1, n):
            A[i, k] /= A[k, k]
            for j in range(k + 1, n):
                A[i, j] -= A[i, k] * A[k, j]
    return rows


@njit(error_model="numpy", boundscheck=True, nogil=True)
def solve(A, rows, first, R):
    """Solve for every column of R[first:, :], in place, with the factors of `factor`."""
    n = A.shape[0]
    for c in range(R.shape[1]):
        for k in range(n):
            best = first + rows[k]
            R[first + k, c], R[best, c] = R[best, c], R[first + k, c]
            for i in range(k + 1, n):
                R[first + i, c] -= A[i, k] * R[first + k, c]
        for k in range(n - 1, -1, -1):
            for j in range(k + 1, n):
                R[first + k, c] -= A[k, j] * R[first + j, c]
            R[first + k, c] /= A[k, k]


note_own(factor)
note_own(solve)
