"""Many contacts: the plate on 100 to 10,000 springs, against a compiled dopri5 that ignores the guards.

The peer is the honest one to beat: the contact test inside f, adaptive steps, no events, no guards, compiled for this one
model. Times (microseconds, the shortest, Python call of Bouligand included) are taken in turn in one run. The error is RMS over
400 times and all states, against rtol = 1e-11; the last lines compare the two at equal error.
"""

import math
import time

import numpy as np
from numba import njit

import bouligand as bd
from bouligand.core.tableau import DOPRI5
from bouligand.models import falling

RTOLS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
GRID = np.linspace(0.0, 2.0, 401)
LEVELS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
_A, _C, _E, _P = DOPRI5.A, DOPRI5.c, DOPRI5.errors[0], DOPRI5.P


@njit(error_model="numpy", fastmath={"reassoc", "contract", "nsz"})
def field(x, p, dx):
    """The plate with the sign of h in the place of the word; written so that it becomes vector code."""
    sine, cosine = math.sin(x[2]), math.cos(x[2])
    slope, stretch = sine / cosine, 1.0 / (cosine * cosine)
    top = p[3] - x[1]
    rate = p[5] * (slope * x[3] - x[4])
    per_d = p[5] * stretch * x[5]
    k, where = p[4], x[0]
    force, moment = 0.0, 0.0
    for i in range(p.size - 6):
        d = where - p[6 + i]
        depth = top + slope * d
        touching = 1.0 if depth > 0.0 else 0.0
        push = touching * (k * depth + rate + per_d * d)
        force += push
        moment += push * d
    dx[0], dx[1], dx[2] = x[3], x[4], x[5]
    dx[3] = -force * sine / p[1]
    dx[4] = force * cosine / p[1] - p[0]
    dx[5] = -moment / (cosine * p[2])


@njit(error_model="numpy")
def guards_ignored(x0, p, tf, rtol, grid, Y):
    """An adaptive dopri5 with dense output; returns the evaluations of f."""
    n = x0.size
    x, new, K = x0.copy(), np.empty(n), np.zeros((7, n))
    field(x, p, K[0])
    t, dt, done, count = 0.0, 1e-3, 0, 1
    while t < tf:
        dt = min(dt, tf - t)
        for q in range(1, 7):
            for i in range(n):
                slope = 0.0
                for r in range(q):
                    slope += _A[q, r] * K[r, i]
                new[i] = x[i] + dt * slope
            field(new, p, K[q])
        count += 6
        error = 0.0
        for i in range(n):
            estimate = 0.0
            for q in range(7):
                estimate += _E[q] * K[q, i]
            error = max(error, abs(dt * estimate) / (rtol * (0.01 + max(abs(x[i]), abs(new[i])))))
        if not error <= 1.0:
            dt *= max(0.2, 0.9 * error**-0.2)
            continue
        end = tf if dt >= tf - t else t + dt
        while done < grid.size and grid[done] <= end:
            theta = (grid[done] - t) / dt
            for i in range(n):
                slope = 0.0
                for q in range(7):
                    slope += theta * (_P[q, 0] + theta * (_P[q, 1] + theta * (_P[q, 2] + theta * _P[q, 3]))) * K[q, i]
                Y[done, i] = x[i] + dt * slope
            done += 1
        t = end
        x[:] = new
        K[0] = K[6]
        dt *= min(5.0, 0.9 * max(error, 1e-12) ** -0.2)
    return count


def at_error(errors, times, level):
    """Time at an error, between the measured points on logarithmic scales; nan outside them."""
    order = np.argsort(errors)
    e, t = np.log(np.array(errors)[order]), np.log(np.array(times)[order])
    return float(np.exp(np.interp(math.log(level), e, t, left=np.nan, right=np.nan)))


def shortest(functions, rounds):
    """Shortest time of each function, all in turn: other work on the machine only ever adds."""
    times = np.full(len(functions), np.inf)
    for _ in range(rounds):
        for i, function in enumerate(functions):
            began = time.perf_counter()
            function()
            times[i] = min(times[i], time.perf_counter() - began)
    return times


def compare(m):
    plate = bd.models.plate(m)
    p, reference = plate.defaults, bd.solve(plate, (0, 2), falling.START, rtol=1e-11, method="dop853")
    exact = reference(GRID)
    Y = np.empty((GRID.size, 6))
    ours, theirs, rows = [], [], []
    for rtol in RTOLS:
        ours.append(lambda rtol=rtol: bd.solve(plate, (0, 2), falling.START, rtol=rtol))
        theirs.append(lambda rtol=rtol: guards_ignored(falling.START, p, 2.0, rtol, GRID[:0], Y))
        sol = bd.solve(plate, (0, 2), falling.START, rtol=rtol)
        count = guards_ignored(falling.START, p, 2.0, rtol, GRID, Y)
        same = np.array_equal(sol.events.guard, reference.events.guard)
        errors = (float(np.sqrt(np.mean((other - exact) ** 2))) for other in (sol(GRID), Y))
        rows.append((rtol, sol.counts, same, *errors, count))
    times = shortest(ours + theirs, rounds=max(7, 20_000 // m))
    mine, plain = times[: len(RTOLS)], times[len(RTOLS) :]
    for (rtol, c, same, error, other, count), a, b in zip(rows, mine, plain, strict=True):
        print(
            f"  {m:6d} {rtol:7.0e} {a * 1e6:9.0f} {a * 1e6 / m:8.2f} {c.f:7d} {c.spans:6d} {c.hops:6d} {c.events:7d}"
            f"{' ' if same else '!'} {error:9.1e} | {b * 1e6:9.0f} {count:7d} {other:9.1e}"
        )
    return [at_error([r[4] for r in rows], plain, e) / at_error([r[3] for r in rows], mine, e) for e in LEVELS]


def main(contacts=(100, 500, 2000, 10000)):
    print("plate, 2 s; '!' marks events other than those of the reference")
    print(
        f"  {'contacts':>6s} {'rtol':>5s} {'us':>9s} {'us/cont.':>8s} {'f':>7s} {'spans':>6s} {'hops':>6s} {'events':>7s}"
        f"  {'error':>9s} | ignored:  us {'f':>7s} {'error':>9s}"
    )
    ratios = {m: compare(m) for m in contacts}
    print(
        "at equal error: time with the guards ignored / time of Bouligand (above 1: Bouligand is ahead; nan: not reached)"
    )
    print("  contacts " + " ".join(f"{e:8.0e}" for e in LEVELS))
    for m, row in ratios.items():
        print(f"  {m:8d} " + " ".join(f"{r:8.2f}" for r in row))


if __name__ == "__main__":
    main()
