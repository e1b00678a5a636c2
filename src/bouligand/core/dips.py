"""Which guards may have been crossed and crossed back inside a step, both of whose ends are on the right side.

From a few values along the step (h and hdot at its ends, h in its middle) each guard is a cubic on each half of it. A guard is
suspect where such a cubic comes near zero, compared to how far the guard moves; or where so few values do not tell (it is
rough): what they say of the middle is far from h there, compared to the guard's distance or, at an end, to how fast it comes or
goes. Who is suspect is marked in g.suspect; `steps.search` then looks along the step itself.
"""

import math

from .compiler.jit import core
from .guards import NEVER, QUICK

ROUGH = 2.0  # in g.suspect, instead of a place
FEW = 2  # guards for which looking at each is faster than `any_turns` first
NEAR = 0.2  # of its distance at both ends: what a cubic says of a guard that comes nearer than this is not trusted


@core(inline=True)
def may_turn(y0, y1, y2, v0, v1, v2):
    """Whether the cubic on one of the halves of a step has a minimum inside: without branches, and rather too often."""
    first, second = 3.0 * (y1 - y0), 3.0 * (y2 - y1)
    falls, level, rises = v0 <= 0.0, v1 <= 0.0, v2 > 0.0
    # it falls and rises again; or both slopes have one sign, but what it does in between is too little or too much for them
    one = (falls & ((v1 > 0.0) | (v0 + v1 < first))) | ((v0 > 0.0) & (v1 > 0.0) & (v0 + v1 > first))
    other = (level & (rises | (v1 + v2 < second))) | ((v1 > 0.0) & rises & (v1 + v2 > second))
    return one | other


@core(inline=True)
def widened(v0, v2, bias):
    """The slopes at both ends, v0 as low and v2 as high as one-sided differences leave them open.

    ``bias`` is the part of their change that the differences may be off. Without it a guard that turns round very near to an end
    of the step would not be seen.
    """
    off = bias * (v2 - v0)
    return v0 - (off if off > 0.0 else 0.0), v2 - (off if off < 0.0 else 0.0)


@core(inline=True)
def doubtful(y0, y1, y2, v0, v2, off, winding):
    """Whether so few values do not tell: what they say of the middle is ``off``, compared to the guard's distance.

    At an end that is its distance or how fast it comes or goes, whichever is larger. In a step along which x is ``winding`` (1,
    else 0), all that is not far, compared to how it moves, is in doubt.
    """
    reach = off + winding * (0.3 * (abs(v0) + abs(v2) + abs(y1 - y0) + abs(y2 - y1)))
    return ((y0 < reach) & (v0 < reach)) | (y1 < reach) | ((y2 < reach) & (-v2 < reach))


@core(fastmath=QUICK)
def any_turns(g, length, bias, winding):
    """How many guards `mark_dips` must look at: wrong in the middle, rough, or turning round inside the step."""
    count = 0.0
    for k in range(g.width):
        b, level = g.watched[k], g.level[k]
        y0 = b * g.h[k] - level
        y1 = b * g.h_middle[k] - level
        y2 = b * g.h_end[k] - level
        v0 = 0.5 * length * b * g.hdot[k]
        v2 = 0.5 * length * b * g.hdot_end[k]
        v0, v2 = widened(v0, v2, bias)
        v1 = slope_in_middle(y0, y2, v0, v2)
        rough = doubtful(y0, y1, y2, v0, v2, off_cubic(y0, y1, y2, v0, v2), winding)
        turns = may_turn(y0, y1, y2, v0, v1, v2)
        count += 1.0 if (b != 0.0) & ((y1 < 0.0) | rough | turns) else 0.0
    return count


