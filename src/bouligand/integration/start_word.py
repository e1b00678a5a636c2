"""The word (mode) at the start if a guard is exactly zero there.

A word is consistent if the flow in that mode moves every such guard, within a short time, to the side that the word has
for it; or does not move it, where f is the same on both sides (a joint that rests on its limit: the force of its stop
begins at zero). One consistent word, or several under which f is the same: the first is used. None: the trajectory
would slide from the start on. Several others: the start is ambiguous, and the user has to give ``b0``. Of contacts on
which the trajectory may rest (`System(rest=)`) and that have no rate, the core finds out which are left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from ..core import codes
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
    at_rest = [int(k) for k in open_guards if system.rests[k]]
    if at_rest:
        word[at_rest] = 1.0  # (open: one that is approached has its event at once)
        open_guards = np.setdiff1d(open_guards, at_rest)
        still = _without_rate(stepper, word, scale, at_rest)
        g.still[still] = 1.0
        if still:  # the core finds out which of them are left
            s.question, s.target = codes.SLIDE, still[0]
    g.b[:] = word = consistent_word(system, t, x, p, word, open_guards, scale) if open_guards.size else word
    on_observers = np.flatnonzero((g.held != 0.0) & (g.observer != 0.0))
    if on_observers.size:  # on the side to which they move, as where no guard is zero
        later = x + scale * f(t, x, word, p)
        h = system.function("h")(t + scale, later, p)[on_observers]
        g.b[on_observers] = np.where(h > 0.0, 1.0, -1.0)
    s.word_given = 1


def _without_rate(stepper: Stepper, word: FloatArray, scale: float, guards: list[int]) -> list[int]:
    """Those of these guards whose rates are zero within the tolerances."""
    system, t, x, p = stepper.system, stepper.t, stepper.x, stepper._p
    f, h, memory = system.function("f"), system.function("h"), stepper._memory

    def rates(y: FloatArray) -> FloatArray:
        slope = f(t, y, word, p)
        near, far = ((h(t + s, y + s * slope, p) - h(t - s, y - s * slope, p))[guards] for s in (scale, 2.0 * scale))
        out: FloatArray = (8.0 * near - far) / (12.0 * scale)
        return out

    off = (memory.v.atol + memory.s.rtol * np.abs(x)) * np.where(np.arange(x.size) % 3, -0.7, 1.0)
    here = rates(x)
    unsure = np.abs(rates(x + off) - here)
    return [k for k, rate, most in zip(guards, here, unsure, strict=True) if abs(rate) <= most]


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

    def same(one: FloatArray, other: FloatArray) -> bool:
        """Whether f is the same under two words, to round-off."""
        a, b = f(t, x, one, p), f(t, x, other, p)
        return bool((np.abs(a - b) <= 1e-12 * max(np.abs(a).max(), np.abs(b).max(), 1e-300)).all())

    def consistent(candidate: FloatArray, signs: FloatArray) -> bool:
        later = sides(candidate)
        rests = np.flatnonzero(later == 0.0)
        return bool(((later == signs) | (later == 0.0)).all()) and all(
            same(candidate, _completed(candidate, open_guards[[q]], -signs[[q]])) for q in rests
        )

    found = []
    for signs in _candidates(len(open_guards), lambda s: sides(_completed(word, open_guards, s))):
        candidate = _completed(word, open_guards, signs)
        if consistent(candidate, signs):
            found.append(candidate)
    if found and all(same(found[0], other) for other in found[1:]):
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
