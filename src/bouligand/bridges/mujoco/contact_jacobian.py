"""Compiled: how the joint forces of contacts change with the pose, the speeds and the bristles.

A contact acts on its bodies with the spatial forces Phi and -Phi. A small rotation of dof k, S_k, turns the axes after k. Were
Phi turned with them, only dofs before k would see a difference, which is what ``smooth_jacobian`` makes of forces of bodies.
So Phi is subtracted there, and here the rest is added: ``S_j . (d_k Phi - S_k x* Phi)`` for all dofs j and k that move the body.
"""

from . import laws
from .entries import add_force, add_rate
from .law_jacobian import force_slopes
from .mechanics import lift_row
from .pair_jacobian import pair_slopes, pair_turn
from .spatial import cross, dot, of_force, of_motion, plus, sum_of, three_of, times, vector
from .table import LIMIT, PAIR, POINT, core
from .touching import closing, place, pushes, slip


@core(inline=True)
def arm(r, body, point):
    """From the centre of mass of a body's tree, where its spatial vectors are, to a point."""
    com = r.com[r.body_root[body]]
    return point[0] - com[0], point[1] - com[1], point[2] - com[2]


@core(inline=True)
def at_arm(v, reach):
    """The velocity at the end of an arm."""
    turned = cross((v[0], v[1], v[2]), reach)
    return v[3] + turned[0], v[4] + turned[1], v[5] + turned[2]


@core(inline=True)
def at_origin(force, reach):
    """A force at the end of an arm as a spatial force."""
    moment = cross(reach, force)
    return moment[0], moment[1], moment[2], force[0], force[1], force[2]


@core
def add_to_chain(r, body, force, scale, row):
    """Add scale * the joint forces of a spatial force on a body to a row of nv."""
    cdof, parents = r.cdof, r.dof_parent
    j = r.body_last_dof[body]
    while j >= 0:
        row[j] += scale * dot(vector(cdof[j]), force)
        j = parents[j]


@core
def mark_dofs(r, contact):
    """``r.marks``: 1 for the dofs that move body 1 of a contact alone, 2 for those of body 2 alone, 3 for both."""
    marks, parents = r.marks, r.dof_parent
    for k in range(marks.shape[0]):
        marks[k] = 0
    for which in (1, 2):
        j = r.body_last_dof[contact.body1 if which == 1 else contact.body2]
        while j >= 0:
            marks[j] += which
            j = parents[j]


@core
def arms(r, contact):
    """Of a contact that has been placed: arms to it on both bodies, and on body 1 to what moves with that (a ball's centre)."""
    where, centre = three_of(r.placed.where), three_of(r.placed.where)
    if contact.kind == POINT:
        centre = sum_of(where, contact.radius, three_of(r.placed.push))
    return arm(r, contact.body1, where), arm(r, contact.body2, where), arm(r, contact.body1, centre)


@core(inline=True)
def slip_changes(r, contact, k, reach):
    """What a dof that moves a contact changes: its speed the slip; its angle the slip, the normal, and where the contact is."""
    mark, cvel = r.marks[k], r.cvel
    first, second = mark != 2, mark != 1
    v1, v2 = vector(cvel[contact.body1]), vector(cvel[contact.body2])
    axis, before = vector(r.cdof[k]), vector(r.dofs[k].v_before)
    turned, by_speed, by_angle = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    moved = at_arm(axis, reach[2])
    if contact.kind == PAIR:
        turned, moved = pair_turn(r, contact, axis, first, second)
    if first:
        by_speed = at_arm(axis, reach[0])
        by_angle = at_arm(of_motion(axis, plus(v1, -1.0, before)), reach[0])
    if second:
        by_speed = sum_of(by_speed, -1.0, at_arm(axis, reach[1]))
        by_angle = sum_of(by_angle, -1.0, at_arm(of_motion(axis, plus(v2, -1.0, before)), reach[1]))
    swept = cross((v1[0] - v2[0], v1[1] - v2[1], v1[2] - v2[2]), moved)
    return by_speed, sum_of(by_angle, 1.0, swept), turned, moved


@core(inline=True)
def any_pushes(r, b):
    """Whether a contact is active in a mode."""
    for k in range(r.contacts.shape[0]):
        if pushes(r.contacts[k], b):
            return True
    return False


@core
def act_on(r, body, phi, sign):
    """Subtract sign * a spatial force from the force on a body."""
    force = r.bodies[body].force
    for q in range(6):
        force[q] -= sign * phi[q]


@core(inline=True)
def compensation(r, body):
    """The force that compensates the weight of a body, and the arm of its centre of mass."""
    gravity, mass = r.gravity, r.compensated[body]
    force = (-mass * gravity[0], -mass * gravity[1], -mass * gravity[2])
    return force, arm(r, body, three_of(r.body_centre[body]))


@core(inline=True)
def add_gravity_compensation(r):
    """Forces on the centres of mass of bodies (gravcomp), which keep their direction."""
    if r.sizes.compensated == 0:
        return
    cdof, parents, forces, column = r.cdof, r.dof_parent, r.forces, r.dof_column
    for body in range(1, r.compensated.shape[0]):
        if r.compensated[body] == 0.0:
            continue
        force, reach = compensation(r, body)
        phi = at_origin(force, reach)
        act_on(r, body, phi, 1.0)
        k = r.body_last_dof[body]
        while k >= 0:
            axis = vector(cdof[k])
            moment = cross(at_arm(axis, reach), force)
            change = plus((moment[0], moment[1], moment[2], 0.0, 0.0, 0.0), -1.0, of_force(axis, phi))
            add_to_chain(r, body, change, 1.0, forces[column[k]])
            k = parents[k]


