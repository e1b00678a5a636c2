"""Tangent coordinates: in which differences of states and the matrices of a plan are.

A robot's quaternions have four numbers for three directions, so that its states are no vector space: its bridge gives the
matrices from tangent coordinates to changes of the state (`lift`) and back (`project`). Other systems have the state itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .._typing import FloatArray
    from ..system.system import System


class Coordinates:
    """The tangent coordinates of a system. ``size``: their number."""

    def __init__(self, system: System) -> None:
        self._robot: Any = system if hasattr(system, "lift") and len(system.unit) else None
        self.n = system.n
        self.size: int = self._robot.tangents if self._robot is not None else system.n

    @property
    def plain(self) -> bool:
        """Whether they are the state itself."""
        return self._robot is None

    def lift(self, X: FloatArray) -> FloatArray:
        """The matrices (states, n, size) from tangent coordinates to changes of these states."""
        if self._robot is None:
            return np.broadcast_to(np.eye(self.n), (len(X), self.n, self.n))
        return np.array([self._robot.lift(x) for x in X])

    def project(self, X: FloatArray) -> FloatArray:
        """The matrices (states, size, n) from changes of these states to tangent coordinates."""
        if self._robot is None:
            return np.broadcast_to(np.eye(self.n), (len(X), self.n, self.n))
        return np.array([self._robot.project(x) for x in X])

    def near(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """X with its quaternions on the side of those of Y (q and -q are the same rotation)."""
        if self._robot is None:
            return X
        out = X.copy()
        for first, stop in self._robot.unit:
            other = (out[..., first:stop] * Y[..., first:stop]).sum(axis=-1) < 0.0
            out[..., first:stop] = np.where(other[..., None], -out[..., first:stop], out[..., first:stop])
        return out

    def difference(self, x: FloatArray, y: FloatArray, project: FloatArray | None = None) -> FloatArray:
        """x - y in tangent coordinates at y. ``project``: the matrix of y, if it is known."""
        if self._robot is None:
            return x - y
        P = self._robot.project(y) if project is None else project
        out: FloatArray = P @ (self.near(x, y) - y)
        return out
