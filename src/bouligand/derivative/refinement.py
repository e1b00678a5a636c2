"""Which recorded steps are too long for perturbations, and where to divide them.

A step's own error says how long it may be for what happens along the trajectory. A perturbation may excite modes that the
trajectory does not: for those the step must be short as well, to the same tolerance.
"""

from functools import lru_cache
from math import factorial

import numpy as np

from ..core import state as at
from ..core.entries import Kernel
from ..errors import DerivativeError
from ..solution.dense import fail

# the order of the formula with which a step of a kind is taken: methods, rungs of a hop, a spanning step
_ORDERS = {1: 5, 2: 3, 3: 8, at.HOP + 1: 1, at.HOP + 2: 2, at.HOP + 3: 3, at.HOP + 4: 4, at.HOP + 5: 5, at.SPAN: 5}
_SLACK = 1.0  # tolerances that a step of a perturbation may be off by
_WORTH = 1.7  # a step that is longer by less than this is left as it is: dividing costs a look at the whole record
MOST = 200_000  # records
_NO_MATRIX = np.empty((0, 0))

_liveliness = Kernel("tangents.fastest_mode", "liveliness", "what derivatives need", quickly=True)


def longest(order, rtol):
    """How long a step of this order may be, in units of the time of the fastest mode: its error is ``z^(p+1) / (p+1)!``."""
    return min((_SLACK * rtol * factorial(order + 1)) ** (1.0 / (order + 1)), 2.0)


@lru_cache(maxsize=64)
def bounds(rtol):
    """`longest` for each kind of step, as a table."""
    table = np.full(at.SPAN + 1, np.inf)
    for kind, order in _ORDERS.items():
        table[kind] = longest(order, max(rtol, 1e-13))
    return table


def rates(solution, tape):
    """For each record the rate of the fastest mode in the step to it, whether that is excited or not (see `core.lively`); and how
    many times too long for a perturbation the worst step is. In the workspace of ``tape``, which has not been cut yet.
    """
    R, (rtol, atol) = solution._R, solution._tolerances
    out, JX = np.zeros(len(R)), tape.JX if tape.n <= at.SMALL and tape.dfn[at.DF] else _NO_MATRIX
    tape.H[at.B] = solution._word_start
    worst = _liveliness(
        tape.fn, tape.dfn, tape.P, tape.legs, tape.S, tape.I, tape.V, tape.H, JX, R, solution._E, solution._breaks,
        bounds(rtol), tape.Q, rtol, atol, out,
    )  # fmt: skip
    if worst < 0.0:
        fail(solution, tape.S)
    tape.bound.failures.clear()  # (of looks inside a step that did not matter)
    return out, worst


def refined(solution, tape):
    """Times at which to divide steps, and for each record the kind of step that a perturbation is to take to it; None if all
    is as it should be."""
    if solution._rates is None:
        solution._rates = rates(solution, tape)
    lively_at, worst = solution._rates
    if worst <= _WORTH:
        return None
    R = solution._R
    kinds = R[:, at.R_KIND].copy()
    kinds[:1] = 0  # (no step leads to the start)
    base = kinds.astype(np.int64) % at.BACK
    lively = lively_at * np.diff(R[:, at.R_T], prepend=R[0, at.R_T])
    table = bounds(solution._tolerances[0])
    bound = table[base]
    # a hop is taken by a better formula first: it is short
    hops = (lively > _WORTH * bound) & (base > at.HOP) & (base < at.SPAN)
    kinds[hops], bound[hops] = 1, table[1]
    parts = np.where(lively > _WORTH * bound, np.ceil(lively / bound), 1.0)
    if parts.sum() > MOST:
        worst = int(np.argmax(parts))
        raise DerivativeError(
            f"stiff: perturbations would need {parts.sum():.0f} steps, most of them near t = {R[worst, at.R_T]:g}, where a mode "
            f"goes at {lively_at[worst]:.2g} per unit of time. Make that mode slower, or loosen rtol."
        )
    more = [np.linspace(R[k - 1, at.R_T], R[k, at.R_T], int(parts[k]) + 1)[1:-1] for k in np.flatnonzero(parts > 1.0)]
    return np.concatenate(more) if more else np.empty(0), kinds
