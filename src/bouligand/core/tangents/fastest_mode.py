"""The rate of the fastest eigenmode of Df along a record, by which steps that are too long for perturbations are found.

While an eigenmode is not excited (a robot that falls with its legs held, an oscillator at rest) steps grow far beyond its time
constant. A perturbation excites it. So before tangents are propagated, the size of the largest eigenvalue of Df is measured here
by a power iteration whose vector is kept from place to place: at both ends of a step and inside it, where the word or the field
has changed, otherwise every few records while the rate stays the same. Two digits are enough: a measurement takes three
evaluations of f (two where the step is far shorter than its bound and the vector grows as it did at the last place), or one of Df
where that is given.
"""

import math

from .. import codes
from ..clock import time_to_look
from ..compiler.intrinsics import address, call, compact
from ..compiler.jit import core
from ..compiler.tables import work
from ..compiler.vectors import row_product
from ..evaluate import copy_state, eval_f, failed
from ..recorded import cap_before, catch_up, no_cap, use_parameters
from ..state import BACK, HOP, SMALL, SPAN
from .mixed_states import mixed
from .rough_sides import try_inside, try_sides

EVERY = 8  # most records between measurements,
RARELY = 16  # and where rates agree still better
STEADY = 1.25  # rates whose ratio is below this are equal: the next measurement may be later
PLACES = 32  # fewest measurements along a trajectory, however few its steps are
PAIRS = 3  # most pairs of iterations: the first one mostly turns the vector, and its growth may exceed that of any mode
SETTLED = 1.05  # two pairs at one place whose rates have a ratio below this are enough
FAR = 4.0  # steps shorter than their bound by this factor (hops: by any factor) are measured at their start only


@core(entry=True)
def fastest_modes(table):
    """division.rows[q].rate = the approximate size of the largest eigenvalue of Df in the step to record q; ``modes.worst`` = the
    largest ratio of a step's length to its bound.

    Returns LOOK when some time has passed: the next call goes on. g.b holds the word at the start, and is changed along the way.
    """
    compact()
    w = work(table)
    s, steps, at, division = w.s, w.steps, w.tangents.modes, w.tangents.division
    rows, bounds = division.rows, division.limits.accurate
    given = w.tangents.jacobians.Df != 0 and w.v.width <= SMALL
    whole = steps[steps.shape[0] - 1].t - steps[0].t
    if at.step == 0:
        begin(w)
    while at.step < steps.shape[0]:
        if s.counts.f_calls >= s.clock.look_at and time_to_look(w):
            return codes.LOOK
        step, known, held = at.step, at.event, at.leg
        at.event, at.leg = catch_up(w, known, held, step)
        if at.leg != held:
            use_parameters(w, at.leg)
        t, length = steps[step - 1].t, steps[step].t - steps[step - 1].t
        if at.event != known or at.leg != held:
            at.changed = 1
        no_cap(s)
        for moment in w.breaks:
            if moment == t:
                at.changed = 1
            if moment == steps[step].t:
                cap_before(s, moment)
        bound, change = bounds[steps[step].kind % BACK], 0.0
        late = step - at.last >= at.wait or PLACES * (t + length - at.until) > whole
        rows[step].measured = 1 if at.changed == 1 or late or length > 1.5 * at.longest else 0
        try_sides(w, step - 1, known, at.event, 1)
        if steps[step].kind == SPAN:
            try_inside(w, step, at.event, events_at(w, at.event, step))
        else:
            try_sides(w, step, at.event, events_at(w, at.event, step), -1)
        if rows[step].measured == 1:
            change = measure_step(w, given, step, bound / length, int(PLACES * length / whole))
            if change < 0.0:
                return s.run.status
        rate = max(at.rate, change)
        rows[step].rate, rows[step].kind = rate, steps[step].kind
        at.worst = max(at.worst, length * rate / bound)
        at.step += 1
    return codes.GO_ON


@core(inline=True)
def events_at(w, first, row):
    """Where the events behind the first one end that happen at a row of the record."""
    last = first
    while last < w.events.shape[0] and w.events[last].record == row:
        last += 1
    return last


