"""After a step: was anything missed inside it, and, if not, how it becomes part of the record."""

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.vectors import copy_row
from ..evaluate import eval_f, eval_h, nudge
from ..guards import dip, rates, take_over
from ..state import (
    ASK,
    ASK_NEAR,
    ASK_REFILL,
    BEND,
    BUDGET,
    DIRECTION,
    DT,
    E_T,
    FRESH,
    GO_ON,
    HD,
    HE,
    HM,
    HN,
    HOP,
    HP,
    HX,
    JUDGED,
    KE,
    KIND,
    LAND1,
    LAND2,
    LAND3,
    LEVEL,
    NEVENTS,
    NHOPS,
    NO_LANDING,
    NQ,
    NRECORDS,
    NREJECTED,
    NSTEPS,
    OBSERVER,
    OBSERVERS,
    POOL,
    R_KIND,
    R_S1,
    R_S2,
    R_S3,
    R_T,
    R_X,
    RATES,
    STATUS,
    STOP,
    TARGET,
    TRIES,
    UNITS,
    VALUE,
    WB,
    WHEN,
    XG,
    XM,
    XN,
    B,
    K,
    T,
    X,
)
from ..unit import make_unit
from .crossing import cross_and_evaluate, note
from .dense import find_on_step, interpolate, prepare, requested
from .inside import between, look_closely
from .landing import FAILED, REFUSED, STEPPED


@core(inline=True)
def look_between(fn, p, S, I, V, H, jacobian, s):
    """After a smooth step that ends on the right side of every guard: was one touched and released in between?

    Evaluates hdot at the end (which the next step needs anyway) and h in the middle. The outcome is STEPPED; or REFUSED, to
    cut the step where the guard is deepest; or FAILED. A guard that came very near is left for the judge.
    """
    compact()
    t = S[T]
    if rates(fn, p, S, I, V, H, jacobian, True, s):
        return FAILED
    between(V, 0.5, s, XM)
    if eval_h(fn, p, S, I, V, H, t + 0.5 * s, XM, HP):
        return FAILED
    where, k, lowest, rough = dip(H, s)
    if rough and (k < 0 or lowest >= 0.0):
        looked = look_closely(fn, p, S, I, V, H, s)
        if looked != 0.0:
            S[DT] = max(looked, 0.0) * s
            I[NREJECTED] += 1
            return REFUSED if looked > 0.0 else FAILED
    if k < 0:
        return STEPPED
    # a guard turned round: was that within what cannot be told, or within a tenth of its way?
    nudge(S, V, XN, XM)
    if lowest >= 0.0 and eval_h(fn, p, S, I, V, H, t + s, XM, HP):
        return FAILED
    unsure = 30.0 * abs(H[HP, k] - H[HN, k]) if lowest >= 0.0 else 0.0
    if lowest > max(unsure, 0.1 * min(abs(H[HX, k]), abs(H[HN, k]))):
        return STEPPED
    if lowest >= 0.0 or where != 0.5:
        where, lowest = deepest(fn, p, S, I, V, H, s, k, where)
        if where < 0.0:
            return FAILED
    if lowest < 0.0:
        S[DT] = where * s
        I[NREJECTED] += 1
        return REFUSED
    if lowest <= unsure and H[LEVEL, k] == 0.0:
        I[ASK], I[TARGET] = ASK_NEAR, k
        S[WHEN], S[VALUE], S[BEND] = t + where * s, lowest, abs(H[HE, k] - H[HD, k]) / s
        for i in range(V.shape[1]):
            V[XG, i] = V[XM, i]
    return STEPPED


@core
def deepest(fn, p, S, I, V, H, s, k, where):
    """Where in the step (0 to 1, from a guess) guard k is nearest to a crossing, and how near; -1: a function failed.

    Asks the step's own extension: a cubic is not good enough for a guard that is barely touched. The state is left in XM.
    """
    compact()
    if prepare(fn, p, S, I, V, H, I[KIND], s):
        return -1.0, 0.0
    b, bend, behind = H[WB, k], H[WB, k] * s * (H[HE, k] - H[HD, k]), 0.0
    for turn in range(5):
        # a little before the guess, there, where the slope between the two says; once more
        first = max(where - 1e-3, 0.0)
        place = where if turn == 4 else first if turn % 2 == 0 else first + 1e-3
        interpolate(V, I[KIND], place, s, s, XM)
        if eval_h(fn, p, S, I, V, H, S[T] + place * s, XM, HP):
            return -1.0, 0.0
        value = b * H[HP, k] - H[LEVEL, k]
        if value < 0.0:
            return max(place, 1e-3), value
        if turn % 2 == 1 and bend > 0.0:
            where = min(max(first + 5e-4 - 1e3 * (value - behind) / bend, 0.0), 1.0)
        behind = value
    return where, value


