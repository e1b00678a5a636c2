"""Before the derivative sets out along a record: steps for differences, and the guards it starts on."""

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import eval_h
from ..state import (
    AT_LEG,
    ATOL,
    CAP,
    END,
    HALT,
    HELD,
    HP,
    HX,
    OBSERVER,
    R_T,
    R_X,
    ROWS_AT,
    RTOL,
    T0,
    TF,
    WANTED,
    XF,
    XM,
    X,
)

_STEP = 2.0**-24


@core(entry=True)
def ready(fn, P, S, I, V, H, C, R, whole, Q, rtol, atol, leg, wanted, end):
    """Fill Q (see difference_steps) from the whole trajectory, and C for the start of the way; H[HELD] = 1 for guards that are
    zero at the first record of R, where parameters are those of ``leg``.

    Returns how many these guards are; negative if h failed.
    """
    compact()
    settle(S, I, V, whole, rtol, atol)
    difference_steps(P, S, V, whole, Q)
    for q in range(C.shape[0]):
        C[q] = 0
    C[ROWS_AT], C[HALT], C[AT_LEG], C[WANTED], C[END] = -1, -1, leg, wanted, end
    held, p = 0, P[leg]
    for i in range(V.shape[1]):
        V[X, i] = R[0, R_X + i]
        V[XM, i] = V[X, i] * (1.0 + _STEP * (1.0 + 0.1 * (i * 7 % 5)) * (1.0 if i % 2 == 0 else -1.0))
    if eval_h(fn, p, S, I, V, H, R[0, R_T], X, HX) or eval_h(fn, p, S, I, V, H, R[0, R_T], XM, HP):
        return -1
    for k in range(H.shape[1]):
        # round-off in h: what it changes by when every component of x changes in its last digits
        noise = 8.0 * 2.2e-16 / _STEP * abs(H[HP, k] - H[HX, k]) + 1e-300
        H[HELD, k] = 1.0 if abs(H[HX, k]) <= noise and H[OBSERVER, k] == 0.0 else 0.0
        held += int(H[HELD, k])
    return held


@core(inline=True)
def settle(S, I, V, R, rtol, atol):
    """What of a workspace, which others may have used, is this solution's."""
    S[RTOL], S[CAP], S[T0], S[TF] = rtol, 1e300, R[0, R_T], R[R.shape[0] - 1, R_T]
    for i in range(V.shape[1]):
        V[ATOL, i] = atol[i]
    for q in range(I.shape[0]):
        I[q] = 0


@core
def difference_steps(P, S, V, R, Q):
    """Q = for each state, each parameter and time, the step at which the error of a central difference is least; V[XF] = how
    large each state has been.

    Round-off in it is ``eps |x| / step``, truncation ``(step / scale)^2``; the scale is how far the trajectory moves.
    """
    compact()
    eps, n, last = 2.2e-16, V.shape[1], R.shape[0] - 1
    for i in range(n):
        high, low = R[0, R_X + i], R[0, R_X + i]
        for q in range(1, last + 1):
            high, low = max(high, R[q, R_X + i]), min(low, R[q, R_X + i])
        most = max(high, -low)
        V[XF, i] = most
        scale = max(high - low, 10.0 * V[ATOL, i] / S[RTOL])
        if scale == 0.0:
            scale = most if most > 0.0 else 1.0
        Q[i] = (eps * (scale + most) * scale * scale) ** (1.0 / 3.0)
    for i in range(n, Q.shape[0] - 1):
        size = abs(P[0, i - n])
        Q[i] = eps ** (1.0 / 3.0) * (size if size > 0.0 else 1.0)
    step = (R[last, R_T] - R[0, R_T]) / max(last, 1)
    Q[Q.shape[0] - 1] = (eps * max(abs(R[0, R_T]), abs(R[last, R_T]), step) * step * step) ** (1.0 / 3.0)
