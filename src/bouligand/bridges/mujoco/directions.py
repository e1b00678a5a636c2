"""Compiled: how f changes along a few directions in the state and the parameters, Df dx + Dp_f dp, without these Jacobians.

A direction displaces all that is behind a joint by the spatial vector eta, the sum of S_k dq_k over the dofs up to it. Axes S and
inertias I are carried along by that, dS = eta x S. Velocities V, accelerations A (gravity included) and forces F change by a part
beside, ``dV = eta x V + v``, ``dA = eta x A + a``, ``dF = eta x* F + f``. Behind a joint that is

    v = u + sum S_k dqvel_k                                               with u = v_before + sum S_k' dq_k
    a = a_before + sum (dq_k A_before + qvel_k u) x S_k + sum S_k' dqvel_k

with sums over its own dofs. A body's own f is ``I a + v x* I V + V x* I v``, less what contacts add. From the ends of the tree to
its root these are summed up, where a joint adds ``(sum S_k dq_k) x* F``; S_k . f is the joint force that qacc has to make up for.
"""

from ...core.compiler.intrinsics import read, read_int, read_int32, write
from ...core.compiler.jit import core
from . import layout as at
from .contact_directions import add_contacts_along, add_gravity_compensation_along
from .coupled import couple, substituted
from .input_jacobian import add_actuators, add_control, add_control_parameters, add_joints
from .joint_friction import add_joint_friction_parameters, add_joint_friction_slopes
from .mechanics import clear, project, quaternion_product
from .running_cost import cost_row
from .smooth_jacobian import falling, force_and_momentum
from .spatial import STILL, dot, inertia_times, keep, of_force, of_motion, plus, scaled, vector
from .symbols import solve_inertia

_USER_DATA, _PARAMETERS = 3, 2  # in the context


@core
def _take_directions(w, x, tangents, stride, many):
    """ALONG_X and ALONG_Q. Component i of direction q is tangents[i * stride + q]. Joints that follow others do so here, too."""
    n, nq, nv, column = read_int(w, at.N), read_int(w, at.NQ), read_int(w, at.NV), read_int(w, at.COLUMN)
    for q in range(many):
        dx = read_int(w, at.ALONG_X) + 8 * n * q
        for i in range(n):
            write(dx, i, read(tangents, stride * i + q))
        for k in range(read_int(w, at.COUPLING_COUNT)):
            row, dof = read_int(w, at.COUPLINGS) + 8 * nv * k, read_int(read_int(w, at.COUPLED), k)
            angle, speed = 0.0, 0.0
            for j in range(nv):
                a = read(row, j)
                if a != 0.0 and j != dof:
                    angle -= a * read(tangents, stride * read_int(column, j) + q)
                    speed -= a * read(tangents, stride * (nq + j) + q)
            write(dx, read_int(column, dof), angle)
            write(dx, nq + dof, speed)
        project(w, x, dx, read_int(w, at.ALONG_Q) + 8 * nv * q)


@core
def _accelerations(w):
    """The acceleration behind each dof, into DOF_WORK."""
    cdof, rates, parents = read_int(w, at.CDOF), read_int(w, at.CDOF_DOT), read_int(w, at.DOF_PARENT)
    qvel, qacc, work = read_int(w, at.QVEL), read_int(w, at.QACC), read_int(w, at.DOF_WORK) + 8 * at.A_AFTER
    a = STILL
    for k in range(read_int(w, at.NV)):
        parent = read_int32(parents, k)
        if parent < 0:
            a = falling(read_int(w, at.GRAVITY))
        elif parent != k - 1:  # (otherwise a is there: to read again what was just written takes long)
            a = vector(work + 8 * at.DOF_DOUBLES * parent)
        a = plus(plus(a, read(qacc, k), vector(cdof + 48 * k)), read(qvel, k), vector(rates + 48 * k))
        keep(work + 8 * at.DOF_DOUBLES * k, a)


