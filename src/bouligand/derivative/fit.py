"""Fits to measurements: residuals at many times as a function of the unknowns of a `Shooting`, with their derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._made import Made
from ..errors import DerivativeError
from ..system.arguments import finite_numbers, numbers, positive
from ..system.words import function, names, pair
from .moments import in_order, summed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .. import _typing as ty
    from ..solution.solution import Solution
    from ..system.system import System
    from .at_times import BDerivativeAtTimes
    from .shooting import Shooting


class Fit(metaclass=Made, by="Shooting.fit"):
    """Weighted residuals of a trajectory at the times of measurements, as a function of unknown start values and parameters.

    Made by `Shooting.fit`. ``fit(theta)`` are the residuals and ``fit.jacobian(theta)`` their derivative, all in one forward
    pass: for `scipy.optimize.least_squares`. ``fit.cost_and_gradient(theta)`` is half the sum of their squares, with its gradient
    by one adjoint: for `minimize(..., jac=True)`, where there are many unknowns.

    Parameters
    ----------
    shot : Shooting
    t, data, observe, weights, rtol
        As for `Shooting.fit`.

    Attributes
    ----------
    shot : Shooting
        What is fitted. ``shot.solves`` counts integrations, ``shot.error`` is the reason if the last one failed.
    t : array (times,)
        The times of the measurements.
    data, weights : array (times, observed)
        What was measured, and by what the differences are multiplied.

    Examples
    --------
    Stiffness and gravity of a hopper from its measured height:

    >>> import numpy as np
    >>> import bouligand as bd
    >>> from scipy.optimize import least_squares
    >>> t = np.linspace(0.1, 1.3, 25)
    >>> measured = bd.solve(bd.models.hopper(), (0.0, 1.3), [2.0, 0.0], {"k": 900.0}, rtol=1e-9)(t)[:, 0]
    >>> shot = bd.Shooting(bd.models.hopper(), (0.0, 1.3), [2.0, 0.0], free=("g", "k"), rtol=1e-9)
    >>> fit = shot.fit(t, measured, observe="z")
    >>> found = least_squares(fit, shot.start, jac=fit.jacobian, x_scale=shot.start)
    >>> found.x.round(4)
    array([  9.81, 900.  ])
    """

    def __init__(
        self,
        shot: Shooting,
        t: ArrayLike,
        data: ArrayLike,
        observe: ty.Observation | None = None,
        weights: ArrayLike = 1.0,
        rtol: float = 1e-3,
    ) -> None:
        self.rtol = positive("rtol", rtol)
        if not self.rtol < 1.0:
            raise ValueError(f"rtol must be between 0 and 1, such as 1e-3; got {rtol!r}")
        times, self.data = np.atleast_1d(finite_numbers("t", t)), finite_numbers("data", data)
        if times.ndim != 1 or not times.size:
            raise ValueError(f"t must be a list of times; got shape {times.shape}")
        if self.data.ndim == 1:
            self.data = self.data[:, None]
        if self.data.ndim != 2 or len(self.data) != len(times):
            raise ValueError(f"data must have a row for each of the {len(times)} times; got shape {np.shape(data)}")
        first, last = shot.t_span
        if not (first <= times.min() and times.max() <= last):
            raise ValueError(f"t must lie within t_span, [{first:g}, {last:g}]; got {times.min():g} to {times.max():g}")
        self.t = times
        self._moments, self._places = in_order(times)
        self._observe = _observation(shot.system, observe, self.data.shape[1])
        weights = finite_numbers("weights", weights)
        if (weights < 0.0).any():
            raise ValueError(f"weights must not be negative; got {weights.min():g} among them")
        if weights.ndim == 1:  # (of the times)
            weights = weights[:, None]
        try:
            self.weights: ty.FloatArray = np.broadcast_to(weights, self.data.shape)
        except ValueError:
            raise ValueError(
                f"weights must be a number, one for each time, or an array like data, {self.data.shape}; "
                f"got shape {np.shape(weights)}"
            ) from None
        # one that integrates with the times of the measurements as t_eval
        self.shot = shot._with_times(self._moments)

    def _observed(self, solution: Solution) -> tuple[ty.FloatArray, ty.FloatArray]:
        """What is observed at each time, (times, observed), and its Jacobian in the state, (times, observed, n) or, if that is
        constant, (observed, n)."""
        (_, width), n = self.data.shape, self.shot.system.n
        if isinstance(self._observe, list):  # (states)
            return solution.x[self._places][:, self._observe], np.eye(n)[self._observe]
        both = "the values that are observed, and their Jacobian"
        values, slopes = zip(
            *(pair("what observe returns", self._observe(x), both) for x in solution.x.copy()), strict=True
        )
        value, slope = numbers("observe: the values", values), numbers("observe: the Jacobian", slopes)
        if value.shape[1:] != (width,) or slope.shape[1:] != (width, n):
            raise ValueError(
                f"observe must give {width} values, as data has, and a Jacobian of shape {(width, n)}; "
                f"got shapes {value.shape[1:]} and {slope.shape[1:]}"
            )
        return value[self._places], slope[self._places]

    def _solution(self, theta: ArrayLike) -> Solution | None:
        """The trajectory; None if the integration failed and `Shooting` has a value for that."""
        solution = self.shot._attempt(theta)
        if solution is not None and len(solution.t) < len(self._moments):
            self.shot._note(
                DerivativeError(
                    f"the trajectory ended at t = {solution.record.t[-1]:g} ({solution.message}), before the last measurement, "
                    f"t = {self._moments[-1]:g}"
                )
            )
            return None
        return solution

    def __call__(self, theta: ArrayLike) -> ty.FloatArray:
        """The residuals, ``weights * (observed - data)`` as one vector, times first.

        Parameters
        ----------
        theta : array
            Values of the unknowns, in the order of ``shot.free``.

        Returns
        -------
        array (times * observed,)
            All of them ``shot.failed`` if the integration failed and that is a number.

        Examples
        --------
        >>> import bouligand as bd
        >>> shot = bd.Shooting(bd.models.hopper(), (0.0, 0.2), [2.0, 0.0], free="g")
        >>> shot.fit([0.1, 0.2], [1.95, 1.8], observe="z")([10.0]).round(6)
        array([0., 0.])
        """
        solution = self._solution(theta)
        if solution is None:
            return np.full(self.data.size, self.shot.failed)
        return (self.weights * (self._observed(solution)[0] - self.data)).ravel()

    def _derivative(self, solution: Solution) -> tuple[BDerivativeAtTimes[Any], tuple[Any, Any]]:
        """The derivative at all times, and the direction that selects its piece."""
        params = bool(self.shot._params)
        dx, dp = self.shot._towards()
        rtol = max(self.rtol, solution._tolerances[0])
        return solution.bderivative(self._moments, params=params, rtol=rtol), (dx, dp if params else None)

    def jacobian(self, theta: ArrayLike) -> ty.FloatArray:
        """The derivative of the residuals with respect to the unknowns.

        Parameters
        ----------
        theta : array
            Values of the unknowns, in the order of ``shot.free``.

        Returns
        -------
        array (times * observed, unknowns)
            Zeros if the integration failed and ``shot.failed`` is a number.

        Examples
        --------
        >>> import bouligand as bd
        >>> shot = bd.Shooting(bd.models.hopper(), (0.0, 0.2), [2.0, 0.0], free=("vz", "g"))
        >>> shot.fit([0.1, 0.2], [1.95, 1.8], observe="z").jacobian([0.0, 10.0]).round(6)
        array([[ 0.1  , -0.005],
               [ 0.2  , -0.02 ]])
        """
        solution = self._solution(theta)
        if solution is None:
            return np.zeros((self.data.size, len(self.shot.free)))
        B, direction = self._derivative(solution)
        S = B.matrix(*direction, wrt=self.shot.free)[self._places]
        slope = self._observed(solution)[1]
        return (self.weights[:, :, None] * (slope @ S)).reshape(self.data.size, -1)

    def cost_and_gradient(self, theta: ArrayLike) -> tuple[float, ty.FloatArray]:
        """Half the sum of the squared residuals, and its gradient: by one adjoint, or by columns where that costs less.

        Parameters
        ----------
        theta : array
            Values of the unknowns, in the order of ``shot.free``.

        Returns
        -------
        tuple of float and array (unknowns,)
            ``shot.failed`` and zeros if the integration failed and that is a number.

        Examples
        --------
        >>> import bouligand as bd
        >>> shot = bd.Shooting(bd.models.hopper(), (0.0, 0.2), [2.0, 0.0], free=("vz", "g"))
        >>> value, gradient = shot.fit([0.1, 0.2], [1.85, 1.8], observe="z").cost_and_gradient([0.0, 10.0])
        >>> round(value, 6), gradient.round(6)
        (0.005, array([ 0.01  , -0.0005]))
        """
        solution = self._solution(theta)
        if solution is None:
            return float(self.shot.failed), np.zeros(len(self.shot.free))
        value, slope = self._observed(solution)
        residuals = self.weights * (value - self.data)
        w = summed(((self.weights * residuals)[:, None, :] @ slope)[:, 0], self._places, len(self._moments))
        B, direction = self._derivative(solution)
        if B._by_columns(len(self.shot.free)):
            gradient = np.einsum("ti,tij->j", w, B.matrix(*direction, wrt=self.shot.free))
        else:
            back = B.vjp(w, *direction)
            gradient = self.shot._gather(*(back if self.shot._params else (back, None)))
        return 0.5 * float(np.sum(residuals**2)), gradient

    def __repr__(self) -> str:
        return f"Fit of {', '.join(self.shot.free)} to {self.data.size} values at {len(self.t)} times"


def _observation(
    system: System, observe: ty.Observation | None, width: int
) -> list[int] | Callable[[ty.FloatArray], tuple[ArrayLike, ArrayLike]]:
    """What is observed: the places of states, or the function that was given."""
    if callable(observe):
        return function("observe", observe, "x")
    seen = (
        system.states
        if observe is None
        else names("observe", observe, system.states, "state", ", or a function of the state")
    )
    if len(seen) != width:
        raise ValueError(f"data must have a column for each observed state ({', '.join(seen)}); got {width} columns")
    return [system.states.index(name) for name in seen]
