"""For optimisers: the outcome of a trajectory as a function of unknown start values and parameters, with its derivative."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Unpack, cast

import numpy as np

from .._made import make
from ..errors import BouligandError
from ..integration.kept_options import check_options
from ..integration.options import span, state
from ..integration.solve import solve
from ..system.arguments import finite_numbers, number, numbers, short
from ..system.system import System, a_system
from ..system.words import function, listed, pair

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .. import _typing as ty
    from ..solution.solution import Solution
    from .bderivative import BDerivative
    from .fit import Fit


class Shooting:
    """The outcome of a trajectory as a function of unknowns theta: some start values and parameters.

    ``shot(theta)`` is the state at the end (at the terminal event, if one is given), ``shot.jacobian(theta)`` its derivative,
    for `scipy.optimize.least_squares` and `root`; ``shot.value_and_gradient(cost)`` a function for `minimize(..., jac=True)`.
    The last solution is kept, so that value and derivative cost one solve.

    Where guards are crossed together, the derivative is that of the linear piece in the direction of the last change of theta,
    since an optimiser is likely to move on in that direction.

    Parameters
    ----------
    system, t_span, x0, p
        As for `solve`; x0 and p hold the values of everything that is not free.
    free : str or sequence of str
        Names of the states (their values at the start) and parameters that are unknown; default all states.
    failed : float, optional
        What outcomes, costs and residuals are where an integration fails: an optimiser then tries other values. ``math.inf`` is
        right for `least_squares` (not with ``method="lm"``) and for most methods of `minimize`; others need a large number.
        Default: the failure is raised.
    **options
        For `solve`: rtol, atol, ...

    Attributes
    ----------
    free : tuple of str
        Names of the unknowns.
    start : array
        Their values in x0 and p.
    solves : int
        Number of integrations so far.
    error : Exception or None
        The reason, if the last integration failed.
    system, t_span, x0, p, options
        As given.

    Raises
    ------
    ValueError
        If a name in ``free`` is unknown, or both a state and a parameter.

    Examples
    --------
    >>> import bouligand as bd
    >>> shot = bd.Shooting(bd.models.hopper(), (0.0, 0.2), [2.0, 0.0], free=("z", "g"))
    >>> shot.jacobian([2.0, 9.81]).round(6)
    array([[ 1.  , -0.02],
           [ 0.  , -0.2 ]])

    From which height, and at which gravity, does it arrive at z = 1.5 with a speed of -2?

    >>> from scipy.optimize import root
    >>> target = [1.5, -2.0]
    >>> found = root(lambda theta: shot(theta) - target, shot.start, jac=shot.jacobian)
    >>> found.x.round(6)
    array([ 1.7, 10. ])
    """

    def __init__(
        self,
        system: System,
        t_span: ty.TimeSpan,
        x0: ty.State,
        p: ty.Parameters | None = None,
        *,
        free: str | Iterable[str] | None = None,
        failed: float | None = None,
        **options: Unpack[ty.SolveOptions],
    ) -> None:
        a_system(system)
        self.system, self.t_span, self.options = system, span(t_span), options
        check_options(system, *self.t_span, cast("dict[str, Any]", options))
        self.x0, self.p = finite_numbers("x0", state(system, x0)), np.array(system.parameters(p), dtype=float)
        self.free: tuple[str, ...] = system.states
        if free is not None:
            self.free = tuple(listed("free", free, "names of states and parameters"))
        for name in self.free:
            if not isinstance(name, str):
                raise TypeError(f"free must be names of states and parameters; got {short(name)} among them")
            if self.free.count(name) > 1:
                raise ValueError(f"free: {name!r} is named more than once")
            if (name in system.states) == (name in system.params):
                what = "both a state and a parameter" if name in system.states else "neither a state nor a parameter"
                raise ValueError(
                    f"free: {name!r} is {what}; states: {', '.join(system.states)}; parameters: {', '.join(system.params)}"
                )
        self._states = [(q, system.states.index(name)) for q, name in enumerate(self.free) if name in system.states]
        self._params = [(q, system.params.index(name)) for q, name in enumerate(self.free) if name in system.params]
        self.failed: float | ty.MaybeNone = None
        if failed is not None:
            value = numbers("failed", failed)
            if value.ndim or np.isnan(value):
                raise ValueError(f"failed must be a number, such as math.inf, or None; got {failed!r}")
            self.failed = float(value)
        self.solves = 0
        self.error: BaseException | None = None
        self._theta: ty.FloatArray | None = None
        self._direction: ty.FloatArray = np.ones(len(self.free))
        self._solution: Solution | ty.MaybeNone = None

    def _with_times(self, moments: ty.FloatArray) -> Shooting:
        """The same, whose solutions have the states at these times."""
        options: Any = {**self.options, "t_eval": moments}
        return Shooting(self.system, self.t_span, self.x0, self.p, free=self.free, failed=self.failed, **options)

    def _gather(self, by_state: ty.FloatArray, by_parameter: ty.FloatArray | ty.MaybeNone) -> ty.FloatArray:
        """The entries (or rows) of the unknowns, out of those of all states and all parameters."""
        shape = (len(self.free), *np.shape(by_state)[1:])
        out = np.empty(shape)
        for q, i in self._states:
            out[q] = by_state[i]
        for q, i in self._params:
            out[q] = by_parameter[i]
        return out

    def _scatter(self, theta: ty.FloatArray, x: ty.FloatArray, p: ty.FloatArray) -> tuple[ty.FloatArray, ty.FloatArray]:
        """x and p with the unknowns in their places."""
        x, p = x.copy(), p.copy()
        for q, i in self._states:
            x[i] = theta[q]
        for q, i in self._params:
            p[i] = theta[q]
        return x, p

    @property
    def start(self) -> ty.FloatArray:
        """The values of the unknowns in x0 and p."""
        return self._gather(self.x0, self.p)

    def solution(self, theta: ArrayLike) -> Solution:
        """The trajectory for these values of the unknowns. The last one is kept.

        Parameters
        ----------
        theta : array
            Values of the unknowns, in the order of ``free``.

        Returns
        -------
        Solution

        Examples
        --------
        >>> import bouligand as bd
        >>> shot = bd.Shooting(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0], free="z")
        >>> len(shot.solution([2.0]).events), len(shot.solution([8.0]).events), shot.solves
        (2, 0, 2)
        """
        theta = finite_numbers("theta", theta)
        if theta.shape != (len(self.free),):
            raise ValueError(
                f"theta must have {len(self.free)} values ({', '.join(self.free)}); got shape {theta.shape}"
            )
        if self._theta is None or not np.array_equal(theta, self._theta):
            x0, p = self._scatter(theta, self.x0, self.p)
            self.solves += 1
            try:
                self._solution = solve(self.system, self.t_span, x0, p, **self.options)
            except BouligandError as error:
                self.error = error
                raise
            self.error = None
            if self._theta is not None:
                self._direction = theta - self._theta
            self._theta = theta
        return self._solution

    def _attempt(self, theta: ArrayLike) -> Solution | None:
        """The trajectory; None if the integration failed and there is a value for that."""
        try:
            solution = self.solution(theta)
        except BouligandError as error:
            self._note(error)
            return None
        if self.failed is not None and not solution.success:  # (with on_failure="return")
            self.error = solution.error
            return None
        return solution

    def _note(self, error: BouligandError) -> None:
        """Note a failure, and raise it unless there is a value for that."""
        self.error = error
        if self.failed is None:
            raise error

    def __call__(self, theta: ArrayLike) -> ty.FloatArray:
        """The outcome, array (n,): the state at the end for these values of the unknowns.

        Examples
        --------
        >>> import bouligand as bd
        >>> shot = bd.Shooting(bd.models.hopper(), (0.0, 0.2), [2.0, 0.0], free=("z", "g"))
        >>> shot([2.0, 10.0]).round(6)
        array([ 1.8, -2. ])
        """
        solution = self._attempt(theta)
        return np.full(self.system.n, self.failed) if solution is None else solution.record.states[-1].copy()

    def _towards(self) -> tuple[ty.FloatArray, ty.FloatArray]:
        """The direction that selects the piece, as dx and dp."""
        return self._scatter(self._direction, np.zeros(self.system.n), np.zeros(len(self.p)))

    def _derivative(self, solution: Solution) -> tuple[BDerivative[Any], ty.FloatArray, ty.FloatArray | None]:
        """The derivative, and the direction that selects its piece, as dx and dp."""
        dx, dp = self._towards()
        return solution.bderivative(params=bool(self._params)), dx, dp if self._params else None

    def jacobian(self, theta: ArrayLike) -> ty.FloatArray:
        """The derivative of the outcome with respect to the unknowns.

        Parameters
        ----------
        theta : array
            Values of the unknowns, in the order of ``free``.

        Returns
        -------
        array (n, unknowns)

        Examples
        --------
        >>> import bouligand as bd
        >>> shot = bd.Shooting(bd.models.hopper(), (0.0, 0.2), [2.0, 0.0], free="vz")
        >>> shot.jacobian([0.0]).round(6)
        array([[0.2],
               [1. ]])
        """
        solution = self._attempt(theta)
        if solution is None:
            return np.zeros((self.system.n, len(self.free)))
        B, dx, dp = self._derivative(solution)
        if self._params and self._states:
            B._map.store_matrices_of_few_states()  # (both in one pass)
        by_parameter = B.matrix(dx, dp, wrt="p").T if self._params else None
        by_state = B.matrix(dx, dp).T if self._states else np.empty((self.system.n, self.system.n))
        return self._gather(by_state, by_parameter).T

    def value_and_gradient(
        self, cost: Callable[[ty.FloatArray], tuple[float, ArrayLike]]
    ) -> Callable[[ArrayLike], tuple[float, ty.FloatArray]]:
        """A cost of the outcome and its gradient, as a function of the unknowns: for `scipy.optimize.minimize(..., jac=True)`.

        The gradient comes from one adjoint (`BDerivative.vjp`).

        Parameters
        ----------
        cost : callable
            ``cost(x)`` of the outcome x returns its value and its gradient, array (n,).

        Returns
        -------
        callable
            ``theta -> (value, gradient)``.

        Examples
        --------
        >>> import bouligand as bd
        >>> shot = bd.Shooting(bd.models.hopper(), (0.0, 0.2), [2.0, 0.0], free=("z", "g"))
        >>> height = shot.value_and_gradient(lambda x: (x[0], [1.0, 0.0]))
        >>> value, gradient = height([2.0, 10.0])
        >>> round(float(value), 6), gradient.round(6)
        (1.8, array([ 1.  , -0.02]))
        """

        function("cost", cost, "x")

        def value_and_slope(theta: ArrayLike) -> tuple[float, ty.FloatArray]:
            solution = self._attempt(theta)
            if solution is None:
                return float(self.failed), np.zeros(len(self.free))
            value, slope = cost_and_slope(cost, solution.record.states[-1].copy())
            B, dx, dp = self._derivative(solution)
            back = B.vjp(slope, dx, dp)
            return value, self._gather(*(back if self._params else (back, None)))

        return value_and_slope

    def fit(
        self,
        t: ArrayLike,
        data: ArrayLike,
        *,
        observe: ty.Observation | None = None,
        weights: ArrayLike = 1.0,
        rtol: float = 1e-3,
    ) -> Fit:
        """Residuals at the times of measurements, with their derivatives: for `scipy.optimize.least_squares` and `minimize`.

        Parameters
        ----------
        t : array (times,)
            The times of the measurements, within ``t_span``, in any order.
        data : array (times,) or (times, observed)
            What was measured.
        observe : str, sequence of str, or callable; optional
            What is measured: states, by name, or a function of the state, ``observe(x)``, that returns the values, array
            (observed,), and their Jacobian, array (observed, n). Default: all states.
        weights : float or array
            By what the differences are multiplied (the reciprocals of the standard deviations): a number, one for each time,
            or an array like ``data``.
        rtol : float
            The tolerance of the derivative (see `Solution.bderivative`), if larger than that of the integration. Three digits are
            enough for an optimiser to converge, and cost less than more of them where there are fast modes.

        Returns
        -------
        Fit
            ``fit(theta)``, ``fit.jacobian(theta)``, ``fit.cost_and_gradient(theta)``.

        Examples
        --------
        >>> import bouligand as bd
        >>> shot = bd.Shooting(bd.models.hopper(), (0.0, 0.2), [2.0, 0.0], free="g")
        >>> fit = shot.fit([0.1, 0.2], [1.95, 1.8], observe="z", weights=100.0)
        >>> fit([9.0]).round(6), fit.jacobian([9.0]).round(6).tolist()
        (array([0.5, 2. ]), [[-0.5], [-2.0]])
        """
        from .fit import Fit

        return make(Fit, self, t, data, observe, weights, rtol)


def cost_and_slope(cost: Callable[..., Any], x: ty.FloatArray) -> tuple[float, ty.FloatArray]:
    """What a user's ``cost(x)`` returns: its value, and its gradient."""
    value, slope = pair("what cost returns", cost(x), "(value, gradient)")
    gradient = numbers("cost: the gradient", slope)
    if gradient.shape != x.shape:
        raise ValueError(f"cost must return (value, gradient), the gradient with {x.size} values; got {gradient.shape}")
    return number("cost: the value", value), gradient
