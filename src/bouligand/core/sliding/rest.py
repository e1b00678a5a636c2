"""Rest on a contact whose events make the state jump: h = 0 and its rate = 0 are kept by a force, until that would have to pull.

A contact is open where h > 0, and ``rate = Dh f + D_t h`` there. Its jump R (an impact) changes the state by an impulse, along a
direction d that R itself shows: that of ``R(y) - y`` for a state y that approaches the contact. At rest the same impulse acts
without a break:

    x' = f + d u,    with u such that    D(rate) (f + d u) + D_t rate = 0.

While u > 0 the contact is pressed together.
"""

import numpy as np

from ..compiler.intrinsics import address, call, compact, read, read_int
from ..state import JUMP_MANY, JUMPS, RESTS, USERS_F
from .rates import LATE, compiled, guard_rates

STEP = 1e-3  # of differences of rates, relative to the state: the formula is of sixth order
LONGEST = 1e-4  # first step in time of these differences
RESOLVED = 8e-15  # of the time: the shortest step
PLACES = (-3.0, -2.0, -1.0, 1.0, 2.0, 3.0)
WEIGHTS = (-1.0 / 60.0, 9.0 / 60.0, -45.0 / 60.0, 45.0 / 60.0, -9.0 / 60.0, 1.0 / 60.0)
LOWER = (0.0, 1.0 / 12.0, -8.0 / 12.0, 8.0 / 12.0, -1.0 / 12.0, 0.0)  # the formula of fourth order
AGREES = 1e-8  # relative difference of the two: that of sixth order is then good to about 1e-12
SHORTER = 0.125  # than this step the next one, where they do not agree
NEARER = 0.02  # with a shorter step the difference falls by more than that, if it is not round-off
MOST_STEPS = 6
ASIDE = 1e-8  # how far from the state an approaching one is looked for, each component relative to itself
SMALL = 1e-3  # the size of a state that is zero
TURNED = 1e-6  # sine of the angle between directions that are not the same


@compiled
def rests(ctx, k):
    """Whether guard k is one on which the trajectory may come to rest."""
    compact()
    return read_int(ctx, RESTS) != 0 and read(read_int(ctx, RESTS), k) != 0.0


@compiled
def size_of(x, n):
    """The size of a state."""
    compact()
    size = SMALL
    for i in range(n):
        size = max(size, abs(read(x, i)))
    return size


@compiled
def approach(t, x, word, p, ctx, out):
    """out = the rates of all guards, in a mode without sliding and rest. Returns a status."""
    compact()
    n, m = read_int(ctx, 0), read_int(ctx, 1)
    field, rates = np.empty((1, n)), np.empty((1, m))
    status = call(read_int(ctx, USERS_F), t, (x, word, p, field), ctx)
    status = status or guard_rates(t, x, p, ctx, field, rates)
    for k in range(m):
        out[k] = rates[0, k]
    return status


@compiled
def jump_of(t, y, word, p, ctx, k, out):
    """out = what the jump of guard k adds to the state y. Returns a status."""
    compact()
    n, m = read_int(ctx, 0), read_int(ctx, 1)
    for i in range(n):
        out[i] = y[i]
    many = read_int(ctx, JUMP_MANY)
    if many != 0:
        fired = np.zeros(m)
        fired[k] = 1.0
        status = call(many, t, (y, fired, word, p, out), ctx)
    else:
        status = call(read_int(read_int(ctx, JUMPS), k), t, (y, word, p, out), ctx)
    for i in range(n):
        out[i] -= y[i]
    return status


@compiled
def impulse(t, x, word, p, ctx, k, d):
    """d = the direction in which the jump of guard k changes the state, pointing away from the contact. Returns a status."""
    compact()
    n, m = read_int(ctx, 0), read_int(ctx, 1)
    size = size_of(x, n)
    y, rates = np.empty(n), np.empty(m)
    # --- a state that approaches the contact, in all components a little off the present one
    status, aside = 0, ASIDE
    for _ in range(14):
        for i in range(n):
            y[i] = read(x, i) + aside * max(abs(read(x, i)), SMALL) * (1.0 + 0.37 * (i % 3) - 0.11 * (i % 7))
        status = status or approach(t, address(y), word, p, ctx, rates)
        if rates[k] < 0.0:
            break
        aside = -aside if aside > 0.0 else -30.0 * aside
    status = status or jump_of(t, y, word, p, ctx, k, d)
    status = status or without_positions(t, x, p, ctx, k, d)
    # --- and one that differs along that direction only, in velocities
    length = 0.0
    for i in range(n):
        length += d[i] * d[i]
    length = np.sqrt(length)
    for i in range(n):
        y[i] = read(x, i) - size * (d[i] / length)
    status = status or jump_of(t, y, word, p, ctx, k, d)
    status = status or without_positions(t, x, p, ctx, k, d)
    for i in range(n):
        d[i] /= size
    return status


