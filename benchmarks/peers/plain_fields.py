"""Fields with the contact test inside, for integrators that ignore the guards: what a pragmatic engineer would write."""

import math
from functools import cache

from numba import njit

from benchmarks.problems import FAST
from bouligand.models.plate import FIXED


def balls(t, x, p, dx):
    m = x.size // 2
    for i in range(m):
        dx[i] = x[m + i]
        dx[m + i] = (p[1] * (p[2] - x[i]) if x[i] < p[2] else 0.0) - p[0]


def oscillators(t, x, p, dx):
    m = x.size // 2
    for i in range(m):
        dx[i] = x[m + i]
        dx[m + i] = p[0] - p[1] * x[m + i] - (p[2] if x[i] > 0.0 else -p[2])


def plate(t, x, p, dx):
    sine, cosine = math.sin(x[2]), math.cos(x[2])
    slope, stretch = sine / cosine, 1.0 / (cosine * cosine)
    k, c = p[4], p[5]
    base, rate = p[3] - x[1], slope * x[3] - x[4]
    turn = stretch * x[5]
    force = 0.0
    moment = 0.0
    for i in range(p.size - FIXED):
        d = x[0] - p[FIXED + i]
        depth = base + slope * d
        push = k * depth + c * (rate + turn * d) if depth > 0.0 else 0.0
        force += push
        moment += push * d
    dx[0] = x[3]
    dx[1] = x[4]
    dx[2] = x[5]
    dx[3] = -force * sine / p[1]
    dx[4] = force * cosine / p[1] - p[0]
    dx[5] = -moment / (cosine * p[2])


@cache
def compiled(kind):
    """The field of a kind of problem; compiled once, as a user would."""
    function = {"balls": balls, "oscillators": oscillators, "plate": plate}[kind]
    return njit(function, nogil=True, error_model="numpy", fastmath=FAST)
