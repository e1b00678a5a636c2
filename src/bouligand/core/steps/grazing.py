"""Grazing: where it is uncertain whether a guard is crossed, how much the crossing changes the state, in tolerances."""

import math

from .. import codes
from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import copy_state, eval_f, eval_h, in_tolerances


@core
def other_word(w, last, k):
    """hdot of guard k in the mode before ``last`` was crossed, and the size below which a hdot is zero to round-off.

    Leaves f under that word in v.hop_stages[0]. Returns also whether an evaluation failed.
    """
    compact()
    s, v, g = w.s, w.v, w.g
    g.b[last] = -g.b[last]
    failed = eval_f(w, s.t, v.x, v.hop_stages[0])
    g.b[last] = -g.b[last]
    if failed:
        return 0.0, 0.0, True
    sigma = s.probe * s.dt
    for i in range(v.width):
        v.x_trial[i] = v.x[i] + sigma * v.hop_stages[0, i]
    if eval_h(w, s.t + sigma, v.x_trial, g.h_trial):
        return 0.0, 0.0, True
    rate = (g.h_trial[k] - g.h[k]) / sigma
    # the size of hdot if its terms did not cancel: the same difference along f with two arbitrary patterns of signs
    largest = 0.0
    for turn in range(2):
        for i in range(v.width):
            v.x_trial[i] = v.x[i] + sigma * v.hop_stages[0, i] * (1.0 if (i * 7 + turn * 3) % 4 < 2 else -1.0)
        if eval_h(w, s.t + sigma, v.x_trial, g.h_trial):
            return 0.0, 0.0, True
        largest = max(largest, abs(g.h_trial[k] - g.h[k]) / sigma)
    return rate, 1e-8 * max(largest, abs(rate)), False


@core
def two_sided_rate(w, k):
    """hdot of guard k at the present state from h to either side of it along the flow, and whether an evaluation failed.

    Just beyond a guard that is crossed back at once, h ahead alone shows that it has come back.
    """
    compact()
    s, v, g = w.s, w.v, w.g
    sigma = s.probe * s.dt
    ahead = 0.0
    for turn in range(2):
        for i in range(v.width):
            v.x_trial[i] = v.x[i] + sigma * v.f[i]
        if eval_h(w, s.t + sigma, v.x_trial, g.h_trial):
            return 0.0, True
        if turn == 0:
            ahead = g.h_trial[k]
            sigma = -sigma
    return 0.5 * (g.h_trial[k] - ahead) / sigma, False


@core(inline=True)
def dwell_time(depth, bend):
    """Time that a parabola with this second derivative spends beyond a guard that it passes by this depth."""
    return 2.0 * math.sqrt(2.0 * depth / max(bend, 1e-300))


@core
def tolerance_of_guard(w, t, x, j):
    """How much h_j changes when every component of x changes by its tolerance: within that, h_j may be zero.

    Leaves in v.scratch the change of that size that raises h_j most.
    """
    compact()
    s, v, g = w.s, w.v, w.g
    if eval_h(w, t, x, g.h_trial):
        return -1.0
    here, total = g.h_trial[j], 0.0
    copy_state(x, v.x_trial)
    for i in range(v.width):
        size = v.atol[i] + s.rtol * abs(x[i])
        step = max(size, 1e-8 * abs(x[i]))
        v.x_trial[i] = x[i] + step
        if eval_h(w, t, v.x_trial, g.h_trial):
            return -1.0
        v.x_trial[i] = x[i]
        total += abs(g.h_trial[j] - here) * size / step
        v.scratch[i] = size if g.h_trial[j] >= here else -size
    return total


