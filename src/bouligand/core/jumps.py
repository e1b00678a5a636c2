"""The jumps inside a spanning step, integrated from the times of their crossings.

With ``f = f0 + sum of g_k over touching k`` the field inside the step is ``f under the word at its start + sum of +-g_k``
over the contacts crossed so far. Along the step each g_k is a parabola through three nodes (start, middle, end). All that
the stages need is, for each interval between their times, sums over the crossings in it: of the three coefficients, and of
the integral up to the crossing. Then the jumps at any time, J, and their integral, I, cost as much as one addition of vectors.
"""

from .crossings import into_intervals
from .dense import extension
from .evaluate import eval_f
from .guards import QUICK
from .jit import call, compact, core, row_address
from .layout import (
    CAP,
    COUNT,
    CTX,
    DOUBT,
    FAIL_ROW,
    G_FAILED,
    GG,
    GG_MANY,
    LISTED,
    MIDDLE,
    RUNNING,
    SHIFT,
    SIGN,
    STATUS,
    T_FAIL,
    TARGET,
    TAU,
    WHO,
    XM,
    XN,
    B,
    K,
    T,
    W,
    X,
)
from .tableau import DOPRI5

_A, _C = DOPRI5.A, DOPRI5.c
_BEFORE = (0, 1, 2, 4, 5, 6, 6)  # intervals before each stage
THIRD = 1.0 / 3.0


