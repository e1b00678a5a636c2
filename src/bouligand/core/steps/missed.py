"""After a smooth step that ends on the right side of every guard: was one touched and released inside it?"""

from .. import codes
from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import copy_state, eval_h, nudge
from ..guards import dip, rates
from . import outcomes
from .dense import interpolate, prepare
from .inside import check_sixteen_places, cubic_between


@core(inline=True)
def find_missed_touch(w, length):
    """After a smooth step that ends on the right side of every guard: was one touched and released in between?

    Evaluates hdot at the end (which the next step needs anyway) and h in the middle. The outcome is STEPPED; or REJECTED, to
    cut the step where the guard is deepest; or FAILED. A guard that came very near is left for the judge.
    """
    compact()
    s, v, g = w.s, w.v, w.g
    t = s.t
    if rates(w, True, length):
        return outcomes.FAILED
    cubic_between(v, 0.5, length, v.x_trial)
    if eval_h(w, t + 0.5 * length, v.x_trial, g.h_trial):
        return outcomes.FAILED
    where, k, lowest, rough = dip(g, length)
    if rough and (k < 0 or lowest >= 0.0):
        looked = check_sixteen_places(w, length)
        if looked != 0.0:
            s.dt = max(looked, 0.0) * length
            s.rejected += 1
            return outcomes.REJECTED if looked > 0.0 else outcomes.FAILED
    if k < 0:
        return outcomes.STEPPED
    # a guard has a minimum inside: within the tolerance of h, or within a tenth of its way?
    nudge(w, v.x_end, v.x_trial)
    if lowest >= 0.0 and eval_h(w, t + length, v.x_trial, g.h_trial):
        return outcomes.FAILED
    unsure = 30.0 * abs(g.h_trial[k] - g.h_end[k]) if lowest >= 0.0 else 0.0
    if lowest > max(unsure, 0.1 * min(abs(g.h[k]), abs(g.h_end[k]))):
        return outcomes.STEPPED
    if lowest >= 0.0 or where != 0.5:
        where, lowest = nearest_approach(w, length, k, where)
        if where < 0.0:
            return outcomes.FAILED
    if lowest < 0.0:
        s.dt = where * length
        s.rejected += 1
        return outcomes.REJECTED
    if lowest <= unsure and g.level[k] == 0.0:
        s.question, s.target = codes.NEAR, k
        s.asked_t, s.asked_value, s.asked_bend = t + where * length, lowest, abs(g.hdot_end[k] - g.hdot[k]) / length
        copy_state(v.x_trial, v.x_near)
    return outcomes.STEPPED


@core
def nearest_approach(w, length, k, where):
    """Where in the step (0 to 1, from a guess) guard k is nearest to a crossing, and how near; -1: a function failed.

    On the step's own extension: a cubic is not accurate enough for a guard that is barely touched. Leaves the state in v.x_trial.
    """
    compact()
    s, v, g = w.s, w.v, w.g
    if prepare(w, s.kind, length):
        return -1.0, 0.0
    b, bend, behind = g.watched[k], g.watched[k] * length * (g.hdot_end[k] - g.hdot[k]), 0.0
    for turn in range(5):
        # twice: h at two places gives the slope, and a Newton step the minimum; then h there
        first = max(where - 1e-3, 0.0)
        place = where if turn == 4 else first if turn % 2 == 0 else first + 1e-3
        interpolate(v, s.kind, place, length, length, v.x_trial)
        if eval_h(w, s.t + place * length, v.x_trial, g.h_trial):
            return -1.0, 0.0
        value = b * g.h_trial[k] - g.level[k]
        if value < 0.0:
            return max(place, 1e-3), value
        if turn % 2 == 1 and bend > 0.0:
            where = min(max(first + 5e-4 - 1e3 * (value - behind) / bend, 0.0), 1.0)
        behind = value
    return where, value
