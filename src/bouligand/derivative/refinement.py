"""Which recorded steps are too long for perturbations, and where to divide them.

A step's own error says how long it may be for what happens along the trajectory. A perturbation may excite modes that the
trajectory does not: for those the step must be short as well, to the same tolerance.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import factorial

import numpy as np

from ..core.entries import Kernel
from ..core.schemes import METHODS, SCHEMES
from ..core.state import BACK, HOP, SMALL, SPAN
from ..errors import DerivativeError
from ..solution.dense import fail

_fastest_modes = Kernel("tangents.fastest_mode", "fastest_modes", "what derivatives need", quickly=True)

_DOPRI5 = METHODS["dopri5"]
# the order of the formula with which a step of a kind is taken: schemes, rungs of a hop, a spanning step
_ORDERS = {
    **{METHODS[scheme.name]: scheme.order for scheme in SCHEMES},
    **{HOP + rung: rung for rung in range(1, 6)},
    SPAN: 5,
}
_SLACK = 1.0  # tolerances that a step of a perturbation may be off by
_WORTH = 1.7  # a step that is longer by less than this is left as it is: dividing costs a look at the whole record
MOST = 200_000  # records


@dataclass(frozen=True)
class Division:
    """Times at which to divide steps, and for each record the kind of step that a perturbation is to take to it."""

    times: np.ndarray
    kinds: np.ndarray


def longest(order, rtol):
    """How long a step of this order may be, in units of the time of the fastest mode: its error is ``z^(p+1) / (p+1)!``."""
    return min((_SLACK * rtol * factorial(order + 1)) ** (1.0 / (order + 1)), 2.0)


@lru_cache(maxsize=64)
def bounds(rtol):
    """`longest` for each kind of step, as a table."""
    table = np.full(SPAN + 1, np.inf)
    for kind, order in _ORDERS.items():
        table[kind] = longest(order, max(rtol, 1e-13))
    return table


def fastest_rates(system, rtol, rows, memory):
    """For each of so many records the rate of the fastest mode in the step to it, whether that is excited or not (see
    `core.tangents.fastest_mode`); and how many times too long for a perturbation the worst step is. The memory has the record.
    """
    out = np.zeros(rows)
    given = bool(system.n <= SMALL and memory.tangents.jacobians["Df"][0])
    worst = _fastest_modes(memory.address, bounds(rtol), given, out)
    if worst < 0.0:
        fail(system, memory.s.t_failed)
    system._bind().failures.take()  # (of looks inside a step that did not matter)
    return out, worst


def divide(record, rtol, rates):
    """How to divide the steps of a record that are too long at these rates (see `fastest_rates`); None if none is."""
    rate_at, worst = rates
    if worst <= _WORTH:
        return None
    t, kinds = record.t, record.steps["kind"].copy()
    kinds[:1] = 0  # (no step leads to the start)
    base = kinds % BACK
    length = rate_at * np.diff(t, prepend=t[0])  # in units of the fastest mode's time
    table = bounds(rtol)
    bound = table[base]
    # a hop is taken by a better formula first: it is short
    hops = (length > _WORTH * bound) & (base > HOP) & (base < SPAN)
    kinds[hops], bound[hops] = _DOPRI5, table[_DOPRI5]
    parts = np.where(length > _WORTH * bound, np.ceil(length / bound), 1.0)
    if parts.sum() > MOST:
        worst = int(np.argmax(parts))
        raise DerivativeError(
            f"stiff: perturbations would need {parts.sum():.0f} steps, most of them near t = {t[worst]:g}, where a mode "
            f"goes at {rate_at[worst]:.2g} per unit of time. Make that mode slower, or loosen rtol."
        )
    more = [np.linspace(t[k - 1], t[k], int(parts[k]) + 1)[1:-1] for k in np.flatnonzero(parts > 1.0)]
    return Division(np.concatenate(more) if more else np.empty(0), kinds)
