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
    # states and controls in one vector z: two products for each node instead of one for each pair of them
    J, g, H = np.concatenate([A, B], axis=2), np.concatenate([running.x, running.u], axis=1), _in_z(running)
    by_x, V = end
    slope = curve = 0.0
    unbounded = np.full(inputs, np.inf)
    for k in range(nodes - 1, -1, -1):
        Jk = J[k]
        q, Q = g[k] + by_x @ Jk, H[k] + Jk.T @ (V @ Jk)
        q_u, q_ux, q_uu = q[size:], Q[size:, :size], Q[size:, size:]
        strong, mixed = q_uu, q_ux
        if mu:
            Bk = B[k]
            strong = q_uu + mu * (Bk.T @ Bk)
            strong.flat[:: inputs + 1] += mu
            mixed = q_ux + mu * (Bk.T @ A[k])
        low, high = (-unbounded, unbounded) if limits is None else (limits[0] - U[k], limits[1] - U[k])
        box = minimise_in_box(strong, q_u, low, high, d[k] if last is None else last[k])
        if box is None:
            return None
        dk, Kk = box.x, -box.solve(mixed)
        d[k], K[k] = dk, Kk
        left = q_uu @ dk
        slope += float(dk @ q_u)
        curve += 0.5 * float(dk @ left)
        by_x = q[:size] + dk @ q_ux + (left + q_u) @ Kk
        V = Q[:size, :size] + q_ux.T @ Kk
        if mu:  # (without it, q_uu K + q_ux is zero for controls that are free, and K is for the others)
            V += Kk.T @ (q_uu @ Kk + q_ux)
        V = 0.5 * (V + V.T)
    return Corrections(d, K, slope, curve)


def _in_z(l: Expansion) -> FloatArray:
    """The second derivatives in the state and the controls together."""
    nodes, inputs, size = l.ux.shape
    out = np.empty((nodes, size + inputs, size + inputs))
    out[:, :size, :size], out[:, size:, size:] = l.xx, l.uu
    out[:, size:, :size], out[:, :size, size:] = l.ux, l.ux.transpose(0, 2, 1)
    return out
