"""The start: the word, the first evaluation of f, and a first step size."""

import math

from .. import codes
from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import blame, copy_state, eval_f, eval_h, in_tolerances, let_stay
from ..guards import hold, hold_none
from ..recorded import cap_leg, next_row, write_step
from ..resolution import near_zero, shake
from ..restart import after_crossing
from ..schemes import table
from ..state import AT_HAND, FOUND, NO_GUARD
from ..unit import make_unit
from .leg import is_instant
from .sleep import sleep_at_start


@core
def start(w):
    """Initialise everything at t0; returns GO_ON, NEED_WORD (guards that are zero are then marked in g.held) or a failure."""
    compact()
    s, v = w.s, w.v
    prepare(w)
    if eval_h(w, s.now.t, v.x, w.g.h) or eval_h(w, s.now.t, v.x_trial, w.g.h_trial):
        return codes.H_FAILED
    code = look_at_guards(w)
    if code != codes.GO_ON:
        return code
    if eval_f(w, s.now.t, v.x, v.f):
        return codes.F_FAILED
    speed = in_tolerances(w, v.f, v.x, v.x)
    if not speed < 1e300:
        blame(s, NO_GUARD)
        return codes.NOT_FINITE
    if first_step(w, speed):
        return codes.F_FAILED
    code = watch_guards(w, speed)
    if code != codes.GO_ON:
        return code
    after_crossing(w, -1)
    s.run.started = 1
    row = next_row(s)
    write_step(w, row, s.now.t, 0, 0.0, 0.0, 0.0)
    copy_state(v.x, w.states[row])
    return codes.GO_ON


@core(inline=True)
def prepare(w):
    """Set what later parts rely on: tolerances, units, the end of the leg, and a state beside x to see round-off of h by."""
    compact()
    s, v = w.s, w.v
    if s.options.atol >= 0.0:
        for i in range(v.width):
            v.atol[i] = s.options.atol
    if s.stiff.allowed >= AT_HAND:
        for i in range(v.width):
            w.stiff.rows.mode[i] = 0.0
    let_stay(w, False)
    s.hop.measured_over = math.inf  # (the first step begins with x'' = 0)
    make_unit(w, v.x)
    cap_leg(w)
    shake(v)


@core(inline=True)
def look_at_guards(w):
    """Clear the rows of all guards and, unless a mode was given, read it from the signs of h. Returns GO_ON, NEED_WORD, or
    NOT_FINITE."""
    compact()
    s, v, g = w.s, w.v, w.g
    total = 0.0
    for i in range(v.width):
        total += v.x[i]
    open_word = False
    hold_none(s)
    for k in range(g.width):
        total += g.h[k]
        zero = near_zero(g, k) or (s.options.word_given == FOUND and g.held[k] != 0.0)
        g.held[k] = 0.0
        if zero:
            hold(w, k)
        g.t_last[k] = -1e300
        g.t_ended[k] = -1e300
        g.burst_began[k] = -1e300
        g.band[k] = g.eps[k]
        g.level[k] = 0.0
        g.pending[k] = 0.0
        g.burst[k] = 0.0
        g.settled[k] = -1e300
        if s.options.word_given == 0:
            g.b[k] = 1.0 if g.h[k] > 0.0 else -1.0
            open_word = open_word or (zero and g.observer[k] == 0.0)
        elif g.b[k] == 0.0:  # (an earlier integration ended on it; whether it stays there is for the flow to say)
            hold(w, k)
            open_word = True
    if total - total != 0.0:
        blame(s, NO_GUARD)
        return codes.NOT_FINITE
    if s.options.dependent > 0:
        some = sleep_at_start(w)
        open_word = some if s.options.word_given == 0 else open_word
    return codes.NEED_WORD if open_word else codes.GO_ON


@core(inline=True)
def watch_guards(w, speed):
    """Choose the sides of observers that start on their guards (those to which they move), find out which guards are watched,
    and check that a mode that was given fits. Returns GO_ON, H_FAILED or WRONG_WORD. ``speed``: of x, in tolerances."""
    compact()
    s, v, g = w.s, w.v, w.g
    sigma = 1e-3 * s.next.dt
    for i in range(v.width):
        v.x_trial[i] = v.x[i] + sigma * v.f[i]
        v.second[i] = 0.0
    if eval_h(w, s.now.t + sigma, v.x_trial, g.h_trial):
        return codes.H_FAILED
    for k in range(g.width):
        if g.observer[k] != 0.0 and g.held[k] != 0.0 and s.options.word_given == 0:
            g.b[k] = 1.0 if g.h_trial[k] > 0.0 else -1.0
        latch = g.direction[k] != 0.0 and (w.reset.shape[0] > 0 or s.options.pool == 1)
        shut = latch and g.b[k] == g.direction[k]
        g.watched[k] = 0.0 if shut or g.observer[k] != 0.0 or g.asleep[k] != 0.0 else g.b[k]
        if g.watched[k] * g.h[k] < 0.0 and g.held[k] == 0.0:
            # on the wrong side by no more than the residual of a landing: the end of an earlier integration
            near = 10.0 / max(speed, 1e-300) * abs(g.h_trial[k] - g.h[k]) / sigma
            if abs(g.h[k]) > max(near, g.eps[k]):
                blame(s, k)
                return codes.WRONG_WORD
            hold(w, k)
    return codes.GO_ON


@core
def first_step(w, speed):
    """A first step size after Hairer, Norsett and Wanner (II.4): from the sizes of x, x' and x''. True if f failed."""
    compact()
    s, v = w.s, w.v
    t, span = s.now.t, s.now.stop - s.now.t
    size = in_tolerances(w, v.x, v.x, v.x)
    dt = 0.01 * size / speed if size > 1e-5 and speed > 1e-5 else 1e-6 * span
    dt = min(dt, span, s.options.dt_max)
    for i in range(v.width):
        v.x_trial[i] = v.x[i] + dt * v.f[i]
    if eval_f(w, t + dt, v.x_trial, v.hop_stages[0]):
        return True
    for i in range(v.width):
        v.scratch[i] = (v.hop_stages[0, i] - v.f[i]) / dt
    bend = in_tolerances(w, v.scratch, v.x, v.x_trial)
    if not bend < 1e300:
        bend = speed
    largest = max(speed, bend)
    better = max(1e-6 * span, 1e-3 * dt) if largest <= 1e-15 else (0.01 / largest) ** (1.0 / table.ORDER[s.next.scheme])
    s.next.dt = max(min(1e4 * dt, better, span, s.options.dt_max), 1e-15 * span, min(2e-14 * abs(t), span))
    if is_instant(w):
        s.next.dt = 2e3 * span  # (the loop takes it for the last instant of a leg)
    return False
