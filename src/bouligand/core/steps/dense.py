"""Dense output: the state at any time inside a step, from the step's own stages.

A smooth step has its scheme's continuous extension. A hop is a cubic between its ends, which is as accurate as the hop; its
last rung has dopri5's extension. Where a step was cut or corrected to end on a guard, the small difference at its end is
spread over the step with flat ends, so that x is continuous and x' is right on both sides.
"""

from ..compiler.intrinsics import compact, row_address
from ..compiler.jit import core
from ..evaluate import eval_f, eval_h
from ..schemes.tableau import BOSH3, DOP853, DOPRI5, dop853_more
from ..state import (
    BACK,
    CAP,
    CTX,
    DT,
    E_GUARD,
    E_RECORD,
    E_SHOWN,
    E_SIGN,
    F_FAILED,
    FAIL_ROW,
    FRESH,
    HOP,
    HP,
    KE,
    KIND,
    KP,
    METHOD,
    NF,
    NQ,
    R_KIND,
    R_S1,
    R_S3,
    R_T,
    R_X,
    STATUS,
    T_FAIL,
    XM,
    XN,
    B,
    F,
    K,
    L,
    T,
    W,
    X,
)
from ..unit import make_unit
from .hop import hop
from .inside import between
from .smooth import smooth_step, stage_time

_P5, _P3, _P8 = DOPRI5.P, BOSH3.P, DOP853.P


@core
def prepare(fn, p, S, I, V, H, kind, s1):
    """The further stages that a scheme's extension needs; True if f failed."""
    if kind % BACK != 3:
        return False
    I[NF] += 3
    args = row_address(H, B), row_address(p, 0)
    failed = dop853_more(fn[F], fn[CTX], S[T], s1, S[CAP], V, args[0], args[1], X, K, XM)
    if failed == 0:
        return False
    I[STATUS], I[FAIL_ROW] = F_FAILED, XM
    S[T_FAIL] = min(S[T] + stage_time(3, failed) * s1, S[CAP])
    return True


@core
def extension(V, method, first, theta, s, out):
    """V[out] = the scheme's extension at theta, from the stages in rows ``first`` on."""
    compact()
    for i in range(V.shape[1]):
        V[out, i] = 0.0
    P = _P5 if method == 1 else _P3 if method == 2 else _P8
    for q in range(P.shape[0]):
        weight = 0.0
        for d in range(P.shape[1] - 1, -1, -1):
            weight = (weight + P[q, d]) * theta
        if weight != 0.0:
            for i in range(V.shape[1]):
                V[out, i] += weight * V[first + q, i]
    for i in range(V.shape[1]):
        V[out, i] = V[X, i] + s * V[out, i]


@core
def interpolate(V, kind, theta, s1, whole, out):
    """V[out] = the state at ``theta`` (0 to 1) of a step that took ``whole``, its first part s1; V[W] is scratch."""
    compact()
    base = kind % BACK
    if base >= HOP and base != HOP + 5:
        between(V, theta, whole, out)
        return
    method, first = (1, L) if base >= HOP else (base, K)
    if whole != s1:
        extension(V, method, first, whole / s1, s1, W)
        ramp = theta * theta * (3.0 - 2.0 * theta)
        for i in range(V.shape[1]):
            V[W, i] = ramp * (V[XN, i] - V[W, i])
    extension(V, method, first, theta * whole / s1, s1, out)
    if whole != s1:
        for i in range(V.shape[1]):
            V[out, i] += V[W, i]


@core
def requested(fn, p, S, I, V, H, TQ, Y, s1, whole):
    """Write the states at the requested times inside the step that is being accepted; True if f failed."""
    compact()
    end = S[T] + whole
    if TQ[I[NQ]] < end and prepare(fn, p, S, I, V, H, I[KIND], s1):
        return True
    while I[NQ] < TQ.shape[0] and TQ[I[NQ]] <= end:
        q = I[NQ]
        row = XN
        if TQ[q] < end:
            interpolate(V, I[KIND], (TQ[q] - S[T]) / whole, s1, whole, XM)
            row = XM
        for i in range(V.shape[1]):
            Y[q, i] = V[row, i]
        make_unit(fn, Y, q, q)
        I[NQ] += 1
    return False


