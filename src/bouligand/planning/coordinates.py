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

# (q (0, w))[i] = sum_j sign q[place] w[j]: the matrix of a quaternion, of which all others are made
_PLACES = np.array([[1, 2, 3], [0, 3, 2], [3, 0, 1], [2, 1, 0]])
_SIGNS = np.array([[-1.0, -1.0, -1.0], [1.0, -1.0, 1.0], [1.0, 1.0, -1.0], [-1.0, 1.0, 1.0]])


class Coordinates:
    """The tangent coordinates of a system. ``size``: their number."""

    def __init__(self, system: System) -> None:
        self.n, self.plain = system.n, not (hasattr(system, "lift") and len(system.unit))
        self._quats: list[tuple[slice, slice]] = []  # where each is in the state, and its turns among the coordinates
        self._G = np.eye(system.n)
        if not self.plain:
            robot: Any = system
            self._G = np.asarray(robot.lift(robot.neutral()))
            for first, stop in system.unit:
                turns = np.flatnonzero(np.abs(self._G[first:stop]).max(axis=0))
                self._quats.append((slice(int(first), int(stop)), slice(int(turns[0]), int(turns[-1]) + 1)))
        self.size: int = self._G.shape[1]
        # the state that each coordinate is; of turns, which are several, a part of the quaternion
        self._places = np.abs(self._G).argmax(axis=0)

    def lift(self, X: FloatArray) -> FloatArray:
        """The matrices (states, n, size) from tangent coordinates to changes of these states."""
        if self.plain:
            return np.broadcast_to(self._G, (len(X), *self._G.shape))
        out = np.repeat(self._G[None], len(X), axis=0)
        for of, turns in self._quats:
            out[:, of, turns] = 0.5 * X[:, of][:, _PLACES] * _SIGNS
        return out

    def project(self, X: FloatArray) -> FloatArray:
        """The matrices (states, size, n) from changes of these states to tangent coordinates."""
        if self.plain:
            return np.broadcast_to(self._G, (len(X), *self._G.shape))
        out = np.repeat(self._G.T[None], len(X), axis=0)
        for of, turns in self._quats:
            q = X[:, of]
            out[:, turns, of] = (2.0 / (q * q).sum(axis=1)[:, None, None] * q[:, _PLACES] * _SIGNS).transpose(0, 2, 1)
        return out

    def times_lift(self, M: FloatArray, G: FloatArray) -> FloatArray:
        """``M @ G`` for matrices M (states, rows, n) and G of `lift`, which is a unit matrix but for the turns."""
        if self.plain:
            return M
        out = M[:, :, self._places]
        for of, turns in self._quats:
            out[:, :, turns] = M[:, :, of] @ G[:, of, turns]
        return out

    def times_project(self, P: FloatArray, M: FloatArray) -> FloatArray:
        """``P @ M`` for matrices M (states, n, columns) and P of `project`."""
        if self.plain:
            return M
        out = M[:, self._places]
        for of, turns in self._quats:
            out[:, turns] = P[:, turns, of] @ M[:, of]
        return out

    def near(self, X: FloatArray, Y: FloatArray) -> FloatArray:
        """X with its quaternions on the side of those of Y (q and -q are the same rotation)."""
        if X.ndim == 1 and all(X[of] @ Y[of] >= 0.0 for of, _ in self._quats):  # (once for each node of a rollout)
            return X
        out = X
        for of, _ in self._quats:
            other = (X[..., of] * Y[..., of]).sum(axis=-1) < 0.0
            if np.any(other):
                out = out.copy() if out is X else out
                out[..., of] = np.where(np.asarray(other)[..., None], -X[..., of], X[..., of])
        return out
