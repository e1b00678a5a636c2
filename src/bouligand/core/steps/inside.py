"""Inside a step: states between its ends, and where in it a guard was crossed first.

Only h is evaluated here. States are those of the cubic through both ends and their slopes (of a stiff step, of its extension),
which is accurate enough to bracket a crossing; a hop of its own then lands on it.
"""

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.vectors import copy
from ..evaluate import eval_h
from ..guards import wrong_at
from ..schemes import STIFF
from ..state import BACK
from ..stiff.dense import inside_stiff


@core
def cubic_between(v, theta, length, out):
    """out = the cubic through both ends of the step and their slopes, at theta."""
    compact()
    u = 1.0 - theta
    for i in range(v.width):
        rise = v.x_end[i] - v.x[i]
        ends = u * (length * v.f[i] - rise) - theta * (length * v.f_end[i] - rise)
        out[i] = v.x[i] + theta * (rise + u * ends)


@core(inline=True)
def between(w, theta, whole, out):
    """out = about the state at theta of the step that is being taken."""
    compact()
    if w.s.step.kind % BACK == STIFF:
        inside_stiff(w.v, theta, w.s.step.length, whole, out)
    else:
        cubic_between(w.v, theta, whole, out)


@core
def locate(w, length):
    """Place in the step (0 to 1) and guard of the first crossing, found by bracketing with evaluations of h only.

    Returns -1, -1 if no guard is on the wrong side at the end, and -2, -1 if h failed.
    """
    compact()
    s, v, g = w.s, w.v, w.g
    if eval_h(w, s.now.t + length, v.x_end, g.hdot_end):
        return -2.0, -1
    j = wrong_at(g, g.hdot_end)
    if j < 0:
        return -1.0, -1
    copy(g.h, g.h_middle)
    low, high = 0.0, 1.0
    for turn in range(60):
        ahead = g.watched[j] * g.h_middle[j] - g.level[j]
        behind = g.watched[j] * g.hdot_end[j] - g.level[j]
        part = ahead / (ahead - behind) if ahead > 0.0 else 0.5
        if high - low < 1e-4 * high:
            return low + part * (high - low), j
        # a secant, kept away from the ends, alternating with bisection
        part = 0.5 if turn % 3 == 2 else min(max(part, 0.02), 0.98)
        theta = low + part * (high - low)
        between(w, theta, length, v.x_trial)
        if eval_h(w, s.now.t + theta * length, v.x_trial, g.h_trial):
            return -2.0, -1
        k = wrong_at(g, g.h_trial)
        if k >= 0:
            high, j = theta, k
        else:
            low = theta
        copy(g.h_trial, g.hdot_end if k >= 0 else g.h_middle)
    return high, j
