"""Observers: guards on which f does not depend. Their crossings are found on the step that was taken, and recorded."""

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import eval_h
from ..state import SHOWN, SWITCH
from .crossing import note
from .dense import interpolate, prepare


@core
def observe(w, length, whole):
    """Record the crossings of observers inside the step, in order of time; True if a function failed."""
    compact()
    s, v, g, events = w.s, w.v, w.g, w.events
    first = s.event_count
    if prepare(w, s.kind, length):
        return True
    interpolate(v, s.kind, 0.5, length, whole, v.x_trial)
    if eval_h(w, s.t + 0.5 * whole, v.x_trial, g.h_middle):
        return True
    for k in range(g.width):
        if g.observer[k] == 0.0:
            continue
        half = g.h_middle[k]
        for side in range(2):
            low = g.h[k] if side == 0 else half
            high = half if side == 0 else g.h_end[k]
            if g.b[k] * high < 0.0 and g.b[k] * low >= 0.0:  # (exactly zero at the last record: not found there)
                theta = find_on_step(w, k, 0.5 * side, 0.5 * side + 0.5, low, high, length, whole)
                if theta < 0.0:
                    return True
                g.b[k] = -g.b[k]
                fires = g.direction[k] == 0.0 or g.b[k] == g.direction[k]
                note(w, s.t + theta * whole, k, g.b[k], 0.0, SHOWN if fires else SWITCH)
    # a few rows at most: put them in order
    for a in range(first + 1, s.event_count):
        c = a
        while c > first and events[c].t < events[c - 1].t:
            swap(events[c], events[c - 1])
            c -= 1
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
    s, v, g = w.s, w.v, w.g
    side = 0
    theta = low
    for _ in range(60):
        theta = (low * y_high - high * y_low) / (y_high - y_low)
        interpolate(v, s.kind, theta, length, whole, v.x_trial)
        if eval_h(w, s.t + theta * whole, v.x_trial, g.h_trial):
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
