"""Compiled: entries of Jacobians that concern one joint each, or one state of an actuator or a bristle.

The same functions serve Jacobians and derivatives along a few directions. In a Jacobian each state (or parameter) has a row of
``r.forces`` and a column of ``out``: ``seeds`` is then ``r.columns``, a matrix without rows. Along directions each direction has
one, and an entry is multiplied by the component of the direction: the rows of ``seeds`` are the directions.
"""

import math

from .table import core

STEP = 6e-6  # of differences of a user's function, relative to max(1, |x|): the cube root of the unit round-off


@core
def add_force(r, seeds, column, dof, value):
    """To the force on a dof, what it changes with one state or parameter."""
    forces = r.forces
    if seeds.shape[0] == 0:
        forces[column, dof] += value
    for q in range(seeds.shape[0]):
        forces[q, dof] += value * seeds[q, column]


@core
def add_rate(seeds, out, row, column, value):
    """The same to the rate of a state, a row of ``out``."""
    if seeds.shape[0] == 0:
        out[row, column] += value
    for q in range(seeds.shape[0]):
        out[row, q] += value * seeds[q, column]


@core
def rows_for(seeds, count):
    """How many rows of ``r.forces`` (and columns of ``out``) there are for so many states or parameters."""
    return seeds.shape[0] if seeds.shape[0] > 0 else count


@core
def step_of_difference(seeds, row, source, count):
    """The step of a difference for such a row: in one component of ``source``, or along a direction; 0 if that is zero."""
    if seeds.shape[0] == 0:
        return STEP * max(1.0, math.fabs(source[row]))
    largest = 0.0
    for i in range(count):
        largest = max(largest, math.fabs(seeds[row, i]) / max(1.0, math.fabs(source[i])))
    return STEP / largest if largest > 0.0 else 0.0


@core
def width_of_difference(seeds, row, source, step):
    """How far apart the two sides of such a difference are: in one component, as they are rounded."""
    if seeds.shape[0] > 0:
        return 2.0 * step
    here = source[row]
    return (here + step) - (here - step)


@core
def displace(seeds, row, source, count, step, copy):
    """``copy``, which is equal to ``source``, moved by such a step; by 0: moved back."""
    if seeds.shape[0] == 0:
        copy[row] = source[row] + step
        return
    for i in range(count):
        copy[i] = source[i] + step * seeds[row, i]
