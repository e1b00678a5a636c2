"""Along a step, on its own extension: the lowest value of a guard, and crossings that the ends of the step do not show.

Asked for where a few values leave doubt (see `dips`); only h is evaluated. The extension is prepared by the caller.
"""

from .. import codes
from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.vectors import copy
from ..dips import NEAR, ROUGH, lowest_of_halves, widened
from ..evaluate import eval_h, nudge
from ..guards import NEVER, bias_of_rates
from ..restart import answered, forget_middle, post
from .dense import interpolate, prepare

PLACES = 16  # at which a rough guard is looked at
SOONEST = 1e-9  # the first place that is not the start
FAILED = -1.0  # instead of a place: a function failed


@core
def h_inside(w, place, length, whole, out):
    """out = h at a place (0 to 1) of the step that was taken; True if it failed."""
    s, v = w.s, w.v
    interpolate(v, s.step.kind, place, length, whole, v.x_trial)
    return eval_h(w, s.now.t + place * whole, v.x_trial, out)


@core
def lowest_inside(w, k, side, ends, guess, length, whole):
    """Where, between two places, guard k comes nearest to its surface or crosses it, and its distance there (negative: beyond).

    ``ends`` are the places and the distances there, ``side`` is the side it is on. Parabolas through three places, until one
    is on the other side or the last parabola says that none will be.
    """
    compact()
    g = w.g
    a, c, ya, yc = ends
    best, lowest = (a, ya) if ya < yc else (c, yc)
    m, ym, place = guess, 0.0, guess
    for turn in range(40):
        if h_inside(w, place, length, whole, g.h_trial):
            return FAILED, 0.0
        y = side * g.h_trial[k] - g.level[k]
        if y < lowest:
            best, lowest = place, y
        if y < 0.0:
            break
        # --- three places, a < m < c
        if place == m:
            ym = y
        elif y <= ym:
            a, ya, c, yc = (a, ya, m, ym) if place < m else (m, ym, c, yc)
            m, ym = place, y
        else:
            a, ya, c, yc = (place, y, c, yc) if place < m else (a, ya, place, y)
        if c - a < 1e-7 and ym > min(ya, yc):
            break
        # --- the parabola through them
        left, right = (ym - ya) / (m - a), (yc - ym) / (c - m)
        bend = (right - left) / (c - a)
        slope = left + bend * (m - a)
        if not_much_lower(lowest, a - m, c - m, ym, slope, bend):
            break
        if ym > min(ya, yc):  # it is lowest towards an end, or there
            a, ya, c, yc = (a, ya, m, ym) if ya < yc else (m, ym, c, yc)
            m = place = a + 0.2 * (c - a) if ya < yc else c - 0.2 * (c - a)
            continue
        if bend <= 0.0 or c - a < 1e-13:
            break
        place = m - 0.5 * slope / bend
        if turn % 3 == 2 or abs(place - m) < 1e-3 * min(m - a, c - m):
            # (every third time, and where that hardly moves: a place in the larger part, so that both ends come nearer)
            place = m + 0.1 * (c - m) if c - m > m - a else m - 0.1 * (m - a)
    return best, lowest


@core(inline=True)
def not_much_lower(lowest, a, c, y, slope, bend):
    """Whether a parabola is hardly lower than ``lowest`` anywhere from a to c, nor would be with a term of higher order.

    At 0 it has the value y, this slope, and half its second derivative is ``bend``.
    """
    place = min(max(-0.5 * slope / bend, a), c) if bend > 0.0 else a
    return y + place * (slope + place * bend) > 0.95 * lowest and 0.02 * abs(bend) * (c - a) * (c - a) < lowest


# ------------------------------------------------------------------------------------------------------ guards


