"""Behind a jump: the side of each guard on which the state is, and which guards fire because of it.

Where h is not zero, its sign says the side. A guard that has just fired is then on one side or the other, and does not fire
again; another that has changed sides fires. Where the state is on a guard, the flow behind the jump says the side: a guard that
has fired is left to the side that it came from, if the flow leads there (a bounce), else to the other; one that has not fired
is crossed if the flow leads there. A contact on which the state may rest, and that has no rate, is left to `sliding.modes`.
"""

from .. import codes
from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import blame, eval_f, eval_h
from ..guards import hold, hold_none, rates
from ..resolution import near_zero, shaken_h
from ..restart import after_jump, know_rates
from ..sliding.contacts import rates_of_contacts
from ..state import FIRED, FIRES_NEXT, SHOWN, SWITCH, WAITS
from ..steps.crossing import flip, note_crossing, uncount

INELASTIC = 1e-9  # rate behind a jump over that before it, below which the guard is not left
SHRUNK = 4  # intervals with a steady ratio from which on jumps accumulate
NEGLIGIBLE = 1.0  # tolerances


@core
def settle_sides(w, change, together):
    """Find the word behind a jump that has changed the state by so many tolerances, x' there, and the guards that fire next.

    ``together``: one function has treated several guards at once; those that are still approached fire again. Returns a code.
    """
    compact()
    s, v, g = w.s, w.v, w.g
    for k in range(g.width):
        g.h_middle[k] = g.h[k]  # (before the jump)
    if eval_h(w, s.now.t, v.x, g.h) or shaken_h(w, s.now.t):
        return s.run.status
    hold_none(s)
    total, through = 0.0, -1
    for k in range(g.width):
        total += g.h[k]
        was_on = g.held[k] != 0.0
        g.held[k] = 0.0
        g.settled[k] = -1e300
        # (h was evaluated at a time that may differ in its last digits)
        left = 3.0 * abs(g.h_middle[k]) + 1e-15 * abs(s.now.t * g.hdot_end[k]) if was_on else 0.0
        if near_zero(g, k) or abs(g.h[k]) <= left:
            hold(w, k)
        else:
            if g.rest[k] != 0.0 and g.fired[k] == FIRED and g.b[k] > 0.0 and g.h[k] < 0.0:
                through = k
            off_guard(w, k)
    if total - total != 0.0:
        return codes.JUMP_NOT_FINITE
    if through >= 0:
        blame(s, through)
        return codes.JUMPS_THROUGH
    after_jump(w, 0)
    code = by_flow(w, change, together)
    s.jump.on = 0
    for k in range(g.width):
        if g.fired[k] == FIRES_NEXT:
            s.jump.on = 1
        g.fired[k] = max(g.fired[k] - 1.0, 0.0)
    return code


@core
def off_guard(w, k):
    """The side of guard k, on which the state is not, behind a jump."""
    compact()
    s, g = w.s, w.g
    side = 1.0 if g.h[k] > 0.0 else -1.0
    if g.left[k] != 0.0:
        depart(w, k, side)
    elif g.fired[k] == FIRED:
        land_on(w, k, side)
    elif g.fired[k] == WAITS:
        wait_or_leave(w, k, side != g.b[k])
        g.held[k] = 0.0
    elif side != g.b[k] and (g.watched[k] != 0.0 or g.observer[k] != 0.0):
        if g.jump[k] != 0.0 and (g.direction[k] == 0.0 or g.direction[k] == side):
            fire_next(w, k)
        else:
            flip(w, k, False)
            if g.observer[k] != 0.0:
                g.watched[k] = 0.0
        g.held[k] = 0.0  # (its h is how far it was carried, no rounding error of being on the guard)
        w.events[s.rows.events - 1].jumped = 1


@core
def depart(w, k, side):
    """The trajectory stayed on guard k before the jumps of this instant, and is on this side behind them."""
    g = w.g
    g.b[k], g.watched[k], g.left[k], g.still[k] = side, side, 0.0, 0.0
    note_crossing(w, k, side, True)


@core(inline=True)
def land_on(w, k, side):
    """Guard k, which has fired, is on this side behind its jump. (The row of its event says the other side.)"""
    g = w.g
    if side == g.b[k]:
        note_crossing(w, k, side, False)
    g.b[k] = side
    g.watched[k] = side


