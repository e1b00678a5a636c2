"""Compiled: a state into MuJoCo's data, velocities of points, forces at points, rows of Jacobians."""

import math

from ...core.compiler.intrinsics import read, read_int, read_int32, write
from ...core.compiler.jit import core
from . import layout as at


@core
def clear(where, count):
    for i in range(count):
        write(where, i, 0.0)


@core
def set_positions(w, x):
    """qpos of x into MuJoCo's data, quaternions at norm 1: f then commutes with a scaling of them."""
    qpos = read_int(w, at.QPOS)
    write(read_int(w, at.HERE), read_int(w, at.NQ) + read_int(w, at.NV), 0.0)
    for i in range(read_int(w, at.NQ)):
        write(qpos, i, read(x, i))
    quats = read_int(w, at.QUATS)
    for i in range(read_int(w, at.QUAT_COUNT)):
        j = read_int(quats, 2 * i)
        size = math.sqrt(read(x, j) ** 2 + read(x, j + 1) ** 2 + read(x, j + 2) ** 2 + read(x, j + 3) ** 2)
        for q in range(4):
            write(qpos, j + q, read(x, j + q) / size)


@core
def set_velocities(w, x):
    nq, qvel = read_int(w, at.NQ), read_int(w, at.QVEL)
    for i in range(read_int(w, at.NV)):
        write(qvel, i, read(x, nq + i))


@core
def note_here(w, x):
    """MuJoCo's data have all that positions and velocities determine at this state: inertia, its factors, bias forces."""
    here, size = read_int(w, at.HERE), read_int(w, at.NQ) + read_int(w, at.NV)
    for i in range(size):
        write(here, i, read(x, i))
    write(here, size, 1.0)


@core
def is_here(w, x):
    """Whether they have it at this state. (Where friction sticks, f is evaluated at one state for each sign of each slip; and a
    guard after f, a Jacobian after either.)"""
    here, size = read_int(w, at.HERE), read_int(w, at.NQ) + read_int(w, at.NV)
    if read(here, size) == 0.0:
        return False
    for i in range(size):
        if read(here, i) != read(x, i):
            return False
    return True


@core
def position_rates(w, x, dx):
    """q' from qvel; for a quaternion q (0, omega) / 2 with omega in the body's frame, as MuJoCo has it."""
    nq = read_int(w, at.NQ)
    scalars = read_int(w, at.SCALARS)
    for i in range(read_int(w, at.SCALAR_COUNT)):
        write(dx, read_int(scalars, 2 * i), read(x, nq + read_int(scalars, 2 * i + 1)))
    quats = read_int(w, at.QUATS)
    for i in range(read_int(w, at.QUAT_COUNT)):
        j, v = read_int(quats, 2 * i), nq + read_int(quats, 2 * i + 1)
        a, b, c, d = read(x, j), read(x, j + 1), read(x, j + 2), read(x, j + 3)
        p, q, r = 0.5 * read(x, v), 0.5 * read(x, v + 1), 0.5 * read(x, v + 2)
        write(dx, j, -b * p - c * q - d * r)
        write(dx, j + 1, a * p + c * r - d * q)
        write(dx, j + 2, a * q + d * p - b * r)
        write(dx, j + 3, a * r + b * q - c * p)


@core
def point_velocity(w, body, x, y, z):
    """Velocity of the point of a body that is at (x, y, z): the sum over the joints that move it.

    (From the kinematics alone, and so without the inertias and velocities of all bodies, which guards would not need otherwise.)
    """
    joints, kinds, first_of = read_int(w, at.DOF_JOINT), read_int(w, at.JOINT_KIND), read_int(w, at.JOINT_DOF)
    parents, qvel = read_int(w, at.DOF_PARENT), read_int(w, at.QVEL)
    vx, vy, vz = 0.0, 0.0, 0.0
    dof = read_int(read_int(w, at.BODY_LAST_DOF), body)
    while dof >= 0:
        joint = read_int32(joints, dof)
        kind, first = read_int32(kinds, joint), read_int32(first_of, joint)
        axis, speed = read_int(w, at.JOINT_AXIS) + 24 * joint, read(qvel, dof)
        a, b, c = speed * read(axis, 0), speed * read(axis, 1), speed * read(axis, 2)
        if kind == at.SLIDE:
            vx, vy, vz = vx + a, vy + b, vz + c
        else:
            if kind != at.HINGE:  # three speeds, in the axes of the body
                a, b, c = _turned(w, read_int32(read_int(w, at.DOF_BODY), dof), qvel + 8 * (dof - 2))
            anchor = read_int(w, at.JOINT_ANCHOR) + 24 * joint
            rx, ry, rz = x - read(anchor, 0), y - read(anchor, 1), z - read(anchor, 2)
            vx, vy, vz = vx + b * rz - c * ry, vy + c * rx - a * rz, vz + a * ry - b * rx
            if kind == at.FREE:
                vx, vy, vz = vx + read(qvel, first), vy + read(qvel, first + 1), vz + read(qvel, first + 2)
        dof = read_int32(parents, first)
    return vx, vy, vz


