"""Compiled: how the joint forces of contacts change with the pose, the speeds and the bristles.

A contact acts on its bodies with the spatial forces Phi and -Phi. A small rotation of dof k, S_k, turns the axes after k. Were
Phi turned with them, only dofs before k would see a difference, which is what ``smooth_jacobian`` makes of forces in BODY_WORK.
So Phi is subtracted there, and here the rest is added: ``S_j . (d_k Phi - S_k x* Phi)`` for all dofs j and k that move the body.
"""

from ...core.compiler.intrinsics import read, read_int, read_int32, write
from ...core.compiler.jit import core
from . import laws
from . import layout as at
from .entries import COLUMNS, add_force, add_rate
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
def mark_dofs(w, contact):
    """MARKS: 1 for the dofs that move body 1 of a contact alone, 2 for those of body 2 alone, 3 for both."""
    marks, parents = read_int(w, at.MARKS), read_int(w, at.DOF_PARENT)
    for k in range(read_int(w, at.NV)):
        write(marks, k, 0.0)
    for which in (1, 2):
        body = read_int(contact, at.BODY1 if which == 1 else at.BODY2)
        j = read_int(read_int(w, at.BODY_LAST_DOF), body)
        while j >= 0:
            write(marks, j, read(marks, j) + which)
            j = read_int32(parents, j)


@core
def arms(w, contact, spot):
    """Of a contact that has been placed: arms to it on both bodies, and on body 1 to what moves with that (a ball's centre)."""
    s, one = read_int(w, at.SCRATCH), read_int(contact, at.BODY1)
    where, centre = three_of(s + 8 * at.WHERE), three_of(s + 8 * at.WHERE)
    if read_int(contact, at.KIND) == at.POINT:
        centre = sum_of(where, read(spot, at.RADIUS), three_of(s + 8 * at.PUSH))
    return arm(w, one, where), arm(w, read_int(contact, at.BODY2), where), arm(w, one, centre)


@core(inline=True)
def slip_changes(w, contact, k, reach):
    """What a dof that moves a contact changes: its speed the slip; its angle the slip, the normal, and where the contact is."""
    mark, cvel = read(read_int(w, at.MARKS), k), read_int(w, at.CVEL)
    first, second = mark != 2.0, mark != 1.0
    v1, v2 = vector(cvel + 48 * read_int(contact, at.BODY1)), vector(cvel + 48 * read_int(contact, at.BODY2))
    axis = vector(read_int(w, at.CDOF) + 48 * k)
    before = vector(read_int(w, at.DOF_WORK) + 8 * (at.DOF_DOUBLES * k + at.V_BEFORE))
    turned, by_speed, by_angle = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    moved = at_arm(axis, reach[2])
    if read_int(contact, at.KIND) == at.PAIR:
        turned, moved = pair_turn(w, contact, axis, first, second)
    if first:
        by_speed = at_arm(axis, reach[0])
        by_angle = at_arm(of_motion(axis, plus(v1, -1.0, before)), reach[0])
    if second:
        by_speed = sum_of(by_speed, -1.0, at_arm(axis, reach[1]))
        by_angle = sum_of(by_angle, -1.0, at_arm(of_motion(axis, plus(v2, -1.0, before)), reach[1]))
    swept = cross((v1[0] - v2[0], v1[1] - v2[1], v1[2] - v2[2]), moved)
    return by_speed, sum_of(by_angle, 1.0, swept), turned, moved


@core
def pushes(contact, b):
    """Whether this contact is active in a mode."""
    pull = read_int(contact, at.PULL)
    return read(b, read_int(contact, at.TOUCH)) > 0.0 and (pull < 0 or read(b, pull) > 0.0)


@core
def any_pushes(w, b):
    """Whether a contact is active in a mode."""
    contact = read_int(w, at.CONTACTS)
    for _ in range(read_int(w, at.CONTACT_COUNT)):
        if pushes(contact, b):
            return True
        contact += 8 * at.CONTACT_INTS
    return False


