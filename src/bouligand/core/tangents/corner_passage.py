"""A corner: several guards crossed together, and the piece of the derivative that a perturbation falls in.

Near the corner the field is what it is at the corner, one constant vector for each word. The perturbed trajectory is
followed through these, as the paper's projection would: whichever guard is reached first is crossed, the field is
sampled under the new word, and so on. In terms of ``delta``, the perturbation as seen at the time of the corner (the
straight line that the trajectory is on, extended to that time), each crossing is one saltation,

    s = -(e + N delta) / (N F + D_t h)        when guard k is crossed (e: how far from the corner it is, usually 0)
    delta -= (F' - F) s                       F, F' before and after,

so that a piece is a product of saltations in the order in which the leading tangent crosses; the others follow in that
order. It takes as many evaluations of f as there are guards, although there are m! orders.
"""

import math

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import eval_f
from ..state import AT_END, AT_START, CULPRIT, GO_ON, NOT_EVENT_SELECTED, STATUS, TO_GUARD, B, K, L, X


@core(entry=True)
def turn(
    fn,
    p,
    S,
    I,
    V,
    H,
    C,
    t,
    VAL,
    IDX,
    NNZ,
    DTH,
    OFF,
    SIDE,
    FIRSTS,
    FLIPS,
    D,
    DT0,
    done,
    ORDER,
    TIMES,
    JUMPS,
    mode,
    last,
    end,
):
    """Take the tangents D through a corner; the first leads. V[X] is its state, H[B] the word before it.

    Unit u is a surface: its row (VAL, IDX, NNZ: compressed), D_t h, offset, and the side it is on before; crossing it flips
    the guards FLIPS[FIRSTS[u]:FIRSTS[u+1]]. ORDER, TIMES (units, tangents) and, if it has rows, JUMPS take down what
    happened: with the order they make the transpose. Returns a code and the number of crossings.
    """
    compact()
    n, units, tangents = V.shape[1], SIDE.shape[0], D.shape[0]
    crossed = 0
    for u in range(units):
        done[u] = 0
    if mode == AT_START:
        # the perturbed start is at another place and time: what it has behind it already is not crossed again
        for u in range(units):
            if SIDE[u] * (OFF[u] + against(VAL, IDX, NNZ, u, D, 0) + DTH[u] * DT0[0]) <= 0.0:
                flip(H, FIRSTS, FLIPS, u)
                done[u] = 1
    if eval_f(fn, p, S, I, V, H, t, X, K):
        return I[STATUS], crossed
    if mode == AT_START:
        for a in range(tangents):
            for i in range(n):
                D[a, i] -= V[K, i] * DT0[a]
    while True:
        best, soonest, rate = -1, math.inf, 1.0
        for u in range(units):
            if done[u] == 1:
                continue
            hdot = DTH[u]
            for q in range(NNZ[u]):
                if IDX[u, q] < n:
                    hdot += VAL[u, q] * V[K, IDX[u, q]]
            if not SIDE[u] * hdot < 0.0:
                # not approached: that may only be if f does not change there
                if jumps(fn, p, S, I, V, H, t, FIRSTS, FLIPS, u):
                    C[CULPRIT] = FLIPS[FIRSTS[u]]
                    return NOT_EVENT_SELECTED, crossed
                flip(H, FIRSTS, FLIPS, u)
                done[u] = 1
                continue
            s = -(OFF[u] + against(VAL, IDX, NNZ, u, D, 0)) / hdot
            if s < soonest:
                best, soonest, rate = u, s, hdot
        if best < 0 or (mode == AT_END and soonest > end):
            break
        for a in range(tangents):
            TIMES[crossed, a] = -against(VAL, IDX, NNZ, best, D, a) / rate
        TIMES[crossed, 0] -= OFF[best] / rate
        ORDER[crossed] = best
        if JUMPS.shape[0] > 0:
            JUMPS[crossed, n] = rate
        if mode == TO_GUARD and best == last:
            for i in range(n):
                if JUMPS.shape[0] > 0:
                    JUMPS[crossed, i] = -V[K, i]
                for a in range(tangents):
                    D[a, i] += V[K, i] * TIMES[crossed, a]
            return GO_ON, crossed + 1
        flip(H, FIRSTS, FLIPS, best)
        done[best] = 1
        if eval_f(fn, p, S, I, V, H, t, X, L):
            return I[STATUS], crossed
        for i in range(n):
            jump = V[L, i] - V[K, i]
            V[K, i] = V[L, i]
            if JUMPS.shape[0] > 0:
                JUMPS[crossed, i] = jump
            if jump != 0.0:
                for a in range(tangents):
                    D[a, i] -= jump * TIMES[crossed, a]
        crossed += 1
    if mode == AT_END:
        # (the line that it is on, at the end: not at the corner's own time)
        for i in range(n):
            D[0, i] += V[K, i] * end
    return GO_ON, crossed


@core(inline=True)
def against(VAL, IDX, NNZ, u, D, a):
    """The row of unit u times the tangent a."""
    total = 0.0
    for q in range(NNZ[u]):
        total += VAL[u, q] * D[a, IDX[u, q]]
    return total


@core(inline=True)
def flip(H, FIRSTS, FLIPS, u):
    for q in range(FIRSTS[u], FIRSTS[u + 1]):
        H[B, FLIPS[q]] = -H[B, FLIPS[q]]


@core
def jumps(fn, p, S, I, V, H, t, FIRSTS, FLIPS, u):
    """Whether f (now in K) changes when unit u is crossed; a failing f counts as yes."""
    flip(H, FIRSTS, FLIPS, u)
    bad = eval_f(fn, p, S, I, V, H, t, X, L)
    flip(H, FIRSTS, FLIPS, u)
    if bad:
        return True
    change, size = 0.0, 0.0
    for i in range(V.shape[1]):
        change = max(change, abs(V[L, i] - V[K, i]))
        size = max(size, abs(V[L, i]), abs(V[K, i]))
    return not change <= 1e-13 * size
