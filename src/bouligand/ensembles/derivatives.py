"""The Bouligand derivative of each trajectory of an ensemble, or the gradient of a cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..derivative.moments import columns_of
from ..derivative.shooting import cost_and_slope
from ..errors import BouligandError
from ..integration.solve import solve
from . import outcomes

if TYPE_CHECKING:
    from .._typing import FloatArray
    from ..solution.solution import Solution
    from .kept import Kept
    from .problem import Problem


def add_derivatives(problem: Problem, x0: FloatArray, p: FloatArray, kept: Kept) -> None:
    """Write the derivatives of the trajectories that were integrated; NaN for those that failed, or that have several pieces."""
    columns = columns_of(problem.system, problem.wrt)
    find: Callable[..., None] = _matrix if problem.derivative == "matrix" else _gradient
    for i in np.flatnonzero(kept.rows["outcome"] <= outcomes.TERMINATED):
        rows = x0[i if len(x0) > 1 else 0], p[i if len(p) > 1 else 0]
        solution = solve(problem.system, problem.t_span, *rows, on_failure="return", **problem.options)
        try:
            find(problem, solution, columns, kept.rows, i)
        except (BouligandError, _SeveralPiecesError):
            continue


class _SeveralPiecesError(Exception):
    """The derivative is not linear there, or too many orders had to be tried to know: it has no single matrix."""


def _derivative(problem: Problem, solution: Solution, columns: list[int]) -> Any:
    B: Any = solution.bderivative(params=any(column >= problem.system.n for column in columns))
    if B.is_linear is not True:
        raise _SeveralPiecesError
    return B


def _matrix(problem: Problem, solution: Solution, columns: list[int], rows: dict[str, Any], i: int) -> None:
    B = _derivative(problem, solution, columns)
    whole = B.matrix()
    if any(column >= problem.system.n for column in columns):
        whole = np.hstack([whole, B.matrix(wrt="p")])
    rows["B"][i] = whole[:, columns]


def _gradient(problem: Problem, solution: Solution, columns: list[int], rows: dict[str, Any], i: int) -> None:
    value, weights = cost_and_slope(problem.cost, solution.record.states[-1])
    rows["cost"][i] = value
    found = _derivative(problem, solution, columns).vjp(weights)
    whole = np.concatenate(found) if isinstance(found, tuple) else found
    rows["gradient"][i] = whole[columns]
