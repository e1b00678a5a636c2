"""The smooth step: an ordinary Runge-Kutta step under a frozen word, with its error and a proposal for the next."""

import math

from .evaluate import eval_f, eval_fh, in_tolerances
from .jit import compact, core, row_address
from .layout import (
    ATOL,
    CAP,
    CTX,
    F_FAILED,
    FAIL_ROW,
    FH,
    FRESH,
    KE,
    KP,
    METHOD,
    NF,
    RTOL,
    STATUS,
    T_FAIL,
    XM,
    XN,
    B,
    F,
    K,
    T,
    W,
    X,
)
from .tableau import (
    BOSH3,
    DOP853,
    DOPRI5,
    bosh3_error,
    bosh3_first,
    bosh3_rest,
    bosh3_result,
    dop853_error3,
    dop853_error5,
    dop853_first,
    dop853_rest,
    dop853_result,
    dopri5_error,
    dopri5_first,
    dopri5_rest,
    dopri5_result,
)

FAILED = -1.0  # the error that stands for a failed evaluation
HOPELESS = 1e300  # of a step given up after two stages; a step that is not finite has the error inf

_C1, _C2, _C3 = DOPRI5.c, BOSH3.c, DOP853.c


@core
def stage_time(method, stage):
    """Where in the step a stage is evaluated, 0 to 1."""
    return _C1[stage] if method == 1 else _C2[stage] if method == 2 else _C3[stage]


@core(inline=True)
def smooth_step(fn, p, S, I, V, H, s):
    """Try a step of length s from X to XN. Returns its error in tolerances and the factor to change s by.

    Directly after an event nothing is known about the new field, and the step size is the old one. Two stages tell a
    hopeless step, so that ten others are not wasted on it.
    """
    compact()
    method, t, cap = I[METHOD], S[T], S[CAP]
    b, pp = row_address(H, B), row_address(p, 0)
    if method == 1:
        failed = dopri5_first(fn[F], fn[CTX], t, s, cap, V, b, pp, X, K, XM)
    elif method == 2:
        failed = bosh3_first(fn[F], fn[CTX], t, s, cap, V, b, pp, X, K, XM)
    else:
        failed = dop853_first(fn[F], fn[CTX], t, s, cap, V, b, pp, X, K, XM)
    I[NF] += 2
    if failed == 0 and I[FRESH] == 1 and method != 2:
        factor = foresee(S, V, s, method)
        if factor < 1.0:
            return HOPELESS, factor
    last = 6 if method == 1 else 3 if method == 2 else 12
    if failed == 0:
        if method == 1:
            failed = dopri5_rest(fn[F], fn[CTX], t, s, cap, V, b, pp, X, K, XM)
            dopri5_result(V, X, K, s, XN)
        elif method == 2:
            failed = bosh3_rest(fn[F], fn[CTX], t, s, cap, V, b, pp, X, K, XM)
            bosh3_result(V, X, K, s, XN)
        else:
            failed = dop853_rest(fn[F], fn[CTX], t, s, cap, V, b, pp, X, K, XM)
            dop853_result(V, X, K, s, XN)
        I[NF] += last - 3
    if failed != 0:
        I[STATUS] = F_FAILED
        I[FAIL_ROW] = XM
        S[T_FAIL] = min(t + stage_time(method, failed) * s, cap)
        return FAILED, 0.0
    if fn[FH] != 0:
        if eval_fh(fn, p, S, I, V, H, min(t + s, cap), XN, K + last):
            return FAILED, 0.0
    elif eval_f(fn, p, S, I, V, H, min(t + s, cap), XN, K + last):
        return FAILED, 0.0
    error = embedded_error(S, V, s, method)
    power = 0.2 if method == 1 else 1.0 / 3.0 if method == 2 else 0.125
    if error > 1.0:
        return error, max(0.1 if I[FRESH] == 1 else 0.2, 0.9 * error**-power)
    for i in range(V.shape[1]):
        V[KE, i] = V[K + last, i]
        V[KP, i] = (V[K + last, i] - V[K, i]) / s
    most = 10.0 if I[FRESH] == 1 or method == 3 else 5.0
    return error, most if error < 1e-10 else min(most, 0.9 * error**-power)


@core(inline=True)
def embedded_error(S, V, s, method):
    """The step's error estimate, in tolerances."""
    compact()
    if method == 3:
        dop853_error5(V, X, K, s, W)
        dop853_error3(V, X, K, s, XM)
        fifth, third, total = 0.0, 0.0, 0.0
        for i in range(V.shape[1]):
            scale = 1.0 / (V[ATOL, i] + S[RTOL] * max(abs(V[X, i]), abs(V[XN, i])))
            five, three = abs(V[W, i]) * scale, abs(V[XM, i]) * scale
            total += five + three
            fifth, third = max(fifth, five), max(third, three)
        if not total < math.inf:
            return math.inf
        together = math.sqrt(fifth * fifth + 0.01 * third * third)
        return fifth * fifth / together if together > 0.0 else 0.0
    if method == 1:
        dopri5_error(V, X, K, s, W)
    else:
        bosh3_error(V, X, K, s, W)
    return in_tolerances(S, V, W, X, XN)


@core(inline=True)
def foresee(S, V, s, method):
    """Guess from the first two stages whether the step has a chance; below 1, the factor to shorten it by.

    The stages give x'' and x''' along the step, their ratio a rate, and the rate the size of the term that the error
    estimate sees.
    """
    compact()
    c1 = 0.2 if method == 1 else 0.0526001519587677
    c2 = 0.3 if method == 1 else 0.0789002279381516
    for i in range(V.shape[1]):
        V[W, i] = s * (V[K + 1, i] - V[K, i]) / c1
    second = in_tolerances(S, V, W, X, XM)
    for i in range(V.shape[1]):
        V[W, i] = (s * (V[K + 2, i] - V[K + 1, i]) / (c2 - c1) - V[W, i]) / (0.5 * c2)
    third = in_tolerances(S, V, W, X, XM)
    if not second < math.inf or not third < math.inf:
        return 1.0  # the whole step will tell
    rate = third / second if second > 0.0 else 0.0
    if rate > (10.0 if method == 1 else 20.0):
        return max(1e-3, (1.0 if method == 1 else 2.0) / rate)
    error = second * rate**4 * 2e-5 if method == 1 else second * rate**7 * 1e-9
    if error <= 2.0:
        return 1.0
    return max(0.1, 0.8 * error ** (-0.2 if method == 1 else -0.125))
