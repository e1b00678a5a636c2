"""Accepting a spanning step: checks that the word fits its end and that no guard was grazed, then records it."""

import math

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import copy_state, eval_f, eval_h, in_tolerances, nudge
from ..guards import QUICK, advance_guards, hold
from ..recorded import next_row, write_step
from ..restart import after_crossing, forget_growth, step_taken
from ..state import MARGIN, SHOWN, SPAN
from ..steps import outcomes
from ..steps.crossing import note
from ..unit import make_unit
from .crossings import in_order
from .jumps import RUNNING, add_crossings_before, clear_running_sums, contacts, integral, jump
from .stages import flip_listed, inside

LAST = RUNNING - 4  # first row of the sums over all crossings


@core
def accept_span(w, found, length):
    """Accept the step with the listed crossings (TAKEN), or LEAVE_TO_HOPS; FAILED if a function failed."""
    compact()
    s, v, g, t_eval = w.s, w.v, w.g, w.t_eval
    c, numbers, sums = w.spans.crossings, w.spans.numbers, w.spans.sums
    t, n = s.now.t, v.width
    end = t + length
    if s.now.stop - end <= 4e-16 * max(abs(end), length):
        end = s.now.stop
    # --- h at the end; where a guard recedes or is crossed back at once, also which h are zero there within the tolerance
    if eval_h(w, end, v.x_end, g.h_end):
        return outcomes.FAILED
    flip_listed(w, 0, found)
    outcome, near, again = outcomes.TAKEN, turning(g) > 0.0, shortest_return(w, found, length) < 0.3 * length
    if near or again:
        nudge(w, v.x_end, v.x_end, v.x_trial)
        if eval_h(w, end, v.x_trial, g.hdot_end):
            outcome = outcomes.FAILED
    if outcome == outcomes.TAKEN and near:
        outcome, found = check_turning(w, found, length)
    if outcome == outcomes.TAKEN and again:
        outcome = back_too_soon(w, found, length)
    in_order(w, found)
    if outcome == outcomes.TAKEN and s.rows.requested < t_eval.shape[0] and t_eval[s.rows.requested] <= end:
        outcome = write_requested(w, found, length, end)
    if outcome != outcomes.TAKEN:
        flip_listed(w, 0, found)
        return outcome

    # --- the record
    make_unit(w, v.x_end)
    row = next_row(s)
    write_step(w, row, end, SPAN, length, 0.0, 0.0)
    copy_state(v.x_end, w.states[row])
    least = math.nextafter(t, math.inf)
    for e in range(found):
        k, when = numbers.guard[e], min(max(t + c.tau[e] * length, least), end)
        sign = c.sign[e]
        note(w, when, k, sign, 0.0, SHOWN)
        g.watched[k] = sign
        g.t_last[k] = when
        if sign * g.h_end[k] <= 0.0 and g.b[k] == sign:
            hold(w, k)
        else:
            g.held[k] = 0.0
    if near:
        for k in range(g.width):
            if g.hdot[k] > 0.0:
                _, where = lowest(g, k)
                note(w, t + where * length, k, g.b[k], g.hdot[k], MARGIN)
    # --- the end becomes the present state
    for i in range(n):
        bend = sums.every[LAST + 1, i] + 2.0 * sums.every[LAST + 2, i]
        v.second[i] = ((v.stages[6, i] - v.stages[3, i]) / 0.2 + bend) / length
        whole, area = jump(sums.every, LAST, 1.0, i), integral(sums.every, LAST, 1.0, i)
        v.ramp[0, i] = (6.0 * area - 2.0 * whole) / length
        v.ramp[1, i] = (3.0 * whole - 6.0 * area) / (length * length)
        v.x[i] = v.x_end[i]
    advance_guards(w)
    s.now.t = end
    forget_growth(s)
    s.counts.spans += 1
    step_taken(w)
    after_crossing(w, -1)
    return outcomes.FAILED if eval_f(w, end, v.x, v.f) else outcomes.TAKEN


@core(inline=True)
def lowest(g, k):
    """The minimum of b h inside the step and its place, by the parabola of a guard that has one there."""
    b = g.b[k]
    a0, am, a1 = b * g.h[k], b * g.h_middle[k], b * g.h_end[k]
    fall = 4.0 * am - 3.0 * a0 - a1
    bend = 2.0 * (a0 + a1) - 4.0 * am
    return a0 - 0.25 * fall * fall / bend, -0.5 * fall / bend


