"""Sides of guards on which Df is not smooth up to the guard: forces that grow like a power of the depth that is no whole number.

Perturbations follow Df, which is one derivative less smooth than f. On such a side of a guard (Hertz' contact: depth^1.5) steps
that are right for the trajectory are too long for perturbations, by far; there they are divided, the more the nearer the guard
(see `derivative.rough_sides`). To find out, Df times a vector is compared at the crossing and a little apart, along x', when a
guard is first crossed: how much it has changed is a power of the time. Near the guard that of a smooth Df is one, or two.
"""

import math

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import copy_state, eval_f
from ..state import MARGIN, ROUGH, TRIED

FARTHEST, NEARER = (
    0.25,
    1.0 / 16.0,
)  # the first place, in parts of the step; each of the others is nearer by this factor
# powers of smooth functions: no change of Df, but a kink at the guard, where f tests the state by itself (as `k * max(depth, 0)`
# does; it is at the end of a step, and does no harm); one; two and above. Others are rough, by more than this much
WHOLE, OFF = 2.0, 0.04
SHORT = 0.1  # the vector, in units of the steps for differences
MATTERS = 10.0  # changes within a step that are smaller than so many tolerances do not count
MOST = 16  # sides that are looked at, if none of them is rough: others are most likely of the same kind
ROUND_OFF = 1e-14  # of x': what a difference may be off


@core
def try_sides(w, row, first, last, length):
    """Look at one side of the guards of the events from ``first`` up to ``last``, at a row of the record at which they happen, if
    nobody has: that behind it, where a step of this length begins, or (``length`` < 0) that before it, where one ends. Changes
    rough[k] of these guards, and ``modes.rough``, the number of sides that are rough."""
    compact()
    rough, at, looked, found = w.tangents.rough, w.tangents.modes, False, False
    for q in range(first, last):
        event = w.events[q]
        k, side = event.guard, 2 if event.sign * length > 0.0 else 1
        if event.shown == MARGIN or event.t != w.steps[row].t or w.g.observer[k] != 0.0 or rough[k] & (TRIED * side):
            continue
        if not looked and (at.looked < MOST or at.rough > 0):
            looked, found = True, is_rough(w, row, length)
        rough[k] |= TRIED * side + (ROUGH * side if found else 0)
        at.looked += 1
        at.rough += 1 if found else 0


@core
def is_rough(w, row, length):
    """Whether Df changes like a broken power of the time from a row of the record on, or up to it. (Where f fails nothing is
    known.)"""
    compact()
    s, v, t, status = w.s, w.v, w.steps[row].t, w.s.status
    per_step, noise = w.tangents.rows.per_step, 0.0
    copy_state(w.states[row], v.x)
    for i in range(v.width):
        some = SHORT * (0.3 + 0.1 * (i * 7 % 5)) / per_step[i]
        v.scratch[i] = some if i % 2 == 0 else -some
        v.x_trial[i] = v.x[i] + v.scratch[i]
    if not (eval_f(w, t, v.x, v.second) or eval_f(w, t, v.x_trial, v.third)):
        for i in range(v.width):
            noise = max(noise, ROUND_OFF * abs(v.second[i]) * per_step[i])
            v.third[i] -= v.second[i]
        far = change(w, t, FARTHEST * length)
        if far * abs(length) > SHORT * MATTERS * s.rtol:
            near = change(w, t, FARTHEST * NEARER * length)
            # (farther from the guard a smooth function has other powers: it is the nearest ones that count)
            if near > noise and is_broken(far, near):
                nearest = change(w, t, FARTHEST * NEARER * NEARER * length)
                return nearest > noise and is_broken(near, nearest)
    s.status = status
    return False


@core(inline=True)
def is_broken(far, near):
    """Whether changes at two places are those of a power that is no whole number."""
    power = math.log(near / far) / math.log(NEARER) if far > 0.0 else 0.0
    return OFF < power < WHOLE - OFF and abs(power - 1.0) > OFF


@core
def change(w, t, ahead):
    """By how much Df times the vector has changed after some time along x', in units of the steps for differences. Zero if f
    fails there."""
    compact()
    v, per_step, status, size = w.v, w.tangents.rows.per_step, w.s.status, 0.0
    for i in range(v.width):
        v.x_smooth[i] = v.x[i] + ahead * v.second[i]
        v.x_trial[i] = v.x_smooth[i] + v.scratch[i]
    if eval_f(w, t + ahead, v.x_smooth, v.f_smooth) or eval_f(w, t + ahead, v.x_trial, v.f_end):
        w.s.status = status
        return 0.0
    for i in range(v.width):
        size = max(size, abs(v.f_end[i] - v.f_smooth[i] - v.third[i]) * per_step[i])
    return size
