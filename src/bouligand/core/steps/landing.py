"""Taking a step: a hop that lands on a guard, or a smooth step that is moved onto the guard it passed.

A hop is taken by exactly the predicted time; a smooth step that turns out to have passed a guard hops back to it from its
end. Either way the end is then corrected along the flow, with h evaluated again until the residual is far below the
tolerance: without that, near-grazing landings would have an error that does not fall with the tolerance.

The parts of a step are left in s.step.length (the hop or smooth step), s.step.back (the way back to a guard that was passed) and
s.step.correction.
"""

import math

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import copy_state, eval_h, in_tolerances
from ..guards import passed
from ..restart import count_rejection, forget_growth, refuse
from ..state import BACK, HOP
from . import outcomes
from .correction import secant_to_guard
from .hop import hop, natural_step
from .inside import locate
from .smooth import EVALUATION_FAILED, smooth_step

SHORTEST = 1e-10  # of dt: what a shorter hop shows of x'' is round-off
MOST_TRIES = 4  # to land on one guard


@core(inline=True)
def land_by_hop(w, length, fixed):
    """Hop onto the guard s.step.target, at first by this length. Returns the outcome, the last length and the number of tries."""
    compact()
    s, v, g = w.s, w.v, w.g
    tries, share = 0, part(s, length, 2.0)
    start = g.watched[s.step.target] * g.h[s.step.target]
    while True:
        copy_state(v.f, v.hop_stages[0])
        rung = hop(w, s.now.t, v.x, length, share, fixed)
        if rung == outcomes.RUNG_FAILED:
            return outcomes.FAILED, length, tries
        if rung == outcomes.NO_RUNG:
            return outcomes.NO_HOP, length, tries
        s.step.kind, s.step.length = HOP + rung, length
        if eval_h(w, s.now.t + length, v.x_end, g.h_end):
            return outcomes.FAILED, length, tries
        shift, j, finite = passed(g, length, s.step.target, True, 1e-6 * s.next.dt)
        if not finite:
            return not_finite(s, length), length, tries
        if fixed == 1:
            # the paper's tangent projection is not corrected; the residual h is reported
            near = abs(g.h_end[s.step.target]) <= 0.5 * start
            return outcomes.LANDED if near else outcomes.TURNS, length, tries
        if j < 0:
            return outcomes.STEPPED, length, tries
        if fixed > 0:
            near = nearly(shift, length, tries)
        else:
            near = bend_of(w, shift) * max(s.hop.growth * length, 0.01) <= 0.3 * share
        keep_end(v)
        if near:
            outcome = correct_onto_guard(w, length, j, shift, share, fixed)
            telling = s.step.kind > HOP + 2 and s.hop.bend > 0.0 and length > SHORTEST * s.next.dt
            if outcome == outcomes.LANDED and fixed == 0 and telling:
                s.next.dt = max(min(s.next.dt, natural_step(s.hop.bend, s.hop.growth, s.next.scheme)), length)
            if outcome != outcomes.REJECTED:
                return outcome, length, tries
        if shift > 0.0 and fixed == 0:
            return not_there_yet(w, length, near), length, tries
        # --- else hop again: to the root of the guard's parabola at first, then to the root of h along the step
        tries += 1
        aim = length + shift
        if near or tries > 1:
            where, k = locate(w, length)
            if where == -2.0:
                return outcomes.FAILED, length, tries
            if k >= 0:
                aim, j = where * length, k
        if tries > MOST_TRIES:
            outcome = outcomes.TURNS if fixed > 0 else shorten(s, length, 0.5 * aim - length)
            return outcome, length, tries
        count_rejection(s)
        length = max(aim, 0.1 * length)
        share = part(s, length, 2.0)


@core(inline=True)
def step_smoothly(w, length, landing, fixed, tries):
    """A smooth step, cut back to the first guard that it has passed. ``landing``: it is to end on s.step.target."""
    compact()
    s, v, g = w.s, w.v, w.g
    error, factor = smooth_step(w, length)
    if error == EVALUATION_FAILED:
        return outcomes.FAILED
    if error > 1.0:
        s.next.dt = length * factor
        if factor < 1.0:
            count_rejection(s)
        return outcomes.NOT_FINITE if error == math.inf else outcomes.REJECTED
    natural = min(length * factor, s.options.dt_max)
    s.next.dt = max(s.next.dt, natural) if landing or length < 0.999 * s.next.dt else natural
    s.step.length = length
    forget_growth(s)
    if w.fn.fh == 0 and eval_h(w, s.now.t + length, v.x_end, g.h_end):
        return outcomes.FAILED
    shift, j, finite = passed(g, length, s.step.target if landing else -1, False, 0.0)
    if not finite:
        return not_finite(s, length)
    if fixed == 1:
        return outcomes.LANDED if abs(g.h_end[s.step.target]) <= 0.0 else outcomes.TURNS
    if j < 0:
        return outcomes.STEPPED
    near = nearly(shift, length, tries) if fixed > 0 else bend_of(w, shift) <= 0.05
    keep_end(v)
    if near:
        outcome = correct_onto_guard(w, length, j, shift, part(s, length, 2.0), fixed)
        if outcome != outcomes.REJECTED:
            return outcome
    if shift > 0.0 and fixed == 0:
        return not_there_yet(w, length, near)
    return hop_back(w, length, length + shift, j, fixed, tries, near)


