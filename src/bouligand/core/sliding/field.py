"""The field of a sliding mode, as functions that the core calls in place of the user's own.

In the word, b = 0 means that the trajectory slides on that guard. With f = f0 + sum of g_k b_k over these guards, the multipliers
u_k that stand for b_k keep it there (Filippov): they solve

    Dh_k (f0 + sum of g_j u_j) + D_t h_k = 0    for each of them.

While all |u_k| < 1 it slides; so h of such a guard is, for the core, 1 - u_k^2: where that vanishes, sliding ends. Where no b is
0, these functions are the user's.
"""

import math

import numpy as np
from numba import njit

from ..compiler.intrinsics import address, call, read, read_int, write
from ..state import DUAL, LANES, USERS_F, USERS_H, USERS_H_DUAL, WORD

STEP = 1e-5  # of differences of h, relative to the state
NOT_AFFINE_STATUS = 77

# (unlike the rest of the core these allocate a few small arrays, in sliding modes only)
compiled = njit(error_model="numpy", nogil=True)


@compiled
def count_sliding(b, m):
    """Number of guards on which the trajectory slides."""
    count = 0
    for k in range(m):
        if read(b, k) == 0.0:
            count += 1
    return count


@compiled
def f_sliding(t, x, b, p, dx, ctx):
    """f, also in sliding modes."""
    n, m = read_int(ctx, 0), read_int(ctx, 1)
    count = count_sliding(b, m)
    if count == 0:
        return call(read_int(ctx, USERS_F), t, (x, b, p, dx), ctx)
    fields, u = np.empty((count + 1, n)), np.empty(count)
    status = solve(t, x, b, p, ctx, fields, u, False)
    for i in range(n):
        total = fields[count, i]
        for q in range(count):
            total += fields[q, i] * u[q]
        write(dx, i, total)
    return status


@compiled
def h_sliding(t, x, p, out, ctx):
    """h; of guards on which the trajectory slides, 1 - u^2."""
    b = read_int(ctx, WORD)
    n, m = read_int(ctx, 0), read_int(ctx, 1)
    status = call(read_int(ctx, USERS_H), t, (x, p, out), ctx)
    count = count_sliding(b, m)
    if count == 0 or status != 0:
        return status
    fields, u = np.empty((count + 1, n)), np.empty(count)
    status = solve(t, x, b, p, ctx, fields, u, False)
    q = 0
    for k in range(m):
        if read(b, k) == 0.0:
            write(out, k, 1.0 - u[q] * u[q])
            q += 1
    return status


@compiled
def multipliers(t, x, b, p, out, ctx):
    """u of the guards on which the trajectory slides, the signs of the others. NOT_AFFINE_STATUS if they are not unique."""
    n, m = read_int(ctx, 0), read_int(ctx, 1)
    count = count_sliding(b, m)
    fields, u = np.empty((count + 1, n)), np.empty(count)
    status = solve(t, x, b, p, ctx, fields, u, False)
    q = 0
    for k in range(m):
        if read(b, k) == 0.0:
            write(out, k, u[q])
            q += 1
        else:
            write(out, k, read(b, k))
    if status != 0 or count < 2:
        return status
    # --- is f affine? with all signs at -1 it is f0 minus all g
    word, low = np.empty(m), np.empty(n)
    for k in range(m):
        word[k] = -1.0 if read(b, k) == 0.0 else read(b, k)
    status = call(read_int(ctx, USERS_F), t, (x, address(word), p, address(low)), ctx)
    worst, size = 0.0, 1e-300
    for i in range(n):
        affine = fields[count, i]
        for q in range(count):
            affine -= fields[q, i]
        worst = max(worst, abs(affine - low[i]))
        size = max(size, abs(low[i]), abs(affine))
    if status == 0 and worst > 1e-8 * size:
        return NOT_AFFINE_STATUS
    return status


@compiled
def project(t, x, b, p, out, ctx):
    """out = the state x, moved along the g_k onto the guards on which it slides."""
    n, m = read_int(ctx, 0), read_int(ctx, 1)
    count = count_sliding(b, m)
    fields, u = np.empty((count + 1, n)), np.empty(count)
    status = solve(t, x, b, p, ctx, fields, u, True)
    for i in range(n):
        total = read(x, i)
        for q in range(count):
            total += fields[q, i] * u[q]
        write(out, i, total)
    return status


