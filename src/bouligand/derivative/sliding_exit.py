"""Where sliding or rest ends by itself: by how much later a perturbed trajectory leaves the guard.

Sliding on guard k ends where its multiplier u_k is -1 or +1, rest where it is 0 (see `core.sliding.field`). Along the mode
before, u is a smooth function of time, state and parameters, so that

    tau = -(Du dx + Dp_u dp) / (Du f + D_t u).

f has no jump there: perturbations at a fixed time pass unchanged, those of the state at the event itself gain ``f tau``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..core.state import SHOWN
from ..errors import DerivativeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._typing import FloatArray, IntArray, RecordArray
    from ..solution.solution import Solution

STEP = 3e-4  # of differences of fourth order, relative to what is varied
LEAST = 0.03  # of the largest component: a smaller one is varied as if it were so large
NEAR = 30.0  # tolerances of time within which several guards are left together


class Exit(NamedTuple):
    """The end of sliding, or of rest, on a guard: ``row`` maps perturbations (state, then parameters) to the delay."""

    t: float
    row: FloatArray
    f: FloatArray


def exits_among(solution: Solution, events: RecordArray) -> IntArray:
    """Rows of a table of events at which sliding or rest ends by itself, not at a breakpoint, nor at the start."""
    record = solution.record
    changes = [record.t[row] for row, _ in record.legs or ()]
    at_rest = (events["jumped"] == 1) & (events["shown"] == SHOWN) & (events["t"] > record.t[0])
    return np.flatnonzero(at_rest & ~np.isin(events["t"], [*record.breaks, *changes]))


def exit_at(solution: Solution, guard: int, t: float, width: int) -> Exit:
    """The exit from a guard at the time t, for perturbations of so many components.

    Guards that are left because another is (the mode changes as a whole) are left at its time.
    """
    system, record = solution.system, solution.record
    word = record.words(np.array([t]), "left")[0].astype(float)
    x, p = record.states[int(np.searchsorted(record.t, t))], record.parameters_at(t, "left")
    bound = system._bind()
    f = bound.field(t, x, word, p)
    kept = np.flatnonzero(word == 0.0)
    rows = gradients(lambda s, y, q: bound.multipliers(s, y, word, q)[kept], t, x, p, width)
    rates = rows[: system.n].T @ f + rows[-1]
    u = bound.multipliers(t, x, word, p)[kept]
    left = np.where(system.rests[kept], np.abs(u), np.abs(1.0 - np.abs(u)))  # until the multiplier is at its limit
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = left / np.abs(rates)
    first = int(np.nanargmin(apart))
    near = NEAR * solution._tolerances[0] * max(t - record.t[0], 1e-300) + 1e-14 * abs(t)
    mine = [q for q, k in enumerate(kept) if k == guard and apart[q] <= apart[first] + near]
    q = mine[0] if mine else first
    if not np.isfinite(rates[q]) or rates[q] == 0.0:
        raise DerivativeError(
            f"guard {system.guards[guard]!r} is left at t = {t:.10g}, where its multiplier has no rate: the time of that has no "
            "derivative"
        )
    return Exit(t, -rows[:width, q] / rates[q], f)


def gradients(
    u: Callable[[float, FloatArray, FloatArray], FloatArray], t: float, x: FloatArray, p: FloatArray, width: int
) -> FloatArray:
    """Derivatives of such functions: a row for each component of the state, then of the parameters (up to ``width``); the last
    one is that in time."""
    out = []
    for i in range(width + 1):
        of, place = (x, i) if i < x.size else (p, i - x.size)
        if i == width:
            size = max(abs(t), 1.0) / 10.0
        else:
            size = max(abs(of[place]), LEAST * np.abs(of).max(initial=1e-3))
        values = []
        for step in (STEP * size, -STEP * size, 2.0 * STEP * size, -2.0 * STEP * size):
            s, y, q = t, x.copy(), p.copy()
            if i == width:
                s += step
            else:
                (y if i < x.size else q)[place] += step
            values.append(u(s, y, q))
        out.append((8.0 * (values[0] - values[1]) - (values[2] - values[3])) / (12.0 * STEP * size))
    return np.array(out)
