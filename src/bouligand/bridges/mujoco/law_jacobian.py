"""Compiled: derivatives of the laws of contact, whose forces are in ``touching`` (see there, and ``laws``, for what they mean).

With depth d, slip s (the velocity of body 1 against body 2), normal n and rate = -n . s the force of a contact is
``F = N(d, rate) e``: e is the normal, minus (tangential to it) the friction per newton of N.
"""

import math

from ...core.compiler.intrinsics import read, read_int, write
from ...core.compiler.jit import core
from . import laws
from . import layout as at
from .touching import normal_force


@core
def normal_slopes(contact, depth, rate, p):
    """The derivatives of the normal force in depth and rate."""
    i = read_int(contact, at.P_NORMAL)
    if read_int(contact, at.NORMAL) == laws.SPRING:
        return read(p, i), read(p, i + 1)
    stiffness, damping, exponent = read(p, i), read(p, i + 1), read(p, i + 2)
    steep = stiffness * exponent * math.fabs(depth) ** (exponent - 1.0)
    load = stiffness * math.copysign(math.fabs(depth) ** exponent, depth)
    return steep * (1.0 + damping * rate), load * damping


@core
def normal_by_parameters(contact, depth, rate, p):
    """The derivatives of the normal force in its three parameters."""
    if read_int(contact, at.NORMAL) == laws.SPRING:
        return depth, rate, 1.0
    i = read_int(contact, at.P_NORMAL)
    stiffness, damping, exponent = read(p, i), read(p, i + 1), read(p, i + 2)
    power = math.copysign(math.fabs(depth) ** exponent, depth)
    logarithm = math.log(math.fabs(depth)) if depth != 0.0 else 0.0
    return (
        power * (1.0 + damping * rate),
        stiffness * power * rate,
        stiffness * power * (1.0 + damping * rate) * logarithm,
    )


@core(inline=True)
def tangential(s, slip):
    """The part of the slip that is tangential to the normal in the scratch, and its normal part."""
    a, b, c = read(s, at.PUSH), read(s, at.PUSH + 1), read(s, at.PUSH + 2)
    normal = a * slip[0] + b * slip[1] + c * slip[2]
    return (slip[0] - normal * a, slip[1] - normal * b, slip[2] - normal * c), normal


@core
def force_slopes(w, x, contact, spot, slip, p):
    """Derivatives of the force of a contact that has been placed, into LAW_WORK. Returns its normal part, and e."""
    s, out = read_int(w, at.SCRATCH), read_int(w, at.LAW_WORK)
    n = (read(s, at.PUSH), read(s, at.PUSH + 1), read(s, at.PUSH + 2))
    depth, rate = read(s, at.DEPTH), -(n[0] * slip[0] + n[1] * slip[1] + n[2] * slip[2])
    force = normal_force(contact, depth, rate, p)
    by_depth, by_rate = normal_slopes(contact, depth, rate, p)
    if read_int(contact, at.FRICTION) == laws.LUGRE:
        e = _lugre_slopes(out, x, contact, spot, slip, force, p)
    else:
        e = _coulomb_slopes(out, s, contact, slip, force, by_rate, p)
    for i in range(3):
        write(out, at.BY_DEPTH + i, by_depth * e[i])
        for j in range(3):
            q = at.BY_SLIP + 3 * i + j
            write(out, q, read(out, q) - by_rate * e[i] * n[j])
    return force, e


