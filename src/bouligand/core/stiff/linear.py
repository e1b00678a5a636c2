"""The linear systems of stiff steps: factors of ``I - scale A``, and solutions with them.

A is stored densely, but zeros are skipped: of a mechanical system, whose positions come first, only the velocities are left after
them, and half the unknowns cost a quarter of the time or less. Of each row of the factors it is known where it begins and ends.
Rows are only exchanged where a pivot is small, since that would fill in the zeros.
"""

import math

from ..compiler.jit import core
from ..compiler.vectors import add_row, row_product, scaled

SMALL_PIVOT = 0.1  # of the largest in its column


@core
def factorise(stiff, scale):
    """stiff.factors = those of ``I - scale A``. True if it is singular, or not finite."""
    F, first = stiff.factors, stiff.first
    n = F.shape[0]
    scaled(stiff.A, -scale, F)
    for i in range(n):
        F[i, i] += 1.0
        first[i] = i
    for k in range(n):
        below = choose_pivot(stiff, k)
        if below < 0:
            return True
        eliminate(stiff, k, below)
    return False


@core(inline=True)
def choose_pivot(stiff, k):
    """Exchange rows for a pivot in column k that is not small. Returns how many rows below have something there, written to
    stiff.below; -1 if no pivot can be used."""
    F, pivots, first, below = stiff.factors, stiff.pivots, stiff.first, stiff.below
    n = F.shape[0]
    row, largest, some = k, abs(F[k, k]), 0
    for i in range(k + 1, n):
        if F[i, k] != 0.0:
            below[some] = i
            some += 1
            if abs(F[i, k]) > largest:
                row, largest = i, abs(F[i, k])
    if abs(F[k, k]) >= SMALL_PIVOT * largest:
        row = k
    pivots[k] = row
    if not 0.0 < largest < math.inf:
        return -1
    if row != k:
        first[k], first[row] = min(first[row], k), min(first[k], row)
        for j in range(n):
            F[k, j], F[row, j] = F[row, j], F[k, j]
    return some


@core(inline=True)
def eliminate(stiff, k, below):
    """Eliminate column k from the rows in stiff.below; the ranges of the factors' rows that are not zero are noted."""
    F, columns, first = stiff.factors, stiff.columns, stiff.first
    n = F.shape[0]
    inverse = 1.0 / F[k, k]
    F[k, k] = inverse
    some = 0
    for j in range(k + 1, n):
        if F[k, j] != 0.0:
            columns[some] = j
            some += 1
    begin, end = (columns[0], columns[some - 1] + 1) if some > 0 else (k + 1, k + 1)
    stiff.begin[k], stiff.end[k] = begin, end
    for q in range(below):
        i = stiff.below[q]
        factor = F[i, k] * inverse
        F[i, k] = factor
        first[i] = min(first[i], k)
        if 4 * some < end - begin:
            for r in range(some):
                F[i, columns[r]] -= factor * F[k, columns[r]]
        else:
            add_row(F, i, k, begin, end, -factor)


@core
def solve(stiff, y):
    """y = the solution of ``(I - scale A) u = y``."""
    F, pivots, first, begin, end = stiff.factors, stiff.pivots, stiff.first, stiff.begin, stiff.end
    n = F.shape[0]
    for k in range(n):
        row = pivots[k]
        if row != k:
            y[k], y[row] = y[row], y[k]
    for i in range(1, n):
        if first[i] < i:
            y[i] -= row_product(F, i, first[i], i, y)
    for i in range(n - 1, -1, -1):
        y[i] = (y[i] - row_product(F, i, begin[i], end[i], y)) * F[i, i]


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