@core
def _displace_dofs(w, q):
    """The part of a direction in ALONG_DOFS. (The dofs of a ball are one joint.)"""
    cdof, rates, qvel = read_int(w, at.CDOF), read_int(w, at.CDOF_DOT), read_int(w, at.QVEL)
    parents, first_of, work = read_int(w, at.DOF_PARENT), read_int(w, at.DOF_FIRST), read_int(w, at.DOF_WORK)
    nv, size = read_int(w, at.NV), 8 * at.ALONG_DOF_DOUBLES
    rows, angles = read_int(w, at.ALONG_DOFS) + size * nv * q, read_int(w, at.ALONG_Q) + 8 * nv * q
    speeds = read_int(w, at.ALONG_X) + 8 * (read_int(w, at.N) * q + read_int(w, at.NQ))
    first, shift, v, a = 0, STILL, STILL, STILL
    while first < nv:
        parent, before = read_int32(parents, first), falling(read_int(w, at.GRAVITY))
        if parent < 0:
            shift, v, a = STILL, STILL, STILL
        else:
            before = vector(work + 8 * (at.DOF_DOUBLES * parent + at.A_AFTER))
        if 0 <= parent != first - 1:
            one = rows + size * parent
            shift, v, a = vector(one + 8 * at.SHIFT), vector(one + 8 * at.V_CHANGE), vector(one + 8 * at.A_CHANGE)
        last = first
        while last < nv and read_int(first_of, last) == first:
            v = plus(v, read(angles, last), vector(rates + 48 * last))
            last += 1
        turned = v
        for k in range(first, last):
            axis, angle, speed = vector(cdof + 48 * k), read(angles, k), read(speeds, k)
            shift, v = plus(shift, angle, axis), plus(v, speed, axis)
            a = plus(a, 1.0, of_motion(plus(scaled(angle, before), read(qvel, k), turned), axis))
            a = plus(a, speed, vector(rates + 48 * k))
        for k in range(first, last):
            one = rows + size * k
            keep(one + 8 * at.SHIFT, shift)
            keep(one + 8 * at.V_CHANGE, v)
            keep(one + 8 * at.A_CHANGE, a)
        first = last


@core
def _push_bodies(w, many):
    """The force that moves each body alone, in BODY_WORK, and its change along each direction, in ALONG_BODIES."""
    cinert, cvel, dofs = read_int(w, at.CINERT), read_int(w, at.CVEL), read_int(w, at.DOF_WORK)
    nbody, nv, last_of = read_int(w, at.NBODY), read_int(w, at.NV), read_int(w, at.BODY_LAST_DOF)
    for i in range(1, nbody):
        inertia, last, v = cinert + 80 * i, read_int(last_of, i), vector(cvel + 48 * i)
        force, momentum = STILL, STILL
        if last >= 0:  # (otherwise it is fixed to the world)
            a = vector(dofs + 8 * (at.DOF_DOUBLES * last + at.A_AFTER))
            force, momentum = force_and_momentum(inertia, v, a)
        keep(read_int(w, at.BODY_WORK) + 8 * (at.BODY_DOUBLES * i + at.FORCE), force)
        for q in range(many):
            change = STILL
            if last >= 0:
                one = read_int(w, at.ALONG_DOFS) + 8 * at.ALONG_DOF_DOUBLES * (nv * q + last)
                dv = vector(one + 8 * at.V_CHANGE)
                change = plus(of_force(dv, momentum), 1.0, of_force(v, inertia_times(inertia, dv)))
                change = plus(change, 1.0, inertia_times(inertia, vector(one + 8 * at.A_CHANGE)))
            keep(read_int(w, at.ALONG_BODIES) + 8 * at.ALONG_BODY_DOUBLES * (nbody * q + i), change)


@core
def _subtract_motion(w, q):
    """Subtract from a row of FORCES the joint forces that all this takes: from the ends of the tree to its root."""
    parents, last_of, nbody = read_int(w, at.BODY_PARENT), read_int(w, at.BODY_LAST_DOF), read_int(w, at.NBODY)
    size, work = 8 * at.ALONG_BODY_DOUBLES, read_int(w, at.BODY_WORK) + 8 * at.FORCE
    rows, below = read_int(w, at.ALONG_BODIES) + size * nbody * q, STILL
    for i in range(nbody - 1, 0, -1):
        parent, force = read_int32(parents, i), vector(work + 8 * at.BODY_DOUBLES * i)
        change = plus(vector(rows + size * i), 1.0, below)
        change, below = _subtract_joints(w, q, i, read_int(last_of, i), force, change), STILL
        if parent == i - 1:
            below = change
        elif parent > 0:
            keep(rows + size * parent, plus(vector(rows + size * parent), 1.0, change))


@core
def _sum_forces(w):
    """In BODY_WORK, the force that moves each body and all that hang on it."""
    parents, work = read_int(w, at.BODY_PARENT), read_int(w, at.BODY_WORK) + 8 * at.FORCE
    size, below = 8 * at.BODY_DOUBLES, STILL
    for i in range(read_int(w, at.NBODY) - 1, 0, -1):
        parent, force = read_int32(parents, i), plus(vector(work + size * i), 1.0, below)
        keep(work + size * i, force)
        below = force if parent == i - 1 else STILL
        if 0 < parent != i - 1:
            keep(work + size * parent, plus(vector(work + size * parent), 1.0, force))


