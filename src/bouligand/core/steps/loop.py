"""The loop: smooth steps and hops, one word, one record.

``run`` goes on until the end, a failure, or a full buffer, and can be called again where it stopped. One pass through its
loop is one of: a crossing on the spot, a smooth step, a hop onto a guard. Where many guards are ahead and f is a sum over
contacts, it asks for spanning steps, which are a compiled function of their own (see ``spans.span``).
"""

from .. import codes
from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.tables import work
from ..evaluate import copy_state, eval_h, in_tolerances
from ..guards import ahead, arriving, rates, refined
from ..recorded import before
from . import outcomes
from .accept import accept
from .bands import set_levels, shrink_bands
from .crossing import cross_and_evaluate
from .landing import take_step
from .missed import look_between, passed_before
from .observers import MOST_INSIDE
from .start import start

# guards ahead for which a spanning step is asked for: so many, and more (by their square) where there are few in all and hops
# are cheap
MANY_AHEAD, MORE_OF_FEW = 5, 9_999
MOST_TRIES = 500  # refused steps in a row
MOST_IDLE = 2_000  # passes through the loop without anything done


@core(entry=True)
def run(table):
    """Integrate until something happens that the caller must know of; returns its code."""
    compact()
    w = work(table)
    s = w.s
    code = codes.GO_ON
    if s.started == 0:
        code = start(w)
    elif s.stale == 1:
        s.question = codes.CHANGED
    room = events_at_once(w)
    idle, done = 0, -1
    while code == codes.GO_ON:
        # --- never a hang: a loop that neither steps nor crosses anything is stopped
        idle = idle + 1 if s.step_count + s.event_count == done else 0
        done = s.step_count + s.event_count
        code = interrupted(w, room, idle)
        if code != codes.GO_ON:
            break
        # --- where everything is going
        if s.rates_known == 0:
            if rates(w, False, 0.0):
                code = s.status
                break
            s.rates_known = 1
        in_band = s.bands == 1 and set_levels(w.g)
        # --- what has to happen here and now
        code, again, tau, j = resolve_corner(w)
        if again or code != codes.GO_ON:
            continue
        code, again = end_of_leg(w)
        if again or code != codes.GO_ON:
            continue
        # --- the next step
        code, again, length, landing = choose_step(w, tau, j, in_band)
        if again or code != codes.GO_ON:
            continue
        outcome = take_step(w, length, landing, s.projection if in_band else 0)
        outcome = check_step(w, outcome, in_band)
        if outcome == outcomes.FAILED:
            code = s.status
        elif outcome == outcomes.TURNS:
            shrink_bands(w)
        elif outcome == outcomes.REFUSED or outcome == outcomes.NOT_FINITE:
            s.tries += 1
            s.trial_not_finite = 1 if outcome == outcomes.NOT_FINITE else 0
        else:
            code = accept(w, outcome == outcomes.LANDED)
    s.status = code
    return code


@core(inline=True)
def events_at_once(w):
    """Rows of the event table that one pass may need; where f or h may change at once, every guard may be crossed at once."""
    compact()
    s = w.s
    return 4 + 2 * s.one_sided + MOST_INSIDE * s.observers + (w.g.width if w.breaks.shape[0] > 0 or s.stale == 1 else 0)


@core(inline=True)
def interrupted(w, room, idle):
    """A loop that gets nowhere, a full buffer, a question to be judged first; else GO_ON."""
    compact()
    s = w.s
    if idle > MOST_IDLE:
        return codes.STEP_TOO_SMALL
    if s.event_count + room > w.events.shape[0]:
        return codes.EVENTS_FULL
    if s.record_count >= w.steps.shape[0]:
        return codes.RECORDS_FULL
    return s.question


@core(inline=True)
def resolve_corner(w):
    """The corner at hand: ties are crossed on the spot, what is odd is left to the judge, many guards to a spanning step.

    Returns a code, whether to look again, and when which guard is reached first.
    """
    compact()
    s, v, g = w.s, w.v, w.g
    t, stop = s.t, s.stop
    s.soon = 0.0
    ending = t >= s.tf or s.ending == 1
    if ending or (s.fresh == 1 and s.last >= 0):
        s.soon = min(1.0 / max(in_tolerances(w, v.f, v.x, v.x), 1e-300), 1e-3 * s.dt)
    tau, j, stuck, turned = ahead(g, s.soon)
    odd = s.judged == 0 and (stuck >= 0 or turned >= 0)
    if s.may_span == 1 and j >= 0 and not ending and not odd and t < stop and t >= s.hops_until and s.budget > 0:
        within = min(1.5 * s.dt_span if s.dt_span > 0.0 else 0.2 * s.dt, stop - t)
        if tau < within and arriving(g, within) >= MANY_AHEAD + MORE_OF_FEW // g.width**2:
            s.dt_span = s.dt_span if s.dt_span > 0.0 else within
            return codes.NEED_SPAN, False, tau, j
    here = max(4e-16 * max(abs(t), s.dt), 1.001 * s.gap, s.soon if ending else 0.0)
    if j >= 0 and g.level[j] == 0.0 and tau <= here:
        copy_state(v.f, v.f_end)
        return cross_and_evaluate(w, j), True, tau, j
    if odd:
        s.question = codes.STUCK if stuck >= 0 else codes.TURNED
        s.target = stuck if stuck >= 0 else turned
    return codes.GO_ON, odd, tau, j


