"""Preparation of a derivative: the guards that the record starts on."""

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.tables import work
from ..evaluate import copy_state, eval_h
from ..recorded import use_parameters
from ..resolution import near_zero, shake


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
