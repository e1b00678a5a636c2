"""How fast guards change along given fields."""

import numpy as np
from numba import njit

from ..compiler.intrinsics import address, call, compact, read, read_int, write
from ..compiler.wrapping import NO_WRAPPERS
from ..state import DUAL, LANES, USERS_H, USERS_H_DUAL
from .space import compiled_layout

STEP = 1e-5  # of differences of h, relative to the state
LONGEST = 1e-5  # step in time of these differences
LATE = 1e-10  # of the time: at least so long is a step in time, as functions of a late time have few digits of it

# (unlike the rest of the core the functions of this folder allocate a few small arrays, in sliding modes and at rest only)
compiled = njit(error_model="numpy", nogil=True, **NO_WRAPPERS)


@compiled
def guard_rates(t, x, p, ctx, fields, rates):
    """rates[q, k] = Dh_k fields[q]; along the last field with D_t h_k. Returns a status."""
    compact()
    if read_int(ctx, USERS_H_DUAL) != 0:
        return rates_by_duals(t, x, p, ctx, fields, rates)
    return rates_by_differences(t, x, p, ctx, fields, rates)


@compiled
def rates_by_duals(t, x, p, ctx, fields, rates):
    """The same by h of dual numbers."""
    compact()
    n, m, parameters, many = read_int(ctx, 0), read_int(ctx, 1), read_int(ctx, 2), fields.shape[0]
    _, first_dual, behind, _ = compiled_layout(n, m, parameters)
    duals = np.zeros(behind - first_dual)
    T, X, P, out = put_duals(t, x, p, n, m, parameters, address(duals))
    for first in range(0, many, LANES):
        lanes = min(LANES, many - first)
        for q in range(lanes):
            write(T, 1 + q, 1.0 if first + q == many - 1 else 0.0)
            for i in range(n):
                write(X, DUAL * i + 1 + q, fields[first + q, i])
        status = call(read_int(ctx, USERS_H_DUAL), t, (T, X, P, out), ctx)
        if status != 0:
            return status
        for q in range(lanes):
            for k in range(m):
                rates[first + q, k] = read(out, DUAL * k + 1 + q)
    duals[0] = 0.0  # (it is freed after its last use)
    return 0


@compiled
def put_duals(t, x, p, n, m, parameters, memory):
    """Write time, state and parameters to memory that is zero, as dual numbers. Returns their addresses, and that of h."""
    compact()
    X = memory + 8 * DUAL
    P = X + 8 * DUAL * n
    write(memory, 0, t)
    for i in range(n):
        write(X, DUAL * i, read(x, i))
    for i in range(parameters):
        write(P, DUAL * i, read(p, i))
    return memory, X, P, P + 8 * DUAL * max(parameters, 1)


@compiled
def rates_by_differences(t, x, p, ctx, fields, rates):
    """The same by central differences of h."""
    compact()
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
        if timed == 1.0:  # (so that t + sigma has no rounding error of its own)
            sigma = (t + max(min(sigma, LONGEST), LATE * abs(t))) - t
        for i in range(n):
            moved[i] = read(x, i) + sigma * fields[q, i]
        status = call(read_int(ctx, USERS_H), t + timed * sigma, (moved, p, high), ctx)
        for i in range(n):
            moved[i] = read(x, i) - sigma * fields[q, i]
        status = status or call(read_int(ctx, USERS_H), t - timed * sigma, (moved, p, low), ctx)
        if status != 0:
            return status
        for k in range(m):
            rates[q, k] = (high[k] - low[k]) / (2.0 * sigma)
    return 0
