"""The crossings inside a spanning step: which guards, when, and in which order.

Each guard is a parabola through h at the start, the middle and the end of the step. One root inside is a crossing, two are a
touch and a release. A fourth value of h, at 0.8, makes the parabola a cubic: what that moves a root by is the improvement
of its time, and the doubt about it.
"""

import math

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..guards import QUICK
from ..state import (
    COUNT,
    CUBIC,
    FORMER,
    HELD,
    HM,
    HN,
    HP,
    HX,
    PLACE,
    SHIFT,
    SHIFT2,
    SIGN,
    SIGN2,
    TAU,
    TAU2,
    WHO,
    WHO2,
    B,
)

ODD = -1  # instead of a number of crossings: a guard that was just crossed turns back, which hops must look at
MOST_SHIFT = 0.1  # of a root by the cubic
BLOCK = 128  # guards looked at together: where none of them is crossed, nothing more is done about them
CROSSED, OTHER = 1.0, 2.0
_E0, _E1, _E2, _E3, _E4 = 0.2, 0.3, 0.5, 0.8, 8.0 / 9.0  # the stages of dopri5, and the middle: ends of the intervals
_FOURTH = 0.8 * (0.8 - 0.5) * (0.8 - 1.0)  # of the cubic that vanishes at the three nodes


