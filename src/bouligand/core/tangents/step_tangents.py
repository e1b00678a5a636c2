"""Tangents of a step: the Runge-Kutta formula applied to perturbations, forwards and backwards.

A step is a smooth function of its start and of the parameters, as long as its word is frozen. Its derivative is the same
formula over ``dK = Df dX + Dp_f dp``, stage by stage. Each row of ``D`` is a tangent: n components of the state, then
those of the parameters, which do not change. Df comes from the user or from central differences, column by column. A
single tangent (or a large state, whose matrix would cost more than it tells) is cheaper without: the step is taken a little
to either side of the trajectory, and the difference is its tangent.

A hop is a step of its own rung: without its variational factor the derivative would only be of first order in its
length. A step that was cut at a guard, or corrected to end on it, is taken as one step of the length it came to.
"""

import numpy as np

from ..compiler.intrinsics import call, compact, row_address
from ..compiler.jit import core
from ..compiler.vectors import multiply
from ..evaluate import eval_f
from ..schemes.stages import combinations
from ..schemes.tableau import TABLEAUX
from ..state import (
    BACK,
    CAP,
    CTX,
    DF,
    DP_F,
    F_FAILED,
    FAIL_ROW,
    HOP,
    KE,
    KP,
    NF,
    OWN,
    SLOPES,
    SMALL,
    STATE,
    STATUS,
    T_FAIL,
    WEIGHT,
    XM,
    B,
    F,
    K,
    T,
    X,
)


def _tables():
    """All formulas that a step may have been taken with, one after another: the methods, then the rungs of the ladder."""
    A, b, c, stages = np.zeros((8, 12, 12)), np.zeros((8, 12)), np.zeros((8, 12)), np.zeros(8, dtype=np.int64)
    rungs = (
        ([[]], [1]),
        ([[], [1 / 2]], [0, 1]),
        ([[], [1 / 2], [-1, 2]], [1 / 6, 4 / 6, 1 / 6]),
        ([[], [1 / 2], [0, 1 / 2], [0, 0, 1]], [1 / 6, 2 / 6, 2 / 6, 1 / 6]),
    )
    for q, tableau in enumerate(TABLEAUX):
        count = tableau.stages - 1  # the stage at the result has no part in it
        A[q, :count, :count], b[q, :count], c[q, :count] = (
            tableau.A[:count, :count],
            tableau.b[:count],
            tableau.c[:count],
        )
        stages[q] = count
    for q, (rows, weights) in enumerate(rungs):
        for r, row in enumerate(rows):
            A[3 + q, r, : len(row)] = row
            c[3 + q, r] = sum(row)
        b[3 + q, : len(weights)] = weights
        stages[3 + q] = len(weights)
    A[7], b[7], c[7], stages[7] = A[0], b[0], c[0], stages[0]
    return A, b, c, stages


_A, _B, _C, _STAGES = _tables()
# the same as straight code: a row for each stage, then one for the result; where those of a formula begin
_FIRST = np.concatenate([[0], np.cumsum(_STAGES + 1)])
_ROWS = [list(row) for q, count in enumerate(_STAGES) for row in [*(_A[q, r, :r] for r in range(count)), _B[q, :count]]]
_combine, _combine_wide = combinations(_ROWS), combinations(_ROWS, wide=True)
# and backwards: for each stage, the weight that it has in the result, then those in the other stages
_combine_back = combinations(
    [[_B[q, r], *_A[q, :count, r]] for q, count in enumerate(_STAGES) for r in (*range(count), 0)],
)


@core(inline=True)
def formula(kind):
    """Which of the tables a recorded step was taken with."""
    base = kind % BACK
    return base - 1 if base < HOP else base - HOP + 2


@core(inline=True)
def slopes(fn, dfn, p, S, I, V, H, Q, JX, JP, t, x):
    """JX = Df and, if it has columns, JP = Dp_f at V[x]. True if a function failed."""
    arguments = (row_address(V, x), row_address(H, B), row_address(p, 0))
    if dfn[DF] != 0:
        if call(dfn[DF], t, (arguments[0], arguments[1], arguments[2], row_address(JX, 0)), fn[CTX]) != 0:
            return failed(S, I, t, x)
    elif differences(fn, p, S, I, V, H, V[x], Q, JX, t, x):
        return True
    if JP.shape[1] == 0:
        return False
    if dfn[DP_F] != 0:
        if call(dfn[DP_F], t, (arguments[0], arguments[1], arguments[2], row_address(JP, 0)), fn[CTX]) != 0:
            return failed(S, I, t, x)
        return False
    return differences(fn, p, S, I, V, H, p, Q[V.shape[1] :], JP, t, x)


@core
def differences(fn, p, S, I, V, H, varied, steps, J, t, x):
    """J = the derivative of f at V[x] in what is ``varied`` (V[x] itself, or p), by central differences. True if f failed."""
    compact()
    for i in range(varied.shape[0]):
        here = varied[i]
        high, low = here + steps[i], here - steps[i]
        varied[i] = high
        bad = eval_f(fn, p, S, I, V, H, t, x, KE)
        varied[i] = low
        bad = bad or eval_f(fn, p, S, I, V, H, t, x, KP)
        varied[i] = here
        if bad:
            return True
        for j in range(V.shape[1]):
            J[j, i] = (V[KE, j] - V[KP, j]) / (high - low)
    return False


@core(inline=True)
def failed(S, I, t, x):
    I[STATUS] = F_FAILED
    I[FAIL_ROW] = x
    S[T_FAIL] = t
    return True


