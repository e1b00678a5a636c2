"""Compiled: how the joint forces that a tree of bodies needs, ``tau = M qacc + bias``, change with its pose and its speeds.

All vectors are spatial ones at the tree's centre of mass, where MuJoCo keeps them: one fixed frame, in which a small rotation of
dof k carries all that comes after it along, S_k x ( ). V and A are velocity and acceleration (gravity included) before the joint
of dof k, W the velocity of that joint itself, S_k' = V x S_k, and for two dofs j and k on one chain m is the later one:

    d tau_j / d qvel_k = S_j . (I_m (2 S_k' + W x S_k) + B_m S_k)
    d tau_j / d q_k    = S_j . (I_m (A x S_k - S_k' x V) + B_m S_k')   [+ S_j . (S_k x* F_k) for j before the joint of k]

I, B and F are sums over all bodies that a dof moves: of the inertia, of the forces that act on them, and of the velocity products
``B u = I (u x v) + u x* I v + v x* I u``. B maps a translation to zero, and a rotation a to the moment G a and the force 2 a x P:

    G = 2 [omega] (I - trace(I) / 2) + 2 (c . v) 1 - 2 v c^T

with I the rotational inertia about the frame's origin, c mass times centre, P the linear momentum: twelve numbers a body.
"""

from .spatial import STILL, cross, dot, inertia_times, keep, of_force, of_motion, plus, three_of, vector
from .table import core


@core(inline=True)
def falling(gravity):
    """The acceleration of the world, with gravity."""
    return 0.0, 0.0, 0.0, -gravity[0], -gravity[1], -gravity[2]


@core
def velocities(r):
    """Velocity and acceleration before and after the joint of each dof."""
    cdof, rates, qvel, qacc, dofs = r.cdof, r.cdof_dot, r.qvel, r.qacc, r.dofs
    parents, first_of, still = r.dof_parent, r.dof_first, falling(r.gravity)
    for k in range(dofs.shape[0]):
        dof, axis, speed = dofs[k], vector(cdof[k]), qvel[k]
        before, last = parents[first_of[k]], parents[k]
        v, a = STILL, still
        u, c = STILL, still
        if last >= 0:
            u, c = vector(dofs[last].v_after), vector(dofs[last].a_after)
        if before >= 0:
            v, a = vector(dofs[before].v_after), vector(dofs[before].a_after)
        keep(dof.v_before, v)
        keep(dof.a_before, a)
        keep(dof.v_after, plus(u, speed, axis))
        keep(dof.a_after, plus(plus(c, qacc[k], axis), speed, vector(rates[k])))


@core(inline=True)
def force_and_momentum(inertia, v, a):
    """Of a body with that velocity and acceleration."""
    momentum = inertia_times(inertia, v)
    return plus(inertia_times(inertia, a), 1.0, of_force(v, momentum)), momentum


@core(inline=True)
def bodies(r):
    """Force and velocity products of each body alone."""
    cinert, cvel, last_of, dofs = r.cinert, r.cvel, r.body_last_dof, r.dofs
    for i in range(1, r.bodies.shape[0]):
        body, inertia, last = r.bodies[i], cinert[i], last_of[i]
        force, gyration, products = body.force, body.gyration, body.momentum
        if last < 0:  # fixed to the world
            keep(force, STILL)
            for q in range(9):
                gyration[q] = 0.0
            for q in range(3):
                products[q] = 0.0
            continue
        v, a = vector(cvel[i]), vector(dofs[last].a_after)
        moving, momentum = force_and_momentum(inertia, v, a)
        keep(force, moving)
        xx, yy, zz, xy, xz, yz = vector(inertia)
        half = 0.5 * (xx + yy + zz)
        level = 2.0 * (inertia[6] * v[3] + inertia[7] * v[4] + inertia[8] * v[5])
        turn = (v[0], v[1], v[2])
        for q in range(3):  # column q of G
            column = (xx - half, xy, xz) if q == 0 else (xy, yy - half, yz) if q == 1 else (xz, yz, zz - half)
            one, c = cross(turn, column), 2.0 * inertia[6 + q]
            gyration[q] = 2.0 * one[0] - c * v[3] + (level if q == 0 else 0.0)
            gyration[3 + q] = 2.0 * one[1] - c * v[4] + (level if q == 1 else 0.0)
            gyration[6 + q] = 2.0 * one[2] - c * v[5] + (level if q == 2 else 0.0)
            products[q] = momentum[3 + q]


