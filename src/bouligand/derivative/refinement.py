"""Which recorded steps are too long for perturbations, and where to divide them.

The step size control of the integration only sees modes that the trajectory excites. A perturbation may excite others, and the
steps must be short enough for those as well, to the same tolerance. Where the fastest modes are damped, that is only until they
have decayed (see `core.tangents.graded_steps`).
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
from ..core.state import BACK, DAMPED, DIVIDED, HOP, LIMITS, ORDERS, SMALL, SPAN, WORTH
from ..errors import DerivativeError
from ..system.interrupts import answered
from .failures import raise_failed
from .rough_sides import times_near_rough_sides
from .turns import in_turns

if TYPE_CHECKING:
    from .._typing import FloatArray
    from ..memory.extras import TangentMemory
    from ..solution.record import Record
    from ..system.system import System

_fastest_modes = Kernel("tangents.fastest_mode", "fastest_modes", "what derivatives need", direct=True)
_find_long_steps = Kernel("tangents.long_steps", "find_long_steps", "what derivatives need", direct=True)
_divide_steps = Kernel("tangents.graded_steps", "divide_steps", "what derivatives need", direct=True)

_DOPRI5 = METHODS["dopri5"]
_ORDERS = {
    **{METHODS[scheme.name]: scheme.order for scheme in SCHEMES},
    STIFF: ros34pw2.ORDER,
    **ORDERS,
}  # of each kind of step
_ACCURATE, _STABLE, _ORDER = (LIMITS.places[name][0] for name in ("accurate", "stable", "order"))
_RATE, _KIND = DIVIDED.names.index("rate"), DIVIDED.names.index("kind")
_SLACK = 1.0  # error of a perturbation's step that is accepted, in tolerances
_SMALLER = 0.6  # a step may at most leave this much of a mode that has decayed below the tolerance
_RUNGS = (1, 2, 3, 4)  # of a hop, with as many stages as their order
LOWEST = 1e-13  # tolerance to which steps are divided
_NEVER_SHORT = 1e300  # a rate for which no part of a step is short
MOST = 200_000  # largest number of steps after division


@dataclass(slots=True)
class Rates:
    """For each row of a record the rate of the fastest mode in the step to it, the kind of step that perturbations take, and more
    (the fields of `core.state.DIVIDED`, as plain numbers); and the times at which steps that are too long, to the tolerance
    ``rtol``, are divided (None: there are none)."""

    rtol: float
    rows: FloatArray
    times: FloatArray | None


class Limits(NamedTuple):
    """How long steps may be for perturbations: each kind of step, and the rungs of a hop in place of a part of a longer step (of
    dopri5), each as accurate for its length."""

    kinds: FloatArray
    rungs: FloatArray


@lru_cache(maxsize=64)
def limits(rtol: float) -> Limits:
    """The limits for a tolerance."""
    rtol = max(rtol, LOWEST)
    kinds = np.full((LIMITS.count, SPAN + 1), np.inf)
    for kind, order in _ORDERS.items():
        kinds[_ACCURATE, kind], kinds[_ORDER, kind] = longest(order, rtol), order
    kinds[_STABLE] = stable_bounds()
    budget = rtol / kinds[_ACCURATE, _DOPRI5]
    return Limits(kinds, np.array([(budget * factorial(rung + 1)) ** (1.0 / rung) for rung in _RUNGS]))


def longest(order: int, rtol: float) -> float:
    """The longest step of this order, in units of the time of the fastest mode: its error is ``z^(p+1) / (p+1)!``."""
    return min((_SLACK * rtol * factorial(order + 1)) ** (1.0 / (order + 1)), 2.0)


@lru_cache(maxsize=1)
def stable_bounds() -> FloatArray:
    """For each kind of step, its largest length in units of a damped mode's time: it leaves no more than _SMALLER of the mode."""
    table = np.full(SPAN + 1, np.inf)
    lengths = np.arange(0.05, 20.0, 0.05)
    directions = np.exp(1j * (np.pi - np.linspace(0.0, np.arctan(DAMPED), 5)))
    for scheme in SCHEMES:
        stages = scheme.stages - 1
        A, b, one = scheme.A[:stages, :stages], scheme.b[:stages], np.ones((1, stages, 1))
        z = (lengths[:, None] * directions).ravel()
        left = np.abs(1.0 + z * (np.linalg.solve(np.eye(stages) - z[:, None, None] * A, one)[..., 0] @ b))
        true = np.exp(z.real)
        wrong = (left > np.maximum(_SMALLER, 1.1 * true)).reshape(len(lengths), -1).any(axis=1)
        table[METHODS[scheme.name]] = lengths[np.argmax(wrong)] if wrong.any() else lengths[-1]
    return table