@compiled
def solve(t, x, b, p, ctx, fields, u, onto):
    """fields = g of each guard on which the trajectory slides, then f0; u = their multipliers. Returns a status.

    ``onto``: u such that h_k + Dh_k sum of g_j u_j = 0 instead.
    """
    n, m, count = read_int(ctx, 0), read_int(ctx, 1), u.shape[0]
    word, low, which = np.empty(m), np.empty(n), np.empty(count, np.int64)
    q = 0
    for k in range(m):
        word[k] = read(b, k)
        if word[k] == 0.0:
            which[q] = k
            word[k] = 1.0
            q += 1
    f = read_int(ctx, USERS_F)
    status = call(f, t, (x, address(word), p, address(fields[count])), ctx)
    for q in range(count):
        word[which[q]] = -1.0
        status = status or call(f, t, (x, address(word), p, address(low)), ctx)
        word[which[q]] = 1.0
        for i in range(n):
            fields[q, i] = 0.5 * (fields[count, i] - low[i])
    for q in range(count):
        for i in range(n):
            fields[count, i] -= fields[q, i]
    rates = np.empty((count + 1, m))  # of every guard along each of these fields
    if status == 0:
        if read_int(ctx, USERS_H_DUAL) != 0:
            status = rates_by_duals(t, x, p, ctx, fields, rates)
        else:
            status = rates_by_differences(t, x, p, ctx, fields, rates)
    if status != 0:
        return status
    if onto:
        status = call(read_int(ctx, USERS_H), t, (x, p, address(rates[count])), ctx)
    A = np.empty((count, count + 1))
    for r in range(count):
        for q in range(count):
            A[r, q] = rates[q, which[r]]
        A[r, count] = -rates[count, which[r]]
    eliminate(A, u)
    return status


@compiled
def rates_by_duals(t, x, p, ctx, fields, rates):
    """The rates of all guards along the fields, the last one with time, by h of dual numbers."""
    n, m, parameters, many = read_int(ctx, 0), read_int(ctx, 1), read_int(ctx, 2), fields.shape[0]
    T, X, P, out = np.zeros(DUAL), np.zeros(n * DUAL), np.zeros(max(parameters, 1) * DUAL), np.zeros(m * DUAL)
    T[0] = t
    for i in range(n):
        X[DUAL * i] = read(x, i)
    for i in range(parameters):
        P[DUAL * i] = read(p, i)
    for first in range(0, many, LANES):
        lanes = min(LANES, many - first)
        for q in range(lanes):
            T[1 + q] = 1.0 if first + q == many - 1 else 0.0
            for i in range(n):
                X[DUAL * i + 1 + q] = fields[first + q, i]
        status = call(read_int(ctx, USERS_H_DUAL), t, (address(T), address(X), address(P), address(out)), ctx)
        if status != 0:
            return status
        for q in range(lanes):
            for k in range(m):
                rates[first + q, k] = out[DUAL * k + 1 + q]
    return 0


@compiled
def rates_by_differences(t, x, p, ctx, fields, rates):
    """The same by central differences of h."""
    n, m, many = read_int(ctx, 0), read_int(ctx, 1), fields.shape[0]
    moved, high, low = np.empty(n), np.empty(m), np.empty(m)
    size = 0.0
    for i in range(n):
        size = max(size, abs(read(x, i)))
    for q in range(many):
        largest, timed = 1e-300, 1.0 if q == many - 1 else 0.0
        for i in range(n):
            largest = max(largest, abs(fields[q, i]))
        sigma = STEP * max(size, 1e-3) / largest
        for i in range(n):
            moved[i] = read(x, i) + sigma * fields[q, i]
        status = call(read_int(ctx, USERS_H), t + timed * sigma, (address(moved), p, address(high)), ctx)
        for i in range(n):
            moved[i] = read(x, i) - sigma * fields[q, i]
        status = status or call(read_int(ctx, USERS_H), t - timed * sigma, (address(moved), p, address(low)), ctx)
        if status != 0:
            return status
        for k in range(m):
            rates[q, k] = (high[k] - low[k]) / (2.0 * sigma)
    return 0


@compiled
def eliminate(A, u):
    """Solve a small linear system, whose right side is the last column, by elimination with pivots. NaN if it is singular."""
    count = u.shape[0]
    for c in range(count):
        best = c
        for r in range(c + 1, count):
            if abs(A[r, c]) > abs(A[best, c]):
                best = r
        for q in range(count + 1):
            A[c, q], A[best, q] = A[best, q], A[c, q]
        pivot = A[c, c]
        for r in range(c + 1, count):
            factor = A[r, c] / pivot if pivot != 0.0 else math.nan
            for q in range(c, count + 1):
                A[r, q] -= factor * A[c, q]
    for c in range(count - 1, -1, -1):
        total = A[c, count]
        for q in range(c + 1, count):
            total -= A[c, q] * u[q]
        u[c] = total / A[c, c] if A[c, c] != 0.0 else math.nan
