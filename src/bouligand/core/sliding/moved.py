"""Perturbations where the trajectory begins to slide on guards that it is on already: they are moved onto these guards."""

import numpy as np

from ..compiler.intrinsics import call, compact
from .rates import STEP, compiled


@compiled
def move_along(project, ctx, t, x, b, p, D):
    """D (rows: tangents of the state, then of the parameters) = their images under the move ``project`` of the state x, by
    central differences along each. Returns a status."""
    compact()
    n, status = x.shape[0], 0
    high, low, moved, shifted = np.empty(n), np.empty(n), np.empty(n), p.copy()
    size = 1e-3
    for i in range(n):
        size = max(size, abs(x[i]))
    for a in range(D.shape[0]):
        largest = 0.0
        for i in range(n):
            largest = max(largest, abs(D[a, i]) / size)
        for i in range(n, D.shape[1]):
            largest = max(largest, abs(D[a, i]) / max(abs(p[i - n]), 1e-3))
        if largest == 0.0:
            continue
        step = STEP / largest
        for turn in range(2):
            for i in range(n):
                moved[i] = x[i] + step * D[a, i]
            for i in range(n, D.shape[1]):
                shifted[i - n] = p[i - n] + step * D[a, i]
            status = status or call(project, t, (moved, b, shifted, high if turn == 0 else low), ctx)
            step = -step
        for i in range(n):
            D[a, i] = (high[i] - low[i]) / (2.0 * step)
    return status
