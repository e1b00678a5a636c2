"""Compiled: where contacts are, how fast they close, and the forces of their laws (see ``laws`` for what these mean)."""

import math

from ...core.compiler.intrinsics import address
from . import laws
from .mechanics import point_velocity, pull_tendon, push_body, tendon_speed
from .spatial import three_of
from .symbols import geom_distance
from .table import BOTH_BALLS, LIMIT, POINT, TENDON, core

FAR = 1e10  # m: MuJoCo's distances saturate there, so never


@core
def _between_balls(r, contact):
    """`place` for two balls: along the line through their centres."""
    s, pads = r.placed, contact.pads
    one, two = r.geom_pos[contact.geom1], r.geom_pos[contact.geom2]
    size = 0.0
    for i in range(3):
        size += (one[i] - two[i]) ** 2
    size = math.sqrt(size)
    for i in range(3):
        normal = (one[i] - two[i]) / size
        s.push[i] = normal
        s.where[i] = 0.5 * (one[i] + two[i]) + 0.5 * (pads[1] - pads[0]) * normal
    s.depth = pads[0] + pads[1] - size


@core
def place(r, x, contact):
    """Into ``r.placed``: how deep a contact is pressed (negative in the air), the direction of the push on body 1, and where."""
    s = r.placed
    kind = contact.kind
    if kind == LIMIT:
        s.depth = contact.sign * (x[contact.place] - contact.bound)
        return
    if kind == TENDON:
        s.depth = contact.sign * (r.tendon_length[contact.tendon] - contact.bound)
        return
    if kind == POINT:
        home, turn, point, axis = r.xpos[contact.body1], r.xmat[contact.body1], contact.point, contact.axis
        radius, depth = contact.radius, contact.offset + contact.radius
        for i in range(3):
            normal, value = axis[i], home[i]
            for j in range(3):
                value += turn[3 * i + j] * point[j]
            depth -= normal * value
            s.push[i] = normal
            s.where[i] = value - radius * normal
        s.depth = depth
        return
    if contact.balls == BOTH_BALLS:
        _between_balls(r, contact)
        return
    # two geoms, of which the round ones were shrunk to a core: between the cores there is a distance, and with it a
    # direction, also while the geoms themselves are pressed together
    ends, pads = s.segment, contact.pads
    apart: float = geom_distance(r.mujoco.model, r.mujoco.data, contact.geom1, contact.geom2, FAR, address(ends))
    sign = -1.0 if apart < 0.0 else 1.0
    size = 0.0
    for i in range(3):
        size += (ends[i] - ends[3 + i]) ** 2
    size = math.sqrt(size)
    for i in range(3):
        one, two = ends[i], ends[3 + i]
        normal = sign * (one - two) / size
        s.push[i] = normal
        s.where[i] = 0.5 * (one + two) + 0.5 * (pads[1] - pads[0]) * normal
    s.depth = pads[0] + pads[1] - apart


@core
def slip(r, contact):
    """The velocity of body 1 against body 2 at a contact that has been placed."""
    x, y, z = three_of(r.placed.where)
    vx, vy, vz = point_velocity(r, contact.body1, x, y, z)
    if contact.body2 != 0:
        ux, uy, uz = point_velocity(r, contact.body2, x, y, z)
        vx, vy, vz = vx - ux, vy - uy, vz - uz
    return vx, vy, vz


@core
def closing(r, contact):
    """How fast a contact that has been placed is pressed deeper."""
    if contact.kind == LIMIT:
        return contact.sign * r.qvel[contact.dof]
    if contact.kind == TENDON:
        return contact.sign * tendon_speed(r, contact.tendon)
    vx, vy, vz = slip(r, contact)
    a, b, c = three_of(r.placed.push)
    return -(a * vx + b * vy + c * vz)


@core
def normal_force(contact, depth, rate, p):
    """The push along the normal. Smooth in depth and rate on both sides of depth = 0."""
    i = contact.p_normal
    if contact.normal == laws.SPRING:
        return p[i + 2] + p[i] * depth + p[i + 1] * rate
    load = p[i] * math.copysign(math.fabs(depth) ** p[i + 2], depth)
    return load * (1.0 + p[i + 1] * rate)


@core
def pull_guard(contact, depth, rate, p):
    """Positive while the contact pushes: the force itself, or (Hunt-Crossley) the factor of it that changes its sign."""
    if contact.normal == laws.SPRING:
        return normal_force(contact, depth, rate, p)
    return 1.0 + p[contact.p_normal + 1] * rate


@core
def pushes(contact, b):
    """Whether a contact is active in a mode: it touches, and does not pull."""
    return b[contact.touch] > 0.0 and (contact.pull < 0 or b[contact.pull] > 0.0)


