"""Plans: the controls of a horizon that minimise a cost, through any number of events."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Unpack, cast

import numpy as np

from .._made import make
from ..derivative.rollout import Rollout, follow, input_columns
from ..errors import BouligandError
from ..integration.kept_options import check_options
from ..integration.options import state
from ..system.arguments import finite_numbers, flag, instance, moment, not_negative, numbers, positive, whole
from ..system.system import System, a_system
from ..system.words import pair
from ..system.words import progress as read_progress
from .coordinates import Coordinates
from .costs import Cost, Expansion
from .functions import as_cost
from .result import PlanResult as PlanResult

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .. import _typing as ty
    from .shooting import MultipleShooting


class Plan:
    """A horizon with a cost: which controls, held between its nodes, minimise it?

    The dynamics between nodes, ``x[k+1] = F_k(x[k], u[k])``, are integrated by `rollout` through all events, with steps of their
    own: nodes follow the controls, not the stiffness. Their derivatives come from the B-derivative, in one pass. Where guards are
    crossed together it has several linear pieces: that in the direction of the last step is used, and then its neighbours, if the
    line search fails.

    Parameters
    ----------
    system : System
        A system whose controls are parameters; a robot loaded with ``control=Hold()``.
    times : array (nodes + 1,)
        Increasing times between which controls are held.
    running, end : Cost or callable, optional
        The costs: one of `Quadratic`, `Residuals`, `Smooth`, `Tracking`, or a function of (t, x, u), for ``end`` of (t, x), that
        returns a number or residuals. The running cost of a node counts times the duration of its interval.
    inputs : str or sequence of str, optional
        The names of the parameters that are controls; default: those of the robot's `Hold`.
    limits : (low, high), optional
        Limits of the controls, numbers or arrays (inputs,).
    p : array or mapping from str to float, optional
        The other parameters.
    quick : bool
        Whether `solve` uses one Jacobian for a few steps of the integration (see `Rollout.linearise`): several times faster on
        robots; it converges to the same plan, in a few more iterations. `gradient` is exact in any case.
    **options
        For the integration: rtol, atol, method, ...

    Attributes
    ----------
    nodes : int
        Number of intervals.
    inputs : tuple of str
        Names of the controls.
    system, times, running, end, limits, quick, p, options
        As given.

    Raises
    ------
    ValueError, TypeError
        If an argument is wrong.

    Examples
    --------
    How must gravity be chosen, in 8 intervals, for the hopper to be at rest at z = 1.5 after 0.4 s?

    >>> import bouligand as bd
    >>> import numpy as np
    >>> plan = bd.planning.Plan(
    ...     bd.models.hopper(), np.linspace(0.0, 0.4, 9), inputs="g", limits=(-30.0, 30.0),
    ...     running=bd.planning.Quadratic(u=1e-6), end=bd.planning.Quadratic([1.5, 0.0], x=1.0))
    >>> found = plan.solve([2.0, 0.0])
    >>> found.status, found.x[-1].round(2) + 0.0
    ('converged', array([1.5, 0. ]))
    """

    def __init__(
        self,
        system: System,
        times: ArrayLike,
        running: Cost | Callable[..., Any] | None = None,
        end: Cost | Callable[..., Any] | None = None,
        *,
        inputs: str | Iterable[str] | None = None,
        limits: tuple[ArrayLike, ArrayLike] | None = None,
        p: ty.Parameters | None = None,
        quick: bool = False,
        **options: Unpack[ty.StepperOptions],
    ) -> None:
        a_system(system)
        self.system, self.options, self.quick = system, options, flag("quick", quick)
        self.times = finite_numbers("times", times)
        if self.times.ndim != 1 or self.times.size < 2 or (np.diff(self.times) <= 0.0).any():
            raise ValueError(f"times must be a vector of at least two increasing times; got {times!r}")
        if np.abs(self.times).max() >= 1e290:
            raise ValueError("times must be within 1e290")
        first, last = self.times[0], self.times[-1]
        check_options(
            system, first, last, cast("dict[str, Any]", options), without=("t_eval", "on_failure", "progress")
        )
        self.nodes = self.times.size - 1
        self._columns = input_columns(system, inputs)
        self.inputs = tuple(system.params[i] for i in self._columns)
        self.p = np.array(system.parameters(p), dtype=float)
        self.limits = self._checked_limits(limits)
        self.coordinates = Coordinates(system)
        if running is None and end is None:
            raise ValueError("a plan needs a cost: running=, end=, or both")
        sample = np.asarray(system.neutral() if hasattr(system, "neutral") else np.zeros(system.n), dtype=float)
        sampled = float(self.times[0]), sample, self.rest
        self.running, self.end = as_cost("running", running, *sampled), as_cost("end", end, *sampled)
        for cost in (self.running, self.end):
            cost.prepare(system, self.inputs)

    def _checked_limits(self, limits: tuple[ArrayLike, ArrayLike] | None) -> tuple[ty.FloatArray, ty.FloatArray] | None:
        if limits is None:
            return None
        both = pair("limits", limits, "(low, high)")
        try:
            low, high = (np.broadcast_to(numbers("limits", side), len(self.inputs)).astype(float) for side in both)
        except ValueError:
            raise ValueError(
                f"limits must be (low, high), numbers or {len(self.inputs)} values each; got {limits!r}"
            ) from None
        if np.isnan(low).any() or np.isnan(high).any() or (low > high).any():
            raise ValueError(f"limits must have low <= high for each control; got {limits!r}")
        return low, high

    @property
    def rest(self) -> ty.FloatArray:
        """The controls in ``p``, within the limits."""
        u = self.p[self._columns]
        return u if self.limits is None else np.clip(u, *self.limits)

    @property
    def bounds(self) -> Any:
        """The limits of all controls as `scipy.optimize.Bounds`; None if there are none."""
        if self.limits is None:
            return None
        from scipy.optimize import Bounds

        return Bounds(*(np.tile(side, self.nodes) for side in self.limits))

    def controls(self, U: ArrayLike | None) -> ty.FloatArray:
        """Controls as an array (nodes, inputs), within the limits; of one control also (nodes,), the same everywhere
        (inputs,)."""
        shape = (self.nodes, len(self.inputs))
        if U is None:
            return np.tile(self.rest, (self.nodes, 1))
        out = finite_numbers("U", U)
        if out.shape == (self.nodes,) and shape[1] == 1:
            out = out[:, None]
        elif out.shape == shape[1:]:
            out = np.tile(out, (self.nodes, 1))
        if out.shape != shape:
            raise ValueError(
                f"U must have a row for each of {shape[0]} intervals and a column for each of {shape[1]} controls; got shape "
                f"{out.shape}"
            )
        return out.copy() if self.limits is None else np.clip(out, *self.limits)

    # ------------------------------------------------------------------------------------------------ cost and rollout

    def rollout(self, x0: ty.State, U: ArrayLike | None = None, t0: float | None = None) -> Rollout:
        """The trajectory under these controls; one that fails ends early, with NaN behind (and an infinite cost).

        Parameters
        ----------
        x0 : array (n,)
        U : array (nodes, inputs), optional
        t0 : float, optional
            Where the horizon begins; default: the first of ``times``.
        """
        held = self.controls(U)
        return self._follow(x0, self._moments(t0), lambda k, x: held[k])

    def _moments(self, t0: float | None) -> ty.FloatArray:
        """The times of a horizon that begins at t0."""
        return self.times if t0 is None else self.times + (moment("t0", t0) - self.times[0])

    def _state(self, what: str, x: ty.State) -> ty.FloatArray:
        """A state that is given, in the argument ``what``."""
        return finite_numbers(what, state(self.system, x, what))

    def _follow(self, x0: ty.State, t: ty.FloatArray, policy: Callable[[int, ty.FloatArray], ty.FloatArray]) -> Rollout:
        return follow(self.system, x0, t, policy, self.p, self._columns, "return", self.options)

    def _try(
        self, x0: ty.State, t: ty.FloatArray, policy: Callable[[int, ty.FloatArray], ty.FloatArray]
    ) -> Rollout | None:
        """The same; None if the start itself is refused."""
        try:
            return self._follow(x0, t, policy)
        except BouligandError:
            return None

    def cost(self, run: Rollout) -> float:
        """The cost of a rollout; infinite if it failed, or if the cost is not a number."""
        instance("run", run, Rollout, "Plan.rollout")
        if not run.success:
            return np.inf
        h = np.diff(run.t)
        none = np.zeros((1, len(self.inputs)))
        with np.errstate(all="ignore"):
            total = h @ self.running.value(run.t[:-1], run.x[:-1], run.u)
            total += self.end.value(run.t[-1:], run.x[-1:], none)[0]
        return float(total) if np.isfinite(total) else np.inf

    def _refuse_costs_that_are_not_numbers(self, run: Rollout) -> None:
        """Raise if the cost of a rollout that succeeded is not finite: an error in a cost function, better seen at once."""
        none = np.zeros((1, len(self.inputs)))
        with np.errstate(all="ignore"):
            of_nodes = self.running.value(run.t[:-1], run.x[:-1], run.u)
            value = self.end.value(run.t[-1:], run.x[-1:], none)[0]
        bad = np.flatnonzero(~np.isfinite(of_nodes))
        if len(bad):
            raise ValueError(f"running is {of_nodes[bad[0]]} at node {bad[0]}, t = {run.t[bad[0]]:g}")
        if not np.isfinite(value):
            raise ValueError(f"end is {value} at t = {run.t[-1]:g}")

    def _expansions(self, run: Rollout) -> tuple[Expansion, tuple[ty.FloatArray, ty.FloatArray]]:
        """Quadratic models of the costs along a rollout, in tangent coordinates."""
        h, G = np.diff(run.t), self.coordinates.lift(run.x)
        none = np.zeros((1, len(self.inputs)))
        l, L = self.running.expand(run.t[:-1], run.x[:-1], run.u), self.end.expand(run.t[-1:], run.x[-1:], none)
        x, u, xx, ux, uu = (h.reshape(-1, *[1] * (part.ndim - 1)) * part for part in l)
        if self.coordinates.plain:
            return Expansion(x, u, xx, ux, uu), (L.x[0], L.xx[0])
        g, last, times = G[:-1], G[-1], self.coordinates.times_lift
        x = np.einsum("kij,ki->kj", g, x)
        half = times(xx, g).transpose(0, 2, 1)
        return Expansion(x, u, times(half, g), times(ux, g), uu), (last.T @ L.x[0], last.T @ L.xx[0] @ last)

    def _linearised(
        self, run: Rollout, dx: ty.FloatArray | None, du: ty.FloatArray | None, quick: bool
    ) -> tuple[ty.FloatArray, ty.FloatArray]:
        """A and B of a rollout in tangent coordinates, in the pieces of these changes of states and controls."""
        A, B = run.linearise(dx, du, quick=quick)
        if self.coordinates.plain:
            return A, B
        to = self.coordinates
        G, P = to.lift(run.x[:-1]), to.project(run.x[1:])
        return to.times_project(P, to.times_lift(A, G)), to.times_project(P, B)

    # ----------------------------------------------------------------------------------------------- gradients, SciPy

    def gradient(
        self, x0: ty.State, U: ArrayLike | None = None, t0: float | None = None
    ) -> tuple[float, ty.FloatArray]:
        """The cost of these controls and its gradient in all of them, exact to the tolerance of the integration.

        Parameters
        ----------
        x0 : array (n,)
        U : array (nodes, inputs), optional
        t0 : float, optional
            Where the horizon begins.

        Returns
        -------
        cost : float
            Infinite if the rollout failed; then the gradient is zero.
        gradient : array (nodes, inputs)

        Examples
        --------
        >>> import bouligand as bd
        >>> plan = bd.planning.Plan(bd.models.hopper(), [0.0, 0.1, 0.2], inputs="g", end=lambda t, x: x[0])
        >>> cost, by_gravity = plan.gradient([2.0, 0.0], [[9.0], [10.0]])
        >>> by_gravity.round(6).ravel()
        array([-0.015, -0.005])
        """
        return self._gradient(self._state("x0", x0), self.controls(U), t0, None)

    def _gradient(
        self, x0: ty.State, U: ty.FloatArray, t0: float | None, towards: ty.FloatArray | None
    ) -> tuple[float, ty.FloatArray]:
        run = self._try(x0, self._moments(t0), lambda k, x: U[k])
        if run is None or not np.isfinite(value := self.cost(run)):
            return np.inf, np.zeros((self.nodes, len(self.inputs)))
        A, B = self._linearised(run, None if towards is None else np.zeros(run.x[:-1].shape), towards, False)
        l, (adjoint, _) = self._expansions(run)
        out = l.u.copy()
        for k in range(self.nodes - 1, -1, -1):
            out[k] += B[k].T @ adjoint
            adjoint = l.x[k] + A[k].T @ adjoint
        return value, out

    def objective(self, x0: ty.State, t0: float | None = None) -> Callable[[ArrayLike], tuple[float, ty.FloatArray]]:
        """The cost and its gradient as a function of all controls in one vector: for `scipy.optimize.minimize(..., jac=True)`.

        Where guards are crossed together, the gradient is that of the piece in the direction of the last change of the controls.

        Parameters
        ----------
        x0 : array (n,)
        t0 : float, optional
            Where the horizon begins.

        Examples
        --------
        >>> import bouligand as bd
        >>> from scipy.optimize import minimize
        >>> plan = bd.planning.Plan(
        ...     bd.models.hopper(), [0.0, 0.1, 0.2], inputs="g", end=bd.planning.Quadratic([1.8, -2.0], x=1.0))
        >>> found = minimize(plan.objective([2.0, 0.0]), plan.controls(None).ravel(), jac=True, method="BFGS")
        >>> found.x.round(2)
        array([10., 10.])
        """
        last: list[ty.FloatArray] = []
        x0, _ = self._state("x0", x0), self._moments(t0)
        shape = self.nodes, len(self.inputs)

        def function(flat: ArrayLike) -> tuple[float, ty.FloatArray]:
            given = finite_numbers("the controls", flat)
            if given.size != shape[0] * shape[1]:
                raise ValueError(
                    f"there must be {shape[0] * shape[1]} controls, {shape[1]} at each node; got {given.size}"
                )
            U = given.reshape(shape)
            towards = U - last[0] if last and not np.array_equal(U, last[0]) else None
            last[:] = [U.copy()]
            value, gradient = self._gradient(x0, U, t0, towards)
            return value, gradient.ravel()

        return function

    def multiple_shooting(self, x0: ty.State, t0: float | None = None) -> MultipleShooting:
        """The same plan with the states at the nodes as unknowns, too: for optimisers with constraints (SLSQP, trust-constr).

        Parameters
        ----------
        x0 : array (n,)
        t0 : float, optional
            Where the horizon begins.
        """
        from .shooting import MultipleShooting

        return make(MultipleShooting, self, x0, t0)

    def solve(
        self,
        x0: ty.State,
        U: ArrayLike | None = None,
        *,
        t0: float | None = None,
        iterations: int = 100,
        tolerance: float = 1e-7,
        deadline: float | None = None,
        progress: bool | str | None = None,
    ) -> PlanResult:
        """Minimise the cost by iLQR: quadratic models backwards, a line search on the true cost forwards.

        Nothing that happens inside a rollout is an error: one that fails has an infinite cost. What is returned is the best that
        was found, with a status.

        Parameters
        ----------
        x0 : array (n,)
            The state where the horizon begins.
        U : array (nodes, inputs), optional
            Controls to begin with; default: those in ``p``.
        t0 : float, optional
            Where the horizon begins; default: the first of ``times``.
        iterations : int
            At most so many.
        tolerance : float
            It has converged when an iteration would gain less than this part of the cost.
        deadline : float, optional
            Seconds after which no further iteration is begun, nor one that would probably last longer.
        progress : bool or str, optional
            Whether to show a bar with the cost; a string is its title.

        Returns
        -------
        PlanResult
            With ``status``, ``x``, ``u``, ``cost``, feedback gains, and the whole trajectory.

        Raises
        ------
        ValueError
            If x0 or U have a wrong shape, or a cost is not finite along the first trajectory.
        """
        from .ilqr import minimise

        held, most, tolerance = (
            self.controls(U),
            whole("iterations", iterations, 0),
            not_negative("tolerance", tolerance),
        )
        deadline = None if deadline is None else positive("deadline", deadline)
        return minimise(self, self._state("x0", x0), held, t0, most, tolerance, deadline, read_progress(progress))

    def __repr__(self) -> str:
        length = self.times[-1] - self.times[0]
        return (
            f"Plan({self.system.name or 'system'}, {self.nodes} intervals, {length:g} s, {len(self.inputs)} controls)"
        )
