"""Crossings on the record that are near each other: which of them form one corner."""

from .. import codes
from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.vectors import copy
from ..evaluate import copy_state, eval_f
from ..state import MARGIN, SHOWN, SWITCH, WITH_CROSSING
from .guard_rows import approach, find_reach, guard_row, uncertainty
from .large_states import MANY_STATES

LONGEST = 1e-3  # largest uncertainty of a time, for guards that are nearly grazed
MOST_NEAR = 16  # crossings after one that are examined: is its order with one of them uncertain, and does it matter?


@core
def independent(w, event, other, slot, spot):
    """Whether two crossings commute: the jump of neither changes the other's hdot or jump. That holds for feet that touch by
    position and push on velocities; they form no corner, however near they are. -1: f failed."""
    compact()
    s, v, rows, N = w.s, w.v, w.tangents.rows, w.tangents.guard_rows
    n, bad = v.width, False
    for which in range(1, 4):  # x' with the first crossed, with the second, with both
        flip_crossings(w, event, other, which, 1.0)
        bad = bad or eval_f(w, s.t, v.x, v.stages[which])
        if w.fn.multipliers == 0:
            flip_crossings(w, event, other, which, -1.0)
        else:
            restore_word(w)
    if bad:
        return -1
    size, rest, on_second, on_first, speed1, speed2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        start, one, two, end = rows.f_before[slot, i], v.stages[1, i], v.stages[2, i], v.stages[3, i]
        size = max(size, abs(one - start), abs(two - start))
        rest = max(rest, abs(end - one - two + start))
        on_second += N[spot, i] * (one - start)
        on_first += N[slot, i] * (two - start)
        speed1 += abs(N[slot, i] * start)
        speed2 += abs(N[spot, i] * start)
    return 1 if rest <= 1e-9 * size and abs(on_second) <= 1e-9 * speed2 and abs(on_first) <= 1e-9 * speed1 else 0


@core
def flip_crossings(w, event, other, which, direction):
    """Apply the first crossing (which = 1), the second (2) or both (3) to the word, or undo them (direction -1)."""
    g, events = w.g, w.events
    for q in range(event, event + rows_of_crossing(w, event)):
        if which != 2:
            g.b[events[q].guard] = direction * events[q].sign
    for q in range(other, other + rows_of_crossing(w, other)):
        if which != 1:
            g.b[events[q].guard] = direction * events[q].sign


@core
def extend_corner(w, u, merge):
    """Find the last crossing of the corner, of at least two crossings, that begins at at.first. The word is restored."""
    compact()
    s, steps, events, at = w.s, w.steps, w.events, w.tangents.at
    first = at.first
    last = first + at.many
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
            while taken < last:
                apply_event(w, taken)
                taken += 1
            go_to_record(w, there)
            other = examine(w, last, there, 1)
            if other < 0.0:
                code = s.status
                break
            if gap > u + other:
                break
        last += rows_of_crossing(w, last)
    undo_events(w, first, taken)
    at.many = last - first
    go_to_record(w, events[first].record)
    if at.wanted < 0 and steps[at.end].t - events[last - 1].t <= max(u, merge):
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
    go_to_record(w, there)
    u = examine(w, event, there, 0)
    go_to_record(w, at.end)
    if u < 0.0:
        return s.status
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
    k, t = event_row.guard, s.t
    if guard_row(w, t, k, record, w.tangents.guard_rows[slot]) or eval_f(w, t, w.v.x, w.tangents.rows.f_before[slot]):
        return -1.0
    find_reach(w, slot)
    hdot = approach(w, k, slot)
    if event_row.jumped == 1:
        return 0.0
    u, off = uncertainty(w, slot, hdot, t), abs(event_row.residual) / max(abs(hdot), 1e-300)
    return min(u + off, LONGEST * (s.tf - s.t0))


@core(inline=True)
def passive(w, event):
    """Whether perturbations do not change at a row of ``events``: a margin; or, unless it is the requested event, an observer or
    a guard that has jumped across the trajectory (whose time nothing moves)."""
    g, row, at = w.g, w.events[event], w.tangents.at
    return row.shown == MARGIN or ((g.observer[row.guard] != 0.0 or row.jumped == 1) and event != at.wanted)


@core(inline=True)
def rows_of_crossing(w, event):
    """How many rows of ``events`` are one crossing: guards that it re-armed at the same instant belong to it."""
    events = w.events
    count = 1
    while (
        event + count < events.shape[0]
        and events[event].shown == SHOWN
        and events[event].jumped == 0
        and (
            (events[event + count].shown == SWITCH and events[event + count].jumped == 0)
            or events[event + count].jumped == WITH_CROSSING
        )
        and events[event + count].t == events[event].t
        and events[event + count].record == events[event].record
    ):
        count += 1
    return count


@core
def repeats(w, first, last):
    """Whether the guard of row ``last`` is among those from ``first`` on: a guard cannot be in one corner twice."""
    events = w.events
    found = False
    for q in range(first, last):
        found = found or (events[q].guard == events[last].guard and events[q].shown != MARGIN)
    return found


@core(inline=True)
def apply_event(w, event):
    """Apply a row of ``events`` to the word."""
    g, events = w.g, w.events
    if events[event].shown != MARGIN:
        g.b[events[event].guard] = events[event].sign


@core(inline=True)
def undo_event(w, event):
    """Undo a row of ``events`` in the word."""
    g, events = w.g, w.events
    if events[event].shown != MARGIN:
        g.b[events[event].guard] = -events[event].sign


@core
def keep_word(w):
    """Keep the word, for `undo_events`. (Of a guard that the trajectory stays on, the sign before is not the opposite one.)"""
    g = w.g
    if w.fn.multipliers != 0:
        for k in range(g.width):
            g.lowest[k] = g.b[k]


@core
def restore_word(w):
    """The word that was kept."""
    g = w.g
    for k in range(g.width):
        g.b[k] = g.lowest[k]


@core
def undo_events(w, first, last):
    """Undo rows of ``events`` that were applied to the word that was kept."""
    compact()
    if w.fn.multipliers != 0:
        restore_word(w)
    else:
        for q in range(last - 1, first - 1, -1):
            undo_event(w, q)


@core
def go_to_record(w, record):
    """Go to a record: its time and state."""
    compact()
    s = w.s
    s.t, s.cap = w.steps[record].t, 1e300
    if w.v.width < MANY_STATES:
        copy_state(w.states[record], w.v.x)
    else:
        copy(w.states[record], w.v.x)
