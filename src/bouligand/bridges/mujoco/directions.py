"""Compiled: how f changes along a few directions in the state and the parameters, Df dx + Dp_f dp, without these Jacobians.

A direction displaces all that is behind a joint by the spatial vector eta, the sum of S_k dq_k over the dofs up to it. Axes S and
inertias I are carried along by that, dS = eta x S. Velocities V, accelerations A (gravity included) and forces F change by a part
beside, ``dV = eta x V + v``, ``dA = eta x A + a``, ``dF = eta x* F + f``. Behind a joint that is

    v = u + sum S_k dqvel_k                                               with u = v_before + sum S_k' dq_k
    a = a_before + sum (dq_k A_before + qvel_k u) x S_k + sum S_k' dqvel_k

with sums over its own dofs. A body's own f is ``I a + v x* I V + V x* I v``, less what contacts add. From the ends of the tree to
its root these are summed up, where a joint adds ``(sum S_k dq_k) x* F``; S_k . f is the joint force that qacc has to make up for.
"""

from ...core.compiler.intrinsics import address
from ...core.compiler.tables import matrix_at, vector_at
from .contact_directions import add_contacts_along, add_gravity_compensation_along
from .coupled import couple, substituted
from .input_jacobian import add_actuators, add_control, add_control_parameters, add_joints
from .joint_friction import add_joint_friction_parameters, add_joint_friction_slopes
from .mechanics import clear, project, quaternion_product
from .running_cost import cost_row
from .smooth_jacobian import falling, force_and_momentum
from .spatial import STILL, dot, inertia_times, keep, of_force, of_motion, plus, scaled, vector
from .symbols import solve_inertia
from .table import core, opened


@core(inline=True)
def _take_directions(r, x, tangents, of_x):
    """The columns of ``tangents`` into the rows of ``of_x`` and ``r.along_q``. Joints that follow others do so here, too."""
    c, nq, column = r.couplings, r.sizes.nq, r.dof_column
    for q in range(of_x.shape[0]):
        dx = of_x[q]
        for i in range(dx.shape[0]):
            dx[i] = tangents[i, q]
        for k in range(c.dofs.shape[0]):
            row, dof = c.J[k], c.dofs[k]
            angle, speed = 0.0, 0.0
            for j in range(row.shape[0]):
                a = row[j]
                if a != 0.0 and j != dof:
                    angle -= a * tangents[column[j], q]
                    speed -= a * tangents[nq + j, q]
            dx[column[dof]] = angle
            dx[nq + dof] = speed
        project(r, x, dx, r.along_q[q])


@core(inline=True)
def _accelerations(r):
    """The acceleration after each dof."""
    cdof, rates, parents, qvel, qacc, dofs = r.cdof, r.cdof_dot, r.dof_parent, r.qvel, r.qacc, r.dofs
    a = STILL
    for k in range(dofs.shape[0]):
        parent = parents[k]
        if parent < 0:
            a = falling(r.gravity)
        elif parent != k - 1:  # (otherwise a is there: to read again what was just written takes long)
            a = vector(dofs[parent].a_after)
        a = plus(plus(a, qacc[k], vector(cdof[k])), qvel[k], vector(rates[k]))
        keep(dofs[k].a_after, a)


@core(inline=True)
def _displace_dofs(r, q):
    """What direction q changes, into ``r.dofs_along``. (The dofs of a ball are one joint.)"""
    cdof, rates, qvel, parents, first_of, dofs = r.cdof, r.cdof_dot, r.qvel, r.dof_parent, r.dof_first, r.dofs
    rows, angles, dx, nq = r.dofs_along[q], r.along_q[q], r.along_x[q], r.sizes.nq
    nv = dofs.shape[0]
    first, shift, v, a = 0, STILL, STILL, STILL
    while first < nv:
        parent, before = parents[first], falling(r.gravity)
        if parent < 0:
            shift, v, a = STILL, STILL, STILL
        else:
            before = vector(dofs[parent].a_after)
        if 0 <= parent != first - 1:
            one = rows[parent]
            shift, v, a = vector(one.shift), vector(one.v_change), vector(one.a_change)
        last = first
        while last < nv and first_of[last] == first:
            v = plus(v, angles[last], vector(rates[last]))
            last += 1
        turned = v
        for k in range(first, last):
            axis, angle, speed = vector(cdof[k]), angles[k], dx[nq + k]
            shift, v = plus(shift, angle, axis), plus(v, speed, axis)
            a = plus(a, 1.0, of_motion(plus(scaled(angle, before), qvel[k], turned), axis))
            a = plus(a, speed, vector(rates[k]))
        for k in range(first, last):
            one = rows[k]
            keep(one.shift, shift)
            keep(one.v_change, v)
            keep(one.a_change, a)
        first = last


@core(inline=True)
def _push_bodies(r, many):
    """The force that moves each body alone, and its change along each direction."""
    cinert, cvel, dofs, last_of = r.cinert, r.cvel, r.dofs, r.body_last_dof
    for i in range(1, r.bodies.shape[0]):
        inertia, last, v = cinert[i], last_of[i], vector(cvel[i])
        force, momentum = STILL, STILL
        if last >= 0:  # (otherwise it is fixed to the world)
            force, momentum = force_and_momentum(inertia, v, vector(dofs[last].a_after))
        keep(r.bodies[i].force, force)
        for q in range(many):
            change = STILL
            if last >= 0:
                one = r.dofs_along[q, last]
                dv = vector(one.v_change)
                change = plus(of_force(dv, momentum), 1.0, of_force(v, inertia_times(inertia, dv)))
                change = plus(change, 1.0, inertia_times(inertia, vector(one.a_change)))
            keep(r.bodies_along[q, i].change, change)


