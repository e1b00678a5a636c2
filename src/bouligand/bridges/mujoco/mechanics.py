"""Compiled: a state into MuJoCo's data, velocities of points, forces at points, rows of Jacobians."""

import math

from ...core.compiler.intrinsics import address
from ...core.compiler.tables import vector_at
from .table import FREE, HINGE, SLIDE, core


@core
def clear(matrix, rows):
    """Zeros in the first rows of a matrix."""
    numbers = vector_at(address(matrix), rows * matrix.shape[1])
    for i in range(numbers.shape[0]):
        numbers[i] = 0.0


@core(inline=True)
def set_positions(r, x):
    """qpos of x into MuJoCo's data, quaternions at norm 1: f then commutes with a scaling of them."""
    qpos, quats = r.qpos, r.quats
    r.mujoco.complete = 0
    for i in range(qpos.shape[0]):
        qpos[i] = x[i]
    for i in range(quats.shape[0]):
        j = quats[i, 0]
        size = math.sqrt(x[j] ** 2 + x[j + 1] ** 2 + x[j + 2] ** 2 + x[j + 3] ** 2)
        for q in range(4):
            qpos[j + q] = x[j + q] / size


@core(inline=True)
def set_velocities(r, x):
    nq, qvel = r.sizes.nq, r.qvel
    for i in range(qvel.shape[0]):
        qvel[i] = x[nq + i]


@core(inline=True)
def note_here(r, x):
    """MuJoCo's data have all that positions and velocities determine at this state: inertia, its factors, bias forces."""
    here = r.here
    for i in range(here.shape[0]):
        here[i] = x[i]
    r.mujoco.complete = 1


@core(inline=True)
def is_here(r, x):
    """Whether they have it at this state. (Where friction sticks, f is evaluated at one state for each sign of each slip; and a
    guard after f, a Jacobian after either.)"""
    here = r.here
    if r.mujoco.complete == 0:
        return False
    for i in range(here.shape[0]):
        if here[i] != x[i]:
            return False
    return True


@core(inline=True)
def position_rates(r, x, dx):
    """q' from qvel; for a quaternion q (0, omega) / 2 with omega in the body's frame, as MuJoCo has it."""
    nq, scalars, quats = r.sizes.nq, r.scalars, r.quats
    for i in range(scalars.shape[0]):
        dx[scalars[i, 0]] = x[nq + scalars[i, 1]]
    for i in range(quats.shape[0]):
        j, k = quats[i, 0], nq + quats[i, 1]
        a, b, c, d = x[j], x[j + 1], x[j + 2], x[j + 3]
        u, v, w = 0.5 * x[k], 0.5 * x[k + 1], 0.5 * x[k + 2]
        dx[j] = -b * u - c * v - d * w
        dx[j + 1] = a * u + c * w - d * v
        dx[j + 2] = a * v + d * u - b * w
        dx[j + 3] = a * w + b * v - c * u


@core
def point_velocity(r, body, x, y, z):
    """Velocity of the point of a body that is at (x, y, z): the sum over the joints that move it.

    (From the kinematics alone, and so without the inertias and velocities of all bodies, which guards would not need otherwise.)
    """
    joints, kinds, first_of, parents, qvel = r.dof_joint, r.joint_kind, r.joint_dof, r.dof_parent, r.qvel
    axes, anchors = r.joint_axis, r.joint_anchor
    vx, vy, vz = 0.0, 0.0, 0.0
    dof = r.body_last_dof[body]
    while dof >= 0:
        joint = joints[dof]
        kind, first = kinds[joint], first_of[joint]
        axis, speed = axes[joint], qvel[dof]
        a, b, c = speed * axis[0], speed * axis[1], speed * axis[2]
        if kind == SLIDE:
            vx, vy, vz = vx + a, vy + b, vz + c
        else:
            if kind != HINGE:  # three speeds, in the axes of the body
                a, b, c = _turned(r.xmat[r.dof_body[dof]], qvel[dof - 2], qvel[dof - 1], qvel[dof])
            anchor = anchors[joint]
            rx, ry, rz = x - anchor[0], y - anchor[1], z - anchor[2]
            vx, vy, vz = vx + b * rz - c * ry, vy + c * rx - a * rz, vz + a * ry - b * rx
            if kind == FREE:
                vx, vy, vz = vx + qvel[first], vy + qvel[first + 1], vz + qvel[first + 2]
        dof = parents[first]
    return vx, vy, vz


@core(inline=True)
def _turned(turn, a, b, c):
    """A vector in the axes of a body, in those of the world."""
    return (
        turn[0] * a + turn[1] * b + turn[2] * c,
        turn[3] * a + turn[4] * b + turn[5] * c,
        turn[6] * a + turn[7] * b + turn[8] * c,
    )


@core
def push_body(r, body, x, y, z, fx, fy, fz, out):
    """Add to ``out`` (nv) the joint forces of a force at a point of a body: up the chain of dofs that move it.

    With a unit vector for the force, this is the row of the Jacobian of the point's velocity along it.
    """
    com = r.com[r.body_root[body]]
    x, y, z = x - com[0], y - com[1], z - com[2]
    tx, ty, tz = y * fz - z * fy, z * fx - x * fz, x * fy - y * fx
    cdof, parents = r.cdof, r.dof_parent
    dof = r.body_last_dof[body]
    while dof >= 0:
        axis = cdof[dof]
        turn = axis[0] * tx + axis[1] * ty + axis[2] * tz
        shift = axis[3] * fx + axis[4] * fy + axis[5] * fz
        out[dof] = out[dof] + turn + shift
        dof = parents[dof]


