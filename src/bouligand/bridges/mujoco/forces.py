"""Forces at the contacts of a robot, for pictures and curves: compiled when first asked for."""

from ...core.compiler.tables import matrix_at, vector_at
from .compiled import compile_entry
from .coupled import substituted
from .mechanics import set_positions, set_velocities
from .spatial import sum_of, three_of
from .symbols import com_pos, com_vel, kinematics
from .table import LIMIT, opened
from .touching import closing, friction, normal_force, place, pushes


def _forces(t, x, b, p, out, ctx):
    """The force on body 1 of each contact, (contacts, 3): the same formulas as in f."""
    r, n, m, count = opened(ctx)
    contacts, here, mode, numbers = r.contacts, vector_at(substituted(r, x), n), vector_at(b, m), vector_at(p, count)
    rows = matrix_at(out, contacts.shape[0], 3)
    model, data = r.mujoco.model, r.mujoco.data
    set_positions(r, here)
    set_velocities(r, here)
    kinematics(model, data)
    com_pos(model, data)
    com_vel(model, data)
    row = 0
    for k in range(contacts.shape[0]):
        contact = contacts[k]
        if contact.kind < LIMIT:
            force = 0.0, 0.0, 0.0
            if pushes(contact, mode):
                place(r, here, contact)
                load = normal_force(contact, r.placed.depth, closing(r, contact), numbers)
                tangential = friction(r, here, mode, contact, load, numbers, r.rates)
                force = sum_of(tangential, load, three_of(r.placed.push))
            rows[row, 0], rows[row, 1], rows[row, 2] = force
            row += 1
    return 0


_entry: list = []


def entry():
    """It as a ctypes function."""
    if not _entry:
        _entry.append(compile_entry(_forces, 4))
    return _entry[0]
