"""Several things at one moment: ties of three and more, ties with an observer behind them, equal blocks that stick and slip
together, rest that ends in a throw, and misses beside a landing.

Trajectories of ties and of misses have closed forms. The others are compared with one-sided differences of solutions at 1e-12, in
which nothing happens at one moment any more.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

import bouligand as bd

TIGHT = {"rtol": 1e-12, "atol": 1e-14}
STEP = 1e-6  # of one-sided differences of solutions that are good to 1e-12
SMOOTH = 1e-2  # differences over two steps may differ by so much: otherwise they do not show the derivative
OFF = 1e-3  # that B may be off by, of its size
APART = 1e-2  # to where ties are looked at: far beyond the times between them, and before anything else happens


@dataclass(frozen=True)
class Tie:
    """Contacts that close at the times -x_k / v_k, all nearly at once, and y' = F[which of them are closed], for any F."""

    speeds: np.ndarray
    field: np.ndarray
    x0: np.ndarray
    end: float
    rtol: float

    def judge(self):
        m = len(self.speeds)
        p = np.concatenate([self.speeds, self.field])
        sol = bd.solve(relay(m), (0.0, 2.0), self.x0, p, rtol=self.rtol)
        B = sol.bderivative(self.end)
        for dx in np.random.default_rng(0).normal(size=(6, m + 1)):
            truth = (self.y(self.x0 + APART * dx) - self.y(self.x0)) / APART
            if not abs(B(dx)[m] - truth) <= OFF * (1.0 + abs(truth)):
                return "wrong derivative", f"B({dx})[y] = {B(dx)[m]}, {truth} in closed form", len(sol.events)
        return "right", "", len(sol.events)

    def y(self, x):
        """y at the end."""
        times = -x[:-1] / self.speeds
        order = np.argsort(times)
        closed, before, total = 0, 0.0, x[-1]
        for k in order:
            total += self.field[closed] * (times[k] - before)
            closed, before = closed | 1 << int(k), times[k]
        return total + self.field[closed] * (self.end - before)


@cache
def relay(m):
    """The system of a tie; a guard on y, on which nothing depends, is an observer."""

    def f(t, x, b, p, dx):
        closed, bit = 0, 1
        for k in range(m):
            dx[k] = p[k]
            closed += bit if b[k] > 0 else 0
            bit *= 2
        dx[m] = p[m + closed]

    def h(t, x, p, out):
        for k in range(m):
            out[k] = x[k]
        out[m] = x[0] - 0.5 * p[0]

    return bd.System(f, h, n=m + 1, m=m + 1, observers=(m,), params=np.zeros(m + 2**m))


def ties(rng):
    """Up to five contacts within a hundredth of the tolerance; the outcome is asked for before and after an observer's event."""
    m = int(rng.integers(2, 6))
    rtol = 10.0 ** -int(rng.integers(4, 8))
    speeds = rng.uniform(0.5, 2.0, m)
    kind = rng.integers(3)
    if kind == 0:  # a relay that needs some of them
        needed = int(rng.integers(1, m + 1))
        field = np.array([float(bin(closed).count("1") >= needed) for closed in range(2**m)])
    elif kind == 1:  # a sum
        jumps = rng.normal(size=m)
        field = np.array([sum(jumps[k] for k in range(m) if closed >> k & 1) for closed in range(2**m)])
    else:
        field = rng.normal(size=2**m)
    times = 1.0 + rng.choice([0.0, 1e-4, 1e-2]) * rtol * rng.uniform(size=m)
    return Tie(speeds, field, np.append(-speeds * times, rng.normal()), float(rng.choice([1.3, 1.8])), rtol)


@dataclass(frozen=True)
class Compared:
    """A trajectory whose derivative is compared with one-sided differences."""

    system: bd.System
    span: tuple[float, float]
    x0: np.ndarray
    p: np.ndarray
    rtol: float

    def judge(self):
        sol = bd.solve(self.system, self.span, self.x0, self.p, rtol=self.rtol, atol=1e-2 * self.rtol)
        B, count = sol.bderivative(), len(sol.events)
        end = self.tight(self.x0)
        for dx in np.random.default_rng(0).normal(size=(4, len(self.x0))):
            try:
                near, far = ((self.tight(self.x0 + s * dx) - end) / s for s in (STEP, 2.0 * STEP))
            except bd.StepSizeError as error:  # (blocks that begin to slip within 1e-10 of each other)
                return "in doubt", f"no difference: {error}", count
            size = 1.0 + np.abs(near).max()
            if np.abs(near - far).max() > SMOOTH * size:
                return "in doubt", "differences over two steps differ", count
            off = np.abs(B(dx) - near).max()
            if not off <= OFF * size + 10.0 * np.abs(near - far).max() + 1e3 * self.rtol * size:
                return "wrong derivative", f"B({dx}) = {B(dx)}, {near} by differences", count
        return "right", "", count

    def tight(self, x0):
        return bd.solve(self.system, self.span, x0, self.p, **TIGHT).x[-1]


