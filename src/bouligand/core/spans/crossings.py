"""The crossings inside a spanning step: which guards, when, and in which order.

Each guard is a parabola through h at the start, the middle and the end of the step. One root inside is a crossing, two are a
touch and a release. A fourth value of h, at 0.8, makes the parabola a cubic: the distance by which that moves a root improves
its time, and measures its uncertainty.
"""

import math

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..guards import QUICK

ODD = -1  # instead of a number of crossings: a guard that was just crossed turns back, which hops must look at
MOST_SHIFT = 0.1  # of a root by the cubic
BLOCK = 128  # guards examined together: a block without a crossing is skipped
CROSSED, OTHER = 1.0, 2.0
_E0, _E1, _E2, _E3, _E4 = 0.2, 0.3, 0.5, 0.8, 8.0 / 9.0  # the stages of dopri5, and the middle: ends of the intervals
_FOURTH = 0.8 * (0.8 - 0.5) * (0.8 - 1.0)  # of the cubic that vanishes at the three nodes


@core(fastmath=QUICK)
def suspicious(word, start, middle, end, kind):
    """Classify a block of guards, into ``kind``: CROSSED for those that end on the other side, OTHER for others that are on the
    wrong side at a node, or whose parabola dips through zero, else 0. Returns the numbers of both, and a sum that is not
    finite if some h is not."""
    crossed, others, total = 0.0, 0.0, 0.0
    for k in range(kind.size):
        b = word[k]
        a0, am, a1 = b * start[k], b * middle[k], b * end[k]
        total += am + a1
        fall = 4.0 * am - 3.0 * a0 - a1
        bend = 2.0 * (a0 + a1) - 4.0 * am
        dips = (fall < 0.0) & (fall + 2.0 * bend > 0.0) & (4.0 * a0 * bend < fall * fall)
        plain = (a0 > 0.0) & (a1 <= 0.0)
        odd = (a0 <= 0.0) | (((am <= 0.0) | dips) & (a1 > 0.0))
        one = CROSSED if plain else 0.0
        other = OTHER if odd else 0.0
        kind[k] = one + other
        crossed += one
        others += other
    return crossed, others, total


@core
def list_crossings(w, improved):
    """List the crossings of all guards, in no order. Returns how many (or ODD), and whether all h are finite.

    With ``improved``, g.h_trial is h at 0.8, and ``shift`` is how much the cubic moved each time.
    """
    compact()
    g, c, numbers = w.g, w.spans.crossings, w.spans.numbers
    m, found, odd = g.width, 0, 0
    for a in range(0, m, BLOCK):
        e = min(a + BLOCK, m)
        kind = c.former[: e - a]
        crossed, others, total = suspicious(g.b[a:e], g.h[a:e], g.h_middle[a:e], g.h_end[a:e], kind)
        if not abs(total) < math.inf:
            return 0, False
        if crossed > 0.0:
            found = pick(numbers.guard, found, kind, CROSSED, a)
        if others > 0.0:
            odd = pick(numbers.guard_scratch, odd, kind, OTHER, a)
    if found > 0:
        found, odd = coefficients(w, improved, found, odd)
        single_roots(
            c.tau_scratch[:found],
            c.sign_scratch[:found],
            c.shift_scratch[:found],
            c.cubic[:found],
            c.tau,
            c.shift,
        )
    if odd > 0:
        found = other_roots(w, improved, found, odd)
    return found, True


@core
def pick(row, count, kind, wanted, first):
    """Append the numbers of the guards of a kind in a block to the ``count`` that are in the row; returns the new count."""
    compact()
    for k in range(kind.size):
        row[count] = first + k
        count += 1 if kind[k] == wanted else 0
    return count


@core
def coefficients(w, improved, found, odd):
    """Into the scratch rows: the coefficients a0, fall, bend and the cubic's of the guards that end on the other side.

    Guards that are held are put with the other suspicious ones. Returns the numbers of both.
    """
    compact()
    g, c, numbers = w.g, w.spans.crossings, w.spans.numbers
    weight = 1.0 / _FOURTH if improved else 0.0
    to = 0
    for e in range(found):
        k = numbers.guard[e]
        if g.held[k] != 0.0:
            numbers.guard_scratch[odd] = k
            odd += 1
            continue
        b = g.b[k]
        a0, am, a1 = b * g.h[k], b * g.h_middle[k], b * g.h_end[k]
        fall = 4.0 * am - 3.0 * a0 - a1
        bend = 2.0 * (a0 + a1) - 4.0 * am
        numbers.guard[to] = k
        c.tau_scratch[to], c.sign_scratch[to], c.shift_scratch[to] = a0, fall, bend
        c.cubic[to] = weight * (b * g.h_trial[k] - a0 - 0.8 * fall - 0.64 * bend)
        c.sign[to] = -b
        to += 1
    return to, odd


@core(fastmath=QUICK)
def single_roots(start, fall, bend, cubic, tau, shift):
    """The one root of each of many parabolas that end below zero, moved to the cubic's."""
    for e in range(start.size):
        inside = math.sqrt(max(fall[e] * fall[e] - 4.0 * start[e] * bend[e], 0.0))
        root = min(2.0 * start[e] / (inside - fall[e]), 1.0)
        move = cubic[e] * root * (root - 0.5) * (root - 1.0) / max(inside, 1e-300)
        move = min(max(move, -MOST_SHIFT), MOST_SHIFT)
        shift[e] = move
        tau[e] = min(max(root + move, 0.0), 1.0)


