"""Compiled: dry friction of joints, and how it changes with the state and its parameters.

With a bristle z (one more state each), after LuGre: ``z' = v - |v| z / deflection``, ``force = -loss (z / deflection + d z')``. A
joint that sticks is held by a spring and does not crawl; one that slips feels its full friction. The damping d is that of the
spring, and falls with the speed such that the force stays of the size of the friction. Without a bristle, the friction is rounded
off below a small speed: ``-loss v / sqrt(v^2 + speed^2)``. With a guard, the speed of the joint, it is ``-loss sign``, with
the sign of the mode; where the joint sticks, the core slides on that guard.
"""

import math

from ...core.compiler.intrinsics import read, read_int, write
from ...core.compiler.jit import core
from . import layout as at
from .entries import add_force, add_rate


@core(inline=True)
def _speed(v, soft):
    """|v|, rounded off, and its derivative."""
    root = math.sqrt(v * v + soft * soft)
    return v * v / root, v * (v * v + 2.0 * soft * soft) / (root * root * root)


@core
def _bristle(w, row, x, p):
    """Of a dof with a bristle: v, |v| and its slope, z, z', 1/deflection, the damping at rest and at v."""
    v, z = read(read_int(w, at.QVEL), int(read(row, at.LOSS_DOF))), read(x, int(read(row, at.LOSS_BRISTLE)))
    first = read_int(w, at.LOSS_PARAMETERS)
    stiff = 1.0 / read(p, first)
    damping = 2.0 * read(p, first + 1) * math.sqrt(read(row, at.LOSS_INERTIA) * stiff / read(row, at.LOSS))
    fast, slope = _speed(v, read(row, at.LOSS_SPEED))
    return fast, slope, z, v - stiff * fast * z, stiff, damping, damping / (1.0 + damping * fast)


@core
def add_joint_friction(w, x, b, p, dx):
    """The friction to qfrc_applied, and the rates of bristles to dx."""
    row, applied, qvel = read_int(w, at.LOSSES), read_int(w, at.APPLIED), read_int(w, at.QVEL)
    for _ in range(read_int(w, at.LOSS_COUNT)):
        dof, loss, soft = int(read(row, at.LOSS_DOF)), read(row, at.LOSS), read(row, at.LOSS_SPEED)
        bristle, guard = int(read(row, at.LOSS_BRISTLE)), int(read(row, at.LOSS_GUARD))
        if guard >= 0:
            force = read(b, guard)
        elif bristle < 0:
            v = read(qvel, dof)
            force = v / math.sqrt(v * v + soft * soft)
        else:
            _, _, z, rate, stiff, _, damping = _bristle(w, row, x, p)
            force = stiff * z + damping * rate
            write(dx, bristle, rate)
        write(applied, dof, read(applied, dof) - loss * force)
        row += 8 * at.LOSS_DOUBLES


@core
def speed_guards(w, x, out):
    """The guards of joints that stick exactly: their speeds."""
    row, nq = read_int(w, at.LOSSES), read_int(w, at.NQ)
    for _ in range(read_int(w, at.LOSS_COUNT)):
        guard = int(read(row, at.LOSS_GUARD))
        if guard >= 0:
            write(out, guard, read(x, nq + int(read(row, at.LOSS_DOF))))
        row += 8 * at.LOSS_DOUBLES


@core
def add_joint_friction_slopes(w, seeds, x, p, out, stride):
    """How it changes with the state: to FORCES, and to the rows of bristles in ``out`` (n, stride)."""
    row, qvel, nq = read_int(w, at.LOSSES), read_int(w, at.QVEL), read_int(w, at.NQ)
    for _ in range(read_int(w, at.LOSS_COUNT)):
        dof, loss, soft = int(read(row, at.LOSS_DOF)), read(row, at.LOSS), read(row, at.LOSS_SPEED)
        bristle = int(read(row, at.LOSS_BRISTLE))
        if bristle < 0:
            square = read(qvel, dof) ** 2 + soft * soft
            add_force(w, seeds, nq + dof, dof, -loss * soft * soft / (square * math.sqrt(square)))
        else:
            fast, slope, z, rate, stiff, _, damping = _bristle(w, row, x, p)
            rate_by_v, rate_by_z = 1.0 - stiff * slope * z, -stiff * fast
            change = damping * rate_by_v - damping * damping * slope * rate
            add_force(w, seeds, nq + dof, dof, -loss * change)
            add_force(w, seeds, bristle, dof, -loss * (stiff + damping * rate_by_z))
            add_rate(seeds, out, stride, bristle, nq + dof, rate_by_v)
            add_rate(seeds, out, stride, bristle, bristle, rate_by_z)
        row += 8 * at.LOSS_DOUBLES


@core
def add_joint_friction_parameters(w, seeds, x, p, out, stride):
    """How it changes with deflection and damping: to FORCES, and to the rows of bristles in ``out`` (n, stride)."""
    row, first = read_int(w, at.LOSSES), read_int(w, at.LOSS_PARAMETERS)
    for _ in range(read_int(w, at.LOSS_COUNT)):
        dof, loss, bristle = int(read(row, at.LOSS_DOF)), read(row, at.LOSS), int(read(row, at.LOSS_BRISTLE))
        if bristle >= 0:
            fast, _, z, rate, stiff, at_rest, damping = _bristle(w, row, x, p)
            by_rest = (damping / at_rest) ** 2 * rate  # of the force, by the damping at rest
            rate_by_stiff = -fast * z
            by_stiff = z + damping * rate_by_stiff + by_rest * 0.5 * at_rest / stiff
            add_force(w, seeds, first, dof, loss * by_stiff * stiff * stiff)
            add_force(w, seeds, first + 1, dof, -loss * by_rest * at_rest / read(p, first + 1))
            add_rate(seeds, out, stride, bristle, first, -rate_by_stiff * stiff * stiff)
        row += 8 * at.LOSS_DOUBLES
