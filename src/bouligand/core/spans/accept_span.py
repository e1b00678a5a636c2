"""After a spanning step: is the word right at its end, was a guard grazed; and, if all is well, how it becomes part of the
record."""

import math

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import eval_f, eval_h, in_tolerances, nudge
from ..guards import QUICK, hold, take_over
from ..state import (
    BUDGET,
    FRESH,
    HD,
    HE,
    HELD,
    HM,
    HN,
    HX,
    JUDGED,
    KP,
    LAM,
    LAST,
    MIDDLE,
    NO_LANDING,
    NQ,
    NRECORDS,
    NSPANS,
    NSTEPS,
    R_KIND,
    R_S1,
    R_S2,
    R_S3,
    R_T,
    R_X,
    RAMP,
    RATES,
    RUNNING,
    SIGN,
    SPAN,
    STOP,
    TAU,
    TLAST,
    TRIES,
    WB,
    WHO,
    XM,
    XN,
    B,
    K,
    T,
    W,
    X,
)
from ..steps.crossing import note
from ..unit import make_unit
from .crossings import in_order
from .jumps import contacts, inside, integral, jump, none_yet, turn, walk

FAILED = -1
TAKEN = 1
HOPS = 2  # hops must look at this


@core
def settle_span(fn, ctx, p, S, I, V, H, R, E, TQ, Y, N, Z, M, G, found, s):
    """Accept the step of length s with the listed crossings (TAKEN), or leave it to HOPS; FAILED if a function failed."""
    compact()
    t, n = S[T], V.shape[1]
    end = t + s
    if S[STOP] - end <= 4e-16 * max(abs(end), s):
        end = S[STOP]
    # --- h at the very end; where something turns round or comes back at once, also what cannot be told from zero there
    if eval_h(fn, p, S, I, V, H, end, XN, HN):
        return FAILED
    turn(H, N, 0, found)
    outcome, near, again = TAKEN, turning(H) > 0.0, soonest(S, H, N, Z, found, s) < 0.3 * s
    if near or again:
        nudge(S, V, XN, XM)
        if eval_h(fn, p, S, I, V, H, end, XM, HE):
            outcome = FAILED
    if outcome == TAKEN and near:
        outcome, found = look(fn, ctx, p, S, I, V, H, N, Z, G, found, s)
    if outcome == TAKEN and again:
        outcome = back_too_soon(fn, ctx, p, S, I, V, H, N, Z, G, found, s)
    in_order(N, Z, found)
    if outcome == TAKEN and I[NQ] < TQ.shape[0] and TQ[I[NQ]] <= end:
        outcome = asked_for(fn, ctx, p, S, I, V, TQ, Y, N, Z, M, G, found, s, end)
    if outcome != TAKEN:
        turn(H, N, 0, found)
        return outcome

    # --- the record
    make_unit(fn, V, XN, XN)
    row = I[NRECORDS]
    I[NRECORDS] = row + 1
    R[row, R_T], R[row, R_KIND] = end, SPAN
    R[row, R_S1], R[row, R_S2], R[row, R_S3] = s, 0.0, 0.0
    for i in range(n):
        R[row, R_X + i] = V[XN, i]
    least = math.nextafter(t, math.inf)
    for e in range(found):
        k, when = N[WHO, e], min(max(t + Z[TAU, e] * s, least), end)
        sign = Z[SIGN, e]
        note(S, I, E, when, k, sign, 0.0, 1.0)
        H[WB, k] = sign
        H[TLAST, k] = when
        if sign * H[HN, k] <= 0.0 and H[B, k] == sign:
            hold(I, H, k)
        else:
            H[HELD, k] = 0.0
    if near:
        for k in range(H.shape[1]):
            if H[HD, k] > 0.0:
                _, where = lowest(H, k)
                note(S, I, E, t + where * s, k, H[B, k], H[HD, k], 2.0)
    # --- the end becomes the present
    for i in range(n):
        bend = M[21, i] + 2.0 * M[22, i]
        V[KP, i] = ((V[K + 6, i] - V[K + 3, i]) / 0.2 + bend) / s
        whole, area = jump(M, 20, 1.0, i), integral(M, 20, 1.0, i)
        V[RAMP, i] = (6.0 * area - 2.0 * whole) / s
        V[RAMP + 1, i] = (3.0 * whole - 6.0 * area) / (s * s)
        V[X, i] = V[XN, i]
    take_over(I, H)
    S[T] = end
    S[LAM] = 0.0
    I[NSTEPS] += 1
    I[NSPANS] += 1
    I[BUDGET] -= 1
    I[TRIES], I[JUDGED], I[NO_LANDING], I[RATES] = 0, 0, 0, 0
    I[FRESH], I[LAST] = 1, -1
    return FAILED if eval_f(fn, p, S, I, V, H, end, X, K) else TAKEN