@core(inline=True)
def _sum_up(r):
    """The sums of each body and of all that hang on it."""
    for i in range(r.bodies.shape[0] - 1, 0, -1):
        if r.body_parent[i] > 0:
            body, above = r.bodies[i], r.bodies[r.body_parent[i]]
            for q in range(6):
                above.force[q] += body.force[q]
            for q in range(9):
                above.gyration[q] += body.gyration[q]
            for q in range(3):
                above.momentum[q] += body.momentum[q]


@core(inline=True)
def _products(body, s):
    """B s, of a body and all that hang on it."""
    g = body.gyration
    pull = cross((s[0], s[1], s[2]), three_of(body.momentum))
    return (
        g[0] * s[0] + g[1] * s[1] + g[2] * s[2],
        g[3] * s[0] + g[4] * s[1] + g[5] * s[2],
        g[6] * s[0] + g[7] * s[1] + g[8] * s[2],
        2.0 * pull[0],
        2.0 * pull[1],
        2.0 * pull[2],
    )


@core(inline=True)
def _prepare_dofs(r):
    """What each dof's axis makes of speeds and angles before it."""
    cdof, rates, crb, qvel, dofs = r.cdof, r.cdof_dot, r.crb, r.qvel, r.dofs
    bodies_of, first_of = r.dof_body, r.dof_first
    nv = dofs.shape[0]
    for k in range(nv):
        row, s, rate = dofs[k], vector(cdof[k]), vector(rates[k])
        v, a, body = vector(row.v_before), vector(row.a_before), bodies_of[k]
        own, first = STILL, first_of[k]
        dof = first
        while dof < nv and first_of[dof] == first:
            own = plus(own, qvel[dof], vector(cdof[dof]))
            dof += 1
        keep(row.by_speed, plus(of_motion(own, s), 2.0, rate))
        keep(row.by_angle, plus(of_motion(a, s), -1.0, of_motion(rate, v)))
        keep(row.inertial, inertia_times(crb[body], s))
        g, p, gyral = r.bodies[body].gyration, three_of(r.bodies[body].momentum), row.gyral
        pull = cross(p, (s[3], s[4], s[5]))
        for q in range(3):
            twist = g[q] * s[0] + g[3 + q] * s[1] + g[6 + q] * s[2]
            gyral[q] = twist + 2.0 * pull[q]


@core(inline=True)
def subtract_motion(r):
    """Subtract d tau from ``r.forces``. Forces of contacts have been subtracted from those of the bodies."""
    _sum_up(r)
    _prepare_dofs(r)
    cdof, rates, crb, dofs, forces = r.cdof, r.cdof_dot, r.crb, r.dofs, r.forces
    parents, first_of, bodies_of, column, nq = r.dof_parent, r.dof_first, r.dof_body, r.dof_column, r.sizes.nq
    for k in range(dofs.shape[0]):
        row, body, inertia = dofs[k], r.bodies[bodies_of[k]], crb[bodies_of[k]]
        s, rate = vector(cdof[k]), vector(rates[k])
        by_speed = plus(inertia_times(inertia, vector(row.by_speed)), 1.0, _products(body, s))
        by_angle = plus(inertia_times(inertia, vector(row.by_angle)), 1.0, _products(body, rate))
        carried = plus(by_angle, 1.0, of_force(s, vector(body.force)))
        mass, first = vector(row.inertial), first_of[k]
        spin0, spin1, spin2 = three_of(row.gyral)
        angle_row, speed_row = forces[column[k]], forces[nq + k]
        j = k
        while j >= 0:
            axis = vector(cdof[j])
            angle_row[j] -= dot(axis, carried if j < first else by_angle)
            speed_row[j] -= dot(axis, by_speed)
            if j < k:  # the force of dof k by dof j, which is before it
                one, rate_j = dofs[j], rates[j]
                angles = dot(mass, vector(one.by_angle))
                angles += spin0 * rate_j[0] + spin1 * rate_j[1] + spin2 * rate_j[2]
                speeds = dot(mass, vector(one.by_speed)) + spin0 * axis[0] + spin1 * axis[1] + spin2 * axis[2]
                forces[column[j], k] -= angles
                forces[nq + j, k] -= speeds
            j = parents[j]
