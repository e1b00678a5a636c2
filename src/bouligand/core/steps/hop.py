"""The hop: a step that lands on a guard, at the lowest order that the tolerance allows.

This is the paper's projection, made into a step with an order and an error estimate. The rungs of the ladder share
their stages: midpoint (one evaluation of f beyond that at the start), Kutta's third order (two), the classical
Runge-Kutta method (three), dopri5 (six). A rung fits when its estimate is within ``share``, its part of the tolerance.
A negative length goes back in time: that is how a smooth step that overshot returns to its guard.
"""

import math

from ..compiler.intrinsics import compact, rough_power, row_address
from ..compiler.jit import core
from ..evaluate import eval_f, in_tolerances
from ..schemes.tableau import dopri5_error, dopri5_first, dopri5_rest, dopri5_result
from ..state import (
    AGE,
    CAP,
    CTX,
    DT,
    F_FAILED,
    FAIL_ROW,
    FRESH,
    KE,
    KP,
    KT,
    LAM,
    NF,
    RATE,
    STATUS,
    T_FAIL,
    XM,
    XN,
    B,
    F,
    L,
    W,
)
from .smooth import stage_time

FAILED = -1  # instead of a rung: f could not be evaluated
TERMS = 0.1  # the least that a term of the Taylor series is trusted to be of the one before it: x''' may just pass through zero


@core
def hop(fn, p, S, I, V, H, t, x, s, share, fixed):
    """From V[x] with x' in V[L], go s ahead to XN. Returns the rung: 1 to 5, 0 if none fits, FAILED.

    ``fixed`` asks for one rung and no questions: 1 is the tangent, the paper's projection.
    Leaves x' and x'' at the end in KE and KP.
    """
    compact()
    n, a, cap = V.shape[1], abs(s), S[CAP]
    lam, rate = S[LAM], S[RATE]
    bends = a > 1e-5 * S[DT]  # a shorter hop does not see x'': what is known of it stays
    if fixed == 1:
        for i in range(n):
            V[XN, i] = V[x, i] + s * V[L, i]
            V[KE, i] = V[L, i]
            V[KP, i] = 0.0
        return 1
    # where to begin, from what the last hops or the last smooth step measured: lam is x'''/x'', rate is x''
    if lam == 0.0 and fixed == 0 and I[FRESH] == 0 and s > 0.0:
        rate = in_tolerances(S, V, KP, x, x)
        lam = max(in_tolerances(S, V, KT, x, x) / rate if rate > 0.0 else 0.0, 1.0 / S[DT])
    third = rate * a * a * a * lam / 24.0
    fourth = third * lam * a / 3.0
    fifth = fourth * lam * a / 4.0
    begin = 3 if lam == 0.0 else 5 if fifth > 2.0 * share else 4 if fourth > 2.0 * share else 2
    if fixed > 0:
        begin = fixed
    slow = 1.0 / S[DT]
    if begin < 5:
        for i in range(n):
            V[XM, i] = V[x, i] + 0.5 * s * V[L, i]
        if eval_f(fn, p, S, I, V, H, min(t + 0.5 * s, cap), XM, L + 1):
            return FAILED
        for i in range(n):
            V[W, i] = s * (V[L + 1, i] - V[L, i])
        bend = in_tolerances(S, V, W, x, XM)
        if begin == 2 and (fixed == 2 or (I[AGE] < 8 and bend * lam * a <= 6.0 * share)):
            for i in range(n):
                V[XN, i] = V[x, i] + s * V[L + 1, i]
                V[KE, i] = 2.0 * V[L + 1, i] - V[L, i]
                V[KP, i] = 2.0 * (V[L + 1, i] - V[L, i]) / s if bends else V[KP, i]
            S[RATE] = 2.0 * bend / (a * a)
            I[AGE] += 1
            return 2
        if begin < 4:
            for i in range(n):
                V[XM, i] = V[x, i] + s * (2.0 * V[L + 1, i] - V[L, i])
            if eval_f(fn, p, S, I, V, H, min(t + s, cap), XM, L + 2):
                return FAILED
            for i in range(n):
                V[W, i] = s / 6.0 * (V[L, i] - 2.0 * V[L + 1, i] + V[L + 2, i])
            third = in_tolerances(S, V, W, x, XM)
            lam = measured(S, I, third, bend, a, slow)
            fourth = third * max(lam * a, TERMS) / 3.0
            fifth = fourth * lam * a / 4.0
            if fixed == 3 or fourth <= share:
                for i in range(n):
                    V[XN, i] = V[x, i] + s / 6.0 * (V[L, i] + 4.0 * V[L + 1, i] + V[L + 2, i])
                    V[KE, i] = V[L + 2, i]
                    V[KP, i] = (V[L, i] - 4.0 * V[L + 1, i] + 3.0 * V[L + 2, i]) / s if bends else V[KP, i]
                return 3
        if begin == 4 or fifth <= share:
            for i in range(n):
                V[XM, i] = V[x, i] + 0.5 * s * V[L + 1, i]
            if eval_f(fn, p, S, I, V, H, min(t + 0.5 * s, cap), XM, L + 2):
                return FAILED
            for i in range(n):
                V[XM, i] = V[x, i] + s * V[L + 2, i]
            if eval_f(fn, p, S, I, V, H, min(t + s, cap), XM, L + 3):
                return FAILED
            for i in range(n):
                V[W, i] = s / 6.0 * (V[L, i] - 2.0 * V[L + 2, i] + V[L + 3, i])
            third = in_tolerances(S, V, W, x, XM)
            lam = measured(S, I, third, bend, a, slow)
            fifth = third * max(lam * a, TERMS) ** 2 / 12.0
            if fixed == 4 or fifth <= share:
                for i in range(n):
                    inner = 2.0 * (V[L + 1, i] + V[L + 2, i])
                    V[XN, i] = V[x, i] + s / 6.0 * (V[L, i] + inner + V[L + 3, i])
                    V[KE, i] = V[L + 3, i]
                    V[KP, i] = (V[L, i] - inner + 3.0 * V[L + 3, i]) / s if bends else V[KP, i]
                return 4
    if fixed != 5 and not fifth * lam * a / 5.0 <= 4.0 * share:
        return 0
    return last_rung(fn, p, S, I, V, H, t, x, s, math.inf if fixed == 5 else share)


