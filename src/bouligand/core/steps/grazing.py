"""Grazing: what is known of a guard that may be crossed or not: its rates, and within which distance nobody can tell."""

import math

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import copy_state, eval_Dh, eval_f, eval_h

LAST_STEPS = 16  # whose states say how large a component was,
CARRIED = 0.3  # and the part of that which counts


@core
def other_word(w, last, k):
    """hdot of guard k in the mode before ``last`` was crossed, and the size below which a hdot is zero to round-off.

    Leaves f under that word in v.hop_stages[0]. Returns also whether an evaluation failed.
    """
    compact()
    s, v, g = w.s, w.v, w.g
    g.b[last] = -g.b[last]
    failed = eval_f(w, s.now.t, v.x, v.hop_stages[0])
    g.b[last] = -g.b[last]
    if failed:
        return 0.0, 0.0, True
    sigma = s.options.probe * s.next.dt
    for i in range(v.width):
        v.x_trial[i] = v.x[i] + sigma * v.hop_stages[0, i]
    if eval_h(w, s.now.t + sigma, v.x_trial, g.h_trial):
        return 0.0, 0.0, True
    rate = (g.h_trial[k] - g.h[k]) / sigma
    # the size of hdot if its terms did not cancel: the same difference along f with two arbitrary patterns of signs
    largest = 0.0
    for turn in range(2):
        for i in range(v.width):
            v.x_trial[i] = v.x[i] + sigma * v.hop_stages[0, i] * (1.0 if (i * 7 + turn * 3) % 4 < 2 else -1.0)
        if eval_h(w, s.now.t + sigma, v.x_trial, g.h_trial):
            return 0.0, 0.0, True
        largest = max(largest, abs(g.h_trial[k] - g.h[k]) / sigma)
    return rate, 1e-8 * max(largest, abs(rate)), False


@core
def rate_along(w, t, k, x, slope, sigma):
    """hdot of guard k at x along ``slope``, from h to either side of it, within the leg; and whether h failed.

    Just beyond a guard that is crossed back at once, h ahead alone shows that it has come back.
    """
    compact()
    s, v, g = w.s, w.v, w.g
    back, ahead = -sigma, min(sigma, max(s.run.cap - t, 0.0))
    if s.rows.breaks > 0:  # (h may be another before the last breakpoint)
        back = min(max(back, w.breaks[s.rows.breaks - 1] - t), 0.0)
    ahead = sigma if ahead == back else ahead
    for i in range(v.width):
        v.x_trial[i] = x[i] + ahead * slope[i]
    if eval_h(w, t + ahead, v.x_trial, g.h_trial):
        return 0.0, True
    h_ahead = g.h_trial[k]
    for i in range(v.width):
        v.x_trial[i] = x[i] + back * slope[i]
    if eval_h(w, t + back, v.x_trial, g.h_trial):
        return 0.0, True
    return (h_ahead - g.h_trial[k]) / (ahead - back), False


@core(inline=True)
def dwell_time(depth, bend):
    """Time that a parabola with this second derivative spends beyond a guard that it passes by this depth."""
    return 2.0 * math.sqrt(2.0 * depth / max(bend, 1e-300))


@core
def tolerance_of_guard(w, t, x, j):
    """How much h_j changes when every component of x changes by its tolerance: within that, h_j may be zero.

    Leaves in v.scratch the change of that size that raises h_j most; components that do not move h_j stay as they are.
    Negative if a function failed.
    """
    compact()
    v, g = w.v, w.g
    total = 0.0
    measure_tolerances(w, x)
    if w.fn.Dh != 0 and w.Dh.shape[0] == g.width:
        if eval_Dh(w, t, x):
            return -1.0
        for i in range(v.width):
            total += abs(w.Dh[j, i]) * v.off[i]
            v.scratch[i] = signed(v.off[i], w.Dh[j, i])
        return total
    if eval_h(w, t, x, g.h_trial):
        return -1.0
    here = g.h_trial[j]
    copy_state(x, v.x_trial)
    for i in range(v.width):
        step = max(v.off[i], 1e-8 * abs(x[i]))
        v.x_trial[i] = x[i] + step
        if eval_h(w, t, v.x_trial, g.h_trial):
            return -1.0
        v.x_trial[i] = x[i]
        total += abs(g.h_trial[j] - here) * v.off[i] / step
        v.scratch[i] = signed(v.off[i], g.h_trial[j] - here)
    return total


@core
def measure_tolerances(w, x):
    """v.off = the tolerance of each component, by its size, or by a part of its largest size in the last steps.

    (A component that passes through zero carries the errors made when it was large.)
    """
    compact()
    s, v, states = w.s, w.v, w.states
    for i in range(v.width):
        largest = 0.0
        for row in range(max(s.rows.records - LAST_STEPS, 0), s.rows.records):
            largest = max(largest, abs(states[row, i]))
        v.off[i] = v.atol[i] + s.options.rtol * max(abs(x[i]), CARRIED * largest)


@core(inline=True)
def signed(size, sign):
    """``size`` with the sign of ``sign``, zero if that is zero."""
    return size if sign > 0.0 else -size if sign < 0.0 else 0.0


@core
def second_rate(w, j, slope):
    """|h''| of guard j along the flow that starts with ``slope``. Negative if a function failed."""
    bend, failed = bend_along(w, j, slope)
    return -1.0 if failed else abs(bend)


@core
def bend_along(w, j, slope):
    """h'' of guard j along the flow that starts with ``slope``, a second difference of h; and whether a function failed."""
    compact()
    s, v, g = w.s, w.v, w.g
    sigma = 0.01 * s.next.dt
    for i in range(v.width):
        v.x_trial[i] = v.x[i] + sigma * slope[i]
    if eval_f(w, s.now.t + sigma, v.x_trial, v.scratch):
        return 0.0, True
    for i in range(v.width):
        v.x_trial[i] = v.x[i] + 0.5 * sigma * (slope[i] + v.scratch[i])
    if eval_h(w, s.now.t + sigma, v.x_trial, g.h_trial):
        return 0.0, True
    once = g.h_trial[j]
    for i in range(v.width):
        v.x_trial[i] = v.x[i] + 2.0 * sigma * v.scratch[i]
    if eval_h(w, s.now.t + 2.0 * sigma, v.x_trial, g.h_trial):
        return 0.0, True
    return (g.h_trial[j] - 2.0 * once + g.h[j]) / (sigma * sigma), False
