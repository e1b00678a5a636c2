"""The equations of the driven hexapod (see `driven_hexapod.py`), compiled: imported when one is made."""

import math

from ._hexapod_compiled import accelerate, compiled, rotation, wrench_at
from ._hexapod_compiled import free as free_body
from .hexapod import ACROSS, ALONG, LENGTH, SWING, WIDTH

CLOCK, REACH = 12, 18  # the first of their states
LAG, RATES, LENGTHS = 15, 16, 22  # parameters after those of the hexapod


@compiled
def leg(i, x, p):
    """Position of foot i in the body's frame, and its velocity there."""
    phase, long = x[CLOCK + i], x[REACH + i]
    angle = phase - p[SWING] * math.sin(phase)
    rate = (1.0 - p[SWING] * math.cos(phase)) * p[RATES + i]
    growth = (p[LENGTHS + i] - long) / p[LAG]
    sine, cosine = math.sin(angle), math.cos(angle)
    place = (p[LENGTH] * ALONG[i] - long * sine, p[WIDTH] * ACROSS[i], -long * cosine)
    return place, (-long * cosine * rate - growth * sine, 0.0, long * sine * rate - growth * cosine)


@compiled
def free(t, x, p, dx):
    """f0: the motion while no foot touches."""
    free_body(t, x, p, dx)
    for i in range(6):
        dx[CLOCK + i] = p[RATES + i]
        dx[REACH + i] = (p[LENGTHS + i] - x[REACH + i]) / p[LAG]


@compiled
def contact(t, x, k, p, dx):
    """g: what foot k adds."""
    place, turning = leg(k, x, p)
    accelerate(wrench_at(x, rotation(x), place, turning, p), p, dx)


@compiled
def field(t, x, b, p, dx):
    """f: a foot acts while it is in the ground."""
    free(t, x, p, dx)
    R = rotation(x)
    for i in range(6):
        if b[i] > 0.0:
            place, turning = leg(i, x, p)
            accelerate(wrench_at(x, R, place, turning, p), p, dx)


@compiled
def guards(t, x, p, out):
    """h: depth of each foot in the ground."""
    R = rotation(x)
    for i in range(6):
        place, _ = leg(i, x, p)
        out[i] = -(x[2] + R[2][0] * place[0] + R[2][1] * place[1] + R[2][2] * place[2])


@compiled
def guard_row(t, x, k, p, out):
    """Row k of Dh."""
    sr, cr, sp, cp = math.sin(x[3]), math.cos(x[3]), math.sin(x[4]), math.cos(x[4])
    place, _ = leg(k, x, p)
    phase, long = x[CLOCK + k], x[REACH + k]
    angle = phase - p[SWING] * math.sin(phase)
    slow = 1.0 - p[SWING] * math.cos(phase)
    sine, cosine = math.sin(angle), math.cos(angle)
    for i in range(out.size):
        out[i] = 0.0
    out[2] = -1.0
    out[3] = -cp * (cr * place[1] - sr * place[2])
    out[4] = cp * place[0] + sp * (sr * place[1] + cr * place[2])
    out[CLOCK + k] = -(sp * long * cosine + cp * cr * long * sine) * slow
    out[REACH + k] = -(sp * sine - cp * cr * cosine)
