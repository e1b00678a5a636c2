"""The main loop: smooth steps, hops and crossings.

``run`` continues until the end, a failure, or a full buffer, and can be called again where it stopped. One pass through the
loop of ``advance`` is one of: a crossing at the present state, a smooth step, a hop onto a guard. Where many guards are ahead
and f is a sum over contacts, it returns NEED_SPAN: spanning steps are an entry of their own (see ``spans.span``). So are jumps
of the state, sliding modes and stiff steps: once these are compiled, the loop calls them by their addresses.
"""

from .. import codes
from ..clock import time_to_look
from ..compiler.intrinsics import call_entry, compact
from ..compiler.jit import core
from ..compiler.tables import work
from ..evaluate import copy_state, eval_h, in_tolerances
from ..guards import arriving, first_arrival, rates, refine_arrival
from ..resolution import on_surface
from ..restart import know_rates, new_trial, no_landing, post, refuse, tried
from ..state import NO_GUARD, SHOWN
from . import outcomes
from .accept import accept
from .bands import set_levels, shrink_bands
from .crossing import cross_and_evaluate
from .landing import land_by_hop, step_smoothly
from .leg import drift_to_stop, is_instant, shortest
from .missed import find_missed_touch, passed_before
from .observers import MOST_INSIDE
from .start import start

# guards ahead from which on a spanning step is taken: MANY_AHEAD + MORE_OF_FEW // m^2 of m (with few guards, hops are cheap)
MANY_AHEAD, MORE_OF_FEW = 5, 9_999
AT_LIMIT = 5e-7  # (1 - u^2) / (1 + u^2) of a guard whose sliding ends
MOST_TRIES = 500  # rejected steps in a row
MOST_IDLE = 2_000  # passes through the loop without a step or a crossing


@core(entry=True)
def run(table):
    """Integrate until something has to be reported to the caller; returns its code."""
    compact()
    w = work(table)
    code = codes.GO_ON
    while code == codes.GO_ON:
        code = advance(w)
        if code == codes.JUMP and w.fn.enter_jump != 0:
            code = call_entry(w.fn.enter_jump, table)
        if code == codes.SLIDE and w.fn.enter_slide != 0:
            code = call_entry(w.fn.enter_slide, table)
        # (what a breakpoint changes is for the caller, who may have asked for a pause there)
        question = codes.FIRST_QUESTION <= code <= codes.LAST_QUESTION and code != codes.CHANGED
        if question and w.fn.enter_judge != 0:
            code = call_entry(w.fn.enter_judge, table)
    if code == codes.FINISHED:
        list_times(w)
    w.s.run.status = code
    return code


@core(inline=True)
def list_times(w):
    """Write the times of the events, which are asked for most often, one after the other: NumPy would take longer to select them
    than a landing takes."""
    compact()
    s, events, times = w.s, w.events, w.event_times
    s.rows.shown = 0
    for q in range(s.rows.events):
        if events[q].shown == SHOWN:
            times[s.rows.shown] = events[q].t
            s.rows.shown += 1


@core
def advance(w):
    """The loop itself: integrate until another entry is needed, or something has to be reported. Returns a code."""
    compact()
    s = w.s
    code = codes.GO_ON
    if s.run.started == 0:
        code = start(w)
    elif s.run.stale == 1:
        post(s, codes.CHANGED, NO_GUARD)
        s.span.on = 0
    elif s.span.on == 1:
        code = codes.NEED_SPAN
    elif s.jump.on == 1 and s.jump.generation > 0:
        code = codes.JUMP  # (a table was full)
    room = events_at_once(w)
    idle, done = 0, -1
    while code == codes.GO_ON:
        # --- a loop without steps and crossings is stopped, so that it cannot hang
        idle = idle + 1 if s.counts.steps + s.rows.events == done else 0
        done = s.counts.steps + s.rows.events
        code = interrupted(w, room, idle)
        if code != codes.GO_ON:
            break
        # --- rates of the guards
        if s.here.rates_known == 0:
            if rates(w, False, 0.0):
                code = s.run.status
                break
            know_rates(s)
        in_band = s.options.projection > 0 and set_levels(w.g)
        # --- crossings at the present state, and the end of a leg
        code, again, tau, j = resolve_corner(w)
        if again or code != codes.GO_ON:
            continue
        code, again = end_of_leg(w)
        if again or code != codes.GO_ON:
            continue
        # --- the next step
        rest = s.now.stop - s.now.t
        if rest <= 1e-3 * s.next.dt and (rest <= shortest(w, w.v.f) or (s.counts.steps == 0 and is_instant(w))):
            outcome = drift_to_stop(w)
        else:
            code, again, length, landing = choose_step(w, tau, j, in_band)
            if again or code != codes.GO_ON:
                continue
            outcome = take_step(w, length, landing, s.options.projection if in_band and landing else 0)
            outcome = check_step(w, outcome, in_band)
        if outcome == outcomes.FAILED:
            code = s.run.status
        elif outcome == outcomes.TURNS:
            shrink_bands(w)
        elif outcome == outcomes.REJECTED or outcome == outcomes.NOT_FINITE:
            tried(s)
            s.step.not_finite = 1 if outcome == outcomes.NOT_FINITE else 0
        else:
            code = accept(w, outcome == outcomes.LANDED)
    return code