@core(fastmath=QUICK)
def suspicious(word, start, middle, end, kind):
    """Of a block of guards, into ``kind``: CROSSED for those that end on the other side, OTHER for those that are on the wrong
    side at a node otherwise, or whose parabola dips through zero, else 0. Returns the numbers of both, and a sum that is not
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
def list_crossings(H, N, Z, improved):
    """List the crossings of all guards, in no order. Returns how many (or ODD), and whether all h are finite.

    With ``improved``, H[HP] is h at 0.8, and SHIFT is left as what the cubic moved each time by.
    """
    compact()
    m, found, odd = H.shape[1], 0, 0
    for a in range(0, m, BLOCK):
        e = min(a + BLOCK, m)
        kind = Z[FORMER, : e - a]
        crossed, others, total = suspicious(H[B, a:e], H[HX, a:e], H[HM, a:e], H[HN, a:e], kind)
        if not abs(total) < math.inf:
            return 0, False
        if crossed > 0.0:
            found = pick(N, WHO, found, kind, CROSSED, a)
        if others > 0.0:
            odd = pick(N, WHO2, odd, kind, OTHER, a)
    if found > 0:
        found, odd = coefficients(H, N, Z, improved, found, odd)
        single_roots(Z[TAU2, :found], Z[SIGN2, :found], Z[SHIFT2, :found], Z[CUBIC, :found], Z[TAU], Z[SHIFT])
    if odd > 0:
        found = other_roots(H, N, Z, improved, found, odd)
    return found, True


@core
def pick(N, row, count, kind, wanted, first):
    """Put the numbers of the guards of a kind in a block behind the ``count`` that are there; returns how many are there then."""
    compact()
    for k in range(kind.size):
        N[row, count] = first + k
        count += 1 if kind[k] == wanted else 0
    return count


@core
def coefficients(H, N, Z, improved, found, odd):
    """Of the guards that end on the other side, the coefficients a0, fall, bend and the cubic's, in the scratch rows.

    Those that the trajectory sits on are put with the others. Returns how many of both there are.
    """
    compact()
    weight = 1.0 / _FOURTH if improved else 0.0
    to = 0
    for e in range(found):
        k = N[WHO, e]
        if H[HELD, k] != 0.0:
            N[WHO2, odd] = k
            odd += 1
            continue
        b = H[B, k]
        a0, am, a1 = b * H[HX, k], b * H[HM, k], b * H[HN, k]
        fall = 4.0 * am - 3.0 * a0 - a1
        bend = 2.0 * (a0 + a1) - 4.0 * am
        N[WHO, to] = k
        Z[TAU2, to], Z[SIGN2, to], Z[SHIFT2, to] = a0, fall, bend
        Z[CUBIC, to] = weight * (b * H[HP, k] - a0 - 0.8 * fall - 0.64 * bend)
        Z[SIGN, to] = -b
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
def other_roots(H, N, Z, improved, found, odd):
    """The crossings of all other suspicious guards: a touch and a release; one that starts on its guard. Returns the number
    of all crossings, or ODD."""
    compact()
    for q in range(odd):
        k = N[WHO2, q]
        b, held = H[B, k], H[HELD, k] != 0.0
        a0, am, a1 = b * H[HX, k], b * H[HM, k], b * H[HN, k]
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
        cubic = (b * H[HP, k] - a0 - 0.8 * fall - 0.64 * bend) / _FOURTH if improved else 0.0
        while first >= 0.0:
            slope = fall + 2.0 * bend * first
            move = -cubic * first * (first - 0.5) * (first - 1.0) / slope if slope != 0.0 else 0.0
            move = min(max(move, -MOST_SHIFT), MOST_SHIFT)
            Z[SHIFT, found] = move
            Z[TAU, found] = min(max(first + move, 0.0), 1.0)
            N[WHO, found] = k
            Z[SIGN, found] = -b
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
def into_intervals(N, Z, found):
    """Order the crossings by the intervals between the stages, by counting; COUNT tells how many are before the end of each."""
    compact()
    counts = intervals(Z[TAU, :found], Z[CUBIC, :found])
    N[COUNT, 0], N[COUNT, 6] = 0, found
    for q in range(5):
        N[COUNT, q + 1] = int(counts[q])
    for q in range(6):
        N[PLACE, q] = N[COUNT, q]
    for e in range(found):
        N[WHO2, e], Z[TAU2, e], Z[SIGN2, e] = N[WHO, e], Z[TAU, e], Z[SIGN, e]
    for e in range(found):
        q = int(Z[CUBIC, e])
        to = N[PLACE, q]
        N[PLACE, q] = to + 1
        N[WHO, to] = N[WHO2, e]
        Z[TAU, to] = Z[TAU2, e]
        Z[SIGN, to] = Z[SIGN2, e]


@core
def in_order(N, Z, found):
    """Sort the crossings by time: natural merging of runs, so that the ordered lists of a plate cost one pass."""
    compact()
    if found < 2:
        return
    a = 0
    while a < found:
        # a falling run is turned round
        b = a + 1
        while b < found and Z[TAU, b] < Z[TAU, b - 1]:
            b += 1
        low, high = a, b - 1
        while low < high:
            N[WHO, low], N[WHO, high] = N[WHO, high], N[WHO, low]
            Z[TAU, low], Z[TAU, high] = Z[TAU, high], Z[TAU, low]
            Z[SIGN, low], Z[SIGN, high] = Z[SIGN, high], Z[SIGN, low]
            low += 1
            high -= 1
        a = b
    here = True  # where the list is: in its own rows, or in the scratch rows
    while True:
        who, tau, sign = (WHO, TAU, SIGN) if here else (WHO2, TAU2, SIGN2)
        to_who, to_tau, to_sign = (WHO2, TAU2, SIGN2) if here else (WHO, TAU, SIGN)
        a, runs = 0, 0
        while a < found:
            middle = a + 1
            while middle < found and Z[tau, middle] >= Z[tau, middle - 1]:
                middle += 1
            end = min(middle + 1, found)
            while end < found and Z[tau, end] >= Z[tau, end - 1]:
                end += 1
            if middle == found and runs == 0:
                break  # all one run
            left, right = a, middle
            for to in range(a, end):
                take = left if left < middle and (right >= end or Z[tau, left] <= Z[tau, right]) else right
                if take == left and left < middle:
                    left += 1
                else:
                    right += 1
                N[to_who, to] = N[who, take]
                Z[to_tau, to] = Z[tau, take]
                Z[to_sign, to] = Z[sign, take]
            a = end
            runs += 1
        if runs == 0:
            break
        here = not here
    if not here:
        for e in range(found):
            N[WHO, e], Z[TAU, e], Z[SIGN, e] = N[WHO2, e], Z[TAU2, e], Z[SIGN2, e]
