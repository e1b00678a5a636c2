"""Fast modes that are damped: how much of their rate limits the steps of perturbations.

A perturbation excites all modes where it begins: at the start, and at each crossing. A damped one decays from there, and once it
is smaller than the tolerance its steps need not be accurate, only stable: what the slow modes then make of it is right anyhow
(over a decay at the rate a, the sum of its steps is 1/a exactly, whatever their length). Until then steps may grow as it decays.
So while stiff contacts hold, they may be as long as those of the trajectory itself. Modes that swing, or grow, always need
accurate steps.
"""

from __future__ import annotations

from functools import lru_cache
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

_sample = Kernel("tangents.sampled_jacobians", "sample_Df", "what derivatives need", quickly=True, direct=True)
_grade_steps = Kernel("tangents.graded_steps", "grade_steps", "what derivatives need", quickly=True, direct=True)

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


def graded(
    modes: Modes, ends: FloatArray, kinds: IntArray, rtol: float, order: int, table: FloatArray, worth: float, most: int
) -> tuple[IntArray, FloatArray]:
    """The number of steps that perturbations need between each two places (rows of ``ends``: first and last), and the places that
    divide them, those of all steps in order; none if there are more than ``most``. See `core.tangents.graded_steps`.

    Changes ``kinds``, where explicit steps do better than stiff ones."""
    eigenvalues, stretch = modes.eigenvalues, modes.stretch
    sizes, decay = np.abs(eigenvalues), -eigenvalues.real
    decay[np.abs(eigenvalues.imag) > DAMPED * np.maximum(decay, 0.0)] = 0.0
    longest = np.zeros(len(sizes))
    np.maximum.at(longest, stretch, ends[1])
    places = longest[:, None] * _PLACES
    rates, parts = np.empty((len(sizes), len(_PLACES) + 1)), np.empty(len(stretch), dtype=np.int64)
    limits = (order, MARGIN, rtol, table, stable_bounds(), worth)
    times = np.empty(4 * len(stretch) + 64)
    count = _grade_steps(sizes, decay, places, *limits, ends, stretch, kinds, rates, parts, times)
    if len(times) < count <= most:
        times = np.empty(count)
        _grade_steps(sizes, decay, places, *limits, ends, stretch, kinds, rates, parts, times)
    return parts, times[: count if count <= most else 0]


_PLACES = np.concatenate([[0.0], np.geomspace(1e-4, 1.0, 31)])  # at which the density is known, in a stretch


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
