"""Accepting a step: it becomes part of the record, and its end the present state."""

import math

from .. import codes
from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.vectors import copy
from ..evaluate import copy_state, eval_f, project_onto_guards
from ..guards import advance_guards
from ..recorded import next_row, write_step
from ..restart import forget_rates, know_rates, no_first_step, no_landing, post, step_taken
from ..state import HOP, NO_GUARD
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
    t, n, j = s.now.t, v.width, s.step.target
    whole = s.step.length + s.step.back + s.step.correction
    end = t + whole
    if not end > t:
        # the present state is on the guard, to round-off
        copy_state(v.f, v.f_end)
        return cross_and_evaluate(w, j)
    if s.now.stop - end <= 4e-16 * max(abs(end), whole):
        end = s.now.stop  # (or a landing that ended behind it, by less than it resolves)
    if s.rows.requested < t_eval.shape[0] and t_eval[s.rows.requested] <= end and requested(w, s.step.length, end - t):
        return s.run.status
    row = next_row(s)
    if s.options.observers > 0 and observe(w, s.step.length, end - t, landed):
        return s.run.status
    if w.units.shape[0] > 0:
        make_unit_with_slope(w, v.x_end, v.f_end)
    if s.here.kept > 0:
        project_onto_guards(w, end, v.x_end)
    write_step(w, row, end, s.step.kind, s.step.length, s.step.back, s.step.correction)
    for i in range(n):
        states[row, i] = v.x_end[i]
        v.x[i] = v.x_end[i]
    advance_guards(w)
    s.now.t = end
    step_taken(w)
    s.hop.measured_over = max(s.hop.measured_over, s.step.length) if s.step.kind >= HOP else math.inf
    s.landing.short = s.landing.short + 1 if s.step.kind >= HOP and not landed and s.options.projection == 0 else 0
    if s.landing.short >= MOST_SHORT:
        # (a guard that is approached ever more slowly looks as near after each of them: an ordinary step tells)
        no_landing(s)
    if landed:
        s.counts.hops += 1
        if g.level[j] == 0.0:
            ask_if_barely(s, g, j, whole)
            return cross_and_evaluate(w, j)
    elif s.step.kind < HOP:
        copy_state(v.f_end, v.f)
        copy(g.hdot_end, g.hdot)
        know_rates(s)
        no_first_step(s)
        if s.options.pool == 1:
            post(s, codes.REFILL, NO_GUARD)
        return codes.GO_ON
    forget_rates(s)
    return s.run.status if eval_f(w, end, v.x, v.f) else codes.GO_ON
