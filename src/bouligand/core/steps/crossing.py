"""Crossings: the flip of a sign, ties, and what is not event-selected.

A guard is crossed by flipping its sign at the present state; f is evaluated with the new word before anything else happens. The
loop then checks the guards again and crosses the next one within the tolerance: that is how a corner is resolved.
"""

import math

from .. import codes
from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import blame, eval_f, eval_h, nudge
from ..guards import hold
from ..restart import after_crossing, post
from ..state import FIRED, MARGIN, NO_GUARD, NOT_JUDGED, SHOWN, SWITCH

MOST_IN_A_BURST = 100  # crossings of one guard within BURST_TIME of the whole interval: chattering
BURST_TIME = 1e-10


@core
def note(w, t, k, sign, residual, shown):
    """Write a row of the event table."""
    s = w.s
    event = w.events[s.rows.events]
    s.rows.events += 1
    event.t, event.guard, event.sign, event.residual = t, k, sign, residual
    event.record, event.shown, event.jumped = s.rows.records - 1, shown, 0
    event.effect, event.returns = 0.0, NOT_JUDGED


@core
def note_graze(w, t, k, sign, residual):
    """Write a row for a graze that was judged: a margin within the tolerance of h."""
    s = w.s
    note(w, t, k, sign, residual, MARGIN)
    event = w.events[s.rows.events - 1]
    event.effect, event.returns = s.verdict.effect, s.verdict.returns


@core
def cross(w, j):
    """Flip guard j at the present time and state. Returns GO_ON or CHATTERING."""
    compact()
    s, g, reset = w.s, w.g, w.reset
    t = s.now.t
    latched = reset.shape[0] > 0 or s.options.pool == 1
    if s.options.one_sided > 0:
        j = firing_partner(g, j)
    flip(w, j, latched)
    g.t_last[j] = t
    after_crossing(w, j)
    if s.options.one_sided > 0:
        re_arm(w, j)
    return codes.CHATTERING if too_often(w, j) else codes.GO_ON


@core(inline=True)
def too_often(w, j):
    """Whether guard j is crossed over and over without progress in time: the integration would never end."""
    s, g, t = w.s, w.g, w.s.now.t
    if t - g.burst_began[j] > BURST_TIME * (s.now.tf - s.now.t0) + 1e-14 * abs(t):
        g.burst_began[j] = t
        g.burst[j] = 0.0
    g.burst[j] += 1.0
    if g.burst[j] > MOST_IN_A_BURST:
        blame(s, j)
        return True
    return False


@core
def fire(w, j):
    """Guard j, whose events change the state, has an event. It keeps its sign until its jump is applied, behind all others of
    this instant. v.f is x' before the jump. Returns a code."""
    compact()
    s, v, g = w.s, w.v, w.g
    if s.jump.on == 0:
        s.jump.generation = 0
    s.jump.on = 1
    g.fired[j] = FIRED
    g.watched[j] = 0.0
    hold(w, j)
    note_crossing(w, j, -g.b[j], True)
    since = s.now.t - g.t_last[j]
    ratio = since / g.interval[j] if g.interval[j] > 0.0 else 0.0
    steady = ratio < 1.0 and abs(ratio - g.ratio[j]) < 0.05
    g.shrinking[j] = g.shrinking[j] + 1.0 if steady else 0.0
    g.interval[j] = since if since < s.now.t - s.now.t0 else 0.0
    g.ratio[j] = ratio
    g.t_last[j] = s.now.t
    after_crossing(w, j)
    if too_often(w, j):
        return codes.ZENO if g.shrinking[j] > 0.0 else codes.CHATTERING
    return s.run.status if eval_f(w, s.now.t, v.x, v.f) else codes.GO_ON


@core(inline=True)
def flip(w, k, latched):
    """Change the sign of guard k, record it, and count it if it is an event."""
    compact()
    g = w.g
    sign = -g.b[k]
    fires = g.direction[k] == 0.0 or sign == g.direction[k]
    g.b[k] = sign
    g.watched[k] = 0.0 if latched and fires and g.direction[k] != 0.0 else sign
    g.pending[k] = 0.0
    hold(w, k)
    g.band[k] = g.eps[k]
    note_crossing(w, k, sign, fires)


@core(inline=True)
def note_crossing(w, k, sign, fires):
    """Write a row for a crossing of guard k at the present time, and count it if it is an event."""
    s, g = w.s, w.g
    # an event at the start time is recorded just after it: events lie in (t0, tf]
    t = s.now.t if s.now.t > s.now.t0 else math.nextafter(s.now.t0, math.inf)
    note(w, t, k, sign, g.h[k], SHOWN if fires else SWITCH)
    if fires and g.terminal[k] > 0.0:
        g.terminal[k] -= 1.0
        if g.terminal[k] == 0.0:
            s.run.ended_by = k


