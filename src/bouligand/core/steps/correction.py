"""The last part of a landing: a secant iteration along the flow moves the end of a step onto its guard."""

import math

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import eval_h, in_tolerances
from ..guards import suspects

CLOSER = 1e-5  # to where sliding ends: left before its multiplier is at the limit, a guard would be pushed back onto


@core(inline=True)
def secant_to_guard(w, length, j, shift, share):
    """Move the end of a step onto guard j, first by ``shift``. Returns the total shift, and 1 if it has converged.

    g.h_end is h where it ends. It has converged when the remaining time moves the state by less than a hundredth of ``share``
    tolerances (and is itself within the relative tolerance as a time), by a slope on which two evaluations agree; or when
    only round-off is left. 0: h along the flow is not nearly linear, or another guard is passed by more than that; -1: h failed.
    """
    compact()
    s, v, g = w.s, w.v, w.g
    n, total = v.width, 0.0
    speed = max(
        in_tolerances(w, v.f_end, v.x, v.x_end), 1.0 / (s.options.rtol * max(abs(s.now.t), s.now.tf - s.now.t0))
    )
    goal = 0.01 * share / speed
    enough = 10.0 * goal
    if g.b[j] == 0.0:
        goal *= CLOSER
    noise = max(1e-9 * length, 1e-14 * max(abs(s.now.t), s.next.dt))
    level, b = g.level[j], g.watched[j]
    now = b * g.h_end[j] - level
    slope = -now / shift if shift != 0.0 else 0.0
    steepest = slope
    there = now == 0.0 or abs(shift) <= 0.1 * goal
    for _ in range(40):
        if there:
            break
        last, before = now, slope
        for i in range(n):
            v.x_end[i] += shift * (v.f_end[i] + 0.5 * shift * v.second[i])
            v.f_end[i] += shift * v.second[i]
        total += shift
        if eval_h(w, s.now.t + length + total, v.x_end, g.h_end):
            return total, -1
        now = b * g.h_end[j] - level
        slope = (now - last) / shift
        steepest = min(steepest, slope)
        following = -now / slope if slope < 0.0 else math.inf
        agrees = 2.0 * before <= slope <= 0.5 * before  # (both are negative)
        if now == 0.0 or abs(following) <= 1e-16 * max(abs(s.now.t), length) or (agrees and abs(following) <= goal):
            there = True
        elif abs(following) >= abs(shift):
            # no progress: round-off is reached, or h is not nearly linear here
            if abs(shift) > noise:
                return total, 0
            there = True
        else:
            shift = math.copysign(max(abs(following), 0.1 * goal), following)
    if not there:
        return total, 0
    # (a slope from differences at round-off is meaningless: the steepest one seen is used)
    s.landing.gap = abs(now / steepest) if steepest < 0.0 else 0.0
    s.landing.slope = steepest
    return total, 0 if overtaken(g, length + total, j, enough) else 1


@core(inline=True)
def overtaken(g, length, j, time):
    """Whether, at a landing on guard j after a step of this length, another guard was passed more than ``time`` before."""
    count, _ = suspects(g, length, False)
    if count - (1.0 if g.watched[j] * g.h_end[j] < g.level[j] else 0.0) <= 0.0:
        return False
    for k in range(g.width):
        b = g.watched[k]
        end, start = b * g.h_end[k] - g.level[k], b * g.h[k] - g.level[k]
        if k != j and b != 0.0 and end < 0.0 and start > 0.0 and g.held[k] == 0.0:
            slope = max(2.0 * (start - end) / length + b * g.hdot[k], (start - end) / length)
            if -end > time * slope:
                return True
    return False
