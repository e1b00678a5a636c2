"""Compiled: derivatives of the laws of contact, whose forces are in ``touching`` (see there, and ``laws``, for what they mean).

With depth d, slip s (the velocity of body 1 against body 2), normal n and rate = -n . s the force of a contact is
``F = N(d, rate) e``: e is the normal, minus (tangential to it) the friction per newton of N.
"""

import math

from . import laws
from .spatial import three_of
from .table import core
from .touching import normal_force


@core
def normal_slopes(contact, depth, rate, p):
    """The derivatives of the normal force in depth and rate."""
    i = contact.p_normal
    if contact.normal == laws.SPRING:
        return p[i], p[i + 1]
    stiffness, damping, exponent = p[i], p[i + 1], p[i + 2]
    steep = stiffness * exponent * math.fabs(depth) ** (exponent - 1.0)
    load = stiffness * math.copysign(math.fabs(depth) ** exponent, depth)
    return steep * (1.0 + damping * rate), load * damping


@core
def normal_by_parameters(contact, depth, rate, p):
    """The derivatives of the normal force in its three parameters."""
    if contact.normal == laws.SPRING:
        return depth, rate, 1.0
    i = contact.p_normal
    stiffness, damping, exponent = p[i], p[i + 1], p[i + 2]
    power = math.copysign(math.fabs(depth) ** exponent, depth)
    logarithm = math.log(math.fabs(depth)) if depth != 0.0 else 0.0
    return (
        power * (1.0 + damping * rate),
        stiffness * power * rate,
        stiffness * power * (1.0 + damping * rate) * logarithm,
    )


@core(inline=True)
def tangential(n, slip):
    """The part of the slip that is tangential to the normal n, and its normal part."""
    normal = n[0] * slip[0] + n[1] * slip[1] + n[2] * slip[2]
    return (slip[0] - normal * n[0], slip[1] - normal * n[1], slip[2] - normal * n[2]), normal


@core
def force_slopes(r, x, contact, slip, p):
    """Derivatives of the force of a contact that has been placed, into ``r.slopes``. Returns its normal part, and e."""
    out, n, depth = r.slopes, three_of(r.placed.push), r.placed.depth
    rate = -(n[0] * slip[0] + n[1] * slip[1] + n[2] * slip[2])
    force = normal_force(contact, depth, rate, p)
    by_depth, by_rate = normal_slopes(contact, depth, rate, p)
    if contact.friction == laws.LUGRE:
        e = _lugre_slopes(out, x, contact, slip, force, p)
    else:
        e = _coulomb_slopes(out, n, contact, slip, force, by_rate, p)
    for i in range(3):
        out.by_depth[i] = by_depth * e[i]
        for j in range(3):
            out.by_slip[i, j] -= by_rate * e[i] * n[j]
    return force, e


@core
def _coulomb_slopes(out, n, contact, slip, force, by_rate, p):
    """``by_slip`` of friction alone and ``by_normal`` of all, for Coulomb's law or no friction. Returns e."""
    mu, over, t, normal = 0.0, 0.0, (0.0, 0.0, 0.0), 0.0
    if contact.friction == laws.COULOMB:
        i = contact.p_friction
        t, normal = tangential(n, slip)
        over = 1.0 / math.sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2] + p[i + 1] ** 2)
        mu, t = p[i], (over * t[0], over * t[1], over * t[2])
    e = (n[0] - mu * t[0], n[1] - mu * t[1], n[2] - mu * t[2])
    for i in range(3):
        for j in range(3):
            same = 1.0 if i == j else 0.0
            # friction by the tangential slip; that one by the normal is -(n . s) dn - n (s . dn)
            flat = same - t[i] * t[j]
            out.by_slip[i, j] = -mu * force * over * (flat - n[i] * n[j])
            turned = normal * flat + n[i] * slip[j]
            out.by_normal[i, j] = force * (same + mu * over * turned) - by_rate * e[i] * slip[j]
    return e


@core
def _bristles(x, contact, slip, p):
    """Of LuGre's law: slip along and across, fade (the rate at which bristles lose their deflection), its derivative in
    the square of the slip, deflections, and their rates."""
    i = contact.p_friction
    along, across = contact.ways[0], contact.ways[1]
    u = slip[0] * along[0] + slip[1] * along[1] + slip[2] * along[2]
    v = slip[0] * across[0] + slip[1] * across[1] + slip[2] * across[2]
    stribeck, square = p[i + 2], u * u + v * v
    peak = (p[i] - p[i + 1]) * math.exp(-square / (stribeck * stribeck))
    level, by_level = p[i + 1] + peak, -peak / (stribeck * stribeck)
    size = math.sqrt(square + (0.01 * stribeck) ** 2)
    sigma0 = p[i + 3]
    fade = sigma0 * square / (size * level)
    by_square = sigma0 / (size * level) * (1.0 - 0.5 * square / (size * size) - square * by_level / level)
    bend, bow = x[contact.bristle], x[contact.bristle + 1]
    return u, v, fade, by_square, bend, bow, u - fade * bend, v - fade * bow


