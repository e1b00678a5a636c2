"""Compiled: entries of Jacobians that concern one joint each, or one state of an actuator or a bristle.

The same functions serve Jacobians and derivatives along a few directions. In a Jacobian each state (or parameter) has a row of
FORCES and a column of ``out``: ``seeds`` is COLUMNS. Along directions each direction has one, and an entry is multiplied by the
component of the direction: ``seeds`` has the address of the directions, the length of their rows, and their number.
"""

import math

from ...core.compiler.intrinsics import read, read_int, write
from ...core.compiler.jit import core
from . import layout as at

COLUMNS = (0, 0, 0)
STEP = 6e-6  # of differences of a user's function, relative to max(1, |x|): the cube root of the unit round-off


@core
def add_force(w, seeds, column, dof, value):
    """To the force on a dof, what it changes with one state or parameter."""
    _add(seeds, read_int(w, at.FORCES) + 8 * dof, read_int(w, at.NV), column, value)


@core
def add_rate(seeds, out, stride, row, column, value):
    """The same to the rate of a state, a row of ``out`` (n, stride)."""
    _add(seeds, out + 8 * stride * row, 1, column, value)


@core
def _add(seeds, first, step, column, value):
    """To a table at ``first``, whose columns (or directions) are ``step`` numbers apart."""
    directions, width, many = seeds
    if many == 0:
        write(first, step * column, read(first, step * column) + value)
    for q in range(many):
        write(first, step * q, read(first, step * q) + value * read(directions, width * q + column))


@core
def rows_for(seeds, count):
    """How many rows of FORCES (and columns of ``out``) there are for so many states or parameters."""
    return seeds[2] if seeds[2] > 0 else count


@core
def step_of_difference(seeds, row, source, count):
    """The step of a difference for such a row: in one component of ``source``, or along a direction; 0 if that is zero."""
    directions, width, many = seeds
    if many == 0:
        return STEP * max(1.0, math.fabs(read(source, row)))
    largest = 0.0
    for i in range(count):
        largest = max(largest, math.fabs(read(directions, width * row + i)) / max(1.0, math.fabs(read(source, i))))
    return STEP / largest if largest > 0.0 else 0.0


@core
def width_of_difference(seeds, row, source, step):
    """How far apart the two sides of such a difference are: in one component, as they are rounded."""
    here = read(source, row)
    return (here + step) - (here - step) if seeds[2] == 0 else 2.0 * step


@core
def displace(seeds, row, source, count, step, copy):
    """``copy``, which is equal to ``source``, moved by such a step; by 0: moved back."""
    directions, width, many = seeds
    if many == 0:
        write(copy, row, read(source, row) + step)
        return
    for i in range(count):
        write(copy, i, read(source, i) + step * read(directions, width * row + i))
