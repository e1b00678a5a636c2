"""Preparation of a derivative: steps for differences, and the guards that the record starts on."""

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.tables import work
from ..evaluate import copy_state, eval_h
from ..recorded import use_parameters
from ..resolution import near_zero, shake


@core(entry=True)
def prepare(table):
    """Steps for differences, from the whole trajectory; g.held = 1 for guards that are zero at the first row of the record.

    Returns how many these guards are; negative if h failed.
    """
    compact()
    w = work(table)
    v, g, t = w.v, w.g, w.steps[0].t
    difference_steps(w)
    use_parameters(w, w.tangents.at.leg)
    copy_state(w.states[0], v.x)
    held = 0
    shake(v)
    if eval_h(w, t, v.x, g.h) or eval_h(w, t, v.x_trial, g.h_trial):
        return -1
    for k in range(g.width):
        g.held[k] = 1.0 if near_zero(g, k) and g.observer[k] == 0.0 else 0.0
        held += int(g.held[k])
    return held


@core
def difference_steps(w):
    """For each state, each parameter and time, the step at which the error of a central difference is least; and the largest
    value of each state.

    Its round-off is ``eps |x| / step``, its truncation error ``(step / scale)^2``; the scale is how far the trajectory moves.
    """
    compact()
    s, v, out, largest, states = w.s, w.v, w.tangents.differences, w.tangents.rows.largest, w.tangents.whole
    eps, n, last = 2.2e-16, v.width, states.shape[0] - 1
    for i in range(n):
        high, low = states[0, i], states[0, i]
        for q in range(1, last + 1):
            high, low = max(high, states[q, i]), min(low, states[q, i])
        most = max(high, -low)
        largest[i] = most
        scale = max(high - low, 10.0 * v.atol[i] / s.rtol)
        if scale == 0.0:
            scale = most if most > 0.0 else 1.0
        out[i] = (eps * (scale + most) * scale * scale) ** (1.0 / 3.0)
    for i in range(n, out.shape[0] - 1):
        size = abs(w.leg_p[0, i - n])
        out[i] = eps ** (1.0 / 3.0) * (size if size > 0.0 else 1.0)
    step = (s.tf - s.t0) / max(last, 1)
    out[out.shape[0] - 1] = (eps * max(abs(s.t0), abs(s.tf), step) * step * step) ** (1.0 / 3.0)
