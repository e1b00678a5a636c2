"""The paper's printed rule for arming one-sided guards again (`pool`)."""

from .. import codes
from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import eval_f
from ..restart import forget_rates
from ..state import SWITCH
from .crossing import note


@core
def refill(w):
    """The paper's printed rule, after an integrated step: guards with h < 0 are armed when all have been crossed.

    The signs of those that are not armed follow h, as in the listing, but only from step to step.
    """
    compact()
    s, v, g = w.s, w.v, w.g
    all_crossed = True
    changed = False
    for k in range(g.width):
        if g.watched[k] != 0.0:
            all_crossed = False
        elif g.b[k] * g.h[k] < 0.0:
            g.b[k] = -g.b[k]
            note(w, s.now.t, k, g.b[k], g.h[k], SWITCH)
            changed = True
    for k in range(g.width):
        if all_crossed and g.h[k] < 0.0:
            g.watched[k] = -1.0
            g.held[k] = 0.0
    if changed and eval_f(w, s.now.t, v.x, v.f):
        return s.run.status
    forget_rates(s)
    return codes.GO_ON
