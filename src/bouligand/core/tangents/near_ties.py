"""Crossings on the record that are near each other: which of them form one corner."""

from .. import codes
from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import eval_f
from ..part_states import is_ahead
from .commuting import HERE, THERE, independent, independent_of_all
from .crossing_rows import (
    apply_event,
    go_to_record,
    keep_word,
    passive,
    repeats,
    rows_of_crossing,
    undo_events,
)
from .guard_rows import approach, error_of, find_reach, guard_row, guard_value, uncertainty
from .states_ahead import find_states_until

LONGEST = 1e-3  # largest uncertainty of a time, for guards that are nearly grazed
MOST_NEAR = 16  # crossings after one that are examined: is its order with one of them uncertain, and does it matter?
FAR = 8.0  # times its error: a guard that is farther from zero where another is crossed is surely crossed later


@core(inline=True)
def may_be_corner(w, event, record, u, merge):
    """Whether the crossing ``event``, whose time is uncertain by u, forms a corner with a later one: 1 yes, 0 no, -1: a function
    failed. Leaves in w.tangents.at where the corner would begin."""
    compact()
    s, events, at = w.s, w.events, w.tangents.at
    width = rows_of_crossing(w, event)
    at.first, at.many = event, width
    at.near_end = 1 if at.wanted < 0 and w.steps[at.end].t - s.now.t <= u else 0
    ahead = next_crossing(w, event + width)
    if ahead >= events.shape[0]:
        return 0
    if merge >= 0.0 or events[ahead].record == record:
        near = events[ahead].record == record or events[ahead].t - events[event].t <= merge
        return 1 if near and not repeats(w, event, ahead) else 0
    later = surely_later(w, ahead, record, u)
    return look_ahead(w, event, ahead, record, u) if later == 0 else min(later, 0)


@core(inline=True)
def next_crossing(w, event):
    """The first row of ``events`` from this one on at which perturbations change."""
    while event < w.events.shape[0] and passive(w, event):
        event += 1
    return event


@core(inline=True)
def surely_later(w, ahead, record, u):
    """Whether the crossing ``ahead`` comes later than the one at hand, whose time is uncertain by u, in spite of all errors: its
    guard is still far from zero. 1 yes, 0 not surely, -1: a function failed."""
    compact()
    s, row = w.s, w.events[ahead]
    if row.t - s.now.t <= FAR * u:
        return 0
    value, bad = guard_value(w, s.now.t, row.guard, record)
    if bad or guard_row(w, s.now.t, row.guard, record, w.tangents.guard_rows[THERE]):
        return -1
    find_reach(w, THERE)
    return 1 if abs(value) > FAR * (error_of(w, THERE) + abs(row.residual)) else 0


@core
def look_ahead(w, event, ahead, record, u):
    """`may_be_corner` for a crossing that is not surely later, and those behind it: the states there show how uncertain the order
    is, and whether it matters."""
    compact()
    events, at, together, near, last = w.events, w.tangents.at, False, 0, event
    # (at the end, and before the requested event, all crossings within the uncertainty are one corner)
    close = at.near_end == 1 or (at.wanted >= event and events[max(at.wanted, 0)].t - w.s.now.t <= u)
    for _ in range(MOST_NEAR):
        if ahead >= events.shape[0] or repeats(w, event, ahead):
            break
        there, gap = events[ahead].record, events[ahead].t - events[event].t
        together = there == record
        if together:
            break
        if is_ahead(w.states, there) and find_states_until(w, there):
            return -1
        keep_word(w)
        for q in range(event, ahead):
            apply_event(w, q)
        go_to_record(w, there)
        uncertain = examine(w, ahead, there, THERE)
        undo_events(w, event, ahead)
        go_to_record(w, record)
        if uncertain < 0.0:
            return -1
        if gap > u + uncertain:
            break
        apart = independent(w, event, ahead)
        if apart < 0:
            return -1
        together = apart == 0 or close
        if together:
            break
        near += 1
        last = ahead + rows_of_crossing(w, ahead)
        ahead = next_crossing(w, last)
    if not together and near > 1:
        apart = independent_of_all(w, event, last, near)
        if apart < 0:
            return -1
        together = apart == 0
    return 1 if together else 0


@core
def extend_corner(w, u, merge):
    """Find the last crossing of the corner, of at least two crossings, that begins at at.first. The word is restored."""
    compact()
    s, steps, events, at = w.s, w.steps, w.events, w.tangents.at
    first = at.first
    last = first + at.many
    end = last  # (rows that perturbations do not change belong to a corner between its crossings only)
    taken = first
    code = codes.AT_CORNER
    keep_word(w)
    while last < events.shape[0]:
        there = events[last].record
        if passive(w, last):
            last += 1
            continue
        if repeats(w, first, last):
            break
        gap = events[last].t - events[first].t
        if gap > merge and there != events[first].record:
            if merge >= 0.0:
                break
            if is_ahead(w.states, there):
                undo_events(w, first, taken)
                taken = first
                if find_states_until(w, there):
                    return s.run.status
            while taken < last:
                apply_event(w, taken)
                taken += 1
            go_to_record(w, there)
            other = examine(w, last, there, THERE)
            if other < 0.0:
                code = s.run.status
                break
            if gap > u + other:
                break
        last += rows_of_crossing(w, last)
        end = last
    undo_events(w, first, taken)
    at.many = end - first
    if find_states_until(w, events[end - 1].record):
        return s.run.status
    go_to_record(w, events[first].record)
    if at.wanted < 0 and steps[at.end].t - events[end - 1].t <= max(u, merge):
        at.near_end = 1
    return code


@core
def corner_at_end(w, merge):
    """Whether a crossing follows the end within the uncertainty of its time: then the end is at a corner."""
    compact()
    s, steps, events, at = w.s, w.steps, w.events, w.tangents.at
    event = at.event
    while event < events.shape[0] and passive(w, event):
        event += 1
    if event >= events.shape[0]:
        return codes.GO_ON
    there, gap = events[event].record, events[event].t - steps[at.end].t
    if is_ahead(w.states, there) and find_states_until(w, there):
        return s.run.status
    go_to_record(w, there)
    u = examine(w, event, there, HERE)
    go_to_record(w, at.end)
    if u < 0.0:
        return s.run.status
    if gap > max(u, merge):
        return codes.GO_ON
    at.first, at.many, at.near_end = event, rows_of_crossing(w, event), 1
    return extend_corner(w, u, merge)


@core
def examine(w, event, record, slot):
    """`examine_inline`, not inlined: for places where it is rarely called."""
    compact()
    return examine_inline(w, event, record, slot)


@core(inline=True)
def examine_inline(w, event, record, slot):
    """Evaluate the row of Dh, hdot and x' of a crossing at the present state and word. Returns the uncertainty of its time; 0
    where the word was changed by a jump of h itself, which no perturbation moves; -1 on failure."""
    compact()
    s, event_row = w.s, w.events[event]
    k, t = event_row.guard, s.now.t
    if guard_row(w, t, k, record, w.tangents.guard_rows[slot]) or eval_f(w, t, w.v.x, w.tangents.rows.f_before[slot]):
        return -1.0
    find_reach(w, slot)
    hdot = approach(w, k, slot)
    if event_row.jumped == 1:
        return 0.0
    u, off = uncertainty(w, slot, hdot, t), abs(event_row.residual) / max(abs(hdot), 1e-300)
    return min(u + off, LONGEST * (s.now.tf - s.now.t0))