@core
def contacts(fn, ctx, p, S, I, V, N, G, first, count, t, x, slot):
    """G[slot] = g of ``count`` listed contacts at V[x], a row for each state and a column for each; True if g failed."""
    compact()
    n = V.shape[1]
    t = min(t, S[CAP])
    base = slot * (G.size // 3)
    for i in range(base, base + n * count):
        G[i] = 0.0
    if fn[GG_MANY] != 0:
        ctx[LISTED] = count
        who = row_address(N, WHO) + 8 * first
        arguments = (row_address(V, x), who, row_address(p, 0), row_address(G, base))
        if call(fn[GG_MANY], t, arguments, row_address(ctx, 0)) == 0:
            return False
        I[TARGET] = N[WHO, first]
    else:
        failed = False
        for e in range(count):
            for i in range(n):
                V[W, i] = 0.0
            I[TARGET] = N[WHO, first + e]
            arguments = (row_address(V, x), I[TARGET], row_address(p, 0), row_address(V, W))
            failed = failed or call(fn[GG], t, arguments, fn[CTX]) != 0
            if failed:
                break
            for i in range(n):
                G[base + i * count + e] = V[W, i]
        if not failed:
            return False
    I[STATUS] = G_FAILED
    I[FAIL_ROW] = x
    S[T_FAIL] = t
    return True


@core(fastmath=QUICK)
def add_up(Z, first, G, at, slot, count, M, row, l):
    """Add the sums of one state over a chunk of crossings to the four rows of their interval, and to DOUBT."""
    s0, s1, s2, s3, doubt = 0.0, 0.0, 0.0, 0.0, 0.0
    for e in range(count):
        sign, tau = Z[SIGN, first + e], Z[TAU, first + e]
        g0, gm, ge = sign * G[at + e], sign * G[at + slot + e], sign * G[at + 2 * slot + e]
        g1 = 4.0 * gm - 3.0 * g0 - ge
        g2 = 2.0 * (g0 + ge) - 4.0 * gm
        s0 += g0
        s1 += g1
        s2 += g2
        s3 += tau * (g0 + tau * (0.5 * g1 + tau * THIRD * g2))
        doubt += (g0 + tau * (g1 + tau * g2)) * Z[SHIFT, first + e]
    M[row, l] += s0
    M[row + 1, l] += s1
    M[row + 2, l] += s2
    M[row + 3, l] += s3
    M[DOUBT, l] += doubt


@core(fastmath=QUICK)
def nothing(G, at, slot, count):
    """Whether a state is not touched by any contact of a chunk."""
    total = 0.0
    for e in range(count):
        total += abs(G[at + e]) + abs(G[at + slot + e]) + abs(G[at + 2 * slot + e])
    return total == 0.0


@core
def sum_jumps(fn, ctx, p, S, I, V, N, Z, M, G, found, s):
    """From the list of crossings and the states X, MIDDLE, XN: the sums up to each interval. True if g failed."""
    compact()
    n, t = V.shape[1], S[T]
    into_intervals(N, Z, found)
    slot = G.size // 3
    most = slot // n
    for row in range(RUNNING):
        for i in range(n):
            M[row, i] = 0.0
    for i in range(n):
        M[DOUBT, i] = 0.0
    for q in range(6):
        first, end = N[COUNT, q], N[COUNT, q + 1]
        while first < end:
            count = min(most, end - first)
            if (
                contacts(fn, ctx, p, S, I, V, N, G, first, count, t, X, 0)
                or contacts(fn, ctx, p, S, I, V, N, G, first, count, t + 0.5 * s, MIDDLE, 1)
                or contacts(fn, ctx, p, S, I, V, N, G, first, count, t + s, XN, 2)
            ):
                return True
            for i in range(n):
                if not nothing(G, i * count, slot, count):
                    add_up(Z, first, G, i * count, slot, count, M, 4 * q, i)
            first += count
        if q > 0:
            for row in range(4 * q, 4 * q + 4):
                for i in range(n):
                    M[row, i] += M[row - 4, i]
    return False


@core(inline=True)
def jump(M, row, c, i):
    """J: what the crossings summed up in ``row`` and the next add to f at c."""
    return M[row, i] + c * (M[row + 1, i] + c * M[row + 2, i])


@core(inline=True)
def integral(M, row, c, i):
    """I: the integral of that, from each crossing to c."""
    return c * (M[row, i] + c * (0.5 * M[row + 1, i] + c * THIRD * M[row + 2, i])) - M[row + 3, i]


@core
def turn(H, N, first, end):
    """Flip the signs of a part of the list."""
    for e in range(first, end):
        k = N[WHO, e]
        H[B, k] = -H[B, k]


@core
def stages(fn, p, S, I, V, H, N, M, s, known, end):
    """The stages of dopri5, each under the word of its time, with the jumps taken off again; V[end] is the result.

    What is left in the rows from K on is f under the word at the start: that the Runge-Kutta formula integrates. ``known``
    says that the first stage is there already, if nothing is crossed before it. True if f failed.
    """
    compact()
    n, done, failed = V.shape[1], 0, False
    for stage in range(1, 7):
        c = _C[stage]
        upto = N[COUNT, _BEFORE[stage]]
        row = 4 * (_BEFORE[stage] - 1)
        turn(H, N, done, upto)
        done = upto
        if stage == 1 and known and upto == 0:
            continue
        out = XM if stage < 6 else end
        for i in range(n):
            slope = 0.0
            for q in range(stage):
                slope += _A[stage, q] * V[K + q, i]
            V[out, i] = V[X, i] + s * (slope + integral(M, row, c, i))
        if eval_f(fn, p, S, I, V, H, min(S[T] + c * s, S[CAP]), out, K + stage):
            failed = True
            break
        for i in range(n):
            V[K + stage, i] -= jump(M, row, c, i)
    turn(H, N, 0, done)
    return failed


@core
def inside(V, M, theta, row, s, out):
    """V[out] = the state at theta: dopri5's extension of the smooth part, and the jumps summed up in ``row``."""
    extension(V, 1, K, theta, s, out)
    for i in range(V.shape[1]):
        V[out, i] += s * integral(M, row, theta, i)


@core
def none_yet(M):
    """Begin a walk through an ordered list: no crossing has been passed."""
    for row in range(RUNNING, RUNNING + 4):
        for i in range(M.shape[1]):
            M[row, i] = 0.0


@core
def walk(fn, ctx, p, S, I, V, N, Z, M, G, e, found, theta, s):
    """Add the crossings before theta, from the e-th on, to the rows RUNNING; returns how many are passed (-1: g failed)."""
    compact()
    slot = G.size // 3
    while e < found and Z[TAU, e] < theta:
        if (
            contacts(fn, ctx, p, S, I, V, N, G, e, 1, S[T], X, 0)
            or contacts(fn, ctx, p, S, I, V, N, G, e, 1, S[T] + 0.5 * s, MIDDLE, 1)
            or contacts(fn, ctx, p, S, I, V, N, G, e, 1, S[T] + s, XN, 2)
        ):
            return -1
        for i in range(V.shape[1]):
            add_up(Z, e, G, i, slot, 1, M, RUNNING, i)
        e += 1
    return e
