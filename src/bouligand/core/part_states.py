"""The states at the times that divide a step, from which perturbations go on: those that their own steps reach.

A step of perturbations evaluates f at its stages, so that the state behind it costs nothing more; dense output would take the
whole step again. The parts are shorter than the step that the trajectory has taken, and as accurate. The last part ends at a row
of the record, so that errors do not add up. Until perturbations have come to such a row, its state is not a number. (An adjoint,
which comes from the other side, needs all states before: see `derivative.stretch`.)
"""

import math

from .compiler.jit import core
from .unit import make_unit

UNKNOWN = math.nan


@core(inline=True)
def leave_open(states, row):
    """The state of a row is not known yet."""
    states[row, 0] = UNKNOWN


@core(inline=True)
def is_open(states, row):
    """Whether the state of a row is not known yet."""
    return math.isnan(states[row, 0])


@core(inline=True)
def awaited(w):
    """Whether the state behind the step from the present record is not known yet."""
    return is_open(w.states, w.tangents.at.record + 1)


@core
def keep_result(w, values, size):
    """The state behind the step from the present record: the first of each ``size`` of these values."""
    out = w.states[w.tangents.at.record + 1]
    for i in range(w.v.width):
        out[i] = values[size * i]
    make_unit(w, out)
