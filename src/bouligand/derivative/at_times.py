"""The B-derivative of a trajectory at many times, in one pass forwards, or in one pass backwards for a gradient.

Perturbations are propagated to the last time; at the others they are read off on the way, inside steps from the extension of
the step's formula. At a time at which a guard is crossed, as far as the tolerances tell, a perturbed trajectory is before the
crossing or behind it: such a time gets a derivative of its own, that ends there, from the last time before it that is clear of
crossings.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Generic

import numpy as np

from .._made import Made, make
from ..core.state import FEW_LANES, LANES
from ..errors import DerivativeError
from ..system.arguments import finite_numbers, numbers
from .bderivative import BDerivative, Gradient
from .moments import Units, columns_of, in_order, summed
from .perturbations import batch_of
from .structure_at_times import Branch, StructureAtTimes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import FloatArray, IntArray, Parameters
    from ..solution.solution import Solution
    from .compiled_corner import Passage

_MOST_NUMBERS = 3_000_000  # in matrices at all times, where they are not asked for themselves
START = -1  # (instead of the place of a time)


class BDerivativeAtTimes(StructureAtTimes, Generic[Gradient], metaclass=Made, by="Solution.bderivative"):
    """The Bouligand derivatives of ``x(since) -> x(t)`` for many times t, in one pass.

    Made by `Solution.bderivative` with several times. All of them together cost about as much as that at the last time.

    Parameters
    ----------
    solution : Solution
    t, since, params, merge, rtol
        As for `Solution.bderivative`.

    Attributes
    ----------
    t : array
        The times, as given.
    since : float
        The time of the start.
    corners : list of TrajectoryCorner
        Where several guards are crossed together, or one at the start, or at one of the times.
    events : array of int
        The events between the start and the last time, as numbers in ``solution.events``.
    margins : list of Margin
        Grazes on the way to the last time (see `BDerivative`).
    is_linear : bool or None
        Whether the derivative at each time is a matrix.
    error : float
        The relative error of Jacobians that come from differences; zero if none does.
    params : bool
        Whether it includes the parameters.
    solution, system
        What it is the derivative of.

    Examples
    --------
    >>> import bouligand as bd
    >>> sol = bd.solve(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0])
    >>> B = sol.bderivative([0.1, 0.2], params=True)
    >>> B.matrix().round(6)
    array([[[1. , 0.1],
            [0. , 1. ]],
    <BLANKLINE>
           [[1. , 0.2],
            [0. , 1. ]]])
    >>> B(dp={"g": 1.0}).round(6)
    array([[-0.005, -0.1  ],
           [-0.02 , -0.2  ]])
    """

    def __init__(
        self,
        solution: Solution,
        t: ArrayLike,
        since: float | None = None,
        params: bool = False,
        merge: float | None = None,
        rtol: float | None = None,
    ) -> None:
        self._made_of = (solution, t, since, params, merge, rtol)
        times = finite_numbers("t", t)
        if times.ndim != 1 or not times.size:
            raise ValueError(f"t must be a time or a list of times; got shape {times.shape}")
        self.t: FloatArray = times
        self._moments, self._places = in_order(times)
        solution._within(self._moments)
        # (errors in other arguments are found here)
        self._whole = last = make(
            BDerivative[Any], solution, float(self._moments[-1]), since, None, params, merge, rtol
        )
        self.since: float = last.since
        if self._moments[0] < self.since:
            raise ValueError(f"t must not be before since; got t = {self._moments[0]:g}, since = {self.since:g}")
        self.solution, self.system, self.params = solution, solution.system, last.params
        self.n: int = last.n
        self.np: int = last.np
        # which times are passed on the way, and which have a branch of their own
        self._on_way, self._branches = self._plan(merge, rtol)
        self._units = Units(solution, self._moments)

    def __reduce__(self) -> tuple[Any, ...]:
        return make, (BDerivativeAtTimes, *self._made_of)

    def _plan(self, merge: float | None, rtol: float | None) -> tuple[IntArray, list[Branch]]:
        """The places of the times that are read off on the way, and the branches to the others."""
        moments, windows = self._moments, self._whole._map.chain.uncertain_times()
        begins, ends = np.searchsorted(moments, windows[:, 0]), np.searchsorted(moments, windows[:, 1], side="right")
        on_way: IntArray = np.arange(int(moments[0] == self.since), len(moments) - 1)
        branches: list[Branch] = []
        if (begins == ends).all():
            return on_way, branches
        near = np.unique(np.concatenate([np.arange(*window) for window in zip(begins, ends, strict=True)]))
        near, on_way = np.intersect1d(on_way, near), np.setdiff1d(on_way, near)
        for place in near:
            before = on_way[on_way < place]
            base = int(before[-1]) if len(before) else START
            begin = self.since if base == START else float(moments[base])
            B = make(BDerivative[Any], self.solution, float(moments[place]), begin, None, self.params, merge, rtol)
            branches.append(Branch(int(place), base, B))
        return on_way, branches

    def _forwards(
        self, start: FloatArray, dt0: FloatArray | None = None, jumps: bool = False
    ) -> tuple[FloatArray, list[list[Passage]]]:
        """The tangents ``start`` (rows; the first selects the piece) at each moment, array (moments, rows, n); and how they
        passed the corners of each part. ``dt0``: perturbations of the start time, None if all are zero."""
        n, rows, D = self.n, len(start), start.copy()
        # (zeros: what is not on the way is written behind the projection, which must not see chance values)
        out, read = np.zeros((len(self._moments), rows, n)), np.empty((len(self._on_way) * rows, n))
        requested = (self._moments[self._on_way], read) if len(self._on_way) else ()
        passages = [self._whole._map.propagate(D, dt0, jumps=jumps, requested=requested)]
        out[self._on_way] = read.reshape(len(self._on_way), rows, n)
        self._units.project(out)
        out[-1] = D[:, :n]
        if self._moments[0] == self.since:
            out[0] = start[:, :n]
            if dt0 is not None:
                out[0] -= np.outer(dt0, self._rate_at_start())
        for branch in self._branches:
            D[:] = start
            if branch.base != START:
                D[:, :n] = out[branch.base]
            passages.append(branch.B._map.propagate(D, dt0 if branch.base == START else None, jumps=jumps))
            out[branch.place] = D[:, :n]
        return out, passages

    def _rate_at_start(self) -> FloatArray:
        """x' at the start."""
        if self._whole._map.chain.starts_on_guard:
            raise DerivativeError(
                f"t has the time of the start, {self.since:g}, where the trajectory is on a guard: the state there depends on a "
                "perturbation of the start time (dt0) in no mode that is known. Leave this time out"
            )
        return self._whole._map._rate()

    def __call__(self, dx: ArrayLike | None = None, dp: Parameters | None = None, dt0: ArrayLike = 0.0) -> FloatArray:
        """The perturbation of the state at each time, to first order.

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
        array (times, n), or (times, nbatch, n) if any argument is a batch

        Examples
        --------
        >>> import bouligand as bd
        >>> B = bd.solve(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0]).bderivative([0.1, 0.2])
        >>> B([0.0, 1.0]).round(6)
        array([[0.1, 1. ],
               [0.2, 1. ]])
        >>> B(dt0=0.01).round(6)  # (a start that is later: it has fallen less)
        array([[0.00981, 0.0981 ],
               [0.01962, 0.0981 ]])
        """
        batch = batch_of(dx, dp, dt0)
        if batch is None:
            z, start = self._whole._perturbations.vector(dx, dp, dt0)  # type: ignore[arg-type]
            return self._forwards(z[None], np.array([start]) if start else None)[0][self._places, 0]
        vectors = [self._whole._perturbations.vector(*one) for one in batch]
        if not vectors:
            return np.empty((len(self.t), 0, self.n))
        Z, starts = np.array([z for z, _ in vectors]), np.array([start for _, start in vectors])
        if any(B.corners for B in self._all):  # (each has its own piece)
            each = [self._forwards(z[None], starts[q : q + 1])[0][:, 0] for q, z in enumerate(Z)]
            return np.stack(each, axis=1)[self._places]
        return self._forwards(Z, starts if starts.any() else None)[0][self._places]

    def matrix(
        self,
        dx: ArrayLike | None = None,
        dp: Parameters | None = None,
        dt0: float = 0.0,
        wrt: str | Iterable[str] = "x",
    ) -> FloatArray:
        """The linear piece to which a perturbation belongs, at each time.

        Parameters
        ----------
        dx, dp, dt0
            One perturbation (see `__call__`), which selects the piece. Not needed if there are no corners.
        wrt : {"x", "p", "t0"}, or a sequence of str
            With respect to the state at the start, to the parameters, to the start time, or to these states and parameters, by
            name. Parameters need ``params=True``. Only the columns that are asked for are computed.

        Returns
        -------
        array (times, n, columns), or (times, n) for "t0"

        Raises
        ------
        ValueError
            If there are several pieces and no perturbation is given.

        Examples
        --------
        >>> import bouligand as bd
        >>> B = bd.solve(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0]).bderivative([0.1, 0.2], params=True)
        >>> B.matrix(wrt="p").shape
        (2, 2, 3)
        >>> B.matrix(wrt=("vz", "g")).round(6)[1]
        array([[ 0.2 , -0.02],
               [ 1.  , -0.2 ]])
        """
        if isinstance(wrt, str) and wrt == "t0" and wrt not in (*self.system.states, *self.system.params):
            return self._columns([], dx, dp, dt0, by_start=True)[:, :, 0]
        return self._columns(columns_of(self.system, wrt), dx, dp, dt0)

    def _columns(
        self,
        columns: list[int],
        dx: ArrayLike | None,
        dp: Parameters | None,
        dt0: float = 0.0,
        by_start: bool = False,
        what: str = "matrix",
    ) -> FloatArray:
        """The columns of these states and parameters, at each time; ``by_start``: and that of the start time."""
        if not self.params and any(column >= self.n for column in columns):
            raise ValueError("parameters in wrt need a derivative with parameters: sol.bderivative(t, params=True)")
        selecting = self._selecting(dx, dp, dt0, what)
        D = np.zeros((len(columns) + by_start, self.n + self.np))
        D[np.arange(len(columns)), columns] = 1.0
        starts = np.zeros(len(D))
        starts[len(columns) :] = 1.0
        if selecting is None:
            out = self._forwards(D, starts if by_start else None)[0]
        else:
            z, start = selecting
            place = None if by_start or start else self._replaced(z, columns)
            if place is not None:
                # z, the first row, takes the place of one of the columns, which follows from the others
                parts, rest = z[columns], [q for q in range(len(columns)) if q != place]
                found = self._forwards(np.vstack([z, D[rest]]))[0]
                out = np.empty_like(found)
                out[:, rest] = found[:, 1:]
                out[:, place] = (found[:, 0] - np.tensordot(found[:, 1:], parts[rest], (1, 0))) / parts[place]
            else:
                moved = np.concatenate([[start], starts]) if by_start or start else None
                out = self._forwards(np.vstack([z, D]), moved)[0][:, 1:]
        return np.ascontiguousarray(out[self._places].transpose(0, 2, 1))

    def _replaced(self, z: FloatArray, columns: list[int]) -> int | None:
        """Which of these columns need not be propagated, because the perturbation z that selects the piece is a sum of them: the
        one with the largest part, in units of the values. None if it is not, or if that saves no dual numbers."""
        merge = self._made_of[4]
        if merge is not None or not self._whole._map.chain.by_duals or len(columns) not in (FEW_LANES, LANES):
            return None
        parts = z[columns]
        if np.count_nonzero(parts) < np.count_nonzero(z) or len(set(columns)) < len(columns):
            return None
        record = self.solution.record
        values = np.abs(np.concatenate([record.states[0], record.parameters[0][0]])[columns])
        return int(np.argmax(np.abs(parts) / np.where(values > 0.0, values, 1.0)))

    def offset(self, dx: ArrayLike | None = None, dp: Parameters | None = None, dt0: float = 0.0) -> FloatArray:
        """``B(dx) - matrix(dx) @ dx`` at each time: zero, unless ``merge`` keeps the times between near crossings.

        Parameters
        ----------
        dx, dp, dt0
            One perturbation (see `__call__`).

        Returns
        -------
        array (times, n)

        Examples
        --------
        >>> import bouligand as bd
        >>> B = bd.solve(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0]).bderivative([0.1, 0.2])
        >>> bool(abs(B.offset([1.0, 1.0])).max() < 1e-9)
        True
        """
        z, start = self._whole._perturbations.vector(dx, dp, dt0)
        M = self._columns(list(range(self.n + self.np)), dx, dp, dt0, by_start=start != 0.0)
        return self(dx, dp, dt0) - M @ (np.append(z, start) if start else z)

    def _by_columns(self, count: int) -> bool:
        """Whether a gradient in so many unknowns is computed by columns of matrices, forwards (see `TangentMap.gradient`)."""
        few = len(self._moments) * count * self.n <= _MOST_NUMBERS
        return bool(self.system._stays) or (few and self._whole._map.gradient_by_columns(count))

    def vjp(
        self, w: ArrayLike, dx: ArrayLike | None = None, dp: Parameters | None = None, dt0: float = 0.0
    ) -> Gradient:
        """The vector-Jacobian product: the gradient of the sum over all times of ``w[k] @ x(t[k])``, by one adjoint.

        Parameters
        ----------
        w : array (times, n)
            Weights of the states, such as the gradient of a cost with respect to each.
        dx, dp, dt0
            One perturbation (see `__call__`), which selects the piece. Not needed if there are no corners.

        Returns
        -------
        array (n,), or with ``params=True`` a pair of arrays (n,) and (parameters,)

        Examples
        --------
        >>> import bouligand as bd
        >>> sol = bd.solve(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0])
        >>> by_start, by_parameters = sol.bderivative([0.1, 0.2], params=True).vjp([[1.0, 0.0], [1.0, 0.0]])
        >>> by_start.round(6), by_parameters.round(6)
        (array([2. , 0.3]), array([-0.025,  0.   ,  0.   ]))
        """
        w = numbers("w", w)
        if w.shape != (len(self.t), self.n) or not np.isfinite(w).all():
            raise ValueError(
                f"w must be a finite (times, states) array, here {(len(self.t), self.n)}; got shape {w.shape}"
            )
        if self._by_columns(self.n + self.np):
            columns = list(range(self.n + self.np))
            total = np.einsum("ti,tij->j", w, self._columns(columns, dx, dp, dt0, what="vjp"))
            by_columns: Any = (total[: self.n].copy(), total[self.n :].copy()) if self.params else total
            return by_columns
        weights = summed(w, self._places, len(self._moments))
        selecting = self._selecting(dx, dp, dt0, "vjp")
        for B in self._all:
            B._map.chain.record_crossings()
        passages: list[list[Passage]] = [[] for _ in self._all]
        if selecting is not None:
            z, start = selecting
            passages = self._forwards(z[None], np.array([start]) if start else None, jumps=True)[1]
        total = np.zeros(self.n + self.np)
        for branch, passed in zip(self._branches, passages[1:], strict=True):
            back = branch.B._map.pull(weights[branch.place], passed)
            if branch.base != START:
                weights[branch.base] += back[: self.n]
                back[: self.n] = 0.0
            total += back
        if self._moments[0] == self.since:
            total[: self.n] += weights[0]
        last = weights[-1].copy()
        self._units.project(weights[:, None])
        requested = (self._moments[self._on_way], weights[self._on_way]) if len(self._on_way) else ()
        total += self._whole._map.pull(last, passages[0], requested)
        gradient: Any = (total[: self.n].copy(), total[self.n :].copy()) if self.params else total
        return gradient

    def __repr__(self) -> str:
        text = f"B-derivatives of the state at {len(self.t)} times, t = {self._moments[0]:g} to {self._moments[-1]:g}, "
        text += f"in that at t = {self.since:g}" + " and the parameters" * self.params
        count = len(self.corners)
        return text + (f", {count} corner{'s' * (count > 1)}" if count else ": matrices, all crossings are isolated")
