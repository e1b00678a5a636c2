"""Rows of Dh: what a perturbation does to a guard, and how well the time of a crossing is known."""

from ..compiler.intrinsics import call, compact, row_address
from ..compiler.jit import core
from ..evaluate import eval_h
from ..state import (
    ATOL,
    CAP,
    CTX,
    DH_ALL,
    DH_FAILED,
    DH_K,
    DP_H,
    DT_H,
    FAIL_ROW,
    HD,
    HM,
    HN,
    HP,
    ROWS_AT,
    RTOL,
    STANDS,
    STATUS,
    T0,
    T_FAIL,
    XF,
    X,
)


@core(inline=True)
def guard_row(fn, dfn, p, S, I, V, H, C, Q, JH, JHP, breaks, t, k, place, out, row):
    """out[row] = (Dh_k, Dp_h_k) at the state X; H[HM, k] is D_t h_k. ``place`` names the state: what is evaluated for all
    guards at once is kept while it stays the same. True if a function failed."""
    compact()
    n = V.shape[1]
    if C[ROWS_AT] != place:
        if all_rows(fn, dfn, p, S, I, V, H, Q, JH, JHP, breaks, t):
            return True
        C[ROWS_AT] = place
    if dfn[DH_K] != 0:
        if call(dfn[DH_K], t, (row_address(V, X), k, row_address(p, 0), row_address(out, row)), fn[CTX]) != 0:
            return failed(S, I, t)
    else:
        for i in range(n):
            out[row, i] = JH[k, i]
    for i in range(JHP.shape[1]):
        out[row, n + i] = JHP[k, i]
    return False


@core(entry=True)
def corner_rows(fn, dfn, p, S, I, V, H, C, Q, JH, JHP, breaks, t, guards, out, slopes_in_time):
    """The rows of several guards at the state X, and D_t h of each. True if a function failed."""
    compact()
    C[ROWS_AT] = -1
    for q in range(guards.shape[0]):
        if guard_row(fn, dfn, p, S, I, V, H, C, Q, JH, JHP, breaks, t, guards[q], 0, out, q):
            return True
        slopes_in_time[q] = H[HM, guards[q]]
    return False


@core(inline=True)
def all_rows(fn, dfn, p, S, I, V, H, Q, JH, JHP, breaks, t):
    """What is evaluated for all guards at once: D_t h into HM, and Dh and Dp_h where there is no function for a single row."""
    compact()
    m, cap = H.shape[1], S[CAP]
    x, pp = row_address(V, X), row_address(p, 0)
    S[CAP] = 1e300
    if dfn[DT_H] == STANDS:
        for k in range(m):
            H[HM, k] = 0.0
    elif dfn[DT_H] != 0:
        if call(dfn[DT_H], t, (x, pp, row_address(H, HM)), fn[CTX]) != 0:
            return failed(S, I, t)
    else:
        # not across a breakpoint: there h may jump
        low, high = t - Q[Q.shape[0] - 1], t + Q[Q.shape[0] - 1]
        for moment in breaks:
            if low < moment < t:
                low = moment
            elif t <= moment <= high:
                high = moment - 4e-16 * abs(moment)
        if eval_h(fn, p, S, I, V, H, high, X, HP) or eval_h(fn, p, S, I, V, H, low, X, HN):
            return True
        per_time = 1.0 / (high - low)
        for k in range(m):
            H[HM, k] = (H[HP, k] - H[HN, k]) * per_time
    S[CAP] = cap
    if dfn[DH_K] == 0 and dfn[DH_ALL] != 0:
        if call(dfn[DH_ALL], t, (x, pp, row_address(JH, 0)), fn[CTX]) != 0:
            return failed(S, I, t)
    elif dfn[DH_K] == 0 and differences_of_h(fn, p, S, I, V, H, V[X], Q, JH, t):
        return True
    if JHP.shape[1] == 0:
        return False
    if dfn[DP_H] != 0:
        if call(dfn[DP_H], t, (x, pp, row_address(JHP, 0)), fn[CTX]) != 0:
            return failed(S, I, t)
        return False
    return differences_of_h(fn, p, S, I, V, H, p, Q[V.shape[1] :], JHP, t)


@core
def differences_of_h(fn, p, S, I, V, H, varied, steps, J, t):
    """J = the derivative of h at X in what is ``varied`` (the state itself, or p), by central differences. True if h failed."""
    compact()
    for i in range(varied.shape[0]):
        here = varied[i]
        high, low = here + steps[i], here - steps[i]
        varied[i] = high
        bad = eval_h(fn, p, S, I, V, H, t, X, HP)
        varied[i] = low
        bad = bad or eval_h(fn, p, S, I, V, H, t, X, HN)
        varied[i] = here
        if bad:
            return True
        for k in range(H.shape[1]):
            J[k, i] = (H[HP, k] - H[HN, k]) / (high - low)
    return False


@core(inline=True)
def failed(S, I, t):
    I[STATUS] = DH_FAILED
    I[FAIL_ROW] = X
    S[T_FAIL] = t
    return True


@core(inline=True)
def approach(V, H, k, out, row, rate):
    """hdot of guard k, from its row and x' in V[rate]; kept in HD."""
    total = H[HM, k]
    for i in range(V.shape[1]):
        total += out[row, i] * V[rate, i]
    H[HD, k] = total
    return total


@core(inline=True)
def unsure(S, V, out, row, hdot, t):
    """The time by which a crossing may be off: the guard's change over the state's error, over how fast it is approached, and
    what the clock itself may have lost by then. (An error is relative to what the state has been, V[XF], not to what it is.)
    """
    size = 0.0
    for i in range(V.shape[1]):
        size += abs(out[row, i]) * (V[ATOL, i] + S[RTOL] * V[XF, i])
    return size / max(abs(hdot), 1e-300) + S[RTOL] * (t - S[T0]) + 8e-16 * abs(t)
