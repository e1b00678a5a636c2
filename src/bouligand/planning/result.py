"""What a planner returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from .._made import Made

if TYPE_CHECKING:
    from .. import _typing as ty
    from ..derivative.rollout import Rollout
    from ..solution.solution import Solution

Status = Literal["converged", "stalled", "iterations", "deadline", "failed"]
_MEANING = {
    "converged": "an iteration would gain less than the tolerance",
    "stalled": "no step along any piece lowers the cost, with the strongest regularisation",
    "iterations": "the number of iterations is used up",
    "deadline": "the deadline is reached",
}


@dataclass
class PlanResult(metaclass=Made, by="Plan.solve"):
    """A plan: the best controls that were found, with the trajectory under them.

    Attributes
    ----------
    status : str
        "converged"; "stalled" (no step lowers the cost: a corner of the cost, or noise of the tolerance); "iterations" and
        "deadline" (used up); "failed" (the first rollout did, so that there is nothing to improve).
    success : bool
        Whether there is a plan with a finite cost.
    message : str
        The status in words.
    t : array (nodes + 1,)
    x : array (nodes + 1, n)
    u : array (nodes, inputs)
        Times, states and controls.
    K : array (nodes, inputs, size)
        Feedback gains: ``u = u[k] + K[k] dx``, dx in tangent coordinates.
    cost : float
        Its cost.
    costs : list of float
        The cost at the start, and after each iteration.
    iterations : int
    seconds : list of float
        How long each iteration took.
    rollout : Rollout or None
        The trajectory, with ``solution`` (events, dense output); None if the start itself was refused.

    Examples
    --------
    >>> import bouligand as bd
    >>> plan = bd.planning.Plan(
    ...     bd.models.hopper(), [0.0, 0.1, 0.2], inputs="g", end=bd.planning.Quadratic([1.8, -2.0], x=1.0))
    >>> found = plan.solve([2.0, 0.0])
    >>> found.status, found.cost < 1e-12, found.u.round(3).ravel()
    ('converged', True, array([10., 10.]))
    """

    status: Status
    t: ty.FloatArray
    x: ty.FloatArray
    u: ty.FloatArray
    K: ty.FloatArray
    cost: float
    rollout: Rollout | None
    costs: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    reason: str = ""

    @property
    def success(self) -> bool:
        """Whether there is a plan with a finite cost."""
        return bool(np.isfinite(self.cost))

    @property
    def iterations(self) -> int:
        """Number of iterations."""
        return len(self.costs) - 1

    @property
    def message(self) -> str:
        """The status in words."""
        return self.reason or _MEANING.get(self.status, self.status)

    @property
    def solution(self) -> Solution:
        """The trajectory, with its events."""
        if self.rollout is None:
            raise ValueError(f"there is no trajectory: {self.message}")
        return self.rollout.solution

    def __repr__(self) -> str:
        if self.status == "failed":
            return f"PlanResult(failed: {self.message})"
        return (
            f"PlanResult({self.status} after {self.iterations} iterations, cost {self.costs[0]:.3g} -> {self.cost:.3g})"
        )