@core(inline=True)
def guards(r, x, p, out):
    """All guards, of data whose kinematics (and velocities, if a guard is a force) are up to date."""
    for k in range(r.contacts.shape[0]):
        contact = r.contacts[k]
        place(r, x, contact)
        depth = r.placed.depth
        out[contact.touch] = depth
        if contact.pull >= 0:
            out[contact.pull] = pull_guard(contact, depth, closing(r, contact), p)
        if contact.friction == laws.EXACT_COULOMB:
            _slip_guards(r, contact, out)


@core
def _slip_guards(r, contact, out):
    """The guards of friction that sticks exactly: the slip in both directions."""
    vx, vy, vz = slip(r, contact)
    for q in range(2):
        guard, way = contact.slips[q], contact.ways[q]
        if guard >= 0:
            out[guard] = vx * way[0] + vy * way[1] + vz * way[2]


@core
def push(r, contact, fx, fy, fz):
    """A force on body 1 where the contact is, and its opposite on body 2."""
    out = r.applied
    x, y, z = three_of(r.placed.where)
    push_body(r, contact.body1, x, y, z, fx, fy, fz, out)
    if contact.body2 != 0:
        push_body(r, contact.body2, x, y, z, -fx, -fy, -fz, out)


@core
def stop(r, contact, depth, rate, p):
    """The force of a limit, of a joint or of a tendon, against what goes beyond it."""
    i, applied = contact.p_normal, r.applied
    force = -contact.sign * contact.inertia * p[i] * depth * (1.0 + p[i + 1] * rate)
    if contact.kind == LIMIT:
        applied[contact.dof] += force
    else:
        pull_tendon(r, contact.tendon, force, applied)


@core(inline=True)
def contact_forces(r, x, b, p, dx):
    """The forces of all contacts that touch (and do not pull) to qfrc_applied, and the rates of bristles to dx."""
    for k in range(r.contacts.shape[0]):
        contact = r.contacts[k]
        if pushes(contact, b):
            place(r, x, contact)
            depth, rate = r.placed.depth, closing(r, contact)
            if contact.kind >= LIMIT:
                stop(r, contact, depth, rate, p)
            else:
                force = normal_force(contact, depth, rate, p)
                fx, fy, fz = friction(r, x, b, contact, force, p, dx)
                n0, n1, n2 = three_of(r.placed.push)
                push(r, contact, fx + force * n0, fy + force * n1, fz + force * n2)
        elif contact.friction == laws.LUGRE:  # in the air bristles relax
            i, relax = contact.bristle, p[contact.p_friction + 6]
            dx[i] = -x[i] / relax
            dx[i + 1] = -x[i + 1] / relax


@core
def _opposed(b, contact, most):
    """Friction of this size against the sign of the slip, along and across."""
    fx, fy, fz = 0.0, 0.0, 0.0
    for q in range(2):
        guard, way = contact.slips[q], contact.ways[q]
        if guard >= 0:
            size = -most * b[guard]
            fx, fy, fz = fx + size * way[0], fy + size * way[1], fz + size * way[2]
    return fx, fy, fz


@core
def friction(r, x, b, contact, force, p, dx):
    """The tangential force of a contact with that normal force; of bristles also their rates."""
    law = contact.friction
    if law == laws.NO_FRICTION:
        return 0.0, 0.0, 0.0
    i = contact.p_friction
    if law == laws.EXACT_COULOMB:
        return _opposed(b, contact, p[i] * force)
    vx, vy, vz = slip(r, contact)
    if law == laws.COULOMB:
        n0, n1, n2 = three_of(r.placed.push)
        normal = n0 * vx + n1 * vy + n2 * vz
        vx, vy, vz = vx - normal * n0, vy - normal * n1, vz - normal * n2
        over = -p[i] * force / math.sqrt(vx * vx + vy * vy + vz * vz + p[i + 1] ** 2)
        return over * vx, over * vy, over * vz
    along, across = contact.ways[0], contact.ways[1]
    u = vx * along[0] + vy * along[1] + vz * along[2]
    v = vx * across[0] + vy * across[1] + vz * across[2]
    stribeck, square = p[i + 2], u * u + v * v
    level = p[i + 1] + (p[i] - p[i + 1]) * math.exp(-square / (stribeck * stribeck))
    soft = 0.01 * stribeck  # the speed below which |v| is rounded off
    fade = p[i + 3] * square / (math.sqrt(square + soft * soft) * level)
    z = contact.bristle
    bend, bow = x[z], x[z + 1]
    rate, rise = u - fade * bend, v - fade * bow
    dx[z] = rate
    dx[z + 1] = rise
    one = -force * (p[i + 3] * bend + p[i + 4] * rate + p[i + 5] * u)
    two = -force * (p[i + 3] * bow + p[i + 4] * rise + p[i + 5] * v)
    return one * along[0] + two * across[0], one * along[1] + two * across[1], one * along[2] + two * across[2]