@core(inline=True)
def accept(fn, p, S, I, V, H, R, E, TQ, Y, reset, landed):
    """Make the end of the step the present, write it down, and cross the guard it landed on."""
    compact()
    t, n, j = S[T], V.shape[1], I[TARGET]
    whole = S[LAND1] + S[LAND2] + S[LAND3]
    end = t + whole
    if not end > t:
        # the guard is here, to round-off
        for i in range(n):
            V[KE, i] = V[K, i]
        return cross_and_evaluate(fn, p, S, I, V, H, E, reset, j)
    if not landed and S[STOP] - end <= 4e-16 * max(abs(end), whole):
        end = S[STOP]
    if I[NQ] < TQ.shape[0] and TQ[I[NQ]] <= end and requested(fn, p, S, I, V, H, TQ, Y, S[LAND1], end - t):
        return I[STATUS]
    row = I[NRECORDS]
    I[NRECORDS] = row + 1
    if I[OBSERVERS] > 0 and observe(fn, p, S, I, V, H, E, S[LAND1], end - t):
        return I[STATUS]
    if fn[UNITS] > 0:
        make_unit(fn, V, XN, KE)
    R[row, R_T] = end
    R[row, R_KIND] = I[KIND]
    R[row, R_S1], R[row, R_S2], R[row, R_S3] = S[LAND1], S[LAND2], S[LAND3]
    for i in range(n):
        R[row, R_X + i] = V[XN, i]
        V[X, i] = V[XN, i]
    take_over(I, H)
    S[T] = end
    I[NSTEPS] += 1
    I[BUDGET] -= 1
    I[TRIES] = 0
    I[JUDGED] = 0
    I[NO_LANDING] = 0
    if landed:
        I[NHOPS] += 1
        if H[LEVEL, j] == 0.0:
            return cross_and_evaluate(fn, p, S, I, V, H, E, reset, j)
    elif I[KIND] < HOP:
        for i in range(n):
            V[K, i] = V[KE, i]
        copy_row(H, HE, HD)
        I[RATES], I[FRESH] = 1, 0
        if I[POOL] == 1:
            I[ASK] = ASK_REFILL
        return GO_ON
    I[RATES] = 0
    return I[STATUS] if eval_f(fn, p, S, I, V, H, end, X, K) else GO_ON


@core
def observe(fn, p, S, I, V, H, E, s1, whole):
    """Record the crossings of observers inside the step, in order of time; True if a function failed."""
    compact()
    first = I[NEVENTS]
    if prepare(fn, p, S, I, V, H, I[KIND], s1):
        return True
    interpolate(V, I[KIND], 0.5, s1, whole, XM)
    if eval_h(fn, p, S, I, V, H, S[T] + 0.5 * whole, XM, HM):
        return True
    for k in range(H.shape[1]):
        if H[OBSERVER, k] == 0.0:
            continue
        half = H[HM, k]
        for side in range(2):
            low = H[HX, k] if side == 0 else half
            high = half if side == 0 else H[HN, k]
            if (
                H[B, k] * high < 0.0 and H[B, k] * low >= 0.0
            ):  # (zero at the last record, exactly: it was not seen there)
                theta = find_on_step(fn, p, S, I, V, H, k, 0.5 * side, 0.5 * side + 0.5, low, high, s1, whole)
                if theta < 0.0:
                    return True
                H[B, k] = -H[B, k]
                fires = H[DIRECTION, k] == 0.0 or H[B, k] == H[DIRECTION, k]
                note(S, I, E, S[T] + theta * whole, k, H[B, k], 0.0, 1.0 if fires else 0.0)
    # a few rows at most: put them in order
    for a in range(first + 1, I[NEVENTS]):
        c = a
        while c > first and E[c, E_T] < E[c - 1, E_T]:
            for q in range(E.shape[1]):
                E[c, q], E[c - 1, q] = E[c - 1, q], E[c, q]
            c -= 1
    return False