@core
def search_guards(w, length, whole, rough, target):
    """Whether one of the guards marked in g.suspect is crossed inside the step: a place where it is beyond (0: none; FAILED).

    One that only comes near is left for the judge. Where two come near at different times, the step is cut between them.
    """
    compact()
    s, v, g = w.s, w.v, w.g
    left = 0
    for k in range(g.width):
        if g.suspect[k] > 0.0:
            g.near_bend[k] = 0.0
            if g.suspect[k] != ROUGH and settled(g, k, s.now.t + g.suspect[k] * whole, g.lowest[k]):
                g.suspect[k] = g.suspect[k] if g.lowest[k] <= nearest_trusted(g, k, target) else 0.0
            left += 1 if g.suspect[k] > 0.0 else 0
    if left == 0:
        return 0.0
    nudge(w, v.x_end, v.x, v.x_trial)
    if eval_h(w, s.now.t + whole, v.x_trial, g.h_trial):
        return FAILED
    left = 0
    for k in range(g.width):
        if g.suspect[k] > 0.0:
            g.unsure[k] = 30.0 * abs(g.h_trial[k] - g.h_end[k])
            if g.suspect[k] != ROUGH and g.lowest[k] > max(g.unsure[k], nearest_trusted(g, k, target)):
                g.suspect[k] = 0.0
            left += 1 if g.suspect[k] > 0.0 else 0
    if left == 0:
        return 0.0
    if prepare(w, s.step.kind, length):
        return FAILED
    first = 0.0
    for k in range(g.width):
        if g.suspect[k] > 0.0 and g.suspect[k] != ROUGH:
            place, value = lowest_about(w, k, g.watched[k], length, whole)
            if place == FAILED:
                return FAILED
            cut = found(w, k, place, value, length, whole, target)
            if cut > 0.0 and (first == 0.0 or cut < first):
                first = cut
    if rough > 0:
        cut = walk_guards(w, length, whole, target)
        if cut == FAILED:
            return FAILED
        if cut > 0.0 and (first == 0.0 or cut < first):
            first = cut
    if first > 0.0:
        answered(s)
    return first


@core(inline=True)
def nearest_trusted(g, k, target):
    """How near guard k may come to its surface, by its cubic, for that to be trusted not to cross it."""
    b, level = g.watched[k], g.level[k]
    y0, y2 = b * g.h[k] - level, b * g.h_end[k] - level
    return NEAR * (y0 if k == target else min(y0, y2))


@core(inline=True)
def settled(g, k, when, value):
    """Whether guard k, which comes as near as ``value``, was judged not long ago: a foot in stance comes near again and again."""
    return when <= g.settled[k] and value >= 0.5 * g.settled_h[k]


@core
def lowest_about(w, k, side, length, whole):
    """The lowest value of guard k inside the step, about where the cubics of its halves say: place and value."""
    compact()
    g = w.g
    level, half = g.level[k], 0.5 * whole * side
    y0, y1, y2 = side * g.h[k] - level, side * g.h_middle[k] - level, side * g.h_end[k] - level
    v0, v2 = widened(half * g.hdot[k], half * g.hdot_end[k], bias_of_rates(w.s, whole))
    where, _, left, right = lowest_of_halves(y0, y1, y2, v0, v2)
    if where == 0.0:
        return 0.0, NEVER
    if left > 0.0:
        if h_inside(w, left, length, whole, g.h_trial):
            return FAILED, 0.0
        y0 = side * g.h_trial[k] - level
    if right < 1.0:
        if h_inside(w, right, length, whole, g.h_trial):
            return FAILED, 0.0
        y2 = side * g.h_trial[k] - level
    if g.held[k] == 0.0:
        return lowest_inside(w, k, side, (left, right, y0, y2), where, length, whole)
    # (where it starts on its guard, what its landing has left of h is no crossing)
    place, value = lowest_inside(w, k, side, (left, right, max(y0, 0.0), y2), where, length, whole)
    return (0.0, NEVER) if place == 0.0 else (place, value)


@core
def found(w, k, place, value, length, whole, target):
    """What a lowest value of guard k means: the place at which to cut the step, or 0; the judge is asked where it came near."""
    compact()
    s, v, g = w.s, w.v, w.g
    if value < 0.0:
        if g.rest[k] != 0.0 and g.held[k] != 0.0 and -value <= g.unsure[k]:
            return 0.0  # (it opens from rest, at first by less than round-off)
        return 0.0 if k == target and place > 0.99 else max(place, 1e-3)
    if value > g.unsure[k] or g.level[k] != 0.0 or k == target:
        return 0.0
    when = s.now.t + place * whole
    if settled(g, k, when, value):
        return 0.0
    if s.ask.question == codes.NEAR and abs(when - s.ask.t) > 1e-3 * whole:
        return 0.5 * (when + s.ask.t - 2.0 * s.now.t) / whole
    if s.ask.question != codes.NEAR:
        post(s, codes.NEAR, k)
        s.ask.t = when
        interpolate(v, s.step.kind, place, length, whole, v.x_near)
    g.near[k] = value
    g.near_bend[k] = max(abs(g.hdot_end[k] - g.hdot[k]) / whole, 1e-300)
    return 0.0


