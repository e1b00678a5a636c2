"""Systems with jumps of the state, whose trajectories have closed forms."""

import math

import numpy as np

import bouligand as bd


def bounce(t, x, b, p, xnew):
    xnew[1] = -p[1] * x[1]


def ball(**arguments):
    """A ball above a floor: restitution e."""
    given = {"states": ("z", "v"), "guards": ("floor",), "params": {"g": 9.81, "e": 0.8}, "jumps": {"floor": bounce}}
    return bd.System(lambda t, x, b, p: (x[1], -p[0]), lambda t, x, p: (x[0],), **{**given, **arguments})


def bounced(z, v, g, e, t):
    """Where that ball is after a time."""
    begins = 0.0
    while True:
        lands = (v + math.sqrt(v * v + 2.0 * g * z)) / g
        if begins + lands > t:
            s = t - begins
            return np.array([z + v * s - 0.5 * g * s * s, v - g * s])
        begins, v, z = begins + lands, -e * (v - g * lands), 0.0


def balls(count):
    """Many of them, each with a state z and, behind all of these, a state v."""

    def f(t, x, b, p, dx):
        for i in range(b.size):
            dx[i] = x[b.size + i]
            dx[b.size + i] = -p[0]

    def h(t, x, p, out):
        for i in range(out.size):
            out[i] = x[i]

    def many(t, x, fired, b, p, xnew):
        for i in range(b.size):
            if fired[i] > 0.0:
                xnew[b.size + i] = -p[1] * x[b.size + i]

    return bd.System(f, h, n=2 * count, m=count, params={"g": 9.81, "e": 0.8}, jump_many=many)


def walls():
    """A mass that flies into a corner of two walls without gravity."""
    return bd.System(
        lambda t, x, b, p: (x[2], x[3], 0.0, 0.0),
        lambda t, x, p: (x[0], x[1]),
        states=("x", "y", "vx", "vy"),
        guards=("left", "below"),
        params={"ex": 0.8, "ey": 0.5},
        jumps={
            "left": lambda t, x, b, p: (x[0], x[1], -p[0] * x[2], x[3]),
            "below": lambda t, x, b, p: (x[0], x[1], x[2], -p[1] * x[3]),
        },
    )


def two_balls():
    """Two equal elastic balls on a line."""
    return bd.System(
        lambda t, x, b, p: (x[1], 0.0, x[3], 0.0),
        lambda t, x, p: (x[2] - x[0],),
        states=("x1", "v1", "x2", "v2"),
        guards=("hit",),
        jumps={"hit": lambda t, x, b, p: (x[0], x[3], x[2], x[1])},
    )


def three_balls(**arguments):
    """Three of them: positions, then velocities."""

    def first(t, x, b, p, xnew):
        xnew[3], xnew[4] = x[4], x[3]

    def second(t, x, b, p, xnew):
        xnew[4], xnew[5] = x[5], x[4]

    return bd.System(
        lambda t, x, b, p: (x[3], x[4], x[5], 0.0, 0.0, 0.0),
        lambda t, x, p: (x[1] - x[0], x[2] - x[1]),
        n=6,
        guards=("12", "23"),
        jumps={"12": first, "23": second},
        **arguments,
    )


def neurons(count):
    """Integrate-and-fire neurons, all coupled by pulses w; threshold 1, reset to 0."""

    def f(t, x, b, p, dx):
        for i in range(x.size):
            dx[i] = p[0] - x[i]

    def h(t, x, p, out):
        for i in range(x.size):
            out[i] = x[i] - 1.0

    def fire(t, x, fired, b, p, xnew):
        pulses = p[1] * fired.sum()
        for i in range(x.size):
            xnew[i] = 0.0 if fired[i] > 0.0 else x[i] + pulses

    return bd.System(f, h, n=count, m=count, params={"I": 1.5, "w": 0.05}, jump_many=fire)


def thermostat():
    """A heater that is switched off at 22 degrees and on at 18; its state is a state."""
    return bd.System(
        lambda t, x, b, p: (10.0 + 20.0 * x[1] - x[0], 0.0),
        lambda t, x, p: (x[0] - 22.0, x[0] - 18.0),
        states=("T", "heater"),
        guards=("warm", "cold"),
        direction={"warm": 1, "cold": -1},
        jumps={"warm": lambda t, x, b, p: (x[0], 0.0), "cold": lambda t, x, b, p: (x[0], 1.0)},
    )
