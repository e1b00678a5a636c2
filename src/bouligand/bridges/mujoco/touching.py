"""Compiled: where contacts are, how fast they close, and the forces of their laws (see ``laws`` for what these mean)."""

import math

from ...core.compiler.intrinsics import read, read_int, write
from ...core.compiler.jit import core
from . import laws
from . import layout as at
from .mechanics import point_velocity, pull_tendon, push_body, tendon_speed
from .symbols import geom_distance

FAR = 1e10  # m: MuJoCo's distances saturate there, so never


@core
def _between_balls(w, contact, spot):
    """`place` for two balls: along the line through their centres."""
    s, centres = read_int(w, at.SCRATCH), read_int(w, at.GEOM_POS)
    one, two = centres + 24 * read_int(contact, at.GEOM1), centres + 24 * read_int(contact, at.GEOM2)
    size = 0.0
    for i in range(3):
        size += (read(one, i) - read(two, i)) ** 2
    size = math.sqrt(size)
    for i in range(3):
        normal = (read(one, i) - read(two, i)) / size
        write(s, at.PUSH + i, normal)
        between = 0.5 * (read(one, i) + read(two, i))
        write(s, at.WHERE + i, between + 0.5 * (read(spot, at.PAD + 1) - read(spot, at.PAD)) * normal)
    write(s, at.DEPTH, read(spot, at.PAD) + read(spot, at.PAD + 1) - size)


@core
def place(w, x, contact, spot):
    """Into the scratch: how deep a contact is pressed (negative in the air), the direction of the push on body 1, and where."""
    s = read_int(w, at.SCRATCH)
    kind = read_int(contact, at.KIND)
    if kind == at.LIMIT:
        write(s, at.DEPTH, read(spot, at.SIGN) * (read(x, read_int(contact, at.QADR)) - read(spot, at.BOUND)))
        return
    if kind == at.TENDON:
        length = read(read_int(w, at.TENDON_LENGTH), read_int(contact, at.ROPE))
        write(s, at.DEPTH, read(spot, at.SIGN) * (length - read(spot, at.BOUND)))
        return
    if kind == at.POINT:
        body = read_int(contact, at.BODY1)
        home, turn = read_int(w, at.XPOS) + 24 * body, read_int(w, at.XMAT) + 72 * body
        radius, depth = read(spot, at.RADIUS), read(spot, at.OFFSET) + read(spot, at.RADIUS)
        for i in range(3):
            normal, value = read(spot, at.AXIS + i), read(home, i)
            for j in range(3):
                value += read(turn, 3 * i + j) * read(spot, at.AT + j)
            depth -= normal * value
            write(s, at.PUSH + i, normal)
            write(s, at.WHERE + i, value - radius * normal)
        write(s, at.DEPTH, depth)
        return
    if read_int(contact, at.BALLS) == 2:
        _between_balls(w, contact, spot)
        return
    # two geoms, of which the round ones were shrunk to a core: between the cores there is a distance, and with it a
    # direction, also while the geoms themselves are pressed together
    first, second = read_int(contact, at.GEOM1), read_int(contact, at.GEOM2)
    apart: float = geom_distance(read_int(w, at.MODEL), read_int(w, at.DATA), first, second, FAR, s + 8 * at.SEGMENT)
    sign = -1.0 if apart < 0.0 else 1.0
    size = 0.0
    for i in range(3):
        size += (read(s, at.SEGMENT + i) - read(s, at.SEGMENT + 3 + i)) ** 2
    size = math.sqrt(size)
    for i in range(3):
        one, two = read(s, at.SEGMENT + i), read(s, at.SEGMENT + 3 + i)
        normal = sign * (one - two) / size
        write(s, at.PUSH + i, normal)
        write(s, at.WHERE + i, 0.5 * (one + two) + 0.5 * (read(spot, at.PAD + 1) - read(spot, at.PAD)) * normal)
    write(s, at.DEPTH, read(spot, at.PAD) + read(spot, at.PAD + 1) - apart)


@core
def slip(w, contact):
    """The velocity of body 1 against body 2 at a contact that has been placed."""
    s = read_int(w, at.SCRATCH)
    x, y, z = read(s, at.WHERE), read(s, at.WHERE + 1), read(s, at.WHERE + 2)
    vx, vy, vz = point_velocity(w, read_int(contact, at.BODY1), x, y, z)
    if read_int(contact, at.BODY2) != 0:
        ux, uy, uz = point_velocity(w, read_int(contact, at.BODY2), x, y, z)
        vx, vy, vz = vx - ux, vy - uy, vz - uz
    return vx, vy, vz