@core(inline=True)
def _turned(w, body, vector):
    """A vector in the axes of a body, in those of the world."""
    turn = read_int(w, at.XMAT) + 72 * body
    a, b, c = read(vector, 0), read(vector, 1), read(vector, 2)
    return (
        read(turn, 0) * a + read(turn, 1) * b + read(turn, 2) * c,
        read(turn, 3) * a + read(turn, 4) * b + read(turn, 5) * c,
        read(turn, 6) * a + read(turn, 7) * b + read(turn, 8) * c,
    )


@core
def push_body(w, body, x, y, z, fx, fy, fz, out):
    """Add to ``out`` (nv) the joint forces of a force at a point of a body: up the chain of dofs that move it.

    With a unit vector for the force, this is the row of the Jacobian of the point's velocity along it.
    """
    com = read_int(w, at.COM) + 24 * read_int32(read_int(w, at.BODY_ROOT), body)
    x, y, z = x - read(com, 0), y - read(com, 1), z - read(com, 2)
    tx, ty, tz = y * fz - z * fy, z * fx - x * fz, x * fy - y * fx
    cdof, parents = read_int(w, at.CDOF), read_int(w, at.DOF_PARENT)
    dof = read_int(read_int(w, at.BODY_LAST_DOF), body)
    while dof >= 0:
        axis = cdof + 48 * dof
        turn = read(axis, 0) * tx + read(axis, 1) * ty + read(axis, 2) * tz
        shift = read(axis, 3) * fx + read(axis, 4) * fy + read(axis, 5) * fz
        write(out, dof, read(out, dof) + turn + shift)
        dof = read_int32(parents, dof)


@core
def tendon_speed(w, tendon):
    """How fast a tendon becomes longer."""
    first, slopes = read_int32(read_int(w, at.TENDON_FIRST), tendon), read_int(w, at.TENDON_SLOPES)
    dofs, qvel, speed = read_int(w, at.TENDON_DOFS), read_int(w, at.QVEL), 0.0
    for i in range(first, first + read_int32(read_int(w, at.TENDON_NUMBER), tendon)):
        speed += read(slopes, i) * read(qvel, read_int32(dofs, i))
    return speed


@core
def pull_tendon(w, tendon, force, out):
    """Add to ``out`` (nv) the joint forces of a force along a tendon; of 1, how its length changes with the pose."""
    first, slopes = read_int32(read_int(w, at.TENDON_FIRST), tendon), read_int(w, at.TENDON_SLOPES)
    dofs = read_int(w, at.TENDON_DOFS)
    for i in range(first, first + read_int32(read_int(w, at.TENDON_NUMBER), tendon)):
        dof = read_int32(dofs, i)
        write(out, dof, read(out, dof) + force * read(slopes, i))


@core
def lift_row(w, x, row, scale, out):
    """Add scale * row (nv), a derivative in tangent coordinates of qpos, to the nq columns of a row in x.

    For quaternions through the pseudo-inverse of q (0, .) / 2: along q itself nothing changes.
    """
    scalars = read_int(w, at.SCALARS)
    for i in range(read_int(w, at.SCALAR_COUNT)):
        j = read_int(scalars, 2 * i)
        write(out, j, read(out, j) + scale * read(row, read_int(scalars, 2 * i + 1)))
    quats = read_int(w, at.QUATS)
    for i in range(read_int(w, at.QUAT_COUNT)):
        j, v = read_int(quats, 2 * i), read_int(quats, 2 * i + 1)
        a, b, c, d = read(x, j), read(x, j + 1), read(x, j + 2), read(x, j + 3)
        over = 2.0 * scale / (a * a + b * b + c * c + d * d)
        p, q, r = over * read(row, v), over * read(row, v + 1), over * read(row, v + 2)
        write(out, j, read(out, j) - b * p - c * q - d * r)
        write(out, j + 1, read(out, j + 1) + a * p + c * r - d * q)
        write(out, j + 2, read(out, j + 2) + a * q + d * p - b * r)
        write(out, j + 3, read(out, j + 3) + a * r + b * q - c * p)