@core
def _lugre_slopes(out, x, contact, slip, force, p):
    """``by_slip`` of friction alone, and the derivatives of and in the bristles, for LuGre's law (whose normal is
    fixed). Returns e."""
    i = contact.p_friction
    u, v, fade, by_square, bend, bow, rate, rise = _bristles(x, contact, slip, p)
    sigma0, sigma1, sigma2 = p[i + 3], p[i + 4], p[i + 5]
    one, two = sigma0 * bend + sigma1 * rate + sigma2 * u, sigma0 * bow + sigma1 * rise + sigma2 * v
    along, across = contact.ways[0], contact.ways[1]
    for j in range(3):
        a, c = along[j], across[j]
        change = 2.0 * by_square * (u * a + v * c)
        out.bristles_by_slip[0, j] = a - bend * change
        out.bristles_by_slip[1, j] = c - bow * change
        out.by_bristles[0, j] = -force * (sigma0 - sigma1 * fade) * a
        out.by_bristles[1, j] = -force * (sigma0 - sigma1 * fade) * c
    for j in range(3):
        first = sigma1 * out.bristles_by_slip[0, j] + sigma2 * along[j]
        second = sigma1 * out.bristles_by_slip[1, j] + sigma2 * across[j]
        for q in range(3):
            out.by_slip[q, j] = -force * (along[q] * first + across[q] * second)
    out.fade = fade
    normal = contact.axis
    return (
        normal[0] - one * along[0] - two * across[0],
        normal[1] - one * along[1] - two * across[1],
        normal[2] - one * along[2] - two * across[2],
    )


# ------------------------------------------------------------------------------------------------------------- parameters

MOST_PARAMETERS = 7  # of a law


@core
def numbers_of_laws(contact):
    """How many parameters the force of a contact that pushes depends on: three of the normal force, and those of friction."""
    law = contact.friction
    return 3 if law == laws.NO_FRICTION else 5 if law == laws.COULOMB else 9


@core
def column_of_law(contact, which):
    """The place of one of them among the parameters."""
    return contact.p_normal + which if which < 3 else contact.p_friction + which - 3


@core
def force_by_parameter(r, x, contact, slip, which, load, e, p):
    """How the force of a contact that has been placed changes with one of them, and (LuGre) how the rates of both bristles do.
    ``load`` and e as from `force_slopes`."""
    if which < 3:
        n, depth = three_of(r.placed.push), r.placed.depth
        by = normal_by_parameters(contact, depth, -(n[0] * slip[0] + n[1] * slip[1] + n[2] * slip[2]), p)
        scale = by[0] if which == 0 else by[1] if which == 1 else by[2]
        return scale * e[0], scale * e[1], scale * e[2], 0.0, 0.0
    a, b, c, bend, bow = friction_by_parameter(r, x, contact, slip, which - 3, p)
    return load * a, load * b, load * c, bend, bow


@core
def friction_by_parameter(r, x, contact, slip, which, p):
    """How e changes with one parameter of the law of friction, and (LuGre) how the rates of both bristles do."""
    i = contact.p_friction
    if contact.friction == laws.COULOMB:
        t, _ = tangential(three_of(r.placed.push), slip)
        soft = p[i + 1]
        square = t[0] * t[0] + t[1] * t[1] + t[2] * t[2] + soft * soft
        scale = -1.0 / math.sqrt(square)
        if which == 1:
            scale = p[i] * soft / (square * math.sqrt(square))
        return scale * t[0], scale * t[1], scale * t[2], 0.0, 0.0
    u, v, fade, _, bend, bow, rate, rise = _bristles(x, contact, slip, p)
    stribeck, square, sigma1 = p[i + 2], u * u + v * v, p[i + 4]
    small = math.exp(-square / (stribeck * stribeck))
    drop = p[i] - p[i + 1]
    level = p[i + 1] + drop * small
    by, one, two = 0.0, 0.0, 0.0  # of fade, and directly of the two components of friction
    if which == 0:
        by = -fade * small / level
    elif which == 1:
        by = -fade * (1.0 - small) / level
    elif which == 2:
        by = -fade * drop * small * 2.0 * square / (stribeck**3 * level)
        by -= fade * 1e-4 * stribeck / (square + (0.01 * stribeck) ** 2)
    elif which == 3:
        by, one, two = fade / p[i + 3], bend, bow
    elif which == 4:
        one, two = rate, rise
    elif which == 5:
        one, two = u, v
    one, two = one - sigma1 * by * bend, two - sigma1 * by * bow
    along, across = contact.ways[0], contact.ways[1]
    return (
        -one * along[0] - two * across[0],
        -one * along[1] - two * across[1],
        -one * along[2] - two * across[2],
        -by * bend,
        -by * bow,
    )
