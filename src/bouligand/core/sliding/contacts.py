"""Contacts on which the trajectory may rest: has one a rate?"""

import math

from .. import codes
from ..compiler.intrinsics import address, call, compact
from ..compiler.jit import core
from ..evaluate import failed, nudge
from ..resolution import round_off, shaken_h
from .field import NOT_AFFINE_STATUS, TURNS_STATUS

SHORT = 1e-12  # of the time: flights that are shorter than that are not resolved


@core
def rates_of_contacts(w):
    """hdot of open contacts on which the trajectory may rest, without the error of differences; and what of it is none: within
    the tolerances, or too little to leave the residual of the landing, or for a time that has digits. True: a function failed."""
    compact()
    s, v, g, fn = w.s, w.v, w.g, w.fn
    if fn.contact_rates == 0:
        return False
    t = min(s.now.t, s.run.cap)
    nudge(w, v.x, v.x, v.x_trial)
    bad = call(fn.contact_rates, t, (address(v.x), address(g.b), address(w.p), address(g.slow)), fn.context)
    bad = bad or call(
        fn.contact_rates, t, (address(v.x_trial), address(g.b), address(w.p), address(g.h_trial)), fn.context
    )
    if bad != 0:
        return failed(w, codes.F_FAILED, t, v.x)
    for k in range(g.width):
        if g.rest[k] != 0.0 and g.b[k] != 0.0:
            g.hdot[k] = g.slow[k]
            g.slow[k] = abs(g.h_trial[k] - g.hdot[k])
    if shaken_h(w, t):
        return True
    for k in range(g.width):
        g.unsure[k] = max(abs(g.h[k]), round_off(g, k))
    bad = call(fn.multipliers, t, (address(v.x), address(g.b), address(w.p), address(g.h_trial)), fn.context)
    if bad != 0 and not NOT_AFFINE_STATUS <= bad <= TURNS_STATUS:  # (what is found then is enough)
        return failed(w, codes.F_FAILED, t, v.x)
    for k in range(g.width):
        if g.rest[k] != 0.0 and g.b[k] != 0.0:  # (h_trial is how fast hdot changes)
            change = abs(g.h_trial[k])
            g.slow[k] = max(g.slow[k], math.sqrt(6.0 * change * g.unsure[k]), SHORT * abs(t) * change)
    return False


@core
def caught(w, left):
    """Mark the open contacts that the state is on without a rate (g.still), but not ``left``, which it has just left.

    Returns how many they are, -1 if a function failed.
    """
    compact()
    g = w.g
    if w.fn.contact_rates == 0:
        return 0
    if rates_of_contacts(w):
        return -1
    found = 0
    for k in range(g.width):
        if g.rest[k] != 0.0 and g.b[k] > 0.0 and g.held[k] != 0.0 and k != left and abs(g.hdot[k]) <= g.slow[k]:
            g.still[k] = 1.0
            found += 1
    return found
