"""The loop: smooth steps and hops, one word, one record.

``run`` goes on until the end, a failure, or a full buffer, and can be called again where it stopped. One pass through its
loop is one of: a crossing on the spot, a smooth step, a hop onto a guard. Where many guards are ahead and f is a sum over
contacts, it asks for spanning steps, which are a compiled function of their own (see ``span``).
"""

from ..compiler.intrinsics import compact, integers, matrix, vector
from ..compiler.jit import core
from ..evaluate import eval_h, in_tolerances
from ..guards import ahead, arriving, rates, refined
from ..state import (
    ASK,
    ASK_ANEW,
    ASK_STUCK,
    ASK_TURNED,
    BAD_TRIAL,
    BANDS,
    BUDGET,
    BUDGET_SPENT,
    CAP,
    DT,
    DTMAX,
    DTS,
    ENDING,
    EPS,
    EVENTS_FULL,
    FINISHED,
    FRESH,
    GO_ON,
    HD,
    HELD,
    HOPS_UNTIL,
    HP,
    HX,
    IN_BREAKS,
    IN_E,
    IN_FN,
    IN_H,
    IN_I,
    IN_JACOBIAN,
    IN_P,
    IN_R,
    IN_RESET,
    IN_S,
    IN_TQ,
    IN_V,
    IN_Y,
    JUDGED,
    KE,
    KP,
    KT,
    LAND1,
    LAND2,
    LAND3,
    LAST,
    LEFT,
    LEVEL,
    MAX_STEPS,
    NBREAKS,
    NEED_SPAN,
    NEVENTS,
    NO_LANDING,
    NOT_FINITE,
    NRECORDS,
    NREJECTED,
    NSTEPS,
    OBSERVERS,
    ONE_SIDED,
    PROJECTION,
    RATES,
    REACH,
    RECORDS_FULL,
    SHRUNK,
    SOON,
    SPANS,
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
    WB,
    XM,
    K,
    T,
    X,
)
from .accept import accept, look_between
from .crossing import cross_and_evaluate
from .dense import before
from .inside import passed_before
from .landing import FAILED, LANDED, REFUSED, STEPPED, TURNS, take_step
from .landing import NOT_FINITE as TRIAL_NOT_FINITE
from .start import start

# guards ahead for which a spanning step is asked for: so many, and more (by their square) where there are few in all and hops
# are cheap
MANY, MORE = 5, 9_999
MOST_TRIES = 500  # refused steps in a row
MOST_IDLE = 2_000  # passes through the loop without anything done


