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

from ...core.compiler.intrinsics import read, read_int, read_int32, write
from ...core.compiler.jit import core
from . import layout as at
from .spatial import cross, dot, inertia_times, keep, of_force, of_motion, plus, vector

_STILL = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@core(inline=True)
def falling(gravity):
    """The acceleration of the world, with gravity."""
    return 0.0, 0.0, 0.0, -read(gravity, 0), -read(gravity, 1), -read(gravity, 2)


@core
def velocities(w):
    """Velocity and acceleration before and after the joint of each dof, into DOF_WORK."""
    cdof, rates = read_int(w, at.CDOF), read_int(w, at.CDOF_DOT)
    qvel, qacc, gravity = read_int(w, at.QVEL), read_int(w, at.QACC), read_int(w, at.GRAVITY)
    parents, first_of, work = read_int(w, at.DOF_PARENT), read_int(w, at.DOF_FIRST), read_int(w, at.DOF_WORK)
    still = falling(gravity)
    for k in range(read_int(w, at.NV)):
        row, axis = work + 8 * at.DOF_DOUBLES * k, cdof + 48 * k
        before, last = read_int32(parents, read_int(first_of, k)), read_int32(parents, k)
        v = a = _STILL
        u, c = _STILL, still
        if last >= 0:
            one = work + 8 * at.DOF_DOUBLES * last
            u, c = vector(one + 8 * at.V_AFTER), vector(one + 8 * at.A_AFTER)
        if before >= 0:
            one = work + 8 * at.DOF_DOUBLES * before
            v, a = vector(one + 8 * at.V_AFTER), vector(one + 8 * at.A_AFTER)
        else:
            a = still
        speed = read(qvel, k)
        keep(row + 8 * at.V_BEFORE, v)
        keep(row + 8 * at.A_BEFORE, a)
        keep(row + 8 * at.V_AFTER, plus(u, speed, vector(axis)))
        keep(row + 8 * at.A_AFTER, plus(plus(c, read(qacc, k), vector(axis)), speed, vector(rates + 48 * k)))


@core(inline=True)
def force_and_momentum(inertia, v, a):
    """Of a body with that velocity and acceleration."""
    momentum = inertia_times(inertia, v)
    return plus(inertia_times(inertia, a), 1.0, of_force(v, momentum)), momentum


@core
def bodies(w):
    """Force and velocity products of each body alone, into BODY_WORK."""
    cinert, cvel = read_int(w, at.CINERT), read_int(w, at.CVEL)
    last_of, work, dofs = read_int(w, at.BODY_LAST_DOF), read_int(w, at.BODY_WORK), read_int(w, at.DOF_WORK)
    for i in range(1, read_int(w, at.NBODY)):
        row, inertia = work + 8 * at.BODY_DOUBLES * i, cinert + 80 * i
        last = read_int(last_of, i)
        if last < 0:  # fixed to the world
            for q in range(at.BODY_DOUBLES):
                write(row, q, 0.0)
            continue
        v, a = vector(cvel + 48 * i), vector(dofs + 8 * (at.DOF_DOUBLES * last + at.A_AFTER))
        force, momentum = force_and_momentum(inertia, v, a)
        keep(row + 8 * at.FORCE, force)
        xx, yy, zz = read(inertia, 0), read(inertia, 1), read(inertia, 2)
        xy, xz, yz = read(inertia, 3), read(inertia, 4), read(inertia, 5)
        half = 0.5 * (xx + yy + zz)
        cx, cy, cz = read(inertia, 6), read(inertia, 7), read(inertia, 8)
        level = 2.0 * (cx * v[3] + cy * v[4] + cz * v[5])
        turn = (v[0], v[1], v[2])
        for q in range(3):  # column q of G
            column = (xx - half, xy, xz) if q == 0 else (xy, yy - half, yz) if q == 1 else (xz, yz, zz - half)
            one, c = cross(turn, column), 2.0 * read(inertia, 6 + q)
            write(row, at.GYRATION + q, 2.0 * one[0] - c * v[3] + (level if q == 0 else 0.0))
            write(row, at.GYRATION + 3 + q, 2.0 * one[1] - c * v[4] + (level if q == 1 else 0.0))
            write(row, at.GYRATION + 6 + q, 2.0 * one[2] - c * v[5] + (level if q == 2 else 0.0))
            write(row, at.MOMENTUM + q, momentum[3 + q])


@core
def _sum_up(w):
    """BODY_WORK of each body and of all that hang on it."""
    work, parents = read_int(w, at.BODY_WORK), read_int(w, at.BODY_PARENT)
    for i in range(read_int(w, at.NBODY) - 1, 0, -1):
        parent = read_int32(parents, i)
        if parent > 0:
            row, above = work + 8 * at.BODY_DOUBLES * i, work + 8 * at.BODY_DOUBLES * parent
            for q in range(at.BODY_DOUBLES):
                write(above, q, read(above, q) + read(row, q))


