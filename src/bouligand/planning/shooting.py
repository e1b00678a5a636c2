"""Multiple shooting: controls and the states at the nodes are unknowns, and that the states fit together is a constraint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._made import Made
from ..errors import BouligandError
from ..system.arguments import finite_numbers

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from .. import _typing as ty
    from ..derivative.rollout import Rollout
    from .plan import Plan


class MultipleShooting(metaclass=Made, by="Plan.multiple_shooting"):
    """A plan for optimisers with constraints, made by `Plan.multiple_shooting`.

    The unknowns are all controls, then the states at the nodes after the first: ``z = (u[0], ..., u[N-1], x[1], ..., x[N])``.
    ``defects(z)``, zero for a trajectory, are ``F_k(x[k], u[k]) - x[k+1]``; each interval is integrated from its own start. An
    interval whose integration fails has the defect of a state that stays where it is, and a derivative of zero.

    Parameters
    ----------
    plan : Plan
    x0 : array (n,)
    t0 : float, optional

    Examples
    --------
    >>> import bouligand as bd
    >>> import numpy as np
    >>> from scipy.optimize import minimize
    >>> plan = bd.planning.Plan(
    ...     bd.models.hopper(), np.linspace(0.0, 0.2, 3), inputs="g", end=bd.planning.Quadratic([1.8, -2.0], x=1.0))
    >>> shooting = plan.multiple_shooting([2.0, 0.0])
    >>> found = minimize(
    ...     shooting.value_and_gradient, shooting.start(), jac=True, method="SLSQP", constraints=shooting.constraints)
    >>> found.x[:2].round(2)
    array([10., 10.])
    """

    def __init__(self, plan: Plan, x0: ty.State, t0: float | None = None) -> None:
        if not plan.coordinates.plain:
            raise ValueError(
                "multiple_shooting: states with quaternions are no vector of unknowns; use Plan.solve, or Plan.objective (the "
                "controls alone)"
            )
        self.plan, self.t = plan, plan._moments(t0)
        self.x0 = plan._state("x0", x0)
        self._last: tuple[ty.FloatArray, list[Rollout | None]] | None = None

    @property
    def _controls(self) -> int:
        return self.plan.nodes * len(self.plan.inputs)

    def start(self, U: ArrayLike | None = None) -> ty.FloatArray:
        """Unknowns to begin with: controls, and the trajectory under them (where it fails, its last state)."""
        run = self.plan.rollout(self.x0, U, self.t[0])
        x = run.x.copy()
        for k in range(1, len(x)):
            if not np.isfinite(x[k]).all():
                x[k] = x[k - 1]
        return np.concatenate([self.plan.controls(U).ravel(), x[1:].ravel()])

    def split(self, z: ArrayLike) -> tuple[ty.FloatArray, ty.FloatArray]:
        """Controls (nodes, inputs) and states (nodes + 1, n)."""
        flat, n = finite_numbers("z", z), self.plan.system.n
        if flat.shape != (self._controls + self.plan.nodes * n,):
            raise ValueError(
                f"z must have {self._controls} controls and {self.plan.nodes} x {n} states; got {flat.size}"
            )
        U = flat[: self._controls].reshape(self.plan.nodes, -1)
        return U, np.concatenate([self.x0[None], flat[self._controls :].reshape(-1, n)])

    def _intervals(self, z: ArrayLike) -> list[Rollout | None]:
        """The rollout of each interval, from its own start; the last ones are kept."""
        flat = finite_numbers("z", z)
        if self._last is None or not np.array_equal(flat, self._last[0]):
            U, X = self.split(flat)
            runs = [self.plan._try(X[k], self.t[k : k + 2], _held(U[k])) for k in range(self.plan.nodes)]
            self._last = flat.copy(), [run if run is not None and run.success else None for run in runs]
        return self._last[1]

    def defects(self, z: ArrayLike) -> ty.FloatArray:
        """By how much the end of each interval misses the next state, array (nodes n,)."""
        runs, (_, X) = self._intervals(z), self.split(z)
        ends = np.array([X[k] if run is None else run.x[-1] for k, run in enumerate(runs)])
        return (ends - X[1:]).ravel()

    def jacobian(self, z: ArrayLike) -> ty.FloatArray:
        """The derivative of the defects, array (nodes n, unknowns)."""
        n, inputs, nodes = self.plan.system.n, len(self.plan.inputs), self.plan.nodes
        J = np.zeros((nodes * n, self._controls + nodes * n))
        for k, run in enumerate(self._intervals(z)):
            rows = slice(k * n, (k + 1) * n)
            if run is not None:
                try:
                    A, B = run.linearise()
                except BouligandError:  # (as where a guard is grazed)
                    A, B = np.zeros((1, n, n)), np.zeros((1, n, inputs))
                J[rows, k * inputs : (k + 1) * inputs] = B[0]
                if k:
                    J[rows, self._controls + (k - 1) * n : self._controls + k * n] = A[0]
            J[rows, self._controls + k * n : self._controls + (k + 1) * n] = -np.eye(n)
        return J

    def value_and_gradient(self, z: ArrayLike) -> tuple[float, ty.FloatArray]:
        """The cost of the unknowns, which need not fit together, and its gradient."""
        U, X = self.split(z)
        h, none = np.diff(self.t), np.zeros((1, len(self.plan.inputs)))
        running, end = self.plan.running, self.plan.end
        value = h @ running.value(self.t[:-1], X[:-1], U) + end.value(self.t[-1:], X[-1:], none)[0]
        l, L = running.expand(self.t[:-1], X[:-1], U), end.expand(self.t[-1:], X[-1:], none)
        by_x = np.concatenate([h[1:, None] * l.x[1:], L.x])
        return float(value), np.concatenate([(h[:, None] * l.u).ravel(), by_x.ravel()])

    @property
    def constraints(self) -> dict[str, Any]:
        """For `scipy.optimize.minimize(..., method="SLSQP")`."""
        return {"type": "eq", "fun": self.defects, "jac": self.jacobian}

    @property
    def bounds(self) -> Any:
        """For `scipy.optimize.minimize`: the limits of the controls."""
        from scipy.optimize import Bounds

        states = np.full(self.plan.nodes * self.plan.system.n, np.inf)
        low, high = self.plan.limits or (
            np.full(len(self.plan.inputs), -np.inf),
            np.full(len(self.plan.inputs), np.inf),
        )
        return Bounds(
            *(np.concatenate([np.tile(side, self.plan.nodes), s]) for side, s in ((low, -states), (high, states)))
        )


def _held(u: ty.FloatArray) -> Callable[[int, ty.FloatArray], ty.FloatArray]:
    """The policy that these controls are."""
    return lambda _, x: u
