"""The force of a contact at rest as a parameter of f (`System(rest={"floor": "N"})`): friction whose limit it is.

The force is measured by what it adds to the second derivative of h: for a block on a floor, the normal force over its mass. f
depends on it, and it may depend on f: it is written to a copy of the parameters, and found again with that, until it stays the
same. (Friction along a floor does not change the force across it: that is seen at the second time.)
"""

from ..compiler.intrinsics import compact, read, read_int, write
from ..state import FORCES, SPACE
from .rates import compiled, room_for_duals

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
    own = read_int(ctx, SPACE) + 8 * (m + 2 * n + room_for_duals(n, m, parameters))
    for i in range(parameters):
        write(own, i, read(p, i))
    for k in range(m):
        if read_int(places, k) >= 0 and read(b, k) == 0.0:
            write(own, read_int(places, k), 1.0)
    return own


@compiled
def forces_changed(p, ctx, which, fields, rates, u):
    """Write the forces of contacts at rest to the parameters; whether that changes f, so that they are to be found again."""
    compact()
    places = read_int(ctx, FORCES)
    if places == 0:
        return False
    size, changed = 0.0, False
    for i in range(fields.shape[1]):
        size = max(size, abs(fields[which.shape[0], i]))
    for q in range(which.shape[0]):
        place = read_int(places, which[q])
        if place >= 0:
            force, before = rates[q, which[q]] * u[q], read(p, place)
            force = force if force > LEAST * size else LEAST * size
            changed = changed or abs(force - before) > SETTLED * max(force, NOTICED * size)
            write(p, place, force)
    return changed
