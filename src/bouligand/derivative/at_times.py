"""The B-derivative of a trajectory at many times, in one pass forwards, or in one pass backwards for a gradient.

Perturbations are propagated to the last time; at the others they are read off on the way, inside steps from the extension of
the step's formula. At a time at which a guard is crossed, as far as the tolerances tell, a perturbed trajectory is before the
crossing or behind it: such a time gets a derivative of its own, that ends there, from the last time before it that is clear of
crossings.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeAlias

import numpy as np

from ..system.arguments import finite_numbers, numbers
from .bderivative import BDerivative, Gradient

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import FloatArray, IntArray, Parameters
    from ..solution.solution import Solution
    from ..system.system import System
    from .compiled_corner import Passage
    from .trajectory_corners import TrajectoryCorner

    Places: TypeAlias = IntArray | slice

_START = -1  # (instead of the place of a time)


@dataclass(frozen=True)
class _Branch:
    """A derivative that ends at a time at which guards are crossed: from the time at ``base`` (or the start) to that at
    ``place``."""

    place: int
    base: int
    B: BDerivative[Any]


class BDerivativeAtTimes(Generic[Gradient]):
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
    is_linear : bool or None
        Whether the derivative at each time is a matrix.
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
        self._whole = whole = BDerivative[Any](solution, float(self._moments[-1]), since, None, params, merge, rtol)
        self.since: float = whole.since
        if self._moments[0] < self.since:
            raise ValueError(f"t must not be before since; got t = {self._moments[0]:g}, since = {self.since:g}")
        self.solution, self.system, self.params = solution, solution.system, whole.params
        self.n: int = whole.n
        self.np: int = whole.np
        # which times are passed on the way, and which have a branch of their own
        self._on_way, self._branches = self._plan(merge, rtol)
        self._units = _Units(solution, self._moments)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._made_of

    def _plan(self, merge: float | None, rtol: float | None) -> tuple[IntArray, list[_Branch]]:
        """The places of the times that are read off on the way, and the branches to the others."""
        moments, windows = self._moments, self._whole._map.chain.uncertain_times()
        begins, ends = np.searchsorted(moments, windows[:, 0]), np.searchsorted(moments, windows[:, 1], side="right")
        on_way: IntArray = np.arange(int(moments[0] == self.since), len(moments) - 1)
        branches: list[_Branch] = []
        if (begins == ends).all():
            return on_way, branches
        near = np.unique(np.concatenate([np.arange(*window) for window in zip(begins, ends, strict=True)]))
        near, on_way = np.intersect1d(on_way, near), np.setdiff1d(on_way, near)
        for place in near:
            before = on_way[on_way < place]
            base = int(before[-1]) if len(before) else _START
            begin = self.since if base == _START else float(moments[base])
            B = BDerivative[Any](self.solution, float(moments[place]), begin, None, self.params, merge, rtol)
            branches.append(_Branch(int(place), base, B))
        return on_way, branches

    @property
    def _all(self) -> list[BDerivative[Any]]:
        return [self._whole, *(branch.B for branch in self._branches)]

    @property
    def corners(self) -> list[TrajectoryCorner]:
        """Where several guards are crossed together, or one at the start, or at one of the times; in order."""
        return sorted((corner for B in self._all for corner in B.corners), key=lambda corner: corner.t)

    @property
    def is_linear(self) -> bool | None:
        """Whether the derivative at each time is a matrix; None if there are too many orders of crossing to decide."""
        known = [B.is_linear for B in self._all]
        return True if all(known) else False if False in known else None

    def _selecting(self, dx: ArrayLike | None, dp: Parameters | None, what: str) -> FloatArray | None:
        """The perturbation that selects the piece; None if there are no corners."""
        if dx is not None or dp is not None:
            z: FloatArray = self._whole._perturbations.vector(dx, dp, 0.0)[0]
            return z if any(B.corners for B in self._all) else None
        selecting = [B._selecting(None, None, 0.0, what)[0] for B in self._all if B.corners]
        return selecting[0] if selecting else None

    def _forwards(self, start: FloatArray, jumps: bool = False) -> tuple[FloatArray, list[list[Passage]]]:
        """The tangents ``start`` (rows; the first selects the piece) at each moment, array (moments, rows, n); and how they
        passed the corners of each part."""
        n, rows, D = self.n, len(start), start.copy()
        out, read = np.empty((len(self._moments), rows, n)), np.empty((len(self._on_way) * rows, n))
        requested = (self._moments[self._on_way], read) if len(self._on_way) else ()
        passages = [self._whole._map.propagate(D, None, jumps=jumps, requested=requested)]
        out[self._on_way] = read.reshape(len(self._on_way), rows, n)
        self._units.project(out)
        out[-1] = D[:, :n]
        if self._moments[0] == self.since:
            out[0] = start[:, :n]
        for branch in self._branches:
            D[:] = start
            if branch.base != _START:
                D[:, :n] = out[branch.base]
            passages.append(branch.B._map.propagate(D, None, jumps=jumps))
            out[branch.place] = D[:, :n]
        return out, passages

    def __call__(self, dx: ArrayLike | None = None, dp: Parameters | None = None) -> FloatArray:
        """The perturbation of the state at each time, to first order.

        Parameters
        ----------
        dx : array (n,), optional
            Perturbation of the state at the start.
        dp : array (parameters,) or mapping from str to float, optional
            Perturbation of the parameters; needs ``params=True``.

        Returns
        -------
        array (times, n)

        Examples
        --------
        >>> import bouligand as bd
        >>> B = bd.solve(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0]).bderivative([0.1, 0.2])
        >>> B([0.0, 1.0]).round(6)
        array([[0.1, 1. ],
               [0.2, 1. ]])
        """
        z, _ = self._whole._perturbations.vector(dx, dp, 0.0)
        return self._forwards(z[None])[0][self._places, 0]

    def matrix(
        self, dx: ArrayLike | None = None, dp: Parameters | None = None, wrt: str | Iterable[str] = "x"
    ) -> FloatArray:
        """The linear piece to which a perturbation belongs, at each time.

        Parameters
        ----------
        dx, dp
            The perturbation (see `__call__`), which selects the piece. Not needed if there are no corners.
        wrt : {"x", "p"}, or a sequence of str
            With respect to the state at the start, to the parameters, or to these states and parameters, by name. Parameters need
            ``params=True``. Only the columns that are asked for are computed.

        Returns
        -------
        array (times, n, columns)

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
        return self._columns(columns_of(self.system, wrt), dx, dp)

    def _columns(self, columns: list[int], dx: ArrayLike | None, dp: Parameters | None) -> FloatArray:
        """The columns of these states and parameters, at each time."""
        if not self.params and any(column >= self.n for column in columns):
            raise ValueError("parameters in wrt need a derivative with parameters: sol.bderivative(t, params=True)")
        z = self._selecting(dx, dp, "matrix")
        start = np.zeros((len(columns), self.n + self.np))
        start[np.arange(len(columns)), columns] = 1.0
        if z is None:
            out = self._forwards(start)[0]
        else:
            out = self._forwards(np.vstack([z, start]))[0][:, 1:]
        return np.ascontiguousarray(out[self._places].transpose(0, 2, 1))

    def vjp(self, w: ArrayLike, dx: ArrayLike | None = None, dp: Parameters | None = None) -> Gradient:
        """The vector-Jacobian product: the gradient of the sum over all times of ``w[k] @ x(t[k])``, by one adjoint.

        Parameters
        ----------
        w : array (times, n)
            Weights of the states, such as the gradient of a cost with respect to each.
        dx, dp
            The perturbation (see `__call__`), which selects the piece. Not needed if there are no corners.

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
        if self.system._stays:  # (see `TangentMap.gradient`)
            columns = list(range(self.n + self.np))
            whole = np.einsum("ti,tij->j", w, self._columns(columns, dx, dp))
            by_columns: Any = (whole[: self.n].copy(), whole[self.n :].copy()) if self.params else whole
            return by_columns
        weights = summed(w, self._places, len(self._moments))
        z = self._selecting(dx, dp, "vjp")
        for B in self._all:
            B._map.chain.record_crossings()
        passages: list[list[Passage]] = [[] for _ in self._all]
        if z is not None:
            passages = self._forwards(z[None], jumps=True)[1]
        total = np.zeros(self.n + self.np)
        for branch, passed in zip(self._branches, passages[1:], strict=True):
            back = branch.B._map.pull(weights[branch.place], passed)
            if branch.base != _START:
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


class _Units:
    """Parts of the state with unit length: at a time inside a step, tangents and gradients lose their components along these."""

    def __init__(self, solution: Solution, moments: FloatArray) -> None:
        self._parts = solution.system.unit
        self._x = solution(moments) if len(self._parts) else np.empty((0, 0))

    def project(self, vectors: FloatArray) -> None:
        """Remove these components from vectors (moments, rows, n), in place."""
        for first, stop in self._parts:
            x, part = self._x[:, None, first:stop], vectors[:, :, first:stop]
            part -= (x * part).sum(axis=2, keepdims=True) * x


def columns_of(system: System, wrt: str | Iterable[str]) -> list[int]:
    """The places among states and parameters that ``wrt`` names."""
    n = system.n
    if isinstance(wrt, str) and wrt in ("x", "p"):
        return list(range(n)) if wrt == "x" else list(range(n, n + len(system.params)))
    try:
        names = [wrt] if isinstance(wrt, str) else list(wrt)
    except TypeError:
        raise TypeError(f"wrt must be 'x', 'p', or names of states and parameters; got {wrt!r}") from None
    out = []
    for name in names:
        if name in system.states and name in system.params:
            raise ValueError(f"wrt: {name!r} is both a state and a parameter")
        if name in system.states:
            out.append(system.states.index(name))
        elif name in system.params:
            out.append(n + system.params.index(name))
        else:
            raise ValueError(
                f"wrt: {name!r} is neither a state nor a parameter; states: {', '.join(system.states)}; "
                f"parameters: {', '.join(system.params) or 'none'}"
            )
    return out


def in_order(times: FloatArray) -> tuple[FloatArray, Places]:
    """Times in increasing order, each once, and where those that were given are among them."""
    if (times[1:] > times[:-1]).all():
        return times, slice(None)
    return np.unique(times, return_inverse=True)


def summed(rows: FloatArray, places: Places, count: int) -> FloatArray:
    """The rows of each of these places, added up."""
    if isinstance(places, slice):
        return rows.copy()
    out = np.zeros((count, rows.shape[1]))
    np.add.at(out, places, rows)
    return out