@compiled
def turns(t, x, word, p, ctx, k, d):
    """Whether the jump of guard k changes the state along another direction than its impulse d if one of the velocities that it
    changes is reversed, as an impact with friction does. Returns a status, and that."""
    compact()
    n = read_int(ctx, 0)
    size, y, other = size_of(x, n), np.empty(n), np.empty(n)
    length = 0.0
    for i in range(n):
        length += d[i] * d[i]
    for j in range(n):
        if d[j] == 0.0:
            continue
        for i in range(n):
            y[i] = read(x, i) - size * (d[i] / np.sqrt(length))
        y[j] = -y[j]
        status = jump_of(t, y, word, p, ctx, k, other)
        status = status or without_positions(t, x, p, ctx, k, other)
        if status != 0:
            return status, False
        along, square = 0.0, 0.0
        for i in range(n):
            along += d[i] * other[i]
            square += other[i] * other[i]
        if square * length - along * along > TURNED * TURNED * square * length:
            return 0, True
    return 0, False


@compiled
def without_positions(t, x, p, ctx, k, d):
    """An impulse does not change h_k. If d does, the jump also puts the state onto the contact: take the components that h_k
    depends on from d (unless nothing is left then). Returns a status."""
    compact()
    n, m = read_int(ctx, 0), read_int(ctx, 1)
    pair, both = np.zeros((2, n)), np.empty((2, m))
    for i in range(n):
        pair[0, i] = d[i]
    status = guard_rates(t, x, p, ctx, pair, both)
    if status != 0 or both[0, k] == 0.0:
        return status
    units, rates = np.zeros((n + 1, n)), np.empty((n + 1, m))
    for i in range(n):
        units[i, i] = 1.0
    status = guard_rates(t, x, p, ctx, units, rates)
    left = False
    for i in range(n):
        left = left or (rates[i, k] == 0.0 and d[i] != 0.0)
    for i in range(n):
        if left and rates[i, k] != 0.0:
            d[i] = 0.0
    return status


@compiled
def rates_of_approach(t, x, word, p, ctx, fields, out):
    """out[q, k] = D(rate_k) fields[q], of every guard; along the last field with D_t rate_k. Returns a status.

    How fast the rates change in time is not known beforehand (a floor that trembles): that step is made shorter until formulas of
    two orders agree. If they never do, because of round-off, the step counts with which they agree best.
    """
    compact()
    n, m, many = read_int(ctx, 0), read_int(ctx, 1), fields.shape[0]
    size, found = size_of(x, n), np.empty(m)
    for q in range(many):
        largest, timed = 1e-300, 1.0 if q == many - 1 else 0.0
        for i in range(n):
            largest = max(largest, abs(fields[q, i]))
        sigma = STEP * size / largest
        sigma = max(min(sigma, LONGEST), LATE * abs(t)) if timed == 1.0 else sigma
        best = np.inf
        for number in range(MOST_STEPS):
            if timed == 1.0:  # (so that t + sigma has no rounding error of its own)
                sigma = (t + max(sigma, RESOLVED * abs(t))) - t
            status, apart = difference(t, x, word, p, ctx, fields[q], timed, sigma, found)
            if status != 0:
                return status
            nearer = apart < NEARER * best
            if nearer or number == 0:
                best = apart
                for k in range(m):
                    out[q, k] = found[k]
            if (
                apart <= AGREES or timed == 0.0
            ):  # (an impulse changes velocities, on which rates of contacts depend linearly)
                break
            sigma *= SHORTER
    return 0


@compiled
def difference(t, x, word, p, ctx, field, timed, sigma, out):
    """out = D(rate_k) field, of every guard, with D_t rate_k if ``timed``, by a step sigma. Returns a status, and by how much a
    formula of lower order differs, of contacts on which it may rest, relative to them."""
    compact()
    n, m = read_int(ctx, 0), read_int(ctx, 1)
    y, rates, lower = np.empty(n), np.empty(m), np.zeros(m)
    for k in range(m):
        out[k] = 0.0
    for place, weight, other in zip(PLACES, WEIGHTS, LOWER):  # noqa: B905 (Numba's zip)
        for i in range(n):
            y[i] = read(x, i) + place * sigma * field[i]
        status = approach(t + timed * place * sigma, address(y), word, p, ctx, rates)
        if status != 0:
            return status, 0.0
        for k in range(m):
            out[k] += weight / sigma * rates[k]
            lower[k] += other / sigma * rates[k]
    apart = 0.0
    for k in range(m):
        if rests(ctx, k) and out[k] != lower[k]:
            apart = max(apart, abs(out[k] - lower[k]) / max(abs(out[k]), 1e-300))
    return 0, apart


@compiled
def shift(t, x, word, p, ctx, d, out):
    """out = the change of x' by a change of the state along d: how the positions move if the impulse d acts. Returns a status."""
    compact()
    n = read_int(ctx, 0)
    f, size, largest = read_int(ctx, USERS_F), size_of(x, n), 1e-300
    high, low, y = np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        largest = max(largest, abs(d[i]))
    sigma = STEP * size / largest
    for i in range(n):
        y[i] = read(x, i) + sigma * d[i]
    status = call(f, t, (y, word, p, high), ctx)
    for i in range(n):
        y[i] = read(x, i) - sigma * d[i]
    status = status or call(f, t, (y, word, p, low), ctx)
    for i in range(n):
        out[i] = (high[i] - low[i]) / (2.0 * sigma)
    return status
