"""The hop: a step that lands on a guard, at the lowest order that the tolerance allows.

This is the paper's projection, made into a step with an order and an error estimate. The rungs of the ladder share
their stages: midpoint (one evaluation of f beyond that at the start), Kutta's third order (two), the classical
Runge-Kutta method (three), dopri5 (six). A rung fits when its estimate is within ``share``, its part of the tolerance.
A negative length goes back in time: that is how a smooth step that overshot returns to its guard.
"""

import math

from .. import codes
from ..compiler.intrinsics import address, compact, rough_power
from ..compiler.jit import core
from ..evaluate import count_f, eval_f, failed, in_tolerances
from ..schemes import DOPRI5, table
from ..schemes.table import dopri5_error, dopri5_first, dopri5_later, dopri5_result
from . import outcomes

DOPRI5_TIME = DOPRI5.c

TERMS = 0.1  # least ratio assumed between a term of the Taylor series and the one before it: x''' may pass through zero


@core(inline=True)
def hop(w, t, x, length, share, fixed):
    """From x, with x' there in v.hop_stages[0], step to v.x_end. Returns the rung: 1 to 5, NO_RUNG if none fits, RUNG_FAILED.

    ``fixed`` > 0 is the rung to take, without error control: 1 is the tangent, the paper's projection.
    Leaves x' and x'' at the end in v.f_end and v.second.
    """
    compact()
    s, v, k = w.s, w.v, w.v.hop_stages
    n, a, cap = v.width, abs(length), s.run.cap
    lam, rate = s.hop.growth, s.hop.bend
    # a shorter hop measures x'' badly: the last estimate is kept, unless it was cleared, or measured over a still shorter hop
    bends = a > 1e-5 * s.next.dt or a > s.hop.measured_over
    if fixed == 1:
        for i in range(n):
            v.x_end[i] = x[i] + length * k[0, i]
            v.f_end[i] = k[0, i]
            v.second[i] = 0.0
        return 1
    # the first rung to try, from what the last hops or the last smooth step measured: lam is x'''/x'', rate is x''
    if lam == 0.0 and fixed == 0 and s.here.fresh == 0 and length > 0.0:
        rate = in_tolerances(w, v.second, x, x)
        lam = max(in_tolerances(w, v.third, x, x) / rate if rate > 0.0 else 0.0, 1.0 / s.next.dt)
    third = rate * a * a * a * lam / 24.0
    fourth = third * lam * a / 3.0
    fifth = fourth * lam * a / 4.0
    begin = 3 if lam == 0.0 else 5 if fifth > 2.0 * share else 4 if fourth > 2.0 * share else 2
    if fixed > 0:
        begin = fixed
    slow = 1.0 / s.next.dt
    if begin < 5:
        for i in range(n):
            v.x_trial[i] = x[i] + 0.5 * length * k[0, i]
        if eval_f(w, min(t + 0.5 * length, cap), v.x_trial, k[1]):
            return outcomes.RUNG_FAILED
        for i in range(n):
            v.scratch[i] = length * (k[1, i] - k[0, i])
        bend = in_tolerances(w, v.scratch, x, v.x_trial)
        if begin == 2 and (fixed == 2 or (s.hop.age < 8 and bend * lam * a <= 6.0 * share)):
            for i in range(n):
                v.x_end[i] = x[i] + length * k[1, i]
                v.f_end[i] = 2.0 * k[1, i] - k[0, i]
                v.second[i] = 2.0 * (k[1, i] - k[0, i]) / length if bends else v.second[i]
            s.hop.bend = 2.0 * bend / (a * a)
            s.hop.age += 1
            return 2
        if begin < 4:
            for i in range(n):
                v.x_trial[i] = x[i] + length * (2.0 * k[1, i] - k[0, i])
            if eval_f(w, min(t + length, cap), v.x_trial, k[2]):
                return outcomes.RUNG_FAILED
            for i in range(n):
                v.scratch[i] = length / 6.0 * (k[0, i] - 2.0 * k[1, i] + k[2, i])
            third = in_tolerances(w, v.scratch, x, v.x_trial)
            lam = measured(s, third, bend, a, slow)
            fourth = third * max(lam * a, TERMS) / 3.0
            fifth = fourth * lam * a / 4.0
            if fixed == 3 or fourth <= share:
                for i in range(n):
                    v.x_end[i] = x[i] + length / 6.0 * (k[0, i] + 4.0 * k[1, i] + k[2, i])
                    v.f_end[i] = k[2, i]
                    v.second[i] = (k[0, i] - 4.0 * k[1, i] + 3.0 * k[2, i]) / length if bends else v.second[i]
                return 3
        if begin == 4 or fifth <= share:
            for i in range(n):
                v.x_trial[i] = x[i] + 0.5 * length * k[1, i]
            if eval_f(w, min(t + 0.5 * length, cap), v.x_trial, k[2]):
                return outcomes.RUNG_FAILED
            for i in range(n):
                v.x_trial[i] = x[i] + length * k[2, i]
            if eval_f(w, min(t + length, cap), v.x_trial, k[3]):
                return outcomes.RUNG_FAILED
            for i in range(n):
                v.scratch[i] = length / 6.0 * (k[0, i] - 2.0 * k[2, i] + k[3, i])
            third = in_tolerances(w, v.scratch, x, v.x_trial)
            lam = measured(s, third, bend, a, slow)
            fifth = third * max(lam * a, TERMS) ** 2 / 12.0
            if fixed == 4 or fifth <= share:
                for i in range(n):
                    inner = 2.0 * (k[1, i] + k[2, i])
                    v.x_end[i] = x[i] + length / 6.0 * (k[0, i] + inner + k[3, i])
                    v.f_end[i] = k[3, i]
                    v.second[i] = (k[0, i] - inner + 3.0 * k[3, i]) / length if bends else v.second[i]
                return 4
    if fixed != 5 and not fifth * lam * a / 5.0 <= 4.0 * share:
        return outcomes.NO_RUNG
    return last_rung(w, t, x, length, math.inf if fixed == 5 else share)


