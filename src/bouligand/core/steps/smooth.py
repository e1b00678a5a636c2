"""The smooth step: an ordinary Runge-Kutta step under a frozen word, with its error and a proposal for the next."""

import math

from .. import codes
from ..compiler.intrinsics import address, compact
from ..compiler.jit import core
from ..evaluate import count_f, eval_f, eval_fh, eval_h, failed, in_tolerances
from ..guards import refine_arrival
from ..restart import forget_growth
from ..schemes import STIFF, table
from ..schemes.step_size import step_factor
from ..schemes.table import error_estimate, first_stages, later_stages, result, second_estimate
from ..state import AT_HAND
from ..stiff.asking import CHOOSE, STEP, ask, look_for_stiffness

EVALUATION_FAILED = -1.0  # instead of an error estimate, as the next
GIVEN_UP = 1e300  # rejected after two stages (a step that is not finite has the error inf)


@core(inline=True)
def smooth_step(w, length):
    """Try a step of this length from v.x to v.x_end. Returns its error in tolerances and the factor to change the length by.

    Directly after an event nothing is known about the new field, and the step size is the old one. Two stages show how long
    a step could be: a trial step that is much too long, or much too short, is rejected before the other stages are evaluated.
    Sets s.step.kind.
    """
    compact()
    s, v, fn = w.s, w.v, w.fn
    if s.stiff.allowed >= AT_HAND:
        factor = ask(w, CHOOSE, length) if s.here.fresh == 1 and s.stiff.allowed == AT_HAND else 0.0
        if factor != 0.0:
            return EVALUATION_FAILED if factor < 0.0 else GIVEN_UP, factor
        if s.next.scheme == STIFF:
            s.step.kind = STIFF
            factor = ask(w, STEP, length)
            return s.stiff.error, factor
    scheme, t, cap = s.next.scheme, s.now.t, s.run.cap
    s.step.kind = scheme  # (the next step may have another)
    b, p = address(w.g.b), address(w.p)
    bad = first_stages(scheme, fn.f, fn.context, t, length, cap, v.x, v.stages, v.x_trial, b, p)
    count_f(s, 2)
    if bad == 0 and s.here.fresh == 1 and table.EARLY[scheme, 0] > 0.0:
        factor = guess_step_factor(w, length)
        if factor < 0.8:
            return GIVEN_UP, factor
        most = min(s.options.dt_max, s.now.stop - t) / length
        if factor > 2.0 and most > 2.0 and s.step.tries == 0 and s.here.last >= 0 and length >= 0.999 * s.next.dt:
            s.next.reach = length * min(factor, most)
            return GIVEN_UP, min(factor, most, longest_factor(s, length))
        if s.options.jumps > 0 and s.step.target < 0 and s.step.tries == 0:
            found = arrives(w, length)
            if found != 0.0:
                return GIVEN_UP if found > 0.0 else EVALUATION_FAILED, 1.0
    last = table.LAST[scheme]
    if bad == 0:
        bad = later_stages(scheme, fn.f, fn.context, t, length, cap, v.x, v.stages, v.x_trial, b, p)
        result(scheme, v.x, v.stages, length, v.x_end)
        count_f(s, last - 3)
    if bad != 0:
        failed(w, codes.F_FAILED, min(t + table.STAGE_TIME[scheme, bad] * length, cap), v.x_trial)
        return EVALUATION_FAILED, 0.0
    if fn.fh != 0:
        if eval_fh(w, min(t + length, cap), v.x_end, v.stages[last]):
            return EVALUATION_FAILED, 0.0
    elif eval_f(w, min(t + length, cap), v.x_end, v.stages[last]):
        return EVALUATION_FAILED, 0.0
    error = embedded_error(w, length)
    if error > 1.0:
        return error, max(least_factor(s), 0.9 * step_factor(error, scheme))
    end_derivatives(w, length)
    if s.counts.steps >= s.stiff.weigh_at:  # (last: it may change the scheme)
        look_for_stiffness(w, length)
    most = 10.0 if s.here.fresh == 1 else table.GROWTH[scheme]
    factor = most if error < 1e-10 else min(most, 0.9 * step_factor(error, scheme))
    return error, factor if s.options.jumps == 0 else expected(s, length, factor)


@core(inline=True)
def longest_factor(s, length):
    """By how much two stages of the first step after an event may make it longer at most: they see little of a longer one. Where
    there are jumps, up to the length that was natural behind the last one. (A neuron's last step before its spike is a
    hundredth of the first one behind it.)"""
    return 10.0 if s.options.jumps == 0 else max(10.0, s.next.behind / length)


@core(inline=True)
def least_factor(s):
    """By how much a step is shortened at most where it is rejected.

    Where there are jumps, by half at first: a neuron runs away before it spikes, and the error of a step that is a little too
    long is far larger than the powers of its length say.
    """
    if s.options.jumps == 0:
        return 0.1 if s.here.fresh == 1 else 0.2
    again, s.next.too_long = s.next.too_long, 1
    return 0.1 if s.here.fresh == 1 else 0.2 if again == 1 else 0.5