@core(inline=True)
def fire_next(w, k):
    """Guard k fires in the next generation."""
    g = w.g
    note_crossing(w, k, -g.b[k], True)
    g.fired[k] = FIRES_NEXT
    g.watched[k] = 0.0
    g.t_last[k] = w.s.now.t
    hold(w, k)


@core
def wait_or_leave(w, k, still):
    """Guard k has fired, and its jump is to be applied behind that of another: does it ``still`` fire behind that?"""
    compact()
    s, g, events = w.s, w.g, w.events
    if still:
        g.fired[k] = FIRES_NEXT
        hold(w, k)
        return
    for row in range(s.rows.events - 1, -1, -1):
        if events[row].guard == k and events[row].shown == SHOWN:
            events[row].shown = SWITCH
            break
    uncount(w, k)
    g.fired[k] = 0.0
    land_on(w, k, g.b[k])


@core
def by_flow(w, change, together):
    """The sides of the guards on which the state is. Returns a code; v.f is then x' behind the jump."""
    compact()
    s, v, g = w.s, w.v, w.g
    if eval_f(w, s.now.t, v.x, v.f) or rates(w, False, 0.0) or rates_of_contacts(w):
        return s.run.status
    passes = False
    for k in range(g.width):
        if g.held[k] != 0.0 and g.fired[k] == FIRED:
            away = g.b[k] * g.hdot[k]
            if g.rest[k] != 0.0 and g.b[k] > 0.0 and abs(away) <= max(g.slow[k], INELASTIC * abs(g.hdot_end[k])):
                land_on(w, k, 1.0)
                g.still[k] = 1.0
            elif at_rest(g, k, change) and not away < -INELASTIC * abs(g.hdot_end[k]):
                blame(s, k)
                return codes.ZENO
            elif away > 0.0:
                land_on(w, k, g.b[k])
            elif g.rest[k] != 0.0 and g.b[k] > 0.0 and not together:
                blame(s, k)
                return codes.JUMPS_THROUGH
            elif together:
                land_on(w, k, g.b[k])
                fire_next(w, k)
            else:
                g.b[k] = -g.b[k]
                g.watched[k] = g.b[k]
                passes = True
    if passes and (eval_f(w, s.now.t, v.x, v.f) or rates(w, False, 0.0) or rates_of_contacts(w)):
        return s.run.status
    for k in range(g.width):
        if g.held[k] == 0.0 or g.observer[k] != 0.0 or g.fired[k] == FIRES_NEXT:
            continue
        if g.fired[k] == FIRED:
            if g.b[k] * g.hdot[k] < 0.0 and g.still[k] == 0.0:
                blame(s, k)
                return codes.JUMPS_BACK
        elif g.left[k] != 0.0 or (g.rest[k] != 0.0 and g.b[k] > 0.0):
            still_there(w, k)
        elif g.fired[k] == WAITS:
            wait_or_leave(w, k, g.b[k] * g.hdot[k] < 0.0)
        elif g.watched[k] * g.hdot[k] < 0.0:
            if g.jump[k] != 0.0 and (g.direction[k] == 0.0 or g.direction[k] == -g.b[k]):
                fire_next(w, k)
            else:
                g.held[k] = 0.0  # an ordinary crossing, next
    know_rates(s)
    return codes.GO_ON


@core
def still_there(w, k):
    """The state is on guard k, on which the trajectory has stayed or may rest, behind a jump of another guard."""
    compact()
    g = w.g
    if g.jump[k] == 0.0:
        return  # (whether it slides on is found out when all has jumped)
    if g.hdot[k] < -g.slow[k]:
        g.still[k], g.left[k] = 0.0, 0.0
        fire_next(w, k)
    elif g.hdot[k] > g.slow[k]:
        if g.left[k] != 0.0:
            depart(w, k, 1.0)
        g.still[k] = 0.0
    else:
        g.still[k] = 1.0


@core(inline=True)
def at_rest(g, k, change):
    """Whether guard k, on which the state is behind its jump, is not left again: an inelastic jump, or jumps that accumulate and
    have become smaller than the tolerance."""
    inelastic = abs(g.hdot[k]) <= INELASTIC * abs(g.hdot_end[k])
    return inelastic or (g.shrinking[k] >= SHRUNK and change <= NEGLIGIBLE)
