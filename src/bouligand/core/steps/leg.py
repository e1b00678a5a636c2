"""Legs: the stretches between breakpoints. What is too near to the end of one to be resolved, and what changes behind it.

A leg is integrated with f and h as they are before the breakpoint at its end. Behind it both may have jumped: the word
then follows h, all guards at once, since none of them was reached by the trajectory.
"""

import math

from .. import codes
from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import copy_state, eval_f, eval_h, in_tolerances
from ..guards import hold
from ..recorded import cap_leg
from ..resolution import near_zero, shake
from ..restart import new_leg, new_trial, post
from ..state import HOP, MARGIN, NO_GUARD, SHOWN
from . import outcomes
from .crossing import flip, note

INSTANT = 1e-13  # of the time: a leg that is not longer is one step along the tangent, whatever happens in it


@core
def shortest(w, slope):
    """The time that a landing resolves: the state, at this slope, moves by a hundredth of its tolerance, or the clock by a few
    units in the last place."""
    compact()
    s, v = w.s, w.v
    return max(0.01 / max(in_tolerances(w, slope, v.x, v.x), 1e-300), 2e-15 * max(abs(s.now.t), abs(s.now.stop)))


@core
def is_instant(w):
    """Whether what is left of the leg is hardly more than round-off of the time."""
    s = w.s
    return s.now.stop - s.now.t <= INSTANT * max(abs(s.now.t), abs(s.now.stop))


@core
def drift_to_stop(w):
    """Over the last instant of a leg, along the tangent: guards that lie in it are crossed where it ends. An outcome."""
    compact()
    s, v = w.s, w.v
    new_trial(s)
    s.step.kind, s.step.length = HOP + 1, s.now.stop - s.now.t
    for i in range(v.width):
        v.x_end[i] = v.x[i] + s.step.length * v.f[i]
    copy_state(v.f, v.f_end)
    return outcomes.FAILED if eval_h(w, s.now.stop, v.x_end, w.g.h_end) else outcomes.STEPPED


@core
def start_anew(w):
    """Forget what was saved from the last step: f or h may have changed with time or with the parameters."""
    compact()
    s, v, g = w.s, w.v, w.g
    cap_leg(w)
    if follow_jumps(w) or eval_f(w, s.now.t, v.x, v.f):
        return s.run.status
    new_leg(w)
    for k in range(g.width):
        g.t_last[k] = -math.inf  # a crossing before the break has no say in what happens behind it
        g.settled[k] = -math.inf
    if s.here.kept > 0 or s.options.dependent > 0:  # (does it stay on these guards behind the break? which matter?)
        post(s, codes.SLIDE, NO_GUARD)
    return codes.GO_ON


@core
def follow_jumps(w):
    """Evaluate h anew, and change the sign of every guard across which h has jumped. True if h failed.

    A guard that is now on the trajectory itself, to round-off, keeps its sign, and so does one whose h has not jumped by what a
    landing resolves: whether they are crossed is for the flow to say.
    """
    compact()
    s, v, g = w.s, w.v, w.g
    first = s.rows.events
    instant = shortest(w, v.f)
    shake(v)
    if eval_h(w, s.now.t, v.x, g.h_middle) or eval_h(w, s.now.t, v.x_trial, g.h_trial):
        return True
    for k in range(g.width):
        before, g.h[k] = g.h[k], g.h_middle[k]
        wrong = g.b[k] * g.h[k] < 0.0
        # (what its own landing has left of h, to either side, is no jump)
        left = max(instant * abs(g.hdot[k]), 3.0 * abs(before) if g.held[k] != 0.0 else 0.0)
        jumped = abs(g.h[k] - before) > left
        zero = near_zero(g, k)
        if jumped and g.held[k] == 0.0 and g.watched[k] != 0.0 and (zero or abs(before) <= 100.0 * left):
            note(
                w, s.now.t, k, g.b[k], before, MARGIN
            )  # on it as far as the tolerances tell, on one side of the break only
        if zero or (wrong and not jumped):
            hold(w, k)
            continue
        g.held[k] = 0.0
        if wrong and (g.watched[k] != 0.0 or g.observer[k] != 0.0):
            jump_across(w, k)
    for row in range(first, s.rows.events):
        if w.reset.shape[0] > 0 and g.direction[w.events[row].guard] != 0.0 and w.events[row].shown == SHOWN:
            arm_by_matrix(w, w.events[row].guard)
    return False


@core
def jump_across(w, k):
    """Change the sign of a guard that has jumped across the trajectory, which does not sit on it."""
    compact()
    s, g = w.s, w.g
    flip(w, k, w.reset.shape[0] > 0)
    w.events[s.rows.events - 1].jumped = 1
    g.held[k] = 0.0
    if g.observer[k] != 0.0:
        g.watched[k] = 0.0


@core
def arm_by_matrix(w, j):
    """After an event of guard j: arm those that the reset matrix names, at once where h has left their side."""
    compact()
    g = w.g
    for k in range(g.width):
        if k != j and g.direction[k] != 0.0 and g.b[k] == g.direction[k] and w.reset[j, k] != 0.0:
            g.pending[k] = 1.0
            g.watched[k] = g.direction[k]
            if g.direction[k] * g.h[k] < 0.0 and g.held[k] == 0.0:
                jump_across(w, k)
