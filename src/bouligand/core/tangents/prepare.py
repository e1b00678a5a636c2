"""Preparation of a derivative: what there is in a record, and the guards that it starts on."""

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.tables import work
from ..evaluate import copy_state, eval_h
from ..recorded import use_parameters
from ..resolution import near_zero, shake
from ..schemes import STIFF
from ..state import BACK, HAS_SPANS, HAS_STIFF_STEPS, JUMPS_AT_GRAZES, MARGIN, SPAN
from .difference_steps import guess_steps


@core(entry=True)
def open_record(table):
    """g.b = the word at the start, where it holds that at the end; and the steps of differences, as far as they can be guessed.

    Returns what there is in the record: a sum of HAS_SPANS, HAS_STIFF_STEPS and JUMPS_AT_GRAZES.
    """
    compact()
    w = work(table)
    g, steps, events = w.g, w.steps, w.events
    spans, stiff, jumps = 0, 0, 0
    for q in range(1, steps.shape[0]):
        kind = steps[q].kind
        spans = HAS_SPANS if kind == SPAN else spans
        stiff = HAS_STIFF_STEPS if kind % BACK == STIFF else stiff
    for q in range(events.shape[0] - 1, -1, -1):  # (of each guard, the first flip is the last one that counts)
        if events[q].shown != MARGIN:
            g.b[events[q].guard] = -events[q].sign
        jumps = JUMPS_AT_GRAZES if events[q].effect > 1.0 else jumps
    guess_steps(w)
    return spans + stiff + jumps


@core(entry=True)
def prepare(table):
    """g.held = 1 for guards that are zero at the first row of the record.

    Returns how many these guards are; negative if h failed.
    """
    compact()
    w = work(table)
    v, g, t = w.v, w.g, w.steps[0].t
    use_parameters(w, w.tangents.at.leg)
    copy_state(w.states[0], v.x)
    held = 0
    shake(v)
    if eval_h(w, t, v.x, g.h) or eval_h(w, t, v.x_trial, g.h_trial):
        return -1
    for k in range(g.width):
        g.held[k] = 1.0 if near_zero(g, k) and g.observer[k] == 0.0 else 0.0
        held += int(g.held[k])
    return held
