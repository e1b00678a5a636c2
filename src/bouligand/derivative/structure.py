"""The part of a `BDerivative` that is its structure: events and corners on the way, orders of crossing, pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..errors import NotEventSelectedError
from ..system.arguments import whole

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import FloatArray, IntArray, Parameters
    from ..solution.solution import Solution
    from .bderivative import BDerivative
    from .margins import Margin
    from .perturbations import Perturbations
    from .pieces import Piece
    from .tangent_map import TangentMap
    from .trajectory_corners import TrajectoryCorner


class Structure:
    """Events, corners and pieces of a piecewise linear map along a solution."""

    solution: Solution
    _map: TangentMap
    _perturbations: Perturbations

    @property
    def events(self) -> IntArray:
        """The events between start and outcome, as numbers in ``solution.events``."""
        rows = self._map.chain.rows
        shown = np.flatnonzero(self.solution.record.shown)
        return np.flatnonzero((shown >= rows.start) & (shown < rows.stop))

    @property
    def corners(self) -> list[TrajectoryCorner]:
        """Where several guards are crossed together, or one at the start or the end; jumps whose order matters."""
        return cast("list[TrajectoryCorner]", self._map.corners)

    @property
    def margins(self) -> list[Margin]:
        """Grazes on the way: where a guard came within its tolerance of zero, and up to which size of a perturbation this
        derivative holds there."""
        from .margins import margins_of

        return margins_of(cast("BDerivative[Any]", self))

    @property
    def is_linear(self) -> bool | None:
        """Whether the derivative is a matrix; None if there are too many orders of crossing to decide."""
        known = [corner.is_linear for corner in self.corners]
        if all(value is True for value in known):
            return True
        if sum(corner.units for corner in self.corners) <= 6:
            try:
                return len(self.pieces()) == 1
            except NotEventSelectedError:  # (in some order of jumps there is no derivative)
                return False
        return False if any(value is False for value in known) else None

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
            return np.ones(self._map.width), 0.0
        return self._perturbations.vector(dx, dp, dt0)

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
        self._map.expect(1)
        passages = self._map.propagate(z[None].copy(), np.array([dt0]))
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
        return self._map.event_times(z, dt0)

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
        links = [(link.matrix, link.corner) for link in self._map.links()]
        return pieces(links, self._map.n, limit)
