"""Compiled: how the joint forces of contacts change with the pose, the speeds and the bristles.

A contact acts on its bodies with the spatial forces Phi and -Phi. A small rotation of dof k, S_k, turns the axes after k. Were Phi turned
with them, only dofs before k would see a difference, which is what ``smooth_jacobian`` makes of forces in BODY_WORK. So Phi is
subtracted there, and here the rest is added: ``S_j . (d_k Phi - S_k x* Phi)`` for all dofs j and k that move the body.
"""

from ...core.compiler.intrinsics import read, read_int, read_int32, write
from ...core.compiler.jit import core
from . import laws
from . import layout as at
from .law_jacobian import force_slopes
from .mechanics import lift_row
from .pair_jacobian import pair_slopes, pair_turn
from .spatial import cross, dot, of_force, of_motion, plus, vector
from .touching import closing, place, slip


@core(inline=True)
def arm(w, body, point):
    """From the centre of mass of a body's tree, where its spatial vectors are, to a point."""
    com = read_int(w, at.COM) + 24 * read_int32(read_int(w, at.BODY_ROOT), body)
    return point[0] - read(com, 0), point[1] - read(com, 1), point[2] - read(com, 2)


@core(inline=True)
def at_arm(v, r):
    """The velocity at the end of an arm."""
    turned = cross((v[0], v[1], v[2]), r)
    return v[3] + turned[0], v[4] + turned[1], v[5] + turned[2]


@core(inline=True)
def at_origin(force, r):
    """A force at the end of an arm as a spatial force."""
    moment = cross(r, force)
    return moment[0], moment[1], moment[2], force[0], force[1], force[2]


@core(inline=True)
def times(matrix, v):
    """A (3, 3) matrix in memory times a vector."""
    return (
        read(matrix, 0) * v[0] + read(matrix, 1) * v[1] + read(matrix, 2) * v[2],
        read(matrix, 3) * v[0] + read(matrix, 4) * v[1] + read(matrix, 5) * v[2],
        read(matrix, 6) * v[0] + read(matrix, 7) * v[1] + read(matrix, 8) * v[2],
    )


@core(inline=True)
def three_of(at_):
    return read(at_, 0), read(at_, 1), read(at_, 2)


@core(inline=True)
def sum_of(a, scale, b):
    return a[0] + scale * b[0], a[1] + scale * b[1], a[2] + scale * b[2]


@core
def add_to_chain(w, body, force, scale, row):
    """Add scale * the joint forces of a spatial force on a body to a row of nv."""
    cdof, parents = read_int(w, at.CDOF), read_int(w, at.DOF_PARENT)
    j = read_int(read_int(w, at.BODY_LAST_DOF), body)
    while j >= 0:
        write(row, j, read(row, j) + scale * dot(vector(cdof + 48 * j), force))
        j = read_int32(parents, j)


@core
def _mark(w, body, mark):
    """Add a mark to all dofs that move a body."""
    marks, parents = read_int(w, at.MARKS), read_int(w, at.DOF_PARENT)
    j = read_int(read_int(w, at.BODY_LAST_DOF), body)
    while j >= 0:
        write(marks, j, read(marks, j) + mark)
        j = read_int32(parents, j)


@core
def pushes(contact, b):
    """Whether a contact is active in a mode."""
    pull = read_int(contact, at.PULL)
    return read(b, read_int(contact, at.TOUCH)) > 0.0 and (pull < 0 or read(b, pull) > 0.0)


