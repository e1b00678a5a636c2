"""A derivative that starts where the trajectory stays on guards: what is perturbed off them returns to them at once.

On either side of a guard that is slid on, the flow leads back to it, along a difference of the same fields; a body that is put a
little above a contact, or with a small rate, comes back to rest there. To first order the perturbed state is moved onto the
guards, as the core does after each step (see `core.sliding.field`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .._typing import FloatArray
    from ..system.system import System
    from .walk import Walk

STEP = 1e-5  # of central differences, relative to the state or the parameters


def sliding_start(walk: Walk) -> SlidingStart | None:
    """What happens to perturbations at the start of a walk, if the trajectory stays on guards there."""
    if not walk.system._stays:
        return None
    word = walk.stretch.starting_word
    return SlidingStart(walk, word) if (word == 0.0).any() else None


def onto_guards(system: System, t: float, x: FloatArray, word: FloatArray, p: FloatArray, width: int) -> FloatArray:
    """How the move onto the guards that the trajectory stays on (b = 0) changes perturbations: rows are images of those of each
    state, then (up to ``width``) of each parameter."""
    bound, n = system._bind(), system.n
    out = np.zeros((width, n))
    # (differences of a move that is nearly linear, by steps that are not small beside what is moved)
    for i in range(width):
        size = np.abs(x).max(initial=1e-3) if i < n else max(abs(p[i - n]), 1e-3)
        sides = []
        for step in (STEP * size, -STEP * size):
            y, q = x.copy(), p.copy()
            (y if i < n else q)[i if i < n else i - n] += step
            sides.append(bound.onto_guards(t, y, word, q))
        out[i] = (sides[0] - sides[1]) / (2.0 * STEP * size)
    return out


class SlidingStart:
    """The move of perturbations (state, then parameters) onto the guards at the start of a walk."""

    def __init__(self, walk: Walk, word: FloatArray) -> None:
        stretch = walk.stretch
        p = stretch.leg_p[stretch.leg]
        self._D = onto_guards(walk.system, float(stretch.t[0]), stretch.states[0], word, p, walk.width)

    def push(self, D: FloatArray) -> None:
        """Move tangents (rows of D, changed in place)."""
        D[:, : self._D.shape[1]] = D @ self._D
