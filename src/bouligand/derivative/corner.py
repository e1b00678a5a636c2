"""Corners: the piecewise linear map of several guards that are crossed together.

For users with an integrator of their own, and for `BDerivative`, which has a corner wherever guards are crossed together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, NoReturn

import numpy as np

from ..core import codes
from ..errors import NotEventSelectedError
from ..memory.working import Working
from ..system.arguments import numbers, vector, whole
from .compiled_corner import CompiledCorner
from .corner_field import CornerField
from .saltation_matrix import saltation as saltation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import TypeVar  # for default=, which Python's own has from 3.13 on

    from .._typing import FloatArray, RecordArray
    from .pieces import Piece

    # how guards are named: by number here, by name in a corner of a trajectory
    GuardName = TypeVar("GuardName", bound=str | int, default=int, covariant=True)
    Word = TypeVar("Word", bound=tuple[Any, ...])
else:
    from typing import TypeVar

    GuardName = TypeVar("GuardName")


class Corner(CompiledCorner, Generic[GuardName]):
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
    _given: CornerField

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
        times = np.zeros(m) if Dt_h is None else vector("Dt_h", Dt_h)
        word = -np.ones(m) if before is None else vector("before", before)
        if times.shape != (m,) or word.shape != (m,) or not np.isin(word, (-1.0, 1.0)).all():
            raise ValueError(f"Dt_h and before must have {m} values, one for each row of Dh, those of before -1 or +1")
        self._given = CornerField(F, n, m)
        self._made_of = (F, Dh, Dt_h, before)
        self._memory = Working(n, m, 0)
        self._set_up(np.empty(0), 0.0, np.zeros(n), word, rows, times, list(range(m)), list(range(m + 1)))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._made_of

    def _field(self, word: FloatArray) -> FloatArray:
        """The field at the corner in a mode."""
        return self._given.at(word)

    def _borrow(self) -> tuple[Working, RecordArray]:
        return self._memory, self._given.fn

    def _fail(self, code: int, memory: Working) -> NoReturn:
        """Raise the exception for a code of the core."""
        if code == codes.NOT_EVENT_SELECTED:
            name = self._name(self._plan.culprit)
            raise NotEventSelectedError(
                f"the corner is not event-selected: guard {name} is not approached under a word on the way (hdot points away "
                "from it), so that the derivative does not exist there",
                t=self._t,
                x=self._x.copy(),
                guard=name,
            )
        self._given.failed()

    def _name(self, k: int) -> str | int:
        """A guard as messages name it."""
        return k

    def _tangent(self, dx: ArrayLike) -> FloatArray:
        """A perturbation of the state as a tangent: with zeros for the parameters, if the corner has any."""
        dx = vector("dx", dx)
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
