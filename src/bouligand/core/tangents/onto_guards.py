"""Tangents where the trajectory begins to slide on guards that it is on, because another guard is crossed (a foot lands without
slip): a perturbed trajectory slips for a while, then slides. To first order it is moved onto these guards, as the state is after
each step."""

from .. import codes
from ..compiler.intrinsics import address, call, compact
from ..compiler.jit import core
from ..evaluate import failed
from ..recorded import use_parameters

STEP = 1e-5  # of central differences of the move, which is nearly linear; relative to the state or the parameters
SMALL = 1e-3  # the size of one that is zero


@core
def begins_to_slide(w, event):
    """Whether the trajectory, where the guard of this row of events is crossed, begins to slide on another one."""
    compact()
    g, events, begins = w.g, w.events, False
    for q in range(event + 1, event + w.tangents.at.many):
        k = events[q].guard
        begins = begins or (events[q].sign == 0.0 and k != events[event].guard and g.rest[k] == 0.0)
    return begins


@core
def move_tangents(w, D):
    """Move the tangents D (state, then parameters) onto the guards that are slid on, by differences. True if f failed."""
    compact()
    s, v, p, n, bad = w.s, w.v, w.p, w.v.width, 0
    size = SMALL
    for i in range(n):
        size = max(size, abs(v.x[i]))
    for a in range(D.shape[0]):
        largest = 0.0
        for i in range(D.shape[1]):
            of = size if i < n else max(abs(p[i - n]), SMALL)
            largest = max(largest, abs(D[a, i]) / of)
        if largest == 0.0:
            continue
        step = STEP / largest
        for turn in range(2):
            sign = step if turn == 0 else -step
            for i in range(n):
                v.x_trial[i] = v.x[i] + sign * D[a, i]
            for i in range(n, D.shape[1]):
                p[i - n] += (1.0 if turn == 0 else 2.0) * sign * D[a, i]
            out = address(v.x_near) if turn == 0 else address(v.x_middle)
            bad = bad or call(
                w.fn.project, s.now.t, (address(v.x_trial), address(w.g.b), address(p), out), w.fn.context
            )
        use_parameters(w, w.tangents.at.leg)
        for i in range(n):
            D[a, i] = (v.x_near[i] - v.x_middle[i]) / (2.0 * step)
    return bad != 0 and failed(w, codes.F_FAILED, s.now.t, v.x)
