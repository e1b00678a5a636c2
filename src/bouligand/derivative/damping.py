"""Fast modes that are damped: how much of their rate limits the steps of perturbations.

A perturbation excites all modes where it begins: at the start, and at each crossing. A damped one decays from there, and once it
is smaller than the tolerance its steps need not be accurate, only stable: what the slow modes then make of it is right anyhow
(over a decay at the rate a, the sum of its steps is 1/a exactly, whatever their length). Until then steps may grow as it decays.
So while stiff contacts hold, they may be as long as those of the trajectory itself. Modes that swing, or grow, always need
accurate steps.
"""

from __future__ import annotations

from functools import lru_cache
from math import log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..core.entries import Kernel
from ..core.schemes import METHODS, SCHEMES
from ..core.state import SMALL, SPAN
from ..system.interrupts import answered
from .failures import raise_failed

if TYPE_CHECKING:
    from .._typing import ComplexArray, FloatArray, IntArray
    from ..memory.extras import TangentMemory
    from ..solution.record import Record
    from ..system.system import System

_sample = Kernel("tangents.sampled_jacobians", "sample_Df", "what derivatives need", quickly=True)

MOST_SAMPLES = 24  # of Df, one for each stretch of the trajectory in one mode
FEW = 4  # parts less in a stretch would not be worth its eigenvalues
DAMPED = 0.5  # of a damped mode, the largest ratio of frequency to decay
SMALLER = 0.6  # a step may at most leave this much of a mode that has decayed below the tolerance
MARGIN = 1.5  # eigenvalues are sampled: by this factor they may be larger elsewhere


class Modes(NamedTuple):
    """The modes of some stretches, in each of which the system stays in one mode, and the steps in these that are too long."""

    eigenvalues: ComplexArray  # of Df, at one row of each stretch
    rows: IntArray  # of the record, to which these steps lead,
    stretch: IntArray  # the stretch of each,
    since: FloatArray  # the time at which what a perturbation excites there begins to decay,
    scale: FloatArray  # and how much faster modes are than those that were sampled


