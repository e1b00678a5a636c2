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

from ..core import codes
from ..core.entries import Kernel
from ..core.schemes import METHODS, SCHEMES, STIFF, ros34pw2
from ..core.state import BACK, HOP, ORDERS, SMALL, SPAN
from ..errors import DerivativeError
from .damping import graded, inner_fractions, sampled_modes
from .failures import raise_failed
from .turns import in_turns

if TYPE_CHECKING:
    from .._typing import FloatArray, IntArray
    from ..memory.extras import TangentMemory
    from ..solution.record import Record
    from ..system.system import System
    from .damping import Modes

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
_RUNGS = (1, 2, 3, 4)  # of a hop, with as many stages as their order
MOST = 200_000  # largest number of steps after division


@dataclass(frozen=True)
class Division:
    """Times at which to divide steps, and the kind of step that perturbations take to each row of the record."""

    times: FloatArray
    kinds: IntArray


class Rates(NamedTuple):
    """For each row of a record the rate of the fastest mode in the step to it, the largest factor by which a step is too long for
    perturbations, to the tolerance ``rtol``, and how such steps are divided (None: there are none)."""

    rtol: float
    at: FloatArray
    worst: float
    division: Division | None = None


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


@lru_cache(maxsize=64)
def lengths_of_rungs(rtol: float) -> FloatArray:
    """For each rung of a hop, up to which length it replaces a part of a longer step (of dopri5): as accurate for its length."""
    budget = max(rtol, 1e-13) / bounds(rtol)[_DOPRI5]
    return np.array([(budget * factorial(rung + 1)) ** (1.0 / rung) for rung in _RUNGS])


def shortest_length(rtol: float) -> float:
    """The length of a whole step, as long as the trajectory allowed, in units of the time of a mode for which it would be just
    short enough: parts of it are measured by that where no mode is faster."""
    return float(bounds(rtol)[_DOPRI5])


def fastest_rates(system: System, rtol: float, rows: int, memory: TangentMemory) -> Rates:
    """The rates of the fastest modes, excited or not, along the record that is open in ``memory`` (see
    `core.tangents.fastest_mode`)."""
    out = np.zeros(rows)
    given = system.n <= SMALL and memory.ways.Df
    bound = system._bind()
    position = memory.tangents.modes
    position["step"] = 0
    code = in_turns(system, _fastest_modes, memory.address, bounds(rtol), given, out)
    if code != codes.GO_ON:
        raise_failed(system, code, memory)
    error = bound.failures.take()  # (of evaluations inside a step that were not needed)
    if error is not None and not isinstance(error, Exception):  # Ctrl-C
        raise error
    return Rates(rtol, out, float(position["worst"][0]))


def divide(system: System, record: Record, rates: Rates, memory: TangentMemory) -> Division | None:
    """How to divide the steps of a record, which is open in ``memory``, that are too long for these rates; None if none is."""
    if rates.worst <= _WORTH:
        return None
    rate_at = rates.at
    t, kinds = record.t, record.steps["kind"].copy()
    kinds[:1] = 0  # (no step leads to the start)
    base = kinds % BACK
    length = np.zeros(len(t))  # in units of the fastest mode's time
    np.subtract(t[1:], t[:-1], out=length[1:])
    length *= rate_at
    table = bounds(rates.rtol)
    bound = table[base]
    # a hop, which is short, is replaced by a step of higher order first
    hops = (length > _WORTH * bound) & (base > HOP) & (base < SPAN)
    kinds[hops], bound[hops] = _DOPRI5, table[_DOPRI5]
    parts = np.where(length > _WORTH * bound, np.ceil(length / bound), 1.0)
    times, modes = [], None
    if parts.sum() > _MANY * len(t):
        modes = sampled_modes(system, record, memory, rate_at, parts)
    if modes is not None:
        times = _grade(modes, t, kinds, rates.rtol, parts)
    if parts.sum() > MOST:
        k = int(np.argmax(parts))
        raise DerivativeError(
            f"stiff: perturbations would need {parts.sum():.0f} steps, most of them near t = {t[k]:g}, where a mode "
            f"has the rate {rate_at[k]:.2g} per unit of time. Make that mode slower, or loosen rtol."
        )
    if modes is not None:
        parts[modes.rows] = 1.0  # (these have their times)
    if parts.max() > 1.0:
        times.append(inner_points(t, parts.astype(np.int64)))
    return Division(np.concatenate([*times, t[:0]]), kinds)


def _grade(modes: Modes, t: FloatArray, kinds: IntArray, rtol: float, parts: FloatArray) -> list[FloatArray]:
    """The times that divide the steps of stretches whose modes are known: fewer, where these are damped. Changes ``kinds`` and
    ``parts``."""
    rows = modes.rows
    # places in units of time in which the modes are those that were sampled
    ends = np.array([t[rows - 1], t[rows]])
    ends -= modes.since
    ends *= modes.scale
    base = kinds[rows] % BACK
    base[base == SPAN] = _DOPRI5  # (which it is between its crossings)
    needed = set(base.tolist())
    if STIFF in needed:
        needed.add(_DOPRI5)
    order = max(_ORDERS[kind] for kind in needed)
    before = base.copy()
    count, places = graded(modes, ends, base, rtol, order, bounds(rtol), _WORTH, MOST)
    explicit = base != before
    kinds[rows[explicit]] = base[explicit]
    parts[rows] = count
    if not places.size:
        return []
    of = np.repeat(np.arange(len(rows)), count - 1)
    return [modes.since[of] + places / modes.scale[of]]


def inner_points(t: FloatArray, parts: IntArray) -> FloatArray:
    """The times that divide the step to each row into so many equal parts; those of all steps, in order."""
    step, fraction = inner_fractions(parts)
    return t[step - 1] + fraction * (t[step] - t[step - 1])
