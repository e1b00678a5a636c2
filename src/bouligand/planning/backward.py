"""The backward pass of iLQR: from quadratic models of cost and dynamics at each node to corrections of the controls.

``du[k] = alpha d[k] + K[k] dx[k]``. Limits are kept by a quadratic program in each node, whose bound controls have no feedback.
Regularisation adds to the curvature in the controls, and to that of the cost-to-go, as if a deviation of the next state cost
more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .boxes import minimise_in_box

if TYPE_CHECKING:
    from .._typing import FloatArray
    from .costs import Expansion


class Corrections(NamedTuple):
    """Steps d (nodes, inputs), gains K (nodes, inputs, size), and the expected change of the cost, of first and second order."""

    d: FloatArray
    K: FloatArray
    slope: float
    curve: float

    def expected(self, alpha: float) -> float:
        """The expected change of the cost for a step of this length."""
        return alpha * self.slope + alpha * alpha * self.curve


def backward(
    A: FloatArray,
    B: FloatArray,
    running: Expansion,
    end: tuple[FloatArray, FloatArray],
    U: FloatArray,
    limits: tuple[FloatArray, FloatArray] | None,
    mu: float,
    last: FloatArray | None = None,
) -> Corrections | None:
    """All of it in tangent coordinates; ``end``: gradient and second derivatives of the end cost; ``last``: steps from which the
    quadratic programs begin. None if the curvature is not positive with the regularisation ``mu``."""
    nodes, size, inputs = len(A), A.shape[1], B.shape[2]
    d, K = np.zeros((nodes, inputs)), np.zeros((nodes, inputs, size))
    by_x, V = end
    slope = curve = 0.0
    unbounded = np.full(inputs, np.inf)
    for k in range(nodes - 1, -1, -1):
        Ak, Bk = A[k], B[k]
        BV = Bk.T @ V
        q_x, q_u = running.x[k] + Ak.T @ by_x, running.u[k] + Bk.T @ by_x
        q_xx = running.xx[k] + Ak.T @ V @ Ak
        q_ux, q_uu = running.ux[k] + BV @ Ak, running.uu[k] + BV @ Bk
        strong, mixed = q_uu.copy(), q_ux
        strong.flat[:: inputs + 1] += mu
        if mu:
            strong += mu * (Bk.T @ Bk)
            mixed = q_ux + mu * (Bk.T @ Ak)
        low, high = (-unbounded, unbounded) if limits is None else (limits[0] - U[k], limits[1] - U[k])
        box = minimise_in_box(strong, q_u, low, high, d[k] if last is None else last[k])
        if box is None:
            return None
        d[k] = box.x
        K[k] = -box.solve(mixed)
        slope += float(d[k] @ q_u)
        curve += float(0.5 * d[k] @ q_uu @ d[k])
        KQ = K[k].T @ q_uu
        by_x = q_x + KQ @ d[k] + K[k].T @ q_u + q_ux.T @ d[k]
        KU = K[k].T @ q_ux
        V = q_xx + KQ @ K[k] + KU + KU.T
        V = 0.5 * (V + V.T)
    return Corrections(d, K, slope, curve)
