"""Does f test h itself, instead of b? Found by looking at f across a guard while b is held.

For a fixed mode f must be smooth across the guards. So f is evaluated at equal distances on both sides of a point on the guard.
The second difference of a smooth function falls with the square of the distance, that of a kink with the distance, and that of
a jump not at all. A kink that is there on the guard, at two different places, and not beside it, is a test of h. A force that
begins with the power 1.5 of the depth has a weak kink by its nature: that counts only if it is there whatever b says.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import inf
from time import thread_time
from typing import TYPE_CHECKING

import numpy as np

from .addresses import WritesArgumentError

if TYPE_CHECKING:
    from .._typing import FloatArray
    from .system import System

MOST_GUARDS = 6  # looked at, evenly spread over all
MOST_STATES = 100  # with more, the gradients of h would take too long
NEAR, NEARER = 1e-5, 1e-7  # distances from the guard, relative to the state's size
WEAK, STRONG = 1.75, 1.25  # powers of the distance: second differences that fall more slowly are those of a kink
BESIDE = 3e-4  # a place beside the guard


def switches_itself(
    system: System, t: float, x: FloatArray, p: FloatArray, until: float = inf
) -> list[tuple[int, float]]:
    """Guards at which f has a kink or a jump although b is held, each with the sign that b has there.

    States near x are tried, of which none is special: at rest, a force that begins with the depth or with the speed begins at
    the same place. ``until``: a time of `thread_time` at which to stop looking.
    """
    if not 0 < system.n <= MOST_STATES or not system.m or any(system._functions[q].is_low_level for q in "fh"):
        return []
    pattern = np.sin(1.0 + 2.4 * np.arange(system.n))  # (numbers between -1 and 1 in no order)
    places = [_Place(system, t, x, p, way) for way in (0.3 * pattern, -0.2 * np.cos(pattern * 7.0))]
    found = []
    for k in sorted({int(k) for k in np.linspace(0, system.m - 1, min(system.m, MOST_GUARDS))}):
        if thread_time() > until:
            break
        for sign, power in ((-1.0, STRONG), (1.0, STRONG), (0.0, WEAK)):
            signs = (sign,) if sign else (-1.0, 1.0)
            try:
                with np.errstate(all="ignore"):
                    if all(place.has_kink(k, s, power) for s in signs for place in places):
                        found.append((k, signs[0]))
                        break
            except WritesArgumentError:
                raise
            except Exception:  # f and h need not be defined there
                continue
    return found


def message(system: System, k: int, sign: float) -> str:
    """What is wrong, and what to write instead."""
    return (
        f"f switches at guard {system.guards[k]!r} by itself: with b[{k}] held at {sign:+.0f}, it has a kink or a jump where "
        f"h[{k}] is zero. It seems to test h (or x) there. Write `if b[{k}] > 0:` instead, and let the law go on smoothly on "
        "both sides of the guard: otherwise crossings take many short steps, or fail as too stiff"
    )


class _Place:
    """A state beside x, in the direction ``beside``, from which guards are looked for, each along its gradient."""

    def __init__(
        self, system: System, t: float, x: FloatArray, p: FloatArray, beside: FloatArray, moves: int = 3
    ) -> None:
        self.f, self.h = system.function("f"), system.function("h")
        self.size = np.maximum(np.abs(x), 0.1 * (np.abs(x).max() or 1.0))
        self.t, self.x, self.p = t, x + beside * self.size, p
        self._nearer = lambda x: _Place(system, t, x, p, beside, moves - 1) if moves else None
        self._zeros: dict[int, float | None] = {}
        self._kinks: dict[tuple[int, float], float] = {}

    @cached_property
    def here(self) -> FloatArray:
        """h at the state."""
        return self.h(self.t, self.x, self.p).ravel()

    @cached_property
    def gradients(self) -> FloatArray:
        """Of each guard, in units of the state's size."""
        ahead = [self.h(self.t, self.x + step, self.p).ravel() for step in np.diag(1e-6 * self.size)]
        return (np.array(ahead) - self.here).T / 1e-6

    def has_kink(self, k: int, sign: float, power: float) -> bool:
        """Whether f has a kink or a jump on guard k, with b[k] held at that sign: second differences fall no faster than with
        that power."""
        if (k, sign) not in self._kinks:
            self._kinks[k, sign] = self._kink(k, sign)
        return self._kinks[k, sign] < power

    def _kink(self, k: int, sign: float) -> float:
        """The power with which second differences fall on guard k: infinite where f is smooth, or not known to be otherwise."""
        gradient = self.gradients[k]
        slope = float(np.linalg.norm(gradient))
        if not 0.0 < slope < inf:
            return inf
        way = self.size * gradient / slope
        if k not in self._zeros:
            self._zeros[k] = _zero(lambda s: self.h(self.t, self.x + s * way, self.p).ravel()[k], self.here[k], slope)
        s = self._zeros[k]
        if s is None:
            return inf
        word = np.where(self.here >= 0.0, 1.0, -1.0)
        word[k] = sign
        unit = max(1.0, abs(s))
        if unit > 3.0:  # far away, where the state has another size
            nearer = self._nearer(self.x + s * way)
            return inf if nearer is None else nearer._kink(k, sign)

        def power(s: float) -> float:
            def f(distance: float) -> FloatArray:
                return self.f(self.t, self.x + (s + distance * unit) * way, word, self.p).ravel()

            return _power(f, unit)

        here = power(s)
        return here if here < WEAK <= min(power(s - BESIDE * unit), power(s + BESIDE * unit)) else inf


def _zero(h: Callable[[float], float], at_zero: float, slope: float) -> float | None:
    """Where a function is zero, by secants from 0; None if that leads nowhere."""
    s, value = 0.0, at_zero
    following = -at_zero / slope
    for _ in range(20):
        if not abs(following) < 1e3:
            return None
        before, value_before = s, value
        s, value = following, h(following)
        if value == 0.0 or abs(s - before) <= 1e-11 * max(1.0, abs(s)):
            return s
        if value == value_before:
            return None
        following = s - value * (s - before) / (value - value_before)
    return None


def _power(f: Callable[[float], FloatArray], unit: float) -> float:
    """The power of the distance from zero with which the second difference of f falls, for the component that has the least;
    infinite where second differences drown in rounding, as those of smooth functions do."""
    middle, ahead, behind, just_ahead, just_behind = (f(d) for d in (0.0, NEAR, -NEAR, NEARER, -NEARER))
    # what rounding of f, and of the states that it is given, makes of a difference
    noise = 1e-12 * (np.abs(middle) + unit * np.abs(ahead - behind) / (2.0 * NEAR))
    if (np.abs(just_ahead - just_behind) > np.maximum(noise, 0.3 * np.abs(ahead - behind))).any():
        return 0.0  # a jump, also one to whose middle f(0) belongs
    far, near = np.abs(ahead - 2.0 * middle + behind), np.abs(just_ahead - 2.0 * middle + just_behind)
    clear = (near > noise) & np.isfinite(far)
    if not clear.any():
        return inf
    return float(np.log(np.maximum(far, noise)[clear] / near[clear]).min() / np.log(NEAR / NEARER))
