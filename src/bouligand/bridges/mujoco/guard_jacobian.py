"""Compiled: Dh, the Jacobian of the guards in the state."""

from ...core.compiler.intrinsics import read, read_int, write
from ...core.compiler.jit import core
from . import laws
from . import layout as at
from .contact_jacobian import arms, mark_dofs, slip_changes
from .mechanics import lift_row, pull_tendon, push_body, speed_row
from .pair_jacobian import pair_slopes
from .smooth_jacobian import velocities
from .touching import place, slip


@core
def depth_row(w, contact, spot, row):
    """row (nv) = the derivative of depth in tangent coordinates, of a contact that has been placed."""
    for j in range(read_int(w, at.NV)):
        write(row, j, 0.0)
    if read_int(contact, at.KIND) == at.LIMIT:
        write(row, read_int(contact, at.DOF), read(spot, at.SIGN))
        return
    if read_int(contact, at.KIND) == at.TENDON:
        pull_tendon(w, read_int(contact, at.ROPE), read(spot, at.SIGN), row)
        return
    s = read_int(w, at.SCRATCH)
    x, y, z = read(s, at.WHERE), read(s, at.WHERE + 1), read(s, at.WHERE + 2)
    a, b, c = read(s, at.PUSH), read(s, at.PUSH + 1), read(s, at.PUSH + 2)
    push_body(w, read_int(contact, at.BODY1), x, y, z, -a, -b, -c, row)
    if read_int(contact, at.BODY2) != 0:
        push_body(w, read_int(contact, at.BODY2), x, y, z, a, b, c, row)


@core
def guard_rows(w, x, p, out, n):
    """Dh, of data that is up to date: rows of depth from MuJoCo's motion axes, rows of forces from these and ``speed_row``.

    (Of two geoms the effect of the pose on the closing speed is left to ``add_closing_rows``, which takes long to compile.)
    """
    contact, spot = read_int(w, at.CONTACTS), read_int(w, at.PLACES)
    s, nq, nv = read_int(w, at.SCRATCH), read_int(w, at.NQ), read_int(w, at.NV)
    row = s + 8 * at.ROW
    for _ in range(read_int(w, at.CONTACT_COUNT)):
        place(w, x, contact, spot)
        depth_row(w, contact, spot, row)
        lift_row(w, x, row, 1.0, out + 8 * n * read_int(contact, at.TOUCH))
        if read_int(contact, at.PULL) >= 0:
            target = out + 8 * n * read_int(contact, at.PULL)
            i = read_int(contact, at.P_NORMAL)
            by_depth = read(p, i) if read_int(contact, at.NORMAL) == laws.SPRING else 0.0
            by_rate = read(p, i + 1)
            lift_row(w, x, row, by_depth, target)
            for j in range(nv):
                write(target, nq + j, by_rate * read(row, j))
            if read_int(contact, at.KIND) == at.POINT:
                for j in range(nv):
                    write(row, j, 0.0)
                a, b, c = read(s, at.PUSH), read(s, at.PUSH + 1), read(s, at.PUSH + 2)
                where = (read(s, at.WHERE), read(s, at.WHERE + 1), read(s, at.WHERE + 2))
                radius = read(spot, at.RADIUS)  # the centre is what moves with the body
                x1, y1, z1 = where[0] + radius * a, where[1] + radius * b, where[2] + radius * c
                speed_row(w, read_int(contact, at.BODY1), x1, y1, z1, -a, -b, -c, row)
                lift_row(w, x, row, by_rate, target)
        contact, spot = contact + 8 * at.CONTACT_INTS, spot + 8 * at.CONTACT_DOUBLES


@core
def closing_row(w, x, contact, spot, row):
    """row (nv) = how the closing speed of two geoms changes with the pose, in tangent coordinates."""
    s, marks = read_int(w, at.SCRATCH), read_int(w, at.MARKS)
    pair_slopes(w, x, contact, spot)
    mark_dofs(w, contact)
    slipping, reach = slip(w, contact), arms(w, contact, spot)
    for k in range(read_int(w, at.NV)):
        change = 0.0
        if read(marks, k) != 0.0:
            _, slower, turned, _ = slip_changes(w, contact, k, reach)
            for q in range(3):
                change -= turned[q] * slipping[q] + read(s, at.PUSH + q) * slower[q]
        write(row, k, change)


@core
def add_closing_rows(w, x, p, out, n):
    """To Dh of ``guard_rows`` what it leaves out: forces of two geoms by their closing speed, as the pose changes that."""
    contact, spot = read_int(w, at.CONTACTS), read_int(w, at.PLACES)
    row = read_int(w, at.SCRATCH) + 8 * at.ROW
    velocities(w)
    for _ in range(read_int(w, at.CONTACT_COUNT)):
        pull = read_int(contact, at.PULL)
        if pull >= 0 and read_int(contact, at.KIND) == at.PAIR:
            closing_row(w, x, contact, spot, row)
            lift_row(w, x, row, read(p, read_int(contact, at.P_NORMAL) + 1), out + 8 * n * pull)
        contact, spot = contact + 8 * at.CONTACT_INTS, spot + 8 * at.CONTACT_DOUBLES
