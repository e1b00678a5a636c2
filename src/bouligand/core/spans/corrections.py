"""How much crossings move from one list of a spanning step to the next, and how much that moves the end of the step.

A pass through the stages integrates every jump from its time in the list. Where the next list has another time, the end of
the step is off by the integral of the jump between the two times, and by no more: better values of the jumps themselves make no
difference, because the stages evaluated f including the jumps, and subtracted the same values that they had added.
"""

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.vectors import clear
from ..guards import QUICK
from .jumps import THIRD, chunk_size, nodes


@core
def clear_former(g):
    """There is no previous list."""
    clear(g.former, 0, g.width)
    clear(g.former_back, 0, g.width)


@core
def keep_former(w, found):
    """Keep the times of a list, for comparison with the next."""
    compact()
    g, c, numbers = w.g, w.spans.crossings, w.spans.numbers
    for e in range(found):
        k = numbers.guard[e]
        row = g.former if c.sign[e] != g.b[k] else g.former_back
        row[k] = 1.0 - c.tau[e]


@core
def match_former(w, found, before):
    """Into ``former``: the times in the previous list, of ``before`` crossings, which is then cleared. Crossings that only that
    list had are appended with tau = 1. Returns the number of all."""
    compact()
    g, c, numbers = w.g, w.spans.crossings, w.spans.numbers
    for e in range(found):
        k = numbers.guard[e]
        row = g.former if c.sign[e] != g.b[k] else g.former_back
        c.former[e] = 1.0 - row[k]
        before -= 1 if row[k] > 0.0 else 0
        row[k] = 0.0
    every = found
    if before > 0:
        for back in range(2):
            row = g.former_back if back else g.former
            for k in range(g.width):
                if row[k] > 0.0:
                    numbers.guard[every], c.tau[every], c.shift[every] = k, 1.0, 0.0
                    c.sign[every] = g.b[k] if back else -g.b[k]
                    c.former[every] = 1.0 - row[k]
                    row[k] = 0.0
                    every += 1
    return every


@core(fastmath=QUICK)
def weigh_moves(tau, sign, shift, former, weights):
    """Weights of g at the three nodes: for its value at the crossing, times the shift; and for its integral from there to
    the previous time of the crossing."""
    for e in range(tau.size):
        u, v = tau[e], former[e]
        d = sign[e] * shift[e]
        weights[0, e] = d * (1.0 + u * (2.0 * u - 3.0))
        weights[1, e] = d * 4.0 * u * (1.0 - u)
        weights[2, e] = d * u * (2.0 * u - 1.0)
        d = sign[e] * (v - u)
        one = 0.5 * (u + v)  # means of time and of its square
        two = (u * u + u * v + v * v) * THIRD
        weights[3, e] = d * (1.0 - 3.0 * one + 2.0 * two)
        weights[4, e] = d * 4.0 * (one - two)
        weights[5, e] = d * (2.0 * two - one)


@core(fastmath=QUICK)
def weighed(weights, start, middle, end):
    """Of one state: the sums of g with these weights at the nodes."""
    a0, a1, a2, b0, b1, b2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for e in range(start.size):
        g0, gm, ge = start[e], middle[e], end[e]
        a0 += weights[0, e] * g0
        a1 += weights[1, e] * gm
        a2 += weights[2, e] * ge
        b0 += weights[3, e] * g0
        b1 += weights[4, e] * gm
        b2 += weights[5, e] * ge
    return a0 + a1 + a2, b0 + b1 + b2


@core
def sum_moves(w, every, length):
    """Into ``moved``: the change of x at the end when crossings move from ``former`` to ``tau``; into ``doubt``: its remaining
    uncertainty; both divided by the length of the step. True if g failed."""
    compact()
    v, c, sums, g = w.v, w.spans.crossings, w.spans.sums, w.spans.g
    n, slot = v.width, g.size // 3
    for i in range(n):
        sums.doubt[i], sums.moved[i] = 0.0, 0.0
    first = 0
    while first < every:
        last = min(first + chunk_size(w), every)
        count = last - first
        if nodes(w, first, count, length):
            return True
        weigh_moves(c.tau[first:last], c.sign[first:last], c.shift[first:last], c.former[first:last], c.weights)
        for i in range(n):
            if count > 1 or g[i] != 0.0 or g[slot + i] != 0.0 or g[2 * slot + i] != 0.0:
                a, e = i * count, i * count + count
                doubt, moved = weighed(c.weights, g[a:e], g[slot + a : slot + e], g[2 * slot + a : 2 * slot + e])
                sums.doubt[i] += doubt
                sums.moved[i] += moved
        first = last
    return False
