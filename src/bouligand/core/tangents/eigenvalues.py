"""The eigenvalues of a small matrix, without vectors, in place.

The matrix is balanced, brought to upper Hessenberg form by elimination with pivots, and then iterated by Francis' implicit QR
steps with double shifts; what has converged, to a few digits, is split off. For the few states that there are here this is
faster than LAPACK's general routine, which would also have to be called from Python.
"""

import math

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.vectors import add_row, row_product

SMALLER = 1e-6  # an entry below the diagonal that is smaller than its neighbours on it by this factor is zero
MOST = 30  # iterations for one eigenvalue
STUCK = 10  # iterations after which another shift is tried
PASSES = 4  # most passes of balancing


@core
def eigenvalues_of(A, factors, out):
    """out = the eigenvalues of A: real part, imaginary part, ... A is destroyed; ``factors`` is memory. True if they are not
    found: an entry is not finite, or the iteration does not converge."""
    compact()
    total = 0.0
    for i in range(A.shape[0]):
        for j in range(A.shape[0]):
            total += abs(A[i, j])
    if not total < 1e300:
        return True
    balance(A)
    eliminate(A, factors)
    end, tries = A.shape[0] - 1, 0
    while end >= 0:
        begin = block_of(A, end)
        if begin == end:
            out[2 * end], out[2 * end + 1] = A[end, end], 0.0
        elif begin == end - 1:
            pair(A, end, out)
        else:
            if tries == MOST:
                return True
            tries += 1
            francis_step(A, begin, end, tries % STUCK == 0)
            continue
        end, tries = begin - 1, 0
    return False


@core
def balance(A):
    """Scale states by powers of two, until rows and columns are of similar size: units do not matter then."""
    compact()
    n, go_on = A.shape[0], True
    for _ in range(PASSES):
        if not go_on:
            break
        go_on = False
        for i in range(n):
            row, column = 0.0, 0.0
            for j in range(n):
                row += abs(A[i, j])
                column += abs(A[j, i])
            row, column = row - abs(A[i, i]), column - abs(A[i, i])
            if row <= 0.0 or column <= 0.0:
                continue
            scale = 2.0 ** round(0.5 * math.log2(row / column))
            if scale != 1.0:
                go_on = True
                for j in range(n):
                    A[i, j] /= scale
                for j in range(n):
                    A[j, i] *= scale


@core
def eliminate(A, factors):
    """Make A zero below its first subdiagonal, by similarity: add rows to others, and subtract those columns again."""
    compact()
    n = A.shape[0]
    for m in range(1, n - 1):
        pivot = m
        for i in range(m + 1, n):
            if abs(A[i, m - 1]) > abs(A[pivot, m - 1]):
                pivot = i
        if A[pivot, m - 1] == 0.0:
            continue
        if pivot != m:
            for j in range(m - 1, n):
                A[pivot, j], A[m, j] = A[m, j], A[pivot, j]
            for j in range(n):
                A[j, pivot], A[j, m] = A[j, m], A[j, pivot]
        for i in range(m + 1, n):
            factors[i] = A[i, m - 1] / A[m, m - 1]
            A[i, m - 1] = 0.0
            if factors[i] != 0.0:
                add_row(A, i, m, m, n, -factors[i])
        for i in range(n):
            A[i, m] += row_product(A, i, m + 1, n, factors)


@core(inline=True)
def block_of(A, end):
    """Where the block that ends at a row begins: above it, an entry below the diagonal is (nearly) zero."""
    begin = end
    while begin > 0 and abs(A[begin, begin - 1]) > SMALLER * (abs(A[begin, begin]) + abs(A[begin - 1, begin - 1])):
        begin -= 1
    return begin


@core(inline=True)
def pair(A, end, out):
    """The eigenvalues of a block of two rows."""
    a, b, c, d = A[end - 1, end - 1], A[end - 1, end], A[end, end - 1], A[end, end]
    middle, half = 0.5 * (a + d), 0.5 * (a - d)
    square = half * half + b * c
    if square < 0.0:
        imaginary = math.sqrt(-square)
        out[2 * end - 2], out[2 * end - 1], out[2 * end], out[2 * end + 1] = middle, imaginary, middle, -imaginary
        return
    # (the larger one first; the other one from their product, which does not cancel)
    large = middle + math.copysign(math.sqrt(square), middle)
    small = (a * d - b * c) / large if large != 0.0 else 0.0
    out[2 * end - 2], out[2 * end - 1], out[2 * end], out[2 * end + 1] = large, 0.0, small, 0.0


@core
def francis_step(A, begin, end, stuck):
    """A step of the QR iteration on the rows from ``begin`` to ``end``, with both eigenvalues of the last two as shifts; where it
    is stuck, with others."""
    compact()
    a, b, c, d = A[end - 1, end - 1], A[end - 1, end], A[end, end - 1], A[end, end]
    total, product = a + d, a * d - b * c
    if stuck:
        size = abs(c) + abs(A[end - 1, end - 2])
        total, product = 1.5 * size, size * size
    # the first column of (A - shift)(A - other shift)
    k, below = begin, A[begin + 1, begin]
    x = A[k, k] * (A[k, k] - total) + product + A[k, k + 1] * below
    y = below * (A[k, k] + A[k + 1, k + 1] - total)
    z = below * A[k + 2, k + 1]
    for k in range(begin, end):
        # a reflection that makes y and z zero; then those of the next column
        size = max(abs(x), abs(y), abs(z))
        if size > 0.0:
            x, y, z = x / size, y / size, z / size
            norm = math.copysign(math.sqrt(x * x + y * y + z * z), x)
            if k > begin:
                A[k, k - 1], A[k + 1, k - 1] = -norm * size, 0.0
                if k + 2 <= end:
                    A[k + 2, k - 1] = 0.0
            reflect(A, (begin, k, end), (x + norm, y, z), 1.0 / (norm * (x + norm)))
        if k + 1 < end:
            x, y, z = A[k + 1, k], A[k + 2, k], A[k + 3, k] if k + 3 <= end else 0.0


@core(inline=True)
def reflect(A, rows, v, factor):
    """Apply 1 - factor v v^T to three rows of a block, from row k on (or to the last two), and to these columns."""
    (begin, k, end), (x, y, z) = rows, v
    if k + 2 <= end:
        for j in range(k, end + 1):
            part = factor * (x * A[k, j] + y * A[k + 1, j] + z * A[k + 2, j])
            A[k, j] -= part * x
            A[k + 1, j] -= part * y
            A[k + 2, j] -= part * z
        for i in range(begin, min(k + 3, end) + 1):
            part = factor * (x * A[i, k] + y * A[i, k + 1] + z * A[i, k + 2])
            A[i, k] -= part * x
            A[i, k + 1] -= part * y
            A[i, k + 2] -= part * z
    else:
        for j in range(k, end + 1):
            part = factor * (x * A[k, j] + y * A[k + 1, j])
            A[k, j] -= part * x
            A[k + 1, j] -= part * y
        for i in range(begin, end + 1):
            part = factor * (x * A[i, k] + y * A[i, k + 1])
            A[i, k] -= part * x
            A[i, k + 1] -= part * y