@core
def _coulomb_slopes(out, s, contact, slip, force, by_rate, p):
    """BY_SLIP of friction alone and BY_NORMAL of all, for Coulomb's law or no friction. Returns e."""
    n = (read(s, at.PUSH), read(s, at.PUSH + 1), read(s, at.PUSH + 2))
    mu, over, t, normal = 0.0, 0.0, (0.0, 0.0, 0.0), 0.0
    if read_int(contact, at.FRICTION) == laws.COULOMB:
        i = read_int(contact, at.P_FRICTION)
        t, normal = tangential(s, slip)
        over = 1.0 / math.sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2] + read(p, i + 1) ** 2)
        mu, t = read(p, i), (over * t[0], over * t[1], over * t[2])
    e = (n[0] - mu * t[0], n[1] - mu * t[1], n[2] - mu * t[2])
    for i in range(3):
        for j in range(3):
            same = 1.0 if i == j else 0.0
            # friction by the tangential slip; that one by the normal is -(n . s) dn - n (s . dn)
            flat = same - t[i] * t[j]
            write(out, at.BY_SLIP + 3 * i + j, -mu * force * over * (flat - n[i] * n[j]))
            turned = normal * flat + n[i] * slip[j]
            write(out, at.BY_NORMAL + 3 * i + j, force * (same + mu * over * turned) - by_rate * e[i] * slip[j])
    return e


@core
def _bristles(x, contact, spot, slip, p):
    """Of LuGre's law: slip along and across, fade (the rate at which bristles lose their deflection), its derivative in
    the square of the slip, deflections, and their rates."""
    i = read_int(contact, at.P_FRICTION)
    along, across = spot + 8 * at.ALONG, spot + 8 * at.ACROSS
    u = slip[0] * read(along, 0) + slip[1] * read(along, 1) + slip[2] * read(along, 2)
    v = slip[0] * read(across, 0) + slip[1] * read(across, 1) + slip[2] * read(across, 2)
    stribeck, square = read(p, i + 2), u * u + v * v
    peak = (read(p, i) - read(p, i + 1)) * math.exp(-square / (stribeck * stribeck))
    level, by_level = read(p, i + 1) + peak, -peak / (stribeck * stribeck)
    size = math.sqrt(square + (0.01 * stribeck) ** 2)
    sigma0 = read(p, i + 3)
    fade = sigma0 * square / (size * level)
    by_square = sigma0 / (size * level) * (1.0 - 0.5 * square / (size * size) - square * by_level / level)
    bend, bow = read(x, read_int(contact, at.BRISTLE)), read(x, read_int(contact, at.BRISTLE) + 1)
    return u, v, fade, by_square, bend, bow, u - fade * bend, v - fade * bow


@core
def _lugre_slopes(out, x, contact, spot, slip, force, p):
    """BY_SLIP of friction alone, and the derivatives of and in the bristles, for LuGre's law (whose normal is
    fixed). Returns e."""
    i = read_int(contact, at.P_FRICTION)
    u, v, fade, by_square, bend, bow, rate, rise = _bristles(x, contact, spot, slip, p)
    sigma0, sigma1, sigma2 = read(p, i + 3), read(p, i + 4), read(p, i + 5)
    one, two = sigma0 * bend + sigma1 * rate + sigma2 * u, sigma0 * bow + sigma1 * rise + sigma2 * v
    along, across = spot + 8 * at.ALONG, spot + 8 * at.ACROSS
    for j in range(3):
        a, c = read(along, j), read(across, j)
        change = 2.0 * by_square * (u * a + v * c)
        write(out, at.BRISTLES_BY_SLIP + j, a - bend * change)
        write(out, at.BRISTLES_BY_SLIP + 3 + j, c - bow * change)
        write(out, at.BY_BRISTLES + j, -force * (sigma0 - sigma1 * fade) * a)
        write(out, at.BY_BRISTLES + 3 + j, -force * (sigma0 - sigma1 * fade) * c)
    for j in range(3):
        first = sigma1 * read(out, at.BRISTLES_BY_SLIP + j) + sigma2 * read(along, j)
        second = sigma1 * read(out, at.BRISTLES_BY_SLIP + 3 + j) + sigma2 * read(across, j)
        for q in range(3):
            write(out, at.BY_SLIP + 3 * q + j, -force * (read(along, q) * first + read(across, q) * second))
    write(out, at.FADE, fade)
    normal = spot + 8 * at.AXIS
    return (
        read(normal, 0) - one * read(along, 0) - two * read(across, 0),
        read(normal, 1) - one * read(along, 1) - two * read(across, 1),
        read(normal, 2) - one * read(along, 2) - two * read(across, 2),
    )