@core
def find_on_step(fn, p, S, I, V, H, k, low, high, y_low, y_high, s1, whole):
    """Where in the step, between two places on either side of it, guard k is crossed; its state is left in XM.

    A bracketed secant (Illinois) on h along the dense output; only h is evaluated. Returns theta, or -1 on failure.
    """
    compact()
    side = 0
    theta = low
    for _ in range(60):
        theta = (low * y_high - high * y_low) / (y_high - y_low)
        interpolate(V, I[KIND], theta, s1, whole, XM)
        if eval_h(fn, p, S, I, V, H, S[T] + theta * whole, XM, HP):
            return -1.0
        y = H[HP, k]
        if abs(y) <= 0.0 or high - low < 1e-14:
            break
        if y * y_low > 0.0:
            low, y_low = theta, y
            if side == -1:
                y_high *= 0.5
            side = -1
        else:
            high, y_high = theta, y
            if side == 1:
                y_low *= 0.5
            side = 1
    return theta


@core(entry=True)
def sample(fn, P, legs, S, I, V, H, R, E, breaks, TQ, Y):
    """The states at the times TQ (increasing), from the record: each step needed is taken once more, as it was taken.

    H[B] holds the word at the start, and is changed along the way. ``P`` has a row of parameters for each of ``legs``,
    the records from which on they held. Returns the number of times done.
    """
    compact()
    step, event, ready, leg = 1, 0, -1, 0
    n = V.shape[1]
    for q in range(TQ.shape[0]):
        while step < R.shape[0] - 1 and R[step, R_T] < TQ[q]:
            step += 1
        at = step if TQ[q] == R[step, R_T] else step - 1
        if TQ[q] == R[at, R_T]:
            for i in range(n):
                Y[q, i] = R[at, R_X + i]
            continue
        if ready != step:
            event, leg = catch_up(H, E, legs, event, leg, step)
            if retake(fn, P[leg], S, I, V, H, R, step, breaks):
                return q
            ready = step
        whole = R[step, R_T] - R[step - 1, R_T]
        interpolate(V, I[KIND], (TQ[q] - S[T]) / whole, R[step, R_S1], whole, XM)
        for i in range(n):
            Y[q, i] = V[XM, i]
        make_unit(fn, Y, q, q)
    return TQ.shape[0]


@core
def catch_up(H, E, legs, event, leg, step):
    """Bring the word up to the start of a recorded step; returns the next row of E and the leg of parameters in force."""
    while event < E.shape[0] and E[event, E_RECORD] < step:
        if E[event, E_SHOWN] != 2.0:
            H[B, int(E[event, E_GUARD])] = E[event, E_SIGN]
        event += 1
    while leg + 1 < legs.shape[0] and legs[leg + 1] < step:
        leg += 1
    return event, leg


@core
def retake(fn, p, S, I, V, H, R, step, breaks):
    """Take the recorded step once more, with no decisions; its stages are then as they were. True if f failed."""
    compact()
    n, kind, s1 = V.shape[1], int(R[step, R_KIND]), R[step, R_S1]
    S[T], S[CAP] = R[step - 1, R_T], 1e300
    for moment in breaks:
        if moment == R[step, R_T]:
            S[CAP] = before(moment)
    I[KIND], I[FRESH], S[DT] = kind, 0, s1
    for i in range(n):
        V[X, i] = R[step - 1, R_X + i]
    if eval_f(fn, p, S, I, V, H, S[T], X, K):
        return True
    base = kind % BACK
    if base < HOP:
        I[METHOD] = base
        error, _ = smooth_step(fn, p, S, I, V, H, s1)
        if error == -1.0 or prepare(fn, p, S, I, V, H, kind, s1):
            return True
    else:
        for i in range(n):
            V[L, i] = V[K, i]
        if hop(fn, p, S, I, V, H, S[T], X, s1, 0.0, base - HOP) < 0:
            return True
        for i in range(n):
            V[KE, i] += R[step, R_S3] * V[KP, i]
    for i in range(n):
        V[XN, i] = R[step, R_X + i]
    return False


@core(inline=True)
def before(t):
    """The last moment before t that a field with a jump at t may see."""
    return t - 4e-16 * abs(t) if t != 0.0 else -1e-300
