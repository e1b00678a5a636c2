"""Compiled: joints that follow others (see `couplings`).

Everything is evaluated at a copy of the state in which the joints that follow are where they belong. Their accelerations follow
as well, by forces that do no work: ``M qacc = forces + J' l``, ``J qacc = 0``, which is the motion in the coordinates of the
other joints alone.
"""

import math

from ...core.compiler.intrinsics import read, read_int, write
from ...core.compiler.jit import core
from . import layout as at
from .symbols import solve_inertia


@core
def substituted(w, x):
    """The address of the state with its joints that follow in place: x itself if there are none."""
    count = read_int(w, at.COUPLING_COUNT)
    if count == 0:
        return x
    out, nq, nv = read_int(w, at.SUBSTITUTED), read_int(w, at.NQ), read_int(w, at.NV)
    for i in range(read_int(w, at.N)):
        write(out, i, read(x, i))
    column, dofs, offsets = read_int(w, at.COLUMN), read_int(w, at.COUPLED), read_int(w, at.COUPLING_OFFSETS)
    for k in range(count):
        row, dof = read_int(w, at.COUPLINGS) + 8 * nv * k, read_int(dofs, k)
        angle, speed = read(offsets, k), 0.0
        for j in range(nv):
            a = read(row, j)
            if a != 0.0 and j != dof:
                angle -= a * read(x, read_int(column, j))
                speed -= a * read(x, nq + j)
        write(out, read_int(column, dof), angle)
        write(out, nq + dof, speed)
    return out


@core
def prepare_couplings(w):
    """M^-1 J' and the Cholesky factor of J M^-1 J', after f has factored M."""
    count, nv = read_int(w, at.COUPLING_COUNT), read_int(w, at.NV)
    J, W, S = read_int(w, at.COUPLINGS), read_int(w, at.COUPLING_W), read_int(w, at.COUPLING_S)
    solve_inertia(read_int(w, at.MODEL), read_int(w, at.DATA), W, J, count)
    for i in range(count):
        for j in range(i + 1):
            value = 0.0
            for k in range(nv):
                value += read(J, nv * i + k) * read(W, nv * j + k)
            for k in range(j):
                value -= read(S, count * i + k) * read(S, count * j + k)
            write(S, count * i + j, math.sqrt(value) if i == j else value / read(S, count * j + j))


@core
def couple(w, vectors, number):
    """Make so many accelerations (rows of nv) such that the joints that follow do: y -= M^-1 J' (J M^-1 J')^-1 J y."""
    count, nv = read_int(w, at.COUPLING_COUNT), read_int(w, at.NV)
    if count == 0:
        return
    J, W, S, z = (
        read_int(w, at.COUPLINGS),
        read_int(w, at.COUPLING_W),
        read_int(w, at.COUPLING_S),
        read_int(w, at.COUPLING_Z),
    )
    for q in range(number):
        y = vectors + 8 * nv * q
        for i in range(count):
            value = 0.0
            for k in range(nv):
                value += read(J, nv * i + k) * read(y, k)
            for k in range(i):
                value -= read(S, count * i + k) * read(z, k)
            write(z, i, value / read(S, count * i + i))
        for i in range(count - 1, -1, -1):
            value = read(z, i)
            for k in range(i + 1, count):
                value -= read(S, count * k + i) * read(z, k)
            write(z, i, value / read(S, count * i + i))
        for i in range(count):
            value = read(z, i)
            for k in range(nv):
                write(y, k, read(y, k) - value * read(W, nv * i + k))


@core
def fold_columns(w, out, rows, width):
    """A Jacobian (rows, width) by the substituted state, into one by the state: columns of joints that follow go to others."""
    count, nq, nv = read_int(w, at.COUPLING_COUNT), read_int(w, at.NQ), read_int(w, at.NV)
    column, dofs = read_int(w, at.COLUMN), read_int(w, at.COUPLED)
    for k in range(count):
        row, dof = read_int(w, at.COUPLINGS) + 8 * nv * k, read_int(dofs, k)
        own = read_int(column, dof)
        for i in range(rows):
            line = out + 8 * width * i
            by_angle, by_speed = read(line, own), read(line, nq + dof)
            write(line, own, 0.0)
            write(line, nq + dof, 0.0)
            for j in range(nv):
                a = read(row, j)
                if a != 0.0 and j != dof:
                    q = read_int(column, j)
                    write(line, q, read(line, q) - a * by_angle)
                    write(line, nq + j, read(line, nq + j) - a * by_speed)
