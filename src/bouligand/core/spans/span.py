"""The spanning step: one Runge-Kutta step across any number of crossings, for a field that is a sum over contacts.

The smooth part of the field is integrated by dopri5, the jumps from their own times on (see ``jumps``), the times are those at
which h is zero along the step (see ``crossings``). These depend on each other: a first list comes from a prediction of the
step, and each pass through the stages gives a better one, until what that changes at the end is within the tolerance.

``span`` goes on from step to step while there are enough crossings ahead. Whatever is odd (a graze that would matter, a guard
that turns back, a step that is refused again and again) is left to hops, one guard at a time, until it is past.
"""

from .. import codes
from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.tables import work
from ..compiler.vectors import clear
from ..evaluate import eval_f, eval_h, in_tolerances
from ..guards import QUICK, arriving
from ..schemes.table import dopri5_error
from ..steps import outcomes
from .accept_span import accept_span
from .corrections import compare, forget, remember, sum_moves
from .crossings import ODD, into_intervals, list_crossings
from .jumps import sum_jumps
from .stages import HALFWAY, LATE, inside, stages

FEWEST = (
    5  # crossings for which a spanning step is taken: with fewer, larger jumps the doubt about their times is not seen
)
MOST_PASSES = 3
MOST_TRIES = 10  # refused steps in a row
CONTRACTION = 0.2  # of a pass: the change that another one would make, compared to the last
MOST_GROWTH = 2.5  # from one step to the next


@core(entry=True)
def span(table):
    """Spanning steps, until there is nothing left to span, or a buffer is full, or a function fails; returns the code."""
    compact()
    w = work(table)
    s, v, g, steps, events = w.s, w.v, w.g, w.steps, w.events
    m, tries = g.width, 0
    clear(v.ramp[0], 0, v.width)
    clear(v.ramp[1], 0, v.width)
    s.rates_known = 0  # (g.hdot is used for something else)
    forget(g)
    # not more at first than a part of all guards: a step that is too short costs less than one that is refused
    if s.dt_span == 0.0:
        s.dt_span = 0.2 * s.dt
    length = s.dt_span
    for _ in range(20):
        if arriving(g, length) <= max(8, m // 8):
            s.dt_span = length
            break
        length *= 0.7  # (ties are there however short it is)
    while True:
        t, stop = s.t, s.stop
        if s.record_count >= steps.shape[0]:
            return codes.RECORDS_FULL
        if s.event_count + 3 * m + 4 > events.shape[0]:
            return codes.EVENTS_FULL
        if t >= stop or s.budget <= 0 or s.step_count >= s.max_steps:
            return codes.GO_ON
        length = min(s.dt_span, s.dt_max)
        if length >= 0.999999 * (stop - t):
            length = stop - t
        outcome, found, factor = attempt(w, length)
        if outcome == outcomes.TAKEN:
            outcome = accept_span(w, found, length)
        if outcome == outcomes.FAILED:
            return s.status
        if outcome == outcomes.TAKEN:
            tries = 0
            s.dt_span = length * min(max(0.8 * factor, 0.3), MOST_GROWTH)
            continue
        if outcome == outcomes.REFUSED:
            s.rejected += 1
            tries += 1
            s.dt_span = length * min(max(0.9 * factor, 0.1), 0.9)
            if tries <= MOST_TRIES and s.dt_span > 1e-12 * abs(t):
                continue
        elif outcome == outcomes.TOO_FEW:
            s.dt_span = (1.2 if found > 0 else 1.0) * length
        s.hops_until = t + max(0.5 * length, 1e-14 * abs(t))
        return codes.GO_ON


@core
def attempt(w, length):
    """Try a step: what came of it, the number of crossings listed, and by how much longer the step could have been.

    TAKEN leaves the end in v.x_end, the smooth part of x' in v.stages, the crossings and their sums in w.spans.
    """
    compact()
    s, v, g, c, sums = w.s, w.v, w.g, w.spans.crossings, w.spans.sums
    t, n = s.t, v.width
    if predict(w, length):
        return outcomes.FAILED, 0, 0.0
    if eval_h(w, t + length, v.x_end, g.h_end) or eval_h(w, t + 0.5 * length, v.x_middle, g.h_middle):
        return outcomes.FAILED, 0, 0.0
    found, finite = list_crossings(w, False)
    if not finite:
        return outcomes.REFUSED, 0, 0.1
    if found < FEWEST:
        return outcomes.TOO_FEW, found, 1.0
    soon = min(1.0 / max(in_tolerances(w, v.f, v.x, v.x), 1e-300) / length, 1e-3)
    ties = at_once(c.tau, found, soon)
    moment = 1.0 / (s.rtol * max(abs(t), s.tf - s.t0))  # (a time has the relative tolerance)
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
            return outcomes.REFUSED, found, factor
        # --- the list again, from where the step really goes
        inside(w, 0.5, HALFWAY, length, v.x_middle)
        inside(w, 0.8, LATE, length, v.x_smooth)
        if (
            eval_h(w, t + length, v.x_end, g.h_end)
            or eval_h(w, t + 0.5 * length, v.x_middle, g.h_middle)
            or eval_h(w, t + 0.8 * length, v.x_smooth, g.h_trial)
        ):
            return outcomes.FAILED, found, 0.0
        remember(w, found)
        before = found
        found, finite = list_crossings(w, True)
        if not finite or found == ODD:
            forget(g)
            return outcomes.LEAVE_TO_HOPS if finite else outcomes.REFUSED, 0, 0.1
        every = compare(w, found, before)
        if sum_moves(w, every, length):
            return outcomes.FAILED, found, 0.0
        # --- its times instead of the old ones; the doubt about them; and did it change much?
        for i in range(n):
            v.f_smooth[i] = length * sums.moved[i]
            v.x_end[i] += v.f_smooth[i]
            v.scratch[i] = length * sums.doubt[i]
        change = CONTRACTION * in_tolerances(w, v.f_smooth, v.x, v.x_end)
        doubt = max(in_tolerances(w, v.scratch, v.x, v.x_end), largest(c.shift[:found]) * length * moment)
        error = max(doubt, change)
        factor = min(factor, min(max(error, 1e-5), 1e5) ** -0.3333)
        if error <= 1.0:
            # (a tied guard that is not crossed after all was turned away by another: for the judge)
            return (
                outcomes.TAKEN if at_once(c.tau, found, 2.0 * soon) >= ties else outcomes.LEAVE_TO_HOPS,
                found,
                factor,
            )
        if change < error:
            break
    return outcomes.REFUSED, found, factor


@core
def predict(w, length):
    """v.x_middle and v.x_end as they would be if jumps went on adding up as in the last step: a cubic, from x' at the start and
    two stages under the word of the start, the first of which is dopri5's. True if f failed."""
    compact()
    s, v = w.s, w.v
    t, n = s.t, v.width
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
def at_once(tau, found, soon):
    """Number of crossings that are here, to tolerance."""
    count = 0
    for e in range(found):
        count += tau[e] <= soon
    return count
