"""The rows of a record from some time on, with rows at additional times: where a step is divided for perturbations."""

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.tables import work
from ..schemes import METHODS, STIFF
from ..state import EVENT, HOP, SPAN, STEP

_DOPRI5 = METHODS["dopri5"]
_KIND, _RECORD = STEP.names.index("kind"), EVENT.names.index("record")  # (the first field of both is t)


@core(entry=True)
def divide_rows(table, first, times, kinds, rates, rungs, shortest, steps, numbers, owners, events, event_numbers):
    """The rows from ``first`` on of the record that is open, with rows at ``times`` (in order; those that have a row already, or
    come twice, count once). Returns their number.

    ``kinds``: of each row of the record. A spanning step is dopri5 between its crossings. A part of a step that is short enough
    has a formula of lower order, with fewer stages: ``rungs`` has the longest of each, times the rate of the fastest mode,
    ``rates[row]``, or times ``shortest`` over the whole step, whichever is larger; none, if it is empty. ``steps``, ``numbers``:
    what is written, as floats and as integers; ``owners``: of each row that of the record, negative (-1 - row) where it is new.
    ``events``, ``event_numbers``: the events from there on, in the same way, whose rows are written.
    """
    compact()
    w = work(table)
    count, q = 0, 0
    for row in range(first, w.steps.shape[0]):
        begin, t = count, w.steps[row].t
        while q < times.shape[0] and times[q] < t:
            if count == 0 or times[q] != steps[count - 1, 0]:
                copy_step(w, row, times[q], kinds[row], steps, numbers, count)
                owners[count] = -1 - row
                count += 1
            q += 1
        while q < times.shape[0] and times[q] == t:
            q += 1
        copy_step(w, row, t, kinds[row], steps, numbers, count)
        owners[count] = row
        count += 1
        if rungs.shape[0] > 0 and row > 0:
            whole = t - w.steps[row - 1].t
            for part in range(begin, count):
                length = steps[part, 0] - steps[part - 1, 0] if part > 0 else 0.0
                if length < whole:
                    z = max(rates[row] * length, shortest * length / whole)
                    numbers[part, _KIND] = cheaper_kind(numbers[part, _KIND], z, rungs)
    number_events(steps, count, events, event_numbers)
    return count


@core(inline=True)
def copy_step(w, row, t, kind, steps, numbers, count):
    """Write a row of the record again, with another time and kind."""
    step = w.steps[row]
    steps[count, 0], numbers[count, _KIND] = t, _DOPRI5 if kind == SPAN else kind
    steps[count, 2], steps[count, 3], steps[count, 4] = step.length, step.back, step.correction


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
def number_events(steps, count, events, event_numbers):
    """The row of each event: the last one at or before its time. (Events are nearly in order.)"""
    row = 0
    for q in range(events.shape[0]):
        while row + 1 < count and steps[row + 1, 0] <= events[q, 0]:
            row += 1
        while row > 0 and steps[row, 0] > events[q, 0]:
            row -= 1
        event_numbers[q, _RECORD] = row
