"""Compiled: algebra of spatial vectors (rotation first, then translation), as tuples of six numbers, and of tuples of three."""

from .table import core

STILL = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@core(inline=True)
def vector(a):
    """The six numbers of an array."""
    return a[0], a[1], a[2], a[3], a[4], a[5]


@core(inline=True)
def keep(out, a):
    """Six numbers into an array."""
    out[0] = a[0]
    out[1] = a[1]
    out[2] = a[2]
    out[3] = a[3]
    out[4] = a[4]
    out[5] = a[5]


@core(inline=True)
def three_of(a):
    """The first three numbers of an array."""
    return a[0], a[1], a[2]


@core(inline=True)
def sum_of(a, scale, b):
    """a + scale b, of three numbers each."""
    return a[0] + scale * b[0], a[1] + scale * b[1], a[2] + scale * b[2]


@core(inline=True)
def times(matrix, v):
    """A (3, 3) matrix in memory times a vector."""
    return (
        matrix[0, 0] * v[0] + matrix[0, 1] * v[1] + matrix[0, 2] * v[2],
        matrix[1, 0] * v[0] + matrix[1, 1] * v[1] + matrix[1, 2] * v[2],
        matrix[2, 0] * v[0] + matrix[2, 1] * v[1] + matrix[2, 2] * v[2],
    )


@core(inline=True)
def plus(a, scale, b):
    """a + scale b."""
    return (
        a[0] + scale * b[0],
        a[1] + scale * b[1],
        a[2] + scale * b[2],
        a[3] + scale * b[3],
        a[4] + scale * b[4],
        a[5] + scale * b[5],
    )


@core(inline=True)
def scaled(scale, a):
    return scale * a[0], scale * a[1], scale * a[2], scale * a[3], scale * a[4], scale * a[5]


@core(inline=True)
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


@core(inline=True)
def cross(a, b):
    """Of three numbers each."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@core(inline=True)
def of_motion(v, s):
    """v x s: the rate of a motion s that is carried along by v."""
    return (
        v[1] * s[2] - v[2] * s[1],
        v[2] * s[0] - v[0] * s[2],
        v[0] * s[1] - v[1] * s[0],
        v[1] * s[5] - v[2] * s[4] + v[4] * s[2] - v[5] * s[1],
        v[2] * s[3] - v[0] * s[5] + v[5] * s[0] - v[3] * s[2],
        v[0] * s[4] - v[1] * s[3] + v[3] * s[1] - v[4] * s[0],
    )


@core(inline=True)
def of_force(v, f):
    """v x* f: the rate of a force f (moment, force) that is carried along by v."""
    return (
        v[1] * f[2] - v[2] * f[1] + v[4] * f[5] - v[5] * f[4],
        v[2] * f[0] - v[0] * f[2] + v[5] * f[3] - v[3] * f[5],
        v[0] * f[1] - v[1] * f[0] + v[3] * f[4] - v[4] * f[3],
        v[1] * f[5] - v[2] * f[4],
        v[2] * f[3] - v[0] * f[5],
        v[0] * f[4] - v[1] * f[3],
    )


@core(inline=True)
def inertia_times(inertia, v):
    """The momentum of a velocity; MuJoCo's ten numbers are Ixx Iyy Izz Ixy Ixz Iyz, mass * centre, mass."""
    x, y, z, mass = inertia[6], inertia[7], inertia[8], inertia[9]
    xy, xz, yz = inertia[3], inertia[4], inertia[5]
    return (
        inertia[0] * v[0] + xy * v[1] + xz * v[2] - z * v[4] + y * v[5],
        xy * v[0] + inertia[1] * v[1] + yz * v[2] + z * v[3] - x * v[5],
        xz * v[0] + yz * v[1] + inertia[2] * v[2] - y * v[3] + x * v[4],
        z * v[1] - y * v[2] + mass * v[3],
        x * v[2] - z * v[0] + mass * v[4],
        y * v[0] - x * v[1] + mass * v[5],
    )
