"""The spanning step: one Runge-Kutta step across any number of crossings, for a field that is a sum over contacts.

The smooth part of the field is integrated by dopri5, the jumps from their own times on (see ``jumps``), the times are those at
which h is zero along the step (see ``crossings``). These depend on each other: a first list comes from a prediction of the
step, and each pass through the stages gives a better one, until the end changes by less than the tolerance.

``span`` continues from step to step while there are enough crossings ahead. Difficult cases (a graze that makes a difference, a
guard that recedes after its crossing, a step that is rejected repeatedly) are left to hops, until they are past.
"""

from .. import codes
from ..clock import time_to_look
from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.tables import work
from ..compiler.vectors import clear
from ..evaluate import eval_f, eval_h, in_tolerances
from ..guards import QUICK, arriving
from ..restart import count_rejection, forget_rates
from ..schemes.table import dopri5_error
from ..steps import outcomes
from .accept_span import accept_span
from .corrections import clear_former, keep_former, match_former, sum_moves
from .crossings import ODD, into_intervals, list_crossings
from .jumps import sum_jumps
from .stages import HALFWAY, LATE, inside, stages

FEWEST = 5  # crossings for a spanning step: with fewer, larger jumps the uncertainty of their times is underestimated
MOST_PASSES = 3
MOST_TRIES = 10  # rejected steps in a row
CONTRACTION = 0.2  # change that another pass would make, relative to that of the last
MOST_GROWTH = 2.5  # from one step to the next


@core(entry=True)
def span(table):
    """Spanning steps, until there is nothing left to span, or a buffer is full, or a function fails; returns the code.

    Called again after a full buffer or a spent budget, it goes on as if it had not returned.
    """
    compact()
    w = work(table)
    s, steps, events, m = w.s, w.steps, w.events, w.g.width
    if s.span.on == 0:
        begin(w)
    while True:
        t, stop = s.now.t, s.now.stop
        if s.rows.records >= steps.shape[0]:
            return codes.RECORDS_FULL
        if s.rows.events + 3 * m + 4 > events.shape[0]:
            return codes.EVENTS_FULL
        if t >= stop or s.counts.steps >= s.options.max_steps:
            s.span.on = 0
            return codes.GO_ON
        if s.run.budget <= 0:
            return codes.BUDGET_SPENT
        if s.counts.f_calls >= s.clock.look_at and time_to_look(w):
            return codes.LOOK
        length = min(s.span.dt, s.options.dt_max)
        if length >= 0.999999 * (stop - t):
            length = stop - t
        outcome, found, factor = attempt(w, length)
        if outcome == outcomes.TAKEN:
            outcome = accept_span(w, found, length)
        if outcome == outcomes.FAILED:
            s.span.on = 0
            return s.run.status
        if outcome == outcomes.TAKEN:
            s.span.tries = 0
            s.span.dt = length * min(max(0.8 * factor, 0.3), MOST_GROWTH)
            continue
        if outcome == outcomes.REJECTED:
            count_rejection(s)
            s.span.tries += 1
            s.span.dt = length * min(max(0.9 * factor, 0.1), 0.9)
            if s.span.tries <= MOST_TRIES and s.span.dt > 1e-12 * abs(t):
                continue
        elif outcome == outcomes.TOO_FEW:
            s.span.dt = (1.2 if found > 0 else 1.0) * length
        s.span.hops_until = t + max(0.5 * length, 1e-14 * abs(t))
        s.span.on = 0
        return codes.GO_ON


