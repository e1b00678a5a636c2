"""Evaluations of the user's functions, and the size of a vector in tolerances.

Each returns True when the function failed; what it was given is then left where the failure can be told from.
"""

import math

from .compiler.intrinsics import call, row_address
from .compiler.jit import core
from .state import (
    ATOL,
    CAP,
    CTX,
    DH,
    DH_FAILED,
    F_FAILED,
    FAIL_ROW,
    FH,
    H_FAILED,
    HH,
    HN,
    NDH,
    NF,
    NH,
    RTOL,
    STATUS,
    T_FAIL,
    B,
    F,
)


@core(inline=True)
def eval_f(fn, p, S, I, V, H, t, x, k):
    """V[k] = f(t, V[x], b, p)."""
    I[NF] += 1
    arguments = (row_address(V, x), row_address(H, B), row_address(p, 0), row_address(V, k))
    if call(fn[F], t, arguments, fn[CTX]) == 0:
        return False
    I[STATUS] = F_FAILED
    I[FAIL_ROW] = x
    S[T_FAIL] = t
    return True


@core(inline=True)
def eval_h(fn, p, S, I, V, H, t, x, out):
    """H[out] = h(t, V[x], p); in a step that ends on a breakpoint, as it is before the break."""
    t = min(t, S[CAP])
    I[NH] += 1
    if call(fn[HH], t, (row_address(V, x), row_address(p, 0), row_address(H, out)), fn[CTX]) == 0:
        return False
    I[STATUS] = H_FAILED
    I[FAIL_ROW] = x
    S[T_FAIL] = t
    return True


@core(inline=True)
def eval_fh(fn, p, S, I, V, H, t, x, k):
    """V[k] = f and H[HN] = h at the same state, where the user gave a function that shares their work."""
    I[NF] += 1
    I[NH] += 1
    arguments = (row_address(V, x), row_address(H, B), row_address(p, 0), row_address(V, k), row_address(H, HN))
    if call(fn[FH], t, arguments, fn[CTX]) == 0:
        return False
    I[STATUS] = F_FAILED
    I[FAIL_ROW] = x
    S[T_FAIL] = t
    return True


@core(inline=True)
def eval_Dh(fn, p, S, I, V, jacobian, t, x):
    """The whole (m, n) matrix Dh(t, V[x], p)."""
    I[NDH] += 1
    if call(fn[DH], t, (row_address(V, x), row_address(p, 0), row_address(jacobian, 0)), fn[CTX]) == 0:
        return False
    I[STATUS] = DH_FAILED
    I[FAIL_ROW] = x
    S[T_FAIL] = t
    return True


@core(inline=True)
def in_tolerances(S, V, row, x, y):
    """Largest component of V[row] in units of its tolerance, ``atol + rtol max(|x|, |y|)``; inf when not finite."""
    largest = 0.0
    total = 0.0
    rtol = S[RTOL]
    for i in range(V.shape[1]):
        ratio = abs(V[row, i]) / (V[ATOL, i] + rtol * max(abs(V[x, i]), abs(V[y, i])))
        total += ratio
        if ratio > largest:
            largest = ratio
    return largest if total < math.inf else math.inf


@core(inline=True)
def nudge(S, V, x, out):
    """V[out] = V[x] with every component moved by about its tolerance, to either side.

    What h changes by there tells, roughly and with one evaluation, what cannot be told from zero.
    """
    for i in range(V.shape[1]):
        size = V[ATOL, i] + S[RTOL] * abs(V[x, i])
        V[out, i] = V[x, i] + (size if i % 3 == 0 else -0.7 * size)
