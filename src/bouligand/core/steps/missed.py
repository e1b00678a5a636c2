"""Was a guard crossed inside a step that does not show it at its end?

A few values of h answer that in nearly all steps, and hardly cost anything; where they leave doubt, `search` looks along the
step itself.
"""

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..dips import any_on_the_way, mark_dips, mark_on_the_way
from ..evaluate import eval_h
from ..guards import bias_of_rates, rates
from ..restart import refuse
from ..state import BACK, HOP
from . import outcomes
from .inside import between
from .search import FAILED, search_guards

WINDING = 0.05  # of the way in a step: more than this off a cubic


@core(inline=True)
def find_missed_touch(w, length):
    """After a step that ends on the right side of every guard: was one touched and released in between?

    Evaluates hdot at the end (which the next step needs anyway) and h in the middle. The outcome is STEPPED; or REJECTED, to
    cut the step where the guard is beyond its surface; or FAILED. A guard that came very near is left for the judge.
    """
    compact()
    s, v, g = w.s, w.v, w.g
    if rates(w, True, length):
        return outcomes.FAILED
    between(w, 0.5, length, v.x_trial)
    if eval_h(w, s.now.t + 0.5 * length, v.x_trial, g.h_middle):
        return outcomes.FAILED
    s.step.middle_known = 1
    s.step.winding = 1.0 if s.step.kind < HOP and is_winding(w, v.x_end, v.f_end) else 0.0
    wrong, turning, rough = mark_dips(g, length, bias_of_rates(s, length), s.step.winding)
    where = 0.5 if wrong else 0.0
    if not wrong and turning + rough > 0:
        where = search_guards(w, length, length, rough, -1)
    if where == 0.0:
        return outcomes.STEPPED
    refuse(s, where * length)
    return outcomes.FAILED if where == FAILED else outcomes.REJECTED


@core
def is_winding(w, end, slope):
    """Whether x along a smooth step to ``end``, with x' = slope there, is far from a cubic, compared to how far it goes.

    The cubic through both ends and their slopes has another third derivative than the stages saw. (Where a scheme is exact for
    its f, a step may be as long as it likes.)
    """
    compact()
    s, v = w.s, w.v
    length = s.step.length
    cube = length * length * length / 12.0
    for i in range(v.width):
        rise, first, last = end[i] - v.x[i], length * v.f[i], length * slope[i]
        off = abs(cube * v.third[i] + rise - 0.5 * (first + last))
        if off > WINDING * (abs(rise) + abs(first) + abs(last)) + 10.0 * (v.atol[i] + s.options.rtol * abs(end[i])):
            return True
    return False


@core
def passed_before(w, whole, target):
    """Whether, on the way to a landing on ``target``, some guard was crossed: where (0: no; -1: h failed).

    h halfway tells where it is what the guard's cubic says; else h along the step does.
    """
    compact()
    s, v, g = w.s, w.v, w.g
    between(w, 0.5, whole, v.x_trial)
    if eval_h(w, s.now.t + 0.5 * whole, v.x_trial, g.h_middle):
        return FAILED
    s.step.middle_known = 1
    s.step.winding = 1.0 if s.step.kind % BACK < HOP and is_winding(w, v.x_smooth, v.f_smooth) else 0.0
    wrong, others = any_on_the_way(g, whole, s.step.winding)
    if wrong > 0.0:
        return 0.5
    if others == 0.0:
        return 0.0
    turning, rough = mark_on_the_way(g, whole, target, s.step.winding)
    if turning + rough == 0:
        return 0.0
    if rates(w, True, whole):
        return FAILED
    return search_guards(w, s.step.length, whole, rough, target)