@core
def act_on(w, body, phi, sign):
    """Subtract sign * a spatial force from those on a body in BODY_WORK."""
    row = read_int(w, at.BODY_WORK) + 8 * (at.BODY_DOUBLES * body + at.FORCE)
    for q in range(6):
        write(row, q, read(row, q) - sign * phi[q])


@core(inline=True)
def compensation(w, body):
    """The force that compensates the weight of a body, and the arm of its centre of mass."""
    gravity, mass = read_int(w, at.GRAVITY), read(read_int(w, at.COMPENSATED), body)
    force = (-mass * read(gravity, 0), -mass * read(gravity, 1), -mass * read(gravity, 2))
    return force, arm(w, body, three_of(read_int(w, at.BODY_CENTRE) + 24 * body))


@core
def add_gravity_compensation(w):
    """Forces on the centres of mass of bodies (gravcomp), which keep their direction."""
    if read_int(w, at.HAS_COMPENSATION) == 0:
        return
    cdof, parents = read_int(w, at.CDOF), read_int(w, at.DOF_PARENT)
    forces, column, nv = read_int(w, at.FORCES), read_int(w, at.COLUMN), read_int(w, at.NV)
    for body in range(1, read_int(w, at.NBODY)):
        if read(read_int(w, at.COMPENSATED), body) == 0.0:
            continue
        force, reach = compensation(w, body)
        phi = at_origin(force, reach)
        act_on(w, body, phi, 1.0)
        k = read_int(read_int(w, at.BODY_LAST_DOF), body)
        while k >= 0:
            axis = vector(cdof + 48 * k)
            moment = cross(at_arm(axis, reach), force)
            change = plus((moment[0], moment[1], moment[2], 0.0, 0.0, 0.0), -1.0, of_force(axis, phi))
            add_to_chain(w, body, change, 1.0, forces + 8 * nv * read_int(column, k))
            k = read_int32(parents, k)


@core
def add_contacts(w, x, b, p, out, n):
    """To FORCES what all contacts of the mode b add, and to ``out`` (n, n) the rows of their bristles. (Along a few directions:
    `contact_directions`.)"""
    contact, spot = read_int(w, at.CONTACTS), read_int(w, at.PLACES)
    s = read_int(w, at.SCRATCH)
    for _ in range(read_int(w, at.CONTACT_COUNT)):
        if pushes(contact, b):
            place(w, x, contact, spot)
            if read_int(contact, at.KIND) == at.LIMIT:
                add_stop(w, COLUMNS, contact, spot, read(s, at.DEPTH), closing(w, contact, spot), p)
            else:
                _add_contact(w, x, contact, spot, p, out, n)
        else:
            add_relaxation(COLUMNS, contact, p, out, n)
        contact, spot = contact + 8 * at.CONTACT_INTS, spot + 8 * at.CONTACT_DOUBLES


@core
def add_stop(w, seeds, contact, spot, depth, rate, p):
    """The stop at a joint's limit: I k d (1 + c v) against the joint's motion."""
    i, dof = read_int(contact, at.P_NORMAL), read_int(contact, at.DOF)
    scale, damping = read(spot, at.INERTIA) * read(p, i), read(p, i + 1)  # (the sign of the limit is there twice)
    add_force(w, seeds, read_int(read_int(w, at.COLUMN), dof), dof, -scale * (1.0 + damping * rate))
    add_force(w, seeds, read_int(w, at.NQ) + dof, dof, -scale * depth * damping)


@core
def add_stop_parameters(w, seeds, contact, spot, depth, rate, p):
    """The same by its parameters."""
    i, dof = read_int(contact, at.P_NORMAL), read_int(contact, at.DOF)
    scale = -read(spot, at.SIGN) * read(spot, at.INERTIA) * depth
    add_force(w, seeds, i, dof, scale * (1.0 + read(p, i + 1) * rate))
    add_force(w, seeds, i + 1, dof, scale * read(p, i) * rate)