@core
def closing(w, contact, spot):
    """How fast a contact that has been placed is pressed deeper."""
    if read_int(contact, at.KIND) == at.LIMIT:
        return read(spot, at.SIGN) * read(read_int(w, at.QVEL), read_int(contact, at.DOF))
    if read_int(contact, at.KIND) == at.TENDON:
        return read(spot, at.SIGN) * tendon_speed(w, read_int(contact, at.ROPE))
    s = read_int(w, at.SCRATCH)
    vx, vy, vz = slip(w, contact)
    return -(read(s, at.PUSH) * vx + read(s, at.PUSH + 1) * vy + read(s, at.PUSH + 2) * vz)


@core
def normal_force(contact, depth, rate, p):
    """The push along the normal. Smooth in depth and rate on both sides of depth = 0."""
    i = read_int(contact, at.P_NORMAL)
    if read_int(contact, at.NORMAL) == laws.SPRING:
        return read(p, i + 2) + read(p, i) * depth + read(p, i + 1) * rate
    load = read(p, i) * math.copysign(math.fabs(depth) ** read(p, i + 2), depth)
    return load * (1.0 + read(p, i + 1) * rate)


@core
def pull_guard(contact, depth, rate, p):
    """Positive while the contact pushes: the force itself, or (Hunt-Crossley) the factor of it that changes its sign."""
    if read_int(contact, at.NORMAL) == laws.SPRING:
        return normal_force(contact, depth, rate, p)
    return 1.0 + read(p, read_int(contact, at.P_NORMAL) + 1) * rate


@core
def guards(w, x, p, out):
    """All guards, of data whose kinematics (and velocities, if a guard is a force) are up to date."""
    contact, spot = read_int(w, at.CONTACTS), read_int(w, at.PLACES)
    for _ in range(read_int(w, at.CONTACT_COUNT)):
        place(w, x, contact, spot)
        depth = read(read_int(w, at.SCRATCH), at.DEPTH)
        write(out, read_int(contact, at.TOUCH), depth)
        pull = read_int(contact, at.PULL)
        if pull >= 0:
            write(out, pull, pull_guard(contact, depth, closing(w, contact, spot), p))
        if read_int(contact, at.FRICTION) == laws.EXACT_COULOMB:
            _slip_guards(w, contact, spot, out)
        contact, spot = contact + 8 * at.CONTACT_INTS, spot + 8 * at.CONTACT_DOUBLES


@core
def _slip_guards(w, contact, spot, out):
    """The guards of friction that sticks exactly: the slip in both directions."""
    vx, vy, vz = slip(w, contact)
    for q in range(2):
        guard, way = read_int(contact, at.SLIPS + q), spot + 8 * (at.ALONG + 3 * q)
        if guard >= 0:
            write(out, guard, vx * read(way, 0) + vy * read(way, 1) + vz * read(way, 2))


@core
def push(w, contact, fx, fy, fz):
    """A force on body 1 where the contact is, and its opposite on body 2."""
    s, out = read_int(w, at.SCRATCH), read_int(w, at.APPLIED)
    x, y, z = read(s, at.WHERE), read(s, at.WHERE + 1), read(s, at.WHERE + 2)
    push_body(w, read_int(contact, at.BODY1), x, y, z, fx, fy, fz, out)
    if read_int(contact, at.BODY2) != 0:
        push_body(w, read_int(contact, at.BODY2), x, y, z, -fx, -fy, -fz, out)


@core
def stop(w, contact, spot, depth, rate, p):
    """The force of a limit, of a joint or of a tendon, against what goes beyond it."""
    i, applied = read_int(contact, at.P_NORMAL), read_int(w, at.APPLIED)
    force = -read(spot, at.SIGN) * read(spot, at.INERTIA) * read(p, i) * depth * (1.0 + read(p, i + 1) * rate)
    if read_int(contact, at.KIND) == at.LIMIT:
        dof = read_int(contact, at.DOF)
        write(applied, dof, read(applied, dof) + force)
    else:
        pull_tendon(w, read_int(contact, at.ROPE), force, applied)


