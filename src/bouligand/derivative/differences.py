"""Differences that know their error: the step of each column is measured, at some states of the trajectory.

Over a ladder of steps, three neighbours that agree show a step at which neither truncation nor round-off is large; what they
differ by is the error. First the three around a guess are tried. A column on which they do not agree, or which is zero there
(the step may be too small to change anything), gets the whole ladder.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..core.entries import Kernel
from ..core.state import DERIVATIVE_ROWS, OF_P, OF_T, OF_X, STEP_RATIO
from ..errors import DerivativeWarning
from ..system.interrupts import answered
from ..system.warning import warn_user

if TYPE_CHECKING:
    from .._typing import BoolArray, FloatArray
    from ..memory.extras import TangentMemory
    from ..solution.solution import Solution

_tabulate = Kernel("tangents.difference_steps", "tabulate_differences", "differences that know their error")

_LARGEST = DERIVATIVE_ROWS.places["largest"][0]
RUNGS = 64  # most of them
ROUND_OFF = 1000.0  # units in the last place by which a function may change for no reason
PLACES = 5  # records at which a step is measured
EXTENT = 1e5  # guessed steps: about as far as the trajectory goes
USABLE = 1e-7  # error of a difference that is taken before steps that are longer than that are looked at
NOISE = 0.3  # neighbouring steps that differ by more than that part, all of them: round-off
NOTICED = 100.0, 1e-8  # a warning is due where the error is larger than both: the first times rtol, and the second


@dataclass(frozen=True)
class Steps:
    """The steps of differences along a solution, and the largest error of a column, relative to its largest entry."""

    f: FloatArray
    h: FloatArray
    largest: FloatArray  # value of each state
    error: float
    worst: str  # which column has that error


def take_steps(solution: Solution, memory: TangentMemory, params: bool) -> None:
    """Measure the steps of differences in the workspace in which the record of this solution is open; it holds guesses."""
    tangents, known = memory.tangents, solution._difference_steps
    if known is None:
        known = solution._difference_steps = {}
    largest, steps = tangents.rows[_LARGEST], known.get(params)
    if steps is None:
        error, worst = _measure(solution, memory, params)
        f, h = tangents.differences.copy(), tangents.differences_h.copy()
        known[params] = Steps(f, h, largest.copy(), error, worst)
        if error > max(NOTICED[0] * solution._tolerances[0], NOTICED[1]):
            warn_user(
                f"the derivative is only good to about {error:.0e}: {worst}, by differences. Give the Jacobian, or let Numba "
                "compile f and h (see system.jacobians)",
                DerivativeWarning,
            )
        return
    tangents.differences[:], tangents.differences_h[:] = steps.f, steps.h
    largest[:] = steps.largest


def _measure(solution: Solution, memory: TangentMemory, params: bool) -> tuple[float, str]:
    """Measure the steps of what is differenced, in place; the largest error, and where it is."""
    system, jac = solution.system, memory.tangents.jacobians[0]
    n, np_ = system.n, memory.parameters_differentiated
    error, worst = 0.0, ""
    names = [*system.states, *(system.params or [f"p[{i}]" for i in range(np_)])]
    for given, of_h, what, columns, label in (
        (jac["Df"] or jac["f_dual"], False, OF_X, slice(0, n), "Df"),
        (jac["Dp_f"] or jac["f_dual"] or not params, False, OF_P, slice(n, n + np_), "Dp_f"),
        (jac["Dh"] or jac["Dh_row"] or jac["h_dual"], True, OF_X, slice(0, n), "Dh"),
        (jac["Dp_h"] or jac["h_dual"] or not params, True, OF_P, slice(n, n + np_), "Dp_h"),
        (jac["Dt_h"] or jac["h_dual"], True, OF_T, slice(n + np_, n + np_ + 1), "Dt_h"),
    ):
        count = columns.stop - columns.start
        if given or not count or (of_h and not system.m):
            continue
        target = (memory.tangents.differences_h if of_h else memory.tangents.differences)[columns]
        errors = _measured(solution, memory, of_h, what, target)
        k = int(np.argmax(errors))
        if errors[k] > error:
            error = float(errors[k])
            worst = f"{label}, column {'t' if what == OF_T else names[columns.start + k]}"
    return error, worst


def _measured(solution: Solution, memory: TangentMemory, of_h: bool, what: int, steps: FloatArray) -> FloatArray:
    """Improve ``steps``, in place, where they need it. Returns the error of each column."""
    enough = max(1e-10, 0.01 * solution._tolerances[0])
    size, apart = _table(solution, memory, of_h, what, np.ones(len(steps), dtype=bool), steps * STEP_RATIO, 3)
    errors = _relative(size, apart).max(axis=1)
    doubtful = (errors > enough) | (size.max(axis=1) == 0.0)
    if not doubtful.any():
        return errors
    tops = steps * STEP_RATIO**18  # a guess takes six of fifteen digits
    if what == OF_P:
        sizes = np.abs(solution.record.parameters[0][0])
        tops = np.maximum(sizes, 1.0)
    size, apart = _table(solution, memory, of_h, what, doubtful, tops, RUNGS)
    for i in np.flatnonzero(doubtful):
        usable = np.isfinite(size[i])
        if not (size[i][usable] > 0.0).any():  # it does not depend on this one
            errors[i] = 0.0
            continue
        # three neighbours: from one step to the next, and to that after it
        of_three = np.maximum(*(_relative(size[i : i + 1], apart[i : i + 1])[0][q : RUNGS - 2 + q] for q in (0, 1)))
        # (where nothing changes over three steps, these are too small)
        of_three[size[i, 1:-1] == 0.0] = np.inf
        # (steps beyond the trajectory itself may agree because f is linear far away: only where none that is shorter will do)
        near = of_three.copy()
        near[: np.searchsorted(-tops[i] / STEP_RATIO ** np.arange(1, RUNGS - 1), -EXTENT * steps[i])] = np.inf
        if near.min() <= USABLE:
            of_three = near
        best = of_three.min()
        if not np.isfinite(best):
            errors[i] = np.inf
            continue
        # the smallest step that is about as good: it stays nearest to the trajectory
        good = np.flatnonzero(of_three <= max(3.0 * best, 0.1 * enough))
        q = int(good[-1])
        if best > NOISE and solution.system._stays:
            # (in a sliding mode large terms cancel: of what does not depend on this one their round-off is left, least in the
            # longest step)
            q = int(np.nanargmin(np.where(usable, size[i], np.nan)[1:-1]))
        steps[i], errors[i] = tops[i] / STEP_RATIO ** (q + 1), of_three[q]
    return errors


def _relative(size: FloatArray, apart: FloatArray) -> FloatArray:
    """Differences between neighbouring steps, relative to the largest entry at either."""
    with np.errstate(invalid="ignore", divide="ignore"):
        out = apart[:, 1:] / np.maximum(size[:, 1:], size[:, :-1])
    out[(apart[:, 1:] == 0.0)] = 0.0
    out[~np.isfinite(out)] = np.inf
    return out


def _table(
    solution: Solution, memory: TangentMemory, of_h: bool, what: int, wanted: BoolArray, tops: FloatArray, rungs: int
) -> tuple[FloatArray, FloatArray]:
    """The sizes of the columns over the steps of a ladder, and how much neighbours are apart."""
    system, record = solution.system, solution.record
    rows = np.unique(np.linspace(0, len(record) - 1, PLACES).astype(np.int64))
    if what == OF_T:  # inside steps there is room on both sides
        rows = rows[:1] if len(rows) < 3 else rows[1:-1]
    out = np.zeros((3, len(tops), rungs))
    width = system.m if of_h else system.n
    memory.g.b[:] = record.word_start
    bound = system._bind()
    with answered(bound):
        columns = np.flatnonzero(wanted)
        _tabulate(memory.address, of_h, what, rows, columns, np.ascontiguousarray(tops), np.zeros((3, width)), out)
    failure = bound.failures.take()  # (a step may leave the domain of a function: that step is not taken)
    if failure is not None and not isinstance(failure, Exception):  # Ctrl-C
        raise failure
    memory.g.b[:] = record.word_start
    size, apart, rounded = out
    # (what no step changes by more than round-off is no dependence)
    unchanged = ~(np.where(np.isfinite(size), size, 0.0) > ROUND_OFF * rounded).any(axis=1)
    size[unchanged] = apart[unchanged] = 0.0
    rounded[unchanged] = 0.0
    return size, np.maximum(apart, rounded)