def judge_steps(system: System, record: Record, rtol: float, memory: TangentMemory) -> Rates:
    """The rates of the fastest modes, excited or not, along the record that is open in ``memory``, and how steps that are too
    long for these are divided."""
    division, bound = memory.tangents.division, system._bind()
    division.hold_judgement(len(record))
    set_limits(memory, rtol)
    code = in_turns(system, _fastest_modes, memory.address)
    if code != codes.GO_ON:
        raise_failed(system, code, memory)
    if bound.calls_python:
        error = bound.failures.take()  # (of evaluations inside a step that were not needed)
        if error is not None and not isinstance(error, Exception):  # Ctrl-C
            raise error
    rows = division.rows[: len(record)].copy()
    if memory.modes.worst <= WORTH:
        return Rates(rtol, rows, _with_rough_sides(record, rows, None, rtol, memory) if memory.modes.rough else None)
    division.put("rows", rows)
    _sample_modes(system, record, memory)
    division.put("times", np.empty(4 * len(rows) + 64))
    _divide_steps(memory.address)
    plan = division.now
    if plan.total > MOST:
        row = plan.longest
        raise DerivativeError(
            f"stiff: perturbations would need {plan.total:.0f} steps, most of them near t = {record.t[row]:g}, where a mode "
            f"has the rate {rows[row, _RATE]:.2g} per unit of time. Make that mode slower, or loosen rtol."
        )
    if plan.count > len(division.times):
        division.put("times", np.empty(plan.count))
        _divide_steps(memory.address)
    times = division.times[: plan.count]
    return Rates(rtol, rows, _with_rough_sides(record, rows, times, rtol, memory) if memory.modes.rough else times)


def _with_rough_sides(
    record: Record, rows: FloatArray, times: FloatArray | None, rtol: float, memory: TangentMemory
) -> FloatArray:
    """These times, and those next to rough sides of guards. The steps that they divide keep their formulas, hops get one of
    higher order: their rates become those for which no part is short."""
    kinds = rows[:, _KIND].view(np.int64)  # (as `core.state.DIVIDED` has them)
    short = (kinds % BACK > HOP) & (kinds % BACK < SPAN)
    formulas = np.where(short, _DOPRI5, kinds % BACK)
    orders = np.array([_ORDERS.get(int(kind), 1) for kind in formulas])
    more = times_near_rough_sides(record, memory.tangents.guard_sides, max(rtol, LOWEST), orders)
    if more.size:
        divided = np.searchsorted(record.t, more)
        rows[divided, _RATE] = _NEVER_SHORT
        kinds[divided] = np.where(short[divided], _DOPRI5, kinds[divided])
    return more if times is None else np.union1d(times, more)


def set_limits(memory: TangentMemory, rtol: float) -> None:
    """Let the core judge or divide steps to a tolerance."""
    division = memory.tangents.division
    if division.limited_to != rtol:
        limit = limits(rtol)
        division.limited_to = division.now.rtol = rtol
        division.put("limits", limit.kinds)
        division.put("rungs", limit.rungs)


def _sample_modes(system: System, record: Record, memory: TangentMemory) -> None:
    """Find the steps that are too long, and the eigenvalues of Df where these become many."""
    if system.n <= SMALL:
        memory.tangents.division.hold_samples()
    memory.g.b[:] = record.word_start
    with answered(system._bind()):
        code = _find_long_steps(memory.address)
    if code != codes.GO_ON:
        raise_failed(system, code, memory)
