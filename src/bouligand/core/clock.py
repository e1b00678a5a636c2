"""How long the core has been running: now and then it returns to its caller, so that Python sees to its signals (Ctrl-C)."""

from .compiler.intrinsics import compact, seconds
from .compiler.jit import core

FIRST = 8  # evaluations of f before the clock is looked at at all: short integrations go without
LONG = 0.05  # seconds after which the caller is to look
SHORT = 0.01  # seconds from which on the time of an evaluation is known


@core
def time_to_look(w):
    """Whether the core has been running for long. Sets the count of evaluations, s.clock.look_at, at which to ask again.

    Results do not depend on it: what returns because of it goes on as if it had not.
    """
    compact()
    s, now = w.s, seconds()
    if s.clock.looked == 0.0:
        s.clock.looked, s.clock.looked_at = now, s.counts.f_calls
        s.clock.look_at = s.counts.f_calls + FIRST
        return False
    passed, calls = now - s.clock.looked, s.counts.f_calls - s.clock.looked_at
    if passed > LONG:
        s.clock.looked, s.clock.look_at = 0.0, s.counts.f_calls
        return True
    more = calls * (0.5 * LONG / passed) if passed > SHORT else 3.0 * calls
    s.clock.look_at = s.counts.f_calls + max(int(more), 1)
    return False
