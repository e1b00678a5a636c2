"""The word (mode) at the start if a guard is exactly zero there.

A word is consistent if the flow in that mode moves every such guard, within a short time, to the side that the word has for it.
One consistent word: it is used. None: the trajectory would slide from the start on. Several: the start is ambiguous, and the user
has to give ``b0``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from ..errors import StartError

if TYPE_CHECKING:
    from .._typing import FloatArray, IntArray
    from ..system.system import System
    from .stepper import Stepper

MOST_OPEN = 10  # number of open guards up to which all 2^k words are tried


def find_word(stepper: Stepper) -> None:
    """Decide the word at the start of an integration, where a guard is zero, and write it to the workspace."""
    system, t, x, p = stepper.system, stepper.t, stepper.x, stepper._p
    s, g = stepper._memory.s, stepper._memory.g
    f, word, span = system.function("f"), g.b.copy(), s.tf - s.t0
    speed = np.abs(f(t, x, word, p)).max()
    scale = 1e-4 * max(np.abs(x).max(), 1e-3) / max(speed, 1e-9)
    scale = min(scale, 1e-4 * span) if span > 0.0 else scale
    open_guards = np.flatnonzero((g.held != 0.0) & (g.observer == 0.0))
    g.b[:] = word = consistent_word(system, t, x, p, word, open_guards, scale)
    on_observers = np.flatnonzero((g.held != 0.0) & (g.observer != 0.0))
    if on_observers.size:  # on the side to which they move, as where no guard is zero
        later = x + scale * f(t, x, word, p)
        h = system.function("h")(t + scale, later, p)[on_observers]
        g.b[on_observers] = np.where(h > 0.0, 1.0, -1.0)
    s.word_given = 1


def consistent_word(
    system: System, t: float, x: FloatArray, p: FloatArray, word: FloatArray, open_guards: IntArray, scale: float
) -> FloatArray:
    """Complete ``word`` on the open guards, those that are zero at the start. ``scale`` is a short time of the problem."""
    f, h = system.function("f"), system.function("h")
    names = ", ".join(repr(system.guards[k]) for k in open_guards[:5]) + (" ..." if len(open_guards) > 5 else "")

    def sides(candidate: FloatArray) -> FloatArray:
        """The signs of the open guards after the time ``scale`` in this mode; 0 where rounding errors hide the sign."""
        rate = f(t, x, candidate, p)
        bend = (f(t + scale, x + scale * rate, candidate, p) - rate) / scale
        later = x + scale * rate + 0.5 * scale**2 * bend
        change = h(t + scale, later, p)[open_guards] - h(t, x, p)[open_guards]
        sure = np.abs(h(t + scale, x + scale * (np.abs(rate) + scale * np.abs(bend)), p)[open_guards]) * 1e-9
        return np.where(np.abs(change) > np.maximum(sure, 1e-300), np.sign(change), 0.0)

    found = []
    for signs in _candidates(len(open_guards), lambda s: sides(_completed(word, open_guards, s))):
        candidate = _completed(word, open_guards, signs)
        if np.array_equal(sides(candidate), signs):
            found.append(candidate)
    if len(found) == 1:
        return found[0]
    several = len(open_guards) > 1
    where = f"at the start, t = {t:g}, guard{'s' if several else ''} {names} {'are' if several else 'is'} zero"
    if not found:
        raise StartError(
            f"{where}, and no word is consistent: under each, the flow leads back to the guard (sliding), or along it. "
            "Start beside the guard, or give b0.",
            t=t,
            x=x,
            guard=system.guards[open_guards[0]],
        )
    raise StartError(
        f"{where}, and {len(found)} words are consistent: the start is ambiguous. Give b0, a sign for each guard.",
        t=t,
        x=x,
        guard=system.guards[open_guards[0]],
    )


def _completed(word: FloatArray, open_guards: IntArray, signs: FloatArray) -> FloatArray:
    """The word with these signs for the open guards."""
    out = word.copy()
    out[open_guards] = signs
    return out


def _candidates(count: int, sides: Callable[[FloatArray], FloatArray]) -> Iterator[FloatArray]:
    """All sign vectors of a few guards; of many, the fixed points of ``sides`` that iterations from all -1 and all +1 reach."""
    if count <= MOST_OPEN:
        yield from (np.array(s) for s in product((-1.0, 1.0), repeat=count))
        return
    seen: set[tuple[float, ...]] = set()
    for start in (-1.0, 1.0):
        signs = np.full(count, start)
        for _ in range(50):
            following = sides(signs)
            following = np.where(following == 0.0, signs, following)
            if np.array_equal(following, signs):
                break
            signs = following
        if tuple(signs) not in seen:
            seen.add(tuple(signs))
            yield signs
