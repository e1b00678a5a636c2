"""The force of a contact at rest as a parameter of f (`System(rest={"floor": "N"})`): friction whose limit it is.

The force is measured by what it adds to the second derivative of h: for a block on a floor, the normal force over its mass. f
depends on it, and it may depend on f: it is written to a copy of the parameters, and found again with that, until it stays the
same. (Friction along a floor does not change the force across it: that is seen at the second time.) A single force is found by
secants: at the third time, if f is affine in it, also where it would grow by repeating alone.
"""

import math

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
    write(own, parameters, math.nan)
    return own


@compiled
def forces_changed(p, ctx, which, fields, rates, u):
    """Write the forces of contacts at rest to the parameters; whether that changes f, so that they are to be found again."""
    compact()
    places = read_int(ctx, FORCES)
    if places == 0:
        return False
    size, changed, count = 0.0, False, 0
    for i in range(fields.shape[1]):
        size = max(size, abs(fields[which.shape[0], i]))
    for q in range(which.shape[0]):
        count += 1 if read_int(places, which[q]) >= 0 else 0
    for q in range(which.shape[0]):
        place = read_int(places, which[q])
        if place >= 0:
            force, before = rates[q, which[q]] * u[q], read(p, place)
            force = force if force > LEAST * size else LEAST * size
            changed = changed or abs(force - before) > SETTLED * max(force, NOTICED * size)
            write(p, place, force if count > 1 else by_secant(p + 8 * read_int(ctx, 2), before, force, LEAST * size))
    return changed


@compiled
def by_secant(last, before, force, least):
    """A better guess of a force, with which ``force`` is found where ``before`` was assumed. At the address ``last``: what was
    assumed the last time (NaN at first), and by how much what was found differed."""
    compact()
    change = force - before
    slope = (change - read(last, 1)) / (before - read(last, 0))
    better = before - change / slope
    write(last, 0, before)
    write(last, 1, change)
    return better if least < better < math.inf else force