@core(entry=True)
def run(table):
    """Integrate until something happens that the caller must know of; returns its code.

    The arrays come in a table: handing over thirteen, each by itself, takes as long as two steps.
    """
    compact()
    fn, p, S, I = integers(table, IN_FN), vector(table, IN_P), vector(table, IN_S), integers(table, IN_I)
    V, H, R, E = matrix(table, IN_V), matrix(table, IN_H), matrix(table, IN_R), matrix(table, IN_E)
    TQ, Y, breaks = vector(table, IN_TQ), matrix(table, IN_Y), vector(table, IN_BREAKS)
    reset, jacobian = matrix(table, IN_RESET), matrix(table, IN_JACOBIAN)
    code = GO_ON
    if I[STARTED] == 0:
        code = start(fn, p, S, I, V, H, R, reset)
    elif I[STALE] == 1:
        I[ASK] = ASK_ANEW
    # (where f or h may change at once, every guard may be crossed at once)
    room = 4 + 2 * (I[ONE_SIDED] + I[OBSERVERS]) + (H.shape[1] if breaks.shape[0] > 0 or I[STALE] == 1 else 0)
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
            full = RECORDS_FULL if I[NRECORDS] >= R.shape[0] else I[ASK]
            code = EVENTS_FULL if I[NEVENTS] + room > E.shape[0] else full
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
        ending = t >= S[TF] or I[ENDING] == 1
        if ending or (I[FRESH] == 1 and I[LAST] >= 0):
            S[SOON] = min(1.0 / max(in_tolerances(S, V, K, X, X), 1e-300), 1e-3 * S[DT])
        tau, j, held, turned = ahead(H, S[SOON])
        odd = I[JUDGED] == 0 and (held >= 0 or turned >= 0)
        if I[SPANS] == 1 and j >= 0 and not ending and not odd and t < stop and t >= S[HOPS_UNTIL] and I[BUDGET] > 0:
            # --- many guards within a spanning step: across all of them at once
            ahead_of_it = min(1.5 * S[DTS] if S[DTS] > 0.0 else 0.2 * S[DT], stop - t)
            if tau < ahead_of_it and arriving(H, ahead_of_it) >= MANY + MORE // H.shape[1] ** 2:
                S[DTS] = S[DTS] if S[DTS] > 0.0 else ahead_of_it
                code = NEED_SPAN
                break
        here = max(4e-16 * max(abs(t), S[DT]), 1.001 * S[LEFT], S[SOON] if ending else 0.0)
        if j >= 0 and H[LEVEL, j] == 0.0 and tau <= here:
            for i in range(V.shape[1]):
                V[KE, i] = V[K, i]
            code = cross_and_evaluate(fn, p, S, I, V, H, E, reset, j)
            continue
        if odd:
            I[ASK] = ASK_STUCK if held >= 0 else ASK_TURNED
            I[TARGET] = held if held >= 0 else turned
            continue

        # --- where it may end
        if I[ENDING] == 1:
            code = TERMINATED
        elif t >= S[TF]:
            code = FINISHED
        elif t >= stop:
            # a breakpoint: on to the next leg
            I[NBREAKS] += 1
            S[STOP] = breaks[I[NBREAKS]] if I[NBREAKS] < breaks.shape[0] else S[TF]
            I[ASK] = ASK_ANEW
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
        foreseen = S[REACH] > 0.0
        reach = max(s, S[REACH])
        S[REACH] = 0.0
        landing = False
        if I[NO_LANDING] == 1:
            s = min(s, remaining)
        elif in_band:
            if eval_h(fn, p, S, I, V, H, t + tau, ahead_of(I, V, tau), HP):
                code = I[STATUS]
                break
            if refined(H, tau)[0] > 2.0 * tau:
                shrink_bands(I, H)
                continue
            landing, s = tau < remaining, tau
        elif (j >= 0 and tau < 1.5 * reach) or (j < 0 and H.shape[1] > 0 and (I[FRESH] == 0 or foreseen)):
            # (where no guard is being approached, one that now recedes may come back)
            if j < 0 or I[FRESH] == 0 or tau > 0.1 * s:
                tau = tau if j >= 0 else min(reach, remaining)
                if eval_h(fn, p, S, I, V, H, t + tau, ahead_of(I, V, tau), HP):
                    code = I[STATUS]
                    break
                tau, j = refined(H, tau)
            if tau <= (1.05 if I[TRIES] == 0 else 1.0) * reach:
                landing, s = True, tau
        if s >= 0.999999 * remaining:
            landing = landing and tau < remaining
            s = s if landing else remaining
        S[CAP] = before(stop) if stop < S[TF] and t + s >= stop else 1e300
        I[TARGET] = j
        outcome = take_step(fn, p, S, I, V, H, s, landing, I[PROJECTION] if in_band else 0)

        # --- what came of it
        if outcome == LANDED and t + S[LAND1] + S[LAND2] + S[LAND3] > stop:
            I[NO_LANDING] = 1
            outcome = REFUSED
        whole = S[LAND1] + S[LAND2] + S[LAND3]
        alone = I[LAST] < 0 or t > H[TLAST, max(I[LAST], 0)]  # not one of a cluster of landings
        if outcome == LANDED and (alone or whole > 0.1 * S[DT]) and not in_band:
            where = passed_before(fn, p, S, I, V, H, whole, I[TARGET])
            if where != 0.0:
                outcome = REFUSED if where > 0.0 else FAILED
                S[DT] = abs(where) * whole
                I[NREJECTED] += 1
        if outcome == STEPPED and H.shape[1] > 0:
            outcome = look_between(fn, p, S, I, V, H, jacobian, S[LAND1])
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
def shrink_bands(I, H):
    """A trajectory that may turn round inside a band is integrated: the bands that hold it are halved, in the end given up."""
    I[TRIES] += 1
    for k in range(H.shape[1]):
        near = H[WB, k] * H[HX, k]
        if near <= (1.0 + 1e-6) * H[SHRUNK, k] and H[WB, k] * H[HD, k] < 0.0:
            H[SHRUNK, k] = 0.5 * near if near > 1e-3 * H[EPS, k] else 0.0


@core(inline=True)
def ahead_of(I, V, tau):
    """Write the state about tau ahead into XM, from x', x'' and (behind a smooth step) x'''; returns that row."""
    third = 1.0 / 3.0 if I[FRESH] == 0 else 0.0
    for i in range(V.shape[1]):
        V[XM, i] = V[X, i] + tau * (V[K, i] + 0.5 * tau * (V[KP, i] + third * tau * V[KT, i]))
    return XM
