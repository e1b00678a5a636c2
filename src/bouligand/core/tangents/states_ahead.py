"""States at crossings inside spanning steps that are needed before perturbations come there.

Perturbations take a step from crossing to crossing, and find the states there on their way (see `part_states`). Before, such a
state is needed where two crossings may be one corner, and by who looks for corners without perturbations. It is then that of the
former crossing after the same short step: two evaluations of f in most cases.
"""

import numpy as np

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import eval_f
from ..part_states import is_ahead
from ..recorded import cap_at_break, stand_at
from ..unit import make_unit
from .crossing_rows import apply_event, keep_word, undo_events
from .formulas import STAGES, TIMES, WEIGHTS, formula_of
from .large_states import add_scaled, sum_scaled

# of each formula, for each stage and the result: the first stage with a weight in it
FIRST_USED = np.argmax(WEIGHTS != 0.0, axis=2)


@core
def find_states_until(w, row):
    """The states of all rows inside spanning steps from the present record up to another. True if f failed. The word is that
    before the event at.event, and is restored; s.now.t is not."""
    compact()
    events, at, bad = w.events, w.tangents.at, False
    event = at.event
    keep_word(w)
    for here in range(at.record, row):
        while event < events.shape[0] and events[event].record <= here:
            apply_event(w, event)
            event += 1
        bad = bad or (is_ahead(w.states, here + 1) and find_state(w, here + 1))
    undo_events(w, at.event, event)
    return bad


@core
def find_state(w, row):
    """The state of a row, by the step that leads to it, in the present word. True if f failed."""
    compact()
    s, steps = w.s, w.steps
    cap_at_break(w, row)
    stand_at(w, row - 1)
    if step_again(w, formula_of(steps[row].kind), steps[row].t - s.now.t, w.states[row - 1], w.states[row]):
        return True
    make_unit(w, w.states[row])
    return False


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
        if stage < stages and eval_f(w, s.now.t + TIMES[formula, stage] * length, state, v.stages[stage]):
            return True
    return False
