"""Compiled: how the normal and the place of a contact between two geoms change when the geoms move.

Of two balls formulas tell. Of others that depends on their shapes, of which MuJoCo tells the distance and the nearest points
only. So these are differenced: geom 1 is displaced a little, and turned a little about its centre, in six directions. How they
change with a dof that moves geom 2 follows, because where both move together the whole picture is just displaced and turned.
"""

import math

from .spatial import cross, sum_of, three_of
from .table import BOTH_BALLS, FIRST_BALL, core
from .touching import place

STEP = 2e-4  # of the distance between the cores of the geoms, the length by which their normal turns


@core
def _turn(matrix, axis, angle):
    """Turn a rotation matrix (nine numbers, row by row) about an axis of the world."""
    c, s = math.cos(angle), math.sin(angle)
    i, j = 3 * ((axis + 1) % 3), 3 * ((axis + 2) % 3)
    for q in range(3):
        a, b = matrix[i + q], matrix[j + q]
        matrix[i + q] = c * a - s * b
        matrix[j + q] = s * a + c * b


@core
def pair_slopes(r, x, contact):
    """Six derivatives of the normal (``turns``) and of the place (``shifts``). The contact is placed at the end."""
    if contact.balls == BOTH_BALLS:
        place(r, x, contact)
        _slopes_of_balls(r, contact)
    else:
        _slopes_by_differences(r, x, contact)


@core
def _slopes_of_balls(r, contact):
    """The same of two balls, which have been placed."""
    push, turns, shifts = r.placed.push, r.slopes.turns, r.slopes.shifts
    radius, other = contact.pads[0], contact.pads[1]
    over = 1.0 / (radius + other - r.placed.depth)
    for d in range(3):
        along = push[d]
        for q in range(3):
            turns[d, q] = 0.0  # (to turn a ball about its centre changes nothing)
            shifts[d, q] = 0.0
            same = 1.0 if q == d else 0.0
            turned = over * (same - along * push[q])
            turns[3 + d, q] = turned
            shifts[3 + d, q] = 0.5 * same + 0.5 * (other - radius) * turned


@core
def _slopes_by_differences(r, x, contact):
    """The same by differences of fourth order."""
    s, turns, shifts, kept = r.placed, r.slopes.turns, r.slopes.shifts, r.slopes.kept
    position, matrix = r.geom_pos[contact.geom1], r.geom_mat[contact.geom1]
    for q in range(9):
        kept[q] = matrix[q]
    place(r, x, contact)
    apart = 0.0
    for q in range(3):
        apart += (s.segment[q] - s.segment[3 + q]) ** 2
    apart = math.sqrt(apart)
    for d in range(6):
        for q in range(3):
            turns[d, q] = 0.0
            shifts[d, q] = 0.0
        if d < 3 and contact.balls == FIRST_BALL:
            continue  # (to turn a ball about its centre changes nothing)
        step = STEP * apart
        if d < 3:
            step = STEP * apart / (apart + r.geom_reach[contact.geom1])
        for side in (-2.0, -1.0, 1.0, 2.0):
            weight = (8.0 if side * side == 1.0 else -1.0) * (1.0 if side > 0.0 else -1.0) / (12.0 * step)
            here = position[d % 3]
            if d < 3:
                _turn(matrix, d, side * step)
            else:
                position[d - 3] = here + side * step
            place(r, x, contact)
            for q in range(3):
                turns[d, q] += weight * s.push[q]
                shifts[d, q] += weight * s.where[q]
            position[d % 3] = here
            for q in range(9):
                matrix[q] = kept[q]
    place(r, x, contact)


@core
def pair_turn(r, contact, axis, first, second):
    """How the normal and the place change with a dof of that axis, which moves the first body, the second, or both."""
    body = contact.body1 if first else contact.body2
    com = three_of(r.com[r.body_root[body]])
    spin = (axis[0], axis[1], axis[2])
    turned, moved = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if second:
        where = r.placed.where
        turned = cross(spin, three_of(r.placed.push))
        swept = cross(spin, (where[0] - com[0], where[1] - com[1], where[2] - com[2]))
        moved = (axis[3] + swept[0], axis[4] + swept[1], axis[5] + swept[2])
    if first != second:  # one of them moves against the other
        sign, centre = 1.0 if first else -1.0, r.geom_pos[contact.geom1]
        swept = cross(spin, (centre[0] - com[0], centre[1] - com[1], centre[2] - com[2]))
        motion = (spin[0], spin[1], spin[2], axis[3] + swept[0], axis[4] + swept[1], axis[5] + swept[2])
        for d in range(6):
            scale = sign * motion[d]
            turned = sum_of(turned, scale, three_of(r.slopes.turns[d]))
            moved = sum_of(moved, scale, three_of(r.slopes.shifts[d]))
    return turned, moved
