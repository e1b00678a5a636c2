"""A derivative that starts in a sliding mode: what is perturbed off the guards returns to them at once.

On either side of a guard the flow leads back to it, along a difference of the same fields: to first order the perturbed state is
projected onto the guards along the g_k (see `core.sliding.field`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .trajectory_corners import rows_of_guards

if TYPE_CHECKING:
    from .._typing import FloatArray
    from .walk import Walk


def sliding_start(walk: Walk) -> SlidingStart | None:
    """What happens to perturbations at the start of a walk, if that is in a sliding mode."""
    if not walk.system.sliding:
        return None
    word = walk.stretch.starting_word
    return SlidingStart(walk, word) if (word == 0.0).any() else None


class SlidingStart:
    """The projection of perturbations (state, then parameters) at the start of a walk: ``z - G (Dh G)^-1 (Dh, Dp_h) z``."""

    def __init__(self, walk: Walk, starting: FloatArray) -> None:
        stretch, system = walk.stretch, walk.system
        t, x, p = float(stretch.t[0]), stretch.states[0], stretch.leg_p[stretch.leg]
        guards = [int(k) for k in np.flatnonzero(starting == 0.0)]
        self._rows, _ = rows_of_guards(walk, t, x, guards)
        f, fields = system.function("f"), []
        for k in guards:
            sides = []
            for sign in (1.0, -1.0):
                word = np.where(starting == 0.0, 1.0, starting)
                word[k] = sign
                sides.append(f(t, x, word, p))
            fields.append(0.5 * (sides[0] - sides[1]))
        self._G = np.array(fields).T
        self._n = system.n
        self._solved = np.linalg.solve(self._rows[:, : self._n] @ self._G, self._rows)

    def push(self, D: FloatArray) -> None:
        """Project tangents (rows of D, changed in place)."""
        D[:, : self._n] -= (D @ self._solved.T) @ self._G.T
