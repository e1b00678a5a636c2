"""Compiled: how the normal and the place of a contact between two geoms change when the geoms move.

Of two balls formulas tell. Of others that depends on their shapes, of which MuJoCo tells the distance and the nearest points
only. So these are differenced: geom 1 is displaced a little, and turned a little about its centre, in six directions. How they
change with a dof that moves geom 2 follows, because where both move together the whole picture is just displaced and turned.
"""

import math

from ...core.compiler.intrinsics import read, read_int, read_int32, write
from ...core.compiler.jit import core
from . import layout as at
from .spatial import cross
from .touching import place

STEP = 2e-4  # of the distance between the cores of the geoms, the length by which their normal turns


@core
def _turn(matrix, axis, angle):
    """Turn a rotation matrix about an axis of the world."""
    c, s = math.cos(angle), math.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    for q in range(3):
        a, b = read(matrix, 3 * i + q), read(matrix, 3 * j + q)
        write(matrix, 3 * i + q, c * a - s * b)
        write(matrix, 3 * j + q, s * a + c * b)


@core
def pair_slopes(w, x, contact, spot):
    """PAIR_TURNS and PAIR_SHIFTS: six derivatives of the normal and of the place. The contact is placed at the end."""
    if read_int(contact, at.BALLS) == 2:
        place(w, x, contact, spot)
        _slopes_of_balls(w, spot)
    else:
        _slopes_by_differences(w, x, contact, spot)


@core
def _slopes_of_balls(w, spot):
    """The same of two balls, which have been placed."""
    s, law = read_int(w, at.SCRATCH), read_int(w, at.LAW_WORK)
    radius, other = read(spot, at.PAD), read(spot, at.PAD + 1)
    over = 1.0 / (radius + other - read(s, at.DEPTH))
    for d in range(3):
        turns, shifts = law + 8 * (at.PAIR_TURNS + 3 * d), law + 8 * (at.PAIR_SHIFTS + 3 * d)
        along = read(s, at.PUSH + d)
        for q in range(3):
            write(turns, q, 0.0)  # (to turn a ball about its centre changes nothing)
            write(shifts, q, 0.0)
            same = 1.0 if q == d else 0.0
            turned = over * (same - along * read(s, at.PUSH + q))
            write(turns, 9 + q, turned)
            write(shifts, 9 + q, 0.5 * same + 0.5 * (other - radius) * turned)


@core
def _slopes_by_differences(w, x, contact, spot):
    """The same by differences of fourth order."""
    s, law = read_int(w, at.SCRATCH), read_int(w, at.LAW_WORK)
    geom = read_int(contact, at.GEOM1)
    position, matrix = read_int(w, at.GEOM_POS) + 24 * geom, read_int(w, at.GEOM_MAT) + 72 * geom
    kept = law + 8 * at.PAIR_KEPT
    for q in range(9):
        write(kept, q, read(matrix, q))
    place(w, x, contact, spot)
    apart = 0.0
    for q in range(3):
        apart += (read(s, at.SEGMENT + q) - read(s, at.SEGMENT + 3 + q)) ** 2
    apart = math.sqrt(apart)
    for d in range(6):
        turns, shifts = law + 8 * (at.PAIR_TURNS + 3 * d), law + 8 * (at.PAIR_SHIFTS + 3 * d)
        for q in range(3):
            write(turns, q, 0.0)
            write(shifts, q, 0.0)
        if d < 3 and read_int(contact, at.BALLS) == 1:
            continue  # (to turn a ball about its centre changes nothing)
        step = STEP * apart
        if d < 3:
            step = STEP * apart / (apart + read(read_int(w, at.GEOM_REACH), geom))
        for side in (-2.0, -1.0, 1.0, 2.0):
            weight = (8.0 if side * side == 1.0 else -1.0) * (1.0 if side > 0.0 else -1.0) / (12.0 * step)
            here = read(position, d % 3)
            if d < 3:
                _turn(matrix, d, side * step)
            else:
                write(position, d - 3, here + side * step)
            place(w, x, contact, spot)
            for q in range(3):
                write(turns, q, read(turns, q) + weight * read(s, at.PUSH + q))
                write(shifts, q, read(shifts, q) + weight * read(s, at.WHERE + q))
            write(position, d % 3, here)
            for q in range(9):
                write(matrix, q, read(kept, q))
    place(w, x, contact, spot)


@core
def pair_turn(w, contact, axis, first, second):
    """How the normal and the place change with a dof of that axis, which moves the first body, the second, or both."""
    law, s, geom = read_int(w, at.LAW_WORK), read_int(w, at.SCRATCH), read_int(contact, at.GEOM1)
    body = read_int(contact, at.BODY1) if first else read_int(contact, at.BODY2)
    com = read_int(w, at.COM) + 24 * read_int32(read_int(w, at.BODY_ROOT), body)
    centre = read_int(w, at.GEOM_POS) + 24 * geom
    spin = (axis[0], axis[1], axis[2])
    turned, moved = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if second:
        turned = cross(spin, (read(s, at.PUSH), read(s, at.PUSH + 1), read(s, at.PUSH + 2)))
        reach = (
            read(s, at.WHERE) - read(com, 0),
            read(s, at.WHERE + 1) - read(com, 1),
            read(s, at.WHERE + 2) - read(com, 2),
        )
        swept = cross(spin, reach)
        moved = (axis[3] + swept[0], axis[4] + swept[1], axis[5] + swept[2])
    if first != second:  # one of them moves against the other
        sign = 1.0 if first else -1.0
        reach = (read(centre, 0) - read(com, 0), read(centre, 1) - read(com, 1), read(centre, 2) - read(com, 2))
        swept = cross(spin, reach)
        motion = (spin[0], spin[1], spin[2], axis[3] + swept[0], axis[4] + swept[1], axis[5] + swept[2])
        for d in range(6):
            turns, shifts, scale = (
                law + 8 * (at.PAIR_TURNS + 3 * d),
                law + 8 * (at.PAIR_SHIFTS + 3 * d),
                sign * motion[d],
            )
            turned = (
                turned[0] + scale * read(turns, 0),
                turned[1] + scale * read(turns, 1),
                turned[2] + scale * read(turns, 2),
            )
            moved = (
                moved[0] + scale * read(shifts, 0),
                moved[1] + scale * read(shifts, 1),
                moved[2] + scale * read(shifts, 2),
            )
    return turned, moved
