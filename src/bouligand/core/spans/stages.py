"""The stages of a spanning step, and the states inside it: dopri5 for the smooth part, and the jumps (see ``jumps``)."""

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import eval_f
from ..schemes import DOPRI5, METHODS
from ..steps.dense import extension
from .jumps import integral, jump

_A, _C, _SCHEME = DOPRI5.A, DOPRI5.c, METHODS["dopri5"]
_BEFORE = (0, 1, 2, 4, 5, 6, 6)  # intervals before each stage
HALFWAY, LATE = 8, 12  # rows of the sums up to 0.5 and 0.8 of the step


@core
def flip_listed(w, first, end):
    """Flip the signs of a part of the list."""
    b, guard = w.g.b, w.spans.numbers.guard
    for e in range(first, end):
        b[guard[e]] = -b[guard[e]]


@core
def stages(w, length, known, end):
    """The stages of dopri5, each under the word of its time, with the jumps subtracted; ``end`` is the result.

    v.stages then holds f under the word at the start, which the Runge-Kutta formula integrates. ``known``: the first stage has
    been evaluated already (used if nothing is crossed before it). True if f failed.
    """
    compact()
    s, v, before, sums = w.s, w.v, w.spans.numbers.before, w.spans.sums.every
    n, done, bad = v.width, 0, False
    for stage in range(1, 7):
        c = _C[stage]
        upto = before[_BEFORE[stage]]
        row = 4 * (_BEFORE[stage] - 1)
        flip_listed(w, done, upto)
        done = upto
        if stage == 1 and known and upto == 0:
            continue
        out = v.x_trial if stage < 6 else end
        for i in range(n):
            slope = 0.0
            for q in range(stage):
                slope += _A[stage, q] * v.stages[q, i]
            out[i] = v.x[i] + length * (slope + integral(sums, row, c, i))
        if eval_f(w, min(s.now.t + c * length, s.run.cap), out, v.stages[stage]):
            bad = True
            break
        for i in range(n):
            v.stages[stage, i] -= jump(sums, row, c, i)
    flip_listed(w, 0, done)
    return bad


@core
def inside(w, theta, row, length, out):
    """out = the state at theta: dopri5's extension of the smooth part, and the jumps summed up in ``row``."""
    v, sums = w.v, w.spans.sums.every
    extension(v, _SCHEME, v.stages, theta, length, out)
    for i in range(v.width):
        out[i] += length * integral(sums, row, theta, i)
