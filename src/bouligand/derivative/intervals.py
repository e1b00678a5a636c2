"""The derivatives over consecutive intervals of one trajectory, in one pass.

At the end of each interval the tangents are read and put back to the unit perturbations, so that nothing grows with the number of
intervals, and the trajectory is prepared once for all of them. A crossing counts to the interval in which the trajectory has it:
where one happens at the very end of an interval that is the piece on the trajectory's own side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.state import SMALL
from ..errors import NotEventSelectedError
from .chain import Chain

if TYPE_CHECKING:
    from .._typing import FloatArray, IntArray
    from ..solution.solution import Solution

_TINY = (
    1e-300  # instead of zero: which tangents have components along which parameters must be the same in all intervals
)


def interval_maps(
    solution: Solution,
    t: FloatArray,
    columns: IntArray,
    dx: FloatArray,
    du: FloatArray,
    rtol: float | None = None,
    frozen: bool = False,
) -> tuple[FloatArray, FloatArray, int]:
    """A (intervals, n, n) and B (intervals, n, columns) between consecutive times, which are rows of the record; and how many
    corners were passed.

    ``columns``: places of the inputs among the parameters. ``dx`` (intervals, n) and ``du`` (intervals, columns): perturbations
    of the state at the start of each interval and of its inputs, which select the linear pieces at corners. ``frozen``: one
    Jacobian for a few steps; where no derivative exists (a grazed guard, a corner that is not event-selected) perturbations pass
    unchanged.
    """
    frozen = frozen and (solution.system.n <= SMALL or solution.system.has("Df"))  # (else no Df is formed)
    n, inputs, intervals = solution.system.n, len(columns), len(t) - 1
    chain = Chain(solution, t[0], t[-1], None, True, None, observers=False, rtol=rtol, nodes=t[1:], frozen=frozen)
    A, B = np.empty((intervals, n, n)), np.empty((intervals, n, inputs))
    D = np.zeros((1 + n + inputs, chain.width))
    unit = np.zeros((n + inputs, chain.width))
    unit[:n, :n] = np.eye(n)
    unit[n + np.arange(inputs), n + columns] = 1.0

    def start(k: int) -> None:
        D[1:] = unit
        D[0, :n], D[0, n + columns] = dx[k], du[k]

    du = np.where(du == 0.0, _TINY, du)
    start(0)
    k = passed = 0
    for stop in chain.propagate_between(D):
        if stop is not None:
            before = D.copy() if frozen else D
            try:
                stop._pass(D)
            except NotEventSelectedError:
                if not frozen:
                    raise
                D[:] = before
            passed += 1
            continue
        A[k], B[k] = D[1 : n + 1, :n].T, D[n + 1 :, :n].T
        k += 1
        if k < intervals:
            start(k)
    return A, B, passed
