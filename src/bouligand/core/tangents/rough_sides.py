"""Sides of guards on which Df is not smooth up to the guard: forces that grow like a power of the depth that is no whole number.

Perturbations follow Df, which is one derivative less smooth than f. On such a side of a guard (Hertz' contact: depth^1.5) steps
that are right for the trajectory are too long for perturbations, by far; there they are divided, the more the nearer the guard
(see `derivative.rough_sides`). To find out, Df times a vector is compared at the crossing and at a few places apart, along x',
when a guard is first crossed. What it has changed by is a sum of powers of the time. That which is in proportion to the time,
which other forces contribute, is taken out; what is left of a smooth Df is then the square, near the guard, and of a rough one
the power that is looked for.
"""

import math

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import copy_state, eval_f, eval_h, restore_status
from ..state import MARGIN
from .mixed_states import mixed

# the first place, in first steps (which may be short because another guard is crossed soon), but not farther than so much of the
# longest step nearby; by which factor each of the others is nearer; and how many there are
FARTHEST, NOT_BEYOND, APART, PLACES = 16.0, 0.25, 16.0, 4
# powers of smooth functions: none, for a kink at the guard, where f tests the state by itself (as `k * max(depth, 0)` does: of
# that System warns); one; two and above. Others are rough, by more than this much
SQUARE, OFF, HIGHEST = 2.0, 0.04, 4.0
NEAR_SQUARE = 0.1  # the same near two, and above: terms of third order are seen as well
AGREE = 0.3  # powers at two places that differ by less are those of a force; others are of round-off
SHORT = 0.1  # the vector, in units of the steps for differences, at most; and of the way to the nearest place
MATTERS = 0.3  # changes within a step that are smaller than so many tolerances do not count
MOST = 16  # sides that are looked at, if none of them is rough: others are most likely of the same kind
NEXT = 32  # steps within which the longest one is looked for
ROUND_OFF = 4e-14  # of x': what a difference may be off
ONTO = 0.05  # parts of a step, over which differences of h are taken
TIED = 1e-5  # of the longest step: crossings that are nearer, and steps between them, do not limit the places


@core
def try_sides(w, row, first, last, way):
    """Look at one side of the guards of the events from ``first`` up to ``last``, which happen at a row of the record, if nobody
    has: that behind it (``way`` = 1) or that before it (-1). g.b holds the word on that side. Changes ``guard_sides``, and
    ``modes.rough``, the number of those that are rough."""
    compact()
    for q in range(first, last):
        if w.events[q].t == w.steps[row].t and is_asked_for(w, q):
            copy_state(w.states[row], w.v.x)
            look_at(w, q, way)


@core
def try_inside(w, row, first, last):
    """The same for the crossings inside the spanning step to a row, on both sides of each. g.b holds the word at its start."""
    compact()
    v, g, states, begin, at = w.v, w.g, w.states, w.steps[row - 1].t, w.tangents.modes
    if at.looked >= MOST and at.rough == 0:
        return
    length = w.steps[row].t - begin
    for q in range(first, last):
        event = w.events[q]
        if event.shown == MARGIN:
            continue
        for way in (-1, 1):
            if way > 0:
                g.b[event.guard] = event.sign
            if is_asked_for(w, q):
                c = (event.t - begin) / length
                for i in range(v.width):
                    v.x[i] = (1.0 - c) * states[row - 1, i] + c * states[row, i]
                if not move_onto(w, event.guard, event.t, ONTO * length):
                    look_at(w, q, way)
    for q in range(last - 1, first - 1, -1):
        if w.events[q].shown != MARGIN:
            g.b[w.events[q].guard] = -w.events[q].sign


@core(inline=True)
def is_asked_for(w, q):
    """Whether the side of an event's guard on which g.b is has not been looked at."""
    event, at, g = w.events[q], w.tangents.modes, w.g
    k = event.guard
    counts = event.shown != MARGIN and g.observer[k] == 0.0 and g.b[k] != 0.0 and (at.looked < MOST or at.rough > 0)
    return counts and w.tangents.guard_sides[side_of(g, k)].tried == 0


@core(inline=True)
def side_of(g, k):
    """The row of ``guard_sides`` of the side on which g.b is."""
    return 2 * k + (1 if g.b[k] > 0.0 else 0)


@core
def look_at(w, q, way):
    """Write what the side of an event's guard is like, from the state v.x at the event."""
    compact()
    at, event = w.tangents.modes, w.events[q]
    side, status = w.tangents.guard_sides[side_of(w.g, event.guard)], w.s.run.status
    longest, first = steps_from(w, q, way)
    side.tried, side.power, side.strength = power_of_change(w, event.t, way * first, longest)
    restore_status(w.s, status)  # (where f fails nothing is known)
    at.looked += 1
    at.rough += 1 if side.power > 0.0 else 0


