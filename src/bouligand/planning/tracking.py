"""Tracking a reference trajectory: states are compared at equal mode, not only at equal time.

Near an event a trajectory that touches down a little later than the reference is far from it for a moment (before and behind an
impact, or a jump of the force), although nothing is wrong; a controller that fights that difference does harm. Where the modes
differ, the reference is therefore continued: beyond its event under the word before it, or back from the event under the word
behind it. (Kong et al. 2023 call it the reference extension.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..solution.solution import Solution
from ..system.arguments import instance, not_negative
from ..system.words import names
from .costs import Quadratic

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import FloatArray
    from ..system.system import System

_STEPS = 8  # Runge-Kutta steps of a continuation


class Tracking(Quadratic):
    """``1/2 e W e + 1/2 v R v`` with ``e`` the difference from a reference trajectory in the same mode.

    Parameters
    ----------
    reference : Solution
        The trajectory to follow, of the same system.
    x, u, rest
        Weights and resting controls, as for `Quadratic`.
    guards : sequence of str, optional
        The guards whose signs are the mode; default all.
    reach : float
        For how long, in units of time, the reference is continued beyond an event; where the modes are different for longer than
        that, states are compared at equal time.

    Examples
    --------
    A hopper that lands later than the reference is compared with one that is still falling:

    >>> import bouligand as bd
    >>> import numpy as np
    >>> system = bd.models.hopper()
    >>> reference = bd.solve(system, (0.0, 0.6), [2.0, 0.0])
    >>> cost = bd.planning.Tracking(reference, x=1.0, reach=0.1)
    >>> cost.prepare(system, ("g",))
    >>> touchdown = reference.events.t[0]
    >>> cost.target(touchdown + 0.01, np.array([1.001, -4.0])).round(3)
    array([ 0.955, -4.528])
    >>> reference(touchdown + 0.01).round(3)
    array([ 0.956, -4.306])
    """

    def __init__(
        self,
        reference: Solution,
        x: float | ArrayLike | Mapping[str, float] = 1.0,
        u: float | ArrayLike | Mapping[str, float] = 0.0,
        rest: ArrayLike | None = None,
        guards: str | Iterable[str] | None = None,
        reach: float = 0.05,
    ) -> None:
        super().__init__(None, x, u, rest)
        self._reference = instance("reference", reference, Solution, "solve")
        known = reference.system.guards
        self._names = known if guards is None else names("guards", guards, known, "guard")
        self._reach = not_negative("reach", reach)

    def prepare(self, system: System, inputs: tuple[str, ...]) -> None:
        super().prepare(system, inputs)
        mine = self._reference.system
        if (mine.n, mine.guards) != (system.n, system.guards):
            raise ValueError("reference must be a solution of the plan's system: its states and guards are others")
        self._guards = np.array([system.guards.index(name) for name in self._names], dtype=int)
        self._segments = self._words()

    def _words(self) -> list[tuple[float, float, FloatArray]]:
        """The reference's mode from one time to another, one after the other."""
        record = self._reference.record
        times = np.unique(np.concatenate([[record.t[0]], record.events["t"], [record.t[-1]]]))
        out = []
        for first, last in pairwise(times.tolist()):
            out.append((float(first), float(last), np.asarray(self._reference.word(0.5 * (first + last)), dtype=float)))
        return out

    def target(self, t: float, x: FloatArray) -> FloatArray:
        """The state of the reference that x is compared with at time t."""
        record, system = self._reference.record, self._reference.system
        t = float(np.clip(t, record.t[0], record.t[-1]))
        plain = np.asarray(self._reference(t), dtype=float)
        if not self._guards.size:
            return plain
        p = record.parameters_at(t, "left")
        mode = np.where(system.function("h")(t, x, p)[self._guards] > 0.0, 1.0, -1.0)
        gaps = [
            (max(first - t, t - last, 0.0), first, last, word)
            for first, last, word in self._segments
            if first - t <= self._reach and t - last <= self._reach and np.array_equal(word[self._guards], mode)
        ]
        if not gaps:
            return plain
        gap, first, last, word = min(gaps, key=lambda found: found[0])
        if gap == 0.0:
            return plain
        begin = last if last < t else first
        # (just inside the segment: at an event with a jump the state is that of either side)
        inside = begin + (1e-9 if begin == first else -1e-9) * (last - first)
        return self._continued(np.asarray(self._reference(inside), dtype=float), inside, t, word, p)

    def _continued(self, x: FloatArray, since: float, until: float, word: FloatArray, p: FloatArray) -> FloatArray:
        """The flow under a word that stays, by classical Runge-Kutta steps."""
        f, h = self._reference.system.function("f"), (until - since) / _STEPS
        for k in range(_STEPS):
            t = since + k * h
            a = f(t, x, word, p)
            b = f(t + 0.5 * h, x + 0.5 * h * a, word, p)
            c = f(t + 0.5 * h, x + 0.5 * h * b, word, p)
            d = f(t + h, x + h * c, word, p)
            x = x + h / 6.0 * (a + 2.0 * b + 2.0 * c + d)
        return x

    def _targets(self, t: FloatArray, X: FloatArray) -> tuple[FloatArray, bool]:
        return np.array([self.target(moment, x) for moment, x in zip(t.tolist(), X, strict=True)]), False