@cache
def blocks(m):
    """Equal blocks on springs, driven together, with dry friction; a weak spring between neighbours."""

    def f(t, x, b, p, dx):
        for i in range(m):
            pull = x[(i + 1) % m] + x[i - 1] - 2.0 * x[i]
            dx[i] = x[m + i]
            dx[m + i] = p[0] * np.sin(p[1] * t) - x[i] + p[2] * pull - p[3] * b[i]

    def h(t, x, p, out):
        for i in range(m):
            out[i] = x[m + i]

    return bd.System(f, h, n=2 * m, m=m, params={"drive": 0.0, "w": 1.0, "between": 0.0, "mu": 0.3}, sliding="filippov")


def sliders(rng):
    """Two or three blocks that stick at the same moments, and slip at the same moments."""
    m = int(rng.integers(2, 4))
    x0 = np.concatenate([np.full(m, rng.uniform(-1.0, 1.0)), np.full(m, rng.uniform(-1.0, 1.0))])
    p = np.array([rng.uniform(0.0, 1.0), rng.uniform(0.5, 2.0), rng.choice([0.0, 0.2]), rng.uniform(0.2, 0.5)])
    return Compared(blocks(m), (0.0, float(rng.uniform(1.0, 6.0))), x0, p, 10.0 ** -int(rng.integers(5, 9)))


@cache
def shaken():
    """A ball that takes the speed of a table that moves up and down, and rests on it until it is thrown."""

    def f(t, x, b, p, dx):
        dx[0], dx[1] = x[1], -9.81

    def h(t, x, p, out):
        out[0] = x[0] - p[0] * np.sin(p[1] * t + p[2])

    def plastic(t, x, b, p, xnew):
        xnew[1] = p[0] * p[1] * np.cos(p[1] * t + p[2])

    return bd.System(f, h, n=2, m=1, params={"A": 0.05, "w": 20.0, "phase": 0.0}, jumps={0: plastic}, rest=0)


def departures(rng):
    """A ball that falls onto the table, rests, and is thrown again, some times."""
    w = rng.uniform(10.0, 25.0)
    p = np.array([rng.uniform(1.05, 3.0) * 9.81 / w**2, w, rng.uniform(0.0, 6.0)])
    x0 = np.array([p[0] + rng.uniform(0.02, 0.3), rng.uniform(-0.5, 0.5)])
    return Compared(shaken(), (0.0, float(rng.uniform(0.3, 1.5))), x0, p, 10.0 ** -int(rng.integers(5, 10)))


@dataclass(frozen=True)
class Miss:
    """A ball on a parabola that turns at a small height above a floor, while it meets a wall, from which it bounces."""

    height: float
    turns: float
    meets: float
    speed: float
    e: float
    rtol: float

    def judge(self):
        x0 = np.array([-self.speed * self.meets, self.height + 0.5 * G * self.turns**2, self.speed, -G * self.turns])
        sol = bd.solve(corridor(), (0.0, END), x0, [self.e], rtol=self.rtol, on_graze="go on")
        left = END - self.meets
        truth = np.array([-self.e * self.speed * left, self.height + 0.5 * G * (END - self.turns) ** 2])
        off = np.abs(sol.x[-1, :2] - truth).max()
        missed = self.height > 10.0 * self.rtol
        if off > 1e3 * self.rtol * (1.0 + np.abs(truth).max()):
            return (
                "wrong state" if missed else "in doubt",
                f"off by {off:.1e}, events {sol.events.name}",
                len(sol.events),
            )
        return "right", "", len(sol.events)


G, END = 9.81, 1.5


@cache
def corridor():
    def f(t, x, b, p, dx):
        dx[0], dx[1], dx[2], dx[3] = x[2], x[3], 0.0, 9.81

    def h(t, x, p, out):
        out[0], out[1] = -x[0], x[1]

    def bounce(t, x, b, p, xnew):
        xnew[2] = -p[0] * x[2]

    def land(t, x, b, p, xnew):
        xnew[3] = -p[0] * x[3]

    return bd.System(f, h, n=4, guards=("wall", "floor"), params={"e": 0.8}, jumps={"wall": bounce, "floor": land})


def misses(rng):
    """The floor is missed by 1e-9 to 1e-4 within a few milliseconds of the wall."""
    turns = rng.uniform(0.2, 1.0)
    meets = turns + rng.choice([-1.0, 1.0]) * 10 ** rng.uniform(-9.0, -2.0)
    height = 10 ** rng.uniform(-9.0, -4.0)
    return Miss(height, turns, meets, rng.uniform(0.3, 3.0), rng.uniform(0.3, 1.0), 10.0 ** -int(rng.integers(3, 11)))
