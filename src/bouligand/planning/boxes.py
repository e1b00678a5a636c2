"""Quadratic programs with limits on each variable, by projected Newton steps (Bertsekas 1982; in iLQR: Tassa et al. 2014)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

if TYPE_CHECKING:
    from .._typing import BoolArray, FloatArray

_MOST = 50  # Newton steps
_ARMIJO = 0.1


class Box(NamedTuple):
    """The minimiser, which variables are free (not at a limit that pushes back; None: all), and the Cholesky factor of their H
    (None: none is free)."""

    x: FloatArray
    free: BoolArray | None
    factor: FloatArray | None

    def solve(self, right: FloatArray) -> FloatArray:
        """H of the free variables, divided into the right hand sides (those of all variables); zero for the others."""
        if self.factor is None:
            return np.zeros_like(right)
        if self.free is None:
            return dpotrs(self.factor, right, lower=1)[0]
        out = np.zeros_like(right)
        out[self.free] = dpotrs(self.factor, right[self.free], lower=1)[0]
        return out


def minimise_in_box(H: FloatArray, g: FloatArray, low: FloatArray, high: FloatArray, start: FloatArray) -> Box | None:
    """Minimise ``1/2 x H x + g x`` for ``low <= x <= high``. None if H is not positive definite."""
    factor, failed = dpotrf(H, lower=1)
    if failed:
        return None
    x = -dpotrs(factor, g, lower=1)[0]
    if not np.isfinite(x).all():
        return None
    if (x >= low).all() and (x <= high).all():
        return Box(x, None, factor)
    x = np.clip(start, low, high)
    free: BoolArray | None = None
    for _ in range(_MOST):
        gradient = g + H @ x
        now = ((x > low) | (gradient <= 0.0)) & ((x < high) | (gradient >= 0.0))
        if not now.any():
            return Box(x, now, None)
        if free is None or not np.array_equal(free, now):
            free = now
            factor, failed = dpotrf(H[np.ix_(free, free)], lower=1)
            if failed:
                return None
        if np.abs(gradient[free]).max() <= 1e-10 * (1.0 + np.abs(g).max()):
            break
        search = np.zeros(len(g))
        search[free] = -dpotrs(factor, gradient[free], lower=1)[0]
        slope, size = float(gradient @ search), 1.0
        while True:
            trial = np.minimum(np.maximum(x + size * search, low), high)
            change = trial - x
            gain = float(gradient @ change + 0.5 * change @ H @ change)
            if gain <= _ARMIJO * float(gradient @ change) or size < 1e-10:
                break
            size *= 0.5
        x = trial
        if slope > -1e-18:
            break
    return Box(x, free, factor)