@core
def begin(w):
    """Before the first of some spanning steps: nothing is known of jumps, and the first length is a guess."""
    compact()
    s, v, g = w.s, w.v, w.g
    clear(v.ramp[0], 0, v.width)
    clear(v.ramp[1], 0, v.width)
    forget_rates(s)  # (g.hdot is used for something else)
    clear_former(g)
    # the first step spans a part of all guards only: a step that is too short costs less than a rejected one
    if s.span.dt == 0.0:
        s.span.dt = 0.2 * s.next.dt
    length = s.span.dt
    for _ in range(20):
        if arriving(g, length) <= max(8, g.width // 8):
            s.span.dt = length
            break
        length *= 0.7  # (a limited number of times: a tie stays inside, however short the step is)
    s.span.on, s.span.tries = 1, 0


@core
def attempt(w, length):
    """A trial step: its outcome, the number of crossings listed, and the factor by which the step could have been longer.

    TAKEN leaves the end in v.x_end, the smooth part of x' in v.stages, the crossings and their sums in w.spans.
    """
    compact()
    s, v, g, c, sums = w.s, w.v, w.g, w.spans.crossings, w.spans.sums
    t, n = s.now.t, v.width
    if predict(w, length):
        return outcomes.FAILED, 0, 0.0
    if eval_h(w, t + length, v.x_end, g.h_end) or eval_h(w, t + 0.5 * length, v.x_middle, g.h_middle):
        return outcomes.FAILED, 0, 0.0
    found, finite = list_crossings(w, False)
    if not finite:
        return outcomes.REJECTED, 0, 0.1
    if found < FEWEST:
        return outcomes.TOO_FEW, found, 1.0
    soon = min(1.0 / max(in_tolerances(w, v.f, v.x, v.x), 1e-300) / length, 1e-3)
    ties = count_at_start(c.tau, found, soon)
    moment = 1.0 / (s.options.rtol * max(abs(t), s.now.tf - s.now.t0))  # (a time has the relative tolerance)
    factor = 1.0
    for turn in range(MOST_PASSES):
        # --- the jumps; the stages, and the error of the smooth part (in which the kinks that jumps leave in it show)
        into_intervals(w, found)
        if sum_jumps(w, found, length):
            return outcomes.FAILED, found, 0.0
        if stages(w, length, turn == 0, v.x_end):
            return outcomes.FAILED, found, 0.0
        dopri5_error(0, v.x, v.stages, length, v.scratch)
        error = in_tolerances(w, v.scratch, v.x, v.x_end)
        factor = min(max(error, 1e-5), 1e5) ** -0.2
        if not error <= 1.0:
            return outcomes.REJECTED, found, factor
        # --- the list again, from h along the computed step
        inside(w, 0.5, HALFWAY, length, v.x_middle)
        inside(w, 0.8, LATE, length, v.x_smooth)
        if (
            eval_h(w, t + length, v.x_end, g.h_end)
            or eval_h(w, t + 0.5 * length, v.x_middle, g.h_middle)
            or eval_h(w, t + 0.8 * length, v.x_smooth, g.h_trial)
        ):
            return outcomes.FAILED, found, 0.0
        keep_former(w, found)
        before = found
        found, finite = list_crossings(w, True)
        if not finite or found == ODD:
            clear_former(g)
            return outcomes.LEAVE_TO_HOPS if finite else outcomes.REJECTED, 0, 0.1
        every = match_former(w, found, before)
        if sum_moves(w, every, length):
            return outcomes.FAILED, found, 0.0
        # --- move the end to the new times; the uncertainty of these; and the change that another pass would make
        for i in range(n):
            v.f_smooth[i] = length * sums.moved[i]
            v.x_end[i] += v.f_smooth[i]
            v.scratch[i] = length * sums.doubt[i]
        change = CONTRACTION * in_tolerances(w, v.f_smooth, v.x, v.x_end)
        doubt = max(in_tolerances(w, v.scratch, v.x, v.x_end), largest(c.shift[:found]) * length * moment)
        error = max(doubt, change)
        factor = min(factor, min(max(error, 1e-5), 1e5) ** -0.3333)
        if error <= 1.0:
            # (a tied guard that is not crossed in the end: another crossing reversed its rate, which the judge must see)
            return (
                outcomes.TAKEN if count_at_start(c.tau, found, 2.0 * soon) >= ties else outcomes.LEAVE_TO_HOPS,
                found,
                factor,
            )
        if change < error:
            break
    return outcomes.REJECTED, found, factor


@core
def predict(w, length):
    """Predict v.x_middle and v.x_end, assuming that jumps add up as in the last step: a cubic, from x' at the start and two
    stages under the word of the start, the first of which is dopri5's. True if f failed."""
    compact()
    s, v = w.s, w.v
    t, n = s.now.t, v.width
    c, d = 0.2, 0.7
    for i in range(n):
        v.x_trial[i] = v.x[i] + c * length * v.f[i]
    if eval_f(w, t + c * length, v.x_trial, v.stages[1]):
        return True
    for i in range(n):
        bend = (v.stages[1, i] - v.f[i]) / c + length * (v.ramp[0, i] + c * length * v.ramp[1, i])
        v.x_trial[i] = v.x[i] + d * length * (v.f[i] + 0.5 * d * bend)
    if eval_f(w, t + d * length, v.x_trial, v.stages[2]):
        return True
    for i in range(n):
        early = (v.stages[1, i] - v.f[i]) / c + length * (v.ramp[0, i] + c * length * v.ramp[1, i])
        late = (v.stages[2, i] - v.f[i]) / d + length * (v.ramp[0, i] + d * length * v.ramp[1, i])
        second = (late - early) / (d - c)
        first = early - c * second
        v.x_end[i] = v.x[i] + length * (v.f[i] + 0.5 * first + second / 3.0)
        v.x_middle[i] = v.x[i] + 0.5 * length * (v.f[i] + 0.25 * first + second / 12.0)
    return False


@core(fastmath=QUICK)
def largest(values):
    most = 0.0
    for e in range(values.size):
        most = max(most, abs(values[e]))
    return most


@core
def count_at_start(tau, found, soon):
    """Number of crossings at the start of the step, within the tolerance."""
    count = 0
    for e in range(found):
        count += tau[e] <= soon
    return count