@core(inline=True)
def begin(w):
    """Nothing is measured yet."""
    at, rows = w.tangents.modes, w.tangents.rows
    at.step, at.event, at.leg, at.rate, at.ahead, at.worst, at.settled = 1, 0, 0, 0.0, 0.0, 0.0, 0.0
    at.last, at.wait, at.longest, at.changed, at.seen, at.until = -EVERY, 1, 0.0, 1, -1, w.steps[0].t
    for i in range(w.v.width):
        rows.mode[i], rows.per_step[i] = 0.0, 1.0 / w.tangents.differences[i]
    at.looked, at.rough = 0, 0
    for k in range(w.tangents.guard_sides.shape[0]):
        w.tangents.guard_sides[k].tried, w.tangents.guard_sides[k].power = 0, 0.0
    use_parameters(w, 0)


@core(inline=True)
def measure_step(w, given, step, enough, inside):
    """``modes.rate`` = the fastest rate at the start of a step (where the last measurement may have been made), at its end, and
    at ``inside`` places in it. Returns how fast Df changes in a long step, which limits steps too; negative if f failed.

    ``enough``: the rate for which the step is as long as its bound.
    """
    compact()
    v, steps, at = w.v, w.steps, w.tangents.modes
    t, length, kind = steps[step - 1].t, steps[step].t - steps[step - 1].t, steps[step].kind % BACK
    brief = kind != SPAN and inside == 0
    touch, end = brief and HOP <= kind < SPAN, -1.0
    if at.changed == 0 and brief and not touch and 0 <= at.seen < step - 1:
        state_inside(w, step, length, 1, 0)
        end = rate_at(w, given, t + length, enough, v.x_end, True)
        if end < 0.0:
            return -1.0
        if agree(end, at.ahead, STEADY):  # as at the last place: nothing has happened in between
            at.last, at.longest, at.until, at.wait = step, length, t + length, longer(at.wait, end, at.ahead)
            at.rate, at.ahead, at.seen = end, end, step
            return 0.0
    if at.changed == 1:
        mix_mode(w)
    low, rate, place, behind, change = math.inf, 0.0, 0, 0.0, 0.0
    if at.seen == step - 1 and at.changed == 0:
        low, rate, place, behind = at.ahead, at.ahead, 1, at.ahead
        copy_state(v.x_end, v.f)
    at.last, at.longest, at.until, at.changed = step, length, t + length, 1 if kind == SPAN else 0
    while place <= inside + 1:
        if place == 1:
            if brief and (1.0 if touch else FAR) * rate < enough:
                break  # much shorter than its bound: the rate at its start is enough
            if kind == SPAN:  # behind the crossings that it spans
                at.event, at.leg = catch_up(w, at.event, at.leg, step + 1)
                use_parameters(w, at.leg)
                mix_mode(w)
        here = end
        if place != 1 or end < 0.0:
            c = state_inside(w, step, length, place, inside)
            slope = v.f if place == 0 else v.x_end if place == 1 else v.second
            cubic = place == 1 or (place == 0 and not touch)  # of this step or the next
            here = rate_at(w, given, t + c * length, enough if brief or place > 0 else 0.0, slope, cubic)
        if here >= 0.0:
            low, rate = min(low, here), max(rate, here)
        elif place < 2:  # (inside, f may fail: the state is that of a cubic)
            return -1.0
        if place == 1:
            at.ahead, at.seen = here, step
            inside = max(inside, 1) if rate > STEADY * low and not touch else inside
        elif here >= 0.0:
            change = max(change, log_ratio(length * behind, length * here) if place > 0 else 0.0)
            behind = here
        place += 1
    at.rate, at.wait = rate, longer(at.wait, low, rate) if rate <= STEADY * low else 1
    # (in a long step the change of Df from place to place limits the steps, too)
    return 0.0 if brief else max(change, log_ratio(length * behind, length * at.ahead)) * (inside + 1.0) / length


@core(inline=True)
def agree(one, other, ratio):
    """Whether two rates are equal but for a ratio."""
    return max(one, other) <= ratio * min(one, other)


@core(inline=True)
def longer(wait, one, other):
    """How many records to wait after two rates that agree."""
    return min(2 * wait, RARELY if agree(one, other, SETTLED) else EVERY)


@core(inline=True)
def log_ratio(one, other):
    """The logarithm of the ratio of two rates (times a step); near zero where both are slow."""
    return abs(math.log((1.0 + one) / (1.0 + other)))