@core
def jump_on_guard(w, t, x, k, value, unsure):
    """The jump of f, in tolerances per time, on guard k itself: at the state nearest to x, where h_k is ``value``.

    That state is within about a tolerance in every component, where h_k is zero within its tolerance. It is needed where f is
    continuous across the guard (a spring, a force that ends where it is zero): evaluated beside the guard, f seems to jump.
    To be called after tolerance_of_guard. Negative if f failed.
    """
    compact()
    v, g = w.v, w.g
    part = 0.0
    for _ in range(3):
        part = min(max(part + value / max(unsure, 1e-300), -3.0), 3.0)
        for i in range(v.width):
            v.x_trial[i] = x[i] - part * v.scratch[i]
        if eval_h(w, t, v.x_trial, g.h_trial):
            return -1.0
        value = g.h_trial[k]
    if eval_f(w, t, v.x_trial, v.hop_stages[1]):
        return -1.0
    g.b[k] = -g.b[k]
    failed = eval_f(w, t, v.x_trial, v.hop_stages[2])
    g.b[k] = -g.b[k]
    if failed:
        return -1.0
    for i in range(v.width):
        v.scratch[i] = v.hop_stages[2, i] - v.hop_stages[1, i]
    return in_tolerances(w, v.scratch, x, v.x_trial)


@core
def comes_back(w, t, k):
    """Whether the flow beyond guard k bends back to it: 1, 0 (it is pulled on), or -1 if a function failed.

    To be called after jump_on_guard, for its state on the guard and x' beyond it; g.b[k] is the side before.
    """
    compact()
    s, v, g = w.s, w.v, w.g
    sigma, b = 0.01 * s.dt, g.b[k]
    copy_state(v.x_trial, v.x_smooth)
    if eval_h(w, t, v.x_trial, g.h_trial):
        return -1
    here = g.h_trial[k]
    for i in range(v.width):
        v.x_trial[i] = v.x_smooth[i] + sigma * v.hop_stages[2, i]
    g.b[k] = -b
    failed = eval_f(w, t + sigma, v.x_trial, v.f_smooth)
    g.b[k] = b
    for i in range(v.width):
        v.x_trial[i] = v.x_smooth[i] + 0.5 * sigma * (v.hop_stages[2, i] + v.f_smooth[i])
    if failed or eval_h(w, t + sigma, v.x_trial, g.h_trial):
        return -1
    once = g.h_trial[k]
    for i in range(v.width):
        v.x_trial[i] = v.x_smooth[i] + 2.0 * sigma * v.f_smooth[i]
    if eval_h(w, t + 2.0 * sigma, v.x_trial, g.h_trial):
        return -1
    return 1 if b * (g.h_trial[k] - 2.0 * once + here) > 0.0 else 0


@core
def graze_matters(w, j):
    """At the present state, on guard j with hdot near zero: GRAZING if crossing it or not differs by more than the tolerance.

    The dwell time beyond the guard is uncertain by the time a parabola with the present h'' takes through the tolerance of h.
    """
    compact()
    s, v, g = w.s, w.v, w.g
    bend = second_rate(w, j, v.hop_stages[0])
    unsure = tolerance_of_guard(w, s.t, v.x, j)
    if unsure < 0.0 or bend < 0.0:
        return s.status
    jump = jump_on_guard(w, s.t, v.x, j, g.h[j], unsure)
    if jump < 0.0:
        return s.status
    s.margin = abs(g.h[j])
    dwell = min(dwell_time(unsure, bend), 2.0 * unsure / max(abs(g.hdot[j]), 1e-300))
    return codes.GRAZING if jump * dwell > 1.0 else codes.GO_ON


@core
def second_rate(w, j, slope):
    """|h''| of guard j along the flow that starts with ``slope``: a second difference of h. Negative if a function failed."""
    compact()
    s, v, g = w.s, w.v, w.g
    sigma = 0.01 * s.dt
    for i in range(v.width):
        v.x_trial[i] = v.x[i] + sigma * slope[i]
    if eval_f(w, s.t + sigma, v.x_trial, v.scratch):
        return -1.0
    for i in range(v.width):
        v.x_trial[i] = v.x[i] + 0.5 * sigma * (slope[i] + v.scratch[i])
    if eval_h(w, s.t + sigma, v.x_trial, g.h_trial):
        return -1.0
    once = g.h_trial[j]
    for i in range(v.width):
        v.x_trial[i] = v.x[i] + 2.0 * sigma * v.scratch[i]
    if eval_h(w, s.t + 2.0 * sigma, v.x_trial, g.h_trial):
        return -1.0
    return abs(g.h_trial[j] - 2.0 * once + g.h[j]) / (sigma * sigma)
