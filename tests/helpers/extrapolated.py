"""Derivatives by central differences, extrapolated twice (Richardson): good to about 1e-10 where a function is smooth."""

import numpy as np


def jacobian(function, x, step=2e-4):
    """The matrix of derivatives at x. ``step``: the longest of three steps, one for all components or one each."""
    steps = np.broadcast_to(np.asarray(step, dtype=float), x.shape)
    columns = []
    for i in range(x.size):
        long, middle, short = (_central(function, x, i, steps[i] / part) for part in (1.0, 2.0, 4.0))
        one, two = (4.0 * middle - long) / 3.0, (4.0 * short - middle) / 3.0
        columns.append((16.0 * two - one) / 15.0)
    return np.array(columns).T


def _central(function, x, i, step):
    high, low = x.copy(), x.copy()
    high[i] += step
    low[i] -= step
    return (function(high) - function(low)) / (high[i] - low[i])
