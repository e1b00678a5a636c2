"""Observers: guards on which f does not depend. Their crossings are found on the step that was taken, and recorded."""

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.vectors import copy
from ..dips import ROUGH, cubic_extremes, mark_observers, slope_in_middle, widened
from ..evaluate import eval_h
from ..guards import bias_of_rates, rates
from ..state import SHOWN, SWITCH
from .crossing import note
from .dense import prepare
from .inside import between
from .search import FAILED, PLACES, dips, h_inside, lowest_about, lowest_near, next_place

MOST_INSIDE = 2 * PLACES  # crossings of one observer in one step


@core
def observe(w, length, whole, landed):
    """Record the crossings of observers inside the step, in order of time; True if a function failed.

    As for guards (see `missed`), a few values of h tell where nothing is near; only else the step's extension is asked.
    """
    compact()
    s, v, g, events = w.s, w.v, w.g, w.events
    first = s.rows.events
    if landed and rates(w, True, whole):
        return True
    if s.step.middle_known == 0:
        between(w, 0.5, whole, v.x_trial)
        if eval_h(w, s.now.t + 0.5 * whole, v.x_trial, g.h_middle):
            return True
    some, rough = mark_observers(g, whole, bias_of_rates(s, whole), s.step.winding)
    if some == 0:
        return False
    if prepare(w, s.step.kind, length):
        return True
    if rough < some and in_pieces(w, length, whole):
        return True
    if rough > 0 and in_places(w, length, whole):
        return True
    # a few rows at most: put them in order
    for a in range(first + 1, s.rows.events):
        c = a
        while c > first and events[c].t < events[c - 1].t:
            swap(events[c], events[c - 1])
            c -= 1
    return False


@core
def in_pieces(w, length, whole):
    """The crossings of marked observers, between places where the cubics of the step's halves turn."""
    compact()
    g = w.g
    if h_inside(w, 0.5, length, whole, g.h_middle):
        return True
    for k in range(g.width):
        if g.suspect[k] == 0.0 or g.suspect[k] == ROUGH:
            continue
        h0, h1, h2 = g.h[k], g.h_middle[k], g.h_end[k]
        v0, v2 = widened(0.5 * whole * g.hdot[k], 0.5 * whole * g.hdot_end[k], bias_of_rates(w.s, whole))
        v1 = slope_in_middle(h0, h2, v0, v2)
        b, low, h_low, already = g.b[k], 0.0, h0, w.s.rows.events
        for half in range(2):
            ha, hb, va, vb = (h0, h1, v0, v1) if half == 0 else (h1, h2, v1, v2)
            bottom, top = cubic_extremes(ha, hb, va, vb)
            for turn in range(3):
                high = 1.0 if turn == 2 else min(bottom, top) if turn == 0 else max(bottom, top)
                if turn < 2 and not 0.0 < high < 1.0:
                    continue
                high = 0.5 * (half + high)
                h_high = hb
                if turn < 2:
                    if h_inside(w, high, length, whole, g.h_trial):
                        return True
                    h_high = g.h_trial[k]
                if cross_between(w, k, (low, high, h_low, h_high), length, whole):
                    return True
                low, h_low = high, h_high
        # a pair that is thinner than that shows
        if w.s.rows.events == already and b * h1 > 0.0 and b * h2 > 0.0:
            place, value = lowest_about(w, k, b, length, whole)
            if place == FAILED:
                return True
            if value < 0.0 and cross_pair(w, k, (0.0, 1.0, h0, h2), place, b * value, length, whole):
                return True
    return False


@core
def in_places(w, length, whole):
    """The crossings of the rough ones: between sixteen places, and pairs near them."""
    compact()
    g = w.g
    copy(g.h, g.h_before[1])
    for q in range(1, PLACES + 2):
        if next_place(w, q, length, whole):
            return True
        for k in range(g.width):
            if g.suspect[k] != ROUGH:
                continue
            b = g.b[k]
            old, mid, new = b * g.h_before[0, k], b * g.h_before[1, k], b * g.h_middle[k]
            if dips(old, mid, new):
                place, value = lowest_near(w, k, b, q, (old, mid, new), length, whole)
                if place == FAILED:
                    return True
                if value < 0.0:
                    a, c = max((q - 2.0) / PLACES, 0.0), min(q / PLACES, 1.0)
                    ya, yc = mid if q == 1 else old, mid if q == PLACES + 1 else new
                    if cross_pair(w, k, (a, c, b * ya, b * yc), place, b * value, length, whole):
                        return True
            if q <= PLACES:
                ends = ((q - 1.0) / PLACES, q / PLACES, g.h_before[1, k], g.h_middle[k])
                if cross_between(w, k, ends, length, whole):
                    return True
        copy(g.h_before[1], g.h_before[0])
        copy(g.h_middle, g.h_before[1])
    return False


@core
def cross_pair(w, k, ends, place, h, length, whole):
    """Record the crossings to either side of a place where h is beyond the guard; True if h failed."""
    compact()
    a, c, ha, hc = ends
    if cross_between(w, k, (a, place, ha, h), length, whole):
        return True
    return cross_between(w, k, (place, c, h, hc), length, whole)


@core
def cross_between(w, k, ends, length, whole):
    """Record the crossing of an observer between two places, if h there says so; True if h failed."""
    compact()
    s, g = w.s, w.g
    low, high, h_low, h_high = ends
    if g.b[k] * h_high >= 0.0 or g.b[k] * h_low < 0.0:  # (zero at the last record, exactly: it was not seen there)
        return False
    theta = find_on_step(w, k, low, high, h_low, h_high, length, whole)
    if theta < 0.0:
        return True
    g.b[k] = -g.b[k]
    fires = g.direction[k] == 0.0 or g.b[k] == g.direction[k]
    note(w, s.now.t + theta * whole, k, g.b[k], 0.0, SHOWN if fires else SWITCH)
    return False


@core(inline=True)
def swap(one, other):
    """Exchange two rows of the event table (what differs between those of observers in one step)."""
    compact()
    one.t, other.t = other.t, one.t
    one.guard, other.guard = other.guard, one.guard
    one.sign, other.sign = other.sign, one.sign
    one.shown, other.shown = other.shown, one.shown


@core
def find_on_step(w, k, low, high, y_low, y_high, length, whole):
    """Where in the step, between two places on either side of it, guard k is crossed; its state is left in v.x_trial.

    A bracketed secant (Illinois) on h along the dense output; only h is evaluated. Returns theta, or -1 on failure.
    """
    compact()
    g = w.g
    side = 0
    theta = low
    for _ in range(60):
        theta = (low * y_high - high * y_low) / (y_high - y_low)
        if h_inside(w, theta, length, whole, g.h_trial):
            return -1.0
        y = g.h_trial[k]
        if abs(y) <= 0.0 or high - low < 1e-14:
            break
        if y * y_low > 0.0:
            low, y_low = theta, y
            if side == -1:
                y_high *= 0.5
            side = -1
        else:
            high, y_high = theta, y
            if side == 1:
                y_low *= 0.5
            side = 1
    return theta
