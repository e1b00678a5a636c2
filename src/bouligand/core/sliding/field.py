"""The field while the trajectory stays on guards, as functions that the core calls in place of the user's own.

In the word, b = 0 means that the trajectory slides on that guard, or rests on it (see `rest`). With f = f0 + sum of g_k b_k over
the guards that it slides on, the multipliers u_k that stand for b_k keep it there (Filippov): they solve

    Dh_k (f0 + sum of g_j u_j) + D_t h_k = 0    for each of them.

While all |u_k| < 1 it slides; so h of such a guard is, for the core, (1 - u_k^2) / (1 + u_k^2): where that vanishes, sliding
ends. (Where a contact opens the limit of its friction falls to zero, and u grows without a bound; this does not, so that a
parabola can predict when it vanishes.) Of a guard that it rests on, h is u_k for the core. Where no b is 0, these functions are
the user's.
"""

import math

import numpy as np

from ..compiler.intrinsics import call, compact, read, read_int, write
from ..state import FORCES, USERS_F, USERS_H, WORD
from .forces import MOST_ROUNDS, forces_changed, rows_of_forces, with_forces
from .one_guard import NOT_SIMPLE, VANISHING, one_guard
from .rates import compiled, guard_rates
from .rest import approach, impulse, rates_of_approach, rests, shift, turns

# --- what no function of a user returns
NOT_AFFINE_STATUS = 77  # sliding on several guards is not unique
NO_FORCE_STATUS = 78  # forces at rest are not found
TURNS_STATUS = 79  # an impulse depends on the velocities
NOISE = 1e-12  # rate over its terms: below that it is round-off


@compiled
def count_kept(b, m):
    """Number of guards on which the trajectory stays."""
    compact()
    count = 0
    for k in range(m):
        if read(b, k) == 0.0:
            count += 1
    return count


@compiled
def f_sliding(t, x, b, p, dx, ctx):
    """f, also in sliding modes and at rest."""
    compact()
    n, m = read_int(ctx, 0), read_int(ctx, 1)
    count = count_kept(b, m)
    if count == 0:
        return call(read_int(ctx, USERS_F), t, (x, b, p, dx), ctx)
    if count == 1:
        status, _ = one_guard(t, x, b, p, ctx, dx)
        if status != NOT_SIMPLE:
            return status
    fields, u, rates = np.empty((count + 1, n)), np.empty(count), np.empty((count + 1, m))
    status = solve(t, x, b, with_forces(p, b, ctx), ctx, fields, rates, u)
    for i in range(n):
        total = fields[count, i]
        for q in range(count):
            total += fields[q, i] * u[q] if abs(u[q]) < math.inf else 0.0  # (else g has vanished)
        write(dx, i, total)
    return status


@compiled
def to_limit(u):
    """Positive while a multiplier is within -1 and 1."""
    return (1.0 - u * u) / (1.0 + u * u)


@compiled
def h_sliding(t, x, p, out, ctx):
    """h; (1 - u^2) / (1 + u^2) of guards on which the trajectory slides, u of those on which it rests."""
    compact()
    b = read_int(ctx, WORD)
    n, m = read_int(ctx, 0), read_int(ctx, 1)
    status = call(read_int(ctx, USERS_H), t, (x, p, out), ctx)
    count = count_kept(b, m)
    if count == 0 or status != 0:
        return status
    if count == 1:
        status, only = one_guard(t, x, b, p, ctx, 0)
        if status != NOT_SIMPLE:
            for k in range(m):
                if read(b, k) == 0.0:
                    write(out, k, to_limit(only))
            return status
    fields, u, rates = np.empty((count + 1, n)), np.empty(count), np.empty((count + 1, m))
    status = solve(t, x, b, with_forces(p, b, ctx), ctx, fields, rates, u)
    q = 0
    for k in range(m):
        if read(b, k) == 0.0:
            # (where g has vanished, as friction where a contact closes, nothing says that it ends)
            known = abs(u[q]) < math.inf
            write(out, k, u[q] if rests(ctx, k) else to_limit(u[q]) if known else 1.0)
            q += 1
    return status


