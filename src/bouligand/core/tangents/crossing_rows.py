"""Rows of the table of events as crossings of the record: which of them belong together, and the word before and behind them."""

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.vectors import copy
from ..evaluate import copy_state
from ..recorded import no_cap, stand_at
from ..state import MARGIN, SHOWN, SWITCH, WITH_CROSSING
from .large_states import MANY_STATES


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
            g.b_kept[k] = g.b[k]


@core
def restore_word(w):
    """The word that was kept."""
    g = w.g
    for k in range(g.width):
        g.b[k] = g.b_kept[k]


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
    stand_at(w, record)
    no_cap(w.s)
    if w.v.width < MANY_STATES:
        copy_state(w.states[record], w.v.x)
    else:
        copy(w.states[record], w.v.x)
