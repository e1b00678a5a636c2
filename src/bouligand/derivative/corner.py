"""Corners: the saltation matrix of one guard, and the piecewise linear map of several that are crossed together.

For users with an integrator of their own, and for `BDerivative`, which has a corner wherever guards are crossed together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, NoReturn

import numpy as np

from ..core import codes
from ..core.entries import Kernel
from ..core.state import CORNER, CORNER_PLAN, FUNCTIONS, WHOLE
from ..core.views import record_view
from ..errors import FunctionError, NotEventSelectedError
from ..memory.tables import TableMemory
from ..memory.working import Working
from ..system.arguments import number, numbers, whole
from ..system.caught import Failures
from ..system.functions import UserFunction

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import TypeVar  # for default=, which Python's own has from 3.13 on

    from .._typing import FloatArray, IntArray, RecordArray
    from .pieces import Piece

    # how guards are named: by number here, by name in a corner of a trajectory
    GuardName = TypeVar("GuardName", bound=str | int, default=int, covariant=True)
    Word = TypeVar("Word", bound=tuple[Any, ...])
else:
    from typing import TypeVar

    GuardName = TypeVar("GuardName")

_pass_corner = Kernel("tangents.corner_passage", "pass_corner", "corners")
_Plan = record_view(CORNER_PLAN)
_NONE = np.empty((0, 0))


def saltation(f_before: ArrayLike, f_after: ArrayLike, Dh: ArrayLike, Dt_h: float = 0.0) -> FloatArray:
    """The derivative of the flow across one guard: ``I + (f_after - f_before) Dh / hdot``, with ``hdot = Dh f_before + Dt_h``.

    Parameters
    ----------
    f_before, f_after : array (n,)
        The field at the crossing, under the words before and after it.
    Dh : array (n,)
        The gradient of the guard there.
    Dt_h : float
        Its derivative in time, for a guard that moves.

    Returns
    -------
    array (n, n)
        The saltation matrix: maps a perturbation of the state just before the crossing to that just after it, both at the same
        time.

    Raises
    ------
    NotEventSelectedError
        If the guard is grazed (hdot is zero), or not left on the other side (sliding).

    Examples
    --------
    >>> import bouligand as bd
    >>> bd.saltation([2.0], [0.7], [1.0], Dt_h=-0.5).round(6)
    array([[0.133333]])
    """
    f_before, f_after, Dh = (_vector(*a) for a in (("f_before", f_before), ("f_after", f_after), ("Dh", Dh)))
    if not f_before.shape == f_after.shape == Dh.shape:
        raise ValueError(
            f"f_before, f_after and Dh must have one value for each state; got {f_before.size}, {f_after.size}, {Dh.size}"
        )
    Dt_h = number("Dt_h", Dt_h)
    hdot = Dh @ f_before + Dt_h
    if hdot == 0.0:
        raise NotEventSelectedError(
            "hdot = Dh f_before + Dt_h is zero: the guard is grazed, and has no saltation matrix"
        )
    if hdot * (Dh @ f_after + Dt_h) <= 0.0:
        raise NotEventSelectedError(
            f"hdot is {hdot:.3g} before and {Dh @ f_after + Dt_h:.3g} after the crossing: the guard is not left on the "
            "other side (sliding)"
        )
    return np.eye(Dh.size) + np.outer(f_after - f_before, Dh) / hdot


@dataclass
class Passage:
    """How perturbations passed a corner: the units in the order of crossing, the times, and the data of the adjoint.

    (A unit is a guard, together with those that its crossing re-arms.)
    """

    order: IntArray
    times: FloatArray  # (crossings, tangents)
    jumps: FloatArray  # (crossings, n + 1): the jump of f, and hdot


class Corner(Generic[GuardName]):
    """Several guards crossed at one point: a continuous, piecewise linear map of perturbations.

    It can be called: ``corner(dx)`` is the perturbation after the corner.

    Parameters
    ----------
    F : callable or mapping
        The field at the corner for each word: ``F(word)`` with an array of -1.0 and +1.0, or a table keyed by tuples of
        -1 and +1. It is only evaluated for the words that occur between the crossings.
    Dh : array (m, n)
        The gradients of the guards there.
    Dt_h : array (m,), optional
        Their derivatives in time, for guards that move.
    before : array (m,), optional
        The word before the corner; default all -1.

    Attributes
    ----------
    guards : tuple
        Numbers of the guards. (Of a corner in ``B.corners``: their names.)
    n : int
        Number of states.
    units : int
        Number of crossings.

    Raises
    ------
    ValueError
        If an argument has a wrong shape. (When the corner is used: `NotEventSelectedError` if a guard is not approached in a mode
        between the crossings.)

    Examples
    --------
    >>> import bouligand as bd
    >>> F = {(-1, -1): (1, 1), (-1, 1): (1, 0.75), (1, -1): (0.5, 1), (1, 1): (1, 0.5)}
    >>> corner = bd.Corner(F, [[1, 0], [0, 1]])
    >>> corner([-0.25, 0.0])
    array([-0.25  ,  0.0625])
    >>> corner.order([-0.25, 0.0])
    (1, 0)
    """

    guards: tuple[GuardName, ...]
    _given: _Field

    def __init__(
        self: Corner[int],
        F: Callable[[FloatArray], ArrayLike] | Mapping[Word, ArrayLike],
        Dh: ArrayLike,
        Dt_h: ArrayLike | None = None,
        before: ArrayLike | None = None,
    ) -> None:
        rows = numbers("Dh", Dh)
        if rows.ndim != 2 or not np.isfinite(rows).all():
            raise ValueError(f"Dh must be a finite (guards, states) array; got shape {rows.shape}")
        m, n = rows.shape
        self.guards = tuple(range(m))
        times = np.zeros(m) if Dt_h is None else _vector("Dt_h", Dt_h)
        word = -np.ones(m) if before is None else _vector("before", before)
        if times.shape != (m,) or word.shape != (m,) or not np.isin(word, (-1.0, 1.0)).all():
            raise ValueError(f"Dt_h and before must have {m} values, one for each guard, those of before -1 or +1")
        field = self._given = _Field(F, n, m)
        self._made_of = (F, Dh, Dt_h, before)
        self._set_up(field.fn, np.empty(0), 0.0, np.zeros(n), word, rows, times, np.arange(m), np.arange(m + 1))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._made_of

    def _set_up(
        self,
        fn: RecordArray,
        p: FloatArray,
        t: float,
        x: FloatArray,
        word: FloatArray,
        rows: FloatArray,
        times: FloatArray,
        flips: IntArray,
        firsts: IntArray,
    ) -> None:
        """Prepare what the compiled core needs: a workspace, and the rows of Dh without their zeros.

        ``flips`` are the guards of all units, one unit after the other; unit u begins at ``firsts[u]``.
        """
        self.n, self._p, self._t, self._word = x.size, p, t, word
        self._rows, self._slopes = rows, np.ascontiguousarray(times, dtype=float)
        self._flips, self._firsts = flips.astype(np.int64), firsts.astype(np.int64)
        self._side = word[self._flips[self._firsts[:-1]]].copy()
        self._count = np.count_nonzero(rows, axis=1).astype(np.int64)
        widest = max(int(self._count.max(initial=0)), 1)
        self._index = np.argsort(rows == 0.0, axis=1, kind="stable")[:, :widest].astype(np.int64).copy()
        self._value = np.take_along_axis(rows, self._index, axis=1).copy()
        self._offset = np.zeros(len(rows))
        self._memory = memory = Working(x.size, word.size, p.size)
        memory.fill()
        memory.v.x[:], memory.p[:], memory.s.cap = x, p, math.inf
        memory.bind(fn, False)
        plan = np.zeros(1, dtype=CORNER_PLAN)
        self._plan = _Plan(plan.data.cast("B"))
        self._plan.t = t
        done = np.zeros(len(rows), dtype=np.int64)
        arrays = {"value": self._value, "index": self._index, "count": self._count, "Dt_h": self._slopes}
        arrays |= {"offset": self._offset, "side": self._side, "firsts": self._firsts, "flips": self._flips}
        memory.put("corner", TableMemory(CORNER, plan=plan, done=done, **arrays))
        self.mode, self.target, self.end, self._reference = WHOLE, 0, 0.0, np.zeros(x.size)

    @property
    def units(self) -> int:
        """Number of crossings. (In a corner of a trajectory, guards that a crossing re-arms belong to that crossing.)"""
        return self._side.size

    # ---------------------------------------------------------------------------------------------- perturbations

    def _field(self, word: FloatArray) -> FloatArray:
        """The field at the corner in a mode."""
        return self._given.at(word)

    def _pass(self, D: FloatArray, dt0: FloatArray | None = None, jumps: bool = False) -> Passage:
        """Propagate the tangents D (one per row, changed in place) through the corner. The first selects the piece for all."""
        units, tangents, plan = self.units, D.shape[0], self._plan
        self._memory.g.b[:] = self._word
        plan.mode, plan.target, plan.end = self.mode, self.target, self.end
        order, times = np.zeros(units, dtype=np.int64), np.zeros((units, tangents))
        records = np.zeros((units, self.n + 1)) if jumps else _NONE
        dt0 = np.zeros(tangents) if dt0 is None else dt0
        code, crossed = _pass_corner(self._memory.address, D, dt0, order, times, records)
        if code != codes.GO_ON:
            self._fail(code)
        D[0, : self.n] -= self._reference
        return Passage(order[:crossed], times[:crossed], records[:crossed])

    def _fail(self, code: int) -> NoReturn:
        """Raise the exception for a code of the core."""
        if code == codes.NOT_EVENT_SELECTED:
            name = self._name(self._plan.culprit)
            raise NotEventSelectedError(
                f"the corner is not event-selected: guard {name} is not approached under a word on the way (hdot points away "
                "from it), so that the derivative does not exist there",
                t=self._t,
                x=self._memory.v.x.copy(),
                guard=name,
            )
        self._given.failed()

    def _name(self, k: int) -> str | int:
        """A guard as messages name it."""
        return k

    def _flipped(self, word: FloatArray, u: int) -> FloatArray:
        """A word with the guards of unit u on their other side."""
        word, flips = word.copy(), self._flips[self._firsts[u] : self._firsts[u + 1]]
        word[flips] = -word[flips]
        return word

    def _adjoint(self, w: FloatArray, passage: Passage) -> None:
        """Propagate the gradient w (n entries of the state, then parameters; changed in place) back through the corner."""
        for u, jump in zip(passage.order[::-1], passage.jumps[::-1], strict=True):
            weight = (jump[:-1] @ w[: self.n]) / jump[-1]
            w += self._rows[u] * weight

    def _tangent(self, dx: ArrayLike) -> FloatArray:
        """A perturbation of the state as a tangent: with zeros for the parameters, if the corner has any."""
        dx = _vector("dx", dx)
        if dx.shape != (self.n,):
            raise ValueError(f"dx must have {self.n} values, one for each state; got {dx.size}")
        out = np.zeros(self._rows.shape[1])
        out[: self.n] = dx
        return out

    def __call__(self, dx: ArrayLike) -> FloatArray:
        """The perturbation after the corner.

        Parameters
        ----------
        dx : array (n,) or (nbatch, n)
            A perturbation of the state before the corner, or a batch of them.

        Returns
        -------
        array (n,) or (nbatch, n)
            The perturbation after the corner, at the same time.

        Examples
        --------
        >>> import bouligand as bd
        >>> corner = bd.Corner(lambda word: [1.0, 1.0 if word[0] < 0 else 2.0], [[1.0, 0.0], [0.0, 1.0]])
        >>> corner([[-0.25, 0.0], [0.25, 0.0]])
        array([[-0.25, -0.25],
               [ 0.25,  0.25]])
        """
        dx = numbers("dx", dx)
        if dx.ndim == 2:
            return np.array([self(row) for row in dx])
        D = self._tangent(dx)[None]
        self._pass(D)
        return D[0, : self.n].copy()

    def matrix(self, dx: ArrayLike) -> FloatArray:
        """The linear piece to which dx belongs: ``corner(dx) == corner.matrix(dx) @ dx``.

        Parameters
        ----------
        dx : array (n,)
            A perturbation of the state before the corner.

        Returns
        -------
        array (n, n)

        Examples
        --------
        >>> import bouligand as bd
        >>> corner = bd.Corner(lambda word: [1.0, 1.0 if word[0] < 0 else 2.0], [[1.0, 0.0], [0.0, 1.0]])
        >>> corner.matrix([0.5, -0.5])
        array([[1., 0.],
               [1., 1.]])
        """
        D = np.vstack([self._tangent(dx), np.eye(self.n, self._rows.shape[1])])
        self._pass(D)
        return D[1:, : self.n].T.copy()

    def order(self, dx: ArrayLike) -> tuple[GuardName, ...]:
        """The guards in the order in which the perturbed trajectory crosses them.

        Parameters
        ----------
        dx : array (n,)
            A perturbation of the state before the corner.

        Returns
        -------
        tuple
            Numbers of guards. (Of a corner in ``B.corners``: their names.)

        Examples
        --------
        >>> import bouligand as bd
        >>> corner = bd.Corner(lambda word: [1.0, 1.0], [[1.0, 0.0], [0.0, 1.0]])
        >>> corner.order([0.5, -0.5])
        (0, 1)
        """
        return tuple(self.guards[u] for u in self._pass(self._tangent(dx)[None]).order)

    def pieces(self, limit: int = 1000) -> list[Piece[GuardName]]:
        """The distinct linear pieces, each with the orders of crossing that lead to it (see `BDerivative.pieces`).

        Parameters
        ----------
        limit : int
            Largest number of orders of crossing to examine.

        Returns
        -------
        list of Piece

        Raises
        ------
        TooManyPiecesError
            If there are more than ``limit`` orders, or more than twelve guards.

        Examples
        --------
        >>> import bouligand as bd
        >>> F = {(-1, -1): (1, 1), (-1, 1): (1, 0.75), (1, -1): (0.5, 1), (1, 1): (1, 0.5)}
        >>> for piece in bd.Corner(F, [[1, 0], [0, 1]]).pieces():
        ...     print(piece.orders, piece.matrix.round(3).tolist())
        [((1, 0),)] [[1.0, 0.0], [-0.25, 0.75]]
        [((0, 1),)] [[0.5, 0.5], [0.0, 0.5]]
        """
        from .pieces import pieces

        limit = whole("limit", limit, 1)
        return pieces([(np.eye(self._rows.shape[1]), self)], self.n, limit)

    @property
    def is_linear(self) -> bool | None:
        """Whether all pieces are the same; None if there are too many orders of crossing to decide."""
        from .pieces import is_linear

        return is_linear(self)

    def __repr__(self) -> str:
        names = ", ".join(str(g) for g in self.guards[:8]) + (", ..." if len(self.guards) > 8 else "")
        return f"Corner of {self.units} guards: {names}"


class _Field:
    """A field given for each word, as a function that the core can call."""

    def __init__(self, F: Callable[[FloatArray], ArrayLike] | Mapping[Any, ArrayLike], n: int, m: int) -> None:
        self._value: Callable[[FloatArray], ArrayLike]
        if callable(F):
            self._value = F
        else:
            table = _table(F)
            self._value = lambda word: table[tuple(int(s) for s in word)]
        self._n = n
        self.failures = Failures()
        user = UserFunction("f", lambda t, x, b, p: self.at(b))
        address, self._callback = user.bind(False, {"n": n, "m": m, "p": 0}, self.failures)
        self.fn: RecordArray = np.zeros(1, dtype=FUNCTIONS)
        self._context = np.array([n, m, 0, 0], dtype=np.int64)
        self.fn["f"], self.fn["context"] = address, self._context.ctypes.data

    def at(self, word: FloatArray) -> FloatArray:
        """The field in this mode, checked."""
        try:
            value = numbers("F", self._value(np.array(word)))
        except KeyError:
            raise KeyError(f"F has no entry for the word {tuple(int(s) for s in word)}") from None
        if value.shape != (self._n,):
            raise ValueError(f"F must give {self._n} values, one for each state; got shape {value.shape}")
        return value

    def failed(self) -> NoReturn:
        """Raise what the user's field raised."""
        raise self.failures.take() or FunctionError("F failed, but did not say why")


def _table(F: Any) -> dict[tuple[int, ...], Any]:
    """A field given as a table, its keys as tuples of whole numbers."""
    try:
        return {tuple(int(s) for s in key): value for key, value in dict(F).items()}
    except (TypeError, ValueError):
        raise TypeError(
            f"F must be a function of the word, or a table keyed by tuples of -1 and +1; got {F!r}"
        ) from None


def _vector(name: str, value: ArrayLike) -> FloatArray:
    """The argument ``name`` as a vector of finite numbers."""
    out = numbers(name, value)
    if out.ndim == 0:
        out = out.reshape(1)
    if out.ndim != 1 or not np.isfinite(out).all():
        raise ValueError(f"{name} must be a vector of finite numbers; got {value!r}")
    return out