@compiled
def multipliers(t, x, b, p, out, ctx):
    """u of the guards on which the trajectory stays; of other contacts on which it may rest, how fast their rate changes.

    NOT_AFFINE_STATUS if they are not unique; NO_FORCE_STATUS, TURNS_STATUS.
    """
    compact()
    n, m = read_int(ctx, 0), read_int(ctx, 1)
    count = count_kept(b, m)
    fields, u, rates = np.empty((count + 1, n)), np.empty(count), np.empty((count + 1, m))
    p = with_forces(p, b, ctx)
    status = solve(t, x, b, p, ctx, fields, rates, u)
    q, sliding = 0, 0
    for k in range(m):
        if read(b, k) == 0.0:
            write(out, k, u[q])
            q += 1
            sliding += 0 if rests(ctx, k) else 1
        elif rests(ctx, k):
            total = rates[count, k]
            for r in range(count):
                total += rates[r, k] * u[r]
            write(out, k, total)
        else:
            write(out, k, read(b, k))
    status = status or forces_act_once(t, x, b, p, ctx, fields)
    if status != 0 or sliding < 2:
        return status
    # --- is f affine? with all signs at -1 it is f0 minus all g
    word, low, affine = np.empty(m), np.empty(n), fields[count].copy()
    q = 0
    for k in range(m):
        word[k] = read(b, k)
        if word[k] == 0.0:
            word[k] = 1.0 if rests(ctx, k) else -1.0
            for i in range(n):
                affine[i] -= 0.0 if rests(ctx, k) else fields[q, i]
            q += 1
    status = call(read_int(ctx, USERS_F), t, (x, word, p, low), ctx)
    worst, size = 0.0, 1e-300
    for i in range(n):
        worst = max(worst, abs(affine[i] - low[i]))
        size = max(size, abs(low[i]), abs(affine[i]))
    if status == 0 and worst > 1e-8 * size:
        return NOT_AFFINE_STATUS
    return status


@compiled
def contact_rates(t, x, b, p, out, ctx):
    """The rates of all guards, exactly; of those that the trajectory stays on as if it did not."""
    compact()
    m, rates = read_int(ctx, 1), np.empty(read_int(ctx, 1))
    word, _ = mode_without(b, m, count_kept(b, m))
    status = approach(t, x, word, p, ctx, rates)
    for k in range(m):
        write(out, k, rates[k])
    return status


@compiled
def project(t, x, b, p, out, ctx):
    """out = the state x, moved onto the guards on which it stays: along the g_k, and along the impulses of contacts at rest."""
    compact()
    n, m = read_int(ctx, 0), read_int(ctx, 1)
    count = count_kept(b, m)
    word, which = mode_without(b, m, count)
    fields, u, rates = np.empty((count + 1, n)), np.empty(count), np.empty((count + 1, m))
    p = with_forces(p, b, ctx)
    status = solve(t, x, b, p, ctx, fields, rates, u)
    values, speeds, moved = np.empty(m), np.empty(m), np.empty(n)
    status = status or call(read_int(ctx, USERS_H), t, (x, p, values), ctx)
    resting = False
    for q in range(count):
        resting = resting or rests(ctx, which[q])
    if resting:
        status = status or approach(t, x, word, p, ctx, speeds)
    for i in range(n):
        write(out, i, read(x, i))
    # --- onto the guards that are slid on, and to no rate of those at rest
    solve_for(rates, which, np.array([speeds[k] if rests(ctx, k) else values[k] for k in which]), u)
    for q in range(count):
        if not abs(u[q]) < math.inf:
            continue  # (g has vanished, as friction where a contact opens: sliding ends here)
        for i in range(n):
            write(out, i, read(out, i) + fields[q, i] * u[q])
    if not resting:
        return status
    # --- and onto the contacts at rest, by the change of position that their impulses make
    solve_for(rates, which, np.array([values[k] if rests(ctx, k) else 0.0 for k in which]), u)
    for q in range(count):
        if rests(ctx, which[q]):
            status = status or shift(t, x, word, p, ctx, fields[q], moved)
            for i in range(n):
                write(out, i, read(out, i) + moved[i] * u[q])
    return status


@compiled
def mode_without(b, m, count):
    """The word with + for the guards on which the trajectory stays, and their numbers."""
    compact()
    word, which = np.empty(m), np.empty(count, np.int64)
    q = 0
    for k in range(m):
        word[k] = read(b, k)
        if word[k] == 0.0:
            which[q] = k
            word[k] = 1.0
            q += 1
    return word, which