@core
def add_relaxation(seeds, contact, p, out, stride):
    """In the air bristles relax."""
    if read_int(contact, at.FRICTION) == laws.LUGRE:
        first, relax = read_int(contact, at.BRISTLE), read(p, read_int(contact, at.P_FRICTION) + 6)
        for i in range(first, first + 2):
            add_rate(seeds, out, stride, i, i, -1.0 / relax)


@core
def add_relaxation_parameters(seeds, contact, x, p, out, stride):
    """The same by the time in which they do."""
    if read_int(contact, at.FRICTION) == laws.LUGRE:
        first, column = read_int(contact, at.BRISTLE), read_int(contact, at.P_FRICTION) + 6
        for i in range(first, first + 2):
            add_rate(seeds, out, stride, i, column, read(x, i) / read(p, column) ** 2)


@core
def _add_contact(w, x, contact, spot, p, out, n):
    """A contact that pushes and has been placed."""
    s, law, marks = read_int(w, at.SCRATCH), read_int(w, at.LAW_WORK), read_int(w, at.MARKS)
    cdof, forces = read_int(w, at.CDOF), read_int(w, at.FORCES)
    nq, nv, column = read_int(w, at.NQ), read_int(w, at.NV), read_int(w, at.COLUMN)
    one, two = read_int(contact, at.BODY1), read_int(contact, at.BODY2)
    is_pair, bristled = read_int(contact, at.KIND) == at.PAIR, read_int(contact, at.FRICTION) == laws.LUGRE
    if is_pair:
        pair_slopes(w, x, contact, spot)
    load, e = force_slopes(w, x, contact, spot, slip(w, contact), p)
    force, normal, reach = (load * e[0], load * e[1], load * e[2]), three_of(s + 8 * at.PUSH), arms(w, contact, spot)
    phi1, phi2 = at_origin(force, reach[0]), at_origin(force, reach[1])
    act_on(w, one, phi1, 1.0)
    if two != 0:
        act_on(w, two, phi2, -1.0)
    mark_dofs(w, contact)
    row = s + 8 * at.ROW
    for k in range(nv):
        mark = read(marks, k)
        if mark == 0.0:
            write(row, k, 0.0)
            write(row, nv + k, 0.0)
            continue
        axis = vector(cdof + 48 * k)
        by_speed, by_angle, turned, moved = slip_changes(w, contact, k, reach)
        # --- by the angle of dof k
        deeper = -(normal[0] * by_speed[0] + normal[1] * by_speed[1] + normal[2] * by_speed[2])
        pushed = sum_of(times(law + 8 * at.BY_SLIP, by_angle), deeper, three_of(law + 8 * at.BY_DEPTH))
        if is_pair:
            pushed = sum_of(pushed, 1.0, times(law + 8 * at.BY_NORMAL, turned))
        shifted = cross(moved, force)
        shift = (shifted[0], shifted[1], shifted[2], 0.0, 0.0, 0.0)
        target = forces + 8 * nv * read_int(column, k)
        change = plus(at_origin(pushed, reach[0]), 1.0, shift)
        add_to_chain(w, one, plus(change, -1.0, of_force(axis, phi1)) if mark != 2.0 else change, 1.0, target)
        if two != 0:
            change = plus(at_origin(pushed, reach[1]), 1.0, shift)
            add_to_chain(w, two, plus(change, -1.0, of_force(axis, phi2)) if mark != 1.0 else change, -1.0, target)
        # --- by the speed of dof k
        pushed, target = times(law + 8 * at.BY_SLIP, by_speed), forces + 8 * nv * (nq + k)
        add_to_chain(w, one, at_origin(pushed, reach[0]), 1.0, target)
        if two != 0:
            add_to_chain(w, two, at_origin(pushed, reach[1]), -1.0, target)
        if bristled:
            _bristles_by(w, contact, k, by_angle, by_speed, out, n)
    if bristled:
        _by_bristles(w, x, contact, reach[0], out, n)


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