@core
def walk_guards(w, length, whole, target):
    """Look at the rough guards at sixteen places, and between them where they come near: see `search_guards`."""
    compact()
    g = w.g
    copy(g.h, g.h_before[1])
    for q in range(1, PLACES + 2):
        if next_place(w, q, length, whole):
            return FAILED
        for k in range(g.width):
            if g.suspect[k] != ROUGH:
                continue
            b, level = g.watched[k], g.level[k]
            old, mid, new = b * g.h_before[0, k] - level, b * g.h_before[1, k] - level, b * g.h_middle[k] - level
            free = g.held[k] == 0.0 or q > 1
            # (one that it has just crossed may still be short of its surface, by what its landing has left, as long as it rises)
            rises = g.held[k] != 0.0 and mid < 0.0 and new >= mid
            if free and new < 0.0 and q < PLACES and not rises:
                return q / PLACES
            place, value = 0.0, 0.0
            if free and dips(old, mid, new):
                place, value = lowest_near(w, k, b, q, (old, mid, new), length, whole)
                if place == FAILED:
                    return FAILED
            cut = found(w, k, place, value, length, whole, target) if place > 0.0 else 0.0
            if cut > 0.0:
                return cut
        copy(g.h_before[1], g.h_before[0])
        copy(g.h_middle, g.h_before[1])
    return 0.0


@core
def next_place(w, q, length, whole):
    """g.h_middle = h at the q-th of sixteen places; g.h_before[0] at first, and one place beyond the end, by the slope there."""
    compact()
    g = w.g
    step = 2.0 * whole / PLACES
    forget_middle(w.s)
    if q < PLACES:
        if h_inside(w, q / PLACES, length, whole, g.h_middle):
            return True
    elif q == PLACES:
        copy(g.h_end, g.h_middle)
    else:
        for k in range(g.width):
            g.h_middle[k] = g.h_before[0, k] + step * g.hdot_end[k]
    if q == 1:
        for k in range(g.width):
            g.h_before[0, k] = g.h_middle[k] - step * g.hdot[k]
    return False


@core(inline=True)
def dips(old, mid, new):
    """Whether a guard may cross and cross back near the middle one of three places: it is lowest there, and not far away."""
    bend = old - 2.0 * mid + new
    return (
        mid >= 0.0 and mid <= old and mid <= new and mid - 0.125 * (old - new) * (old - new) / max(bend, 1e-300) < bend
    )


@core
def lowest_near(w, k, side, q, values, length, whole):
    """The lowest value of guard k about the place before the q-th, from its ``values`` before, there and after."""
    compact()
    old, mid, new = values
    bend = old - 2.0 * mid + new
    place = (q - 1.0 + 0.5 * (old - new) / max(bend, 1e-300)) / PLACES
    a, c = max((q - 2.0) / PLACES, 0.0), min(q / PLACES, 1.0)
    ya, yc = mid if q == 1 else old, mid if q == PLACES + 1 else new
    if q == 1:  # it may turn just where the step begins
        slope, _ = widened(side * w.g.hdot[k], side * w.g.hdot_end[k], bias_of_rates(w.s, whole))
        if slope > 0.0:
            return 0.0, 0.0
        fall = slope * whole / PLACES
        place = max(-0.5 * fall / max(new - mid - fall, 1e-300) / PLACES, SOONEST)
    if q == PLACES + 1 and place >= 1.0 and side * w.g.hdot_end[k] > 0.0:
        return 1.0, mid  # ... or where it ends
    if place <= a or place >= c:
        return 0.0, 0.0
    place, value = lowest_inside(w, k, side, (a, c, ya, yc), place, length, whole)
    return place if place == FAILED else max(place, SOONEST), value