@compiled
def solve(t, x, b, p, ctx, fields, rates, u):
    """fields, rates as `find_rates`; u = the multipliers of the guards on which the trajectory stays. Forces that f needs are
    written to p. Returns a status."""
    compact()
    word, which = mode_without(b, read_int(ctx, 1), u.shape[0])
    rows = rows_of_forces(ctx, u.shape[0])
    for _ in range(MOST_ROUNDS):
        status = find_rates(t, x, p, ctx, word, which, fields, rates)
        if status != 0:
            return status
        solve_for(rates, which, rates[u.shape[0]][which], u)
        if not forces_changed(p, ctx, which, fields, rates, u, rows):
            return without_noise(t, x, p, ctx, which, fields, rates, u)
    return NO_FORCE_STATUS


@compiled
def forces_act_once(t, x, b, p, ctx, fields):
    """Whether the impulses of contacts whose forces f knows (for its friction) have none of their own. Returns a status."""
    compact()
    places = read_int(ctx, FORCES)
    if places == 0:
        return 0
    m = read_int(ctx, 1)
    word, which = mode_without(b, m, count_kept(b, m))
    for q in range(which.shape[0]):
        if read_int(places, which[q]) >= 0:
            status, turned = turns(t, x, word, p, ctx, which[q], fields[q])
            if status != 0 or turned:
                return status or TURNS_STATUS
    return 0


@compiled
def without_noise(t, x, p, ctx, which, fields, rates, u):
    """u = 0 where hardly anything is left of g (friction where a contact closes or opens), and the rate that is to be kept at
    zero is zero to round-off: their ratio would be noise. Returns a status."""
    compact()
    n, count, status = read_int(ctx, 0), which.shape[0], 0
    size = 0.0
    for i in range(n):
        size = max(size, abs(fields[count, i]))
    for q in range(count):
        largest = 0.0
        for i in range(n):
            largest = max(largest, abs(fields[q, i]))
        if rests(ctx, which[q]) or largest == 0.0 or largest > VANISHING * size:
            continue
        # (the size of the rate if its terms did not cancel: along f0 with some of its signs changed)
        pattern, along = np.empty((1, n)), np.empty((1, rates.shape[1]))
        for i in range(n):
            pattern[0, i] = fields[count, i] if (i * 7) % 4 < 2 else -fields[count, i]
        status = status or guard_rates(t, x, p, ctx, pattern, along)
        if abs(rates[count, which[q]]) <= NOISE * max(abs(along[0, which[q]]), VANISHING * size):
            u[q] = 0.0
    return status


@compiled
def find_rates(t, x, p, ctx, word, which, fields, rates):
    """fields = g (or the impulse) of each guard on which the trajectory stays, then f0; rates = those of every guard along each
    of these fields, of contacts on which it may rest the change of the rate. Returns a status."""
    compact()
    n, m, count = read_int(ctx, 0), read_int(ctx, 1), which.shape[0]
    low = np.empty(n)
    f = read_int(ctx, USERS_F)
    status = call(f, t, (x, word, p, fields[count]), ctx)
    for q in range(count):
        if rests(ctx, which[q]):
            status = status or impulse(t, x, word, p, ctx, which[q], fields[q])
            continue
        word[which[q]] = -1.0
        status = status or call(f, t, (x, word, p, low), ctx)
        word[which[q]] = 1.0
        for i in range(n):
            fields[q, i] = 0.5 * (fields[count, i] - low[i])
    for q in range(count):
        if not rests(ctx, which[q]):
            for i in range(n):
                fields[count, i] -= fields[q, i]
    status = status or guard_rates(t, x, p, ctx, fields, rates)
    resting = False
    for k in range(m):
        resting = resting or rests(ctx, k)
    if status == 0 and resting:
        changes = np.empty(rates.shape)
        status = rates_of_approach(t, x, word, p, ctx, fields, changes)
        for k in range(m):
            if rests(ctx, k):
                for q in range(count + 1):
                    rates[q, k] = changes[q, k]
    return status


@compiled
def solve_for(rates, which, values, u):
    """u such that the fields, in these amounts, change the guards ``which`` by minus these values."""
    compact()
    count = u.shape[0]
    A = np.empty((count, count + 1))
    for r in range(count):
        for q in range(count):
            A[r, q] = rates[q, which[r]]
        A[r, count] = -values[r]
    eliminate(A, u)


@compiled
def eliminate(A, u):
    """Solve a small linear system, whose right side is the last column, by elimination with pivots. NaN if it is singular."""
    compact()
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
