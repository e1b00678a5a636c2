"""iLQR (Gauss-Newton DDP) on a plan.

An iteration linearises the rollout in one pass, solves the quadratic model backwards, and searches along its step on the true
cost, with the feedback in the loop. Where guards are crossed together the model has several pieces: first the one towards the last
step that was taken is used; if its own step leads into another piece, that one; and if the line search finds nothing, the opposite
one, before regularisation grows.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import BouligandError
from .backward import Corrections, backward
from .result import PlanResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from .. import _typing as ty
    from ..derivative.rollout import Rollout
    from .plan import Plan

ALPHAS = 0.5 ** np.arange(9)  # lengths of steps that are tried
ARMIJO = 1e-4  # part of the expected gain that a step must bring
MU_LEAST, MU_MOST, MU_FACTOR = 1e-8, 1e8, 10.0  # regularisation, relative to the mean curvature in the controls

Step = tuple["ty.FloatArray", "ty.FloatArray"]  # changes of the states and of the controls at each node


def minimise(
    plan: Plan,
    x0: ArrayLike,
    U: ty.FloatArray,
    t0: float | None,
    iterations: int,
    tolerance: float,
    deadline: float | None,
    progress: bool | str | None,
) -> PlanResult:
    """See `Plan.solve`."""
    began = time.perf_counter()
    search = _Search(plan, x0, U, t0)
    if search.run is None or not np.isfinite(search.cost):
        return search.failed()
    status: Any = "iterations"
    with _bar(progress, iterations) as bar:
        for _ in range(iterations):
            now = time.perf_counter()
            if deadline is not None and now - began + max(search.seconds[-3:], default=0.0) > deadline:
                status = "deadline"
                break
            before, outcome = search.cost, search.iterate(tolerance)
            search.seconds.append(time.perf_counter() - now)
            search.costs.append(search.cost)
            if bar is not None:
                bar.update()
                bar.set_postfix_str(f"cost {search.cost:.4g}")
            if outcome is not None:
                status = outcome
                break
            if before - search.cost <= tolerance * abs(before) and search.mu <= MU_LEAST:
                status = "converged"
                break
    return search.result(status)


class _Search:
    """The best controls so far, and what the next iteration needs."""

    def __init__(self, plan: Plan, x0: ArrayLike, U: ty.FloatArray, t0: float | None) -> None:
        self.plan, self.x0, self.t = plan, x0, plan.moments(t0)
        self.reason, self.mu = "", 0.0
        self.K = np.zeros((plan.nodes, len(plan.inputs), plan.coordinates.size))
        self.run: Rollout | None = None
        self.U = U
        try:
            self.run = plan._follow(x0, self.t, lambda k, x: U[k])
        except BouligandError as error:  # (a start that is refused)
            self.reason = str(error)
        self.cost = np.inf if self.run is None else plan.cost(self.run)
        if self.run is not None and self.run.success and not np.isfinite(self.cost):
            plan.refuse_costs_that_are_not_numbers(self.run)
        self.costs, self.seconds = [self.cost], list[float]()
        self._towards: Step | None = None  # the last step that was taken
        self._d: ty.FloatArray | None = None

    def failed(self) -> PlanResult:
        """The result without a first trajectory."""
        shape = (self.plan.nodes + 1, self.plan.system.n)
        x = np.full(shape, np.nan) if self.run is None else self.run.x
        why = self.reason or (self.run.solution.message if self.run is not None else "")
        self.reason = f"the first rollout failed: {why}. Begin with other controls, or a shorter horizon"
        return PlanResult("failed", self.t, x, self.U, self.K, np.inf, self.run, self.costs, [], self.reason)

    def result(self, status: Any) -> PlanResult:
        """What was found."""
        assert self.run is not None
        return PlanResult(
            status, self.t, self.run.x, self.run.u, self.K, self.cost, self.run, self.costs, self.seconds
        )

    def iterate(self, tolerance: float) -> Any:
        """One iteration. Returns a status if it is the last one."""
        assert self.run is not None
        try:
            l, end = self.plan.expansions(self.run)
            scale = max(float(np.trace(l.uu, axis1=1, axis2=2).mean()) / len(self.plan.inputs), 1e-12)
            while True:
                for A, B in self._pieces():
                    found = backward(A, B, l, end, self.run.u, self.plan.limits, self.mu * scale, self._d)
                    if found is None:
                        break  # (more regularisation is needed, in whatever piece)
                    if -found.expected(1.0) <= tolerance * abs(self.cost) + 1e-300 and self.mu <= MU_LEAST:
                        self.K = found.K
                        return "converged"
                    if self._line_search(found):
                        self.mu = 0.0 if self.mu <= MU_LEAST else self.mu / MU_FACTOR
                        return None
                self.mu = max(self.mu * MU_FACTOR, MU_LEAST)
                if self.mu > MU_MOST:
                    return "stalled"
        except BouligandError as error:  # (a derivative that does not exist, as where a guard is grazed)
            self.reason = str(error)
            return "stalled"

    def _pieces(self) -> Iterator[Step]:
        """A and B in the piece of the last step; then, where there are corners, in that of the model's own step, and the one
        opposite to the last step."""
        plan, run = self.plan, self.run
        assert run is not None
        first = self._towards or (np.ones(run.x[:-1].shape), np.ones(run.u.shape))
        yield plan.linearised(run, *first, plan.quick)
        if run.corners and self._proposed is not None:
            yield plan.linearised(run, *self._proposed, plan.quick)
        if run.corners:
            yield plan.linearised(run, -first[0], -first[1], plan.quick)

    _proposed: Step | None = None  # the shortest step that the line search tried in vain

    def _line_search(self, found: Corrections) -> bool:
        """Take the first step along the corrections that lowers the true cost by enough. Whether there was one."""
        plan, old = self.plan, self.run
        assert old is not None
        P = None if plan.coordinates.plain else plan.coordinates.project(old.x[:-1])

        self._proposed = None
        for alpha in ALPHAS:

            def policy(k: int, x: ty.FloatArray, alpha: float = float(alpha)) -> ty.FloatArray:
                dx = plan.coordinates.difference(x, old.x[k], None if P is None else P[k])
                u: ty.FloatArray = old.u[k] + alpha * found.d[k] + found.K[k] @ dx
                return u if plan.limits is None else np.clip(u, *plan.limits)

            expected = found.expected(float(alpha))
            if expected >= 0.0:
                continue
            run = plan._try(self.x0, self.t, policy)
            cost = np.inf if run is None else plan.cost(run)
            if run is not None and np.isfinite(run.x).all():
                self._proposed = run.x[:-1] - old.x[:-1], run.u - old.u
            if run is not None and cost <= self.cost + ARMIJO * expected:
                self._towards, self._d = self._proposed, found.d
                self.run, self.cost, self.K = run, cost, found.K
                return True
        return False


class _bar:  # noqa: N801  (used like a function)
    """A progress bar, if it was asked for."""

    def __init__(self, shown: bool | str | None, total: int) -> None:
        self._bar: Any = None
        if shown:
            from tqdm import tqdm

            self._bar = tqdm(total=total, desc=shown if isinstance(shown, str) else "plan", unit=" iterations", delay=2)

    def __enter__(self) -> Any:
        return self._bar

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