@core(inline=True)
def events_at_once(w):
    """Rows of the event table that one pass may need; where f or h may jump, every guard may be crossed at once, and have come
    near before."""
    compact()
    s = w.s
    changes = w.breaks.shape[0] > 0 or s.run.stale == 1
    return 4 + 2 * s.options.one_sided + MOST_INSIDE * s.options.observers + (2 * w.g.width if changes else 0)


@core(inline=True)
def interrupted(w, room, idle):
    """The code of a reason to leave the loop: no progress, a full buffer, a question for the judge; else GO_ON."""
    compact()
    s = w.s
    if idle > MOST_IDLE:
        return codes.STEP_TOO_SMALL
    if s.rows.events + room > w.events.shape[0]:
        return codes.EVENTS_FULL
    if s.rows.records >= w.steps.shape[0]:
        return codes.RECORDS_FULL
    if s.counts.f_calls >= s.clock.look_at and time_to_look(w):
        return codes.LOOK
    return s.ask.question


@core(inline=True)
def resolve_corner(w):
    """Cross a guard that the present state is on; leave stuck and receding guards to the judge, many guards to a spanning step.

    Returns a code, whether to start the pass again, the time to the guard that is reached first, and its number.
    """
    compact()
    s, v, g = w.s, w.v, w.g
    t, stop = s.now.t, s.now.stop
    s.ask.soon = 0.0
    ending = t >= s.now.tf or s.run.ended_by != NO_GUARD or s.jump.on == 1
    if ending or s.here.fresh == 1:
        s.ask.soon = min(1.0 / max(in_tolerances(w, v.f, v.x, v.x), 1e-300), 1e-3 * s.next.dt)
    tau, j, stuck, turned = first_arrival(g, s.ask.soon)
    odd = s.ask.judged == 0 and (stuck >= 0 or turned >= 0)
    if (
        s.options.may_span == 1
        and j >= 0
        and not ending
        and not odd
        and t < stop
        and t >= s.span.hops_until
        and s.run.budget > 0
    ):
        within = min(1.5 * s.span.dt if s.span.dt > 0.0 else 0.2 * s.next.dt, stop - t)
        if tau < within and arriving(g, within) >= MANY_AHEAD + MORE_OF_FEW // g.width**2:
            s.span.dt = s.span.dt if s.span.dt > 0.0 else within
            return codes.NEED_SPAN, False, tau, j
    here = max(4e-16 * max(abs(t), s.next.dt), 1.001 * s.landing.gap, s.ask.soon if ending else 0.0)
    if j >= 0 and g.level[j] == 0.0 and tau <= max(here, 0.01 * s.ask.soon, 1e-9 * s.next.dt):
        # (nearer than a landing resolves, it is crossed on the spot if it is here to round-off)
        # (f has no jump where rest ends: so small a time makes no difference; nor where sliding does, if its multiplier is there)
        ends = g.b[j] == 0.0 and (g.rest[j] != 0.0 or g.h[j] <= AT_LIMIT)
        found = 1 if tau <= here or ends else 0 if g.b[j] == 0.0 else on_surface(w, j, tau)
        if found < 0:
            return s.run.status, False, tau, j
        if found == 1:
            copy_state(v.f, v.f_end)
            return cross_and_evaluate(w, j), True, tau, j
    if odd:
        post(s, codes.STUCK if stuck >= 0 else codes.TURNED, stuck if stuck >= 0 else turned)
    return codes.GO_ON, odd, tau, j


@core(inline=True)
def end_of_leg(w):
    """Stop for a jump, at tf, a terminal event, a breakpoint, a spent budget. Returns a code; and if the pass starts again."""
    compact()
    s, breaks = w.s, w.breaks
    t = s.now.t
    if s.jump.on == 1:
        return codes.JUMP, False
    if s.run.ended_by != NO_GUARD:
        return codes.TERMINATED, False
    if t >= s.now.tf:
        return codes.FINISHED, False
    if t >= s.now.stop:
        s.rows.breaks += 1
        s.now.stop = breaks[s.rows.breaks] if s.rows.breaks < breaks.shape[0] else s.now.tf
        post(s, codes.CHANGED, NO_GUARD)
        return codes.GO_ON, True
    if s.run.budget <= 0:
        return codes.BUDGET_SPENT, False
    if s.counts.steps >= s.options.max_steps:
        return codes.TOO_MANY_STEPS, False
    # (the last step may be shorter: an interval of one unit in the last place is no failure)
    if (s.next.dt <= 4e-16 * max(abs(t), 1e-280) and s.next.dt < s.now.stop - t) or s.step.tries > MOST_TRIES:
        return codes.NOT_FINITE if s.step.not_finite == 1 else codes.STEP_TOO_SMALL, False
    return codes.GO_ON, False


