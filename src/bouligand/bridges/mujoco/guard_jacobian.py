"""Compiled: Dh, the Jacobian of the guards in the state."""

from . import laws
from .contact_jacobian import arms, mark_dofs, slip_changes
from .mechanics import lift_row, pull_tendon, push_body, speed_row
from .pair_jacobian import pair_slopes
from .smooth_jacobian import velocities
from .spatial import sum_of, three_of
from .table import LIMIT, PAIR, POINT, TENDON, core
from .touching import place, slip


@core
def depth_row(r, contact, row):
    """row (nv) = the derivative of depth in tangent coordinates, of a contact that has been placed."""
    for j in range(row.shape[0]):
        row[j] = 0.0
    if contact.kind == LIMIT:
        row[contact.dof] = contact.sign
        return
    if contact.kind == TENDON:
        pull_tendon(r, contact.tendon, contact.sign, row)
        return
    x, y, z = three_of(r.placed.where)
    a, b, c = three_of(r.placed.push)
    push_body(r, contact.body1, x, y, z, -a, -b, -c, row)
    if contact.body2 != 0:
        push_body(r, contact.body2, x, y, z, a, b, c, row)


@core(inline=True)
def guard_rows(r, x, p, out):
    """Dh, of data that is up to date: rows of depth from MuJoCo's motion axes, rows of forces from these and ``speed_row``.

    (Of two geoms the effect of the pose on the closing speed is left to ``add_closing_rows``, which takes long to compile.)
    """
    nq, row = r.sizes.nq, r.contact_rows[0]
    for k in range(r.contacts.shape[0]):
        contact = r.contacts[k]
        place(r, x, contact)
        depth_row(r, contact, row)
        lift_row(r, x, row, 1.0, out[contact.touch])
        if contact.pull >= 0:
            target, i = out[contact.pull], contact.p_normal
            by_depth = p[i] if contact.normal == laws.SPRING else 0.0
            by_rate = p[i + 1]
            lift_row(r, x, row, by_depth, target)
            for j in range(row.shape[0]):
                target[nq + j] = by_rate * row[j]
            if contact.kind == POINT:
                for j in range(row.shape[0]):
                    row[j] = 0.0
                a, b, c = three_of(r.placed.push)
                # (the centre is what moves with the body)
                x1, y1, z1 = sum_of(three_of(r.placed.where), contact.radius, (a, b, c))
                speed_row(r, contact.body1, x1, y1, z1, -a, -b, -c, row)
                lift_row(r, x, row, by_rate, target)


@core
def closing_row(r, x, contact, row):
    """row (nv) = how the closing speed of two geoms changes with the pose, in tangent coordinates."""
    marks = r.marks
    pair_slopes(r, x, contact)
    mark_dofs(r, contact)
    slipping, reach, normal = slip(r, contact), arms(r, contact), three_of(r.placed.push)
    for k in range(row.shape[0]):
        change = 0.0
        if marks[k] != 0:
            _, slower, turned, _ = slip_changes(r, contact, k, reach)
            for q in range(3):
                change -= turned[q] * slipping[q] + normal[q] * slower[q]
        row[k] = change


@core
def add_closing_rows(r, x, p, out):
    """To Dh of ``guard_rows`` what it leaves out: forces of two geoms by their closing speed, as the pose changes that."""
    row = r.contact_rows[0]
    velocities(r)
    for k in range(r.contacts.shape[0]):
        contact = r.contacts[k]
        if contact.pull >= 0 and contact.kind == PAIR:
            closing_row(r, x, contact, row)
            lift_row(r, x, row, p[contact.p_normal + 1], out[contact.pull])
