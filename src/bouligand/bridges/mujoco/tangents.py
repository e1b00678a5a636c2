"""Tangent coordinates of robots: one less than states for each quaternion, in the directions of speeds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, overload

import numpy as np

from ...system.arguments import finite_numbers
from .robot_states import RobotStates

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..._typing import FloatArray
    from ...derivative.bderivative import BDerivative


class TangentCoordinates(RobotStates):
    """What a `Robot` does with them."""

    @property
    def tangents(self) -> int:
        """Number of tangent coordinates: 2 nv and the rest of the state; one less than n for each quaternion."""
        return self.n - self.model.nq + self.model.nv

    def lift(self, x: ArrayLike) -> FloatArray:
        """The matrix (n, tangents) from a small motion in tangent (velocity) coordinates to the change of x."""
        return self._lifted(self._state(x))

    def _lifted(self, x: FloatArray) -> FloatArray:
        nq, nv = self.model.nq, self.model.nv
        G = np.zeros((self.n, self.tangents))
        G[nq:, nv:] = np.eye(self.n - nq)
        for q, v in self.memory.scalars:
            G[q, v] = 1.0
        for q, v in self.memory.quats:
            G[q : q + 4, v : v + 3] = 0.5 * _turned_by(x[q : q + 4])
        return G

    def project(self, x: ArrayLike) -> FloatArray:
        """The pseudo-inverse of `lift`, (tangents, n): from a change of x to tangent coordinates."""
        return self._projected(self._state(x))

    def _projected(self, x: FloatArray) -> FloatArray:
        nq, nv = self.model.nq, self.model.nv
        P = np.zeros((self.tangents, self.n))
        P[nv:, nq:] = np.eye(self.n - nq)
        for q, v in self.memory.scalars:
            P[v, q] = 1.0
        for q, v in self.memory.quats:
            quat = x[q : q + 4]
            P[v : v + 3, q : q + 4] = 2.0 * _turned_by(quat).T / (quat @ quat)
        return P

    @overload
    def tangent(self, B: FloatArray, x0: ArrayLike, x1: ArrayLike) -> FloatArray: ...

    @overload
    def tangent(self, B: BDerivative[object], x0: ArrayLike, x1: ArrayLike) -> Callable[[ArrayLike], FloatArray]: ...

    def tangent(
        self, B: FloatArray | BDerivative[object], x0: ArrayLike, x1: ArrayLike
    ) -> FloatArray | Callable[[ArrayLike], FloatArray]:
        """A derivative of the flow from x0 to x1 in tangent coordinates.

        Parameters
        ----------
        B : array (n, n) or BDerivative
            The derivative in the coordinates of the state.
        x0, x1 : array (n,)
            The states at the start and at the end.

        Returns
        -------
        array (tangents, tangents), or callable
            Of a matrix a matrix; of a BDerivative a function from the perturbation at x0 to that at x1.
        """
        from ...derivative.bderivative import BDerivative

        before, after = self._lifted(self._state(x0, "x0")), self._projected(self._state(x1, "x1"))
        if isinstance(B, BDerivative):
            return lambda perturbation: after @ B(before @ np.asarray(perturbation, dtype=float))
        matrix = finite_numbers("B, a matrix or a BDerivative,", B)
        if matrix.shape != (self.n, self.n):
            raise ValueError(f"B must have the shape {(self.n, self.n)}; got {matrix.shape}")
        return after @ matrix @ before


def _turned_by(q: FloatArray) -> FloatArray:
    """The (4, 3) matrix of w -> q (0, w)."""
    a, b, c, d = q
    return np.array([[-b, -c, -d], [a, -d, c], [d, a, -b], [-c, b, a]])