@core(inline=True)
def state_inside(w, step, length, place, inside):
    """v.x = the state at a place of a step: 0 its start, 1 its end, from 2 on inside, on a cubic. Returns where that is."""
    v, states = w.v, w.states
    c = float(place) if place < 2 else (place - 1.0) / (inside + 1.0)
    for i in range(v.width):
        a, z = states[step - 1, i], states[step, i]
        if place < 2:
            v.x[i] = a if place == 0 else z
        else:
            bow = (1.0 - c) * (length * v.f[i] - (z - a)) - c * (length * v.x_end[i] - (z - a))
            v.x[i] = a + c * (z - a) + c * (1.0 - c) * bow
    return c


@core(inline=True)
def mix_mode(w):
    """Mix all states into the vector of the power iteration: the fastest mode may be another one from here on."""
    rows, at = w.tangents.rows, w.tangents.modes
    at.settled, at.before, at.seen = 0.0, -1.0, -1
    for i in range(rows.width):
        rows.mode[i] = 0.3 * rows.mode[i] + mixed(i) / rows.per_step[i]


@core
def rate_at(w, given, t, enough, slope, sloped):
    """`measure_rate`; ``slope`` = f there if it is wanted (``sloped``)."""
    compact()
    rate = measure_rate(w, given, t, enough, slope)
    if given and sloped and rate >= 0.0 and eval_f(w, t, w.v.x, slope):
        return -1.0
    return rate


@core(inline=True)
def measure_rate(w, given, t, enough, slope):
    """The rate of the fastest mode at v.x; where Df is not given, ``slope`` = f there. Negative if a function failed.

    A rate is measured over pairs of iterations: in an oscillation one maps positions to velocities, the next one back. If it is
    above ``enough``, another pair is made, unless it agrees with the pair before, or with that at the last place, whose vector is
    kept. Far below ``enough`` the rate need not be known well: the pair is as that at the last place if its first half grows as
    that one did. (Where Df is given, a pair costs next to nothing.)
    """
    compact()
    v, fn, at = w.v, w.fn, w.tangents.modes
    t, rate, close = min(t, w.s.run.cap), 0.0, STEADY
    if given:
        arguments = (address(v.x), address(w.g.b), address(w.p), address(w.tangents.Df))
        if call(w.tangents.jacobians.Df, t, arguments, fn.context) != 0:
            failed(w, codes.DF_FAILED, t, v.x)
            return -1.0
    elif eval_f(w, t, v.x, slope):
        return -1.0
    for q in range(2 * PAIRS):
        # (after each pair a little of the former vector is kept, in case Df maps it to zero)
        growth = power_iteration(w, given, t, slope, 0.01 * (q % 2))
        if growth < 0.0:
            return -1.0
        again, last = not given and q == 0 and repeats(at, growth, enough / FAR), at.growth
        at.before, at.growth = last, growth
        if again or q % 2 == 1:
            rate = math.sqrt(growth * last)
            settled = not given and agree(rate, at.settled, close)
            at.settled, close = rate, SETTLED
            if again or settled or rate <= enough:
                break
    return rate


@core(inline=True)
def repeats(at, growth, slow):
    """Whether the first half of a pair grows as that at the last place, and the rate would be below ``slow``."""
    calm = at.before >= 0.0 and growth * at.growth <= slow * slow
    return calm and agree(growth + slow, at.before + slow, STEADY)


@core(inline=True)
def power_iteration(w, given, t, slope, kept):
    """mode = Df mode, normalised in units of the steps for differences, plus the part ``kept`` of what it was. Returns the norm;
    negative if f failed.
    """
    v, rows, Df = w.v, w.tangents.rows, w.tangents.Df
    n, size = v.width, 0.0
    if given:
        for i in range(n):
            rows.image[i] = row_product(Df, i, 0, n, rows.mode)
    else:
        for i in range(n):
            v.x_trial[i] = v.x[i] + rows.mode[i]
        if eval_f(w, t, v.x_trial, v.f_end):
            return -1.0
        for i in range(n):
            rows.image[i] = v.f_end[i] - slope[i]
    for i in range(n):
        size = max(size, abs(rows.image[i]) * rows.per_step[i])
    if not 1e-12 < size < 1e300:
        return 0.0
    scale = 1.0 / size
    for i in range(n):
        rows.mode[i] = scale * rows.image[i] + kept * rows.mode[i]
    return size
