"""The B-derivative of a trajectory: how its outcome depends, to first order, on start, parameters and start time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal

import numpy as np

from ..core.state import AT_END, AT_START, SHOWN, TO_GUARD
from ..errors import DerivativeError
from ..system.arguments import index, number, numbers, one_of, whole
from .chain import Chain

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import TypeVar  # for default=, which Python's own has from 3.13 on

    from .._typing import FloatArray, IntArray, MaybeNone, Parameters
    from ..solution.solution import Solution
    from .corner import Passage
    from .pieces import Piece
    from .trajectory_corners import TrajectoryCorner
    from .walk import Requested, Walk

    # what `vjp` returns: an array, or with params=True a pair of them
    Gradient = TypeVar("Gradient", default=FloatArray, covariant=True)
else:
    from typing import TypeVar

    Gradient = TypeVar("Gradient")

_SMALL = 100  # up to this many states and parameters, the linear parts are stored as matrices


@dataclass
class _Link:
    """A linear part of the map (images of the unit perturbations, one per row), the derivatives of the event times in it, and the
    corner that follows. Matrix and times are None where they are not stored."""

    matrix: FloatArray | MaybeNone
    times: FloatArray | None
    corner: TrajectoryCorner | None


class BDerivative(Generic[Gradient]):
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
        if not solution.success and t is None and event is None:
            raise DerivativeError(
                f"the solution did not reach its end ({solution.message}); there is no outcome to take the derivative of. "
                "Give t, a time that it did reach."
            )
        self._made_of = (solution, t, since, event, params, merge, rtol)
        record = solution.record
        first, last = record.t[0], record.t[-1]
        self.since: float = first if since is None else _time("since", since, first, last)
        wanted = None
        if event is None and t is None and solution.status == "terminated":
            event = _terminal_event(solution)
        if event is not None:
            shown = np.flatnonzero(record.shown)
            if t is not None:
                raise ValueError("give t or event, not both: the state is taken at a fixed time, or at an event")
            event = index("event", event)
            if not -len(shown) <= event < len(shown):
                raise ValueError(f"event must be one of the solution's {len(shown)} events; got {event!r}")
            event %= len(shown)
            wanted = int(shown[event])
            self.t: float = float(record.events["t"][wanted])
        else:
            self.t = last if t is None else _time("t", t, first, last)
        if not self.t > self.since:
            raise ValueError(f"t must be after since; got t = {self.t:g}, since = {self.since:g}")
        if params and record.legs is not None:
            raise DerivativeError(
                "the parameters were changed on the way: there is no derivative in them (params=True)"
            )
        if merge is not None and not number("merge", merge) >= 0.0:
            raise ValueError(f"merge must be a time, zero or more; got {merge!r}")
        if rtol is not None and not 0.0 < number("rtol", rtol) < 1.0:
            raise ValueError(f"rtol must be between 0 and 1, such as 1e-6; got {rtol!r}")
        self.solution, self.system, self.event, self.params = solution, solution.system, event, bool(params)
        self._arguments = (self.since, last if event is not None else self.t, wanted, self.params, merge)
        self._rtol = None if rtol is None else float(rtol)
        self._walk = Chain(solution, *self._arguments, observers=False, rtol=self._rtol)
        self._links: list[_Link] | None = None
        self._calls = 0
        self.n: int = self._walk.n
        self.np: int = self._walk.np
        self._width = self.n + self.np

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._made_of

    # ------------------------------------------------------------------------------------------------ perturbations

    def _perturbation(self, dx: ArrayLike | None, dp: Parameters | None, dt0: float) -> tuple[FloatArray, float]:
        """One perturbation as a vector (state, parameters), and its dt0."""
        z = np.zeros(self._width)
        if dx is not None:
            dx = dx if type(dx) is np.ndarray and dx.dtype == float else numbers("dx", dx)
            # (a finite product shows faster that all values are finite)
            if dx.shape != (self.n,) or not (math.isfinite(dx.dot(dx)) or np.isfinite(dx).all()):
                raise ValueError(f"dx must have {self.n} finite values, one for each state; got {_describe(dx)}")
            z[: self.n] = dx
        if dp is not None:
            if not self.params:
                raise ValueError("dp needs a derivative with parameters: sol.bderivative(params=True)")
            z[self.n :] = self._parameters(dp)
        return z, dt0 if dt0 == 0.0 else number("dt0", dt0)

    def _parameters(self, dp: Parameters) -> FloatArray:
        """A perturbation of the parameters as an array."""
        if isinstance(dp, dict):
            out = np.zeros(self.np)
            for key, value in dp.items():
                if key not in self.system.params:
                    raise ValueError(
                        f"dp: no parameter is called {key!r}; parameters: {', '.join(self.system.params) or 'none'}"
                    )
                out[self.system.params.index(key)] = number(f"dp: {key}", value)
            dp = out
        dp = numbers("dp", dp)
        if dp.shape != (self.np,) or not np.isfinite(dp).all():
            raise ValueError(f"dp must have {self.np} finite values, one for each parameter; got {_describe(dp)}")
        return dp

    def _rate(self) -> FloatArray:
        """x' at the start, in the mode there."""
        stretch = self._walk.stretch
        p = stretch.leg_p[stretch.leg]
        return self.system.function("f")(stretch.t[0], stretch.states[0], stretch.word, p)

    def _selecting(
        self, dx: ArrayLike | None, dp: Parameters | None, dt0: float, what: str
    ) -> tuple[FloatArray, float]:
        """The perturbation that selects the piece. None has to be given if there is only one piece."""
        if dx is None and dp is None and dt0 == 0.0:
            if self.corners and self.is_linear is not True:
                names = ", ".join(str(g) for g in self.corners[0].guards[:4])
                raise ValueError(
                    f"{what} needs dx: the derivative is not a single matrix, guards {names} are crossed together at "
                    f"t = {self.corners[0].t:g} (see B.corners), and dx selects the piece"
                )
            return np.ones(self._width), 0.0
        return self._perturbation(dx, dp, dt0)

    # ---------------------------------------------------------------------------------------------------- the map

    def _propagate(
        self,
        D: FloatArray,
        dt0: FloatArray | None,
        times: FloatArray | None = None,
        jumps: bool = False,
        requested: Requested | tuple[()] = (),
    ) -> list[Passage]:
        """Propagate tangents (rows of D, changed in place; the first selects the piece) from the start to the outcome.

        Returns how they passed each corner.

        ``dt0``: perturbations of the start time, None if all are zero. ``times``: receives the derivatives of the event times.
        ``jumps``: whether the passages are to hold what the adjoint needs. ``requested``: see `Walk.propagate`.
        """
        walk = self._walk
        passages: list[Passage] = []
        if dt0 is not None and not walk.starts_on_guard:
            D[:, : self.n] -= np.outer(dt0, self._rate())
        for link in self._linear_parts(D, times, requested):
            if link.matrix is not None:
                if times is not None and link.times is not None:
                    rows = np.isfinite(link.times[:, 0])
                    times[rows] = link.times[rows] @ D.T
                D[:] = D @ link.matrix
            corner = link.corner
            if corner is None:
                continue
            passage = corner._pass(D, dt0 if corner.mode == AT_START and not corner.at_break else None, jumps)
            passages.append(passage)
            if times is not None:
                for u, when in zip(passage.order, passage.times, strict=True):
                    if u < len(corner.unit_rows):
                        row = corner.offset + corner.unit_rows[u]
                        times[row] = when
                        if walk.merge > 0.0:  # (with offsets, the first time is relative to the corner's own)
                            times[row, 0] += corner.t - walk.stretch.events["t"][row]
        return passages

    def _linear_parts(
        self, D: FloatArray, times: FloatArray | None, requested: Requested | tuple[()]
    ) -> Iterator[_Link]:
        """The linear parts between corners: the stored matrices, or a replay of the steps, which propagates D itself."""
        if self._links is not None and not requested and (times is None or self._links[0].times is not None):
            yield from self._links
            return
        for corner in self._walk.propagate(D, times, requested):
            yield _Link(None, None, corner)

    def _store_matrices(self, times: bool = False) -> None:
        """Compute the linear parts as matrices, and store them. ``times``: with the derivatives of the event times."""
        if self._links is not None and (not times or self._links[0].times is not None):
            return
        if times:
            self._watch_observers()
        walk, unit = self._walk, np.eye(self._width)
        links: list[_Link] = []
        D = unit.copy()
        record = np.full((len(walk.stretch.events), self._width), np.nan) if times else np.empty((0, 0))
        for corner in walk.propagate(D, record if times else None):
            links.append(_Link(D.copy(), record.copy() if times else None, corner))
            D[:] = unit
            record[:] = np.nan
        links.append(_Link(D, record if times else None, None))
        self._links = links

    def _watch_observers(self) -> None:
        """Cut the stretch again, with a row at each event of an observer, because their times are requested."""
        if self.system.observers.any():
            self._walk = Chain(self.solution, *self._arguments, observers=True, rtol=self._rtol)
            self._links = None

    def _prepare(self, count: int) -> None:
        """Store matrices if that pays: from the second perturbation on, unless there are many states."""
        self._calls += count
        if self._calls > 1 and self._width <= _SMALL:
            self._store_matrices()

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
        ranks = _rank(dx), _rank(dp), _rank(dt0)
        if ranks[0] > 1 or ranks[1] > 1 or ranks[2] > 0:
            names, singles = ("dx", "dp", "dt0"), (1, 1, 0)
            for name, rank, single in zip(names, ranks, singles, strict=True):
                if rank > single + 1:
                    raise ValueError(f"{name} must be one perturbation or a batch of them; got {rank} dimensions")
            given: list[tuple[Any, int]] = [  # with the rank of a single perturbation
                (numbers(name, v) if rank > single else v, single)
                for name, v, rank, single in zip(names, (dx, dp, dt0), ranks, singles, strict=True)
            ]
            lengths = {len(v) for (v, single), rank in zip(given, ranks, strict=True) if rank > single}
            if len(lengths) > 1:
                raise ValueError(
                    f"dx, dp and dt0 must each be one perturbation or batches of the same length; got {sorted(lengths)}"
                )
            count = lengths.pop()
            if count == 0:
                return np.empty((0, self.n))
            self._prepare(count)
            return np.array([self(*(_item(v, q, single) for v, single in given)) for q in range(count)])
        z, start = self._perturbation(dx, dp, dt0)  # type: ignore[arg-type]
        self._prepare(1)
        self._propagate(z.reshape(1, -1), np.array([start]) if start else None)
        return z[: self.n].copy() if self.np else z

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
        if self._width <= _SMALL:
            self._store_matrices()
        z, dt0 = self._selecting(dx, dp, dt0, "matrix")
        whole = self._links[0].matrix if self._links is not None and not self.corners else None
        if whole is not None and wrt != "t0":
            return (whole[: self.n] if wrt == "x" else whole[self.n :])[:, : self.n].T.copy()
        unit = np.eye(self._width)
        followers = {"x": unit[: self.n], "p": unit[self.n :], "t0": np.zeros((1, self._width))}[wrt]
        D = np.vstack([z, followers])
        start = np.zeros(len(D))
        start[0] = dt0
        if wrt == "t0":
            start[1] = 1.0
        self._propagate(D, start)
        return D[1, : self.n].copy() if wrt == "t0" else D[1:, : self.n].T.copy()

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
        z, start = self._perturbation(dx, dp, dt0)
        out = self(dx, dp, dt0) - self.matrix(dx, dp, dt0) @ z[: self.n]
        if self.params:
            out -= self.matrix(dx, dp, dt0, wrt="p") @ z[self.n :]
        return out - (self.matrix(dx, dp, dt0, wrt="t0") * start if start else 0.0)

    def orders(
        self, dx: ArrayLike | None = None, dp: Parameters | None = None, dt0: float = 0.0
    ) -> list[tuple[str, ...]]:
        """The order in which the perturbed trajectory crosses the guards of each corner.

        Parameters
        ----------
        dx, dp, dt0
            One perturbation (see `__call__`).

        Returns
        -------
        list of tuples of str
            For each corner the names of its guards.

        Examples
        --------
        >>> import bouligand as bd
        >>> sol = bd.solve(bd.models.three_legs(), (0.0, 0.3), [0.7, 0, 0, 0, 0, 0, 0])
        >>> sol.bderivative().orders([0, 0, 1e-3, 0, 0, 0, 0])
        [('foot0', 'foot1', 'foot2')]
        """
        z, dt0 = self._selecting(dx, dp, dt0, "orders")
        self._prepare(1)
        passages = self._propagate(z[None].copy(), np.array([dt0]))
        return [
            tuple(corner.guards[u] for u in passage.order)
            for corner, passage in zip(self.corners, passages, strict=True)
        ]

    def event_times(self, dx: ArrayLike | None = None, dp: Parameters | None = None, dt0: float = 0.0) -> FloatArray:
        """The perturbations of the event times, to first order.

        Parameters
        ----------
        dx, dp, dt0
            One perturbation (see `__call__`).

        Returns
        -------
        array
            How much later each event in ``B.events`` happens. NaN for one that is not reached before the end any more.

        Examples
        --------
        >>> import bouligand as bd
        >>> B = bd.solve(bd.models.hopper(), (0.0, 0.5), [2.0, 0.0], rtol=1e-8).bderivative()
        >>> B.event_times([1.0, 0.0]).round(6), B.events
        (array([0.225762]), array([0]))
        """
        z, dt0 = self._selecting(dx, dp, dt0, "event_times")
        if self._width <= _SMALL:
            self._store_matrices(times=True)
        else:
            self._watch_observers()
        events = self._walk.stretch.events
        times = np.full((len(events), 1), np.nan)
        self._propagate(z[None].copy(), np.array([dt0]), times)
        times[events["jumped"] == 1] = 0.0  # (a guard that jumps across the trajectory does so at the breakpoint)
        return times[: self._count][events["shown"][: self._count] == SHOWN, 0]

    @property
    def error(self) -> float:
        """The error of Jacobians that come from differences: the largest of a column, relative to its largest entry, as measured
        along the trajectory. Zero if all Jacobians are given or exact (see `System.jacobians`)."""
        steps = self.solution._difference_steps
        return steps[self.params].error if steps else 0.0

    @property
    def _count(self) -> int:
        """Number of rows of events between start and outcome."""
        return self._walk.rows.stop - self._walk.rows.start

    @property
    def events(self) -> IntArray:
        """The events between start and outcome, as numbers in ``solution.events``."""
        rows = self._walk.rows
        shown = np.flatnonzero(self.solution.record.shown)
        return np.flatnonzero((shown >= rows.start) & (shown < rows.stop))

    def vjp(
        self, w: ArrayLike, dx: ArrayLike | None = None, dp: Parameters | None = None, dt0: float = 0.0
    ) -> Gradient:
        """The vector-Jacobian product: the gradient of ``w . x(t)`` with respect to the start (and the parameters).

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
            raise ValueError(f"w must have {self.n} finite values, one for each state; got {_describe(w)}")
        if self._width <= _SMALL and self._walk.by_duals:
            return self._vjp_by_matrices(w, dx, dp, dt0)
        self._walk.record_crossings()
        passages: list[Passage] = []
        if self.corners:
            z, dt0 = self._selecting(dx, dp, dt0, "vjp")
            passages = self._propagate(z[None].copy(), np.array([dt0]), jumps=True)
        elif dx is not None or dp is not None:
            self._perturbation(dx, dp, dt0)
        g = self._pull(w, passages)
        gradient: Any = (g[: self.n].copy(), g[self.n :].copy()) if self.params else g.copy()
        return gradient

    def _vjp_by_matrices(self, w: FloatArray, dx: ArrayLike | None, dp: Parameters | None, dt0: float) -> Gradient:
        """The same, forwards: with dual numbers an adjoint takes as many evaluations of f as all tangents, and more besides."""
        self._store_matrices()
        D = np.eye(self._width)
        if self.corners:
            z, dt0 = self._selecting(dx, dp, dt0, "vjp")
            start = np.zeros(self._width + 1)
            start[0] = dt0
            D = np.vstack([z, D])
            self._propagate(D, start)
            D = D[1:]
        else:
            if dx is not None or dp is not None:
                self._perturbation(dx, dp, dt0)
            self._propagate(D, None)
        g = D[:, : self.n] @ w
        gradient: Any = (g[: self.n], g[self.n :].copy()) if self.params else g
        return gradient

    def _pull(self, w: FloatArray, passages: list[Passage], requested: Requested | tuple[()] = ()) -> FloatArray:
        """The gradient of ``w . x(t)``, with these passages through the corners; ``requested``: times on the way, and a gradient
        for each that is added."""
        g = np.zeros(self._width)
        g[: self.n] = w
        parts, last = self._walk.parts(requested, 1), len(passages)
        for walk, part in zip(self._walk.walks[::-1], parts[::-1], strict=True):
            first = last - len(walk.corners)
            self._adjoint_along(walk, passages[first:last], g, part)
            last = first
        return g

    @staticmethod
    def _adjoint_along(walk: Walk, passages: list[Passage], g: FloatArray, requested: Requested | tuple[()]) -> None:
        """Propagate the gradient g (changed in place) back along one walk, with the passages through its corners."""
        stretch = walk.stretch
        walk.memory.request(*requested, backwards=True)
        here = (stretch.end, int(stretch.events["t"].searchsorted(stretch.t[stretch.end], side="right")))
        for corner, passage in zip(walk.corners[::-1], passages[::-1], strict=True):
            first, behind = corner.event_rows.start, corner.event_rows.stop
            if corner.mode not in (TO_GUARD, AT_END):
                walk.adjoint(g, here, (corner.last_record, behind))
                walk.adjoint(g, (corner.last_record, behind), (corner.record, first), quiet=first)
            corner._adjoint(g, passage)
            # (crossings of a corner at the end may be behind it, where nothing was propagated)
            middle, begin = min(corner.record, stretch.end), min(corner.first_record, stretch.end)
            at_middle = first + int(np.count_nonzero(stretch.events["record"][corner.event_rows] < middle))
            walk.adjoint(g, (middle, at_middle), (begin, first), quiet=first)
            here = (begin, first)
        walk.adjoint(g, here, (0, 0))

    # ------------------------------------------------------------------------------------------------------ pieces

    @property
    def corners(self) -> list[TrajectoryCorner]:
        """Where several guards are crossed together, or one at the start or the end."""
        self._walk.find_corners()
        return self._walk.corners

    def pieces(self, limit: int = 1000) -> list[Piece[str]]:
        """The distinct linear pieces.

        Parameters
        ----------
        limit : int
            Largest number of orders of crossing to examine.

        Returns
        -------
        list of Piece
            Each with its ``matrix``, a perturbation ``dx`` inside it, and the ``orders`` of crossing that lead to it.

        Raises
        ------
        TooManyPiecesError
            If there are more than ``limit`` orders, or more than twelve guards in a corner.

        Examples
        --------
        Three equal legs that land together: six orders of crossing, all with the same matrix.

        >>> import bouligand as bd
        >>> sol = bd.solve(bd.models.three_legs(), (0.0, 0.3), [0.7, 0, 0, 0, 0, 0, 0])
        >>> pieces = sol.bderivative().pieces()
        >>> len(pieces), len(pieces[0].orders), pieces[0].matrix.shape
        (1, 6, (7, 7))
        """
        from .pieces import pieces

        limit = whole("limit", limit, 1)
        self._store_matrices()
        links = [(link.matrix, link.corner) for link in self._links or []]
        return pieces(links, self.n, limit)

    @property
    def is_linear(self) -> bool | None:
        """Whether the derivative is a matrix; None if there are too many orders of crossing to decide."""
        known = [corner.is_linear for corner in self.corners]
        if all(value is True for value in known):
            return True
        if sum(corner.units for corner in self.corners) <= 6:
            return len(self.pieces()) == 1
        return False if any(value is False for value in known) else None

    def __repr__(self) -> str:
        where = f"at event {self.event} (t = {self.t:g})" if self.event is not None else f"at t = {self.t:g}"
        text = f"B-derivative of the state {where} in that at t = {self.since:g}" + (
            " and the parameters" * self.params
        )
        if not self.corners:
            return text + ": a matrix, all crossings are isolated"
        lines = [f"  {c.kind} at t = {c.t:g}: {', '.join(map(str, c.guards[:6]))}" for c in self.corners[:10]]
        return "\n".join([text + f", {len(self.corners)} corner{'s' * (len(self.corners) > 1)}", *lines])


def _terminal_event(solution: Solution) -> int:
    """Number of the terminal event: the last one of the guard that ended the integration."""
    guards = solution.events.guard
    return int(np.flatnonzero(guards == solution.ended_by)[-1])


def _time(name: str, value: float, first: float, last: float) -> float:
    """The argument ``name``, checked to lie within the trajectory."""
    value = number(name, value)
    if not first <= value <= last:
        raise ValueError(f"{name} must lie within the trajectory, [{first:g}, {last:g}]; got {value:g}")
    return value


def _rank(value: Any) -> int:
    """Number of dimensions. (np.ndim would convert a list to an array first.)"""
    if value is None or isinstance(value, float | int):
        return 0
    if isinstance(value, np.ndarray):
        return value.ndim
    if isinstance(value, dict):
        return 1
    if isinstance(value, list | tuple):
        return 2 if len(value) and np.ndim(value[0]) > 0 else 1
    return 0 if isinstance(value, str | bytes) else np.ndim(value)


def _item(value: Any, q: int, rank: int) -> Any:
    """Perturbation q of a batch; of a single one, which has this rank, the perturbation itself."""
    return value if value is None or np.ndim(value) <= rank else value[q]


def _describe(value: FloatArray) -> str:
    """Shape or size of a wrong argument, for messages."""
    return (
        f"shape {value.shape}"
        if value.ndim != 1
        else f"{value.size} values" + ("" if np.isfinite(value).all() else ", not all finite")
    )
