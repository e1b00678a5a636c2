"""The jumps inside a spanning step, integrated from the times of their crossings.

With ``f = f0 + sum of g_k over touching k`` the field inside the step is ``f under the word at its start + sum of +-g_k``
over the contacts crossed so far. Along the step each g_k is a parabola through three nodes (start, middle, end). All that
the stages need is, for each interval between their times, sums over the crossings in it: of the three coefficients, and of
the integral up to the crossing. Then the jumps at any time, J, and their integral, I, cost as much as one addition of vectors.
"""

from ..compiler.intrinsics import call, compact, row_address
from ..compiler.jit import core
from ..compiler.vectors import clear
from ..evaluate import eval_f
from ..guards import QUICK
from ..schemes.tableau import DOPRI5
from ..state import (
    CAP,
    COUNT,
    CTX,
    FAIL_ROW,
    G_FAILED,
    GG,
    GG_MANY,
    LISTED,
    MIDDLE,
    NODES,
    RUNNING,
    SIGN,
    STATUS,
    T_FAIL,
    TARGET,
    TAU,
    WEIGHTS,
    WHO,
    XM,
    XN,
    B,
    K,
    T,
    W,
    X,
)
from ..steps.dense import extension

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
    clear(G, base, n * count)
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
            out = row_address(G, base)
            if count > 1:
                out = row_address(V, W)
                for i in range(n):
                    V[W, i] = 0.0
            I[TARGET] = N[WHO, first + e]
            if call(fn[GG], t, (row_address(V, x), I[TARGET], row_address(p, 0), out), fn[CTX]) != 0:
                failed = True
                break
            for i in range(n if count > 1 else 0):
                G[base + i * count + e] = V[W, i]
        if not failed:
            return False
    I[STATUS] = G_FAILED
    I[FAIL_ROW] = x
    S[T_FAIL] = t
    return True


@core(inline=True)
def many(fn, V, G):
    """How many contacts are evaluated at once. With many states each by itself, where the user gave no function for several: it
    may be that each acts on a few states of its own."""
    return G.size // (3 * V.shape[1]) if fn[GG_MANY] != 0 or V.shape[1] < 32 else 1


@core
def nodes(fn, ctx, p, S, I, V, N, G, first, count, s):
    """g of some listed contacts at the start, in the middle and at the end of the step, at the states in NODES; True if g
    failed."""
    return (
        contacts(fn, ctx, p, S, I, V, N, G, first, count, S[T], X, 0)
        or contacts(fn, ctx, p, S, I, V, N, G, first, count, S[T] + 0.5 * s, NODES, 1)
        or contacts(fn, ctx, p, S, I, V, N, G, first, count, S[T] + s, NODES + 1, 2)
    )


@core(fastmath=QUICK)
def weigh(tau, sign, Z):
    """What g at the three nodes counts for in its integral up to the crossing; the same for all states."""
    for e in range(tau.size):
        u, v = tau[e], sign[e] * tau[e]
        Z[WEIGHTS, e] = v * (1.0 + u * (2.0 * THIRD * u - 1.5))
        Z[WEIGHTS + 1, e] = v * u * (2.0 - 4.0 * THIRD * u)
        Z[WEIGHTS + 2, e] = v * u * (2.0 * THIRD * u - 0.5)


@core(fastmath=QUICK)
def sums(sign, Z, start, middle, end):
    """Of one state, over some crossings: the sums of g at the nodes, and of its integral up to the crossing."""
    s0, s1, s2 = 0.0, 0.0, 0.0
    u0, u1, u2 = 0.0, 0.0, 0.0  # (sums that do not wait for each other)
    for e in range(start.size):
        s0 += sign[e] * start[e]
        s1 += sign[e] * middle[e]
        s2 += sign[e] * end[e]
        u0 += Z[WEIGHTS, e] * start[e]
        u1 += Z[WEIGHTS + 1, e] * middle[e]
        u2 += Z[WEIGHTS + 2, e] * end[e]
    return s0, s1, s2, u0 + u1 + u2


@core
def add_up(Z, G, first, count, begin, end, M, row):
    """Add the sums over the crossings from ``begin`` to ``end`` to the four rows of their interval; G holds g of the ``count``
    crossings from ``first`` on."""
    compact()
    sign, size, slot = Z[SIGN, begin:end], end - begin, G.size // 3
    weigh(Z[TAU, begin:end], sign, Z)
    for i in range(M.shape[1]):
        a = i * count + begin - first
        g0, gm, ge = G[a : a + size], G[slot + a : slot + a + size], G[2 * slot + a : 2 * slot + a + size]
        if nothing(g0, gm, ge):
            continue  # not a state that these contacts act on
        s0, s1, s2, s3 = sums(sign, Z, g0, gm, ge)
        M[row, i] += s0
        M[row + 1, i] += 4.0 * s1 - 3.0 * s0 - s2
        M[row + 2, i] += 2.0 * (s0 + s2) - 4.0 * s1
        M[row + 3, i] += s3


@core
def add_one(Z, G, e, M, row):
    """The same for a single crossing, of which G holds g."""
    compact()
    n, slot = M.shape[1], G.size // 3
    u, sign = Z[TAU, e], Z[SIGN, e]
    for i in range(n):
        g0, gm, ge = G[i], G[slot + i], G[2 * slot + i]
        if g0 != 0.0 or gm != 0.0 or ge != 0.0:
            g1, g2 = 4.0 * gm - 3.0 * g0 - ge, 2.0 * (g0 + ge) - 4.0 * gm
            M[row, i] += sign * g0
            M[row + 1, i] += sign * g1
            M[row + 2, i] += sign * g2
            M[row + 3, i] += sign * u * (g0 + u * (0.5 * g1 + u * THIRD * g2))


@core(fastmath=QUICK)
def nothing(start, middle, end):
    if start[0] != 0.0:
        return False
    total = 0.0
    for e in range(start.size):
        total += abs(start[e]) + abs(middle[e]) + abs(end[e])
    return total == 0.0


@core
def sum_jumps(fn, ctx, p, S, I, V, N, Z, M, G, found, s):
    """From the list of crossings and the states X, MIDDLE, XN: the sums up to each interval. True if g failed."""
    compact()
    n = V.shape[1]
    most = many(fn, V, G)
    for i in range(n):
        V[NODES, i], V[NODES + 1, i] = V[MIDDLE, i], V[XN, i]
    for row in range(RUNNING):
        for i in range(n):
            M[row, i] = 0.0
    first = 0
    while first < found:
        count = min(most, found - first)
        if nodes(fn, ctx, p, S, I, V, N, G, first, count, s):
            return True
        for q in range(6):
            begin, end = max(first, N[COUNT, q]), min(first + count, N[COUNT, q + 1])
            if begin < end and most > 1:
                add_up(Z, G, first, count, begin, end, M, 4 * q)
            elif begin < end:
                add_one(Z, G, first, M, 4 * q)
        first += count
    for row in range(4, RUNNING):
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
    while e < found and Z[TAU, e] < theta:
        if nodes(fn, ctx, p, S, I, V, N, G, e, 1, s):
            return -1
        add_one(Z, G, e, M, RUNNING)
        e += 1
    return e
