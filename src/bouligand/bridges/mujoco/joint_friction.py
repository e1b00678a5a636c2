"""Compiled: dry friction of joints, and how it changes with the state and its parameters.

With a bristle z (one more state each), after LuGre: ``z' = v - |v| z / deflection``, ``force = -loss (z / deflection + d z')``. A
joint that sticks is held by a spring and does not crawl; one that slips feels its full friction. The damping d is that of the
spring, and falls with the speed such that the force stays of the size of the friction. Without a bristle, the friction is rounded
off below a small speed: ``-loss v / sqrt(v^2 + speed^2)``. With a guard, the speed of the joint, it is ``-loss sign``, with
the sign of the mode; where the joint sticks, the core slides on that guard.
"""

import math

from .entries import add_force, add_rate
from .table import core


@core(inline=True)
def _speed(v, soft):
    """|v|, rounded off, and its derivative."""
    root = math.sqrt(v * v + soft * soft)
    return v * v / root, v * (v * v + 2.0 * soft * soft) / (root * root * root)


@core
def _bristle(r, row, x, p):
    """Of a dof with a bristle: v, |v| and its slope, z, z', 1/deflection, the damping at rest and at v."""
    v, z = r.qvel[row.dof], x[row.bristle]
    first = r.sizes.friction_parameters
    stiff = 1.0 / p[first]
    damping = 2.0 * p[first + 1] * math.sqrt(row.inertia * stiff / row.loss)
    fast, slope = _speed(v, row.speed)
    return fast, slope, z, v - stiff * fast * z, stiff, damping, damping / (1.0 + damping * fast)


@core(inline=True)
def add_joint_friction(r, x, b, p, dx):
    """The friction to qfrc_applied, and the rates of bristles to dx."""
    applied, qvel = r.applied, r.qvel
    for k in range(r.losses.shape[0]):
        row = r.losses[k]
        if row.guard >= 0:
            force = b[row.guard]
        elif row.bristle < 0:
            v, soft = qvel[row.dof], row.speed
            force = v / math.sqrt(v * v + soft * soft)
        else:
            _, _, z, rate, stiff, _, damping = _bristle(r, row, x, p)
            force = stiff * z + damping * rate
            dx[row.bristle] = rate
        applied[row.dof] -= row.loss * force


@core(inline=True)
def speed_guards(r, x, out):
    """The guards of joints that stick exactly: their speeds."""
    for k in range(r.losses.shape[0]):
        row = r.losses[k]
        if row.guard >= 0:
            out[row.guard] = x[r.sizes.nq + row.dof]


@core(inline=True)
def add_joint_friction_slopes(r, seeds, x, p, out):
    """How it changes with the state: to ``r.forces``, and to the rows of bristles in ``out``."""
    qvel, nq = r.qvel, r.sizes.nq
    for k in range(r.losses.shape[0]):
        row = r.losses[k]
        dof, loss, soft, bristle = row.dof, row.loss, row.speed, row.bristle
        if bristle < 0:
            square = qvel[dof] ** 2 + soft * soft
            add_force(r, seeds, nq + dof, dof, -loss * soft * soft / (square * math.sqrt(square)))
        else:
            fast, slope, z, rate, stiff, _, damping = _bristle(r, row, x, p)
            rate_by_v, rate_by_z = 1.0 - stiff * slope * z, -stiff * fast
            change = damping * rate_by_v - damping * damping * slope * rate
            add_force(r, seeds, nq + dof, dof, -loss * change)
            add_force(r, seeds, bristle, dof, -loss * (stiff + damping * rate_by_z))
            add_rate(seeds, out, bristle, nq + dof, rate_by_v)
            add_rate(seeds, out, bristle, bristle, rate_by_z)


@core
def add_joint_friction_parameters(r, seeds, x, p, out):
    """How it changes with deflection and damping: to ``r.forces``, and to the rows of bristles in ``out``."""
    first = r.sizes.friction_parameters
    for k in range(r.losses.shape[0]):
        row = r.losses[k]
        dof, loss, bristle = row.dof, row.loss, row.bristle
        if bristle >= 0:
            fast, _, z, rate, stiff, at_rest, damping = _bristle(r, row, x, p)
            by_rest = (damping / at_rest) ** 2 * rate  # of the force, by the damping at rest
            rate_by_stiff = -fast * z
            by_stiff = z + damping * rate_by_stiff + by_rest * 0.5 * at_rest / stiff
            add_force(r, seeds, first, dof, loss * by_stiff * stiff * stiff)
            add_force(r, seeds, first + 1, dof, -loss * by_rest * at_rest / p[first + 1])
            add_rate(seeds, out, bristle, first, -rate_by_stiff * stiff * stiff)