@core
def project(w, x, dx, out):
    """out (nv) = a change of x in tangent coordinates of qpos; the transpose of ``lift_row``."""
    scalars = read_int(w, at.SCALARS)
    for i in range(read_int(w, at.SCALAR_COUNT)):
        write(out, read_int(scalars, 2 * i + 1), read(dx, read_int(scalars, 2 * i)))
    quats = read_int(w, at.QUATS)
    for i in range(read_int(w, at.QUAT_COUNT)):
        j, v = read_int(quats, 2 * i), read_int(quats, 2 * i + 1)
        a, b, c, d = read(x, j), read(x, j + 1), read(x, j + 2), read(x, j + 3)
        over = 2.0 / (a * a + b * b + c * c + d * d)
        da, db, dc, dd = read(dx, j), read(dx, j + 1), read(dx, j + 2), read(dx, j + 3)
        write(out, v, over * (a * db - b * da + d * dc - c * dd))
        write(out, v + 1, over * (a * dc - c * da + b * dd - d * db))
        write(out, v + 2, over * (a * dd - d * da + c * db - b * dc))


@core
def quaternion_product(a, b, c, d, p, q, r, out, stride):
    """Add the quaternion (a, b, c, d) (0, p, q, r) to a column."""
    write(out, 0, read(out, 0) - b * p - c * q - d * r)
    write(out, stride, read(out, stride) + a * p + c * r - d * q)
    write(out, 2 * stride, read(out, 2 * stride) + a * q + d * p - b * r)
    write(out, 3 * stride, read(out, 3 * stride) + a * r + b * q - c * p)


@core
def speed_row(w, body, x, y, z, nx, ny, nz, out):
    """Add to ``out`` (nv) how the velocity of a point of a body along a fixed direction n changes with the configuration.

    A small rotation of dof j rotates all that comes after it in the chain, velocities included, and displaces the point in the
    velocity field of what comes before it: ``D_j v = a_j x (v - v_before) + w_before x J_j``, with a_j the dof's axis, J_j the
    point's velocity by dof j alone, v_before and w_before the velocities due to the dofs before j. The three dofs of a ball joint
    rotate together: their own contributions count as "after".
    """
    com = read_int(w, at.COM) + 24 * read_int32(read_int(w, at.BODY_ROOT), body)
    x, y, z = x - read(com, 0), y - read(com, 1), z - read(com, 2)
    cdof, parents, qvel = read_int(w, at.CDOF), read_int(w, at.DOF_PARENT), read_int(w, at.QVEL)
    first_of = read_int(w, at.DOF_FIRST)
    cvel = read_int(w, at.CVEL) + 48 * body
    bx, by, bz = read(cvel, 0), read(cvel, 1), read(cvel, 2)  # angular velocity by the dofs before
    ax = ay = az = 0.0  # velocity of the point by the dofs from j on
    dof = read_int(read_int(w, at.BODY_LAST_DOF), body)
    while dof >= 0:
        first = read_int(first_of, dof)
        for j in range(first, dof + 1):
            axis, speed = cdof + 48 * j, read(qvel, j)
            a, b, c = read(axis, 0), read(axis, 1), read(axis, 2)
            ax += speed * (read(axis, 3) + b * z - c * y)
            ay += speed * (read(axis, 4) + c * x - a * z)
            az += speed * (read(axis, 5) + a * y - b * x)
            bx, by, bz = bx - speed * a, by - speed * b, bz - speed * c
        for j in range(first, dof + 1):
            axis = cdof + 48 * j
            a, b, c = read(axis, 0), read(axis, 1), read(axis, 2)
            jx, jy, jz = read(axis, 3) + b * z - c * y, read(axis, 4) + c * x - a * z, read(axis, 5) + a * y - b * x
            change = nx * (b * az - c * ay + by * jz - bz * jy)
            change += ny * (c * ax - a * az + bz * jx - bx * jz)
            change += nz * (a * ay - b * ax + bx * jy - by * jx)
            write(out, j, read(out, j) + change)
        dof = read_int32(parents, first)