@core(inline=True)
def measured(s, third, bend, a, slow):
    """Keep what a hop has measured: the size of x'', and the rate at which it changes."""
    lam = max(12.0 * third / (bend * a) if bend > 0.0 else 0.0, slow)
    s.hop.growth = lam
    s.hop.bend = 2.0 * bend / (a * a)
    s.hop.age = 0
    return lam


@core(inline=True)
def last_rung(w, t, x, length, share):
    """dopri5 with its own error estimate."""
    compact()
    s, v, k, fn = w.s, w.v, w.v.hop_stages, w.fn
    n, cap, a = v.width, s.run.cap, abs(length)
    b, p = address(w.g.b), address(w.p)
    bad = dopri5_first(0, fn.f, fn.context, t, length, cap, x, k, v.x_trial, b, p)
    if bad == 0:
        bad = dopri5_later(0, fn.f, fn.context, t, length, cap, x, k, v.x_trial, b, p)
    count_f(s, 5)
    if bad != 0:
        failed(w, codes.F_FAILED, min(t + DOPRI5_TIME[bad] * length, cap), v.x_trial)
        return outcomes.RUNG_FAILED
    dopri5_result(0, x, k, length, v.x_end)
    if eval_f(w, min(t + length, cap), v.x_end, k[6]):
        return outcomes.RUNG_FAILED
    for i in range(n):
        v.scratch[i] = 2.5 * length * (k[1, i] - k[0, i])
        v.x_trial[i] = length / 3.6 * (10.0 * (k[2, i] - k[1, i]) - 5.0 * (k[1, i] - k[0, i]))
    bend = in_tolerances(w, v.scratch, x, v.x_end)
    measured(s, in_tolerances(w, v.x_trial, x, v.x_end), bend, a, 1.0 / s.next.dt)
    dopri5_error(0, x, k, length, v.scratch)
    if in_tolerances(w, v.scratch, x, v.x_end) > share:
        return outcomes.NO_RUNG
    for i in range(n):
        v.f_end[i] = k[6, i]
        v.second[i] = (k[6, i] - k[0, i]) / length
    return 5


@core(inline=True)
def natural_step(rate, lam, scheme):
    """The length of the smooth step whose error estimate would be the tolerance, predicted from what hops have measured."""
    power = table.NATURAL_POWER[scheme]
    return 1.94 * rough_power(table.NATURAL_FACTOR[scheme] / (rate * (lam / 3.0) ** power), 1.0 / (power + 2.0))