@core
def hop_back(w, length, aim, j, fixed, tries, near):
    """From the end of a smooth step (kept in v.x_smooth) back to guard j, which was passed about ``aim`` after its start."""
    compact()
    s, v, g = w.s, w.v, w.g
    while True:
        tries += 1
        if near or tries > 1:
            restore_end(v)
            where, k = locate(w, length)
            if where == -2.0:
                return outcomes.FAILED
            if k >= 0:
                aim, j = where * length, k
        if tries > MOST_TRIES or aim < 0.4 * length:
            shift = (aim if tries <= MOST_TRIES else 0.5 * aim) - length
            return outcomes.TURNS if fixed > 0 else shorten(s, length, shift)
        s.step.target = j
        back = aim - length
        share = part(s, back, 0.5)
        copy_state(v.f_smooth, v.hop_stages[0])
        rung = hop(w, s.now.t + length, v.x_smooth, back, share, fixed)
        if rung == outcomes.RUNG_FAILED:
            return outcomes.FAILED
        if rung == outcomes.NO_RUNG:
            return shorten(s, length, back)
        s.step.kind, s.step.back = s.step.kind % BACK + BACK * rung, back
        forget_growth(s)
        whole = length + back
        if eval_h(w, s.now.t + whole, v.x_end, g.h_end):
            return outcomes.FAILED
        shift, j, finite = passed(g, whole, s.step.target, False, 0.0)
        if not finite:
            return not_finite(s, length)
        if j < 0:
            return shorten(s, whole, 0.0)
        near = nearly(shift, length, tries) if fixed > 0 else bend_of(w, shift) <= 0.05
        if near:
            outcome = correct_onto_guard(w, whole, j, shift, share, fixed)
            if outcome != outcomes.REJECTED:
                return outcome
        aim = whole + shift


@core(inline=True)
def keep_end(v):
    """Keep the end of a step, to be restored if a landing fails."""
    compact()
    copy_state(v.x_end, v.x_smooth)
    copy_state(v.f_end, v.f_smooth)


@core(inline=True)
def restore_end(v):
    compact()
    copy_state(v.x_smooth, v.x_end)
    copy_state(v.f_smooth, v.f_end)


@core(inline=True)
def nearly(shift, length, tries):
    """Whether a projection of fixed order is near enough to its guard: Newton on the time, with the whole hop."""
    compact()
    return abs(shift) <= (1e-3 if tries < 3 else 0.05) * length


@core(inline=True)
def not_there_yet(w, length, tried):
    """The guard is ahead, too far for a correction: an ordinary step."""
    compact()
    if tried and eval_h(w, w.s.now.t + length, w.v.x_end, w.g.h_end):
        return outcomes.FAILED
    return outcomes.STEPPED


@core(inline=True)
def not_finite(s, length):
    """Some h is not finite at the end: try a tenth of the step."""
    compact()
    refuse(s, 0.1 * length)
    return outcomes.NOT_FINITE


@core(inline=True)
def correct_onto_guard(w, whole, j, shift, share, fixed):
    """Correct the end of a step onto guard j: LANDED, FAILED, or REJECTED (then the end is restored)."""
    compact()
    s = w.s
    s.step.correction, converged = secant_to_guard(w, whole, j, shift, 1e-9 if fixed > 0 else share)
    if converged < 0:
        return outcomes.FAILED
    if converged > 0:
        s.step.target = j
        return outcomes.LANDED
    s.step.correction = 0.0
    restore_end(w.v)
    return outcomes.REJECTED


@core(inline=True)
def part(s, length, factor):
    """The part of the tolerance that a landing step of this length may use: in proportion to its length, so that the errors of
    many short ones add up to that of a smooth step."""
    return factor * min(max(abs(length) / s.next.dt, 1e-3), 1.05)


@core(inline=True)
def bend_of(w, shift):
    """Size, in tolerances, of the second-order term of a correction along the flow."""
    compact()
    v = w.v
    for i in range(v.width):
        v.scratch[i] = 0.5 * shift * shift * v.second[i]
    return in_tolerances(w, v.scratch, v.x, v.x_end)


@core(inline=True)
def shorten(s, length, shift):
    """Reject the step; the next trial ends about where the guard is."""
    refuse(s, max(length + min(shift, 0.0), 0.05 * length))
    return outcomes.REJECTED
