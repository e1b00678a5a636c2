"""iLQR (Gauss-Newton DDP) on a plan.

An iteration linearises the rollout in one pass, solves the quadratic model backwards, and searches along its step on the true
cost, with the feedback in the loop. Where guards are crossed together the model has several pieces: first the one towards the
last step that was taken is used; if the line search finds nothing, the one towards the step that it tried, then the opposite one,
before regularisation grows. It also grows after short steps, and shrinks after whole ones. Where a trajectory has no derivative,
because it grazes a guard, that of one nearby is used.

The time of an iteration is bounded: one linearisation and at most two rollouts. If neither of its two steps lowers the cost, the
next iteration keeps the model and goes on with shorter ones.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from .._made import make
from ..errors import BouligandError
from .backward import Corrections, backward
from .result import PlanResult

if TYPE_CHECKING:
    from collections.abc import Callable

    from .. import _typing as ty
    from ..derivative.rollout import Rollout
    from .costs import Expansion
    from .plan import Plan

TRIES = 2  # steps that an iteration tries
CUT = 0.4  # the length of a step, of that of the one before it that was too long
SHORTEST = 0.02  # shorter steps are not tried: there is another piece, or more regularisation
ARMIJO = 1e-4  # part of the expected gain that a step must bring
ROUND_OFF = 1e-20  # of the first cost: less is no gain, where a cost falls to zero
MU_LEAST, MU_MOST, MU_FACTOR = (
    0.03,
    1e8,
    5.0,
)  # regularisation, relative to the mean curvature of the cost in the controls
PIECES = 3  # that are tried at corners
SHORT = 0.3  # steps shorter than this, of the whole, ask for more of it
TRIALS = 3  # trajectories nearby, where this one has no derivative
NEARBY = 1e-4  # how much their controls differ, relative

Step = tuple["ty.FloatArray", "ty.FloatArray"]  # changes of the states and of the controls at each node


def minimise(
    plan: Plan,
    x0: ty.State,
    U: ty.FloatArray,
    t0: float | None,
    iterations: int,
    tolerance: float,
    deadline: float | None,
    progress: bool | str | None,
    strict: bool = True,
) -> PlanResult:
    """See `Plan.solve`. ``strict``: whether a cost that is not finite along the first trajectory is an error."""
    began = time.perf_counter()
    search = _Search(plan, x0, U, t0, strict)
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
            enough = tolerance * search.taken * abs(before)
            if search.taken and before - search.cost <= enough and search.mu <= MU_LEAST:
                status = "converged"
                break
    return search.result(status)


class _Search:
    """The best controls so far, and what the next iteration needs."""

    def __init__(self, plan: Plan, x0: ty.State, U: ty.FloatArray, t0: float | None, strict: bool = True) -> None:
        self.plan, self.x0, self.t = plan, x0, plan._moments(t0)
        self.reason, self.mu = "", 0.0
        self.K = np.zeros((plan.nodes, len(plan.inputs), plan.coordinates.size))
        self.run: Rollout | None = None
        self.U = U
        try:
            self.run = plan._follow(x0, self.t, lambda k, x: U[k])
        except BouligandError as error:  # (a start that is refused)
            self.reason = str(error)
        self.cost = np.inf if self.run is None else plan.cost(self.run)
        if strict and self.run is not None and self.run.success and not np.isfinite(self.cost):
            plan._refuse_costs_that_are_not_numbers(self.run)
        self.costs, self.seconds = [self.cost], list[float]()
        self.taken = 0.0  # the length of the last iteration's step; 0: none lowered the cost
        self._length = 1.0  # of the step that the next line search tries first
        self._towards: Step | None = None  # the last step that was taken,
        self._proposed: Step | None = None  # and the shortest one that the line search tried in vain
        self._costs: tuple[Expansion, tuple[ty.FloatArray, ty.FloatArray]] | None = None  # models of this trajectory:
        self._maps: Step | None = None  # of its cost, and A and B,
        self._attempt = 0  # in the piece with this number
        self._d: ty.FloatArray | None = None

    def failed(self) -> PlanResult:
        """The result without a first trajectory."""
        shape = (self.plan.nodes + 1, self.plan.system.n)
        x = np.full(shape, np.nan) if self.run is None else self.run.x
        why = self.reason or (self.run.solution.message if self.run is not None else "")
        if self.run is not None and self.run.success:
            why = "its cost is not finite"
        self.reason = f"the first rollout failed: {why}. Begin with other controls, or a shorter horizon"
        return make(PlanResult, "failed", self.t, x, self.U, self.K, np.inf, self.run, self.costs, [], self.reason)

    def result(self, status: Any) -> PlanResult:
        """What was found."""
        assert self.run is not None
        return make(
            PlanResult, status, self.t, self.run.x, self.run.u, self.K, self.cost, self.run, self.costs, self.seconds
        )

    def iterate(self, tolerance: float) -> Any:
        """One iteration: one model, and at most two rollouts. Returns a status if it is the last one. If it finds no step, the
        next one tries shorter ones, or has another piece or more regularisation."""
        assert self.run is not None
        self.taken = 0.0
        try:
            if self._costs is None:
                self._costs, self._maps, self._attempt = self.plan._expansions(self.run), None, 0
            l, end = self._costs
            if self._maps is None:
                self._maps = self._linearised(*self._direction())
            scale = max(float(np.trace(l.uu, axis1=1, axis2=2).mean()) / len(self.plan.inputs), 1e-12)
            limits = self.plan.limits
            while (found := backward(*self._maps, l, end, self.run.u, limits, self.mu * scale, self._d)) is None:
                self.mu = max(self.mu * MU_FACTOR, MU_LEAST)
                if self.mu > MU_MOST:
                    return "stalled"
        except BouligandError as error:  # (no derivative, here or nearby)
            self.reason = str(error)
            return "stalled"
        least = max(tolerance * abs(self.cost), ROUND_OFF * abs(self.costs[0]), 1e-300)
        if -found.expected(1.0) <= least and self.mu <= MU_LEAST:
            self.K = found.K
            return "converged"
        self.taken = self._line_search(found)
        if self.taken:
            self._costs = None
            if self.taken < SHORT:
                self.mu = max(self.mu * MU_FACTOR, MU_LEAST)
            elif self.taken == 1.0:
                self.mu = self.mu / MU_FACTOR if self.mu > MU_LEAST else 0.0
            return None
        if self._length >= SHORTEST:
            return None
        self._length = 1.0
        self._attempt += 1
        if self.run.corners and self._attempt < PIECES:
            self._maps = None
        else:
            self.mu = max(self.mu * MU_FACTOR**2, MU_LEAST)
        return "stalled" if self.mu > MU_MOST else None

    def _direction(self) -> Step:
        """The changes of states and controls in whose piece the model is: the last step; if that model was of no use the step
        that it tried; then the opposite of the last one."""
        assert self.run is not None
        last = self._towards or (np.ones(self.run.x[:-1].shape), np.ones(self.run.u.shape))
        if self._attempt == 1 and self._proposed is not None:
            return self._proposed
        return last if self._attempt == 0 else (-last[0], -last[1])

    def _linearised(self, dx: ty.FloatArray, du: ty.FloatArray) -> Step:
        """A and B; where the trajectory has no derivative (it grazes a guard), those of one nearby."""
        plan, run = self.plan, self.run
        assert run is not None
        for trial in range(TRIALS + 1):
            try:
                return plan._linearised(run, dx, du, plan.quick)
            except BouligandError:
                if trial == TRIALS:
                    raise
            noise = np.random.default_rng(trial).standard_normal(run.u.shape)
            near = plan._try(self.x0, self.t, _held(run.u * (1.0 + NEARBY * noise)))
            run = near if near is not None and near.success else run
        raise AssertionError  # (not reached)

    def _line_search(self, found: Corrections) -> float:
        """Take a step along the corrections that lowers the true cost by enough. Returns its length; 0: there was none."""
        plan, old = self.plan, self.run
        assert old is not None
        # u = old.u + alpha d + K (x - old.x), with the coordinates of x in K, and all but K x known before
        gains = found.K if plan.coordinates.plain else found.K @ plan.coordinates.project(old.x[:-1])
        at_rest = old.u - np.einsum("kij,kj->ki", gains, old.x[:-1])
        near = (lambda x, y: x) if plan.coordinates.plain else plan.coordinates.near

        self._proposed = None
        for _ in range(TRIES):
            alpha = self._length

            def policy(k: int, x: ty.FloatArray, constant: ty.FloatArray = at_rest + alpha * found.d) -> ty.FloatArray:
                u: ty.FloatArray = constant[k] + gains[k] @ near(x, old.x[k])
                return u if plan.limits is None else np.minimum(np.maximum(u, plan.limits[0]), plan.limits[1])

            expected = found.expected(alpha)
            run = None if expected >= 0.0 else plan._try(self.x0, self.t, policy)
            cost = np.inf if run is None else plan.cost(run)
            if run is not None and np.isfinite(run.x).all():
                self._proposed = run.x[:-1] - old.x[:-1], run.u - old.u
            if run is not None and cost <= self.cost + ARMIJO * expected:
                self._towards, self._d = self._proposed, found.d
                self.run, self.cost, self.K = run, cost, found.K
                self._length = 1.0
                return alpha
            self._length *= CUT
        return 0.0


def _held(U: ty.FloatArray) -> Callable[[int, ty.FloatArray], ty.FloatArray]:
    """The policy that these controls are."""
    return lambda k, x: U[k]


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