def sampled_modes(
    system: System, record: Record, memory: TangentMemory, rate_at: FloatArray, parts: FloatArray
) -> Modes | None:
    """The modes of the stretches whose steps are divided into the most parts; None if none are known.

    ``rate_at`` has the rate of the fastest mode at each row of the record, ``parts`` the number of parts of the step to it.
    """
    if system.n > SMALL:
        return None
    t = record.t
    # stretches in one mode: what a perturbation excites begins to decay at their starts
    turns = np.unique(np.concatenate([record.events["record"], np.searchsorted(t, record.breaks), [0]]))
    turns = turns[turns < len(t) - 1]
    lengthy = np.flatnonzero(parts > 1.0)
    stretch_of = np.searchsorted(turns, lengthy, side="left") - 1  # of the step to each row
    extra = np.bincount(stretch_of, parts[lengthy] - 1.0, len(turns))
    found = np.sort(np.argsort(-extra, kind="stable")[: min(MOST_SAMPLES, np.count_nonzero(extra >= FEW))])
    if not found.size:
        return None
    # the row in the middle of each (rows of a stretch follow each other)
    samples = lengthy[(np.searchsorted(stretch_of, found) + np.searchsorted(stretch_of, found, side="right")) // 2]
    Df = np.empty((len(samples), system.n, system.n))
    memory.g.b[:] = record.word_start
    with answered(system._bind()):
        failed = _sample(memory.address, samples, Df)
    memory.g.b[:] = record.word_start
    if failed:
        raise_failed(system, memory.s.status, memory)
    if not np.isfinite(Df).all():
        return None
    eigenvalues = np.linalg.eigvals(Df)
    fastest = np.abs(eigenvalues).max(axis=1)
    # (otherwise it is not an eigenvalue that limits the step, but a change of Df)
    right = (rate_at[samples] > 0.0) & (rate_at[samples] <= MARGIN * fastest)
    place = np.full(len(turns), -1)
    place[found[right]] = np.arange(np.count_nonzero(right))
    stretch = place[stretch_of]
    known = stretch >= 0
    if not known.any():
        return None
    rows, stretch, turn = lengthy[known], stretch[known], turns[stretch_of[known]]
    return Modes(eigenvalues[right], rows, stretch, t[turn], rate_at[rows] / fastest[right][stretch])


class Decay(NamedTuple):
    """The rate for which steps must be accurate, at some places of each stretch (a row): it becomes smaller as modes decay. A
    place is a time since the begin of its stretch."""

    places: FloatArray
    rates: FloatArray
    fastest: FloatArray  # mode of each stretch, decayed or not

    @classmethod
    def of(cls, eigenvalues: ComplexArray, longest: FloatArray, rtol: float, order: int) -> Decay:
        """That of formulas of an order, up to the place ``longest`` of each stretch.

        The error of a step may be the tolerance; that of a mode which has decayed by a factor may be larger by this factor, so
        that steps grow like the ``order + 1``-th root of it."""
        sizes, decay = np.abs(eigenvalues), -eigenvalues.real
        fastest = sizes.max(axis=1)
        decay[np.abs(eigenvalues.imag) > DAMPED * np.maximum(decay, 0.0)] = 0.0
        places = longest[:, None] * _PLACES
        left = log(MARGIN) - places[:, :, None] * decay[:, None, :]  # the logarithm of what is left of each mode
        rates = sizes[:, None, :] * np.exp(np.minimum(left, 0.0) / (order + 1))
        rates[left < log(rtol)] = 0.0
        return cls(places, np.minimum(MARGIN * rates.max(axis=2), fastest[:, None]), fastest)


class Grading:
    """How many steps of one formula perturbations need in each stretch, and where: the integral of their density.

    ``accurate`` and ``stable`` are the longest steps that are so, in units of a mode's time.
    """

    def __init__(self, decay: Decay, accurate: float, stable: float) -> None:
        places, rates, fastest = decay
        lengths = places[:, -1]
        # all stretches one after the other, so that one table has them all
        self._begins = np.cumsum(lengths) - lengths
        self._places = (self._begins[:, None] + places).ravel()
        self._accurate = _integrals(rates / accurate, places)
        self._all = _integrals(np.maximum(rates / accurate, fastest[:, None] / stable), places)
        self._stable = fastest / stable

    def parts(self, stretch: IntArray, first: FloatArray, last: FloatArray, worth: float) -> IntArray:
        """The number of steps between each two places; one where it is accurate but for the factor ``worth``."""
        ends = np.array([first, last]) + self._begins[stretch]
        low, high = np.interp(ends, self._places, self._accurate)
        enough = (high - low <= worth) & ((last - first) * self._stable[stretch] <= 1.0)
        low, high = np.interp(ends, self._places, self._all)
        return np.where(enough, 1.0, np.maximum(np.ceil(high - low), 1.0)).astype(np.int64)

    def points(self, stretch: IntArray, first: FloatArray, last: FloatArray, parts: IntArray) -> FloatArray:
        """The places that divide the steps between each two places into so many parts; those of all steps, in order."""
        begins = self._begins[stretch]
        low, high = np.interp(np.array([first, last]) + begins, self._places, self._all)
        step, fraction = inner_fractions(parts)
        return np.interp(low[step] + fraction * (high - low)[step], self._all, self._places) - begins[step]


_PLACES = np.concatenate([[0.0], np.geomspace(1e-4, 1.0, 31)])  # at which the density is known, in a stretch


def _integrals(density: FloatArray, places: FloatArray) -> FloatArray:
    """The integral of the density of each stretch (a row), one after the other."""
    pieces = np.zeros_like(density)
    pieces[:, 1:] = 0.5 * (density[:, 1:] + density[:, :-1]) * (places[:, 1:] - places[:, :-1])
    return np.cumsum(pieces.ravel())


def inner_fractions(parts: IntArray) -> tuple[IntArray, FloatArray]:
    """For steps that are divided into so many equal parts: the step of each inner point, and where it is there, from 0 to 1."""
    inner = parts - 1
    step = np.repeat(np.arange(len(parts)), inner)
    number = np.arange(1, len(step) + 1) - np.repeat(np.cumsum(inner) - inner, inner)
    return step, number / parts[step]


@lru_cache(maxsize=1)
def stable_bounds() -> FloatArray:
    """For each kind of step, its largest length in units of a damped mode's time: it leaves no more than SMALLER of the mode."""
    table = np.full(SPAN + 1, np.inf)
    lengths = np.arange(0.05, 20.0, 0.05)
    directions = np.exp(1j * (np.pi - np.linspace(0.0, np.arctan(DAMPED), 5)))
    for scheme in SCHEMES:
        stages = scheme.stages - 1
        A, b, one = scheme.A[:stages, :stages], scheme.b[:stages], np.ones((1, stages, 1))
        z = (lengths[:, None] * directions).ravel()
        left = np.abs(1.0 + z * (np.linalg.solve(np.eye(stages) - z[:, None, None] * A, one)[..., 0] @ b))
        true = np.exp(z.real)
        wrong = (left > np.maximum(SMALLER, 1.1 * true)).reshape(len(lengths), -1).any(axis=1)
        table[METHODS[scheme.name]] = lengths[np.argmax(wrong)] if wrong.any() else lengths[-1]
    return table
