"""The word at the start, where a guard is exactly zero there.

Such a guard is on the side to which the flow takes it: a word is consistent if, a moment later under that word, every
guard that was zero has the sign that the word says. One consistent word: that is it. None: the start would slide.
Several: the start is ambiguous, and only the user can tell.
"""

from itertools import product

import numpy as np

from ..errors import StartError

MOST_OPEN = 10  # guards whose 2^k words are all tried; beyond that only those that agree with themselves


def consistent_word(system, t, x, p, word, open_guards, scale):
    """Complete ``word`` on the guards that are zero at the start. ``scale`` is a short time of the problem."""
    f, h = system.function("f"), system.function("h")
    names = ", ".join(repr(system.guards[k]) for k in open_guards[:5]) + (" ..." if len(open_guards) > 5 else "")

    def sides(candidate):
        """The signs that the open guards take on a moment later, 0 where that cannot be told."""
        rate = f(t, x, candidate, p)
        bend = (f(t + scale, x + scale * rate, candidate, p) - rate) / scale
        later = x + scale * rate + 0.5 * scale**2 * bend
        change = h(t + scale, later, p)[open_guards] - h(t, x, p)[open_guards]
        sure = np.abs(h(t + scale, x + scale * (np.abs(rate) + scale * np.abs(bend)), p)[open_guards]) * 1e-9
        return np.where(np.abs(change) > np.maximum(sure, 1e-300), np.sign(change), 0.0)

    found = []
    for signs in _candidates(len(open_guards), lambda s: sides(_with(word, open_guards, s))):
        candidate = _with(word, open_guards, signs)
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


def _with(word, open_guards, signs):
    out = word.copy()
    out[open_guards] = signs
    return out


def _candidates(count, sides):
    """All sign vectors of a few guards; of many, those that following the flow from all -1 and all +1 leads to."""
    if count <= MOST_OPEN:
        yield from (np.array(s) for s in product((-1.0, 1.0), repeat=count))
        return
    seen = set()
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
