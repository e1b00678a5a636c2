"""The loop: smooth steps and hops, one word, one record.

``run`` goes on until the end, a failure, or a full buffer, and can be called again where it stopped. One pass through
``attempt`` is one of: a crossing on the spot, a smooth step, a hop onto a guard. (A spanning step, across many
crossings at once, has its place beside the hop: another way to get from X to XN that fills KIND and the event table.)
"""

from .corner import cross, note
from .dense import before, find_on_step, interpolate, prepare, requested
from .evaluate import eval_f, eval_h, in_tolerances
from .guards import ahead, dip, rates, refined, take_over
from .jit import compact, core
from .land import FAILED, LANDED, REFUSED, STEPPED, TURNS, take_step
from .land import NOT_FINITE as TRIAL_NOT_FINITE
from .layout import (
    ASK,
    ASK_BACK,
    ASK_NEAR,
    ASK_STUCK,
    ASK_TURNED,
    ATOL,
    BAD_TRIAL,
    BANDS,
    BEND,
    BUDGET,
    BUDGET_SPENT,
    CAP,
    DIRECTION,
    DT,
    DTMAX,
    E_T,
    ENDING,
    EPS,
    EVENTS_FULL,
    FINISHED,
    FRESH,
    GO_ON,
    HD,
    HE,
    HELD,
    HM,
    HN,
    HOP,
    HP,
    HX,
    JUDGED,
    KE,
    KIND,
    KP,
    LAND1,
    LAND2,
    LAND3,
    LAST,
    LEVEL,
    MAX_STEPS,
    NBREAKS,
    NEVENTS,
    NHOPS,
    NOT_FINITE,
    NQ,
    NRECORDS,
    NREJECTED,
    NSTEPS,
    OBSERVER,
    OBSERVERS,
    ONE_SIDED,
    POOL,
    PROJECTION,
    R_KIND,
    R_S1,
    R_S2,
    R_S3,
    R_T,
    R_X,
    RATES,
    RECORDS_FULL,
    RTOL,
    SHRUNK,
    SOON,
    STALE,
    STARTED,
    STATUS,
    STEP_TOO_SMALL,
    STOP,
    TARGET,
    TERMINATED,
    TF,
    TLAST,
    TOO_MANY_STEPS,
    TRIES,
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
from .start import start

MOST_TRIES = 500  # refused steps in a row
MOST_IDLE = 2_000  # passes through the loop without anything done


@core(entry=True)
def run(fn, p, S, I, V, H, R, E, TQ, Y, breaks, reset, jacobian):
    """Integrate until something happens that the caller must know of; returns its code."""
    compact()
    code = GO_ON
    if I[STARTED] == 0:
        code = start(fn, p, S, I, V, H, R, reset)
    elif I[STALE] == 1:
        code = anew(fn, p, S, I, V, H)
    room = 4 + 2 * (I[ONE_SIDED] + I[OBSERVERS])
    idle, done = 0, -1
    while code == GO_ON:
        # --- never a hang: a loop that neither steps nor crosses anything is stopped
        idle = idle + 1 if I[NSTEPS] + I[NEVENTS] == done else 0
        done = I[NSTEPS] + I[NEVENTS]
        if idle > MOST_IDLE:
            code = STEP_TOO_SMALL
            break
        # --- room in the buffers, questions to be judged first
        if I[NRECORDS] >= R.shape[0] or I[NEVENTS] + room > E.shape[0] or I[ASK] != 0:
            code = I[ASK] if I[ASK] != 0 else RECORDS_FULL if I[NRECORDS] >= R.shape[0] else EVENTS_FULL
            break
        t, stop = S[T], S[STOP]
        if I[RATES] == 0:
            if rates(fn, p, S, I, V, H, jacobian, False, 0.0):
                code = I[STATUS]
                break
            I[RATES] = 1
        in_band = I[BANDS] == 1 and set_levels(H)

        # --- the corner at hand: ties, guards that are not being left, guards that were turned away
        S[SOON] = 0.0
        if t >= stop or (I[FRESH] == 1 and I[LAST] >= 0):
            S[SOON] = min(1.0 / max(in_tolerances(S, V, K, X, X), 1e-300), 1e-3 * S[DT])
        tau, j, held, turned = ahead(H, S[SOON])
        here = max(4e-16 * max(abs(t), S[DT]), S[SOON] if t >= stop else 0.0)
        if j >= 0 and H[LEVEL, j] == 0.0 and tau <= here:
            for i in range(V.shape[1]):
                V[KE, i] = V[K, i]
            code = cross_and_evaluate(fn, p, S, I, V, H, E, reset, j)
            continue
        if I[JUDGED] == 0 and (held >= 0 or turned >= 0):
            I[ASK] = ASK_STUCK if held >= 0 else ASK_TURNED
            I[TARGET] = held if held >= 0 else turned
            continue

        # --- where it may end
        if I[ENDING] == 1:
            code = TERMINATED
        elif t >= stop:
            code = next_leg(fn, p, S, I, V, H, breaks)
            continue
        elif I[BUDGET] <= 0:
            code = BUDGET_SPENT
        elif I[NSTEPS] >= I[MAX_STEPS]:
            code = TOO_MANY_STEPS
        elif S[DT] <= 4e-16 * max(abs(t), 1e-280) or I[TRIES] > MOST_TRIES:
            code = NOT_FINITE if I[BAD_TRIAL] == 1 else STEP_TOO_SMALL
        if code != GO_ON:
            break

        # --- which step: onto the guard that is reached first, if it is within the natural step
        remaining = stop - t
        s = min(S[DT], S[DTMAX])
        landing = False
        if in_band:
            if eval_h(fn, p, S, I, V, H, t + tau, parabola(V, tau), HP):
                code = I[STATUS]
                break
            if refined(H, tau)[0] > 2.0 * tau:
                shrink_bands(I, H)
                continue
            landing, s = tau < remaining, tau
        elif j >= 0 and tau < 1.5 * s:
            if tau > 0.1 * s:
                if eval_h(fn, p, S, I, V, H, t + tau, parabola(V, tau), HP):
                    code = I[STATUS]
                    break
                tau, j = refined(H, tau)
            if tau <= (1.05 if I[TRIES] == 0 else 1.0) * s:
                landing, s = True, tau
        if s >= 0.999999 * remaining:
            landing = landing and tau < remaining
            s = s if landing else remaining
        S[CAP] = before(stop) if stop < S[TF] and t + s >= stop else 1e300
        I[TARGET] = j
        outcome = take_step(fn, p, S, I, V, H, s, landing, I[PROJECTION] if in_band else 0)

        # --- what came of it
        if outcome == LANDED and t + S[LAND1] + S[LAND2] + S[LAND3] > stop:
            S[DT] = min(S[DT], 0.9 * remaining)  # the guard is beyond the end: come nearer first
            outcome = REFUSED
        if outcome == STEPPED and I[KIND] < HOP and H.shape[1] > 0:
            outcome = look_between(fn, p, S, I, V, H, jacobian, s)
        if outcome == FAILED:
            code = I[STATUS]
        elif outcome == TURNS:
            shrink_bands(I, H)
        elif outcome in (REFUSED, TRIAL_NOT_FINITE):
            I[TRIES] += 1
            I[BAD_TRIAL] = 1 if outcome == TRIAL_NOT_FINITE else 0
        else:
            code = accept(fn, p, S, I, V, H, R, E, TQ, Y, reset, outcome == LANDED)
    I[STATUS] = code
    return code


@core(inline=True)
def parabola(V, tau):
    """Write the state about tau ahead into XM; returns that row."""
    for i in range(V.shape[1]):
        V[XM, i] = V[X, i] + tau * (V[K, i] + 0.5 * tau * V[KP, i])
    return XM


@core
def shrink_bands(I, H):
    """A trajectory that may turn round inside a band is integrated: the bands that hold it are halved, in the end given up."""
    I[TRIES] += 1
    for k in range(H.shape[1]):
        near = H[WB, k] * H[HX, k]
        if near <= (1.0 + 1e-6) * H[SHRUNK, k] and H[WB, k] * H[HD, k] < 0.0:
            H[SHRUNK, k] = 0.5 * near if near > 1e-3 * H[EPS, k] else 0.0


@core(inline=True)
def set_levels(H):
    """Band mode: aim at the edges of the bands that are still ahead. True inside one: then at the guards themselves."""
    inside = False
    for k in range(H.shape[1]):
        a = H[WB, k] * H[HX, k]
        if a > 1.001 * H[EPS, k]:
            H[SHRUNK, k] = H[EPS, k]
        H[LEVEL, k] = 0.0
        if a > (1.0 + 1e-6) * H[SHRUNK, k]:
            H[LEVEL, k] = H[SHRUNK, k]
        elif H[WB, k] * H[HD, k] < 0.0 and H[HELD, k] == 0.0 and H[SHRUNK, k] > 0.0:
            inside = True
    if inside:
        for k in range(H.shape[1]):
            H[LEVEL, k] = 0.0
    return inside


@core
def cross_and_evaluate(fn, p, S, I, V, H, E, reset, j):
    """Flip guard j at the present state, and evaluate f with the new word (KE keeps it under the old one)."""
    compact()
    since = S[T] - H[TLAST, j]
    code = cross(S, I, H, E, reset, j)
    if code != GO_ON:
        return code
    if eval_f(fn, p, S, I, V, H, S[T], X, K):
        return I[STATUS]
    if since < 0.3 * S[DT]:
        # crossed back so soon: was it more than a graze? (about: what h changes by when x changes by its tolerance)
        for i in range(V.shape[1]):
            size = V[ATOL, i] + S[RTOL] * abs(V[X, i])
            V[XM, i] = V[X, i] + (size if i % 3 == 0 else -0.7 * size)
        if eval_h(fn, p, S, I, V, H, S[T], XM, HP):
            return I[STATUS]
        unsure, sigma = 30.0 * abs(H[HP, j] - H[HX, j]), 0.01 * since
        for i in range(V.shape[1]):
            V[XM, i] = V[X, i] + sigma * V[K, i]
        if eval_h(fn, p, S, I, V, H, S[T] + sigma, XM, HP):
            return I[STATUS]
        speed = abs(H[HP, j] - H[HX, j]) / max(sigma, 1e-300)
        if 0.25 * speed * since < unsure:
            I[ASK], I[TARGET] = ASK_BACK, j
            S[VALUE], S[BEND] = since, speed
    return GO_ON


@core
def next_leg(fn, p, S, I, V, H, breaks):
    """At the end of a leg: finished, or a breakpoint, after which f and h are evaluated anew."""
    compact()
    if S[T] >= S[TF]:
        return FINISHED
    I[NBREAKS] += 1
    S[STOP] = breaks[I[NBREAKS]] if I[NBREAKS] < breaks.shape[0] else S[TF]
    return anew(fn, p, S, I, V, H)


@core
def anew(fn, p, S, I, V, H):
    """Forget what was saved from the last step: f or h may have changed with time or with the parameters."""
    if eval_f(fn, p, S, I, V, H, S[T], X, K) or eval_h(fn, p, S, I, V, H, S[T], X, HX):
        return I[STATUS]
    I[STALE] = 0
    I[RATES] = 0
    I[FRESH] = 1
    return GO_ON


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
    where, k, lowest = dip(H, s)
    if k < 0:
        return STEPPED
    if lowest >= 0.0 or where != 0.5:
        between(V, where, s, XM)
        if eval_h(fn, p, S, I, V, H, t + where * s, XM, HP):
            return FAILED
        lowest = H[WB, k] * H[HP, k] - H[LEVEL, k]
    if lowest < 0.0:
        S[DT] = where * s
        I[NREJECTED] += 1
        return REFUSED
    if lowest <= 1e-2 * max(abs(H[HX, k]), abs(H[HN, k])) and H[LEVEL, k] == 0.0:
        I[ASK], I[TARGET] = ASK_NEAR, k
        S[WHEN], S[VALUE], S[BEND] = t + where * s, lowest, abs(H[HE, k] - H[HD, k]) / s
        for i in range(V.shape[1]):
            V[XG, i] = V[XM, i]
    return STEPPED


@core
def between(V, theta, s, out):
    """V[out] = the cubic through both ends of the step and their slopes, at theta."""
    compact()
    u = 1.0 - theta
    for i in range(V.shape[1]):
        rise = V[XN, i] - V[X, i]
        ends = u * (s * V[K, i] - rise) - theta * (s * V[KE, i] - rise)
        V[out, i] = V[X, i] + theta * (rise + u * ends)


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
    if landed:
        I[NHOPS] += 1
        if H[LEVEL, j] == 0.0:
            return cross_and_evaluate(fn, p, S, I, V, H, E, reset, j)
    elif I[KIND] < HOP:
        for i in range(n):
            V[K, i] = V[KE, i]
        for k in range(H.shape[1]):
            H[HD, k] = H[HE, k]
        I[RATES], I[FRESH] = 1, 0
        return refill(fn, p, S, I, V, H, E) if I[POOL] == 1 else GO_ON
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
            if H[B, k] * high < 0.0 and H[B, k] * low > 0.0:
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


@core
def refill(fn, p, S, I, V, H, E):
    """The paper's printed rule, after an integrated step: guards with h < 0 are armed when all have been crossed.

    The signs of those that are not armed follow h, as in the listing, but only from step to step.
    """
    compact()
    all_crossed = True
    changed = False
    for k in range(H.shape[1]):
        if H[WB, k] != 0.0:
            all_crossed = False
        elif H[B, k] * H[HX, k] < 0.0:
            H[B, k] = -H[B, k]
            note(S, I, E, S[T], k, H[B, k], H[HX, k], 0.0)
            changed = True
    for k in range(H.shape[1]):
        if all_crossed and H[HX, k] < 0.0:
            H[WB, k] = -1.0
            H[HELD, k] = 0.0
    if changed and eval_f(fn, p, S, I, V, H, S[T], X, K):
        return I[STATUS]
    I[RATES] = 0
    return GO_ON
