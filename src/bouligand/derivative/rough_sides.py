"""Where steps are divided next to guards on whose one side Df is not smooth (see `core.tangents.rough_sides`).

At a distance s (in time) from such a guard the derivatives of Df are like powers of 1 / s: a step from there may have a length in
proportion to s. What is left next to the guard is so short that it does not count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.state import MARGIN, ROUGH

if TYPE_CHECKING:
    from .._typing import FloatArray, IntArray
    from ..solution.record import Record

_LOWEST = 1e-13  # tolerance
# the shortest distance is the tolerance to this power: up to there Df, which grows like a root of the distance, changes
# perturbations by about the tolerance (of forces like depth^1.2 and above)
_NEAREST = 0.8


def times_near_rough_sides(record: Record, rough: IntArray, rtol: float, order: float) -> FloatArray:
    """The times that divide the steps of a record next to guards with rough sides, for steps of this order."""
    events, t, out = record.events, record.t, [np.empty(0)]
    rtol = max(rtol, _LOWEST)
    growth = 1.0 + (20.0 * rtol) ** (1.0 / (order + 1.0))
    for k in np.flatnonzero(rough >= ROUGH):
        flips = events[(events["guard"] == k) & (events["shown"] != MARGIN)]
        moments = flips["t"]
        bounds = np.concatenate([[t[0]], moments, [t[-1]]])
        for q, sign in enumerate(flips["sign"]):
            for side, other, way in ((sign, bounds[q + 2], 1.0), (-sign, bounds[q], -1.0)):
                if rough[k] & (ROUGH * (2 if side > 0.0 else 1)):
                    half = 0.5 * abs(other - moments[q])
                    out.append(moments[q] + way * _distances(half, rtol, growth))
    times = np.unique(np.concatenate(out))
    inside = np.searchsorted(t, times)
    kept = (inside > 0) & (inside < len(t))
    times, inside = times[kept], inside[kept]
    # (of steps that are as short as that nothing is divided)
    gaps = np.diff(times, prepend=-np.inf, append=np.inf)
    short = np.minimum(gaps[:-1], gaps[1:])
    return times[(t[inside] - t[inside - 1] > 1.5 * short) & (times < t[inside]) & (times > t[inside - 1])]


def _distances(largest: float, rtol: float, growth: float) -> FloatArray:
    """Distances up to the largest, each larger than the one before by a factor."""
    count = int(np.log(rtol**-_NEAREST) / np.log(growth)) + 1
    return largest * growth ** -np.arange(count + 1.0)
