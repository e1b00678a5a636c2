"""Dense output inside spanning steps, from the record: the step is taken once more with the crossings it is known to have."""

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import eval_f
from ..state import (
    CAP,
    E_GUARD,
    E_RECORD,
    E_SHOWN,
    E_SIGN,
    E_T,
    KE,
    MIDDLE,
    R_S1,
    R_T,
    R_X,
    RUNNING,
    SIGN,
    TAU,
    WHO,
    XF,
    XM,
    XN,
    K,
    T,
    X,
)
from ..steps.dense import before, catch_up
from ..unit import make_unit
from .crossings import into_intervals
from .jumps import inside, none_yet, stages, sum_jumps, turn, walk

PASSES = 2


@core(entry=True)
def sample_spans(fn, ctx, P, legs, S, I, V, H, R, E, breaks, TQ, Y, N, Z, M, G):
    """As ``sample``, for times (increasing) that lie inside spanning steps. Returns the number of times done."""
    compact()
    step, event, ready, leg, found, passed = 1, 0, -1, 0, 0, 0
    n = V.shape[1]
    for q in range(TQ.shape[0]):
        while R[step, R_T] < TQ[q]:
            step += 1
        s = R[step, R_S1]
        if ready != step:
            event, leg = catch_up(H, E, legs, event, leg, step)
            found = recall(E, N, Z, event, step, R[step - 1, R_T], s)
            if retake_span(fn, ctx, P[leg], S, I, V, H, R, N, Z, M, G, found, step, breaks):
                return q
            none_yet(M)
            ready, passed = step, 0
        theta = (TQ[q] - S[T]) / s
        passed = walk(fn, ctx, P[leg], S, I, V, N, Z, M, G, passed, found, theta, s)
        if passed < 0:
            return q
        inside(V, M, theta, RUNNING, s, XM)
        ramp = theta * theta * (3.0 - 2.0 * theta)
        for i in range(n):
            Y[q, i] = V[XM, i] + ramp * V[XF, i]
        make_unit(fn, Y, q, q)
    return TQ.shape[0]


@core
def recall(E, N, Z, event, step, t, s):
    """The crossings inside a recorded step, from its rows in the event table, into the list; returns their number."""
    found = 0
    while event < E.shape[0] and E[event, E_RECORD] == step:
        if E[event, E_SHOWN] != 2.0 and found < N.shape[1]:
            N[WHO, found] = int(E[event, E_GUARD])
            Z[TAU, found] = min(max((E[event, E_T] - t) / s, 0.0), 1.0)
            Z[SIGN, found] = E[event, E_SIGN]
            found += 1
        event += 1
    into_intervals(N, Z, found)
    return found


@core
def retake_span(fn, ctx, p, S, I, V, H, R, N, Z, M, G, found, step, breaks):
    """The stages of a recorded step; XF is what its end, as recorded, differs by. True if a function failed."""
    compact()
    n, s = V.shape[1], R[step, R_S1]
    S[T], S[CAP] = R[step - 1, R_T], 1e300
    for moment in breaks:
        if moment == R[step, R_T]:
            S[CAP] = before(moment)
    for i in range(n):
        V[X, i] = R[step - 1, R_X + i]
        V[XN, i] = R[step, R_X + i]
    # the middle at first from x' at both ends
    turn(H, N, 0, found)
    failed = eval_f(fn, p, S, I, V, H, min(S[T] + s, S[CAP]), XN, KE)
    turn(H, N, 0, found)
    if failed or eval_f(fn, p, S, I, V, H, S[T], X, K):
        return True
    for i in range(n):
        V[MIDDLE, i] = 0.5 * (V[X, i] + V[XN, i]) + 0.125 * s * (V[K, i] - V[KE, i])
    for again in range(PASSES):
        if again:
            inside(V, M, 0.5, 8, s, MIDDLE)
        if sum_jumps(fn, ctx, p, S, I, V, N, Z, M, G, found, s) or stages(fn, p, S, I, V, H, N, M, s, False, XF):
            return True
    for i in range(n):
        V[XF, i] = V[XN, i] - V[XF, i]
    return False
