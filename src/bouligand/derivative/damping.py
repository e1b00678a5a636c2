"""Fast modes that are damped: how much of their rate limits the steps of perturbations.

A perturbation excites all modes where it begins: at the start, and at each crossing. A damped one decays from there, and once it
is smaller than the tolerance its steps need not be accurate, only stable: what the slow modes then make of it is right anyhow
(over a decay at the rate a, the sum of its steps is 1/a exactly, whatever their length). So while stiff contacts hold, steps may
be as long as those of the trajectory itself. Modes that swing, or grow, always need accurate steps.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..core.entries import Kernel
from ..core.schemes import METHODS, SCHEMES
from ..core.state import SMALL, SPAN
from ..system.interrupts import answered
from .failures import raise_failed

if TYPE_CHECKING:
    from .._typing import FloatArray, IntArray
    from ..memory.extras import TangentMemory
    from ..solution.record import Record
    from ..system.system import System

_sample = Kernel("tangents.sampled_jacobians", "sample_Df", "what derivatives need", quickly=True)

MOST_SAMPLES = 32  # of Df, one for each stretch of the trajectory in one mode
DAMPED = 0.5  # of a damped mode, the largest ratio of frequency to decay
SMALLER = 0.6  # a step may at most leave this much of a mode that has decayed below the tolerance
MARGIN = 1.5  # eigenvalues are sampled: by this factor they may be larger elsewhere


def rates_that_count(
    system: System, record: Record, memory: TangentMemory, rtol: float, rate_at: FloatArray, lengthy: IntArray
) -> FloatArray:
    """For each row of the record, the rate for which the step to it must be accurate: of modes that swing, and of damped ones
    that have not decayed yet.

    ``rate_at`` has the rate of the fastest mode, ``lengthy`` the rows whose steps are too long for it.
    """
    counts = rate_at.copy()
    if system.n > SMALL:
        return counts
    t = record.t
    # stretches in one mode: what a perturbation excites begins to decay at their starts
    turns = np.unique(np.concatenate([record.events["record"], np.searchsorted(t, record.breaks), [0]]))
    turns = turns[turns < len(t) - 1]
    stretch_of = np.searchsorted(turns, np.arange(len(t)), side="left") - 1  # of the step to each row
    found, extra = np.unique(stretch_of[lengthy], return_counts=True)
    found = np.sort(found[np.argsort(-extra)[:MOST_SAMPLES]])
    samples = np.array([_middle(lengthy[stretch_of[lengthy] == k]) for k in found], dtype=np.int64)
    Df = np.empty((len(samples), system.n, system.n))
    memory.g.b[:] = record.word_start
    with answered(system._bind()):
        failed = _sample(memory.address, samples, Df)
    memory.g.b[:] = record.word_start
    if failed:
        raise_failed(system, memory.s.status, memory)
    if not np.isfinite(Df).all():
        return counts
    for k, row, eigenvalues in zip(found, samples, np.linalg.eigvals(Df), strict=True):
        sizes, fastest = np.abs(eigenvalues), np.abs(eigenvalues).max()
        if not fastest > 0.0 or rate_at[row] > MARGIN * fastest:
            continue  # (it is not an eigenvalue that limits the step, but a change of Df)
        decay = -eigenvalues.real
        damped = (decay > 0.0) & (np.abs(eigenvalues.imag) <= DAMPED * decay)
        steps = np.flatnonzero(stretch_of == k)
        since = t[steps - 1] - t[turns[k]]
        scale = rate_at[steps] / fastest  # elsewhere they are faster or slower
        alive = ~damped | (decay * since[:, None] * scale[:, None] < np.log(MARGIN / rtol))
        slower = MARGIN * scale * np.where(alive, sizes, 0.0).max(axis=1)
        counts[steps] = np.minimum(rate_at[steps], slower)
    return counts


def _middle(rows: IntArray) -> int:
    return int(rows[len(rows) // 2])


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
