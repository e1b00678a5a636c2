"""Accepting a step: it becomes part of the record, and its end the present state."""

import math

from .. import codes
from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.vectors import copy
from ..evaluate import copy_state, eval_f, project_onto_guards
from ..guards import advance_guards
from ..recorded import write_step
from ..state import HOP
from ..unit import make_unit_with_slope
from .crossing import ask_if_barely, cross_and_evaluate
from .dense import requested
from .observers import observe

MOST_SHORT = 2  # hops in a row that fall short of their guard


@core(inline=True)
def accept(w, landed):
    """Make the end of the step the present state, record it, and cross the guard it landed on."""
    compact()
    s, v, g, t_eval, states = w.s, w.v, w.g, w.t_eval, w.states
    t, n, j = s.t, v.width, s.target
    whole = s.length + s.back + s.correction
    end = t + whole
    if not end > t:
        # the present state is on the guard, to round-off
        copy_state(v.f, v.f_end)
        return cross_and_evaluate(w, j)
    if s.stop - end <= 4e-16 * max(abs(end), whole):
        end = s.stop  # (or a landing that ended behind it, by less than it resolves)
    if s.eval_count < t_eval.shape[0] and t_eval[s.eval_count] <= end and requested(w, s.length, end - t):
        return s.status
    row = s.record_count
    s.record_count = row + 1
    if s.observers > 0 and observe(w, s.length, end - t, landed):
        return s.status
    if w.units.shape[0] > 0:
        make_unit_with_slope(w, v.x_end, v.f_end)
    if s.kept > 0:
        project_onto_guards(w, end, v.x_end)
    write_step(w, row, end, s.kind, s.length, s.back, s.correction)
    for i in range(n):
        states[row, i] = v.x_end[i]
        v.x[i] = v.x_end[i]
    advance_guards(w)
    s.t = end
    s.step_count += 1
    s.budget -= 1
    s.tries = 0
    s.judged = 0
    s.no_landing = 0
    s.measured_over = max(s.measured_over, s.length) if s.kind >= HOP else math.inf
    s.short_hops = s.short_hops + 1 if s.kind >= HOP and not landed and s.bands == 0 else 0
    if s.short_hops >= MOST_SHORT:
        # (a guard that is approached ever more slowly looks as near after each of them: an ordinary step tells)
        s.no_landing = 1
    if landed:
        s.hops += 1
        if g.level[j] == 0.0:
            ask_if_barely(s, g, j, whole)
            return cross_and_evaluate(w, j)
    elif s.kind < HOP:
        copy_state(v.f_end, v.f)
        copy(g.hdot_end, g.hdot)
        s.rates_known, s.fresh = 1, 0
        if s.pool == 1:
            s.question = codes.REFILL
        return codes.GO_ON
    s.rates_known = 0
    return s.status if eval_f(w, end, v.x, v.f) else codes.GO_ON
