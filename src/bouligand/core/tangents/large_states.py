"""Loops over all states that become vector code: with a thousand states they, not f, would take most of the time of a crossing.

(They are `apart`, because what calls them is `compact`: inlined there, they would not become vector code.)
"""

from ..compiler.intrinsics import apart, compact
from ..compiler.jit import core

MANY_STATES = 64  # from which on they pay
BLOCK = 64  # states that are looked at together


@core
def sum_scaled(base, weight, slope, out):
    """out = base + weight slope."""
    apart()
    for i in range(out.shape[0]):
        out[i] = base[i] + weight * slope[i]


@core
def add_scaled(weight, slope, out):
    """out += weight slope."""
    apart()
    for i in range(out.shape[0]):
        out[i] += weight * slope[i]


@core
def subtract_jump(tangent, before, behind, when):
    """tangent -= (behind - before) when."""
    apart()
    for i in range(before.shape[0]):
        tangent[i] -= (behind[i] - before[i]) * when


@core
def put_values(values, size, out):
    """out = dual numbers of this size with these values; their tangents stay."""
    apart()
    for i in range(values.shape[0]):
        out[size * i] = values[i]


@core
def weave(values, tangent, out):
    """out = these values and this tangent as dual numbers with one tangent."""
    apart()
    for i in range(values.shape[0]):
        out[2 * i] = values[i]
        out[2 * i + 1] = tangent[i]


@core
def add_tangents(slopes, weights, length, out):
    """out += length times the tangents of some slopes, which are dual numbers with one tangent, with these weights."""
    apart()
    for stage in range(weights.shape[0]):
        weight = length * weights[stage]
        if weight != 0.0:
            for i in range(out.shape[0]):
                out[i] += weight * slopes[stage, 2 * i + 1]


@core
def blocks_of_zeros(row, first, last, step):
    """How many numbers of a part of a row are zero, a block after the other: from its begin (step 1) or from its end (-1)."""
    compact()
    count, some = 0, 0.0
    while count + BLOCK <= last - first:
        begin = first + count if step > 0 else last - count - BLOCK
        some = size_of(row[begin : begin + BLOCK])
        if some != 0.0:
            break
        count += BLOCK
    return count


@core(fastmath={"reassoc", "nsz"})
def size_of(block):
    """The sum of the absolute values of a block."""
    apart()
    total = 0.0
    for i in range(block.shape[0]):
        total += abs(block[i])
    return total