@core
def mark_dips(g, length, bias, winding):
    """After a step with h and hdot at both ends and h in the middle: whether a guard is on the wrong side in the middle; how
    many turn round, their lowest values in g.lowest; and how many are rough."""
    turning, rough = 0, 0
    if g.width > FEW and any_turns(g, length, bias, winding) == 0.0:
        return False, turning, rough
    for k in range(g.width):
        b = g.watched[k]
        g.suspect[k] = 0.0
        if b == 0.0:
            continue
        y0 = b * g.h[k] - g.level[k]
        y1 = b * g.h_middle[k] - g.level[k]
        y2 = b * g.h_end[k] - g.level[k]
        v0 = 0.5 * length * b * g.hdot[k]
        v2 = 0.5 * length * b * g.hdot_end[k]
        v0, v2 = widened(v0, v2, bias)
        held = g.held[k] != 0.0
        if y1 < 0.0 and (not held or y1 < y0):
            return True, turning, rough
        if held and v0 <= 0.0:
            continue  # it sits on its guard, or leaves it: for the judge
        if doubtful(y0, y1, y2, v0, v2, off_cubic(y0, y1, y2, v0, v2), winding):
            g.suspect[k] = ROUGH
            rough += 1
        else:
            g.suspect[k], g.lowest[k], _, _ = lowest_of_halves(y0, y1, y2, v0, v2)
            turning += 1 if g.suspect[k] > 0.0 else 0
    return False, turning, rough


@core(inline=True)
def off_cubic(y0, y1, y2, v0, v2):
    """Ten times what the cubic through both ends is off in the middle."""
    return 10.0 * abs(0.5 * (y0 + y2) + 0.25 * (v0 - v2) - y1)


@core(inline=True)
def slope_in_middle(y0, y2, v0, v2):
    """The slope (per half) in the middle of a step, of the cubic through h and hdot at both ends."""
    return 0.75 * (y2 - y0) - 0.25 * (v0 + v2)


@core
def lowest_of_halves(y0, y1, y2, v0, v2):
    """Place (0 to 1) and value of the lowest minimum inside the step, from a cubic on each half (slopes per half); 0: none.

    Also two places around it, between which there is no other.
    """
    where, lowest, left, right = 0.0, NEVER, 0.0, 1.0
    v1 = slope_in_middle(y0, y2, v0, v2)
    if not may_turn(y0, y1, y2, v0, v1, v2):
        return where, lowest, left, right
    for half in range(2):
        ya, yb, va, vb = (y0, y1, v0, v1) if half == 0 else (y1, y2, v1, v2)
        bottom, top = cubic_extremes(ya, yb, va, vb)
        if bottom >= 0.0 and bottom < 1.0:  # (zero: it turns exactly where the step begins)
            value = cubic(ya, yb, va, vb, bottom)
            if value < lowest:
                where, lowest = max(0.5 * (half + bottom), 1e-9), value
                left, right = (0.0, 0.6) if half == 0 else (0.4, 1.0)
                if top > 0.0 and top < 1.0:
                    left, right = (0.5 * (half + top), right) if top < bottom else (left, 0.5 * (half + top))
    return where, lowest, left, right


@core(inline=True)
def cubic_extremes(y0, y1, v0, v1):
    """Places of the minimum and the maximum of the cubic with these values and slopes at 0 and 1; NEVER where there are none."""
    a3 = 2.0 * (y0 - y1) + v0 + v1
    a2 = 3.0 * (y1 - y0) - 2.0 * v0 - v1
    inside = a2 * a2 - 3.0 * a3 * v0
    if not inside > 0.0:
        return NEVER, NEVER
    root = math.sqrt(inside)
    large = a2 + root if a2 >= 0.0 else a2 - root
    near, far = -v0 / large, -large / (3.0 * a3) if a3 != 0.0 else NEVER
    return (near, far) if a2 >= 0.0 else (far, near)


@core(inline=True)
def cubic(y0, y1, v0, v1, place):
    """The cubic with these values and slopes at 0 and 1."""
    a3 = 2.0 * (y0 - y1) + v0 + v1
    a2 = 3.0 * (y1 - y0) - 2.0 * v0 - v1
    return y0 + place * (v0 + place * (a2 + place * a3))


