"""Where steps are divided next to guards on whose one side Df is not smooth (see `core.tangents.rough_sides`).

There Df changes like C s^p, where s is the distance from the guard, in time, and p no whole number. Its derivatives are like
powers of 1 / s, so that a step whose length is a part r of the distance makes an error of about C s^(p+1) r^(order+1): the nearer
the guard, the larger a part of the distance it may be. What is left next to the guard is so short that it is one step.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..core.state import MARGIN

if TYPE_CHECKING:
    from .._typing import FloatArray, IntArray, RecordArray
    from ..solution.record import Record

# errors, in parts of C s^(p+1): of the step next to the guard, and of one as long as its distance from there
_FIRST, _FACTOR = 0.1, 1e-3
_LARGEST = 1.0  # part of its distance from the guard that a step may be long
_WEAK = 0.1  # strengths that differ by less are about the same
_FARTHEST = 1e9  # distance from the guard, in units of the first step


class _Way(NamedTuple):
    """From a crossing on, along a rough side of its guard: its time, how far (before it: negative), and C and p."""

    moment: float
    reach: float
    strength: float
    power: float


def times_near_rough_sides(record: Record, sides: RecordArray, rtol: float, orders: IntArray) -> FloatArray:
    """The times that divide the steps of a record next to guards with rough sides. ``orders``: those of the steps to each row.

    The error of each crossing may be the tolerance over their number: where contacts are alike, so are the signs of their errors.
    """
    t, ways, out = record.t, _ways(record, sides), [np.empty(0)]
    for moment, reach, strength, power in ways:
        first, last = np.sort(t.searchsorted([moment, moment + reach]))
        order = int(orders[max(first, 1) : last + 1].min())
        nearest = (rtol / (len(ways) * _FIRST * strength)) ** (1.0 / (power + 1.0))
        distances = nearest * _distances(round(power, 2), order)
        out.append(moment + np.sign(reach) * distances[distances < abs(reach)])
    times = np.unique(np.concatenate(out))
    inside = np.searchsorted(t, times)
    kept = (inside > 0) & (inside < len(t))
    times, inside = times[kept], inside[kept]
    # (of steps that are as short as that nothing is divided)
    gaps = np.diff(times, prepend=-np.inf, append=np.inf)
    short = np.minimum(gaps[:-1], gaps[1:])
    return times[(t[inside] - t[inside - 1] > 1.5 * short) & (times < t[inside]) & (times > t[inside - 1])]


def _ways(record: Record, sides: RecordArray) -> list[_Way]:
    """The ways from all crossings along rough sides: half of that to the next crossing of the same guard, or to one of another
    guard behind which the same holds: from there on it is that one that is nearer."""
    events, t = record.events, record.t
    ahead: list[_Way] = []
    back: list[_Way] = []
    for k in np.flatnonzero((sides["power"] > 0.0).reshape(-1, 2).any(axis=1)):
        flips = events[(events["guard"] == k) & (events["shown"] != MARGIN)]
        moments, signs = flips["t"], np.concatenate([[record.word_start[k]], flips["sign"]])
        bounds = np.concatenate([[t[0]], moments, [t[-1]]])
        for q, moment in enumerate(moments):
            for out, sign, other in ((ahead, signs[q + 1], bounds[q + 2]), (back, signs[q], bounds[q])):
                side = sides[2 * k + (sign > 0.0)]
                if sign != 0.0 and side["power"] > 0.0:
                    out.append(_Way(moment, 0.5 * (other - moment), float(side["strength"]), float(side["power"])))
    return _up_to_the_next(sorted(ahead)) + _up_to_the_next(sorted(back, reverse=True))


def _up_to_the_next(ways: list[_Way]) -> list[_Way]:
    """The same ways, each only up to where the next one begins that is about as strong."""
    out = []
    for q, way in enumerate(ways):
        nexts = (w for w in ways[q + 1 :] if w.moment != way.moment and w.strength > _WEAK * way.strength)
        gap = abs(next(nexts, way).moment - way.moment)
        out.append(way._replace(reach=float(np.clip(way.reach, -gap, gap))) if gap > 0.0 else way)
    return out


@lru_cache(maxsize=64)
def _distances(power: float, order: int) -> FloatArray:
    """Distances from the guard at which steps of this order end, in units of the first one."""
    out = [1.0]
    while out[-1] < _FARTHEST:
        part = (_FIRST / _FACTOR * out[-1] ** -(power + 1.0)) ** (1.0 / (order + 1.0))
        out.append(out[-1] * (1.0 + min(part, _LARGEST)))
    return np.array(out)
