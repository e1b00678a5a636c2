"""Where steps are divided next to guards on whose one side Df is not smooth (see `core.tangents.rough_sides`).

There Df changes like C s^p, where s is the distance from the guard, in time, and p no whole number. Its derivatives are like
powers of 1 / s, so that a step whose length is a part r of the distance makes an error of about C s^(p+1) r^(order+1): the nearer
the guard, the larger a part of the distance it may be. What is left next to the guard is so short that it is one step.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..core.state import MARGIN

if TYPE_CHECKING:
    from .._typing import FloatArray, RecordArray
    from ..solution.record import Record

# errors, in parts of C s^(p+1): of the step next to the guard, and of one as long as its distance from there
_FIRST, _FACTOR = 0.1, 1e-3
_LARGEST = 1.0  # part of its distance from the guard that a step may be long
_FARTHEST = 1e9  # distance from the guard, in units of the first step


def times_near_rough_sides(record: Record, sides: RecordArray, rtol: float, orders: FloatArray) -> FloatArray:
    """The times that divide the steps of a record next to guards with rough sides. ``orders``: those of the steps to each row.

    The error of each crossing may be the tolerance over their number: where contacts are alike, so are the signs of their errors.
    """
    events, t, ways = record.events, record.t, []
    for k in np.flatnonzero((sides["power"] > 0.0).reshape(-1, 2).any(axis=1)):
        flips = events[(events["guard"] == k) & (events["shown"] != MARGIN)]
        moments, signs = flips["t"], np.concatenate([[record.word_start[k]], flips["sign"]])
        bounds = np.concatenate([[t[0]], moments, [t[-1]]])
        for q, moment in enumerate(moments):
            for sign, other in ((signs[q + 1], bounds[q + 2]), (signs[q], bounds[q])):
                if sign != 0.0 and sides["power"][2 * k + (sign > 0.0)] > 0.0:
                    ways.append((moment, 0.5 * (other - moment), sides[2 * k + (sign > 0.0)]))
    out = [np.empty(0)]
    for moment, half, side in ways:
        first, last = np.sort(t.searchsorted([moment, moment + half]))
        order = int(orders[max(first, 1) : last + 1].min())
        nearest = (rtol / (len(ways) * _FIRST * side["strength"])) ** (1.0 / (side["power"] + 1.0))
        distances = nearest * _distances(round(float(side["power"]), 2), order)
        out.append(moment + np.sign(half) * distances[distances < abs(half)])
    times = np.unique(np.concatenate(out))
    inside = np.searchsorted(t, times)
    kept = (inside > 0) & (inside < len(t))
    times, inside = times[kept], inside[kept]
    # (of steps that are as short as that nothing is divided)
    gaps = np.diff(times, prepend=-np.inf, append=np.inf)
    short = np.minimum(gaps[:-1], gaps[1:])
    return times[(t[inside] - t[inside - 1] > 1.5 * short) & (times < t[inside]) & (times > t[inside - 1])]


@lru_cache(maxsize=64)
def _distances(power: float, order: int) -> FloatArray:
    """Distances from the guard at which steps of this order end, in units of the first one."""
    out = [1.0]
    while out[-1] < _FARTHEST:
        part = (_FIRST / _FACTOR * out[-1] ** -(power + 1.0)) ** (1.0 / (order + 1.0))
        out.append(out[-1] * (1.0 + min(part, _LARGEST)))
    return np.array(out)