@core(inline=True)
def slope_at_end(y0, y1, y2, v0):
    """The slope (per half) at the end of a step, of the cubic through h at both ends and in the middle and hdot at the start."""
    first, both = y1 - y0 - v0, y2 - y0 - 2.0 * v0
    return v0 + 2.0 * both - 4.0 * first


@core(fastmath=QUICK)
def any_on_the_way(g, length, winding):
    """After a landing, with h halfway in g.h_middle: how many guards are on the wrong side there; and how many turn round or
    are rough."""
    wrong, others = 0.0, 0.0
    for k in range(g.width):
        b, level = g.watched[k], g.level[k]
        y0 = b * g.h[k] - level
        y1 = b * g.h_middle[k] - level
        y2 = b * g.h_end[k] - level
        v0 = 0.5 * length * b * g.hdot[k]
        v2 = slope_at_end(y0, y1, y2, v0)
        v1 = slope_in_middle(y0, y2, v0, v2)
        counts = b != 0.0
        free = g.held[k] == 0.0
        wrong += 1.0 if counts & (y1 < 0.0) & (free | (y1 < y0)) else 0.0
        rough = doubtful(y0, y1, y2, v0, v2, abs(3.0 * y0 + 2.0 * v0 + y2 - 4.0 * y1), winding)
        turns = may_turn(y0, y1, y2, v0, v1, v2)
        others += 1.0 if counts & free & (rough | turns) else 0.0
    return wrong, others


@core
def mark_on_the_way(g, length, target, winding):
    """Mark the guards that may have been crossed on the way to a landing on ``target``: how many, and how many of them are rough.

    (A guard is rough where a parabola differs from h halfway by more than a quarter of its distance.)
    """
    turning, rough = 0, 0
    for k in range(g.width):
        b = g.watched[k]
        g.suspect[k] = 0.0
        if b == 0.0 or g.held[k] != 0.0:
            continue
        y0 = b * g.h[k] - g.level[k]
        y1 = b * g.h_middle[k] - g.level[k]
        y2 = b * g.h_end[k] - g.level[k]
        v0 = 0.5 * length * b * g.hdot[k]
        v2 = slope_at_end(y0, y1, y2, v0)
        if doubtful(y0, y1, y2, v0, v2, abs(3.0 * y0 + 2.0 * v0 + y2 - 4.0 * y1), winding):
            g.suspect[k] = ROUGH
            rough += 1
        elif y2 > 0.0 or k == target:
            where, g.lowest[k], _, _ = lowest_of_halves(y0, y1, y2, v0, v2)
            g.suspect[k] = where if g.lowest[k] <= NEAR * (y0 if k == target else min(y0, y2)) else 0.0
            turning += 1 if g.suspect[k] > 0.0 else 0
    return turning, rough


@core
def mark_observers(g, length, bias, winding):
    """Mark the observers that are or may have been crossed in a step: how many, and how many of them are rough."""
    some, rough = 0, 0
    for k in range(g.width):
        g.suspect[k] = 0.0
        if g.observer[k] == 0.0:
            continue
        b = g.b[k]
        y0, y1, y2 = b * g.h[k], b * g.h_middle[k], b * g.h_end[k]
        v0, v2 = widened(0.5 * length * b * g.hdot[k], 0.5 * length * b * g.hdot_end[k], bias)
        crossed = y1 < 0.0 or y2 < 0.0
        moves = max(abs(y1 - y0), abs(y2 - y1))
        off = off_cubic(y0, y1, y2, v0, v2)
        if winding > 0.0 or off > moves if crossed else doubtful(y0, y1, y2, v0, v2, off, winding):
            g.suspect[k] = ROUGH
            rough += 1
        elif crossed:
            g.suspect[k] = 1.0
        else:
            where, lowest, _, _ = lowest_of_halves(y0, y1, y2, v0, v2)
            g.suspect[k] = where if lowest <= NEAR * min(y0, y2) else 0.0
        some += 1 if g.suspect[k] > 0.0 else 0
    return some, rough