@core
def add_contacts(w, x, b, p, out, n):
    """To FORCES what all contacts of the mode b add, and to ``out`` (n, n) the rows of their bristles."""
    contact, spot = read_int(w, at.CONTACTS), read_int(w, at.PLACES)
    s = read_int(w, at.SCRATCH)
    for _ in range(read_int(w, at.CONTACT_COUNT)):
        if pushes(contact, b):
            place(w, x, contact, spot)
            if read_int(contact, at.KIND) == at.LIMIT:
                _add_stop(w, contact, spot, read(s, at.DEPTH), closing(w, contact, spot), p)
            else:
                _add_contact(w, x, contact, spot, p, out, n)
        elif read_int(contact, at.FRICTION) == laws.LUGRE:  # in the air bristles relax
            i, relax = read_int(contact, at.BRISTLE), read(p, read_int(contact, at.P_FRICTION) + 6)
            write(out, n * i + i, -1.0 / relax)
            write(out, n * (i + 1) + i + 1, -1.0 / relax)
        contact, spot = contact + 8 * at.CONTACT_INTS, spot + 8 * at.CONTACT_DOUBLES


@core
def _add_stop(w, contact, spot, depth, rate, p):
    """The stop at a joint's limit: I k d (1 + c v) against the joint's motion."""
    i, dof, nv = read_int(contact, at.P_NORMAL), read_int(contact, at.DOF), read_int(w, at.NV)
    scale, damping = read(spot, at.INERTIA) * read(p, i), read(p, i + 1)  # (the sign of the limit is there twice)
    forces = read_int(w, at.FORCES)
    q, v = nv * read_int(read_int(w, at.COLUMN), dof) + dof, nv * (read_int(w, at.NQ) + dof) + dof
    write(forces, q, read(forces, q) - scale * (1.0 + damping * rate))
    write(forces, v, read(forces, v) - scale * depth * damping)


@core
def _add_contact(w, x, contact, spot, p, out, n):
    s, law, marks = read_int(w, at.SCRATCH), read_int(w, at.LAW_WORK), read_int(w, at.MARKS)
    cdof, work, forces = read_int(w, at.CDOF), read_int(w, at.DOF_WORK), read_int(w, at.FORCES)
    nq, nv, column = read_int(w, at.NQ), read_int(w, at.NV), read_int(w, at.COLUMN)
    one, two = read_int(contact, at.BODY1), read_int(contact, at.BODY2)
    is_pair = read_int(contact, at.KIND) == at.PAIR
    if is_pair:
        pair_slopes(w, x, contact, spot)
    load, e = force_slopes(w, x, contact, spot, slip(w, contact), p)
    force = (load * e[0], load * e[1], load * e[2])
    normal, where = three_of(s + 8 * at.PUSH), three_of(s + 8 * at.WHERE)
    centre = where if is_pair else sum_of(where, read(spot, at.RADIUS), normal)  # what moves with body 1
    r1, r2, to_centre = arm(w, one, where), arm(w, two, where), arm(w, one, centre)
    phi1, phi2 = at_origin(force, r1), at_origin(force, r2)
    v1, v2 = vector(read_int(w, at.CVEL) + 48 * one), vector(read_int(w, at.CVEL) + 48 * two)
    bodies = read_int(w, at.BODY_WORK)
    for q in range(6):
        i = at.BODY_DOUBLES * one + at.FORCE + q
        write(bodies, i, read(bodies, i) - phi1[q])
        if two != 0:
            i = at.BODY_DOUBLES * two + at.FORCE + q
            write(bodies, i, read(bodies, i) + phi2[q])
    for k in range(nv):
        write(marks, k, 0.0)
    _mark(w, one, 1.0)
    _mark(w, two, 2.0)
    bristled = read_int(contact, at.FRICTION) == laws.LUGRE
    row = s + 8 * at.ROW
    for k in range(nv):
        mark = read(marks, k)
        if mark == 0.0:
            write(row, k, 0.0)
            write(row, nv + k, 0.0)
            continue
        first, second = mark == 1.0 or mark == 3.0, mark >= 2.0
        axis, before = vector(cdof + 48 * k), vector(work + 8 * (at.DOF_DOUBLES * k + at.V_BEFORE))
        # --- by the angle of dof k: where the contact is, its depth and normal, the slip, then the force
        change, moved = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        turned, deeper = (0.0, 0.0, 0.0), 0.0
        by_speed = (0.0, 0.0, 0.0)
        if is_pair:
            turned, moved = pair_turn(w, contact, axis, first, second)
        else:
            moved = at_arm(axis, to_centre)
        if first:
            passed = at_arm(axis, r1)
            by_speed = sum_of(by_speed, 1.0, passed)
            carried = of_motion(axis, plus(v1, -1.0, before))
            change = sum_of(change, 1.0, at_arm(carried, r1))
        if second:
            passed = at_arm(axis, r2)
            by_speed = sum_of(by_speed, -1.0, passed)
            carried = of_motion(axis, plus(v2, -1.0, before))
            change = sum_of(change, -1.0, at_arm(carried, r2))
        deeper = -(normal[0] * by_speed[0] + normal[1] * by_speed[1] + normal[2] * by_speed[2])
        spin = cross((v1[0] - v2[0], v1[1] - v2[1], v1[2] - v2[2]), moved)
        change = sum_of(change, 1.0, spin)
        pushed = times(law + 8 * at.BY_SLIP, change)
        pushed = sum_of(pushed, deeper, three_of(law + 8 * at.BY_DEPTH))
        if is_pair:
            pushed = sum_of(pushed, 1.0, times(law + 8 * at.BY_NORMAL, turned))
        shifted = cross(moved, force)
        target = forces + 8 * nv * read_int(column, k)
        full = plus(at_origin(pushed, r1), 1.0, (shifted[0], shifted[1], shifted[2], 0.0, 0.0, 0.0))
        add_to_chain(w, one, plus(full, -1.0, of_force(axis, phi1)) if first else full, 1.0, target)
        if two != 0:
            full = plus(at_origin(pushed, r2), 1.0, (shifted[0], shifted[1], shifted[2], 0.0, 0.0, 0.0))
            add_to_chain(w, two, plus(full, -1.0, of_force(axis, phi2)) if second else full, -1.0, target)
        # --- by the speed of dof k
        pushed = times(law + 8 * at.BY_SLIP, by_speed)
        target = forces + 8 * nv * (nq + k)
        add_to_chain(w, one, at_origin(pushed, r1), 1.0, target)
        if two != 0:
            add_to_chain(w, two, at_origin(pushed, r2), -1.0, target)
        if bristled:
            _bristles_by(w, contact, k, change, by_speed, out, n)
    if bristled:
        _by_bristles(w, x, contact, r1, out, n)


