"""The smooth step: an ordinary Runge-Kutta step under a frozen word, with its error and a proposal for the next."""

import math

from ..compiler.intrinsics import compact, rough_power, row_address
from ..compiler.jit import core
from ..evaluate import eval_f, eval_fh, in_tolerances
from ..schemes.tableau import (
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
from ..state import (
    ATOL,
    CAP,
    CTX,
    DT,
    DTMAX,
    F_FAILED,
    FAIL_ROW,
    FH,
    FRESH,
    KE,
    KP,
    KT,
    LAM,
    LAST,
    METHOD,
    NF,
    REACH,
    RTOL,
    STATUS,
    STOP,
    T_FAIL,
    TRIES,
    XM,
    XN,
    B,
    F,
    K,
    T,
    W,
    X,
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

    Directly after an event nothing is known about the new field, and the step size is the old one. Two stages tell what
    a step could be, so that ten others are not wasted on a hopeless one, nor whole steps on one that is far too short.
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
        if factor < 0.8:
            return HOPELESS, factor
        most = min(S[DTMAX], S[STOP] - t) / s
        if factor > 2.0 and most > 2.0 and I[TRIES] == 0 and I[LAST] >= 0 and s >= 0.999 * S[DT]:
            S[REACH] = s * min(factor, most)
            return HOPELESS, min(factor, most, 10.0)
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
    if error > 1.0:
        return error, max(0.1 if I[FRESH] == 1 else 0.2, 0.9 * stretch(error, method))
    late = 3 if method == 1 else 2 if method == 2 else 10
    c = 0.8 if method == 1 else 0.75 if method == 2 else 0.8571428571428571
    steep, flat = 1.0 / ((1.0 - c) * s), 1.0 / (c * s)
    for i in range(V.shape[1]):
        # x'' and x''' at the end: a parabola through x' at the start, at a late stage and at the end
        slope = (V[K + last, i] - V[K + late, i]) * steep
        bend = slope - (V[K + late, i] - V[K, i]) * flat
        V[KE, i] = V[K + last, i]
        V[KP, i] = slope + (1.0 - c) * bend
        V[KT, i] = 2.0 * bend / s
    most = 10.0 if I[FRESH] == 1 or method == 3 else 5.0
    return error, most if error < 1e-10 else min(most, 0.9 * stretch(error, method))


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
def stretch(error, method):
    """The factor by which a step with this error (in tolerances) could be longer: ``error ** (-1 / order)``, to half a percent.

    The next step waits for it. A guess and one step of Newton's take a quarter of the time of a power.
    """
    order = 5.0 if method == 1 else 3.0 if method == 2 else 8.0
    y = 0.966 * rough_power(error, -0.2 if method == 1 else -1.0 / 3.0 if method == 2 else -0.125)
    power = y * y * y
    if method != 2:
        power *= y * y if method == 1 else power * (y * y)
    return y * ((order + 1.0) - error * power) / order


@core(inline=True)
def foresee(S, V, s, method):
    """Guess from the first two stages how long the step could be: the factor to change s by, 1e-3 to 100.

    The stages give x'' and x''' along the step; x''' over x' is a rate squared, and the rate gives the size of the term that
    the error estimate sees. (Over pendulums, oscillators, orbits the step found is within a third of the natural one;
    x''' over x'' is no such measure: either may pass through zero.) x'' is kept.
    """
    compact()
    c1 = 0.2 if method == 1 else 0.0526001519587677
    c2 = 0.3 if method == 1 else 0.0789002279381516
    once, twice = s / c1, s / (c2 - c1)
    first, third = 0.0, 0.0
    for i in range(V.shape[1]):
        scale = 1.0 / (V[ATOL, i] + S[RTOL] * max(abs(V[X, i]), abs(V[XM, i])))
        bend = once * (V[K + 1, i] - V[K, i])
        turn = (twice * (V[K + 2, i] - V[K + 1, i]) - bend) / (0.5 * c2)
        V[KP, i] = bend / (s * s)
        first, third = max(first, s * abs(V[K, i]) * scale), max(third, abs(turn) * scale)
        if not abs(turn) < math.inf:
            return 1.0  # the whole step will tell
    S[LAM] = 0.0
    if first == 0.0 or third == 0.0:
        return 1.0 if third > 0.0 else 100.0
    rate = math.sqrt(third / first)
    if rate > 10.0:
        return max(1e-3, 2.0 / rate)
    error = 6e-5 * third * rate**2 if method == 1 else 1.5e-8 * third * rate**5
    return min(max(0.75 * stretch(error, method), 0.05), 100.0)
