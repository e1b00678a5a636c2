"""Two balls above each other and a floor: impacts, until all of it lies still. Between impacts they fly on parabolas.

The first impacts, while they are apart, are compared with their closed form; then energy, which is never gained; then the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

import bouligand as bd

G, END = 9.81, 12.0
APART = 1e-2  # time between impacts, or slower than which ones, from which on they are no longer compared
MOST = 8  # impacts that are compared
FACTOR = 1e4  # tolerances that they may be off
GAIN = 2e3  # tolerances of energy that a step may gain (where rest begins, what is left of the bounces is cut off)


def f(t, x, b, p, dx):
    dx[0], dx[1] = x[2], x[3]
    dx[2] = dx[3] = -9.81


def h(t, x, p, out):
    out[0] = x[0]
    out[1] = x[1] - x[0]


def on_floor(t, x, b, p, xnew):
    xnew[2] = -p[0] * x[2]


def on_ball(t, x, b, p, xnew):
    impulse = (1.0 + p[0]) * (x[3] - x[2]) * p[1] / (1.0 + p[1])
    xnew[2] = x[2] + impulse
    xnew[3] = x[3] - impulse / p[1]


@cache
def system(order):
    return bd.System(
        f,
        h,
        states=("z1", "z2", "v1", "v2"),
        guards=("floor", "ball"),
        params={"e": 0.5, "mass": 1.0},
        jumps={"floor": on_floor, "ball": on_ball},
        rest=("floor", "ball"),
        order=order,
    )


@dataclass(frozen=True)
class Stack:
    """Restitution, mass of the upper ball over that of the lower, the start, which jump is first, and the tolerance."""

    e: float
    mass: float
    x0: np.ndarray
    order: tuple[str, str]
    rtol: float

    def judge(self):
        """What is wrong with the solution, if anything: a name, as in `fuzz.WRONG`, and a text; and the number of events."""
        sol = bd.solve(
            system(self.order), (0.0, END), self.x0, [self.e, self.mass], rtol=self.rtol, atol=0.01 * self.rtol
        )
        known, count = self.impacts(), len(sol.events)
        for q, (t, guard) in enumerate(known):
            if q >= count or sol.events.guard[q] != guard or abs(sol.events.t[q] - t) > FACTOR * self.rtol:
                return (
                    "wrong event times",
                    f"impact {q}: guard {guard} at {t} in closed form, times {sol.events.t[:MOST]}",
                    count,
                )
        energy = G * (sol.x[:, 0] + self.mass * sol.x[:, 1])
        energy = energy + 0.5 * (sol.x[:, 2] ** 2 + self.mass * sol.x[:, 3] ** 2)
        if (np.diff(energy) > GAIN * self.rtol * (0.01 + energy[:-1])).any():
            return "wrong state", f"energy grows by {np.diff(energy).max():.1e}", count
        if (sol.b[-1] != 0).any() or np.abs(sol.x[-1]).max() > 1e-9:
            return "wrong word", f"at the end b = {sol.b[-1]}, x = {sol.x[-1]}", count
        return "right", "", count

    def impacts(self):
        """The first impacts: times and guards."""
        t, x = 0.0, np.array(self.x0)
        out: list[tuple[float, int]] = []
        while len(out) < MOST:
            falls = (x[2] + np.sqrt(x[2] ** 2 + 2.0 * G * x[0])) / G
            meets = (x[1] - x[0]) / (x[2] - x[3]) if x[2] > x[3] else np.inf
            s = min(falls, meets)
            if s < APART or abs(falls - meets) < APART:
                break
            x[:2] += x[2:] * s - 0.5 * G * s**2
            x[2:] -= G * s
            guard = 0 if falls < meets else 1
            x[guard] = 0.0 if guard == 0 else x[0]  # (without rounding errors)
            after = x.copy()
            (on_floor if guard == 0 else on_ball)(t + s, x, None, (self.e, self.mass), after)
            if min(abs(x[2] if guard == 0 else x[3] - x[2]), np.abs(after[2:]).max()) < APART:
                break
            t, x = t + s, after
            out.append((t, guard))
        return out


def stacks(rng):
    """Two balls that come to rest on each other and on the floor."""
    e = float(rng.choice([0.0, 0.1, 0.3, 0.5, 0.7, rng.uniform(0.0, 0.75)]))
    lower = rng.uniform(0.0, 1.0)
    x0 = np.array([lower, lower + rng.choice([0.0, rng.uniform(0.0, 1.0)]), rng.uniform(-1, 1), rng.uniform(-1, 1)])
    order = ("floor", "ball") if rng.random() < 0.5 else ("ball", "floor")
    return Stack(e, float(rng.choice([0.5, 1.0, 2.0])), x0, order, 10.0 ** -int(rng.integers(4, 11)))
