"""The part of a `BDerivativeAtTimes` that is its structure: events and corners on the way, orders of crossing, pieces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..system.arguments import whole

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import FloatArray, IntArray, Parameters
    from .at_times import BDerivativeAtTimes
    from .bderivative import BDerivative
    from .compiled_corner import Passage
    from .margins import Margin
    from .pieces import Piece
    from .trajectory_corners import TrajectoryCorner


@dataclass(frozen=True)
class Branch:
    """A derivative that ends at a time at which guards are crossed: from the time at ``base`` (or the start) to that at
    ``place``."""

    place: int
    base: int
    B: BDerivative[Any]


class StructureAtTimes:
    """Events, corners and pieces of piecewise linear maps to many times along a solution."""

    _whole: BDerivative[Any]
    _branches: list[Branch]

    def _forwards(
        self, start: FloatArray, dt0: FloatArray | None = None, jumps: bool = False
    ) -> tuple[FloatArray, list[list[Passage]]]:
        raise NotImplementedError

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

    @property
    def events(self) -> IntArray:
        """The events between the start and the last time, as numbers in ``solution.events``."""
        return self._whole.events

    @property
    def margins(self) -> list[Margin]:
        """Grazes on the way to the last time, and up to which size of a perturbation the derivatives hold there."""
        return self._whole.margins

    @property
    def error(self) -> float:
        """The error of Jacobians that come from differences; zero if none does (see `BDerivative.error`)."""
        return self._whole.error

    def _selecting(
        self, dx: ArrayLike | None, dp: Parameters | None, dt0: float, what: str
    ) -> tuple[FloatArray, float] | None:
        """The perturbation that selects the piece; None if there are no corners."""
        if dx is not None or dp is not None or dt0 != 0.0:
            given = self._whole._perturbations.vector(dx, dp, dt0)
            return given if any(B.corners for B in self._all) else None
        selecting = [B._selecting(None, None, 0.0, what) for B in self._all if B.corners]
        return selecting[0] if selecting else None

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
            For each corner of ``B.corners`` the names of its guards; at a time at which guards are crossed, of those that are
            crossed before it.

        Examples
        --------
        >>> import bouligand as bd
        >>> sol = bd.solve(bd.models.three_legs(), (0.0, 0.3), [0.7, 0, 0, 0, 0, 0, 0])
        >>> sol.bderivative([0.1, 0.3]).orders([0, 0, 1e-3, 0, 0, 0, 0])
        [('foot0', 'foot1', 'foot2')]
        """
        selecting = self._selecting(dx, dp, dt0, "orders")
        if selecting is None:
            return []
        z, start = selecting
        passed = self._forwards(z[None], np.array([start]) if start else None)[1]
        corners = [corner for B in self._all for corner in B.corners]
        found = [
            tuple(corner.guards[u] for u in passage.order)
            for corner, passage in zip(corners, (passage for part in passed for passage in part), strict=True)
        ]
        return [found[q] for q in sorted(range(len(corners)), key=lambda q: corners[q].t)]

    def event_times(self, dx: ArrayLike | None = None, dp: Parameters | None = None, dt0: float = 0.0) -> FloatArray:
        """The perturbations of the event times up to the last time, to first order.

        Parameters
        ----------
        dx, dp, dt0
            One perturbation (see `__call__`).

        Returns
        -------
        array
            How much later each event in ``B.events`` happens. NaN for one that is not reached before the last time any more.

        Examples
        --------
        >>> import bouligand as bd
        >>> B = bd.solve(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0], rtol=1e-8).bderivative([0.2, 0.5])
        >>> B.event_times([1.0, 0.0]).round(6), B.events
        (array([0.225762]), array([0]))
        """
        return self._whole.event_times(dx, dp, dt0)

    def pieces(self, limit: int = 1000) -> list[Piece[str]]:
        """The distinct linear pieces: sets of perturbations for which the derivative at every time is one matrix.

        Parameters
        ----------
        limit : int
            Largest number of orders of crossing to examine.

        Returns
        -------
        list of Piece
            Each with its ``matrix``, an array (times, n, n + parameters), a perturbation ``dx`` inside it, and the ``orders`` of
            crossing that lead to it.

        Raises
        ------
        TooManyPiecesError
            If there are more than ``limit`` orders, or more than twelve guards in a corner.

        Examples
        --------
        >>> import bouligand as bd
        >>> def f(t, x, b, p):
        ...     return (1.0 if b[1] < 0 else 0.5, 1.0 if b[0] < 0 else 0.5)
        >>> system = bd.System(f, lambda t, x, p: (x[0], x[1]), states=("x", "y"), guards=("x = 0", "y = 0"))
        >>> B = bd.solve(system, (0.0, 2.0), [-1.0, -1.0]).bderivative([0.5, 1.5, 2.0])
        >>> [piece.orders for piece in B.pieces()]
        [[(('y = 0', 'x = 0'),)], [(('x = 0', 'y = 0'),)]]
        >>> B.pieces()[0].matrix.shape
        (3, 2, 2)
        """
        from .pieces_at_times import pieces_at_times

        return pieces_at_times(cast("BDerivativeAtTimes[Any]", self), whole("limit", limit, 1))
