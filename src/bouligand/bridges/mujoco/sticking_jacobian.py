"""Compiled: Dh of the guards of friction that sticks exactly, which are slips of contacts and speeds of joints."""

from ...core.state import LANES
from . import laws
from .contact_jacobian import arms, mark_dofs, slip_changes
from .mechanics import lift_row
from .smooth_jacobian import velocities
from .table import core
from .touching import place


@core
def add_sticking_rows(r, x, out):
    """To Dh, which has the rows of depths and forces, those of slips and speeds."""
    nq = r.sizes.nq
    for k in range(r.losses.shape[0]):
        loss = r.losses[k]
        if loss.guard >= 0:
            out[loss.guard, nq + loss.dof] = 1.0
    velocities(r)
    for k in range(r.contacts.shape[0]):
        contact = r.contacts[k]
        if contact.friction == laws.EXACT_COULOMB:
            place(r, x, contact)
            mark_dofs(r, contact)
            for q in range(2):
                if contact.slips[q] >= 0:
                    _slip_row(r, x, contact, contact.ways[q], out[contact.slips[q]])


@core
def _slip_row(r, x, contact, way, out):
    """How the slip in a direction changes with the state, of a contact that has been placed."""
    nq, marks = r.sizes.nq, r.marks
    row, reach = r.contact_rows[0], arms(r, contact)
    for k in range(row.shape[0]):
        by_angle = 0.0
        if marks[k] != 0:
            speed, angle, _, _ = slip_changes(r, contact, k, reach)
            by_speed = 0.0
            for q in range(3):
                by_speed += way[q] * speed[q]
                by_angle += way[q] * angle[q]
            out[nq + k] = by_speed
        row[k] = by_angle
    lift_row(r, x, row, 1.0, out)


@core
def add_products(matrix, vector, out):
    """To the tangents of dual numbers ``out`` a matrix times those of ``vector``."""
    for k in range(out.shape[0]):
        for j in range(vector.shape[0]):
            a = matrix[k, j]
            if a != 0.0:
                for q in range(1, 1 + LANES):
                    out[k, q] += a * vector[j, q]
