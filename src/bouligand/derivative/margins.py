"""Grazes on the way of a derivative: up to which size of a perturbation it holds.

Where a guard came within its tolerance of zero and was not crossed, a perturbation that crosses it meets another field;
and one that does not cross a guard that was crossed for a moment does not. The minimum of |h| changes by ``Dh Phi dx``
to first order (hdot is zero there, so that its time does not matter), with Phi the derivative of the state at that
time: B holds for perturbations with ``|Dh Phi dx| < |h|``.

Where f has no jump at the graze, B is one of two pieces, both finite. Where it has one, the outcome beyond changes like
the square root of what is beyond: no derivative describes it.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._made import make
from ..core.state import MARGIN
from ..errors import DerivativeError, DerivativeWarning
from ..system.arguments import numbers
from ..system.warning import warn_user

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import FloatArray, RecordArray
    from ..solution.solution import Solution
    from .bderivative import BDerivative


@dataclass(frozen=True)
class Margin:
    """A graze on the way of a derivative; ``B.margins`` has all of them.

    Attributes
    ----------
    guard : str
        Name of the guard.
    t : float
        When it was grazed.
    h : float
        How near it came; of the sign of its side, or of the other one if it was crossed for a moment.
    rows : array (pieces, n + parameters)
        How ``h`` there depends on the start (and on the parameters), one row for each linear piece of the derivative up
        to there.
    reach : float
        B holds for all perturbations whose Euclidean norm is smaller.
    finite : bool
        Whether f jumps at the graze: beyond it the outcome is then not differentiable. Else B is one of two finite
        pieces.

    Examples
    --------
    A mass that swings down to within 4e-6 of a spring:

    >>> import bouligand as bd
    >>> def f(t, x, b, p):
    ...     return x[1], 1.0 - x[0] - (100.0 * x[0] if b[0] < 0 else 0.0)
    >>> swing = bd.System(f, lambda t, x, p: (x[0],), states=("x", "v"), guards=("spring",))
    >>> B = bd.solve(swing, (0.0, 5.0), [1.999996, 0.0], rtol=1e-5).bderivative()
    >>> [margin] = B.margins
    >>> margin.guard, round(margin.t, 3), margin.finite
    ('spring', 3.142, False)
    >>> margin.holds([2e-6, 0.0]), margin.holds([2e-5, 0.0])
    (True, False)
    """

    guard: str
    t: float
    h: float
    rows: FloatArray
    reach: float
    finite: bool

    def holds(self, dx: ArrayLike) -> bool:
        """Whether B holds, as far as this graze is concerned, for a perturbation.

        Parameters
        ----------
        dx : array (n,) or (n + parameters,)
            Perturbation of the start, and of the parameters if the derivative has them.

        Returns
        -------
        bool
        """
        z = numbers("dx", dx)
        if z.ndim != 1 or z.size > self.rows.shape[1] or not np.isfinite(z).all():
            raise ValueError(f"dx must have up to {self.rows.shape[1]} finite values; got {dx!r}")
        return bool(np.abs(self.rows[:, : z.size] @ z).max() < abs(self.h))


def margins_of(B: BDerivative[Any]) -> list[Margin]:
    """The grazes between start and outcome."""
    return [_margin(B, row) for row in _decided(B.solution, B.since, B.t)]


def warn_of_jumps(solution: Solution, since: float, t: float) -> None:
    """Name the grazes between two times at which f has a finite jump (a record knows whether it has any): B holds on the side
    that was computed only, or not at all."""
    events, rows = solution.record.events, _decided(solution, since, t)
    for row in rows[rows["effect"] > 1.0]:
        guard = solution.system.guards[row["guard"]]
        where = f"guard {guard!r} is grazed at t = {row['t']:.10g}, where f jumps"
        undone = (events["guard"] == row["guard"]) & (events["t"] == row["t"]) & (events["shown"] != MARGIN)
        if undone.any():
            raise DerivativeError(
                f"{where}: the trajectory touches it exactly, and the outcome has no derivative. Move the start, or take the "
                "derivative up to a time before."
            )
        warn_user(
            f"{where}: h comes within {abs(row['h']):.1e} of zero. The derivative holds only for perturbations that do not "
            "change on which side it passes (see B.margins); beyond, the outcome changes faster than any derivative says.",
            DerivativeWarning,
        )


def _decided(solution: Solution, since: float, t: float) -> RecordArray:
    """The margins between two times that are within the tolerance of h."""
    rows = solution.margins
    return rows[rows["decided"] & (rows["t"] > since) & (rows["t"] < t)]


def _margin(B: BDerivative[Any], row: Any) -> Margin:
    solution, system, k, t = B.solution, B.system, int(row["guard"]), float(row["t"])
    values, first = solution.record.parameters
    p = values[max(int(np.searchsorted(solution.record.t[first], t, side="right")) - 1, 0)]
    x = solution(t)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DerivativeWarning)
        to_there = make(type(B), solution, t, B.since, None, B.params)
        if to_there.corners:
            matrices = [piece.matrix for piece in to_there.pieces()]
        else:
            whole = [to_there.matrix(), to_there.matrix(wrt="p")] if B.params else [to_there.matrix()]
            matrices = [np.hstack(whole)]
    gradient = _gradient(lambda y: system.function("h")(t, y, p)[k], x)
    rows = np.array([gradient @ matrix for matrix in matrices])
    if B.params:
        rows[:, B.n :] += _gradient(lambda q: system.function("h")(t, x, q)[k], p)
    largest = np.linalg.norm(rows, axis=1).max()
    reach = abs(float(row["h"])) / largest if largest > 0.0 else np.inf
    return Margin(system.guards[k], t, float(row["h"]), rows, float(reach), bool(row["effect"] > 1.0))


def _gradient(function: Any, x: FloatArray) -> FloatArray:
    """Central differences of a number that depends on a vector."""
    out = np.empty(x.size)
    for i in range(x.size):
        step = 6e-6 * max(1.0, abs(x[i]))
        ahead, behind = x.copy(), x.copy()
        ahead[i] += step
        behind[i] -= step
        out[i] = (function(ahead) - function(behind)) / (ahead[i] - behind[i])
    return out