@core(fastmath=QUICK)
def turning(g):
    """With the word of the end in g.b: how many guards are on the wrong side at the end, or have a minimum of b h inside."""
    count = 0.0
    for k in range(g.width):
        b = g.b[k]
        a0, am, a1 = b * g.h[k], b * g.h_middle[k], b * g.h_end[k]
        turns = (4.0 * am - 3.0 * a0 - a1 < 0.0) & (3.0 * a1 + a0 - 4.0 * am > 0.0)
        count += 1.0 if (a1 <= 0.0) | turns else 0.0
    return count


@core
def check_turning(w, found, length):
    """The guards that `turning` has counted, one by one: the outcome, and the number of crossings.

    One that is listed as crossed, but whose h is still just short of zero, is held; one that is just beyond, but not listed, is
    crossed at the end. A graze is left to hops if crossing it or not makes a difference; margins are left in g.hdot.
    """
    compact()
    g, c, numbers = w.g, w.spans.crossings, w.spans.numbers
    for k in range(g.width):
        g.hdot[k] = 0.0
        b = g.b[k]
        a0, am, a1 = b * g.h[k], b * g.h_middle[k], b * g.h_end[k]
        unsure = 2.0 * abs(g.hdot_end[k] - g.h_end[k])
        if a1 <= 0.0:
            if -a1 > 10.0 * unsure:
                return outcomes.LEAVE_TO_HOPS, found
            if a0 > 0.0 and g.held[k] == 0.0:
                g.b[k] = -b
                numbers.guard[found], c.tau[found], c.sign[found] = k, 1.0, -b
                found += 1
            continue
        fall = 4.0 * am - 3.0 * a0 - a1
        bend = 2.0 * (a0 + a1) - 4.0 * am
        if a0 > 0.0 and fall < 0.0 and fall + 2.0 * bend > 0.0:
            value, _ = lowest(g, k)
            if abs(value) <= unsure:
                time = 2.0 * length * math.sqrt(unsure / max(bend, 1e-300))
                weight = jump_of(w, k, length)
                if weight < 0.0 or weight * time > 1.0:
                    return outcomes.FAILED if weight < 0.0 else outcomes.LEAVE_TO_HOPS, found
            if 0.0 < value <= 10.0 * unsure:
                g.hdot[k] = value
    return outcomes.TAKEN, found


@core
def jump_of(w, k, length):
    """Size of g_k in the middle of the step, in tolerances per time; negative if g failed."""
    compact()
    s, v, numbers, g = w.s, w.v, w.spans.numbers, w.spans.g
    last = numbers.width - 1
    numbers.guard[last] = k
    if contacts(w, last, 1, s.now.t + 0.5 * length, v.x_middle, 0):
        return -1.0
    for i in range(v.width):
        v.scratch[i] = g[i]
    return in_tolerances(w, v.scratch, v.x, v.x_end)


@core
def shortest_return(w, found, length):
    """The shortest time in which a guard was crossed again."""
    compact()
    s, g, c, numbers = w.s, w.g, w.spans.crossings, w.spans.numbers
    shortest = math.inf
    for e in range(found):
        shortest = min(shortest, s.now.t + c.tau[e] * length - g.t_last[numbers.guard[e]])
    return shortest


@core
def back_too_soon(w, found, length):
    """LEAVE_TO_HOPS if a guard is crossed back so soon that it may only have been grazed, and that makes a difference."""
    compact()
    s, g, c, numbers = w.s, w.g, w.spans.crossings, w.spans.numbers
    for e in range(found):
        k, tau = numbers.guard[e], c.tau[e]
        since = s.now.t + tau * length - g.t_last[k]
        if since < 0.3 * length:
            h0, hm, h1 = g.h[k], g.h_middle[k], g.h_end[k]
            way = abs(4.0 * hm - 3.0 * h0 - h1 + 4.0 * tau * (h0 + h1 - 2.0 * hm))
            if 0.25 * way * since < 2.0 * length * abs(g.hdot_end[k] - h1):
                weight = jump_of(w, k, length)
                if weight < 0.0 or weight * since > 1.0:
                    return outcomes.FAILED if weight < 0.0 else outcomes.LEAVE_TO_HOPS
    return outcomes.TAKEN


@core
def write_requested(w, found, length, end):
    """Write the states at the requested times inside the step."""
    compact()
    s, v, t_eval = w.s, w.v, w.t_eval
    clear_running_sums(w)
    e = 0
    while s.rows.requested < t_eval.shape[0] and t_eval[s.rows.requested] <= end:
        q = s.rows.requested
        x = w.x_eval[q]
        if t_eval[q] < end:
            theta = (t_eval[q] - s.now.t) / length
            e = add_crossings_before(w, e, found, theta, length, False)
            if e < 0:
                return outcomes.FAILED
            inside(w, theta, RUNNING, length, x)
        else:
            copy_state(v.x_end, x)
        make_unit(w, x)
        s.rows.requested += 1
    return outcomes.TAKEN
