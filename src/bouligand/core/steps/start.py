"""The start: the word, the first evaluation of f, and a first step size."""

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import eval_f, eval_h, in_tolerances
from ..guards import hold
from ..state import (
    ATOL,
    ATOL_ALL,
    BURST,
    DIRECTION,
    DT,
    DTMAX,
    EPS,
    F_FAILED,
    FRESH,
    GO_ON,
    H_FAILED,
    HAVE_WORD,
    HELD,
    HP,
    HX,
    KP,
    LAST,
    LEVEL,
    MARK,
    METHOD,
    NEED_WORD,
    NHELD,
    NOT_FINITE,
    NRECORDS,
    OBSERVER,
    PENDING,
    POOL,
    R_T,
    R_X,
    RATES,
    SHRUNK,
    STARTED,
    STOP,
    TARGET,
    TLAST,
    WB,
    WRONG_WORD,
    XM,
    B,
    K,
    L,
    T,
    W,
    X,
)
from ..unit import make_unit

_STEP = 2.0**-24


@core
def start(fn, p, S, I, V, H, R, reset):
    """Set everything up at t0; returns GO_ON, NEED_WORD (guards that are zero are then marked in HELD) or a failure."""
    compact()
    n, m, t = V.shape[1], H.shape[1], S[T]
    if S[ATOL_ALL] >= 0.0:
        for i in range(n):
            V[ATOL, i] = S[ATOL_ALL]
    make_unit(fn, V, X, X)
    if eval_h(fn, p, S, I, V, H, t, X, HX):
        return H_FAILED
    # round-off in h: what it changes by when every component of x changes in its last digits
    total = 0.0
    for i in range(n):
        total += V[X, i]
        V[XM, i] = V[X, i] * (1.0 + _STEP * (1.0 + 0.1 * (i * 7 % 5)) * (1.0 if i % 2 == 0 else -1.0))
    if eval_h(fn, p, S, I, V, H, t, XM, HP):
        return H_FAILED
    open_word = False
    I[NHELD] = 0
    for k in range(m):
        total += H[HX, k]
        noise = 8.0 * 2.2e-16 / _STEP * abs(H[HP, k] - H[HX, k]) + 1e-300
        zero = abs(H[HX, k]) <= noise
        H[HELD, k] = 0.0
        if zero:
            hold(I, H, k)
        H[TLAST, k] = -1e300
        H[MARK, k] = -1e300
        H[SHRUNK, k] = H[EPS, k]
        H[LEVEL, k] = 0.0
        H[PENDING, k] = 0.0
        H[BURST, k] = 0.0
        if I[HAVE_WORD] == 0:
            H[B, k] = 1.0 if H[HX, k] > 0.0 else -1.0
            open_word = open_word or (zero and H[OBSERVER, k] == 0.0)
    if total - total != 0.0:
        I[TARGET] = -1
        return NOT_FINITE
    if open_word:
        return NEED_WORD
    if eval_f(fn, p, S, I, V, H, t, X, K):
        return F_FAILED
    speed = in_tolerances(S, V, K, X, X)
    if not speed < 1e300:
        I[TARGET] = -1
        return NOT_FINITE
    if first_step(fn, p, S, I, V, H, speed):
        return F_FAILED
    # the side of an observer that starts on its guard is the one it moves to; a word that was given must fit
    sigma = 1e-3 * S[DT]
    for i in range(n):
        V[XM, i] = V[X, i] + sigma * V[K, i]
        V[KP, i] = 0.0
    if eval_h(fn, p, S, I, V, H, t + sigma, XM, HP):
        return H_FAILED
    for k in range(m):
        if H[OBSERVER, k] != 0.0 and H[HELD, k] != 0.0 and I[HAVE_WORD] == 0:
            H[B, k] = 1.0 if H[HP, k] > 0.0 else -1.0
        latch = H[DIRECTION, k] != 0.0 and (reset.shape[0] > 0 or I[POOL] == 1)
        shut = latch and H[B, k] == H[DIRECTION, k]
        H[WB, k] = 0.0 if shut or H[OBSERVER, k] != 0.0 else H[B, k]
        if H[WB, k] * H[HX, k] < 0.0 and H[HELD, k] == 0.0:
            # on the wrong side by no more than a landing leaves: the end of an earlier integration
            near = 10.0 / max(speed, 1e-300) * abs(H[HP, k] - H[HX, k]) / sigma
            if abs(H[HX, k]) > max(near, H[EPS, k]):
                I[TARGET] = k
                return WRONG_WORD
            hold(I, H, k)
    I[RATES] = 0
    I[FRESH] = 1
    I[LAST] = -1
    I[STARTED] = 1
    R[0, R_T] = t
    for i in range(n):
        R[0, R_X + i] = V[X, i]
    I[NRECORDS] = 1
    return GO_ON


@core
def first_step(fn, p, S, I, V, H, speed):
    """A first step size after Hairer, Norsett and Wanner (II.4): from the sizes of x, x' and x''. True if f failed."""
    compact()
    t, span = S[T], S[STOP] - S[T]
    size = in_tolerances(S, V, X, X, X)
    dt = 0.01 * size / speed if size > 1e-5 and speed > 1e-5 else 1e-6 * span
    dt = min(dt, span, S[DTMAX])
    for i in range(V.shape[1]):
        V[XM, i] = V[X, i] + dt * V[K, i]
    if eval_f(fn, p, S, I, V, H, t + dt, XM, L):
        return True
    for i in range(V.shape[1]):
        V[W, i] = (V[L, i] - V[K, i]) / dt
    bend = in_tolerances(S, V, W, X, XM)
    if not bend < 1e300:
        bend = speed
    order = 5.0 if I[METHOD] == 1 else 3.0 if I[METHOD] == 2 else 8.0
    largest = max(speed, bend)
    better = max(1e-6 * span, 1e-3 * dt) if largest <= 1e-15 else (0.01 / largest) ** (1.0 / order)
    S[DT] = max(min(1e4 * dt, better, span, S[DTMAX]), 1e-15 * span, min(2e-14 * abs(t), span))
    return False
