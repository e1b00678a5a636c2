"""Which recorded steps are too long for perturbations, and where to divide them.

The step size control of the integration only sees modes that the trajectory excites. A perturbation may excite others, and the
steps must be short enough for those as well, to the same tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import factorial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..core.entries import Kernel
from ..core.schemes import METHODS, SCHEMES, STIFF, ros34pw2
from ..core.state import BACK, HOP, ORDERS, SMALL, SPAN
from ..errors import DerivativeError
from ..system.interrupts import answered
from .damping import rates_that_count, stable_bounds
from .failures import raise_failed

if TYPE_CHECKING:
    from .._typing import FloatArray, IntArray
    from ..memory.extras import TangentMemory
    from ..solution.record import Record
    from ..system.system import System

_fastest_modes = Kernel("tangents.fastest_mode", "fastest_modes", "what derivatives need", quickly=True, direct=True)

_DOPRI5 = METHODS["dopri5"]
_ORDERS = {
    **{METHODS[scheme.name]: scheme.order for scheme in SCHEMES},
    STIFF: ros34pw2.ORDER,
    **ORDERS,
}  # of each kind of step
_SLACK = 1.0  # error of a perturbation's step that is accepted, in tolerances
_MANY = 1.5  # times as many steps after division: fewer might do (see `damping`)
_WORTH = 1.7  # a step that is too long by less than this factor is not divided: dividing means copying the whole record
MOST = 200_000  # largest number of steps after division


class Rates(NamedTuple):
    """For each row of a record the rate of the fastest mode in the step to it, and the largest factor by which a step is too
    long for perturbations, to the tolerance ``rtol``."""

    rtol: float
    at: FloatArray
    worst: float


@dataclass(frozen=True)
class Division:
    """Times at which to divide steps, and the kind of step that perturbations take to each row of the record."""

    times: FloatArray
    kinds: IntArray


def longest(order: int, rtol: float) -> float:
    """The longest step of this order, in units of the time of the fastest mode: its error is ``z^(p+1) / (p+1)!``."""
    return min((_SLACK * rtol * factorial(order + 1)) ** (1.0 / (order + 1)), 2.0)


@lru_cache(maxsize=64)
def bounds(rtol: float) -> FloatArray:
    """`longest` for each kind of step, as a table."""
    table = np.full(SPAN + 1, np.inf)
    for kind, order in _ORDERS.items():
        table[kind] = longest(order, max(rtol, 1e-13))
    return table


def fastest_rates(system: System, rtol: float, rows: int, memory: TangentMemory) -> Rates:
    """The rates of the fastest modes, excited or not, along the record that is open in ``memory`` (see
    `core.tangents.fastest_mode`)."""
    out = np.zeros(rows)
    given = system.n <= SMALL and memory.ways.Df
    bound = system._bind()
    with answered(bound):
        worst = _fastest_modes(memory.address, bounds(rtol), given, out)
    if worst < 0.0:
        raise_failed(system, memory.s.status, memory)
    error = bound.failures.take()  # (of evaluations inside a step that were not needed)
    if error is not None and not isinstance(error, Exception):  # Ctrl-C
        raise error
    return Rates(rtol, out, worst)


def divide(system: System, record: Record, rates: Rates, memory: TangentMemory) -> Division | None:
    """How to divide the steps of a record, which is open in ``memory``, that are too long for these rates; None if none is."""
    if rates.worst <= _WORTH:
        return None
    rate_at = rates.at
    t, kinds = record.t, record.steps["kind"].copy()
    kinds[:1] = 0  # (no step leads to the start)
    base = kinds % BACK
    length = rate_at * np.diff(t, prepend=t[0])  # in units of the fastest mode's time
    table = bounds(rates.rtol)
    bound = table[base]
    # a hop, which is short, is replaced by a step of higher order first
    hops = (length > _WORTH * bound) & (base > HOP) & (base < SPAN)
    kinds[hops], bound[hops] = _DOPRI5, table[_DOPRI5]
    parts = np.where(length > _WORTH * bound, np.ceil(length / bound), 1.0)
    if parts.sum() > _MANY * len(t):
        stable = stable_bounds()[kinds % BACK]
        counts = rates_that_count(system, record, memory, rates.rtol, rate_at, np.flatnonzero(parts > 1.0))
        accurate = counts * np.diff(t, prepend=t[0])
        fewer = np.where(accurate > _WORTH * bound, np.ceil(accurate / bound), 1.0)
        rest = np.where(base == STIFF, fewer, parts)
        parts = np.where(np.isfinite(stable), np.maximum(fewer, np.ceil(length / stable)), rest)
        # a stiff step is replaced by explicit ones where fewer of these are accurate (and stable) enough
        explicit = np.maximum(np.ceil(accurate / table[_DOPRI5]), np.ceil(length / stable_bounds()[_DOPRI5]))
        swapped = (base == STIFF) & (explicit < parts)
        kinds[swapped], parts[swapped] = _DOPRI5, explicit[swapped]
    if parts.sum() > MOST:
        k = int(np.argmax(parts))
        raise DerivativeError(
            f"stiff: perturbations would need {parts.sum():.0f} steps, most of them near t = {t[k]:g}, where a mode "
            f"has the rate {rate_at[k]:.2g} per unit of time. Make that mode slower, or loosen rtol."
        )
    return Division(inner_points(t, parts.astype(np.int64)), kinds)


def inner_points(t: FloatArray, parts: IntArray) -> FloatArray:
    """The times that divide the step to each row into so many equal parts; those of all steps, in order."""
    inner = parts - 1
    step = np.repeat(np.arange(len(t)), inner)  # the step of each point, and its number in that step
    number = np.arange(1, len(step) + 1) - np.repeat(np.cumsum(inner) - inner, inner)
    return t[step - 1] + number * ((t[step] - t[step - 1]) / parts[step])
