"""What happens between two neighbouring cycles of a branch, and where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import brentq

from .._made import make
from .branch import Bifurcation

if TYPE_CHECKING:
    from .continuation import Point
    from .cycle import Cycle

    Next = Callable[[Point, float], tuple[Point | None, str, int]]

BISECTIONS = 30
CLOSE = 1e-9  # of a step
# multipliers so near to 1 or -1 at both ends of a step are there everywhere: those of a place or a heading
NEUTRAL = 1e-6


def changes(here: Point, there: Point, length: float, following: Next) -> list[Bifurcation]:
    """The bifurcations between two neighbouring points of a branch."""
    if here.cycle.signature != there.cycle.signature:
        return [_change_of_events(here, there, length, following)]
    out: list[Bifurcation] = []
    parts = here.problem.parts
    for kind, test in _tests(here, there).items():
        if test(here) * test(there) >= 0.0:
            continue
        if kind == "branch point" and any(found.kind == "fold" for found in out):
            continue  # (a multiplier of 1 is the fold itself)
        place = located(here, length, test, following) or here
        about = ""
        if kind != "fold":
            nearest = min(place.cycle.part_multipliers, key=lambda v: min(abs(v - 1.0), abs(v + 1.0)))
            about = f"multiplier {nearest.real:.6g}"
        name = "symmetry breaking" if kind == "period doubling" and parts % 2 == 0 else kind
        out.append(make(Bifurcation, name, place.value, about, place.cycle))
    pairs = [_outside(point.cycle) for point in (here, there)]
    if abs(pairs[0] - pairs[1]) == 2:
        place = located(here, length, lambda point: _largest_pair(point.cycle) - 1.0, following) or here
        out.append(make(Bifurcation, "torus", place.value, "a complex pair of multipliers", place.cycle))
    return out


def _fold(point: Point) -> float:
    return float(point.tangent[-1])


def _product(root: float, here: Point, there: Point) -> Callable[[Point], float]:
    """The product of ``multiplier - root``, without multipliers that stay at the root: their rounding errors have any sign."""

    def distances(point: Point) -> Any:
        values = point.cycle.part_multipliers - root
        return values[np.argsort(np.abs(values))]

    stay = min(int((np.abs(distances(point)) < NEUTRAL).sum()) for point in (here, there))
    return lambda point: float(np.prod(distances(point)[stay:]).real)


def _tests(here: Point, there: Point) -> dict[str, Callable[[Point], float]]:
    """Functions of a point that change their sign at a bifurcation between two points."""
    return {
        "fold": _fold,
        "period doubling": _product(-1.0, here, there),
        "branch point": _product(1.0, here, there),
    }


def _complex(cycle: Cycle) -> Any:
    values = cycle.part_multipliers
    return values[np.abs(values.imag) > 1e-9]


def _outside(cycle: Cycle) -> int:
    """The number of complex multipliers outside the unit circle."""
    return int((np.abs(_complex(cycle)) > 1.0 + 1e-7).sum())


def _largest_pair(cycle: Cycle) -> float:
    values = np.abs(_complex(cycle))
    return float(values.max()) if values.size else 0.0


class _LostError(Exception):
    """No cycle was found on the way."""


def located(here: Point, length: float, test: Callable[[Point], float], following: Next) -> Point | None:
    """The point between here and a step ahead where a test function is zero; None if there is none that can be reached."""
    seen: dict[float, Point] = {0.0: here}

    def value(at: float) -> float:
        if at not in seen:
            point, _, _ = following(here, at)
            if point is None:
                raise _LostError
            seen[at] = point
        return test(seen[at])

    try:
        return seen[brentq(value, 0.0, length, xtol=CLOSE * length, rtol=1e-12)]
    except (_LostError, ValueError):  # (ValueError: no change of sign, where multipliers jump)
        return None


def _change_of_events(here: Point, there: Point, length: float, following: Next) -> Bifurcation:
    """Where the events change: bisection between the two signatures."""
    low, high, before = 0.0, length, here
    for _ in range(BISECTIONS):
        at = 0.5 * (low + high)
        point, _, _ = following(here, at)
        if point is not None and point.cycle.signature == here.cycle.signature:
            low, before = at, point
        else:
            high = at
    counts = [Counter(name for name, _ in cycle.signature) for cycle in (here.cycle, there.cycle)]
    changed = sorted((counts[0] - counts[1]).keys() | (counts[1] - counts[0]).keys())
    if not changed:
        return make(Bifurcation, "tie", before.value, "events change their order", before.cycle)
    return make(Bifurcation, "grazing", before.value, f"guard {', '.join(map(repr, changed))}", before.cycle)
