"""The force of a contact at rest as a parameter of f (`System(rest={"floor": "N"})`): friction whose limit it is.

The force is measured by what it adds to the second derivative of h: for a block on a floor, the normal force over its mass. f
depends on it, and it may depend on f: it is written to a copy of the parameters, and found again with that, until it stays the
same. (Friction along a floor does not change the force across it: that is seen at the second time.) Where friction changes the
forces, Broyden's method finds them, of a single force the method of secants: if f is affine in them after two rounds for each,
also where they would grow by repeating alone.
"""

import math

import numpy as np

from ..compiler.intrinsics import compact, read, read_int, write
from ..state import FORCES, SPACE
from .rates import compiled
from .space import compiled_layout

MOST_ROUNDS = 60
SETTLED = 1e-10  # relative change of a force that is none
LEAST = 1e-12  # of x': instead of no force, so that friction has a direction where it begins and ends
NOTICED = 0.01  # of x': the size of a force whose relative change counts


@compiled
def with_forces(p, b, ctx):
    """The address of the parameters for f: a copy in the context's memory, with a first guess of the forces at rest; or p, if f
    needs none."""
    compact()
    places = read_int(ctx, FORCES)
    if places == 0:
        return p
    n, m, parameters = read_int(ctx, 0), read_int(ctx, 1), read_int(ctx, 2)
    _, _, copy, _ = compiled_layout(n, m, parameters)
    own = read_int(ctx, SPACE) + 8 * copy
    for i in range(parameters):
        write(own, i, read(p, i))
    for k in range(m):
        if read_int(places, k) >= 0 and read(b, k) == 0.0:
            write(own, read_int(places, k), 1.0)
    return own


@compiled
def rows_of_forces(ctx, count):
    """For `forces_changed`, with so many guards that are stayed on: forces that were assumed the last time, by how much those
    that were found differed, and the inverse of how the second depend on the first. (Nothing, if f needs no forces.)"""
    compact()
    count = count if read_int(ctx, FORCES) != 0 else 0
    rows = np.zeros((2 + count, count))
    for q in range(count):
        rows[2 + q, q] = -1.0  # (as if friction did not change them)
    return rows


@compiled
def forces_changed(p, ctx, which, fields, rates, u, rows):
    """Write the forces of contacts at rest to the parameters; whether that changes f, so that they are to be found again."""
    compact()
    places, count = read_int(ctx, FORCES), which.shape[0]
    if places == 0:
        return False
    size, changed = 0.0, False
    for i in range(fields.shape[1]):
        size = max(size, abs(fields[count, i]))
    step, difference = np.zeros(count), np.zeros(count)
    first = True
    for q in range(count):
        first = first and rows[0, q] == 0.0
        place = read_int(places, which[q])
        if place >= 0:
            force, before = max(rates[q, which[q]] * u[q], LEAST * size), read(p, place)
            changed = changed or not abs(force - before) <= SETTLED * max(force, NOTICED * size)
            step[q], difference[q] = before - rows[0, q], force - before - rows[1, q]
            rows[0, q], rows[1, q] = before, force - before
    if not first:
        learn(rows, step, difference)
    for q in range(count):
        place = read_int(places, which[q])
        if place >= 0:
            better = rows[0, q]
            for r in range(count):
                better -= rows[2 + q, r] * rows[1, r]
            write(p, place, better if LEAST * size < better < math.inf else rows[0, q] + rows[1, q])
    return changed


@compiled
def learn(rows, step, difference):
    """Broyden's update of the inverse: forces that were changed by ``step`` changed what was missing by ``difference``."""
    compact()
    count = step.shape[0]
    error, row, length = np.zeros(count), np.zeros(count), 0.0
    for q in range(count):
        error[q] = step[q]
        for r in range(count):
            error[q] -= rows[2 + q, r] * difference[r]
            row[r] += step[q] * rows[2 + q, r]
    for r in range(count):
        length += row[r] * difference[r]
    for q in range(count):
        for r in range(count):
            rows[2 + q, r] += error[q] * row[r] / length if length != 0.0 else 0.0