@core
def contact_forces(w, x, b, p, dx):
    """The forces of all contacts that touch (and do not pull) to qfrc_applied, and the rates of bristles to dx."""
    contact, spot = read_int(w, at.CONTACTS), read_int(w, at.PLACES)
    s = read_int(w, at.SCRATCH)
    for _ in range(read_int(w, at.CONTACT_COUNT)):
        pull = read_int(contact, at.PULL)
        active = read(b, read_int(contact, at.TOUCH)) > 0.0 and (pull < 0 or read(b, pull) > 0.0)
        if active:
            place(w, x, contact, spot)
            depth, rate = read(s, at.DEPTH), closing(w, contact, spot)
            if read_int(contact, at.KIND) >= at.LIMIT:
                stop(w, contact, spot, depth, rate, p)
            else:
                force = normal_force(contact, depth, rate, p)
                fx, fy, fz = friction(w, x, b, contact, spot, force, p, dx)
                n0, n1, n2 = read(s, at.PUSH), read(s, at.PUSH + 1), read(s, at.PUSH + 2)
                push(w, contact, fx + force * n0, fy + force * n1, fz + force * n2)
        elif read_int(contact, at.FRICTION) == laws.LUGRE:  # in the air bristles relax
            i, relax = read_int(contact, at.BRISTLE), read(p, read_int(contact, at.P_FRICTION) + 6)
            write(dx, i, -read(x, i) / relax)
            write(dx, i + 1, -read(x, i + 1) / relax)
        contact, spot = contact + 8 * at.CONTACT_INTS, spot + 8 * at.CONTACT_DOUBLES


@core
def _opposed(b, contact, spot, most):
    """Friction of this size against the sign of the slip, along and across."""
    fx, fy, fz = 0.0, 0.0, 0.0
    for q in range(2):
        guard, way = read_int(contact, at.SLIPS + q), spot + 8 * (at.ALONG + 3 * q)
        if guard >= 0:
            size = -most * read(b, guard)
            fx, fy, fz = fx + size * read(way, 0), fy + size * read(way, 1), fz + size * read(way, 2)
    return fx, fy, fz


@core
def friction(w, x, b, contact, spot, force, p, dx):
    """The tangential force of a contact with that normal force; of bristles also their rates."""
    law = read_int(contact, at.FRICTION)
    if law == laws.NO_FRICTION:
        return 0.0, 0.0, 0.0
    s, i = read_int(w, at.SCRATCH), read_int(contact, at.P_FRICTION)
    if law == laws.EXACT_COULOMB:
        return _opposed(b, contact, spot, read(p, i) * force)
    vx, vy, vz = slip(w, contact)
    if law == laws.COULOMB:
        n0, n1, n2 = read(s, at.PUSH), read(s, at.PUSH + 1), read(s, at.PUSH + 2)
        normal = n0 * vx + n1 * vy + n2 * vz
        vx, vy, vz = vx - normal * n0, vy - normal * n1, vz - normal * n2
        over = -read(p, i) * force / math.sqrt(vx * vx + vy * vy + vz * vz + read(p, i + 1) ** 2)
        return over * vx, over * vy, over * vz
    along, across = spot + 8 * at.ALONG, spot + 8 * at.ACROSS
    u = vx * read(along, 0) + vy * read(along, 1) + vz * read(along, 2)
    v = vx * read(across, 0) + vy * read(across, 1) + vz * read(across, 2)
    stribeck, square = read(p, i + 2), u * u + v * v
    level = read(p, i + 1) + (read(p, i) - read(p, i + 1)) * math.exp(-square / (stribeck * stribeck))
    soft = 0.01 * stribeck  # the speed below which |v| is rounded off
    fade = read(p, i + 3) * square / (math.sqrt(square + soft * soft) * level)
    z = read_int(contact, at.BRISTLE)
    bend, bow = read(x, z), read(x, z + 1)
    rate, rise = u - fade * bend, v - fade * bow
    write(dx, z, rate)
    write(dx, z + 1, rise)
    one = -force * (read(p, i + 3) * bend + read(p, i + 4) * rate + read(p, i + 5) * u)
    two = -force * (read(p, i + 3) * bow + read(p, i + 4) * rise + read(p, i + 5) * v)
    return (
        one * read(along, 0) + two * read(across, 0),
        one * read(along, 1) + two * read(across, 1),
        one * read(along, 2) + two * read(across, 2),
    )