@core(inline=True)
def expected(s, length, factor):
    """Where there are jumps: the factor by which the next step differs from the last, whose error allows this one.

    Where the lengths that steps find natural fall, it is expected that they go on to fall, and the faster they do the faster
    still. (Otherwise every step of a neuron towards its spike is rejected once.) After a rejection none grows.
    """
    natural, before = length * factor, s.next.natural
    s.next.natural = natural
    if s.next.too_long == 1:
        s.next.too_long, factor = 0, min(factor, 1.0)
    if s.here.fresh == 1:
        s.next.behind = natural
    if s.here.fresh == 1 or natural >= before:
        return factor
    ratio = natural / before
    lost = 1.0 - ratio
    return min(factor, natural / length * max(ratio * (1.0 - lost * lost * lost), 0.1))


@core
def arrives(w, length):
    """In the first step behind a jump, from its first two stages: whether it returns to a guard that it leaves now. -1: h failed.

    s.next.reach is then set, so that the next trial lands there. (Else a whole step would be taken, to be rejected.)
    """
    compact()
    s, v, g = w.s, w.v, w.g
    for i in range(v.width):
        v.x_trial[i] = v.x[i] + length * (v.f[i] + 0.5 * length * v.second[i])
    if eval_h(w, s.now.t + length, v.x_trial, g.h_trial):
        return -1.0
    tau, _ = refine_arrival(g, length)
    if tau > length:
        return 0.0
    s.next.reach = length
    return 1.0


@core(inline=True)
def end_derivatives(w, length):
    """x', x'' and x''' at the end of the step: a parabola through x' at the start, at a late stage and at the end."""
    compact()
    v = w.v
    last, late = table.LAST[w.s.next.scheme], table.LATE[w.s.next.scheme]
    c = table.STAGE_TIME[w.s.next.scheme, late]
    steep, flat = 1.0 / ((1.0 - c) * length), 1.0 / (c * length)
    for i in range(v.width):
        slope = (v.stages[last, i] - v.stages[late, i]) * steep
        bend = slope - (v.stages[late, i] - v.f[i]) * flat
        v.f_end[i] = v.stages[last, i]
        v.second[i] = slope + (1.0 - c) * bend
        v.third[i] = 2.0 * bend / length


@core(inline=True)
def embedded_error(w, length):
    """The step's error estimate, in tolerances; of two estimates that of the higher order, scaled by the other, as in DOP853."""
    compact()
    s, v = w.s, w.v
    error_estimate(s.next.scheme, v.x, v.stages, length, v.scratch)
    if table.ESTIMATES[s.next.scheme] == 1:
        return in_tolerances(w, v.scratch, v.x, v.x_end)
    second_estimate(s.next.scheme, v.x, v.stages, length, v.x_smooth)
    fifth, third, total = 0.0, 0.0, 0.0
    for i in range(v.width):
        scale = 1.0 / (v.atol[i] + s.options.rtol * max(abs(v.x[i]), abs(v.x_end[i])))
        five, three = abs(v.scratch[i]) * scale, abs(v.x_smooth[i]) * scale
        total += five + three
        fifth, third = max(fifth, five), max(third, three)
    if not total < math.inf:
        return math.inf
    together = math.sqrt(fifth * fifth + 0.01 * third * third)
    return fifth * fifth / together if together > 0.0 else 0.0


@core(inline=True)
def guess_step_factor(w, length):
    """Guess from the first two stages how long the step could be: the factor to change the length by, 1e-3 to 100.

    The stages give x'' and x''' along the step; x''' over x' is a rate squared, and the rate gives the size of the term that
    the error estimate sees. (Over pendulums, oscillators, orbits the step found is within a third of the natural one;
    x''' over x'' is no such measure: either may pass through zero.) x'' is kept.
    """
    compact()
    s, v = w.s, w.v
    scheme = s.next.scheme
    c1, c2 = table.EARLY[scheme, 0], table.EARLY[scheme, 1]
    once, twice = length / c1, length / (c2 - c1)
    first, third = 0.0, 0.0
    for i in range(v.width):
        scale = 1.0 / (v.atol[i] + s.options.rtol * max(abs(v.x[i]), abs(v.x_trial[i])))
        bend = once * (v.stages[1, i] - v.f[i])
        turn = (twice * (v.stages[2, i] - v.stages[1, i]) - bend) / (0.5 * c2)
        v.second[i] = bend / (length * length)
        first, third = max(first, length * abs(v.f[i]) * scale), max(third, abs(turn) * scale)
        if not abs(turn) < math.inf:
            return 1.0  # (the error estimate of the whole step will reject it)
    forget_growth(s)
    if first == 0.0 or third == 0.0:
        return 1.0 if third > 0.0 else 100.0
    rate = math.sqrt(third / first)
    if rate > 10.0:
        # (of changes that are far below the tolerance, such as round-off at rest, the error estimate of the whole step tells)
        return max(1e-3, 2.0 / rate) if third > 1e-3 else 1.0
    error = table.EARLY_FACTOR[scheme] * third * rate ** table.EARLY_POWER[scheme]
    return min(max(0.75 * step_factor(error, scheme), 0.05), 100.0)