@core(inline=True)
def end_of_leg(w):
    """Where it may end: tf, a terminal event, a breakpoint, a budget. Returns a code, and whether to look again."""
    compact()
    s, breaks = w.s, w.breaks
    t = s.t
    if s.ending == 1:
        return codes.TERMINATED, False
    if t >= s.tf:
        return codes.FINISHED, False
    if t >= s.stop:
        s.break_count += 1
        s.stop = breaks[s.break_count] if s.break_count < breaks.shape[0] else s.tf
        s.question = codes.CHANGED
        return codes.GO_ON, True
    if s.budget <= 0:
        return codes.BUDGET_SPENT, False
    if s.step_count >= s.max_steps:
        return codes.TOO_MANY_STEPS, False
    if s.dt <= 4e-16 * max(abs(t), 1e-280) or s.tries > MOST_TRIES:
        return codes.NOT_FINITE if s.trial_not_finite == 1 else codes.STEP_TOO_SMALL, False
    return codes.GO_ON, False


@core(inline=True)
def choose_step(w, tau, j, in_band):
    """Onto the guard that is reached first, if it is within the natural step; else that step. Leaves its guard in s.target.

    Returns a code, whether to look again, the length, and whether it lands.
    """
    compact()
    s, v, g = w.s, w.v, w.g
    t, stop = s.t, s.stop
    remaining = stop - t
    length = min(s.dt, s.dt_max)
    foreseen = s.reach > 0.0
    reach = max(length, s.reach)
    s.reach = 0.0
    landing = False
    if s.no_landing == 1:
        length = min(length, remaining)
    elif in_band:
        extrapolate(w, tau)
        if eval_h(w, t + tau, v.x_trial, g.h_trial):
            return s.status, False, length, landing
        if refined(g, tau)[0] > 2.0 * tau:
            shrink_bands(w)
            return codes.GO_ON, True, length, landing
        landing, length = tau < remaining, tau
    elif (j >= 0 and tau < 1.5 * reach) or (j < 0 and g.width > 0 and (s.fresh == 0 or foreseen)):
        # (where no guard is being approached, one that now recedes may come back)
        if j < 0 or s.fresh == 0 or tau > 0.1 * length:
            tau = tau if j >= 0 else min(reach, remaining)
            extrapolate(w, tau)
            if eval_h(w, t + tau, v.x_trial, g.h_trial):
                return s.status, False, length, landing
            tau, j = refined(g, tau)
        if tau <= (1.05 if s.tries == 0 else 1.0) * reach:
            landing, length = True, tau
    if length >= 0.999999 * remaining:
        landing = landing and tau < remaining
        length = length if landing else remaining
    s.cap = before(stop) if stop < s.tf and t + length >= stop else 1e300
    s.target = j
    return codes.GO_ON, False, length, landing


@core(inline=True)
def extrapolate(w, tau):
    """v.x_trial = the state about tau ahead, from x', x'' and (behind a smooth step) x'''."""
    v = w.v
    third = 1.0 / 3.0 if w.s.fresh == 0 else 0.0
    for i in range(v.width):
        v.x_trial[i] = v.x[i] + tau * (v.f[i] + 0.5 * tau * (v.second[i] + third * tau * v.third[i]))


@core(inline=True)
def check_step(w, outcome, in_band):
    """Did a step miss anything inside it? The outcome again, or REFUSED, or FAILED."""
    compact()
    s, g = w.s, w.g
    t, whole = s.t, s.length + s.back + s.correction
    s.middle_known, s.winding = 0, 0
    if outcome == outcomes.LANDED and t + s.length + s.back + s.correction > s.stop:
        s.no_landing = 1
        outcome = outcomes.REFUSED
    alone = s.last < 0 or t > g.t_last[max(s.last, 0)]  # not one of a cluster of landings
    if outcome == outcomes.LANDED and (alone or whole > 0.1 * s.dt) and not in_band:
        where = passed_before(w, whole, s.target)
        if where != 0.0:
            outcome = outcomes.REFUSED if where > 0.0 else outcomes.FAILED
            s.dt = abs(where) * whole
            s.rejected += 1
    if outcome == outcomes.STEPPED and g.width > 0:
        outcome = look_between(w, s.length)
    return outcome
