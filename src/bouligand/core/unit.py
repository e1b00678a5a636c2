"""Parts of the state that have unit length: quaternions, directions.

Such a part is integrated like any other and made unit again after every accepted step. Where f only turns it (it commutes
with scaling that part), this changes nothing but the drift: a trajectory and the same one rescaled are one motion. A tangent
then loses what it has along that part.
"""

import math

from .compiler.intrinsics import compact
from .compiler.jit import core
from .state import FN_SIZE, UNITS


@core
def make_unit(fn, V, row, slope):
    """Scale the unit parts of V[row] to length 1, and those of V[slope], x' there, with them (slope = row: none)."""
    compact()
    for u in range(fn[UNITS]):
        first, stop = fn[FN_SIZE + 2 * u], fn[FN_SIZE + 2 * u + 1]
        square = 0.0
        for i in range(first, stop):
            square += V[row, i] * V[row, i]
        scale = 1.0 / math.sqrt(square)
        for i in range(first, stop):
            V[row, i] *= scale
            if slope != row:
                V[slope, i] *= scale


@core
def without_scaling(fn, V, row, tangent):
    """Take out of a tangent (or a gradient) at V[row] what it has along the unit parts of that state."""
    compact()
    for u in range(fn[UNITS]):
        first, stop = fn[FN_SIZE + 2 * u], fn[FN_SIZE + 2 * u + 1]
        along = 0.0
        for i in range(first, stop):
            along += V[row, i] * tangent[i]
        for i in range(first, stop):
            tangent[i] -= along * V[row, i]
