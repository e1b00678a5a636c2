"""The crossings inside a spanning step: which guards, when, and in which order.

Each guard is a parabola through h at the start, the middle and the end of the step. One root inside is a crossing, two are a
touch and a release. A fourth value of h, at 0.8, makes the parabola a cubic: what that moves a root by is the improvement
of its time, and the doubt about it.
"""

import math

from .guards import QUICK
from .intrinsics import compact
from .jit import core
from .layout import COUNT, CUBIC, HD, HELD, HM, HN, HP, HX, PLACE, SHIFT, SHIFT2, SIGN, SIGN2, TAU, TAU2, WHO, WHO2, B

ODD = -1  # instead of a number of crossings: a guard that was just crossed turns back, which hops must look at
MOST_SHIFT = 0.1  # of a root by the cubic
_E0, _E1, _E2, _E3, _E4 = 0.2, 0.3, 0.5, 0.8, 8.0 / 9.0  # the stages of dopri5, and the middle: ends of the intervals
_FOURTH = 0.8 * (0.8 - 0.5) * (0.8 - 1.0)  # of the cubic that vanishes at the three nodes


@core(fastmath=QUICK)
def suspicious(H):
    """Into HD: 1 for guards that are on the wrong side at a node, or whose parabola dips through zero. Returns their
    number, and a sum that is not finite if some h is not."""
    count, total = 0.0, 0.0
    for k in range(H.shape[1]):
        b = H[B, k]
        a0, am, a1 = b * H[HX, k], b * H[HM, k], b * H[HN, k]
        total += am + a1
        fall = 4.0 * am - 3.0 * a0 - a1
        bend = 2.0 * (a0 + a1) - 4.0 * am
        dips = (fall < 0.0) & (fall + 2.0 * bend > 0.0) & (4.0 * a0 * bend < fall * fall)
        found = 1.0 if (a0 <= 0.0) | (am <= 0.0) | (a1 <= 0.0) | dips else 0.0
        H[HD, k] = found
        count += found
    return count, total


@core
def list_crossings(H, N, Z, improved):
    """List the crossings of all guards, by the intervals between the stages but in no order inside them.

    Returns how many (or ODD), and whether all h are finite. With ``improved``, H[HP] is h at 0.8, and SHIFT is left as what
    the cubic moved each time by.
    """
    compact()
    count, total = suspicious(H)
    if not abs(total) < math.inf:
        return 0, False
    found, others = 0, 0
    if count > 0.0:
        found, others = collect(H, N, Z, improved)
        single_roots(Z[TAU, :found], Z[SIGN, :found], Z[SHIFT, :found], Z[CUBIC, :found], Z[TAU2], Z[SHIFT2])
    if others > 0:
        found = other_roots(H, N, Z, improved, found)
    if found != ODD:
        into_intervals(N, Z, found)
    return found, True


@core
def collect(H, N, Z, improved):
    """Of the guards that end on the other side, the coefficients a0, fall, bend and the cubic's, in the rows TAU, SIGN, SHIFT
    and CUBIC. Returns how many there are, and how many other suspicious guards."""
    compact()
    found, others = 0, 0
    weight = 1.0 / _FOURTH if improved else 0.0
    for k in range(H.shape[1]):
        if H[HD, k] == 0.0:
            continue
        b = H[B, k]
        a0, am, a1 = b * H[HX, k], b * H[HM, k], b * H[HN, k]
        if a1 > 0.0 or a0 <= 0.0 or H[HELD, k] != 0.0:
            others += 1
            continue
        fall = 4.0 * am - 3.0 * a0 - a1
        bend = 2.0 * (a0 + a1) - 4.0 * am
        Z[TAU, found], Z[SIGN, found], Z[SHIFT, found] = a0, fall, bend
        Z[CUBIC, found] = weight * (b * H[HP, k] - a0 - 0.8 * fall - 0.64 * bend)
        N[WHO2, found] = k
        Z[SIGN2, found] = -b
        found += 1
    return found, others


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
def other_roots(H, N, Z, improved, found):
    """The crossings of all other suspicious guards: a touch and a release; one that starts on its guard. Returns the number
    of all crossings, or ODD."""
    compact()
    for k in range(H.shape[1]):
        if H[HD, k] == 0.0:
            continue
        b, held = H[B, k], H[HELD, k] != 0.0
        a0, am, a1 = b * H[HX, k], b * H[HM, k], b * H[HN, k]
        if a1 <= 0.0 and a0 > 0.0 and not held:
            continue
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
            Z[SHIFT2, found] = move
            Z[TAU2, found] = min(max(first + move, 0.0), 1.0)
            N[WHO2, found] = k
            Z[SIGN2, found] = -b
            found += 1
            first, second, b = second, -1.0, -b
    return found


@core
def into_intervals(N, Z, found):
    """Put the crossings (from the scratch rows) into the intervals between the stages, by counting; COUNT tells how many are
    before the end of each."""
    compact()
    c0, c1, c2, c3, c4 = 0, 0, 0, 0, 0
    for e in range(found):
        tau = Z[TAU2, e]
        c0 += tau <= _E0
        c1 += tau <= _E1
        c2 += tau <= _E2
        c3 += tau <= _E3
        c4 += tau <= _E4
    N[COUNT, 0], N[COUNT, 1], N[COUNT, 2], N[COUNT, 3] = 0, c0, c1, c2
    N[COUNT, 4], N[COUNT, 5], N[COUNT, 6] = c3, c4, found
    for q in range(6):
        N[PLACE, q] = N[COUNT, q]
    for e in range(found):
        tau = Z[TAU2, e]
        q = int(tau > _E0) + int(tau > _E1) + int(tau > _E2) + int(tau > _E3) + int(tau > _E4)
        to = N[PLACE, q]
        N[PLACE, q] = to + 1
        N[WHO, to] = N[WHO2, e]
        Z[TAU, to] = tau
        Z[SIGN, to] = Z[SIGN2, e]
        Z[SHIFT, to] = Z[SHIFT2, e]


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