# ------------------------------------------------------------------------------------------------------------- parameters

MOST_PARAMETERS = 7  # of a law


@core
def numbers_of_laws(contact):
    """How many parameters the force of a contact that pushes depends on: three of the normal force, and those of friction."""
    law = read_int(contact, at.FRICTION)
    return 3 if law == laws.NO_FRICTION else 5 if law == laws.COULOMB else 9


@core
def column_of_law(contact, which):
    """The place of one of them among the parameters."""
    return read_int(contact, at.P_NORMAL) + which if which < 3 else read_int(contact, at.P_FRICTION) + which - 3


@core
def force_by_parameter(w, x, contact, spot, slip, which, load, e, p):
    """How the force of a contact that has been placed changes with one of them, and (LuGre) how the rates of both bristles do.
    ``load`` and e as from `force_slopes`."""
    if which < 3:
        s = read_int(w, at.SCRATCH)
        n = (read(s, at.PUSH), read(s, at.PUSH + 1), read(s, at.PUSH + 2))
        by = normal_by_parameters(contact, read(s, at.DEPTH), -(n[0] * slip[0] + n[1] * slip[1] + n[2] * slip[2]), p)
        scale = by[0] if which == 0 else by[1] if which == 1 else by[2]
        return scale * e[0], scale * e[1], scale * e[2], 0.0, 0.0
    a, b, c, bend, bow = friction_by_parameter(w, x, contact, spot, slip, which - 3, p)
    return load * a, load * b, load * c, bend, bow


@core
def friction_by_parameter(w, x, contact, spot, slip, which, p):
    """How e changes with one parameter of the law of friction, and (LuGre) how the rates of both bristles do."""
    i, s = read_int(contact, at.P_FRICTION), read_int(w, at.SCRATCH)
    if read_int(contact, at.FRICTION) == laws.COULOMB:
        t, _ = tangential(s, slip)
        soft = read(p, i + 1)
        square = t[0] * t[0] + t[1] * t[1] + t[2] * t[2] + soft * soft
        scale = -1.0 / math.sqrt(square)
        if which == 1:
            scale = read(p, i) * soft / (square * math.sqrt(square))
        return scale * t[0], scale * t[1], scale * t[2], 0.0, 0.0
    u, v, fade, _, bend, bow, rate, rise = _bristles(x, contact, spot, slip, p)
    stribeck, square, sigma1 = read(p, i + 2), u * u + v * v, read(p, i + 4)
    small = math.exp(-square / (stribeck * stribeck))
    drop = read(p, i) - read(p, i + 1)
    level = read(p, i + 1) + drop * small
    by, one, two = 0.0, 0.0, 0.0  # of fade, and directly of the two components of friction
    if which == 0:
        by = -fade * small / level
    elif which == 1:
        by = -fade * (1.0 - small) / level
    elif which == 2:
        by = -fade * drop * small * 2.0 * square / (stribeck**3 * level)
        by -= fade * 1e-4 * stribeck / (square + (0.01 * stribeck) ** 2)
    elif which == 3:
        by, one, two = fade / read(p, i + 3), bend, bow
    elif which == 4:
        one, two = rate, rise
    elif which == 5:
        one, two = u, v
    one, two = one - sigma1 * by * bend, two - sigma1 * by * bow
    along, across = spot + 8 * at.ALONG, spot + 8 * at.ACROSS
    return (
        -one * read(along, 0) - two * read(across, 0),
        -one * read(along, 1) - two * read(across, 1),
        -one * read(along, 2) - two * read(across, 2),
        -by * bend,
        -by * bow,
    )