@core(inline=True)
def measured(S, I, third, bend, a, slow):
    """Keep the rates that a hop has seen: x'' from its bend, and how fast that changes."""
    lam = max(12.0 * third / (bend * a) if bend > 0.0 else 0.0, slow)
    S[LAM] = lam
    S[RATE] = 2.0 * bend / (a * a)
    I[AGE] = 0
    return lam


@core
def last_rung(fn, p, S, I, V, H, t, x, s, share):
    """dopri5 with its own error estimate."""
    compact()
    n, cap, a = V.shape[1], S[CAP], abs(s)
    b, pp = row_address(H, B), row_address(p, 0)
    failed = dopri5_first(fn[F], fn[CTX], t, s, cap, V, b, pp, x, L, XM)
    if failed == 0:
        failed = dopri5_rest(fn[F], fn[CTX], t, s, cap, V, b, pp, x, L, XM)
    I[NF] += 5
    if failed != 0:
        I[STATUS] = F_FAILED
        I[FAIL_ROW] = XM
        S[T_FAIL] = min(t + stage_time(1, failed) * s, cap)
        return FAILED
    dopri5_result(V, x, L, s, XN)
    if eval_f(fn, p, S, I, V, H, min(t + s, cap), XN, L + 6):
        return FAILED
    for i in range(n):
        V[W, i] = 2.5 * s * (V[L + 1, i] - V[L, i])
        V[XM, i] = s / 3.6 * (10.0 * (V[L + 2, i] - V[L + 1, i]) - 5.0 * (V[L + 1, i] - V[L, i]))
    bend = in_tolerances(S, V, W, x, XN)
    measured(S, I, in_tolerances(S, V, XM, x, XN), bend, a, 1.0 / S[DT])
    dopri5_error(V, x, L, s, W)
    if in_tolerances(S, V, W, x, XN) > share:
        return 0
    for i in range(n):
        V[KE, i] = V[L + 6, i]
        V[KP, i] = (V[L + 6, i] - V[L, i]) / s
    return 5


@core(inline=True)
def natural_step(rate, lam, method):
    """The smooth step that the rates seen by a hop predict: where its error estimate would be the tolerance."""
    third = lam / 3.0
    if method == 3:
        return 1.94 * rough_power(1e9 / (rate * third**7), 1.0 / 9.0)
    return 1.94 * rough_power(5e4 / (rate * third**4), 1.0 / 6.0)
