"""The spanning step: one Runge-Kutta step across any number of crossings, for a field that is a sum over contacts.

The smooth part of the field is integrated by dopri5, the jumps from their own times on (see ``jumps``), the times are those at
which h is zero along the step (see ``crossings``). These depend on each other: a first list comes from a prediction of the
step, and each pass through the stages gives a better one, until what that changes at the end is within the tolerance.

``span`` goes on from step to step while there are enough crossings ahead. Whatever is odd (a graze that would matter, a guard
that turns back, a step that is refused again and again) is left to hops, one guard at a time, until it is past.
"""

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import eval_f, eval_h, in_tolerances
from ..guards import QUICK, arriving
from ..schemes.tableau import dopri5_error
from ..state import (
    BUDGET,
    CAP,
    DOUBT,
    DT,
    DTMAX,
    DTS,
    EVENTS_FULL,
    GO_ON,
    HM,
    HN,
    HOPS_UNTIL,
    HP,
    KF,
    MAX_STEPS,
    MIDDLE,
    MOVED,
    NEVENTS,
    NRECORDS,
    NREJECTED,
    NSTEPS,
    RAMP,
    RATES,
    RECORDS_FULL,
    RTOL,
    SHIFT,
    STATUS,
    STOP,
    T0,
    TAU,
    TF,
    XF,
    XM,
    XN,
    K,
    T,
    W,
    X,
)
from ..steps.dense import before
from .accept_span import FAILED, HOPS, TAKEN, settle_span
from .corrections import compare, forget, remember, sum_moves
from .crossings import ODD, into_intervals, list_crossings
from .jumps import inside, stages, sum_jumps

FEWEST = (
    5  # crossings for which a spanning step is taken: with fewer, larger jumps the doubt about their times is not seen
)
MOST_PASSES = 3
MOST_TRIES = 10  # refused steps in a row
CONTRACTION = 0.2  # of a pass: the change that another one would make, compared to the last
MOST_GROWTH = 2.5  # from one step to the next
REFUSED, FEW = 0, 3  # outcomes, besides those of settle_span


