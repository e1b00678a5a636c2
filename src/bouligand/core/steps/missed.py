"""Was a guard crossed inside a step that does not show it at its end?

A few values of h answer that in nearly all steps, and hardly cost anything; where they leave doubt, `search` looks along the
step itself.
"""

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..dips import any_on_the_way, mark_dips, mark_on_the_way
from ..evaluate import eval_h
from ..guards import rates
from . import outcomes
from .inside import between
from .search import FAILED, search_guards


@core(inline=True)
def look_between(w, length):
    """After a step that ends on the right side of every guard: was one touched and released in between?

    Evaluates hdot at the end (which the next step needs anyway) and h in the middle. The outcome is STEPPED; or REFUSED, to
    cut the step where the guard is beyond its surface; or FAILED. A guard that came very near is left for the judge.
    """
    compact()
    s, v, g = w.s, w.v, w.g
    if rates(w, True, length):
        return outcomes.FAILED
    between(v, 0.5, length, v.x_trial)
    if eval_h(w, s.t + 0.5 * length, v.x_trial, g.h_middle):
        return outcomes.FAILED
    s.middle_known = 1
    wrong, turning, rough = mark_dips(g, length)
    where = 0.5 if wrong else 0.0
    if not wrong and turning + rough > 0:
        where = search_guards(w, length, length, rough, -1)
    if where == 0.0:
        return outcomes.STEPPED
    s.dt = where * length
    s.rejected += 1
    return outcomes.FAILED if where == FAILED else outcomes.REFUSED


@core
def passed_before(w, whole, target):
    """Whether, on the way to a landing on ``target``, some guard was crossed: where (0: no; -1: h failed).

    h halfway tells where it is what the guard's cubic says; else h along the step does.
    """
    compact()
    s, v, g = w.s, w.v, w.g
    between(v, 0.5, whole, v.x_trial)
    if eval_h(w, s.t + 0.5 * whole, v.x_trial, g.h_middle):
        return FAILED
    s.middle_known = 1
    wrong, others = any_on_the_way(g, whole)
    if wrong > 0.0:
        return 0.5
    if others == 0.0:
        return 0.0
    turning, rough = mark_on_the_way(g, whole, target)
    if turning + rough == 0:
        return 0.0
    if rates(w, True, whole):
        return FAILED
    return search_guards(w, s.length, whole, rough, target)
