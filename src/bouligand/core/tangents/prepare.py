"""Preparation of a derivative: what there is in a record, where a propagation starts, and the guards on which it does."""

from ..compiler.intrinsics import compact, read_int, write_int
from ..compiler.jit import core
from ..compiler.tables import work
from ..evaluate import copy_state, eval_h
from ..recorded import before, replay_whole, use_parameters
from ..resolution import near_zero, shake
from ..schemes import STIFF
from ..state import BACK, HAS_SPANS, HAS_STIFF_STEPS, JUMPS_AT_GRAZES, MARGIN, SPAN, WORK
from .difference_steps import guess_steps

# entries of the table, as places of its numbers: three each, address, rows and columns; those of the record stand in this order
_STEPS, _STATES, _EVENTS, _, _LEG_P, _LEGS, _P = (
    3 * WORK.places[name] for name in ("steps", "states", "events", "breaks", "leg_p", "legs", "p")
)


@core
def take_record(table, source):
    """Let a workspace replay the record of an integration, which is in another one, with that one's parameters all the way."""
    compact()
    of, own = work(source), work(table)
    for q in range(_LEG_P - _STEPS):
        write_int(table, _STEPS + q, read_int(source, _STEPS + q))
    # (there is room for more)
    for entry, rows in ((_STEPS, of.s.rows.records), (_STATES, of.s.rows.records), (_EVENTS, of.s.rows.events)):
        write_int(table, entry + 1, rows)
    write_int(table, _LEG_P, read_int(source, _P))
    write_int(table, _LEG_P + 1, 1)
    write_int(table, _LEG_P + 2, read_int(source, _P + 1))
    write_int(table, _LEGS + 1, 0)
    own.s.options.rtol = of.s.options.rtol
    copy_state(of.v.atol, own.v.atol)
    copy_state(of.g.b, own.g.b)


@core(entry=True)
def open_record(table, source):
    """Find out what there is in a record: ``tangents.word`` and g.b = the word at its start, and the steps of differences, as far
    as they can be guessed. The stretch along which tangents are propagated is all of it, until somebody says otherwise.

    ``source``: the workspace of its integration, which has the record, the tolerances and the word at the end; 0: they are in
    place. Returns a sum of HAS_SPANS, HAS_STIFF_STEPS and JUMPS_AT_GRAZES.
    """
    compact()
    if source != 0:
        take_record(table, source)
    w = work(table)
    g, steps, events = w.g, w.steps, w.events
    last = steps.shape[0] - 1
    replay_whole(w)
    spans, stiff, jumps = 0, 0, 0
    for q in range(1, steps.shape[0]):
        kind = steps[q].kind
        spans = HAS_SPANS if kind == SPAN else spans
        stiff = HAS_STIFF_STEPS if kind % BACK == STIFF else stiff
    for q in range(events.shape[0] - 1, -1, -1):  # (of each guard, the first flip is the last one that counts)
        if events[q].shown != MARGIN:
            g.b[events[q].guard] = -events[q].sign
        jumps = JUMPS_AT_GRAZES if events[q].effect > 1.0 else jumps
    copy_state(g.b, w.tangents.word)
    at = w.tangents.at
    at.begin, at.begin_leg, at.leg, at.end, at.wanted = 0, 0, 0, last, -1
    at.rows_at, at.near_end, w.tangents.modes.step = -1, 0, 0
    guess_steps(w)
    return spans + stiff + jumps


@core(entry=True)
def prepare(table):
    """g.held = 1 for guards that are zero at the first row of the stretch.

    Returns how many these guards are, and one more if something happens at the very start; negative if h failed.
    """
    compact()
    w = work(table)
    v, g, t, at_once = w.v, w.g, w.steps[0].t, 0
    use_parameters(w, w.tangents.at.begin_leg)
    copy_state(w.states[0], v.x)
    held = 0
    shake(v)
    if eval_h(w, t, v.x, g.h) or eval_h(w, t, v.x_trial, g.h_trial):
        return -1
    for k in range(g.width):
        g.held[k] = 1.0 if near_zero(g, k) and g.observer[k] == 0.0 else 0.0
        held += int(g.held[k])
    if w.events.shape[0] > 0:
        at_once = 1 if before(w.events[0].t) <= t else 0
    return held + at_once


@core(entry=True)
def restart(table):
    """Put the position back to the start of the stretch, and the word to the one there."""
    compact()
    w = work(table)
    at = w.tangents.at
    at.record, at.event, at.leg, at.rows_at = 0, at.begin, at.begin_leg, -1
    copy_state(w.tangents.word, w.g.b)
    return 0
