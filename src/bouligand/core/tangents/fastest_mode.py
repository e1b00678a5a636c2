"""How fast the fastest mode is along a record: what the steps of a trajectory need not show, and those of its perturbations do.

Where nothing happens (a robot that falls with its legs held, a swing at rest) steps grow far beyond the time of a mode that
is not excited. A perturbation excites it. So before a derivative goes along a record, the size of Df is looked at here, by a
power iteration that is carried along: at both ends of a step and inside it, where the word or the field has changed, and else
at every few records, as long as nothing changes from one look to the next. Two digits of a rate are plenty: a look is three
evaluations of f, or one of Df where that is given.
"""

import math

from .. import codes
from ..compiler.intrinsics import address, call, compact
from ..compiler.jit import core
from ..compiler.tables import work
from ..evaluate import copy_state, eval_f, failed
from ..recorded import before, catch_up, use_parameters
from ..state import BACK, HOP, SPAN
from .prepare import difference_steps

EVERY = 8  # records between looks, at most
STEADY = 1.25  # rates that differ by less are one: the next look may be later
PLACES = 32  # looks at least that a whole trajectory is worth, however few its steps are
PAIRS = 3  # of rounds, at most: the first mostly turns the vector, and may grow by more than a mode does
FAR = 4.0  # steps that are that many times shorter than they may be (hops: shorter at all) are looked at less closely


@core(entry=True)
def fastest_modes(table, bounds, given, out):
    """``out`` = the size of Df's largest eigenvalue, about, in the step to each record. Returns how many times too long the worst
    step is; negative if f failed.

    g.b holds the word at the start, and is changed along the way. ``bounds[kind]`` is how long a step of that kind may be, in
    units of 1 / rate. ``given``: Df is a function of the user's, and not too large.
    """
    compact()
    w = work(table)
    s, v, steps, rows = w.s, w.v, w.steps, w.tangents.rows
    difference_steps(w)
    whole = steps[steps.shape[0] - 1].t - steps[0].t
    event, leg, rate, ahead, worst = 0, 0, 0.0, 0.0, 0.0
    last, wait, longest, changed, seen, until = -EVERY, 1, 0.0, True, -1, steps[0].t
    for i in range(v.width):
        rows.mode[i], rows.per_step[i] = 0.0, 1.0 / w.tangents.differences[i]
    use_parameters(w, leg)
    for step in range(1, steps.shape[0]):
        known, held = event, leg
        event, leg = catch_up(w, event, leg, step)
        if leg != held:
            use_parameters(w, leg)
        t, length = steps[step - 1].t, steps[step].t - steps[step - 1].t
        s.cap = 1e300
        for moment in w.breaks:
            changed = changed or moment == t
            if moment == steps[step].t:
                s.cap = before(moment)
        changed = changed or event != known or leg != held
        kind, change = steps[step].kind % BACK, 0.0
        if changed or step - last >= wait or length > 1.5 * longest or PLACES * (t + length - until) > whole:
            if changed:
                stir(rows)
            enough, inside = bounds[kind] / length, int(PLACES * length / whole)
            brief = kind != SPAN and inside == 0
            touch = brief and HOP <= kind < SPAN
            # --- at its start (where the last look may have been), at its end, and inside
            low, rate, place, behind = math.inf, 0.0, 0, 0.0
            if seen == step - 1 and not changed:
                low, rate, place, behind = ahead, ahead, 1, ahead
                copy_state(v.x_end, v.f)
            last, longest, changed, until = step, length, kind == SPAN, t + length
            while place <= inside + 1:
                if place == 1:
                    if brief and (1.0 if touch else FAR) * rate < enough:
                        break  # far from too long, or hardly a step: the start will do
                    if kind == SPAN:  # behind the crossings that it spans
                        event, leg = catch_up(w, event, leg, step + 1)
                        use_parameters(w, leg)
                        stir(rows)
                c = go_inside(w, step, length, place, inside)
                slope = v.f if place == 0 else v.x_end if place == 1 else v.second
                here = look(w, given, t + c * length, enough if brief or place > 0 else 0.0, slope)
                if given and (place == 1 or (place == 0 and not touch)):  # for the cubic, of this step or the next
                    here = -1.0 if eval_f(w, min(t + c * length, s.cap), v.x, slope) else here
                if here >= 0.0:
                    low, rate = min(low, here), max(rate, here)
                elif place < 2:  # (the cubic may be where f has no value)
                    return -1.0
                if place == 1:
                    ahead, seen = here, step
                    inside = max(inside, 1) if rate > STEADY * low and not touch else inside
                elif here >= 0.0:
                    change = max(change, apart(length * behind, length * here) if place > 0 else 0.0)
                    behind = here
                place += 1
            # (from place to place of a long step, Df itself is to be followed as well)
            change = 0.0 if brief else max(change, apart(length * behind, length * ahead)) * (inside + 1.0) / length
            wait = min(2 * wait, EVERY) if rate <= STEADY * low else 1
        out[step] = max(rate, change)
        worst = max(worst, length * out[step] / bounds[kind])
    return worst


@core(inline=True)
def apart(one, other):
    """By how much two rates (times a step) differ, as a logarithm, where they are fast at all."""
    return abs(math.log((1.0 + one) / (1.0 + other)))


@core(inline=True)
def go_inside(w, step, length, place, inside):
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
def stir(rows):
    """Bring something of every state into the vector that is iterated on: the fastest mode may be another one from now on."""
    for i in range(rows.width):
        some = (0.3 + 0.1 * (i * 7 % 5)) / rows.per_step[i]
        rows.mode[i] = 0.3 * rows.mode[i] + (some if i % 2 == 0 else -some)


@core(inline=True)
def look(w, given, t, enough, slope):
    """The rate of the fastest mode at v.x; where Df is not given, ``slope`` = f there. Negative if a function failed.

    Two rounds make a rate, since one takes a length to a speed and the other back. A rate above ``enough`` is looked at again.
    """
    compact()
    v, fn = w.v, w.fn
    t, rate, last = min(t, w.s.cap), 0.0, 1.0
    if given:
        arguments = (address(v.x), address(w.g.b), address(w.p), address(w.tangents.Df))
        if call(w.tangents.jacobians.Df, t, arguments, fn.context) != 0:
            failed(w, codes.DF_FAILED, t, v.x)
            return -1.0
    elif eval_f(w, t, v.x, slope):
        return -1.0
    for q in range(2 * PAIRS):
        # (a little of what it was, after each pair: a vector that Df takes to zero must not be lost)
        growth = turn_and_measure(w, given, t, slope, 0.01 * (q % 2))
        if growth < 0.0:
            return -1.0
        if q % 2 == 1:
            rate = math.sqrt(growth * last)
            if rate <= enough:
                break
        last = growth
    return rate


@core(inline=True)
def turn_and_measure(w, given, t, slope, kept):
    """mode = Df mode, scaled to length 1 in units of the steps for differences; returns by what. Negative if f failed.

    The part ``kept`` of it stays.
    """
    v, rows, Df = w.v, w.tangents.rows, w.tangents.Df
    n, size = v.width, 0.0
    if given:
        for i in range(n):
            total = 0.0
            for j in range(n):
                total += Df[i, j] * rows.mode[j]
            rows.image[i] = total
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