@core(inline=True)
def choose_step(w, tau, j, in_band):
    """A hop onto the guard that is reached first, if that is within the natural step; else that step. Sets s.step.target.

    Returns a code, whether to start the pass again, the length, and whether it is to land on a guard.
    """
    compact()
    s, v, g = w.s, w.v, w.g
    t, stop = s.now.t, s.now.stop
    remaining = stop - t
    length = min(s.next.dt, s.options.dt_max)
    foreseen = s.next.reach > 0.0
    reach = max(length, s.next.reach)
    s.next.reach = 0.0
    landing = False
    if s.landing.none == 1:
        length = min(length, remaining)
    elif in_band and tau >= remaining:
        length = min(length, remaining)  # no projection beyond the end: what is left of the band is integrated
    elif in_band:
        extrapolate(w, tau)
        if eval_h(w, t + tau, v.x_trial, g.h_trial):
            return s.run.status, False, length, landing
        if refine_arrival(g, tau)[0] > 2.0 * tau:
            shrink_bands(w)
            return codes.GO_ON, True, length, landing
        landing, length = True, tau
    elif (j >= 0 and tau < 1.5 * reach) or (j < 0 and g.width > 0 and (s.here.fresh == 0 or foreseen)):
        # (where no guard is being approached, one that now recedes may come back)
        if j < 0 or s.here.fresh == 0 or tau > 0.1 * length:
            tau = tau if j >= 0 else min(reach, remaining)
            extrapolate(w, tau)
            if eval_h(w, t + tau, v.x_trial, g.h_trial):
                return s.run.status, False, length, landing
            tau, j = refine_arrival(g, tau)
        if tau <= (1.05 if s.step.tries == 0 else 1.0) * reach:
            landing, length = True, tau
    if length >= 0.999999 * remaining:
        landing = landing and tau < remaining
        length = length if landing else remaining
    s.step.target = j
    return codes.GO_ON, False, length, landing


@core(inline=True)
def extrapolate(w, tau):
    """v.x_trial = the state about tau ahead, from x', x'' and (after a smooth step) x'''."""
    v = w.v
    third = 1.0 / 3.0 if w.s.here.fresh == 0 else 0.0
    for i in range(v.width):
        v.x_trial[i] = v.x[i] + tau * (v.f[i] + 0.5 * tau * (v.second[i] + third * tau * v.third[i]))


@core(inline=True)
def take_step(w, length, landing, fixed):
    """Step from v.x to v.x_end: with ``landing`` by a hop onto guard s.step.target, else (or where no hop fits) a smooth step.

    ``fixed`` is the rung of the paper's projections, 0 where the tolerance decides.
    """
    compact()
    s = w.s
    tries = 0
    new_trial(s)
    if landing:
        outcome, length, tries = land_by_hop(w, length, fixed)
        if outcome != outcomes.NO_HOP:
            return outcome
        if length > 1.1 * s.next.dt:
            length, landing = s.next.dt, False
    return step_smoothly(w, length, landing, fixed, tries)


@core(inline=True)
def check_step(w, outcome, in_band):
    """The outcome of a step, or REJECTED if it missed a crossing inside it, or FAILED."""
    compact()
    s, g = w.s, w.g
    t, whole = s.now.t, s.step.length + s.step.back + s.step.correction
    behind = t + whole - s.now.stop
    if outcome == outcomes.LANDED and behind > 0.0 and behind > shortest(w, w.v.f_end):
        no_landing(s)
        outcome = outcomes.REJECTED
    alone = s.here.last < 0 or t > g.t_last[max(s.here.last, 0)]  # not one of a cluster of landings
    if outcome == outcomes.LANDED and whole > (1e-9 if alone else 0.1) * s.next.dt and not in_band:
        where = passed_before(w, whole, s.step.target)
        if where != 0.0:
            outcome = outcomes.REJECTED if where > 0.0 else outcomes.FAILED
            refuse(s, abs(where) * whole)
    if outcome == outcomes.STEPPED and g.width > 0:
        outcome = find_missed_touch(w, s.step.length)
    return outcome
