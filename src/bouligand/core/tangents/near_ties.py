"""Crossings on the record that are near each other: which of them belong together, as one corner."""

from .. import codes
from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import copy_state, eval_f
from ..state import MARGIN, SHOWN, SWITCH
from .guard_rows import approach, guard_row, uncertainty

LONGEST = 1e-3  # of an uncertain time: where a guard is only grazed, nobody knows when
MOST_NEAR = 16  # crossings after one that are looked at: is its order with one of them open, and does it matter?


@core
def independent(w, event, other, slot, spot):
    """Whether two crossings can be taken in either order: neither's jump changes the other's speed, or its jump. Feet that
    touch by position and push on velocities are like that; they need no corner however near they are. -1: f failed."""
    compact()
    s, v, rows, N = w.s, w.v, w.tangents.rows, w.tangents.guard_rows
    n, bad = v.width, False
    for which in range(1, 4):  # x' with the first crossed, with the second, with both
        flip_back_and_forth(w, event, other, which, 1.0)
        bad = bad or eval_f(w, s.t, v.x, v.stages[which])
        flip_back_and_forth(w, event, other, which, -1.0)
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
def flip_back_and_forth(w, event, other, which, direction):
    """Change the word by the first crossing (which = 1), the second (2) or both (3), or back (direction -1)."""
    g, events = w.g, w.events
    for q in range(event, event + rows_of_crossing(w, event)):
        if which != 2:
            g.b[events[q].guard] = direction * events[q].sign
    for q in range(other, other + rows_of_crossing(w, other)):
        if which != 1:
            g.b[events[q].guard] = direction * events[q].sign


@core
def grow(w, u, merge):
    """A corner of at least two crossings begins at at.first: how far does it go? Words are left as they were."""
    compact()
    s, steps, events, at = w.s, w.steps, w.events, w.tangents.at
    first = at.first
    last = first + at.many
    taken = first
    code = codes.AT_CORNER
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
                take_word(w, taken)
                taken += 1
            go_to_record(w, there)
            other = look(w, last, there, 1)
            if other < 0.0:
                code = s.status
                break
            if gap > u + other:
                break
        last += rows_of_crossing(w, last)
    for q in range(taken - 1, first - 1, -1):
        take_back(w, q)
    at.many = last - first
    go_to_record(w, events[first].record)
    if at.wanted < 0 and steps[at.end].t - events[last - 1].t <= max(u, merge):
        at.near_end = 1
    return code


@core
def beyond(w, merge):
    """At the end: is a crossing behind it as near as the tolerances tell? Then the end is at a corner."""
    compact()
    s, steps, events, at = w.s, w.steps, w.events, w.tangents.at
    event = at.event
    while event < events.shape[0] and passive(w, event):
        event += 1
    if event >= events.shape[0]:
        return codes.GO_ON
    there, gap = events[event].record, events[event].t - steps[at.end].t
    go_to_record(w, there)
    u = look(w, event, there, 0)
    go_to_record(w, at.end)
    if u < 0.0:
        return s.status
    if gap > max(u, merge):
        return codes.GO_ON
    at.first, at.many, at.near_end = event, rows_of_crossing(w, event), 1
    return grow(w, u, merge)


@core
def look(w, event, record, slot):
    """`look_here` as a function of its own, for where it is seldom called."""
    compact()
    return look_here(w, event, record, slot)


@core(inline=True)
def look_here(w, event, record, slot):
    """The row, speed and x' of a crossing at the present state and word. Returns how uncertain its time is; 0 where the word
    was changed by a jump of h itself, which no perturbation moves; -1 on failure."""
    compact()
    s, event_row = w.s, w.events[event]
    row, f_before = w.tangents.guard_rows[slot], w.tangents.rows.f_before[slot]
    k, t = event_row.guard, s.t
    if guard_row(w, t, k, record, row) or eval_f(w, t, w.v.x, f_before):
        return -1.0
    hdot = approach(w, k, row, f_before)
    if event_row.jumped == 1:
        return 0.0
    u, off = uncertainty(w, row, hdot, t), abs(event_row.residual) / max(abs(hdot), 1e-300)
    return min(u + off, LONGEST * (s.tf - s.t0))


@core(inline=True)
def passive(w, event):
    """Rows of ``events`` at which perturbations do not change: margins, and, but for the one whose state is asked for,
    observers and guards that have jumped across the trajectory (whose time nothing moves)."""
    g, row, at = w.g, w.events[event], w.tangents.at
    return row.shown == MARGIN or ((g.observer[row.guard] != 0.0 or row.jumped == 1) and event != at.wanted)


@core(inline=True)
def rows_of_crossing(w, event):
    """How many rows of ``events`` are one crossing: guards that were armed again by it, at the same instant, go with it."""
    events = w.events
    count = 1
    while (
        event + count < events.shape[0]
        and events[event].shown == SHOWN
        and events[event + count].shown == SWITCH
        and events[event].jumped + events[event + count].jumped == 0
        and events[event + count].t == events[event].t
        and events[event + count].record == events[event].record
    ):
        count += 1
    return count


@core
def repeats(w, first, last):
    """Whether the guard of row ``last`` is among those from ``first`` on: it cannot be twice in one corner."""
    events = w.events
    found = False
    for q in range(first, last):
        found = found or (events[q].guard == events[last].guard and events[q].shown != MARGIN)
    return found


@core(inline=True)
def take_word(w, event):
    """Change the word as a row of ``events`` says."""
    g, events = w.g, w.events
    if events[event].shown != MARGIN:
        g.b[events[event].guard] = events[event].sign


@core(inline=True)
def take_back(w, event):
    """Change the word back to what it was before that row."""
    g, events = w.g, w.events
    if events[event].shown != MARGIN:
        g.b[events[event].guard] = -events[event].sign


@core(inline=True)
def go_to_record(w, record):
    """Go to a record: its time and state."""
    s = w.s
    s.t, s.cap = w.steps[record].t, 1e300
    copy_state(w.states[record], w.v.x)
