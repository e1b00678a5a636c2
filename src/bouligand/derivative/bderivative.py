"""The B-derivative of a trajectory: how its outcome depends, to first order, on start, parameters and start time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Literal

import numpy as np

from .._made import Made, make
from ..system.arguments import flag, numbers, one_of
from .margins import warn_of_jumps
from .outcome import check_options, outcome_of
from .perturbations import Perturbations, batch_of, described
from .structure import Structure
from .tangent_map import TangentMap

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import TypeVar  # for default=, which Python's own has from 3.13 on

    from .._typing import FloatArray, Parameters
    from ..solution.solution import Solution

    # what `vjp` returns: an array, or with params=True a pair of them
    Gradient = TypeVar("Gradient", default=FloatArray, covariant=True)
else:
    from typing import TypeVar

    Gradient = TypeVar("Gradient")


class BDerivative(Structure, Generic[Gradient], metaclass=Made, by="Solution.bderivative"):
    """The Bouligand derivative of ``x(since) -> x(t)`` along a solution: continuous, piecewise linear in the perturbation.

    Made by `Solution.bderivative`. Where all crossings are isolated it is a matrix; at a corner, where guards are crossed
    together, the piece depends on the perturbation. For type checkers, ``BDerivative[G]`` has the type G that `vjp` returns: an
    array, or with ``params=True`` a pair of arrays.

    Parameters
    ----------
    solution : Solution
    t, since, event, params, merge, rtol
        As for `Solution.bderivative`.

    Attributes
    ----------
    since, t : float
        The times of the start and of the outcome.
    event : int or None
        Number of the event at which the outcome is taken, if not at a fixed time (a Poincare map).
    corners : list of TrajectoryCorner
        Where several guards are crossed together, or one at the start or the end: each with ``t``, ``guards``, ``kind``.
    margins : list of Margin
        Grazes on the way, where a guard came within its tolerance of zero: each with ``guard``, ``t``, ``h``, and ``reach``,
        the size of perturbations up to which the derivative holds.
    events : array of int
        The events between start and outcome, as numbers in ``solution.events``.
    is_linear : bool or None
        Whether it is a matrix.
    error : float
        The relative error of Jacobians that come from differences; zero if none does.
    params : bool
        Whether it includes the parameters.
    n, np : int
        Number of states, and of parameters that are included.
    solution, system
        What it is the derivative of.

    Examples
    --------
    Two guards that are crossed together; each crossing slows down the approach to the other:

    >>> import bouligand as bd
    >>> def f(t, x, b, p):
    ...     return (1.0 if b[1] < 0 else 0.5, 1.0 if b[0] < 0 else 0.5)
    >>> system = bd.System(f, lambda t, x, p: (x[0], x[1]), states=("x", "y"), guards=("x = 0", "y = 0"))
    >>> B = bd.solve(system, (0.0, 2.0), [-1.0, -1.0]).bderivative()
    >>> B
    B-derivative of the state at t = 2 in that at t = 0, 1 corner
      tie at t = 1: x = 0, y = 0
    >>> B.is_linear
    False
    >>> B.orders([0.1, 0.0]), B([0.1, 0.0]).round(6)
    ([('x = 0', 'y = 0')], array([ 0.15, -0.05]))
    >>> B.orders([-0.1, 0.0]), B([-0.1, 0.0]).round(6)
    ([('y = 0', 'x = 0')], array([-0.1,  0.1]))
    """

    def __init__(
        self,
        solution: Solution,
        t: float | None = None,
        since: float | None = None,
        event: int | None = None,
        params: bool = False,
        merge: float | None = None,
        rtol: float | None = None,
    ) -> None:
        self._made_of = (solution, t, since, event, params, merge, rtol)
        if params is not False:
            params = flag("params", params)
        outcome = outcome_of(solution, t, since, event)
        if params or merge is not None or rtol is not None:
            check_options(solution, params, merge, rtol, outcome.since, outcome.t)
        self.since, self.t, self.event = outcome.since, outcome.t, outcome.event
        self.solution, self.system, self.params = solution, solution.system, params
        self._map = TangentMap(solution, outcome, self.params, merge, None if rtol is None else float(rtol))
        if solution.record.jumps_at_grazes:
            warn_of_jumps(solution, self.since, self.t)
        self.n, self.np = self._map.n, self._map.np
        self._perturbations = Perturbations(self.system, self.n, self.np, self.params)

    def __reduce__(self) -> tuple[Any, ...]:
        return make, (BDerivative, *self._made_of)

    def __call__(self, dx: ArrayLike | None = None, dp: Parameters | None = None, dt0: ArrayLike = 0.0) -> FloatArray:
        """The perturbation of the outcome, to first order.

        Parameters
        ----------
        dx : array (n,) or (nbatch, n), optional
            Perturbation of the state at the start.
        dp : array (parameters,), (nbatch, parameters) or mapping from str to float, optional
            Perturbation of the parameters; needs ``params=True``.
        dt0 : float or array (nbatch,)
            Perturbation of the start time.

        Returns
        -------
        array (n,), or (nbatch, n) if any argument is a batch

        Examples
        --------
        >>> import bouligand as bd
        >>> B = bd.solve(bd.models.hopper(), (0.0, 0.2), [2.0, 0.0]).bderivative(params=True)
        >>> B([[1.0, 0.0], [0.0, 1.0]]).round(6)
        array([[1. , 0. ],
               [0.2, 1. ]])
        >>> B(dp={"g": 1.0}).round(6)
        array([-0.02, -0.2 ])
        """
        batch = batch_of(dx, dp, dt0)
        if batch is not None:
            return self._images(batch)
        z, start = self._perturbations.vector(dx, dp, dt0)  # type: ignore[arg-type]
        self._map.expect(1)
        self._map.propagate(z[None], np.array([start]) if start else None)
        return z[: self.n].copy() if self.np else z

    def _images(self, batch: list[tuple[Any, Any, Any]]) -> FloatArray:
        """Of several perturbations: in one pass, or one after the other."""
        self._map.expect(len(batch))
        vectors = [self._perturbations.vector(*one) for one in batch]
        D = np.array([z for z, _ in vectors]).reshape(len(batch), self.n + self.np)
        starts = np.array([start for _, start in vectors])
        each = [slice(None)] if self._map.together(len(batch)) else [slice(i, i + 1) for i in range(len(batch))]
        for rows in each:
            self._map.propagate(D[rows], starts[rows] if starts[rows].any() else None)
        return D[:, : self.n].copy()

    def matrix(
        self,
        dx: ArrayLike | None = None,
        dp: Parameters | None = None,
        dt0: float = 0.0,
        wrt: Literal["x", "p", "t0"] = "x",
    ) -> FloatArray:
        """The linear piece to which a perturbation belongs.

        Parameters
        ----------
        dx, dp, dt0
            The perturbation (see `__call__`), which selects the piece. Not needed if there are no corners.
        wrt : {"x", "p", "t0"}
            With respect to the state at the start, the parameters (needs ``params=True``), or the start time.

        Returns
        -------
        array (n, n), (n, parameters) or (n,)

        Raises
        ------
        ValueError
            If there are several pieces and no perturbation is given.

        Examples
        --------
        >>> import bouligand as bd
        >>> B = bd.solve(bd.models.hopper(), (0.0, 0.2), [2.0, 0.0]).bderivative(params=True)
        >>> B.matrix().round(6)
        array([[1. , 0.2],
               [0. , 1. ]])
        >>> B.matrix(wrt="p").shape
        (2, 3)
        """
        one_of("wrt", wrt, ("x", "p", "t0"))
        if wrt == "p" and not self.params:
            raise ValueError("wrt='p' needs a derivative with parameters: sol.bderivative(params=True)")
        if self._map.alone(wrt):
            # (a piece is selected on the way; whether it had to be given is known behind it)
            z, start = self._perturbations.vector(dx, dp, dt0)
            if dx is None and dp is None and not start:
                z[:] = 1.0
            out = self._map.matrix(z, start, wrt)
            self._selecting(dx, dp, dt0, "matrix")
            return out
        self._map.store_matrices_of_few_states()
        z, dt0 = self._selecting(dx, dp, dt0, "matrix")
        return self._map.matrix(z, dt0, wrt)

    def offset(self, dx: ArrayLike | None = None, dp: Parameters | None = None, dt0: float = 0.0) -> FloatArray:
        """``B(dx) - matrix(dx) @ dx``: zero, unless ``merge`` keeps the times between near crossings (then B is affine).

        Parameters
        ----------
        dx, dp, dt0
            One perturbation (see `__call__`).

        Returns
        -------
        array (n,)

        Examples
        --------
        >>> import bouligand as bd
        >>> B = bd.solve(bd.models.hopper(), (0.0, 0.2), [2.0, 0.0]).bderivative()
        >>> bool(abs(B.offset([1.0, 1.0])).max() < 1e-9)
        True
        """
        z, start = self._perturbations.vector(dx, dp, dt0)
        out = self(dx, dp, dt0) - self.matrix(dx, dp, dt0) @ z[: self.n]
        if self.params:
            out -= self.matrix(dx, dp, dt0, wrt="p") @ z[self.n :]
        return out - (self.matrix(dx, dp, dt0, wrt="t0") * start if start else 0.0)

    @property
    def error(self) -> float:
        """The error of Jacobians that come from differences: the largest of a column, relative to its largest entry, as measured
        along the trajectory. Zero if all Jacobians are given or exact (see `System.jacobians`)."""
        steps = self.solution._difference_steps
        return steps[self.params].error if steps else 0.0

    def vjp(
        self, w: ArrayLike, dx: ArrayLike | None = None, dp: Parameters | None = None, dt0: float = 0.0
    ) -> Gradient:
        """The vector-Jacobian product: the gradient of ``w @ x(t)`` with respect to the start (and the parameters).

        A discrete adjoint: the gradient is propagated backwards step by step. If the system has ``Df`` and ``Dp_f``, the cost
        does not grow with the number of parameters.

        Parameters
        ----------
        w : array (n,)
            Weights of the outcome, such as the gradient of a cost.
        dx, dp, dt0
            The perturbation (see `__call__`), which selects the piece. Not needed if there are no corners.

        Returns
        -------
        array (n,), or with ``params=True`` a pair of arrays (n,) and (parameters,)

        Examples
        --------
        >>> import bouligand as bd
        >>> sol = bd.solve(bd.models.hopper(), (0.0, 0.2), [2.0, 0.0])
        >>> sol.bderivative().vjp([1.0, 0.0]).round(6)
        array([1. , 0.2])
        >>> by_start, by_parameters = sol.bderivative(params=True).vjp([1.0, 0.0])
        >>> by_parameters.round(6)
        array([-0.02,  0.  ,  0.  ])
        """
        w = numbers("w", w)
        if w.shape != (self.n,) or not np.isfinite(w).all():
            raise ValueError(f"w must have {self.n} finite values, one for each state; got {described(w)}")
        self._map.prepare_gradient()
        z, dt0 = self._selecting(dx, dp, dt0, "vjp")
        g = self._map.gradient(w, z, dt0)
        gradient: Any = (g[: self.n].copy(), g[self.n :].copy()) if self.params else g
        return gradient

    def __repr__(self) -> str:
        where = f"at event {self.event} (t = {self.t:g})" if self.event is not None else f"at t = {self.t:g}"
        text = f"B-derivative of the state {where} in that at t = {self.since:g}" + (
            " and the parameters" * self.params
        )
        if not self.corners:
            return text + ": a matrix, all crossings are isolated"
        lines = [f"  {c.kind} at t = {c.t:g}: {', '.join(map(str, c.guards[:6]))}" for c in self.corners[:10]]
        return "\n".join([text + f", {len(self.corners)} corner{'s' * (len(self.corners) > 1)}", *lines])
