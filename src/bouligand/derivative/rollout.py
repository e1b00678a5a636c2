"""Rollouts: a trajectory under inputs that are held over intervals, with its linearisation over each of them.

For optimal control: ``x[k+1] = F_k(x[k], u[k])``, with A_k and B_k the derivatives of F_k through all events of the interval.
Only the inputs of its own interval are columns there, so that the cost of a gradient does not grow with their number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np

from .._made import Made, make
from ..errors import BouligandError, DerivativeError
from ..integration.options import state
from ..integration.running import give_back
from ..integration.stepper import Stepper
from ..system.arguments import finite_numbers, flag, number, one_of, vector, whole
from ..system.system import System, a_system
from ..system.words import names
from .intervals import interval_maps

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .. import _typing as ty
    from ..solution.solution import Solution
    from .bderivative import BDerivative


class Rollout(metaclass=Made, by="rollout"):
    """A trajectory under inputs that are held over intervals. Made by `rollout`.

    Attributes
    ----------
    t : array (intervals + 1,)
        The times between which inputs are held.
    x : array (intervals + 1, n)
        The states at these times; NaN behind a failure.
    u : array (intervals, inputs)
        The inputs.
    inputs : tuple of str
        Their names, which are parameters of the system.
    A : array (intervals, n, n)
        The derivative of each ``x[k + 1]`` with respect to ``x[k]``.
    B : array (intervals, n, inputs)
        That with respect to ``u[k]``.
    solution : Solution
        The whole trajectory, with its events.
    success : bool
        Whether the last time was reached.
    error : Exception or None
        The reason of a failure.
    corners : int
        Number of corners (guards crossed together) that the last `linearise` passed: the derivative is one of several pieces.

    Examples
    --------
    >>> import bouligand as bd
    >>> run = bd.rollout(bd.models.hopper(), [2.0, 0.0], [[9.0], [10.0]], [0.0, 0.1, 0.2], inputs="g")
    >>> run
    Rollout(2 intervals, t = 0 to 0.2, 1 inputs)
    >>> run.A[1].round(6)
    array([[1. , 0.1],
           [0. , 1. ]])
    """

    def __init__(
        self, solution: Solution, t: ty.FloatArray, x: ty.FloatArray, u: ty.FloatArray, columns: ty.IntArray
    ) -> None:
        self.solution, self.t, self.x, self.u = solution, t, x, u
        self._columns = columns
        self.system = solution.system
        self.inputs = tuple(self.system.params[i] for i in columns)
        self.error = solution.error
        self.success = bool(np.isfinite(x[-1]).all()) and self.error is None
        self.corners = 0
        self._matrices: tuple[ty.FloatArray, ty.FloatArray] | None = None

    def bderivative(self, k: int, rtol: float | None = None) -> BDerivative[tuple[ty.FloatArray, ty.FloatArray]]:
        """The B-derivative of ``x[k + 1]`` in ``x[k]`` and all parameters (the inputs are among them).

        Parameters
        ----------
        k : int
            Number of the interval.
        rtol : float, optional
            See `Solution.bderivative`.
        """
        k = whole("k", k, 0)
        if k >= len(self.u):
            raise ValueError(f"k must be the number of an interval, 0 to {len(self.u) - 1}; got {k}")
        if not np.isfinite(self.x[k + 1]).all():
            raise DerivativeError(f"the integration ended before interval {k} did: {self.solution.message}")
        return self.solution.bderivative(self.t[k + 1], since=self.t[k], params=True, rtol=rtol)

    def linear(
        self, k: int, dx: ArrayLike | None = None, du: ArrayLike | None = None
    ) -> tuple[ty.FloatArray, ty.FloatArray]:
        """A_k and B_k: the derivatives of ``x[k + 1]`` in ``x[k]`` and ``u[k]``.

        Parameters
        ----------
        k : int
            Number of the interval.
        dx, du : array, optional
            Where guards are crossed together, the perturbation of state and inputs that selects the linear piece; default: all
            of them grow.

        Returns
        -------
        A : array (n, n)
        B : array (n, inputs)

        Examples
        --------
        >>> import bouligand as bd
        >>> run = bd.rollout(bd.models.hopper(), [2.0, 0.0], [[9.0], [10.0]], [0.0, 0.1, 0.2], inputs="g")
        >>> A, B = run.linear(1)
        >>> B.round(6)
        array([[-0.005],
               [-0.1  ]])
        """
        n, inputs = self.system.n, self.u.shape[1]
        dx = None if dx is None else _of_size("dx", dx, n, "states")
        du = None if du is None else _of_size("du", du, inputs, "inputs")
        derivative = self.bderivative(k)
        towards = self._towards(derivative, dx, du)
        return derivative.matrix(*towards), derivative.matrix(*towards, wrt="p")[:, self._columns]

    def _towards(
        self, derivative: BDerivative[Any], dx: ty.FloatArray | None, du: ty.FloatArray | None
    ) -> tuple[Any, Any]:
        """The perturbation that selects a piece, as dx and dp; none where there is but one."""
        if not derivative.corners:
            return None, None
        dp = np.zeros(len(self.system.params))
        dp[self._columns] = 1.0 if du is None else du
        return np.ones(self.system.n) if dx is None else dx, dp

    @property
    def A(self) -> ty.FloatArray:
        """The derivatives of each ``x[k + 1]`` with respect to ``x[k]``, array (intervals, n, n)."""
        return self._linear()[0]

    @property
    def B(self) -> ty.FloatArray:
        """The derivatives of each ``x[k + 1]`` with respect to ``u[k]``, array (intervals, n, inputs)."""
        return self._linear()[1]

    def _linear(self) -> tuple[ty.FloatArray, ty.FloatArray]:
        if self._matrices is None:
            self._matrices = self.linearise()
        return self._matrices

    def linearise(
        self,
        dx: ArrayLike | None = None,
        du: ArrayLike | None = None,
        rtol: float | None = None,
        quick: bool = False,
    ) -> tuple[ty.FloatArray, ty.FloatArray]:
        """A and B of all intervals, in one pass along the trajectory.

        A crossing counts to the interval in which the trajectory has it. (`linear`, of one interval, also resolves crossings at
        its very ends, which a perturbation moves to the other side.)

        Parameters
        ----------
        dx : array (intervals, n), optional
        du : array (intervals, inputs), optional
            Where guards are crossed together, the perturbations of the state at the start of each interval and of its inputs
            that select the linear piece; default: all of them grow.
        rtol : float, optional
            See `Solution.bderivative`.
        quick : bool
            One Jacobian for a few short steps of the integration, in their middle, instead of one for each stage: several times
            faster on robots, accurate to a few per cent at loose tolerances (the error falls with the square of the step).
            Crossings are exact all the same; where no derivative exists (a grazed guard, a corner that is not event-selected)
            perturbations pass unchanged. For planners, not for gradients.

        Returns
        -------
        A : array (intervals, n, n)
        B : array (intervals, n, inputs)

        Examples
        --------
        >>> import bouligand as bd
        >>> run = bd.rollout(bd.models.hopper(), [2.0, 0.0], [[9.0], [10.0]], [0.0, 0.1, 0.2], inputs="g")
        >>> A, B = run.linearise()
        >>> B[1].round(6).tolist()
        [[-0.005], [-0.1]]
        """
        if not np.isfinite(self.x[-1]).all():
            raise DerivativeError(f"the integration ended before the last interval did: {self.solution.message}")
        intervals, n, inputs = len(self.u), self.system.n, len(self._columns)
        quick = flag("quick", quick)
        if rtol is not None and not 0.0 < number("rtol", rtol) < 1.0:
            raise ValueError(f"rtol must be between 0 and 1, such as 1e-6; got {rtol!r}")
        towards_x = np.ones((intervals, n)) if dx is None else finite_numbers("dx", dx)
        towards_u = np.ones((intervals, inputs)) if du is None else finite_numbers("du", du)
        if towards_x.shape != (intervals, n) or towards_u.shape != (intervals, inputs):
            raise ValueError(
                f"dx and du must have a row for each of {intervals} intervals, with {n} states and {inputs} inputs; got shapes "
                f"{towards_x.shape} and {towards_u.shape}"
            )
        if self.system.sliding:  # (tangents are put onto the sliding mode's surface at the start of a derivative)
            pairs = [self.linear(k, *z) for k, z in enumerate(zip(towards_x, towards_u, strict=True))]
            return np.array([A for A, _ in pairs]), np.array([B for _, B in pairs])
        A, B, self.corners = interval_maps(self.solution, self.t, self._columns, towards_x, towards_u, rtol, quick)
        return A, B

    def gradient(self, by_x: ArrayLike, by_u: ArrayLike | None = None) -> tuple[ty.FloatArray, ty.FloatArray]:
        """The gradient of a cost in the start and in all inputs, by one adjoint backwards over all intervals.

        Parameters
        ----------
        by_x : array (intervals + 1, n) or (n,)
            The gradient of the cost with respect to the states at the times ``t``, or to the last alone.
        by_u : array (intervals, inputs), optional
            Its direct gradient with respect to the inputs.

        Returns
        -------
        by_start : array (n,)
        by_inputs : array (intervals, inputs)

        Examples
        --------
        >>> import bouligand as bd
        >>> run = bd.rollout(bd.models.hopper(), [2.0, 0.0], [[9.0], [10.0]], [0.0, 0.1, 0.2], inputs="g")
        >>> by_start, by_gravity = run.gradient([1.0, 0.0])
        >>> by_gravity.round(6)
        array([[-0.015],
               [-0.005]])
        """
        weights = finite_numbers("by_x", by_x)
        if weights.shape == (self.system.n,):
            weights = np.concatenate([np.zeros((len(self.u), self.system.n)), weights[None]])
        if weights.shape != self.x.shape:
            raise ValueError(f"by_x must have the shape of x, {self.x.shape}, or of one state; got {weights.shape}")
        out = np.zeros(self.u.shape) if by_u is None else finite_numbers("by_u", by_u)
        if out.shape != self.u.shape:
            raise ValueError(f"by_u must have the shape of u, {self.u.shape}; got {out.shape}")
        adjoint = weights[-1]
        for k in range(len(self.u) - 1, -1, -1):
            derivative = self.bderivative(k)
            adjoint, by_p = derivative.vjp(adjoint, *self._towards(derivative, None, None))
            adjoint = adjoint + weights[k]
            out[k] += by_p[self._columns]
        return adjoint, out

    def __repr__(self) -> str:
        end = "" if self.success else f", ended early: {self.solution.message}"
        return f"Rollout({len(self.u)} intervals, t = {self.t[0]:g} to {self.t[-1]:g}, {len(self.inputs)} inputs{end})"


def _of_size(what: str, value: ArrayLike, size: int, kinds: str) -> ty.FloatArray:
    """A vector with a value for each of the states or inputs."""
    out = vector(what, value)
    if out.shape != (size,):
        raise ValueError(f"{what} must have {size} values, one for each of the {kinds}; got {out.size}")
    return out


def rollout(
    system: System,
    x0: ty.State,
    U: ArrayLike,
    times: ArrayLike,
    p: ty.Parameters | None = None,
    *,
    inputs: str | Iterable[str] | None = None,
    on_failure: Literal["raise", "return"] = "raise",
    **options: Unpack[ty.StepperOptions],
) -> Rollout:
    """Integrate under inputs that are held over intervals: ``U[k]`` from ``times[k]`` to ``times[k + 1]``.

    Parameters
    ----------
    system : System
        A system whose inputs are parameters; a robot loaded with ``control=Hold()``.
    x0 : array (n,)
        The state at the first time.
    U : array (intervals, inputs)
        The inputs of each interval.
    times : array (intervals + 1,)
        Increasing times.
    p : array or mapping from str to float, optional
        The other parameters.
    inputs : str or sequence of str, optional
        The names of the parameters that are inputs, in the order of the columns of U. Default: those of the robot's `Hold`.
    on_failure : {"raise", "return"}
        Whether a failed integration raises an error or returns the `Rollout` up to the failure, with NaN behind it: a sampling
        planner gives such a one an infinite cost.
    **options
        For `Stepper`: rtol, atol, method, ...

    Returns
    -------
    Rollout
        ``x``, the states at all times; ``A`` and ``B``, the derivatives over each interval; ``gradient``.

    Raises
    ------
    ValueError, TypeError
        If an argument is wrong.
    SolveError
        If the integration fails (see `solve`), unless ``on_failure="return"``.

    Examples
    --------
    >>> import bouligand as bd
    >>> run = bd.rollout(bd.models.hopper(), [2.0, 0.0], [[9.0], [10.0]], [0.0, 0.1, 0.2], inputs="g")
    >>> run.x.round(4)
    array([[ 2.   ,  0.   ],
           [ 1.955, -0.9  ],
           [ 1.815, -1.9  ]])
    >>> run.A.shape, run.B.shape
    ((2, 2, 2), (2, 2, 1))
    """
    a_system(system)
    one_of("on_failure", on_failure, ("raise", "return"))
    columns = input_columns(system, inputs)
    t = finite_numbers("times", times)
    if t.ndim != 1 or t.size < 2 or (np.diff(t) <= 0.0).any():
        raise ValueError(f"times must be a vector of at least two increasing times; got {times!r}")
    u = finite_numbers("U", U)
    if u.ndim == 1 and len(columns) == 1:
        u = u[:, None]
    if u.shape != (t.size - 1, len(columns)):
        raise ValueError(
            f"U must have a row for each of {t.size - 1} intervals (there are {t.size} times) and a column for each of "
            f"{len(columns)} inputs; got shape {u.shape}"
        )
    return follow(system, x0, t, lambda k, x: u[k], p, columns, on_failure, options)


def follow(
    system: System,
    x0: ty.State,
    t: ty.FloatArray,
    policy: Callable[[int, ty.FloatArray], ty.FloatArray],
    p: ty.Parameters | None,
    columns: ty.IntArray,
    on_failure: str,
    options: Any,
) -> Rollout:
    """A rollout whose inputs depend on the state where they begin: those of interval k are ``policy(k, x)``."""
    values = np.array(system.parameters(p))
    x, u = np.full((t.size, system.n), np.nan), np.zeros((t.size - 1, len(columns)))
    x[0] = finite_numbers("x0", state(system, x0))
    values[columns] = u[0] = policy(0, x[0])
    stepper = Stepper(system, (t[0], t[-1]), x[0], values, **options)
    x[0] = stepper.x
    try:
        for k, end in enumerate(t[1:].tolist()):
            if k > 0:
                values[columns] = u[k] = policy(k, x[k])
                stepper.p = values
            stepper.advance(end)
            if stepper.t < end:  # (a terminal event)
                break
            x[k + 1] = stepper.x
    except BouligandError:
        if on_failure == "raise":
            raise
    give_back(stepper)
    return make(Rollout, stepper.solution, t, x, u, columns)


def input_columns(system: System, inputs: str | Iterable[str] | None) -> ty.IntArray:
    """The places of the inputs among the parameters."""
    named = system._held_inputs if inputs is None else names("inputs", inputs, system.params, "parameter")
    if not named:
        raise ValueError(
            "inputs: which parameters are inputs? Name them; a robot has inputs of its own if it is loaded with control=Hold() "
            "(without times: those of the rollout count)"
        )
    return np.array([system.params.index(name) for name in named], dtype=np.int64)