@core(inline=True)
def _bristles_by(w, contact, k, change, by_speed, out, n):
    """The rates of both bristles by the speed of dof k; those by its angle into rows of the scratch."""
    law, row, nv = read_int(w, at.LAW_WORK), read_int(w, at.SCRATCH) + 8 * at.ROW, read_int(w, at.NV)
    first = n * read_int(contact, at.BRISTLE) + read_int(w, at.NQ) + k
    for q in range(2):
        slopes = three_of(law + 8 * (at.BRISTLES_BY_SLIP + 3 * q))
        write(row, q * nv + k, slopes[0] * change[0] + slopes[1] * change[1] + slopes[2] * change[2])
        write(out, first + q * n, slopes[0] * by_speed[0] + slopes[1] * by_speed[1] + slopes[2] * by_speed[2])


@core(inline=True)
def _by_bristles(w, x, contact, r1, out, n):
    law, row, nv = read_int(w, at.LAW_WORK), read_int(w, at.SCRATCH) + 8 * at.ROW, read_int(w, at.NV)
    body, forces, first = read_int(contact, at.BODY1), read_int(w, at.FORCES), read_int(contact, at.BRISTLE)
    for q in range(2):
        lift_row(w, x, row + 8 * q * nv, 1.0, out + 8 * n * (first + q))
        write(out, n * (first + q) + first + q, -read(law, at.FADE))
        pushed = three_of(law + 8 * (at.BY_BRISTLES + 3 * q))
        add_to_chain(w, body, at_origin(pushed, r1), 1.0, forces + 8 * nv * (first + q))