@core(inline=True)
def _subtract_motion(r, q):
    """Subtract from a row of ``r.forces`` the joint forces that all this takes: from the ends of the tree to its root."""
    parents, last_of, bodies, rows = r.body_parent, r.body_last_dof, r.bodies, r.bodies_along[q]
    below = STILL
    for i in range(bodies.shape[0] - 1, 0, -1):
        parent, force = parents[i], vector(bodies[i].force)
        change = plus(vector(rows[i].change), 1.0, below)
        change, below = _subtract_joints(r, q, i, last_of[i], force, change), STILL
        if parent == i - 1:
            below = change
        elif parent > 0:
            keep(rows[parent].change, plus(vector(rows[parent].change), 1.0, change))


@core(inline=True)
def _sum_forces(r):
    """The force that moves each body and all that hang on it, from that of each body alone."""
    parents, bodies, below = r.body_parent, r.bodies, STILL
    for i in range(bodies.shape[0] - 1, 0, -1):
        parent, force = parents[i], plus(vector(bodies[i].force), 1.0, below)
        keep(bodies[i].force, force)
        below = force if parent == i - 1 else STILL
        if 0 < parent != i - 1:
            keep(bodies[parent].force, plus(vector(bodies[parent].force), 1.0, force))


@core(inline=True)
def _subtract_joints(r, q, body, dof, force, change):
    """The same for the joints of one body, the last dof of which is ``dof``. Returns the change of the force before them, carried
    along by the displacement there."""
    cdof, bodies_of, first_of, parents = r.cdof, r.dof_body, r.dof_first, r.dof_parent
    forces, angles = r.forces[q], r.along_q[q]
    while dof >= 0 and bodies_of[dof] == body:
        first, moved = first_of[dof], STILL
        for k in range(first, dof + 1):
            axis = vector(cdof[k])
            forces[k] -= dot(axis, change)
            moved = plus(moved, angles[k], axis)
        change, dof = plus(change, 1.0, of_force(moved, force)), parents[first]
    return change


@core(inline=True)
def _positions(r, x, of_x, out):
    """The rows of q' in ``out``."""
    nq, scalars, quats = r.sizes.nq, r.scalars, r.quats
    for q in range(of_x.shape[0]):
        dx = of_x[q]
        for i in range(scalars.shape[0]):
            out[scalars[i, 0], q] = dx[nq + scalars[i, 1]]
        for i in range(quats.shape[0]):
            j, k = quats[i, 0], nq + quats[i, 1]
            for side in range(2):  # q' = q (0, omega) / 2 is linear in q, and in omega
                one, two = (dx, x) if side == 0 else (x, dx)
                a, b, c, d = 0.5 * one[j], 0.5 * one[j + 1], 0.5 * one[j + 2], 0.5 * one[j + 3]
                quaternion_product(a, b, c, d, two[k], two[k + 1], two[k + 2], out, j, q)


def along(t, x, b, p, tangents, stride, many, parameters, width, out, ctx):
    """out = Df times ``many`` directions, plus Dp_f times those of the parameters. Directly after f with the same arguments.

    Directions are columns of ``tangents``, rows of ``stride`` numbers; those of the parameters are rows of ``width`` numbers (at
    address 0: none has any). The results are in ``out`` as in ``tangents``.
    """
    r, n, m, count = opened(ctx)
    here, mode, numbers = vector_at(substituted(r, x), n), vector_at(b, m), vector_at(p, count)
    rates, of_x = matrix_at(out, n, stride), matrix_at(address(r.along_x), many, n)
    of_p = matrix_at(parameters, many if parameters != 0 else 0, width)
    clear(rates, n)
    clear(r.forces, many)
    _take_directions(r, here, matrix_at(tangents, n, stride), of_x)
    _positions(r, here, of_x, rates)
    _accelerations(r)
    for q in range(many):
        _displace_dofs(r, q)
    _push_bodies(r, many)
    add_contacts_along(r, of_x, of_p, here, mode, numbers, rates)
    add_gravity_compensation_along(r, many)
    _sum_forces(r)
    for q in range(many):
        _subtract_motion(r, q)
    add_joints(r, of_x)
    add_joint_friction_slopes(r, of_x, here, numbers, rates)
    add_actuators(r, of_x, here, rates)
    status = add_control(r, of_x, t, here, numbers, rates)
    if status == 0:
        status = cost_row(r, of_x, t, here, numbers, (here, n, True), rates)
    if status == 0 and parameters != 0:
        add_joint_friction_parameters(r, of_p, here, numbers, rates)
        status = add_control_parameters(r, of_p, t, here, numbers, count, rates)
        if status == 0:
            status = cost_row(r, of_p, t, here, numbers, (numbers, count, False), rates)
    if status != 0:
        return status
    nq, solved = r.sizes.nq, r.solved
    solve_inertia(r.mujoco.model, r.mujoco.data, address(solved), address(r.forces), many)
    for q in range(many):
        couple(r, solved[q])
    for i in range(r.sizes.nv):
        for q in range(many):
            rates[nq + i, q] = solved[q, i]
    return 0