@core(inline=True)
def _subtract_joints(w, q, body, dof, force, change):
    """The same for the joints of one body, the last dof of which is ``dof``. Returns the change of the force before them, carried
    along by the displacement there."""
    cdof, bodies_of, first_of = read_int(w, at.CDOF), read_int(w, at.DOF_BODY), read_int(w, at.DOF_FIRST)
    parents, nv = read_int(w, at.DOF_PARENT), read_int(w, at.NV)
    forces, angles = read_int(w, at.FORCES) + 8 * nv * q, read_int(w, at.ALONG_Q) + 8 * nv * q
    while dof >= 0 and read_int32(bodies_of, dof) == body:
        first, moved = read_int(first_of, dof), STILL
        for k in range(first, dof + 1):
            axis = vector(cdof + 48 * k)
            write(forces, k, read(forces, k) - dot(axis, change))
            moved = plus(moved, read(angles, k), axis)
        change, dof = plus(change, 1.0, of_force(moved, force)), read_int32(parents, first)
    return change


@core
def _positions(w, x, out, stride, many):
    """The rows of q' in ``out``."""
    n, nq, scalars, quats = read_int(w, at.N), read_int(w, at.NQ), read_int(w, at.SCALARS), read_int(w, at.QUATS)
    for q in range(many):
        dx = read_int(w, at.ALONG_X) + 8 * n * q
        for i in range(read_int(w, at.SCALAR_COUNT)):
            write(out, stride * read_int(scalars, 2 * i) + q, read(dx, nq + read_int(scalars, 2 * i + 1)))
        for i in range(read_int(w, at.QUAT_COUNT)):
            j, v = read_int(quats, 2 * i), nq + read_int(quats, 2 * i + 1)
            column = out + 8 * (stride * j + q)
            for side in range(2):  # q' = q (0, omega) / 2 is linear in q, and in omega
                one, two = (dx, x) if side == 0 else (x, dx)
                a, b, c, d = 0.5 * read(one, j), 0.5 * read(one, j + 1), 0.5 * read(one, j + 2), 0.5 * read(one, j + 3)
                quaternion_product(a, b, c, d, read(two, v), read(two, v + 1), read(two, v + 2), column, stride)


def along(t, x, b, p, tangents, stride, many, parameters, width, out, ctx):
    """out = Df times ``many`` directions, plus Dp_f times those of the parameters. Directly after f with the same arguments.

    Component i of direction q is tangents[i * stride + q], of its parameters parameters[q * width + i] (0: none has any); the
    results are in ``out`` as in ``tangents``.
    """
    w, n, count = read_int(ctx, _USER_DATA), read_int(ctx, 0), read_int(ctx, _PARAMETERS)
    nq, nv, forces, solved = read_int(w, at.NQ), read_int(w, at.NV), read_int(w, at.FORCES), read_int(w, at.SOLVED)
    x = substituted(w, x)
    clear(out, n * stride)
    clear(forces, nv * many)
    _take_directions(w, x, tangents, stride, many)
    of_x, of_p = (read_int(w, at.ALONG_X), n, many), (parameters, width, many if parameters != 0 else 0)
    _positions(w, x, out, stride, many)
    _accelerations(w)
    for q in range(many):
        _displace_dofs(w, q)
    _push_bodies(w, many)
    add_contacts_along(w, of_x, of_p, x, b, p, out, stride)
    add_gravity_compensation_along(w, many)
    _sum_forces(w)
    for q in range(many):
        _subtract_motion(w, q)
    add_joints(w, of_x)
    add_joint_friction_slopes(w, of_x, x, p, out, stride)
    add_actuators(w, of_x, x, out, stride)
    status = add_control(w, of_x, t, x, p, out, stride)
    if status == 0:
        status = cost_row(w, of_x, t, x, p, (x, n, True), out, stride)
    if status == 0 and parameters != 0:
        add_joint_friction_parameters(w, of_p, x, p, out, stride)
        status = add_control_parameters(w, of_p, t, x, p, count, out, stride)
        if status == 0:
            status = cost_row(w, of_p, t, x, p, (p, count, False), out, stride)
    if status != 0:
        return status
    solve_inertia(read_int(w, at.MODEL), read_int(w, at.DATA), solved, forces, many)
    couple(w, solved, many)
    for i in range(nv):
        for q in range(many):
            write(out, stride * (nq + i) + q, read(solved, nv * q + i))
    return 0
