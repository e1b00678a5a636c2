"""A stiff step: ROS34PW2, with a matrix that is near Df (see `schemes.ros34pw2`)."""

import math

from .. import codes
from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import eval_f, eval_fh, failed, in_tolerances
from ..schemes.ros34pw2 import ALPHA, DIAGONAL, ERROR, GAMMA, STAGES, TIMES, WEIGHTS
from .dense import end_derivatives
from .jacobian import after_f, renew, step_number
from .linear import factorise, solve

LOOSEST = 1e-1  # relative tolerance: above it, stiff steps are not reliable where feet slide
EVALUATION_FAILED = -1.0  # instead of an error estimate (as in `steps.smooth`)


@core
def stiff_step(w, length):
    """Try a step of this length from v.x to v.x_end. Returns its error in tolerances.

    Leaves x', x'' and x''' at its end in v.f_end, v.second and v.third.
    """
    compact()
    s, v, fn = w.s, w.v, w.fn
    n, end = v.width, min(s.now.t + length, s.run.cap)
    if renew(w):
        return EVALUATION_FAILED
    if factorise(w.stiff, DIAGONAL * length):
        return math.inf
    if stages(w, length):
        return EVALUATION_FAILED
    for i in range(n):
        step, error = 0.0, 0.0
        for q in range(STAGES):
            step += WEIGHTS[q] * v.stages[q + 1, i]
            error += ERROR[q] * v.stages[q + 1, i]
        v.x_end[i] = v.x[i] + length * step
        v.scratch[i] = length * error
    error = in_tolerances(w, v.scratch, v.x, v.x_end) * max(s.options.rtol / LOOSEST, 1.0)
    if error > 1.0:
        return error
    if fn.fh != 0:
        if eval_fh(w, end, v.x_end, v.f_end):
            return EVALUATION_FAILED
    elif eval_f(w, end, v.x_end, v.f_end):
        return EVALUATION_FAILED
    if w.tangents.jacobians.A != 0:  # (now, for the next step: f was evaluated there)
        s.stiff.A_at = step_number(s, 1)
        if after_f(w, end, v.x_end):
            return EVALUATION_FAILED
    end_derivatives(v, length)
    total = 0.0
    for i in range(n):
        total += v.f_end[i]
    return error if abs(total) < math.inf else math.inf


@core
def replay(w, length):
    """The stages of a recorded step from v.x, with x' there at hand. True if a function failed."""
    compact()
    w.s.stiff.A_at = -1
    return renew(w) or with_A(w, length)


@core
def with_A(w, length):
    """The stages of a step from v.x, with x' and A there at hand. True if a function failed."""
    compact()
    if factorise(w.stiff, DIAGONAL * length):
        return failed(w, codes.DF_FAILED, min(w.s.now.t, w.s.run.cap), w.v.x)
    return stages(w, length)


@core
def stages(w, length):
    """v.stages[1:5] = the stages of a step from v.x, with factors for this length at hand. True if f failed."""
    compact()
    v, before = w.v, w.stiff.rows.before
    n = v.width
    for q in range(STAGES):
        k = v.stages[q + 1]
        for i in range(n):
            total = 0.0
            for r in range(q):
                total += GAMMA[q, r] * v.stages[r + 1, i]
            before[i] = total
        if q == 0:
            for i in range(n):
                k[i] = v.f[i]
        elif eval_f(w, place(w, q, length), v.x_trial, k):
            return True
        for i in range(n):
            k[i] += before[i]
        solve(w.stiff, k)
        for i in range(n):
            k[i] -= before[i]
    return False


@core
def place(w, q, length):
    """v.x_trial = the state of a stage; returns its time."""
    compact()
    s, v = w.s, w.v
    for i in range(v.width):
        total = 0.0
        for r in range(q):
            total += ALPHA[q, r] * v.stages[r + 1, i]
        v.x_trial[i] = v.x[i] + length * total
    return min(s.now.t + TIMES[q] * length, s.run.cap)