@core
def other_roots(w, improved, found, odd):
    """The crossings of all other suspicious guards: a touch and a release, or a guard that is held at the start. Returns the
    number of all crossings, or ODD."""
    compact()
    g, c, numbers = w.g, w.spans.crossings, w.spans.numbers
    for q in range(odd):
        k = numbers.guard_scratch[q]
        b, held = g.b[k], g.held[k] != 0.0
        a0, am, a1 = b * g.h[k], b * g.h_middle[k], b * g.h_end[k]
        if held:
            a0 = 0.0
        fall = 4.0 * am - 3.0 * a0 - a1
        bend = 2.0 * (a0 + a1) - 4.0 * am
        first, second = -1.0, -1.0
        if a1 <= 0.0:
            # it leaves its guard and comes back; or it has not left it at all
            if fall <= 0.0 and held:
                return ODD
            first = min(-fall / bend, 1.0) if fall > 0.0 else 0.0
        elif a0 > 0.0:
            inside = fall * fall - 4.0 * a0 * bend
            if am <= 0.0 or (fall < 0.0 and fall + 2.0 * bend > 0.0 and inside > 0.0):
                inside = math.sqrt(max(inside, 0.0))
                first = 2.0 * a0 / (inside - fall)
                second = min((inside - fall) / (2.0 * bend), 1.0)
        elif held and am < 0.0:
            return ODD
        cubic = (b * g.h_trial[k] - a0 - 0.8 * fall - 0.64 * bend) / _FOURTH if improved else 0.0
        while first >= 0.0:
            slope = fall + 2.0 * bend * first
            move = -cubic * first * (first - 0.5) * (first - 1.0) / slope if slope != 0.0 else 0.0
            move = min(max(move, -MOST_SHIFT), MOST_SHIFT)
            c.shift[found] = move
            c.tau[found] = min(max(first + move, 0.0), 1.0)
            numbers.guard[found] = k
            c.sign[found] = -b
            found += 1
            first, second, b = second, -1.0, -b
    return found


@core(fastmath=QUICK)
def intervals(tau, interval):
    """The interval of each crossing; how many are before the end of each but the last."""
    c0, c1, c2, c3, c4 = 0.0, 0.0, 0.0, 0.0, 0.0
    for e in range(tau.size):
        b0 = 1.0 if tau[e] > _E0 else 0.0
        b1 = 1.0 if tau[e] > _E1 else 0.0
        b2 = 1.0 if tau[e] > _E2 else 0.0
        b3 = 1.0 if tau[e] > _E3 else 0.0
        b4 = 1.0 if tau[e] > _E4 else 0.0
        interval[e] = b0 + b1 + b2 + b3 + b4
        c0 += b0
        c1 += b1
        c2 += b2
        c3 += b3
        c4 += b4
    all_of_them = tau.size
    return all_of_them - c0, all_of_them - c1, all_of_them - c2, all_of_them - c3, all_of_them - c4


@core
def into_intervals(w, found):
    """Order the crossings by the intervals between the stages, by counting; ``before``: how many are before the end of each."""
    compact()
    c, numbers = w.spans.crossings, w.spans.numbers
    counts = intervals(c.tau[:found], c.cubic[:found])
    numbers.before[0], numbers.before[6] = 0, found
    for q in range(5):
        numbers.before[q + 1] = int(counts[q])
    for q in range(6):
        numbers.place[q] = numbers.before[q]
    for e in range(found):
        numbers.guard_scratch[e], c.tau_scratch[e], c.sign_scratch[e] = (
            numbers.guard[e],
            c.tau[e],
            c.sign[e],
        )
    for e in range(found):
        q = int(c.cubic[e])
        to = numbers.place[q]
        numbers.place[q] = to + 1
        numbers.guard[to] = numbers.guard_scratch[e]
        c.tau[to] = c.tau_scratch[e]
        c.sign[to] = c.sign_scratch[e]


@core
def in_order(w, found):
    """Sort the crossings by time: natural merging of runs, so that the ordered lists of a plate cost one pass."""
    compact()
    c, numbers = w.spans.crossings, w.spans.numbers
    if found < 2:
        return
    a = 0
    while a < found:
        # a falling run is reversed
        b = a + 1
        while b < found and c.tau[b] < c.tau[b - 1]:
            b += 1
        low, high = a, b - 1
        while low < high:
            numbers.guard[low], numbers.guard[high] = numbers.guard[high], numbers.guard[low]
            c.tau[low], c.tau[high] = c.tau[high], c.tau[low]
            c.sign[low], c.sign[high] = c.sign[high], c.sign[low]
            low += 1
            high -= 1
        a = b
    here = True  # where the list is: in its own rows, or in the scratch rows
    while True:
        guard, to_guard = (numbers.guard, numbers.guard_scratch) if here else (numbers.guard_scratch, numbers.guard)
        tau, to_tau = (c.tau, c.tau_scratch) if here else (c.tau_scratch, c.tau)
        sign, to_sign = (c.sign, c.sign_scratch) if here else (c.sign_scratch, c.sign)
        a, runs = 0, 0
        while a < found:
            middle = a + 1
            while middle < found and tau[middle] >= tau[middle - 1]:
                middle += 1
            end = min(middle + 1, found)
            while end < found and tau[end] >= tau[end - 1]:
                end += 1
            if middle == found and runs == 0:
                break  # all one run
            left, right = a, middle
            for to in range(a, end):
                take = left if left < middle and (right >= end or tau[left] <= tau[right]) else right
                if take == left and left < middle:
                    left += 1
                else:
                    right += 1
                to_guard[to] = guard[take]
                to_tau[to] = tau[take]
                to_sign[to] = sign[take]
            a = end
            runs += 1
        if runs == 0:
            break
        here = not here
    if not here:
        for e in range(found):
            numbers.guard[e], c.tau[e], c.sign[e] = (
                numbers.guard_scratch[e],
                c.tau_scratch[e],
                c.sign_scratch[e],
            )
