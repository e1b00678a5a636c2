"""Dense output: the state at any time inside a step, from the step's own stages.

A smooth step has its scheme's continuous extension. A hop is a cubic between its ends, which is as accurate as the hop; its last
rung has dopri5's extension. Where a step was cut or corrected to end on a guard, the small difference at its end is
spread over the step by a cubic with zero slope at both ends, so that x is continuous and x' is right on both sides.
"""

from .. import codes
from ..compiler.intrinsics import address, compact
from ..compiler.jit import core
from ..evaluate import copy_state, count_f, failed
from ..schemes import METHODS, STIFF, table
from ..schemes.table import dense_stages
from ..state import BACK, HOP
from ..stiff.dense import inside_stiff
from ..unit import make_unit
from .inside import cubic_between

DOPRI5 = METHODS["dopri5"]


@core
def prepare(w, kind, length):
    """The further stages that a scheme's extension needs; True if f failed."""
    s, v, fn = w.s, w.v, w.fn
    scheme = kind % BACK
    if scheme >= HOP or table.MORE_STAGES[scheme] == 0:
        return False
    count_f(s, table.MORE_STAGES[scheme])
    b, p = address(w.g.b), address(w.p)
    bad = dense_stages(scheme, fn.f, fn.context, s.now.t, length, s.run.cap, v.x, v.stages, v.x_trial, b, p)
    if bad == 0:
        return False
    return failed(w, codes.F_FAILED, min(s.now.t + table.STAGE_TIME[scheme, bad] * length, s.run.cap), v.x_trial)


@core
def extension(v, scheme, stages, theta, length, out):
    """out = the scheme's extension at theta, from its stages."""
    compact()
    for i in range(v.width):
        out[i] = 0.0
    for q in range(table.DENSE_STAGES[scheme]):
        weight = 0.0
        for d in range(table.DEGREE[scheme] - 1, -1, -1):
            weight = (weight + table.EXTENSION[scheme, q, d]) * theta
        if weight != 0.0:
            for i in range(v.width):
                out[i] += weight * stages[q, i]
    for i in range(v.width):
        out[i] = v.x[i] + length * out[i]


@core
def interpolate(v, kind, theta, length, whole, out):
    """out = the state at ``theta`` (0 to 1) of a step that took ``whole``, its first part ``length``."""
    compact()
    base = kind % BACK
    if base == STIFF:
        inside_stiff(v, theta, length, whole, out)
        return
    if base >= HOP and base != HOP + 5:
        cubic_between(v, theta, whole, out)
        return
    scheme, stages = (DOPRI5, v.hop_stages) if base >= HOP else (base, v.stages)
    if whole != length:
        extension(v, scheme, stages, whole / length, length, v.scratch)
        ramp = theta * theta * (3.0 - 2.0 * theta)
        for i in range(v.width):
            v.scratch[i] = ramp * (v.x_end[i] - v.scratch[i])
    extension(v, scheme, stages, theta * whole / length, length, out)
    if whole != length:
        for i in range(v.width):
            out[i] += v.scratch[i]


@core
def requested(w, length, whole):
    """Write the states at the requested times inside the step that is being accepted; True if f failed."""
    compact()
    s, v, t_eval = w.s, w.v, w.t_eval
    end = s.now.t + whole
    if t_eval[s.rows.requested] < end and prepare(w, s.step.kind, length):
        return True
    while s.rows.requested < t_eval.shape[0] and t_eval[s.rows.requested] <= end:
        q = s.rows.requested
        x = w.x_eval[q]
        if t_eval[q] < end:
            interpolate(v, s.step.kind, (t_eval[q] - s.now.t) / whole, length, whole, x)
        else:
            copy_state(v.x_end, x)
        make_unit(w, x)
        s.rows.requested += 1
    return False
