"""The states of rows inside the trajectory's steps, from which perturbations go on: those that their own steps reach.

A step of perturbations evaluates f at its stages, so that the state behind it costs nothing more; dense output would take the
whole step again, or add up what all contacts of a spanning step contribute. The short steps are as accurate as the trajectory's
own, and the last one ends at a row of the record, so that errors do not add up. Until perturbations have come to such a row, its
state is not a number where a step is divided (an adjoint, which comes from the other side, needs it before: see
`derivative.stretch`), and infinite inside a spanning step (see `tangents.states_ahead`).
"""

import math

from .compiler.jit import core
from .unit import make_unit

UNKNOWN, AHEAD = math.nan, math.inf


@core(inline=True)
def leave_open(states, row):
    """The state of a row where a step is divided is not known yet."""
    states[row, 0] = UNKNOWN


@core(inline=True)
def leave_ahead(states, row):
    """The state of a row inside a spanning step is not known yet."""
    states[row, 0] = AHEAD


@core(inline=True)
def is_open(states, row):
    """Whether the state of a row is not known yet."""
    return not abs(states[row, 0]) < math.inf


@core(inline=True)
def is_ahead(states, row):
    """Whether it is one inside a spanning step."""
    return states[row, 0] == AHEAD


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