@core
def uncount(w, j):
    """An event of guard j that is taken back does not count: it neither ends the integration nor brings its end nearer."""
    s, g = w.s, w.g
    if s.run.ended_by == j:
        s.run.ended_by = NO_GUARD
        g.terminal[j] = 1.0
    elif g.terminal[j] > 0.0:
        g.terminal[j] += 1.0


@core(inline=True)
def tied(g, j, k):
    """Whether guard k is as near to its crossing as guard j, on which the trajectory has just landed."""
    return abs(g.h[k] * g.hdot[j]) <= 2.0 * abs(g.h[j] * g.hdot[k])


@core
def firing_partner(g, j):
    """If the flip of the one-sided guard j would only re-arm it: the guard that is crossed at the same instant, if any.

    Of a pair h, -h, both change sign at once, and f must never see one without the other.
    """
    compact()
    if g.direction[j] != 0.0 and g.b[j] == g.direction[j]:
        for k in range(g.width):
            armed = g.direction[k] != 0.0 and g.watched[k] == -g.direction[k]
            if armed and g.watched[k] * g.hdot[k] < 0.0 and tied(g, j, k):
                return k
    return j


@core
def re_arm(w, j):
    """After the crossing of j, re-arm the one-sided guards that may be: at once where h has left their side."""
    compact()
    s, g, reset = w.s, w.g, w.reset
    by_matrix = reset.shape[0] > 0
    for k in range(g.width):
        direction = g.direction[k]
        if k == j or direction == 0.0 or g.b[k] != direction:
            continue
        if by_matrix:
            if reset[j, k] == 0.0 and g.pending[k] == 0.0:
                continue
            g.pending[k] = 1.0
            g.watched[k] = direction
        leaving = direction * g.hdot[k] < 0.0 and tied(g, j, k)
        if s.options.pool == 1:
            if leaving:
                flip(w, k, True)
                g.watched[k] = 0.0  # its sign follows h, but it is not armed
            continue
        left = g.held[k] == 0.0 or not tied(g, j, k)
        if leaving or (by_matrix and direction * g.h[k] < 0.0 and left):
            flip(w, k, by_matrix)


@core(inline=True)
def ask_if_barely(s, g, j, length):
    """After a step of this length that landed on guard j: if it would have turned back soon, the judge looks at its crossing."""
    # how fast it was approached at the start of the step, and is now: both are negative
    slows = g.b[j] * g.hdot[j] - s.landing.slope
    if (
        slows < 0.1 * s.landing.slope
        and s.landing.slope < 0.0
        and s.options.projection == 0
        and s.landing.slope * length > 0.3 * s.next.dt * slows
    ):
        post(s, codes.BARELY, j)


@core
def needed(g, j):
    """Whether some guard matters on one side of guard j only."""
    compact()
    found = False
    for k in range(g.width):
        found = found or g.needs[k] == j + 1.0 or g.needs_too[k] == j + 1.0
    return found


@core
def cross_and_evaluate(w, j):
    """Flip guard j at the present state, and evaluate f with the new word (v.f_end keeps it under the old one)."""
    compact()
    s, v, g = w.s, w.v, w.g
    since = s.now.t - g.t_last[j]
    if g.b[j] == 0.0:
        post(s, codes.SLIDE, j)
        return codes.GO_ON
    if g.jump[j] != 0.0 and (g.direction[j] == 0.0 or g.direction[j] == -g.b[j]):
        return fire(w, j)
    code = cross(w, j)
    if code != codes.GO_ON:
        return code
    if s.here.kept > 0 or (s.options.dependent > 0 and needed(g, j)):
        post(s, codes.SLIDE, j)
        return codes.GO_ON
    if eval_f(w, s.now.t, v.x, v.f):
        return s.run.status
    if since < 0.3 * s.next.dt:
        # crossed back so soon: was it more than a graze?
        nudge(w, v.x, v.x, v.x_trial)
        if eval_h(w, s.now.t, v.x_trial, g.h_trial):
            return s.run.status
        unsure, sigma = 30.0 * abs(g.h_trial[j] - g.h[j]), 0.01 * since
        for i in range(v.width):
            v.x_trial[i] = v.x[i] + sigma * v.f[i]
        if eval_h(w, s.now.t + sigma, v.x_trial, g.h_trial):
            return s.run.status
        speed = abs(g.h_trial[j] - g.h[j]) / max(sigma, 1e-300)
        if 0.25 * speed * since < unsure:
            post(s, codes.BACK_SOON, j)
            s.ask.since, s.ask.speed = since, speed
    return codes.GO_ON