@core(inline=True)
def take_pair(fn, p, S, I, V, H, Q, D, PW, TV, a, formula, s):
    """Take tangent a over a step of length s from X by a central difference of the step itself: the same stages on either
    side of the trajectory (side by side in the rows of TV), in turn, so that the processor can work on both at once. Only what
    the step adds is subtracted: the states would lose digits. True if f failed."""
    n, d, first, stages = V.shape[1], D.shape[1], _FIRST[formula], _STAGES[formula]
    t, cap = S[T], S[CAP]
    largest = 0.0
    for i in range(d):
        largest = max(largest, abs(D[a, i]) / Q[i])
    if largest == 0.0:
        return False
    sigma = 1.0 / largest
    for i in range(n):
        TV[OWN, i] = V[X, i] + sigma * D[a, i]
        TV[OWN, n + i] = V[X, i] - sigma * D[a, i]
    plus, minus = row_address(p, 0), row_address(p, 0)
    if d > n:
        for i in range(d - n):
            PW[0, i] = p[i] + sigma * D[a, n + i]
            PW[1, i] = p[i] - sigma * D[a, n + i]
        plus, minus = row_address(PW, 0), row_address(PW, 1)
    b, bad, half = row_address(H, B), 0, 8 * n
    for stage in range(stages):
        when, state = min(t + _C[formula, stage] * s, cap), OWN
        if stage > 0:
            _combine_wide(TV, OWN, SLOPES, s, STATE, first + stage)
            state = STATE
        at, slope = row_address(TV, state), row_address(TV, SLOPES + stage)
        bad += call(fn[F], when, (at, b, plus, slope), fn[CTX])
        bad += call(fn[F], when, (at + half, b, minus, slope + half), fn[CTX])
        if bad != 0:
            for i in range(n):
                V[XM, i] = TV[state, i]
            return failed(S, I, when, XM)
    I[NF] += 2 * stages
    for i in range(2 * n):
        TV[OWN, i] = 0.0
    _combine_wide(TV, OWN, SLOPES, s, STATE, first + stages)
    for i in range(n):
        D[a, i] += 0.5 * largest * (TV[STATE, i] - TV[STATE, n + i])
    return False


@core(inline=True)
def take_tangents(fn, dfn, p, S, I, V, H, Q, D, OF_P, PW, TV, JX, JP, formula, s, known):
    """Take a step of length s from X once more, and all tangents with it. ``known``: K holds its first stage already. OF_P:
    the places (tangent, parameter) where D has something of a parameter. True if a function failed.

    A row of TV has all tangents: the first component of each, then the second of each, and so on.
    """
    compact()
    n, tangents, t, first = V.shape[1], D.shape[0], S[T], _FIRST[formula]
    if tangents == 0:
        return False  # somebody only wants to know where the corners are
    if tangents == 1 or (n > SMALL and dfn[DF] == 0):
        bad = False
        for a in range(tangents):
            bad = bad or take_pair(fn, p, S, I, V, H, Q, D, PW, TV, a, formula, s)
        return bad
    room = TV.shape[1] // n
    for a in range(tangents):
        for i in range(n):
            TV[OWN, i * room + a] = D[a, i]
    for stage in range(_STAGES[formula]):
        when = min(t + _C[formula, stage] * s, S[CAP])
        _combine(V, X, K, s, XM, first + stage)
        if (stage > 0 or not known) and eval_f(fn, p, S, I, V, H, when, XM, K + stage):
            return True
        if slopes(fn, dfn, p, S, I, V, H, Q, JX, JP, when, XM):
            return True
        out = SLOPES + stage
        _combine_wide(TV, OWN, SLOPES, s, STATE, first + stage)
        multiply(JX, TV, STATE, out)
        for q in range(OF_P.shape[0]):
            a, j = OF_P[q, 0], OF_P[q, 1]
            for i in range(n):
                TV[out, i * room + a] += JP[i, j] * D[a, n + j]
    _combine_wide(TV, OWN, SLOPES, s, STATE, first + _STAGES[formula])
    for a in range(tangents):
        for i in range(n):
            D[a, i] = TV[STATE, i * room + a]
    return False


@core(inline=True)
def take_adjoint(fn, dfn, p, S, I, V, H, Q, w, TV, JX, JP, formula, s):
    """The transpose of a step of length s from X, applied to ``w``: its first n entries go back to the start of the step, the
    others gather what the parameters do. JX and JP have room for the slopes of all stages, or of one. True if a function
    failed."""
    compact()
    n, t, stages, first = V.shape[1], S[T], _STAGES[formula], _FIRST[formula]
    at_once = JX.shape[0] > 1
    for stage in range(stages):
        when = min(t + _C[formula, stage] * s, S[CAP])
        _combine(V, X, K, s, XM, first + stage)
        if eval_f(fn, p, S, I, V, H, when, XM, K + stage):
            return True
        # (here, where the processor can work on them while it waits for the next stage)
        if at_once and slopes(fn, dfn, p, S, I, V, H, Q, JX[stage], JP[stage], when, XM):
            return True
    for i in range(n):
        TV[OWN, i], TV[STATE, i] = 0.0, w[i]
    for stage in range(stages - 1, -1, -1):
        place = stage if at_once else 0
        if not at_once:
            _combine(V, X, K, s, XM, first + stage)
            if slopes(fn, dfn, p, S, I, V, H, Q, JX[0], JP[0], min(t + _C[formula, stage] * s, S[CAP]), XM):
                return True
        # the weight of this stage in the result, and in the stages after it
        _combine_back(TV, OWN, STATE, s, WEIGHT, first + stage)
        for i in range(n):
            total = 0.0
            for j in range(n):
                total += JX[place, j, i] * TV[WEIGHT, j]
            TV[SLOPES + stage, i] = total
            w[i] += total
        for i in range(JP.shape[2]):
            for j in range(n):
                w[n + i] += JP[place, j, i] * TV[WEIGHT, j]
    return False
