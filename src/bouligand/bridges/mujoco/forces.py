"""Forces at the contacts of a robot, for pictures and curves: compiled when first asked for."""

from ...core.compiler.intrinsics import read, read_int, write
from . import layout as at
from .compiled import USER_DATA, compile_entry
from .coupled import substituted
from .mechanics import set_positions, set_velocities
from .symbols import com_pos, com_vel, kinematics
from .touching import closing, friction, normal_force, place


def _forces(t, x, b, p, out, ctx):
    """The force on body 1 of each contact, (contacts, 3): the same formulas as in f."""
    w = read_int(ctx, USER_DATA)
    x = substituted(w, x)
    model, data, s = read_int(w, at.MODEL), read_int(w, at.DATA), read_int(w, at.SCRATCH)
    set_positions(w, x)
    set_velocities(w, x)
    kinematics(model, data)
    com_pos(model, data)
    com_vel(model, data)
    contact, spot, row = read_int(w, at.CONTACTS), read_int(w, at.PLACES), out
    for _ in range(read_int(w, at.CONTACT_COUNT)):
        if read_int(contact, at.KIND) < at.LIMIT:
            pull = read_int(contact, at.PULL)
            fx, fy, fz = 0.0, 0.0, 0.0
            if read(b, read_int(contact, at.TOUCH)) > 0.0 and (pull < 0 or read(b, pull) > 0.0):
                place(w, x, contact, spot)
                load = normal_force(contact, read(s, at.DEPTH), closing(w, contact, spot), p)
                fx, fy, fz = friction(w, x, b, contact, spot, load, p, read_int(w, at.SOLVED))
                fx, fy, fz = (
                    fx + load * read(s, at.PUSH),
                    fy + load * read(s, at.PUSH + 1),
                    fz + load * read(s, at.PUSH + 2),
                )
            write(row, 0, fx)
            write(row, 1, fy)
            write(row, 2, fz)
            row += 24
        contact, spot = contact + 8 * at.CONTACT_INTS, spot + 8 * at.CONTACT_DOUBLES
    return 0


_entry: list = []


def entry():
    """It as a ctypes function."""
    if not _entry:
        _entry.append(compile_entry(_forces, 4))
    return _entry[0]
