"""The states at the crossings inside spanning steps, from which perturbations go on.

Perturbations take a step from crossing to crossing; the trajectory has taken one over all of them. Its state at each crossing is
that of the former one after the same short step: two evaluations of f in most cases, and no memory of the contacts, where dense
output would add up what all of them contribute. Each spanning step begins at its recorded state, so that errors do not add up.
"""

import numpy as np

from .. import codes
from ..clock import time_to_look
from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.tables import work
from ..evaluate import eval_f
from ..recorded import cap_at_break, use_parameters
from ..state import MARGIN, SPAN
from ..unit import make_unit
from .formulas import STAGES, TIMES, WEIGHTS, formula_of
from .large_states import add_scaled, sum_scaled

# of each formula, for each stage and the result: the first stage with a weight in it
FIRST_USED = np.argmax(WEIGHTS != 0.0, axis=2)


@core(entry=True)
def span_states(table):
    """division.states of the new rows inside spanning steps, but for one at the start of the stretch. Returns a code; LOOK when
    some time has passed: the next call goes on.

    g.b holds the word at the start of the stretch, and is changed along the way.
    """
    compact()
    w = work(table)
    s, g, d = w.s, w.g, w.tangents.division
    plan, steps, events, owners, leg = d.plan, d.steps, d.events, d.owners, 0
    use_parameters(w, leg)
    while plan.row < plan.rows:
        row, event = plan.row, plan.event
        while event < events.shape[0] and events[event].record < row:
            if events[event].shown != MARGIN:
                g.b[events[event].guard] = events[event].sign
            event += 1
        plan.event = event
        into = -1 - owners[row]  # the row of the record to which the step leads that it is inside of
        if into > 0 and w.steps[into].kind == SPAN:
            if s.f_calls >= s.look_at and time_to_look(w):
                return codes.LOOK
            while leg + 1 < w.legs.shape[0] and w.legs[leg + 1] < into:
                leg += 1
                use_parameters(w, leg)
            cap_at_break(w, into)
            s.t = steps[row - 1].t
            if step_again(w, formula_of(steps[row].kind), steps[row].t - s.t, d.states[row - 1], d.states[row]):
                return s.status
            make_unit(w, d.states[row])
        plan.row = row + 1
    return codes.GO_ON


@core
def step_again(w, formula, length, x, out):
    """out = the state after a step from x. True if f failed. (A loop over the table of weights: straight code for all formulas
    would take longer to compile than this ever saves.)"""
    compact()
    s, v, stages = w.s, w.v, STAGES[formula]
    for stage in range(stages + 1):
        state, target = x, out if stage == stages else v.x_trial
        for q in range(stage):
            weight = length * WEIGHTS[formula, stage, q]
            if weight != 0.0 and q == FIRST_USED[formula, stage]:
                sum_scaled(x, weight, v.stages[q], target)
                state = target
            elif weight != 0.0:
                add_scaled(weight, v.stages[q], target)
        if stage < stages and eval_f(w, s.t + TIMES[formula, stage] * length, state, v.stages[stage]):
            return True
    return False