@core
def steps_from(w, q, way):
    """The longest of the next steps from an event on, or of those before it, up to where its guard is crossed again; and the
    first of them that is not much shorter, up to where any guard is crossed, but for those crossed together with it."""
    compact()
    steps, events, event = w.steps, w.events, w.events[q]
    row, longest, first, other = event.record, 0.0, 0.0, q + way
    if way > 0 and steps[row].t <= event.t:
        row += 1
    for _ in range(NEXT):
        if row < 1 or row >= steps.shape[0]:
            break
        begin, end = steps[row - 1].t, steps[row].t
        length = end - max(begin, event.t) if way > 0 else min(end, event.t) - begin
        longest = max(longest, length)
        first = length if first <= TIED * longest else first
        while 0 <= other < events.shape[0] and (events[other].t <= end if way > 0 else events[other].t >= begin):
            gap = abs(events[other].t - event.t)
            first = gap if TIED * longest < gap < first else first
            if events[other].guard == event.guard and events[other].shown != MARGIN:
                return longest, first
            other += way
        row += way
    return longest, first


@core
def move_onto(w, k, t, apart):
    """Move the state v.x, which is near guard k, along x' onto it. True if a function failed."""
    compact()
    v, g, status = w.v, w.g, w.s.run.status
    for _ in range(2):
        if eval_f(w, t, v.x, v.second) or eval_h(w, t, v.x, g.h):
            break
        for i in range(v.width):
            v.x_trial[i] = v.x[i] + apart * v.second[i]
        if eval_h(w, t, v.x_trial, g.h_trial):
            break
        change = g.h_trial[k] - g.h[k]
        ahead = -apart * g.h[k] / change if change != 0.0 else 0.0
        for i in range(v.width):
            v.x[i] += ahead * v.second[i]
    failed = w.s.run.status != status
    restore_status(w.s, status)
    return failed


@core
def power_of_change(w, t, first, longest):
    """Whether it is known now; then, if Df changes like a broken power of the time from the state v.x on, that power, and the
    factor before it, in rates per unit of the vector; else zeros. ``first``, ``longest``: see `steps_from`."""
    compact()
    s, v, per_step = w.s, w.v, w.tangents.rows.per_step
    ahead = math.copysign(min(FARTHEST * abs(first), NOT_BEYOND * longest), first)
    if ahead == 0.0 or eval_f(w, t, v.x, v.second):
        return 1, 0.0, 0.0
    short = SHORT * min(abs(ahead) * largest(w, v.second, v.second, 0.0) / APART ** (PLACES - 1), 1.0)
    for i in range(v.width):
        v.scratch[i] = short * mixed(i) / per_step[i]
        v.x_trial[i] = v.x[i] + v.scratch[i]
    if short == 0.0 or eval_f(w, t, v.x_trial, v.third):
        return 1, 0.0, 0.0
    noise = ROUND_OFF * largest(w, v.second, v.second, 0.0)
    for i in range(v.width):
        v.third[i] -= v.second[i]
    least = short * MATTERS * s.options.rtol / longest
    size, own, bend, before = 0.0, 0.0, 0.0, 0.0  # at the place before
    for place in range(PLACES):
        change, other = v.stages[place % 2], v.stages[1 - place % 2]
        if change_after(w, t, ahead, change):
            return 1, 0.0, 0.0
        nearer, bent = largest(w, change, change, 0.0), largest(w, change, other, 1.0 / APART)
        if place == 0:
            bent = nearer
        if place < 2 and (APART * bent if place == 1 else bent) <= max(least, noise):
            return 1 if bent <= noise else 0, 0.0, 0.0  # as of linear forces; or this crossing is too soft to tell
        if bent <= noise or nearer <= noise:
            break
        if place > 0:
            own_before, own = own, math.log(size / nearer) / math.log(APART)
        if place > 1:
            power = math.log(bend / bent) / math.log(APART)
            if place == 2 and power > SQUARE - OFF:
                if own > SQUARE and is_broken(own) and is_broken(own_before):  # nothing else contributes
                    return 1, own, nearer / short / abs(ahead) ** own
                break
            if place == PLACES - 1 and power < SQUARE and is_broken(power) and abs(power - before) < AGREE:
                return 1, power, bent / abs(1.0 - APART ** (power - 1.0)) / short / abs(ahead) ** power
            before = power
        size, bend, ahead = nearer, bent, ahead / APART
    return 1, 0.0, 0.0


@core(inline=True)
def is_broken(power):
    """Whether a power is that of no smooth function."""
    whole = math.floor(power + 0.5)
    return OFF < power < HIGHEST and abs(power - whole) > (OFF if whole < SQUARE else NEAR_SQUARE)


@core(inline=True)
def largest(w, change, other, part):
    """The largest component of a change of x' less a part of another one, in units of the steps for differences."""
    size, per_step = 0.0, w.tangents.rows.per_step
    for i in range(w.v.width):
        size = max(size, abs(change[i] - part * other[i]) * per_step[i])
    return size


@core
def change_after(w, t, ahead, out):
    """out = by how much Df times the vector has changed after some time along x'. True if f failed."""
    compact()
    v = w.v
    for i in range(v.width):
        v.x_smooth[i] = v.x[i] + ahead * v.second[i]
        v.x_trial[i] = v.x_smooth[i] + v.scratch[i]
    if eval_f(w, t + ahead, v.x_smooth, v.f_smooth) or eval_f(w, t + ahead, v.x_trial, v.f_end):
        return True
    for i in range(v.width):
        out[i] = v.f_end[i] - v.f_smooth[i] - v.third[i]
    return False
