"""Model predictive control: plan again from each measured state, within a deadline."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from .._made import Made, make
from ..system.arguments import instance, moment, not_negative, number, one_of, positive, whole
from .ilqr import minimise
from .plan import Plan

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .. import _typing as ty
    from .result import PlanResult


@dataclass
class Statistics(metaclass=Made, by="MPC"):
    """How long planning took, and what came of it.

    Attributes
    ----------
    seconds : list of float
        Of each call of `MPC.plan`.
    iterations : list of float
        Of each iteration, in seconds.
    late, failed : int
        Calls that lasted longer than the deadline; calls that found no plan with a finite cost.

    Examples
    --------
    >>> import bouligand as bd
    >>> plan = bd.planning.Plan(bd.models.hopper(), [0.0, 0.1, 0.2], inputs="g", end=bd.planning.Quadratic(x=1.0))
    >>> mpc = bd.planning.MPC(plan)
    >>> controls = mpc.plan(0.0, [2.0, 0.0])
    >>> print(mpc.statistics)  # doctest: +ELLIPSIS
    1 plans: p50 ... ms, p99 ... ms, longest ... ms; an iteration: p50 ... ms, p99 ... ms; 0 late, 0 failed
    """

    seconds: list[float] = field(default_factory=list)
    iterations: list[float] = field(default_factory=list)
    late: int = 0
    failed: int = 0

    def percentile(self, q: float, of: str = "seconds") -> float:
        """A percentile of the durations, in seconds: ``of`` plans ("seconds") or of "iterations"."""
        values = self.seconds if one_of("of", of, ("seconds", "iterations")) == "seconds" else self.iterations
        if not 0.0 <= number("q", q) <= 100.0:
            raise ValueError(f"q must be a percentage, 0 to 100; got {q!r}")
        return float(np.percentile(values, q)) if values else float("nan")

    def __str__(self) -> str:
        p50, p99, worst = (1e3 * self.percentile(q) for q in (50.0, 99.0, 100.0))
        i50, i99 = (1e3 * self.percentile(q, "iterations") for q in (50.0, 99.0))
        return (
            f"{len(self.seconds)} plans: p50 {p50:.1f} ms, p99 {p99:.1f} ms, longest {worst:.1f} ms; an iteration: "
            f"p50 {i50:.1f} ms, p99 {i99:.1f} ms; {self.late} late, {self.failed} failed"
        )


class MPC:
    """Model predictive control with a `Plan` whose horizon moves on with time.

    Each call plans from the measured state: the controls of the last plan, moved on by the time that has passed, are improved by
    a few iterations, and the best that is there at the deadline counts. Nothing inside raises: if no plan with a finite cost is
    found the moved controls are kept, and ``statistics.failed`` counts it.

    Parameters
    ----------
    plan : Plan
    deadline : float, optional
        Seconds for each plan: no iteration is begun that would probably end later. Default: none.
    iterations : int
        At most so many for each plan.
    tolerance : float
        See `Plan.solve`.
    latency : float
        Seconds from a measurement until the controls that are planned from it can be applied, such as the time between two
        plans. Until then those of the last plan are: the state is predicted under them, and the plan begins where they end.
        Default: none, as if planning took no time.

    Attributes
    ----------
    result : PlanResult or None
        The last plan.
    statistics : Statistics
        Durations of all plans so far.

    Examples
    --------
    >>> import bouligand as bd
    >>> import numpy as np
    >>> plan = bd.planning.Plan(
    ...     bd.models.hopper(), np.linspace(0.0, 0.2, 5), inputs="g",
    ...     running=bd.planning.Quadratic([1.5, 0.0], x=[100.0, 1.0], u=0.01, rest=[0.0]))
    >>> mpc, x = bd.planning.MPC(plan, iterations=3), np.array([2.0, 0.0])
    >>> for k in range(30):
    ...     u = mpc.plan(0.05 * k, x)
    ...     x = bd.rollout(plan.system, x, [u], [0.05 * k, 0.05 * (k + 1)], inputs="g").x[-1]
    >>> x.round(2) + 0.0
    array([1.5, 0. ])
    """

    def __init__(
        self,
        plan: Plan,
        deadline: float | None = None,
        iterations: int = 5,
        tolerance: float = 1e-4,
        latency: float = 0.0,
    ) -> None:
        self._plan = instance("plan", plan, Plan, "bouligand.planning")
        self.latency = number("latency", latency)
        if not 0.0 <= self.latency < plan.times[-1] - plan.times[0]:
            raise ValueError(f"latency must be a number of seconds within the horizon of the plan; got {latency!r}")
        self.deadline = None if deadline is None else positive("deadline", deadline)
        self.tolerance = not_negative("tolerance", tolerance)
        self.most = whole("iterations", iterations, 1)
        self.result: PlanResult | None = None
        self.statistics = make(Statistics)
        self._controls: tuple[float, ty.FloatArray] | None = None  # since when, and those of the last plan
        self._decided: list[
            tuple[float, ty.FloatArray]
        ] = []  # the same of all plans that are still applied, or will be

    def shifted(self, t: float) -> ty.FloatArray:
        """The controls of the last plan for a horizon that begins at t: at each node those that were planned for its time; the
        last ones go on."""
        t = moment("t", t)
        if self._controls is None:
            return self._plan.controls(None)
        # (the middle of each interval: it may begin a rounding error before a node)
        times = self._plan.times - self._plan.times[0]
        return self._planned(*self._controls, 0.5 * (times[:-1] + times[1:]) + t)

    def _planned(self, began: float, U: ty.FloatArray, t: ty.FloatArray | float) -> ty.FloatArray:
        """The controls U of a plan that began then, at some times: the first ones before it, the last ones after it."""
        times = self._plan.times - self._plan.times[0]
        places = np.searchsorted(times, t - began, side="right") - 1
        return U[np.clip(places, 0, len(U) - 1)]

    def start(self, t: float, x: ArrayLike, U: ArrayLike | None = None, iterations: int = 100) -> PlanResult:
        """The first plan, without a deadline.

        Parameters
        ----------
        t : float
        x : array (n,)
        U : array (nodes, inputs), optional
            Controls to begin with.
        iterations : int
        """
        t, x = moment("t", t), self._plan._state("x", x)
        self.result = self._plan.solve(x, U, t0=t, iterations=iterations, tolerance=self.tolerance)
        self._controls = t, self.result.u
        self._decided = [self._controls]
        return self.result

    def _solve(self, t: float, x: ty.FloatArray, U: ty.FloatArray, iterations: int) -> PlanResult:
        return minimise(self._plan, x, U, t, iterations, self.tolerance, self.deadline, None, strict=False)

    def _predicted(self, t: float, x: ty.FloatArray) -> ty.FloatArray:
        """The state at t + latency, under the controls that have been decided; x itself where that cannot be computed."""
        until, least = t + self.latency, 1e-9 * self.latency  # (nodes may differ by rounding errors)
        while len(self._decided) > 1 and self._decided[1][0] <= t + least:
            del self._decided[0]
        inside = np.sort(np.concatenate([self._plan._moments(began) for began, _ in self._decided]))
        inside = inside[(inside > t + least) & (inside < until - least)]
        times = np.concatenate([[t], inside[np.diff(inside, prepend=t) > least], [until]])

        def policy(k: int, x: ty.FloatArray) -> ty.FloatArray:
            middle = 0.5 * (times[k] + times[k + 1])
            which = max(sum(began <= middle for began, _ in self._decided) - 1, 0)
            began, U = self._decided[which]
            return self._planned(began, U, middle)

        run = self._plan._try(x, times, policy)
        return x if run is None or not run.success else run.x[-1]

    def plan(self, t: float, x: ArrayLike) -> ty.FloatArray:
        """Plan from the state x at time t, and return the controls for now (with a latency: from t + latency on).

        Parameters
        ----------
        t : float
        x : array (n,)
            The measured state.

        Returns
        -------
        array (inputs,)
            The first controls of the plan (``result`` has all of it, with feedback gains).
        """
        began = time.perf_counter()
        t, x = moment("t", t), self._plan._state("x", x)
        if self.latency > 0.0:
            if self._decided:
                x = self._predicted(t, x)
            t += self.latency
        U = self.shifted(t)
        found = self._solve(t, x, U, self.most)
        if not found.success and self._controls is not None:  # (the moved controls end in a failure: without them)
            rest = self._solve(t, x, self._plan.controls(None), 1)
            found = rest if rest.success else found
        took = time.perf_counter() - began
        self.result, self._controls = found, (t, found.u)
        if self.latency > 0.0:
            self._decided.append(self._controls)
        self.statistics.seconds.append(took)
        self.statistics.iterations += found.seconds
        self.statistics.late += self.deadline is not None and took > self.deadline
        self.statistics.failed += not found.success
        return found.u[0].copy()