@core
def tendon_speed(r, tendon):
    """How fast a tendon becomes longer."""
    first, slopes, dofs, qvel = r.tendon_first[tendon], r.tendon_slopes, r.tendon_dofs, r.qvel
    speed = 0.0
    for i in range(first, first + r.tendon_number[tendon]):
        speed += slopes[i] * qvel[dofs[i]]
    return speed


@core
def pull_tendon(r, tendon, force, out):
    """Add to ``out`` (nv) the joint forces of a force along a tendon; of 1, how its length changes with the pose."""
    first, slopes, dofs = r.tendon_first[tendon], r.tendon_slopes, r.tendon_dofs
    for i in range(first, first + r.tendon_number[tendon]):
        out[dofs[i]] += force * slopes[i]


@core
def lift_row(r, x, row, scale, out):
    """Add scale * row (nv), a derivative in tangent coordinates of qpos, to the nq columns of a row in x.

    For quaternions through the pseudo-inverse of q (0, .) / 2: along q itself nothing changes.
    """
    scalars, quats = r.scalars, r.quats
    for i in range(scalars.shape[0]):
        out[scalars[i, 0]] += scale * row[scalars[i, 1]]
    for i in range(quats.shape[0]):
        j, k = quats[i, 0], quats[i, 1]
        a, b, c, d = x[j], x[j + 1], x[j + 2], x[j + 3]
        over = 2.0 * scale / (a * a + b * b + c * c + d * d)
        u, v, w = over * row[k], over * row[k + 1], over * row[k + 2]
        out[j] = out[j] - b * u - c * v - d * w
        out[j + 1] = out[j + 1] + a * u + c * w - d * v
        out[j + 2] = out[j + 2] + a * v + d * u - b * w
        out[j + 3] = out[j + 3] + a * w + b * v - c * u


@core
def project(r, x, dx, out):
    """out (nv) = a change of x in tangent coordinates of qpos; the transpose of ``lift_row``."""
    scalars, quats = r.scalars, r.quats
    for i in range(scalars.shape[0]):
        out[scalars[i, 1]] = dx[scalars[i, 0]]
    for i in range(quats.shape[0]):
        j, k = quats[i, 0], quats[i, 1]
        a, b, c, d = x[j], x[j + 1], x[j + 2], x[j + 3]
        over = 2.0 / (a * a + b * b + c * c + d * d)
        da, db, dc, dd = dx[j], dx[j + 1], dx[j + 2], dx[j + 3]
        out[k] = over * (a * db - b * da + d * dc - c * dd)
        out[k + 1] = over * (a * dc - c * da + b * dd - d * db)
        out[k + 2] = over * (a * dd - d * da + c * db - b * dc)


@core
def quaternion_product(a, b, c, d, u, v, w, out, row, column):
    """Add the quaternion (a, b, c, d) (0, u, v, w) to a column, from that row on."""
    out[row, column] = out[row, column] - b * u - c * v - d * w
    out[row + 1, column] = out[row + 1, column] + a * u + c * w - d * v
    out[row + 2, column] = out[row + 2, column] + a * v + d * u - b * w
    out[row + 3, column] = out[row + 3, column] + a * w + b * v - c * u


@core
def speed_row(r, body, x, y, z, nx, ny, nz, out):
    """Add to ``out`` (nv) how the velocity of a point of a body along a fixed direction n changes with the configuration.

    A small rotation of dof j rotates all that comes after it in the chain, velocities included, and displaces the point in the
    velocity field of what comes before it: ``D_j v = a_j x (v - v_before) + w_before x J_j``, with a_j the dof's axis, J_j the
    point's velocity by dof j alone, v_before and w_before the velocities due to the dofs before j. The three dofs of a ball joint
    rotate together: their own contributions count as "after".
    """
    com, cvel = r.com[r.body_root[body]], r.cvel[body]
    x, y, z = x - com[0], y - com[1], z - com[2]
    cdof, parents, qvel, first_of = r.cdof, r.dof_parent, r.qvel, r.dof_first
    bx, by, bz = cvel[0], cvel[1], cvel[2]  # angular velocity by the dofs before
    ax = ay = az = 0.0  # velocity of the point by the dofs from j on
    dof = r.body_last_dof[body]
    while dof >= 0:
        first = first_of[dof]
        for j in range(first, dof + 1):
            axis, speed = cdof[j], qvel[j]
            a, b, c = axis[0], axis[1], axis[2]
            ax += speed * (axis[3] + b * z - c * y)
            ay += speed * (axis[4] + c * x - a * z)
            az += speed * (axis[5] + a * y - b * x)
            bx, by, bz = bx - speed * a, by - speed * b, bz - speed * c
        for j in range(first, dof + 1):
            axis = cdof[j]
            a, b, c = axis[0], axis[1], axis[2]
            jx, jy, jz = axis[3] + b * z - c * y, axis[4] + c * x - a * z, axis[5] + a * y - b * x
            change = nx * (b * az - c * ay + by * jz - bz * jy)
            change += ny * (c * ax - a * az + bz * jx - bx * jz)
            change += nz * (a * ay - b * ax + bx * jy - by * jx)
            out[j] += change
        dof = parents[first]
