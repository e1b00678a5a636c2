"""The jumps inside a spanning step, integrated from the times of their crossings.

With ``f = f0 + sum of g_k over touching k`` the field inside the step is ``f under the word at its start + sum of +-g_k``
over the contacts crossed so far. Along the step each g_k is a parabola through three nodes (start, middle, end). All that
the stages need is, for each interval between their times, sums over the crossings in it: of the three coefficients, and of
the integral up to the crossing. Then the jumps at any time, J, and their integral, I, cost as much as one addition of vectors.
"""

from .. import codes
from ..compiler.intrinsics import address, call, compact
from ..compiler.jit import core
from ..compiler.vectors import clear
from ..evaluate import blame, copy_state, failed
from ..guards import QUICK
from ..state import LISTED

INTERVALS = 6  # between the stages of dopri5 and the middle
RUNNING = 4 * INTERVALS  # first row of the sums over crossings before some time
BLOCK = 64  # states that are looked at together, whether a contact acts on them
THIRD = 1.0 / 3.0


@core
def contacts(w, first, count, t, x, slot):
    """Evaluate g of ``count`` listed contacts at x into a slot of c.g, a row for each state and a column for each contact. True
    if g failed."""
    compact()
    s, scratch, fn, p, context = w.s, w.v.scratch, w.fn, address(w.p), w.spans.context
    g, guard, n = w.spans.g, w.spans.numbers.guard, w.v.width
    t = min(t, s.run.cap)
    base = slot * (g.size // 3)
    start = address(g) + 8 * base
    clear(g, base, n * count)
    if fn.g_many != 0:
        context[LISTED] = count
        if call(fn.g_many, t, (address(x), address(guard) + 8 * first, p, start), address(context)) == 0:
            return False
        blame(s, guard[first])
        return failed(w, codes.G_FAILED, t, x)
    for e in range(count):
        blame(s, guard[first + e])
        if count > 1:
            for i in range(n):
                scratch[i] = 0.0
        if call(fn.g, t, (address(x), s.run.culprit, p, address(scratch) if count > 1 else start), fn.context) != 0:
            return failed(w, codes.G_FAILED, t, x)
        for i in range(n if count > 1 else 0):
            g[base + i * count + e] = scratch[i]
    return False


@core(inline=True)
def chunk_size(w):
    """How many contacts are evaluated at once. With many states and without g_many one at a time: each may act on a few states
    only, and the others are then skipped."""
    n = w.v.width
    return w.spans.g.size // (3 * n) if w.fn.g_many != 0 or n < 32 else 1


@core
def nodes(w, first, count, length):
    """g of some listed contacts at the start, in the middle and at the end of the step (at x_nodes); True if g failed."""
    s, v = w.s, w.v
    return (
        contacts(w, first, count, s.now.t, v.x, 0)
        or contacts(w, first, count, s.now.t + 0.5 * length, v.x_nodes[0], 1)
        or contacts(w, first, count, s.now.t + length, v.x_nodes[1], 2)
    )


@core(fastmath=QUICK)
def weigh(tau, sign, weights):
    """Weights of g at the three nodes for its integral up to the crossing; the same for all states."""
    for e in range(tau.size):
        u, v = tau[e], sign[e] * tau[e]
        weights[0, e] = v * (1.0 + u * (2.0 * THIRD * u - 1.5))
        weights[1, e] = v * u * (2.0 - 4.0 * THIRD * u)
        weights[2, e] = v * u * (2.0 * THIRD * u - 0.5)


@core(fastmath=QUICK)
def sums_of(sign, weights, start, middle, end):
    """Of one state, over some crossings: the sums of g at the nodes, and of its integral up to the crossing."""
    s0, s1, s2 = 0.0, 0.0, 0.0
    u0, u1, u2 = 0.0, 0.0, 0.0  # (independent sums, which the processor can overlap)
    for e in range(start.size):
        s0 += sign[e] * start[e]
        s1 += sign[e] * middle[e]
        s2 += sign[e] * end[e]
        u0 += weights[0, e] * start[e]
        u1 += weights[1, e] * middle[e]
        u2 += weights[2, e] * end[e]
    return s0, s1, s2, u0 + u1 + u2


@core
def add_up(c, first, count, begin, end, row):
    """Add the sums over the crossings from ``begin`` to ``end`` to the four rows of their interval; c.g holds g of the ``count``
    crossings from ``first`` on."""
    compact()
    g, sums, weights = c.g, c.sums.every, c.crossings.weights
    sign, size, slot = c.crossings.sign[begin:end], end - begin, g.size // 3
    weigh(c.crossings.tau[begin:end], sign, weights)
    for i in range(sums.shape[1]):
        a = i * count + begin - first
        g0, gm, ge = g[a : a + size], g[slot + a : slot + a + size], g[2 * slot + a : 2 * slot + a + size]
        if all_zero(g0, gm, ge):
            continue  # not a state that these contacts act on
        s0, s1, s2, s3 = sums_of(sign, weights, g0, gm, ge)
        sums[row, i] += s0
        sums[row + 1, i] += 4.0 * s1 - 3.0 * s0 - s2
        sums[row + 2, i] += 2.0 * (s0 + s2) - 4.0 * s1
        sums[row + 3, i] += s3


@core(inline=True)
def add_share(sums, row, i, g0, gm, ge, u, sign):
    """Add the share of one crossing, at u, to the four sums of state i; g0, gm and ge are its g at the nodes."""
    g1, g2 = 4.0 * gm - 3.0 * g0 - ge, 2.0 * (g0 + ge) - 4.0 * gm
    sums[row, i] += sign * g0
    sums[row + 1, i] += sign * g1
    sums[row + 2, i] += sign * g2
    sums[row + 3, i] += sign * u * (g0 + u * (0.5 * g1 + u * THIRD * g2))


@core
def add_one(c, e, row):
    """The same for a single crossing, of which c.g holds g."""
    compact()
    g, sums = c.g, c.sums.every
    slot, u, sign = g.size // 3, c.crossings.tau[e], c.crossings.sign[e]
    for first in range(0, sums.shape[1], BLOCK):
        last = min(first + BLOCK, sums.shape[1])
        if all_zero(g[first:last], g[slot + first : slot + last], g[2 * slot + first : 2 * slot + last]):
            continue  # states that this contact does not act on
        for i in range(first, last):
            add_share(sums, row, i, g[i], g[slot + i], g[2 * slot + i], u, sign)


@core
def add_column(c, e, count, row):
    """The same, where c.g holds g of ``count`` crossings from the first on."""
    compact()
    g, sums = c.g, c.sums.every
    slot, u, sign = g.size // 3, c.crossings.tau[e], c.crossings.sign[e]
    for i in range(sums.shape[1]):
        place = i * count + e
        add_share(sums, row, i, g[place], g[slot + place], g[2 * slot + place], u, sign)


@core(fastmath=QUICK)
def all_zero(start, middle, end):
    if start[0] != 0.0:
        return False
    total = 0.0
    for e in range(start.size):
        total += abs(start[e]) + abs(middle[e]) + abs(end[e])
    return total == 0.0


@core
def sum_jumps(w, found, length):
    """From the list of crossings and the states x, x_middle, x_end: the sums up to each interval. True if g failed."""
    compact()
    v, c = w.v, w.spans
    before, sums, n, most = c.numbers.before, c.sums.every, v.width, chunk_size(w)
    copy_state(v.x_middle, v.x_nodes[0])
    copy_state(v.x_end, v.x_nodes[1])
    for row in range(RUNNING):
        for i in range(n):
            sums[row, i] = 0.0
    first = 0
    while first < found:
        count = min(most, found - first)
        if nodes(w, first, count, length):
            return True
        for q in range(INTERVALS):
            begin, end = max(first, before[q]), min(first + count, before[q + 1])
            if begin < end and most > 1:
                add_up(c, first, count, begin, end, 4 * q)
            elif begin < end:
                add_one(c, first, 4 * q)
        first += count
    for row in range(4, RUNNING):
        for i in range(n):
            sums[row, i] += sums[row - 4, i]
    return False


@core(inline=True)
def jump(sums, row, c, i):
    """J: what the crossings summed up in ``row`` and the next add to f at c."""
    return sums[row, i] + c * (sums[row + 1, i] + c * sums[row + 2, i])


@core(inline=True)
def integral(sums, row, c, i):
    """I: the integral of that, from each crossing to c."""
    return c * (sums[row, i] + c * (0.5 * sums[row + 1, i] + c * THIRD * sums[row + 2, i])) - sums[row + 3, i]


@core
def clear_running_sums(w):
    """Clear the running sums: no crossing of the ordered list has been passed."""
    running = w.spans.sums.running
    for row in range(4):
        for i in range(w.v.width):
            running[row, i] = 0.0


@core
def add_crossings_before(w, e, found, theta, length, known):
    """Add the crossings before theta, from the e-th on, to the running sums; returns how many are passed (-1: g failed).
    ``known``: c.g has g of all of them."""
    compact()
    c = w.spans
    while e < found and c.crossings.tau[e] < theta:
        if known:
            add_column(c, e, found, RUNNING)
        elif nodes(w, e, 1, length):
            return -1
        else:
            add_one(c, e, RUNNING)
        e += 1
    return e
