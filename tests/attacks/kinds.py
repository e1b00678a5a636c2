"""Random piecewise-affine problems, by kind. Each function takes a generator of random numbers and returns a `Problem`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import expm
from scipy.optimize import brentq

from .affine import Leg, Problem
from .exact import follow, generator, rows
from .moments import departures, misses, sliders, ties
from .stacks import stacks

METHODS = ("auto", "auto", "dopri5", "dop853", "bosh3")


def options(rng, loosest=-3.0, tightest=-11.0):
    method = str(rng.choice(METHODS))
    given = {"method": method, "rtol": float(10 ** rng.uniform(-7.0 if method == "bosh3" else tightest, loosest))}
    return given | ({"atol": float(given["rtol"] * 10 ** rng.uniform(-3, 0))} if rng.random() < 0.3 else {})


def random_leg(rng, n, m, about, jumps=0.5, pairs=True):
    """A leg whose guards are around the state ``about``."""
    rate = 10 ** rng.uniform(-1, 0.5)
    A = np.concatenate([rng.normal(size=(1, n, n)) * rate, rng.normal(size=(m, n, n)) * rate * jumps]) / np.sqrt(n)
    A[0] -= 0.3 * rate * np.eye(n)
    c = np.concatenate([rng.normal(size=(1, n)), rng.normal(size=(m, n)) * jumps])
    e = rng.normal(size=(m, n)) * jumps * (pairs and rng.random() < 0.5)
    N = rng.normal(size=(m, n))
    N /= np.linalg.norm(N, axis=1)[:, None]
    if rng.random() < 0.3:  # guards that share states
        N[rng.integers(m)] = N[rng.integers(m)]
    if rng.random() < 0.3:  # guards of very different sizes
        N *= 10 ** rng.uniform(-5, 5, (m, 1))
    level = np.einsum("ki,ki->k", N, about + 0.7 * rng.normal(size=(m, n)))
    speed = rng.normal(size=m) * 0.3 * np.linalg.norm(N, axis=1) * (rng.random() < 0.3)
    d = rng.normal(size=n) * (rng.random() < 0.3)
    return Leg(A, c, d, e, N, level, speed)


def plain(rng):
    """One leg, f, guards on both sides."""
    n, m = int(rng.integers(1, 6)), int(rng.integers(1, 6))
    x0 = rng.normal(size=n)
    t0 = float(rng.choice([0.0, 0.0, -1.0, 10.0]))
    span = (t0, t0 + float(rng.uniform(0.3, 4.0)))
    return Problem([random_leg(rng, n, m, x0)], [], span, x0, options=options(rng))


def sums(rng):
    """The field declared as a sum over contacts: hops, since there are few."""
    problem = plain(rng)
    problem.legs[0].e[:] = 0.0
    return replace(problem, form=str(rng.choice(["sum", "both"])))


def spans(rng):
    """Sums over so many contacts that steps span several crossings."""
    n, m = int(rng.integers(2, 5)), int(rng.integers(60, 160))
    x0 = rng.normal(size=n)
    leg = random_leg(rng, n, m, x0, jumps=0.5 / m, pairs=False)
    leg.e[:] = 0.0
    leg.speed /= np.linalg.norm(leg.N, axis=1)
    leg.N /= np.linalg.norm(leg.N, axis=1)[:, None]
    leg.level[:] = np.einsum("ki,ki->k", leg.N, x0 + rng.normal(size=(m, n)))
    chosen = {"method": str(rng.choice(["auto", "dopri5"])), "rtol": float(10 ** rng.uniform(-6.5, -3))}
    return Problem([leg], [], (0.0, float(rng.uniform(0.5, 2.0))), x0, form="sum", options=chosen)


def observers(rng):
    """Some guards are observers."""
    problem = plain(rng)
    watched = tuple(int(k) for k in np.flatnonzero(rng.random(problem.m) < 0.6))
    leg = problem.legs[0]
    for k in watched:
        leg.A[1 + k], leg.c[1 + k], leg.e[k], leg.e[k - 1] = 0.0, 0.0, 0.0, 0.0
    return replace(problem, observers=watched)


def one_sided(rng):
    """Guards that count in one direction only."""
    problem = plain(rng)
    return replace(problem, direction=rng.choice([-1, 0, 1], problem.m))


def terminal(rng):
    """A stop at the first or a later crossing of a guard."""
    problem = one_sided(rng) if rng.random() < 0.5 else plain(rng)
    return replace(problem, terminal={int(rng.integers(problem.m)): int(rng.integers(1, 4))})


def breakpoints(rng):
    """Up to three times at which f and h jump."""
    n, m, count = int(rng.integers(1, 5)), int(rng.integers(1, 5)), int(rng.integers(2, 5))
    x0, end = rng.normal(size=n), float(rng.uniform(0.5, 4.0))
    breaks = [float(t) for t in np.sort(rng.uniform(0.02, 0.98, count - 1)) * end]
    legs = [random_leg(rng, n, m, x0) for _ in range(count)]
    if rng.random() < 0.5:  # only some of it jumps
        for leg in legs[1:]:
            leg.N, leg.level, leg.speed = legs[0].N, legs[0].level, legs[0].speed
    return Problem(legs, breaks, (0.0, end), x0, options=options(rng))


def starts(rng):
    """Starts exactly on one or several guards (short binary fractions: h is zero without rounding errors), or an ulp off."""
    n, m = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    x0 = rng.integers(-16, 17, n) / 16.0
    leg = random_leg(rng, n, m, x0, jumps=0.3)
    on = np.flatnonzero(rng.random(m) < 0.6)
    for k in on:
        leg.N[k] = rng.integers(-4, 5, n) / 4.0
        leg.N[k, rng.integers(n)] = 1.0
        leg.level[k] = leg.N[k] @ x0
        if rng.random() < 0.3:
            leg.level[k] += int(rng.choice([-3, -1, 1, 3, 50])) * np.spacing(leg.level[k])
    return Problem([leg], [], (0.0, float(rng.uniform(0.2, 2.0))), x0, options=options(rng))


def _through_a_corner(rng, m, constant=False):
    """A problem whose first crossings are all of m guards at one state; the time of that; the field leads on in every word."""
    while True:
        n = m if constant else int(rng.integers(max(2, m - 1), 5))
        there, t = rng.normal(size=n), float(rng.uniform(0.2, 1.5))
        leg = random_leg(rng, n, m, there, jumps=0.3)
        if constant:
            leg.A[:], leg.d[:] = 0.0, 0.0
        leg.speed /= np.linalg.norm(leg.N, axis=1)
        leg.N[:] = rng.normal(size=(m, n))
        leg.N /= np.linalg.norm(leg.N, axis=1)[:, None]
        z = np.concatenate([there, [t, 1.0]])
        rate = rows(leg) @ (generator(leg, -np.ones(m)) @ z)
        leg.N[rate < 0] *= -1.0
        leg.speed[rate < 0] *= -1.0
        leg.level[:] = leg.N @ there - leg.speed * t
        words = [np.array([1 if code >> k & 1 else -1 for k in range(m)]) for code in range(2**m)]
        if min((rows(leg) @ (generator(leg, word) @ z)).min() for word in words) < 0.1:
            continue
        back = (expm(-t * generator(leg, -np.ones(m))) @ z)[:-2]
        problem = Problem([leg], [], (0.0, t), back, b0=None, options=options(rng))
        sides = rows(leg) @ np.concatenate([back, [0.0, 1.0]])
        before = follow(replace(problem, span=(0.0, t - 1e-6)))
        if (sides < -1e-3).all() and before.status == "finished" and not before.crossings:
            return problem, t


def ends(rng, constant=False):
    """Ends on a corner of up to three guards, or some units in the last place beside it."""
    problem, t = _through_a_corner(rng, 3 if constant else int(rng.integers(1, 4)), constant)
    units = int(rng.choice([0, 0, 0, 1, -1, 4, -4, 30, -300]))
    return replace(problem, span=(0.0, t + units * np.spacing(t)), corner=t)


def constant_ends(rng):
    """The same with three guards and fields that are constant in each mode, so that the corner is reached to round-off."""
    return ends(rng, constant=True)


def corners(rng):
    """Up to three guards are crossed at one state on the way."""
    problem, t = _through_a_corner(rng, int(rng.integers(2, 4)))
    return replace(problem, span=(0.0, t + float(rng.uniform(0.05, 1.0))), corner=t)


def dips(rng):
    """A guard (or an observer) whose level is a little within a maximum of h, or beyond it: short contacts, near misses."""
    problem = observers(rng) if rng.random() < 0.5 else plain(rng)
    leg, k = problem.legs[0], int(rng.integers(problem.m))
    size = np.linalg.norm(leg.N[k])
    leg.level[k], leg.speed[k] = 1e6 * size, 0.0  # out of reach, to see where h turns

    def rate(t):
        out = follow(replace(problem, span=(problem.span[0], float(t))), most=40)
        return leg.N[k] @ out.flow[: problem.n] / size if out.status == "finished" else np.nan

    times = np.linspace(problem.span[0], problem.span[1], 14)[1:]
    rates = np.array([rate(t) for t in times])
    turns = np.flatnonzero((rates[:-1] > 0.0) & (rates[1:] < 0.0))
    if turns.size:
        turn = brentq(rate, times[turns[0]], times[turns[0] + 1])
        depth = float(10 ** rng.uniform(-9, -1) * rng.choice([1.0, 1.0, -1.0]))
        leg.level[k] = leg.N[k] @ follow(replace(problem, span=(problem.span[0], turn))).x - depth * size
    return problem


def combined(rng):
    """Everything at once: observers, one-sided guards, breakpoints, sums, stops, starts on guards."""
    problem = breakpoints(rng) if rng.random() < 0.5 else starts(rng)
    m = problem.m
    watched = tuple(int(k) for k in np.flatnonzero(rng.random(m) < 0.3))
    for leg in problem.legs:
        for k in watched:
            leg.A[1 + k], leg.c[1 + k], leg.e[k], leg.e[k - 1] = 0.0, 0.0, 0.0, 0.0
    problem = replace(problem, observers=watched)
    if rng.random() < 0.5:
        problem = replace(problem, direction=rng.choice([-1, 0, 1], m))
    if rng.random() < 0.3:
        problem = replace(problem, terminal={int(rng.integers(m)): int(rng.integers(1, 4))})
    if rng.random() < 0.5:
        for leg in problem.legs:
            leg.e[:] = 0.0
        problem = replace(problem, form=str(rng.choice(["sum", "both"])))
    return problem


KINDS = {
    kind.__name__.replace("_", "-"): kind
    for kind in (
        plain, sums, spans, observers, one_sided, terminal, breakpoints, starts, ends, constant_ends, corners, dips, combined,
        stacks, ties, sliders, departures, misses,
    )
}  # fmt: skip
