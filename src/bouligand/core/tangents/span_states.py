"""The formulas of the short steps inside spanning steps, which perturbations take from crossing to crossing.

A short step of higher order from the start of a spanning step shows how fast x' changes there (the length of the spanning step
does not, which is often limited by the times of its crossings). Where the formula of second order is accurate enough for that,
and for the fastest mode, the short steps have it. The states at crossings are left to perturbations (see `part_states`).
"""

import math

import numpy as np

from .. import codes
from ..clock import time_to_look
from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.tables import work
from ..part_states import leave_ahead
from ..recorded import cap_at_break, stand_at, use_parameters
from ..state import HOP, MARGIN, SPAN
from .formulas import formula_of
from .states_ahead import step_again

SECOND_ORDER = HOP + 2
# of the short steps of third and of fourth order: the weights of their stages in the error that second order would have
ERROR_WEIGHTS = np.array([[1.0, -2.0, 1.0, 0.0], [4.0, -4.0, -4.0, 4.0]]) / 6.0
SAFETY = 4.0  # elsewhere in a spanning step x' may change so many times as fast


@core(entry=True)
def span_states(table):
    """The kinds of the rows inside spanning steps; the states of new ones are left open, but for one at the start of the stretch.
    Returns a code; LOOK when some time has passed: the next call goes on.

    g.b holds the word at the start of the stretch, and is changed along the way.
    """
    compact()
    w = work(table)
    s, g, d = w.s, w.g, w.tangents.division
    plan, steps, events, owners, leg = d.plan, d.steps, d.events, d.owners, 0
    use_parameters(w, leg)
    if plan.row == 1:
        plan.span = 0
    while plan.row < plan.rows:
        row, event = plan.row, plan.event
        while event < events.shape[0] and events[event].record < row:
            if events[event].shown != MARGIN:
                g.b[events[event].guard] = events[event].sign
            event += 1
        plan.event = event
        new = owners[row] < 0
        into = -1 - owners[row] if new else owners[row]  # the row of the record to which the step leads that it is in
        if into > 0 and w.steps[into].kind == SPAN:
            if s.counts.f_calls >= s.clock.look_at and time_to_look(w):
                return codes.LOOK
            while leg + 1 < w.legs.shape[0] and w.legs[leg + 1] < into:
                leg += 1
                use_parameters(w, leg)
            if plan.span != into and d.rungs.shape[0] > 0:
                cap_at_break(w, into)
                if measure_pace(w, row, into):
                    return s.run.status
            if plan.span == into and steps[row].kind > SECOND_ORDER:
                z = max(plan.pace, d.rows[into].rate) * (steps[row].t - steps[row - 1].t)
                if z <= d.rungs[1]:
                    steps[row].kind = SECOND_ORDER
            if new:
                leave_ahead(d.states, row)
        plan.row = row + 1
    return codes.GO_ON


@core
def measure_pace(w, row, into):
    """plan.pace of the spanning step that leads to the row ``into`` of the record, and begins before this row of the stretch: by
    the first of its short steps that is of third or fourth order, taken from there. True if f failed."""
    compact()
    d = w.tangents.division
    plan, steps, owners, first = d.plan, d.steps, d.owners, row
    while owners[first] == -1 - into and not 3 <= steps[first].kind - HOP <= 4:
        first += 1
    order, length = steps[first].kind - HOP, steps[first].t - steps[first - 1].t
    plan.span, plan.pace = into, math.inf
    stand_at(w, row - 1)
    if not 3 <= order <= 4:
        return False
    if step_again(w, formula_of(steps[first].kind), length, d.states[row - 1], w.v.x_near):
        return True
    plan.pace = pace(w, ERROR_WEIGHTS[order - 3], length)
    return False


@core
def pace(w, weights, length):
    """How fast x' changes along a step that has just been taken: the rate of a mode in which the formula of second order has the
    same error, relative to the largest value of each state."""
    compact()
    s, v, largest, error = w.s, w.v, w.tangents.rows.largest, 0.0
    for i in range(v.width):
        slope = 0.0
        for q in range(weights.shape[0]):
            if weights[q] != 0.0:
                slope += weights[q] * v.stages[q, i]
        if slope != 0.0:
            error = max(error, abs(slope) / (v.atol[i] / s.options.rtol + largest[i]))
    return SAFETY * (6.0 * length * error) ** (1.0 / 3.0) / length
