"""A step that was taken becomes part of the record, and its end the present."""

from .. import codes
from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.vectors import copy
from ..evaluate import copy_state, eval_f
from ..guards import take_over
from ..state import HOP
from ..unit import make_unit_with_slope
from .crossing import cross_and_evaluate
from .dense import requested
from .observers import observe


@core(inline=True)
def accept(w, landed):
    """Make the end of the step the present, write it down, and cross the guard it landed on."""
    compact()
    s, v, g, t_eval, states = w.s, w.v, w.g, w.t_eval, w.states
    t, n, j = s.t, v.width, s.target
    whole = s.length + s.back + s.correction
    end = t + whole
    if not end > t:
        # the guard is here, to round-off
        copy_state(v.f, v.f_end)
        return cross_and_evaluate(w, j)
    if not landed and s.stop - end <= 4e-16 * max(abs(end), whole):
        end = s.stop
    if s.eval_count < t_eval.shape[0] and t_eval[s.eval_count] <= end and requested(w, s.length, end - t):
        return s.status
    row = s.record_count
    s.record_count = row + 1
    if s.observers > 0 and observe(w, s.length, end - t, landed):
        return s.status
    if w.units.shape[0] > 0:
        make_unit_with_slope(w, v.x_end, v.f_end)
    step = w.steps[row]
    step.t, step.kind = end, s.kind
    step.length, step.back, step.correction = s.length, s.back, s.correction
    for i in range(n):
        states[row, i] = v.x_end[i]
        v.x[i] = v.x_end[i]
    take_over(w)
    s.t = end
    s.step_count += 1
    s.budget -= 1
    s.tries = 0
    s.judged = 0
    s.no_landing = 0
    if landed:
        s.hops += 1
        if g.level[j] == 0.0:
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
