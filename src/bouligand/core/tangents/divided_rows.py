"""The rows of a record from some time on, with rows at additional times: where a step is divided for perturbations."""

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.tables import work
from ..evaluate import copy_state
from ..part_states import is_open, leave_open
from ..schemes import METHODS, STIFF
from ..state import HOP, MARGIN, SPAN

_DOPRI5 = METHODS["dopri5"]


@core(entry=True)
def divide_rows(table):
    """division.steps = the rows from ``plan.first`` on of the record that is open, with rows where `collect_moments` says and at
    division.times (one for times that have a row already, or come twice); division.events, which are those from there on, with
    their rows; division.states but for those of new rows: these are dense output, and are listed, or they are left to
    perturbations, inside spanning steps and where a step is divided (see `part_states`). Returns the number of rows.

    A spanning step is dopri5 between its crossings. A part of a step that is short enough has a formula of lower order, with
    fewer stages: division.rungs has the longest of each, times the rate of the fastest mode, or times that for which the whole
    step would be just short enough, whichever is larger; if there are none, parts keep their formula.
    """
    compact()
    w = work(table)
    d = w.tangents.division
    plan, times, moments, rows, steps, owners, rungs = d.plan, d.times, d.moments, d.rows, d.steps, d.owners, d.rungs
    judged, found = rungs.shape[0] > 0, collect_moments(w)
    count, q, k, shortest = 0, 0, 0, d.limits.accurate[_DOPRI5] if judged else 0.0
    for row in range(plan.first, w.steps.shape[0]):
        begin, t, kind = count, w.steps[row].t, rows[row].kind if judged else w.steps[row].kind
        while (k < found and moments[k] <= t) or (q < times.shape[0] and times[q] <= t):
            if k < found and (q == times.shape[0] or moments[k] <= times[q]):
                moment, divides = moments[k], False
                k += 1
            else:
                moment, divides = times[q], True
                q += 1
            if plan.since <= moment < t and (count == 0 or moment != steps[count - 1].t):
                copy_step(w, row, moment, kind, count)
                owners[count] = -1 - row
                d.states[count, 0] = 0.0
                if divides:
                    leave_open(d.states, count)
                count += 1
        copy_step(w, row, t, kind, count)
        owners[count] = row
        count += 1
        if judged and row > 0:
            whole = t - w.steps[row - 1].t
            for part in range(begin, count):
                length = steps[part].t - steps[part - 1].t if part > 0 else 0.0
                if length < whole:
                    z = max(rows[row].rate * length, shortest * length / whole)
                    steps[part].kind = cheaper_kind(steps[part].kind, z, rungs)
    number_events(steps, count, d.events)
    fill_states(w, count)
    plan.rows, plan.row, plan.event = count, 1, 0
    return count


@core
def collect_moments(w):
    """division.moments = the ends of the stretch, and the times of events that are inside a step (those of observers only if
    requested), in order; returns their number. (Events are nearly in order.)"""
    compact()
    plan, events, moments = w.tangents.division.plan, w.tangents.division.events, w.tangents.division.moments
    moments[0], moments[1] = plan.since, plan.until
    count = 2
    for q in range(events.shape[0]):
        event = events[q]
        if event.shown == MARGIN or event.t >= w.steps[event.record].t:
            continue
        if plan.observers == 0 and q != plan.wanted and w.g.observer[event.guard] != 0.0:
            continue
        place = count
        while place > 0 and moments[place - 1] > event.t:
            moments[place] = moments[place - 1]
            place -= 1
        moments[place] = event.t
        count += 1
    return count


@core(inline=True)
def copy_step(w, row, t, kind, count):
    """Write a row of the record again, with another time and kind."""
    step, out = w.steps[row], w.tangents.division.steps[count]
    out.t, out.kind = t, _DOPRI5 if kind == SPAN else kind
    out.length, out.back, out.correction = step.length, step.back, step.correction


@core(inline=True)
def cheaper_kind(kind, z, rungs):
    """The hop with the fewest stages that is accurate enough over the length z, in place of a smooth step; else that one."""
    if kind >= HOP or kind == STIFF:
        return kind
    for rung in range(rungs.shape[0]):
        if z <= rungs[rung]:
            return HOP + 1 + rung
    return kind


@core(inline=True)
def number_events(steps, count, events):
    """The row of each event: the last one at or before its time. (Events are nearly in order.)"""
    row = 0
    for q in range(events.shape[0]):
        while row + 1 < count and steps[row + 1].t <= events[q].t:
            row += 1
        while row > 0 and steps[row].t > events[q].t:
            row -= 1
        events[q].record = row


@core
def fill_states(w, count):
    """The states of all rows that are not new, and the list of those that are: those inside a spanning step only at the start,
    from where perturbations go on, and none that divides a step."""
    compact()
    d = w.tangents.division
    plan, owners, found = d.plan, d.owners, 0
    plan.inside_spans = 0
    for row in range(count):
        if owners[row] >= 0:
            copy_state(w.states[owners[row]], d.states[row])
            continue
        spanning = w.steps[-1 - owners[row]].kind == SPAN
        if row == 0 and spanning:
            plan.inside_spans = 1
        if row == 0 or not (spanning or is_open(d.states, row)):
            d.fresh[found], d.fresh_times[found] = row, d.steps[row].t
            found += 1
    plan.fresh = found
