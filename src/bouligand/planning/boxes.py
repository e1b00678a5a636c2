"""Quadratic programs with limits on each variable, by projected Newton steps (Bertsekas 1982; in iLQR: Tassa et al. 2014)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

if TYPE_CHECKING:
    from typing import Any

    from .._typing import BoolArray, FloatArray

_MOST = 50  # Newton steps
_ARMIJO = 0.1


class Box(NamedTuple):
    """The minimiser, which variables are free (not at a limit that pushes back), and the factor of H of those."""

    x: FloatArray
    free: BoolArray
    factor: Any


def minimise_in_box(H: FloatArray, g: FloatArray, low: FloatArray, high: FloatArray, start: FloatArray) -> Box | None:
    """Minimise ``1/2 x H x + g x`` for ``low <= x <= high``. None if H is not positive definite on the free variables."""
    if not (np.isfinite(H).all() and np.isfinite(g).all()):
        return None
    x = np.clip(start, low, high)
    free = np.ones(len(g), dtype=bool)
    factor = None
    for step in range(_MOST):
        gradient = g + H @ x
        held = ((x <= low) & (gradient > 0.0)) | ((x >= high) & (gradient < 0.0))
        if step == 0 or not np.array_equal(free, ~held):
            free = ~held
            if not free.any():
                return Box(x, free, None)
            try:
                factor = cho_factor(H[np.ix_(free, free)] if held.any() else H, lower=True, check_finite=False)
            except np.linalg.LinAlgError:
                return None
        if np.abs(gradient[free]).max() <= 1e-10 * (1.0 + np.abs(g).max()):
            break
        search = np.zeros(len(g))
        search[free] = -cho_solve(factor, gradient[free], check_finite=False)
        slope, size = float(gradient @ search), 1.0
        while True:
            trial = np.clip(x + size * search, low, high)
            change = trial - x
            gain = float(gradient @ change + 0.5 * change @ H @ change)
            if gain <= _ARMIJO * size * slope or size < 1e-10:
                break
            size *= 0.5
        x = trial
        if slope > -1e-18:
            break
    return Box(x, free, factor)