@core(inline=True)
def _products(row, s):
    """B s, of a row of BODY_WORK."""
    g, p = row + 8 * at.GYRATION, row + 8 * at.MOMENTUM
    pull = cross((s[0], s[1], s[2]), (read(p, 0), read(p, 1), read(p, 2)))
    return (
        read(g, 0) * s[0] + read(g, 1) * s[1] + read(g, 2) * s[2],
        read(g, 3) * s[0] + read(g, 4) * s[1] + read(g, 5) * s[2],
        read(g, 6) * s[0] + read(g, 7) * s[1] + read(g, 8) * s[2],
        2.0 * pull[0],
        2.0 * pull[1],
        2.0 * pull[2],
    )


@core
def _prepare_dofs(w):
    """What each dof's axis makes of speeds and angles before it, into DOF_WORK."""
    cdof, rates, crb = read_int(w, at.CDOF), read_int(w, at.CDOF_DOT), read_int(w, at.CRB)
    bodies_of, first_of, qvel = read_int(w, at.DOF_BODY), read_int(w, at.DOF_FIRST), read_int(w, at.QVEL)
    work, nv = read_int(w, at.DOF_WORK), read_int(w, at.NV)
    for k in range(nv):
        row, s, rate = work + 8 * at.DOF_DOUBLES * k, vector(cdof + 48 * k), vector(rates + 48 * k)
        v, a, body = vector(row + 8 * at.V_BEFORE), vector(row + 8 * at.A_BEFORE), read_int32(bodies_of, k)
        own, first = _STILL, read_int(first_of, k)
        dof = first
        while dof < nv and read_int(first_of, dof) == first:
            own = plus(own, read(qvel, dof), vector(cdof + 48 * dof))
            dof += 1
        keep(row + 8 * at.BY_SPEED, plus(of_motion(own, s), 2.0, rate))
        keep(row + 8 * at.BY_ANGLE, plus(of_motion(a, s), -1.0, of_motion(rate, v)))
        keep(row + 8 * at.INERTIAL, inertia_times(crb + 80 * body, s))
        sums = read_int(w, at.BODY_WORK) + 8 * at.BODY_DOUBLES * body
        g, p = sums + 8 * at.GYRATION, sums + 8 * at.MOMENTUM
        pull = cross((read(p, 0), read(p, 1), read(p, 2)), (s[3], s[4], s[5]))
        for q in range(3):
            twist = read(g, q) * s[0] + read(g, 3 + q) * s[1] + read(g, 6 + q) * s[2]
            write(row, at.GYRAL + q, twist + 2.0 * pull[q])


@core
def subtract_motion(w):
    """Subtract d tau from FORCES. Forces of contacts have been subtracted from those in BODY_WORK."""
    _sum_up(w)
    _prepare_dofs(w)
    cdof, rates, crb = read_int(w, at.CDOF), read_int(w, at.CDOF_DOT), read_int(w, at.CRB)
    parents, first_of, bodies_of = read_int(w, at.DOF_PARENT), read_int(w, at.DOF_FIRST), read_int(w, at.DOF_BODY)
    column, forces, work = read_int(w, at.COLUMN), read_int(w, at.FORCES), read_int(w, at.DOF_WORK)
    nq, nv = read_int(w, at.NQ), read_int(w, at.NV)
    for k in range(nv):
        row, body = work + 8 * at.DOF_DOUBLES * k, read_int32(bodies_of, k)
        s, rate = vector(cdof + 48 * k), vector(rates + 48 * k)
        sums, inertia = read_int(w, at.BODY_WORK) + 8 * at.BODY_DOUBLES * body, crb + 80 * body
        by_speed = plus(inertia_times(inertia, vector(row + 8 * at.BY_SPEED)), 1.0, _products(sums, s))
        by_angle = plus(inertia_times(inertia, vector(row + 8 * at.BY_ANGLE)), 1.0, _products(sums, rate))
        carried = plus(by_angle, 1.0, of_force(s, vector(sums + 8 * at.FORCE)))
        mass = vector(row + 8 * at.INERTIAL)
        spin0, spin1, spin2 = read(row, at.GYRAL), read(row, at.GYRAL + 1), read(row, at.GYRAL + 2)
        angle_row, speed_row = forces + 8 * nv * read_int(column, k), forces + 8 * nv * (nq + k)
        j, first = k, read_int(first_of, k)
        while j >= 0:
            axis = vector(cdof + 48 * j)
            write(angle_row, j, read(angle_row, j) - dot(axis, carried if j < first else by_angle))
            write(speed_row, j, read(speed_row, j) - dot(axis, by_speed))
            if j < k:  # the force of dof k by dof j, which is before it
                one, rate_j = work + 8 * at.DOF_DOUBLES * j, rates + 48 * j
                angles = dot(mass, vector(one + 8 * at.BY_ANGLE))
                angles += spin0 * read(rate_j, 0) + spin1 * read(rate_j, 1) + spin2 * read(rate_j, 2)
                speeds = dot(mass, vector(one + 8 * at.BY_SPEED)) + spin0 * axis[0] + spin1 * axis[1] + spin2 * axis[2]
                target = forces + 8 * nv * read_int(column, j)
                write(target, k, read(target, k) - angles)
                target = forces + 8 * nv * (nq + j)
                write(target, k, read(target, k) - speeds)
            j = read_int32(parents, j)
