"""Compiled: Dh of the guards of friction that sticks exactly, which are slips of contacts and speeds of joints."""

from ...core.compiler.intrinsics import read, read_int, write
from ...core.compiler.jit import core
from ...core.state import DUAL, LANES
from . import laws
from . import layout as at
from .contact_jacobian import arms, mark_dofs, slip_changes
from .mechanics import lift_row
from .smooth_jacobian import velocities
from .touching import place


@core
def add_sticking_rows(w, x, out, n):
    """To Dh, which has the rows of depths and forces, those of slips and speeds."""
    nq, loss = read_int(w, at.NQ), read_int(w, at.LOSSES)
    for _ in range(read_int(w, at.LOSS_COUNT)):
        guard = int(read(loss, at.LOSS_GUARD))
        if guard >= 0:
            write(out, n * guard + nq + int(read(loss, at.LOSS_DOF)), 1.0)
        loss += 8 * at.LOSS_DOUBLES
    contact, spot = read_int(w, at.CONTACTS), read_int(w, at.PLACES)
    velocities(w)
    for _ in range(read_int(w, at.CONTACT_COUNT)):
        if read_int(contact, at.FRICTION) == laws.EXACT_COULOMB:
            place(w, x, contact, spot)
            mark_dofs(w, contact)
            for q in range(2):
                guard = read_int(contact, at.SLIPS + q)
                if guard >= 0:
                    _slip_row(w, x, contact, spot, spot + 8 * (at.ALONG + 3 * q), out + 8 * n * guard)
        contact, spot = contact + 8 * at.CONTACT_INTS, spot + 8 * at.CONTACT_DOUBLES


@core
def _slip_row(w, x, contact, spot, way, out):
    """How the slip in a direction changes with the state, of a contact that has been placed."""
    nq, nv, marks = read_int(w, at.NQ), read_int(w, at.NV), read_int(w, at.MARKS)
    row, reach = read_int(w, at.SCRATCH) + 8 * at.ROW, arms(w, contact, spot)
    for k in range(nv):
        by_angle = 0.0
        if read(marks, k) != 0.0:
            speed, angle, _, _ = slip_changes(w, contact, k, reach)
            by_speed = 0.0
            for q in range(3):
                by_speed += read(way, q) * speed[q]
                by_angle += read(way, q) * angle[q]
            write(out, nq + k, by_speed)
        write(row, k, by_angle)
    lift_row(w, x, row, 1.0, out)


@core
def add_products(matrix, rows, columns, vector, out):
    """To the tangents of dual numbers ``out`` a matrix times those of ``vector``."""
    for k in range(rows):
        for j in range(columns):
            a = read(matrix, columns * k + j)
            if a != 0.0:
                for q in range(1, 1 + LANES):
                    write(out, DUAL * k + q, read(out, DUAL * k + q) + a * read(vector, DUAL * j + q))