@core(entry=True)
def span(fn, ctx, p, S, I, V, H, R, E, TQ, Y, N, Z, M, G):
    """Spanning steps, until there is nothing left to span, or a buffer is full, or a function fails; returns the code."""
    compact()
    m, tries = H.shape[1], 0
    for i in range(V.shape[1]):
        V[RAMP, i], V[RAMP + 1, i] = 0.0, 0.0
    I[RATES] = 0  # (HD is used for something else)
    forget(H)
    # not more at first than a part of all guards: a step that is too short costs less than one that is refused
    if S[DTS] == 0.0:
        S[DTS] = 0.2 * S[DT]
    s = S[DTS]
    for _ in range(20):
        if arriving(H, s) <= max(8, m // 8):
            S[DTS] = s
            break
        s *= 0.7  # (ties are there however short it is)
    while True:
        t, stop = S[T], S[STOP]
        if I[NRECORDS] >= R.shape[0]:
            return RECORDS_FULL
        if I[NEVENTS] + 3 * m + 4 > E.shape[0]:
            return EVENTS_FULL
        if t >= stop or I[BUDGET] <= 0 or I[NSTEPS] >= I[MAX_STEPS]:
            return GO_ON
        s = min(S[DTS], S[DTMAX])
        if s >= 0.999999 * (stop - t):
            s = stop - t
        S[CAP] = before(stop) if stop < S[TF] and t + s >= stop else 1e300
        outcome, found, factor = attempt(fn, ctx, p, S, I, V, H, N, Z, M, G, s)
        if outcome == TAKEN:
            outcome = settle_span(fn, ctx, p, S, I, V, H, R, E, TQ, Y, N, Z, M, G, found, s)
        if outcome == FAILED:
            return I[STATUS]
        if outcome == TAKEN:
            tries = 0
            S[DTS] = s * min(max(0.8 * factor, 0.3), MOST_GROWTH)
            continue
        if outcome == REFUSED:
            I[NREJECTED] += 1
            tries += 1
            S[DTS] = s * min(max(0.9 * factor, 0.1), 0.9)
            if tries <= MOST_TRIES and S[DTS] > 1e-12 * abs(t):
                continue
        elif outcome == FEW:
            S[DTS] = (1.2 if found > 0 else 1.0) * s
        S[HOPS_UNTIL] = t + max(0.5 * s, 1e-14 * abs(t))
        S[CAP] = 1e300
        return GO_ON


@core
def attempt(fn, ctx, p, S, I, V, H, N, Z, M, G, s):
    """Try a step of length s: what came of it, the number of crossings listed, and by how much longer the step could have been.

    TAKEN leaves the end in XN, the smooth part of x' in the rows from K on, the crossings in N and Z, their sums in M.
    """
    compact()
    t, n = S[T], V.shape[1]
    if predict(fn, p, S, I, V, H, s):
        return FAILED, 0, 0.0
    if eval_h(fn, p, S, I, V, H, t + s, XN, HN) or eval_h(fn, p, S, I, V, H, t + 0.5 * s, MIDDLE, HM):
        return FAILED, 0, 0.0
    found, finite = list_crossings(H, N, Z, False)
    if not finite:
        return REFUSED, 0, 0.1
    if found < FEWEST:
        return FEW, found, 1.0
    soon = min(1.0 / max(in_tolerances(S, V, K, X, X), 1e-300) / s, 1e-3)
    ties = at_once(Z, found, soon)
    moment = 1.0 / (S[RTOL] * max(abs(t), S[TF] - S[T0]))  # (a time has the relative tolerance)
    factor = 1.0
    for turn in range(MOST_PASSES):
        # --- the jumps; the stages, and the error of the smooth part (in which the kinks that jumps leave in it show)
        into_intervals(N, Z, found)
        if sum_jumps(fn, ctx, p, S, I, V, N, Z, M, G, found, s):
            return FAILED, found, 0.0
        if stages(fn, p, S, I, V, H, N, M, s, turn == 0, XN):
            return FAILED, found, 0.0
        dopri5_error(V, X, K, s, W)
        error = in_tolerances(S, V, W, X, XN)
        factor = min(max(error, 1e-5), 1e5) ** -0.2
        if not error <= 1.0:
            return REFUSED, found, factor
        # --- the list again, from where the step really goes
        inside(V, M, 0.5, 8, s, MIDDLE)
        inside(V, M, 0.8, 12, s, XF)
        if (
            eval_h(fn, p, S, I, V, H, t + s, XN, HN)
            or eval_h(fn, p, S, I, V, H, t + 0.5 * s, MIDDLE, HM)
            or eval_h(fn, p, S, I, V, H, t + 0.8 * s, XF, HP)
        ):
            return FAILED, found, 0.0
        remember(H, N, Z, found)
        before = found
        found, finite = list_crossings(H, N, Z, True)
        if not finite or found == ODD:
            forget(H)
            return HOPS if finite else REFUSED, 0, 0.1
        every = compare(H, N, Z, found, before)
        if sum_moves(fn, ctx, p, S, I, V, N, Z, M, G, every, s):
            return FAILED, found, 0.0
        # --- its times instead of the old ones; the doubt about them; and did it change much?
        for i in range(n):
            V[KF, i] = s * M[MOVED, i]
            V[XN, i] += V[KF, i]
            V[W, i] = s * M[DOUBT, i]
        change = CONTRACTION * in_tolerances(S, V, KF, X, XN)
        doubt = max(in_tolerances(S, V, W, X, XN), largest(Z[SHIFT, :found]) * s * moment)
        error = max(doubt, change)
        factor = min(factor, min(max(error, 1e-5), 1e5) ** -0.3333)
        if error <= 1.0:
            # (a tied guard that is not crossed after all was turned away by another: for the judge)
            return TAKEN if at_once(Z, found, 2.0 * soon) >= ties else HOPS, found, factor
        if change < error:
            break
    return REFUSED, found, factor


@core
def predict(fn, p, S, I, V, H, s):
    """MIDDLE and XN as they would be if jumps went on adding up as in the last step: a cubic, from x' at the start and two
    stages under the word of the start, the first of which is dopri5's. True if f failed."""
    compact()
    t, n = S[T], V.shape[1]
    c, d = 0.2, 0.7
    for i in range(n):
        V[XM, i] = V[X, i] + c * s * V[K, i]
    if eval_f(fn, p, S, I, V, H, t + c * s, XM, K + 1):
        return True
    for i in range(n):
        bend = (V[K + 1, i] - V[K, i]) / c + s * (V[RAMP, i] + c * s * V[RAMP + 1, i])
        V[XM, i] = V[X, i] + d * s * (V[K, i] + 0.5 * d * bend)
    if eval_f(fn, p, S, I, V, H, t + d * s, XM, K + 2):
        return True
    for i in range(n):
        early = (V[K + 1, i] - V[K, i]) / c + s * (V[RAMP, i] + c * s * V[RAMP + 1, i])
        late = (V[K + 2, i] - V[K, i]) / d + s * (V[RAMP, i] + d * s * V[RAMP + 1, i])
        second = (late - early) / (d - c)
        first = early - c * second
        V[XN, i] = V[X, i] + s * (V[K, i] + 0.5 * first + second / 3.0)
        V[MIDDLE, i] = V[X, i] + 0.5 * s * (V[K, i] + 0.25 * first + second / 12.0)
    return False


@core(fastmath=QUICK)
def largest(values):
    most = 0.0
    for e in range(values.size):
        most = max(most, abs(values[e]))
    return most


@core
def at_once(Z, found, soon):
    """Number of crossings that are here, to tolerance."""
    count = 0
    for e in range(found):
        count += Z[TAU, e] <= soon
    return count
