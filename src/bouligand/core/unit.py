"""Parts of the state that have unit length: quaternions, directions.

Such a part is integrated like any other and normalised after every accepted step. Where f commutes with scaling that part, this
removes the drift and changes nothing else: a trajectory and the same one rescaled are one motion. A tangent then loses its
component along that part.
"""

import math

from .compiler.intrinsics import compact
from .compiler.jit import core


@core
def make_unit(w, x):
    """Scale the unit parts of a state to length 1."""
    compact()
    units = w.units
    for u in range(units.shape[0]):
        first, stop = units[u, 0], units[u, 1]
        scale = 1.0 / length_of(x, first, stop)
        for i in range(first, stop):
            x[i] *= scale


@core
def make_unit_with_slope(w, x, slope):
    """The same, and x' there with it."""
    compact()
    units = w.units
    for u in range(units.shape[0]):
        first, stop = units[u, 0], units[u, 1]
        scale = 1.0 / length_of(x, first, stop)
        for i in range(first, stop):
            x[i] *= scale
            slope[i] *= scale


@core(inline=True)
def length_of(x, first, stop):
    compact()
    square = 0.0
    for i in range(first, stop):
        square += x[i] * x[i]
    return math.sqrt(square)


@core
def without_scaling(w, x, tangent):
    """Remove from a tangent (or a gradient) at x its components along the unit parts of that state."""
    compact()
    units = w.units
    for u in range(units.shape[0]):
        first, stop = units[u, 0], units[u, 1]
        along = 0.0
        for i in range(first, stop):
            along += x[i] * tangent[i]
        for i in range(first, stop):
            tangent[i] -= along * x[i]
