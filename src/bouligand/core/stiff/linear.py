"""The linear systems of stiff steps: factors of ``I - scale A``, and solutions with them.

A is stored densely, but zeros are skipped: of a mechanical system, whose positions come first, only the velocities are left after
them, and half the unknowns cost a quarter of the time or less. Rows are only exchanged where a pivot is small, since that would
fill in the zeros.
"""

import math

from ..compiler.jit import core
from ..compiler.vectors import add_row, row_product

SMALL_PIVOT = 0.1  # of the largest in its column


@core
def factorise(stiff, scale):
    """stiff.factors = those of ``I - scale A``. True if it is singular, or not finite."""
    A, F, pivots, columns = stiff.A, stiff.factors, stiff.pivots, stiff.columns
    n = A.shape[0]
    for i in range(n):
        for j in range(n):
            F[i, j] = -scale * A[i, j]
        F[i, i] += 1.0
    for k in range(n):
        row, largest = k, abs(F[k, k])
        for i in range(k + 1, n):
            if abs(F[i, k]) > largest:
                row, largest = i, abs(F[i, k])
        if abs(F[k, k]) >= SMALL_PIVOT * largest:
            row = k
        pivots[k] = row
        if not 0.0 < largest < math.inf:
            return True
        if row != k:
            for j in range(n):
                F[k, j], F[row, j] = F[row, j], F[k, j]
        inverse = 1.0 / F[k, k]
        F[k, k] = inverse
        some = 0
        for j in range(k + 1, n):
            if F[k, j] != 0.0:
                columns[some] = j
                some += 1
        for i in range(k + 1, n):
            if F[i, k] == 0.0:
                continue
            factor = F[i, k] * inverse
            F[i, k] = factor
            if 4 * some < n - k:
                for q in range(some):
                    F[i, columns[q]] -= factor * F[k, columns[q]]
            else:
                add_row(F, i, k, k + 1, -factor)
    return False


@core
def solve(stiff, y):
    """y = the solution of ``(I - scale A) u = y``."""
    F, pivots = stiff.factors, stiff.pivots
    n = F.shape[0]
    for k in range(n):
        row = pivots[k]
        if row != k:
            y[k], y[row] = y[row], y[k]
    for i in range(1, n):
        y[i] -= row_product(F, i, 0, i, y)
    for i in range(n - 1, -1, -1):
        y[i] = (y[i] - row_product(F, i, i + 1, n, y)) * F[i, i]


@core
def solve_many(stiff, Y, many):
    """The same for several right sides: the first component of each, then the second of each, and so on."""
    F, pivots = stiff.factors, stiff.pivots
    n = F.shape[0]
    for k in range(n):
        row = pivots[k]
        if row != k:
            for a in range(many):
                Y[k * many + a], Y[row * many + a] = Y[row * many + a], Y[k * many + a]
    for i in range(1, n):
        for j in range(i):
            if F[i, j] != 0.0:
                for a in range(many):
                    Y[i * many + a] -= F[i, j] * Y[j * many + a]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            if F[i, j] != 0.0:
                for a in range(many):
                    Y[i * many + a] -= F[i, j] * Y[j * many + a]
        for a in range(many):
            Y[i * many + a] *= F[i, i]


@core
def solve_transposed(stiff, y):
    """y = the solution of ``(I - scale A)' u = y``."""
    F, pivots = stiff.factors, stiff.pivots
    n = F.shape[0]
    for i in range(n):
        y[i] *= F[i, i]
        for j in range(i + 1, n):
            y[j] -= F[i, j] * y[i]
    for i in range(n - 1, 0, -1):
        for j in range(i):
            y[j] -= F[i, j] * y[i]
    for k in range(n - 1, -1, -1):
        row = pivots[k]
        if row != k:
            y[k], y[row] = y[row], y[k]
