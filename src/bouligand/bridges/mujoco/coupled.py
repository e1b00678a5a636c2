"""Compiled: joints that follow others (see `couplings`).

Everything is evaluated at a copy of the state in which the joints that follow are where they belong. Their accelerations follow
as well, by forces that do no work: ``M qacc = forces + J' l``, ``J qacc = 0``, which is the motion in the coordinates of the
other joints alone.
"""

import math

from ...core.compiler.intrinsics import address
from ...core.compiler.tables import vector_at
from .symbols import solve_inertia
from .table import core


@core(inline=True)
def substituted(r, x):
    """Of a state at an address, the address of the same with its joints that follow in place; x itself if there are none."""
    c, nq, column = r.couplings, r.sizes.nq, r.dof_column
    count, J, out = c.dofs.shape[0], c.J, c.x
    if count == 0:
        return x
    given = vector_at(x, out.shape[0])
    for i in range(out.shape[0]):
        out[i] = given[i]
    for k in range(count):
        dof, angle, speed = c.dofs[k], c.offsets[k], 0.0
        for j in range(J.shape[1]):
            a = J[k, j]
            if a != 0.0 and j != dof:
                angle -= a * given[column[j]]
                speed -= a * given[nq + j]
        out[column[dof]] = angle
        out[nq + dof] = speed
    return address(out)


@core
def prepare_couplings(r):
    """M^-1 J' and the Cholesky factor of J M^-1 J', after f has factored M."""
    J, W, S = r.couplings.J, r.couplings.W, r.couplings.S
    count, nv = J.shape
    solve_inertia(r.mujoco.model, r.mujoco.data, address(W), address(J), count)
    for i in range(count):
        for j in range(i + 1):
            value = 0.0
            for k in range(nv):
                value += J[i, k] * W[j, k]
            for k in range(j):
                value -= S[i, k] * S[j, k]
            S[i, j] = math.sqrt(value) if i == j else value / S[j, j]


@core
def couple(r, y):
    """Make accelerations (nv) such that the joints that follow do: y -= M^-1 J' (J M^-1 J')^-1 J y."""
    J, W, S, z = r.couplings.J, r.couplings.W, r.couplings.S, r.couplings.z
    count, nv = J.shape
    for i in range(count):
        value = 0.0
        for k in range(nv):
            value += J[i, k] * y[k]
        for k in range(i):
            value -= S[i, k] * z[k]
        z[i] = value / S[i, i]
    for i in range(count - 1, -1, -1):
        value = z[i]
        for k in range(i + 1, count):
            value -= S[k, i] * z[k]
        z[i] = value / S[i, i]
    for i in range(count):
        value = z[i]
        for k in range(nv):
            y[k] -= value * W[i, k]


@core(inline=True)
def fold_columns(r, out):
    """A Jacobian by the substituted state, into one by the state: columns of joints that follow go to others."""
    c, nq, column = r.couplings, r.sizes.nq, r.dof_column
    for k in range(c.dofs.shape[0]):
        row, dof = c.J[k], c.dofs[k]
        own = column[dof]
        for i in range(out.shape[0]):
            line = out[i]
            by_angle, by_speed = line[own], line[nq + dof]
            line[own] = 0.0
            line[nq + dof] = 0.0
            for j in range(row.shape[0]):
                a = row[j]
                if a != 0.0 and j != dof:
                    line[column[j]] -= a * by_angle
                    line[nq + j] -= a * by_speed