@core(inline=True)
def lowest(H, k):
    """The lowest value of b h inside the step and its place, by the parabola of a guard that turns round there."""
    b = H[B, k]
    a0, am, a1 = b * H[HX, k], b * H[HM, k], b * H[HN, k]
    fall = 4.0 * am - 3.0 * a0 - a1
    bend = 2.0 * (a0 + a1) - 4.0 * am
    return a0 - 0.25 * fall * fall / bend, -0.5 * fall / bend


@core(fastmath=QUICK)
def turning(H):
    """With the word of the end in B: how many guards are on the wrong side at the end, or turn round inside the step."""
    count = 0.0
    for k in range(H.shape[1]):
        b = H[B, k]
        a0, am, a1 = b * H[HX, k], b * H[HM, k], b * H[HN, k]
        turns = (4.0 * am - 3.0 * a0 - a1 < 0.0) & (3.0 * a1 + a0 - 4.0 * am > 0.0)
        count += 1.0 if (a1 <= 0.0) | turns else 0.0
    return count


@core
def look(fn, ctx, p, S, I, V, H, N, Z, G, found, s):
    """The guards that `turning` has counted, one by one: the outcome, and the number of crossings.

    One that the list has crossed but whose h has not quite got there sits on its guard; one that is just beyond, but not
    listed, is crossed at the end. A graze goes to the hops if crossing or not would matter; margins are left in HD.
    """
    compact()
    for k in range(H.shape[1]):
        H[HD, k] = 0.0
        b = H[B, k]
        a0, am, a1 = b * H[HX, k], b * H[HM, k], b * H[HN, k]
        unsure = 2.0 * abs(H[HE, k] - H[HN, k])
        if a1 <= 0.0:
            if -a1 > 10.0 * unsure:
                return HOPS, found
            if a0 > 0.0 and H[HELD, k] == 0.0:
                H[B, k] = -b
                N[WHO, found], Z[TAU, found], Z[SIGN, found] = k, 1.0, -b
                found += 1
            continue
        fall = 4.0 * am - 3.0 * a0 - a1
        bend = 2.0 * (a0 + a1) - 4.0 * am
        if a0 > 0.0 and fall < 0.0 and fall + 2.0 * bend > 0.0:
            value, _ = lowest(H, k)
            if abs(value) <= unsure:
                time = 2.0 * s * math.sqrt(unsure / max(bend, 1e-300))
                weight = jump_of(fn, ctx, p, S, I, V, N, G, k, s)
                if weight < 0.0 or weight * time > 1.0:
                    return FAILED if weight < 0.0 else HOPS, found
            if 0.0 < value <= 10.0 * unsure:
                H[HD, k] = value
    return TAKEN, found


@core
def jump_of(fn, ctx, p, S, I, V, N, G, k, s):
    """Size of g_k in the middle of the step, in tolerances per time; negative if g failed."""
    compact()
    last = N.shape[1] - 1
    N[WHO, last] = k
    if contacts(fn, ctx, p, S, I, V, N, G, last, 1, S[T] + 0.5 * s, MIDDLE, 0):
        return -1.0
    for i in range(V.shape[1]):
        V[W, i] = G[i]
    return in_tolerances(S, V, W, X, XN)


@core
def soonest(S, H, N, Z, found, s):
    """The shortest time in which a guard was crossed again."""
    compact()
    shortest = math.inf
    for e in range(found):
        shortest = min(shortest, S[T] + Z[TAU, e] * s - H[TLAST, N[WHO, e]])
    return shortest


@core
def back_too_soon(fn, ctx, p, S, I, V, H, N, Z, G, found, s):
    """A guard that is crossed back after so short a time that it may only have been grazed, and that matters: for HOPS."""
    compact()
    for e in range(found):
        k, tau = N[WHO, e], Z[TAU, e]
        since = S[T] + tau * s - H[TLAST, k]
        if since < 0.3 * s:
            h0, hm, h1 = H[HX, k], H[HM, k], H[HN, k]
            way = abs(4.0 * hm - 3.0 * h0 - h1 + 4.0 * tau * (h0 + h1 - 2.0 * hm))
            if 0.25 * way * since < 2.0 * s * abs(H[HE, k] - h1):
                weight = jump_of(fn, ctx, p, S, I, V, N, G, k, s)
                if weight < 0.0 or weight * since > 1.0:
                    return FAILED if weight < 0.0 else HOPS
    return TAKEN


@core
def asked_for(fn, ctx, p, S, I, V, TQ, Y, N, Z, M, G, found, s, end):
    """Write the states at the requested times inside the step."""
    compact()
    none_yet(M)
    e = 0
    while I[NQ] < TQ.shape[0] and TQ[I[NQ]] <= end:
        q = I[NQ]
        row = XN
        if TQ[q] < end:
            theta = (TQ[q] - S[T]) / s
            e = walk(fn, ctx, p, S, I, V, N, Z, M, G, e, found, theta, s)
            if e < 0:
                return FAILED
            inside(V, M, theta, RUNNING, s, XM)
            row = XM
        for i in range(V.shape[1]):
            Y[q, i] = V[row, i]
        make_unit(fn, Y, q, q)
        I[NQ] += 1
    return TAKEN
