"""Floquet multipliers: eigenvalues of the derivative around a cycle, without the direction of the flow, for each linear piece."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import BouligandError

if TYPE_CHECKING:
    from .. import _typing as ty
    from ..derivative.bderivative import BDerivative

MOST_PIECES = 64
LONGEST = 8  # products of pieces that are looked at, if there are several
MOST_PRODUCTS = 5000


def pieces_of(derivatives: list[BDerivative[Any]], matrices: list[ty.FloatArray], n: int) -> list[list[ty.FloatArray]]:
    """For each segment the matrices of its linear pieces (the one that was taken, where they cannot be listed)."""
    out: list[list[ty.FloatArray]] = []
    for B, M in zip(derivatives, matrices, strict=True):
        if not B.corners or B.is_linear:
            out.append([M])
            continue
        try:
            out.append(_distinct([piece.matrix[:, :n] for piece in B.pieces(MOST_PIECES)]) or [M])
        except BouligandError:
            out.append([M])
    return out


def _distinct(matrices: list[ty.FloatArray]) -> list[ty.FloatArray]:
    out: list[ty.FloatArray] = []
    for M in matrices:
        if not any(np.allclose(M, other, rtol=1e-7, atol=1e-9) for other in out):
            out.append(M)
    return out


def around(segments: list[list[ty.FloatArray]], S: ty.FloatArray) -> list[ty.FloatArray]:
    """The derivatives around one part of a cycle: S M_{N-1} ... M_0 for each choice of pieces."""
    out = []
    for choice in product(*segments):
        M = np.eye(len(S))
        for matrix in choice:
            M = matrix @ M
        out.append(S @ M)
        if len(out) == MOST_PIECES:
            break
    return out


def across_flow(
    M: ty.FloatArray, rate: ty.FloatArray | None, drift: list[int], scale: ty.FloatArray
) -> tuple[ty.FloatArray, float]:
    """M without states that drift and (given ``rate``, the flow at its start) without the direction of the flow; and how far the
    multiplier of that direction is from 1, relative.

    M maps the flow onto itself. In a basis that begins with it the first column is (1, 0, ...), and the rest below and right of
    it has the other multipliers. (Eigenvalues of M itself would be inaccurate where one of them is 1, too.)
    """
    kept = [i for i in range(len(M)) if i not in drift]
    M = (M / scale[:, None] * scale)[np.ix_(kept, kept)]
    if rate is None:
        return M, 0.0
    flow = (rate / scale)[kept]
    Q, _ = np.linalg.qr(np.column_stack([flow, np.eye(len(kept))]))
    error = float(np.linalg.norm(M @ flow - flow) / np.linalg.norm(flow))
    return (Q.T @ M @ Q)[1:, 1:], error


def eigenvalues(M: ty.FloatArray) -> ty.ComplexArray:
    """Eigenvalues, the largest first."""
    values = np.linalg.eigvals(M).astype(complex)
    return values[np.lexsort((-values.imag, -np.abs(values).round(12)))]


def is_stable(pieces: list[ty.FloatArray], margin: float) -> bool | None:
    """Whether perturbations decay: True or False where that is certain; None if a multiplier is on the unit circle, within
    ``margin``, or if there are several pieces and neither can be shown."""
    if not pieces[0].size:
        return True
    radius = max(float(np.abs(np.linalg.eigvals(M)).max()) for M in pieces)
    if len(pieces) == 1:
        return None if abs(radius - 1.0) <= margin else radius < 1.0
    # the growth of any sequence of pieces is at most the largest norm of products of k of them, to the power 1/k
    products = list(pieces)
    for k in range(1, LONGEST + 1):
        if max(float(np.linalg.norm(M, 2)) for M in products) ** (1.0 / k) < 1.0 - margin:
            return True
        if len(products) * len(pieces) > MOST_PRODUCTS:
            break
        products = [A @ M for A in pieces for M in products]
    smallest = min(float(np.abs(np.linalg.eigvals(M)).max()) for M in pieces)
    contracts = min(float(np.linalg.svd(M, compute_uv=False).min()) for M in pieces)
    return False if contracts > 1.0 + margin and smallest > 1.0 else None