@core(inline=True)
def add_contacts(r, x, b, p, out):
    """To ``r.forces`` what all contacts of the mode b add, and to ``out`` (n, n) the rows of their bristles. (Along a few
    directions: `contact_directions`.)"""
    for k in range(r.contacts.shape[0]):
        contact = r.contacts[k]
        if pushes(contact, b):
            place(r, x, contact)
            if contact.kind == LIMIT:
                add_stop(r, r.columns, contact, r.placed.depth, closing(r, contact), p)
            else:
                _add_contact(r, x, contact, p, out)
        else:
            add_relaxation(r.columns, contact, p, out)


@core
def add_stop(r, seeds, contact, depth, rate, p):
    """The stop at a joint's limit: I k d (1 + c v) against the joint's motion."""
    i, dof = contact.p_normal, contact.dof
    scale, damping = contact.inertia * p[i], p[i + 1]  # (the sign of the limit is there twice)
    add_force(r, seeds, r.dof_column[dof], dof, -scale * (1.0 + damping * rate))
    add_force(r, seeds, r.sizes.nq + dof, dof, -scale * depth * damping)


@core
def add_stop_parameters(r, seeds, contact, depth, rate, p):
    """The same by its parameters."""
    i, dof = contact.p_normal, contact.dof
    scale = -contact.sign * contact.inertia * depth
    add_force(r, seeds, i, dof, scale * (1.0 + p[i + 1] * rate))
    add_force(r, seeds, i + 1, dof, scale * p[i] * rate)


@core
def add_relaxation(seeds, contact, p, out):
    """In the air bristles relax."""
    if contact.friction == laws.LUGRE:
        relax = p[contact.p_friction + 6]
        for i in range(contact.bristle, contact.bristle + 2):
            add_rate(seeds, out, i, i, -1.0 / relax)


@core
def add_relaxation_parameters(seeds, contact, x, p, out):
    """The same by the time in which they do."""
    if contact.friction == laws.LUGRE:
        column = contact.p_friction + 6
        for i in range(contact.bristle, contact.bristle + 2):
            add_rate(seeds, out, i, column, x[i] / p[column] ** 2)


@core
def _add_contact(r, x, contact, p, out):
    """A contact that pushes and has been placed."""
    law, marks, cdof, forces, column, nq = r.slopes, r.marks, r.cdof, r.forces, r.dof_column, r.sizes.nq
    one, two = contact.body1, contact.body2
    is_pair, bristled = contact.kind == PAIR, contact.friction == laws.LUGRE
    if is_pair:
        pair_slopes(r, x, contact)
    load, e = force_slopes(r, x, contact, slip(r, contact), p)
    force, normal, reach = (load * e[0], load * e[1], load * e[2]), three_of(r.placed.push), arms(r, contact)
    phi1, phi2 = at_origin(force, reach[0]), at_origin(force, reach[1])
    act_on(r, one, phi1, 1.0)
    if two != 0:
        act_on(r, two, phi2, -1.0)
    mark_dofs(r, contact)
    rows = r.contact_rows
    for k in range(marks.shape[0]):
        mark = marks[k]
        if mark == 0:
            rows[0, k] = 0.0
            rows[1, k] = 0.0
            continue
        axis = vector(cdof[k])
        by_speed, by_angle, turned, moved = slip_changes(r, contact, k, reach)
        # --- by the angle of dof k
        deeper = -(normal[0] * by_speed[0] + normal[1] * by_speed[1] + normal[2] * by_speed[2])
        pushed = sum_of(times(law.by_slip, by_angle), deeper, three_of(law.by_depth))
        if is_pair:
            pushed = sum_of(pushed, 1.0, times(law.by_normal, turned))
        shifted = cross(moved, force)
        shift = (shifted[0], shifted[1], shifted[2], 0.0, 0.0, 0.0)
        target = forces[column[k]]
        change = plus(at_origin(pushed, reach[0]), 1.0, shift)
        add_to_chain(r, one, plus(change, -1.0, of_force(axis, phi1)) if mark != 2 else change, 1.0, target)
        if two != 0:
            change = plus(at_origin(pushed, reach[1]), 1.0, shift)
            add_to_chain(r, two, plus(change, -1.0, of_force(axis, phi2)) if mark != 1 else change, -1.0, target)
        # --- by the speed of dof k
        pushed, target = times(law.by_slip, by_speed), forces[nq + k]
        add_to_chain(r, one, at_origin(pushed, reach[0]), 1.0, target)
        if two != 0:
            add_to_chain(r, two, at_origin(pushed, reach[1]), -1.0, target)
        if bristled:
            _bristles_by(r, contact, k, by_angle, by_speed, out)
    if bristled:
        _by_bristles(r, x, contact, reach[0], out)


@core(inline=True)
def _bristles_by(r, contact, k, change, by_speed, out):
    """The rates of both bristles by the speed of dof k; those by its angle into ``r.contact_rows``."""
    first, column = contact.bristle, r.sizes.nq + k
    for q in range(2):
        slopes = three_of(r.slopes.bristles_by_slip[q])
        r.contact_rows[q, k] = slopes[0] * change[0] + slopes[1] * change[1] + slopes[2] * change[2]
        out[first + q, column] = slopes[0] * by_speed[0] + slopes[1] * by_speed[1] + slopes[2] * by_speed[2]


@core(inline=True)
def _by_bristles(r, x, contact, r1, out):
    """The rates of both bristles by the pose and by themselves, and the force by them."""
    law, first = r.slopes, contact.bristle
    for q in range(2):
        lift_row(r, x, r.contact_rows[q], 1.0, out[first + q])
        out[first + q, first + q] = -law.fade
        pushed = three_of(law.by_bristles[q])
        add_to_chain(r, contact.body1, at_origin(pushed, r1), 1.0, r.forces[first + q])
