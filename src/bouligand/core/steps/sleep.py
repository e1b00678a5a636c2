"""Guards that matter in some modes only (`System(active_while=)`): the slip of a foot, while the foot touches.

(Or while a contact rests, on whose force its friction depends.) In other modes such a guard is asleep: it is not watched, and its
sign is +1. Where a crossing, or the beginning of rest, makes it matter, its sign is that of h; if the state is on it,
`sliding.modes` finds out whether the trajectory stays there.
"""

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import eval_h, nudge
from ..guards import hold
from ..resolution import round_off, shaken_h

RESOLVED = 0.01  # of the tolerance: a guard that is nearer than that is one that the state is on


@core
def matters(g, k):
    """Whether guard k matters in the present mode."""
    compact()
    return closed(g, int(g.needs[k]) - 1) and closed(g, int(g.needs_too[k]) - 1)


@core
def closed(g, k):
    """Whether guard k lets others matter: on its + side; a contact on which the trajectory may rest, while it does."""
    return k < 0 or (g.b[k] >= 0.0 if g.rest[k] == 0.0 else g.b[k] == 0.0)


@core
def sleep_at_start(w):
    """Put guards to sleep that do not matter at the start. Returns whether some guard that matters is zero there, so that its
    side is to be found."""
    compact()
    g, some = w.g, False
    for k in range(g.width):
        was, g.woken[k] = g.asleep[k], 0.0
        g.asleep[k] = 0.0 if matters(g, k) else 1.0
        if g.asleep[k] != 0.0:
            g.b[k], g.held[k] = 1.0, 0.0
        elif was != 0.0 and g.held[k] == 0.0:  # (a side that was found at the start makes it matter)
            g.b[k] = 1.0 if g.h[k] > 0.0 else -1.0
        some = some or (g.held[k] != 0.0 and g.observer[k] == 0.0)
    return some


@core
def wake(w):
    """Put guards to sleep, or wake them, after a change of the mode; g.b_before is the mode before. True if h failed."""
    compact()
    s, v, g = w.s, w.v, w.g
    some = False
    for k in range(g.width):
        g.woken[k] = 0.0
        if g.asleep[k] == 0.0 and not matters(g, k):
            g.asleep[k], g.woken[k], g.b[k], g.watched[k], g.held[k] = 1.0, -1.0, 1.0, 0.0, 0.0
            g.still[k] = 0.0
        elif g.asleep[k] != 0.0 and matters(g, k):
            g.asleep[k], g.woken[k] = 0.0, 1.0
            some = True
    if not some:
        return False
    if eval_h(w, s.now.t, v.x, g.h):
        return True
    nudge(w, v.x, v.x, v.x_trial)
    if eval_h(w, s.now.t, v.x_trial, g.h_trial):
        return True
    for k in range(g.width):
        g.unsure[k] = RESOLVED * abs(g.h_trial[k] - g.h[k])
    if shaken_h(w, s.now.t):
        return True
    for k in range(g.width):
        if g.woken[k] > 0.0:
            on = abs(g.h[k]) <= max(g.unsure[k], round_off(g, k))
            g.b[k] = 0.0 if on else 1.0 if g.h[k] > 0.0 else -1.0  # (0: it slides on it, if it can)
            g.watched[k] = g.b[k]
            g.held[k] = 0.0
            g.t_last[k] = -1e300
            if on:
                hold(w, k)
    return False
