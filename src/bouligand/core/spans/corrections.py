"""By how much crossings move from one list of a spanning step to the next, and what that makes.

A pass through the stages integrates every jump from the time that its list gave. Where the next list says otherwise, the end of
the step is off by the integral of the jump between the two times, and by no more: that the jumps themselves are known better
now makes no difference, because the stages saw f as it was where they went, and took off what they had added.
"""

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.vectors import clear_row
from ..guards import QUICK
from ..state import DOUBT, FORMER, MOVED, SHIFT, SIGN, TAU, WAS, WAS_BACK, WEIGHTS, WHO, B
from .jumps import THIRD, many, nodes


@core
def forget(H):
    """No list before."""
    clear_row(H, WAS)
    clear_row(H, WAS_BACK)


@core
def remember(H, N, Z, found):
    """Note the times of a list, for the next."""
    compact()
    for e in range(found):
        k = N[WHO, e]
        H[WAS if Z[SIGN, e] != H[B, k] else WAS_BACK, k] = 1.0 - Z[TAU, e]


@core
def compare(H, N, Z, found, before):
    """The times in the list before, of which there were ``before``; it is forgotten. Crossings that only that one had are put
    behind the others, as if they were at the very end. Returns the number of all."""
    compact()
    for e in range(found):
        k = N[WHO, e]
        row = WAS if Z[SIGN, e] != H[B, k] else WAS_BACK
        Z[FORMER, e] = 1.0 - H[row, k]
        before -= 1 if H[row, k] > 0.0 else 0
        H[row, k] = 0.0
    every = found
    if before > 0:
        for row in range(WAS, WAS_BACK + 1):
            for k in range(H.shape[1]):
                if H[row, k] > 0.0:
                    N[WHO, every], Z[TAU, every], Z[SHIFT, every] = k, 1.0, 0.0
                    Z[SIGN, every] = -H[B, k] if row == WAS else H[B, k]
                    Z[FORMER, every] = 1.0 - H[row, k]
                    H[row, k] = 0.0
                    every += 1
    return every


@core(fastmath=QUICK)
def weigh_moves(tau, sign, shift, former, Z):
    """What g at the three nodes counts for: in its value at the crossing, times the shift; and in its integral from there to
    where the crossing was before."""
    for e in range(tau.size):
        u, v = tau[e], former[e]
        d = sign[e] * shift[e]
        Z[WEIGHTS, e] = d * (1.0 + u * (2.0 * u - 3.0))
        Z[WEIGHTS + 1, e] = d * 4.0 * u * (1.0 - u)
        Z[WEIGHTS + 2, e] = d * u * (2.0 * u - 1.0)
        d = sign[e] * (v - u)
        one = 0.5 * (u + v)  # means of time and of its square
        two = (u * u + u * v + v * v) * THIRD
        Z[WEIGHTS + 3, e] = d * (1.0 - 3.0 * one + 2.0 * two)
        Z[WEIGHTS + 4, e] = d * 4.0 * (one - two)
        Z[WEIGHTS + 5, e] = d * (2.0 * two - one)


@core(fastmath=QUICK)
def weighed(Z, start, middle, end):
    """Of one state: the sums of g with these weights at the nodes."""
    a0, a1, a2, b0, b1, b2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for e in range(start.size):
        g0, gm, ge = start[e], middle[e], end[e]
        a0 += Z[WEIGHTS, e] * g0
        a1 += Z[WEIGHTS + 1, e] * gm
        a2 += Z[WEIGHTS + 2, e] * ge
        b0 += Z[WEIGHTS + 3, e] * g0
        b1 += Z[WEIGHTS + 4, e] * gm
        b2 += Z[WEIGHTS + 5, e] * ge
    return a0 + a1 + a2, b0 + b1 + b2


@core
def sum_moves(fn, ctx, p, S, I, V, N, Z, M, G, every, s):
    """What moving the crossings from FORMER to TAU adds to x at the end, into MOVED, and the doubt that is left, into DOUBT;
    both per length of the step. True if g failed."""
    compact()
    n, slot = V.shape[1], G.size // 3
    for i in range(n):
        M[DOUBT, i], M[MOVED, i] = 0.0, 0.0
    first = 0
    while first < every:
        last = min(first + many(fn, V, G), every)
        count = last - first
        if nodes(fn, ctx, p, S, I, V, N, G, first, count, s):
            return True
        weigh_moves(Z[TAU, first:last], Z[SIGN, first:last], Z[SHIFT, first:last], Z[FORMER, first:last], Z)
        for i in range(n):
            if count > 1 or G[i] != 0.0 or G[slot + i] != 0.0 or G[2 * slot + i] != 0.0:
                a, e = i * count, i * count + count
                doubt, moved = weighed(Z, G[a:e], G[slot + a : slot + e], G[2 * slot + a : 2 * slot + e])
                M[DOUBT, i] += doubt
                M[MOVED, i] += moved
        first = last
    return False
