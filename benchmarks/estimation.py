"""Filters through contacts: the corner, consistency over many runs, and what knowing the ground's uncertainty is worth.

1. The asymmetric corner of docs/derivative.md: mean and covariance of a Gaussian behind it, by closed form, by ten
million samples and
   by filters.
2. Consistency: squared errors in units of their covariance (NEES) of a hopper's state and floor height, over many runs. Their
   mean is the number of estimated values, if the covariances are right; also at single times, before and behind contacts.
3. A ball on rough ground (another height at each bounce): largest mean error behind bounces, of filters that know less and less.
"""

import math
from functools import cache
from typing import Any

import numpy as np
from scipy.stats import chi2
from tqdm import tqdm

import bouligand as bd
from bouligand.reporting.timing import interleaved

CORNER_MEAN = (-0.2820947917738781, 0.1410473958869391)  # in units of s
CORNER_COVARIANCE = ((0.6704225284540523, 0.03978873577297383), (0.03978873577297383, 0.4176056321135131))


@cache
def corner():
    """Two guards that are crossed together, in an order that matters."""

    def f(t, x, b, p):
        one, two = b[0] > 0, b[1] > 0
        return np.array([0.5 if one and not two else 1.0, (0.5 if one else 0.75) if two else 1.0])

    return bd.System(f, lambda t, x, p: (x[0], x[1]), states=("x", "y"), guards=("left", "right"))


def corner_samples(count, s, rng, block=1_000_000):
    """Mean and covariance behind the corner of so many trajectories, all integrated."""
    total, square, done = np.zeros(2), np.zeros((2, 2)), 0
    system = corner()
    for _ in range(max(count // block, 1)):
        x0 = [-1.0, -1.0] + s * rng.normal(size=(min(block, count), 2))
        x = (bd.solve_many(system, (0.0, 2.0), x0, keep=("x",)).x - [1.0, 0.5]) / s
        total, square, done = total + x.sum(axis=0), square + x.T @ x, done + len(x)
    mean = total / done
    return mean, square / done - np.outer(mean, mean)


def through_corner(method, s=0.1, samples=1024):
    """Mean and covariance behind the corner by a estimator, in units of s."""
    found = bd.Filter(corner(), [-1.0, -1.0], [s * s, s * s], method=method, samples=samples).predict(2.0)
    return (found.x - [1.0, 0.5]) / s, found.P / s**2


# ------------------------------------------------------------------------------------------------------- consistency

HEIGHT, FLOOR, DT, NOISE = 1.6, 1.0, 0.02, 0.005
SPREAD = {"z": 0.02, "vz": 0.05, "rest": 0.02}


@cache
def hopper():
    """The ready model, compiled once."""
    return bd.models.hopper()


def hopper_run(rng, method="auto", steps=60, smooth=False):
    """NEES at all times of a hopper whose height is measured: state and floor height are estimated. True values are
    drawn from the
    filter's own prior."""
    true = np.array([HEIGHT, 0.0, FLOOR]) + rng.normal(size=3) * list(SPREAD.values())
    t = DT * np.arange(1, steps + 1)
    x = bd.solve(hopper(), (0.0, t[-1]), true[:2], {"rest": true[2]}, rtol=1e-9)(t)
    z = x[:, 0] + rng.normal(0.0, NOISE, t.size)
    P0 = [SPREAD["z"] ** 2, SPREAD["vz"] ** 2]
    estimator = bd.Filter(hopper(), [HEIGHT, 0.0], P0, R=NOISE**2, estimate={"rest": SPREAD["rest"]}, method=method)
    track = estimator.run({"t": t, "z": z})
    truth = np.column_stack([x, np.full(t.size, true[2])])
    return (track.smooth() if smooth else track).nees(truth), track


def consistency(runs, method, rng, quiet=True, smooth=False):
    """NEES, array (runs, times)."""
    bar = tqdm(range(runs), desc=f"runs, {method}", disable=quiet or None, leave=False)
    return np.array([hopper_run(rng, method, smooth=smooth)[0] for _ in bar])


# The mean trajectory lands at 0.350 s, leaves the floor at 0.455 s, and lands again at 1.154 s. Landings are at fixed times here,
# not at those of each run's own: a choice that depends on the true state makes also the errors of an exact filter others.
MOMENTS = {
    "falling": 0.20,
    "just before touchdown": 0.34,
    "just behind touchdown": 0.36,
    "mid stance": 0.40,
    "just before lift-off": 0.44,
    "just behind lift-off": 0.46,
    "flight": 0.80,
    "just before the second touchdown": 1.14,
    "just behind the second touchdown": 1.16,
}


def bounds(runs):
    """What the mean over so many runs is within, with 95 %, if the covariances are right."""
    return chi2.ppf([0.025, 0.975], 3 * runs) / runs


def single_times(rows):
    """At each of MOMENTS: mean and median over runs, the share of runs beyond the 95 % quantile, and the largest of all."""
    beyond = chi2.ppf(0.95, 3)
    places = {name: round(t / DT) - 1 for name, t in MOMENTS.items()}
    return {
        name: (
            rows[:, k].mean(),
            float(np.median(rows[:, k])),
            float((rows[:, k] > beyond).mean()),
            rows[:, k].max(),
        )
        for name, k in places.items()
    }


def print_single_times(kinds):
    """A table of `single_times` for each kind of filter."""
    low, high = bounds(len(next(iter(kinds.values()))))
    print(
        f"\nconsistency at single times: mean NEES (3; {low:.3f} to {high:.3f}), its median ({chi2.median(3):.2f}), runs beyond "
        "the 95 % quantile (5 %), the largest"
    )
    for method, rows in kinds.items():
        low, high = bounds(len(rows))
        mean = rows.mean(axis=0)
        out = int(((mean < low) | (mean > high)).sum())
        print(f"  {method}, {len(rows)} runs; {out} of {len(mean)} times are out of {low:.3f} to {high:.3f}")
        for name, (mean, median, share, largest) in single_times(rows).items():
            print(
                f"    {name:34s} {MOMENTS[name]:5.2f} s {mean:8.3f} {median:7.2f} {100 * share:6.1f} % {largest:9.1f}"
            )


# ------------------------------------------------------------------------------------------------------ rough ground

G, E, ROUGH, SEEN = 9.81, 0.8, 0.03, 0.01


@cache
def ball():
    """A ball on a floor whose height is a parameter."""
    return bd.System(
        lambda t, x, b, p: (x[1], -p[0]),
        lambda t, x, p: (p[2] - x[0],),
        states=("z", "v"),
        guards=("floor",),
        params={"g": G, "e": E, "floor": 0.0},
        direction=1,
        jumps={"floor": lambda t, x, b, p: (x[0], -p[1] * x[1])},
    )


def bounces(x, t, rng):
    """States at the times t of a ball on rough ground, in closed form from bounce to bounce; and the times of the bounces."""
    now, (z, v) = 0.0, x
    out: list[tuple[float, float]] = []
    met: list[float] = []
    floor = rng.normal(0.0, ROUGH)
    for moment in t:
        while True:
            hit = now + (v + math.sqrt(v * v + 2 * G * max(z - floor, 0.0))) / G
            if hit > moment:
                break
            s = hit - now
            z, v, now = floor, -E * (v - G * s), hit
            met.append(hit)
            floor = rng.normal(0.0, ROUGH)
            if floor > z:  # (the next patch of ground is reached on the way down)
                floor = z - 1e-6
        s = moment - now
        z, v, now = z + v * s - 0.5 * G * s * s, v - G * s, moment
        out.append((z, v))
    return np.array(out), np.array(met)


class WithoutSaltation(bd.Filter):
    """A filter whose covariance takes the Jacobian of the jump at a bounce and nothing else: what is done without saltation."""

    def predict(self, t):
        before, start = self.P.copy(), self.t
        met: Any = bd.solve(self.system, (start, t), self.x).events.t if t > start else []
        super().predict(t)
        if len(met):
            flow = [np.array([[1.0, s], [0.0, 1.0]]) for s in (met[0] - start, t - met[0])]
            A = flow[1] @ np.diag([1.0, -E]) @ flow[0]
            self.P, self._cross = A @ before @ A.T, before @ A.T
        return self


def rough_ground(runs, rng, quiet=True, steps=75):
    """Mean errors of v (root of mean squares over runs) at times behind a bounce, of four filters."""
    kinds: dict[str, Any] = {
        "jump alone": (WithoutSaltation, {"method": "matrix"}),
        "saltation": (bd.Filter, {"method": "matrix"}),
        "saltation, rough ground": (bd.Filter, {"method": "matrix", "uncertain": {"floor": ROUGH}}),
        "points where in doubt, rough ground": (bd.Filter, {"method": "auto", "uncertain": {"floor": ROUGH}}),
    }
    t, system = DT * np.arange(1, steps + 1), ball()
    errors: dict[str, list[Any]] = {name: [] for name in kinds}
    for _ in tqdm(range(runs), desc="balls", disable=quiet or None, leave=False):
        start = np.array([1.2, 0.0]) + rng.normal(size=2) * 0.02
        x, _ = bounces(start, t, rng)
        z = x[:, 0] + rng.normal(0.0, SEEN, t.size)
        for name, (kind, options) in kinds.items():
            estimator = kind(system, [1.2, 0.0], [4e-4, 4e-4], R=SEEN**2, Q={"v": 1e-3}, **options)
            try:
                track = estimator.run({"t": t, "z": z})
                errors[name].append(np.abs(track.x - x))
            except bd.EstimationError:
                errors[name].append(np.full(x.shape, np.nan))
    return {name: np.array(rows) for name, rows in errors.items()}


def main(runs=1000, samples=10_000_000, quiet=False):
    rng = np.random.default_rng(0)
    print(
        "corner: a Gaussian of deviation s behind two guards that are crossed together; mean and covariance in units of s"
    )
    print(f"  {'':26s} {'mean x':>9s} {'mean y':>9s} {'P xx':>8s} {'P xy':>8s} {'P yy':>8s}")
    rows = {
        "closed form": (CORNER_MEAN, CORNER_COVARIANCE),
        f"{samples:.0e} trajectories": corner_samples(samples, 0.1, rng),
    }
    rows |= {f"filter, {name}": through_corner(name) for name in ("auto", "flow", "matrix")}
    for name, (mean, P) in rows.items():
        P = np.asarray(P)
        print(f"  {name:26s} {mean[0]:9.4f} {mean[1]:9.4f} {P[0, 0]:8.4f} {P[0, 1]:8.4f} {P[1, 1]:8.4f}")

    low, high = bounds(runs)
    print(
        f"\nconsistency: NEES of (z, vz, floor) over {runs} runs of 60 samples; 3 is right, {low:.3f} to {high:.3f} holds 95 %"
    )
    print(f"  {'':26s} {'mean':>8s} {'worst':>8s} {'at the end':>11s}")
    few = max(runs // 5, 10)
    kinds = {}
    for method, count in (("auto", runs), ("flow", few), ("matrix", few)):
        kinds[method] = consistency(count, method, np.random.default_rng(1), quiet)
        mean = kinds[method].mean(axis=0)
        method += "" if count == runs else f" ({count} runs)"
        print(f"  {method:26s} {mean.mean():8.3f} {mean[np.abs(mean - 3.0).argmax()]:8.3f} {mean[-1]:11.3f}")
    mean = consistency(few, "auto", np.random.default_rng(1), quiet, smooth=True).mean(axis=0)
    print(
        f"  {f'smoother ({few} runs)':26s} {mean.mean():8.3f} {mean[np.abs(mean - 3.0).argmax()]:8.3f} {mean[-1]:11.3f}"
    )
    print_single_times({"auto": kinds["auto"], "matrix": kinds["matrix"]})

    print(
        f"\nrough ground: a ball, {few} runs; the peak over time of the mean error of v, m/s, and by how much it is lower"
    )
    errors = rough_ground(few, np.random.default_rng(2), quiet)
    first = None
    for name, rows in errors.items():
        lost = int(np.isnan(rows[:, -1, 0]).sum())
        peak = float(np.nanmean(rows[:, :, 1], axis=0).max())
        whole = float(np.nanmean(rows[:, :, 1]))
        first = first or (peak, whole)
        gain = f"{100 * (1 - peak / first[0]):5.0f} %, over all times {100 * (1 - whole / first[1]):4.0f} %"
        print(f"  {name:38s} {peak:8.3f} {gain}" + (f"; {lost} runs failed" if lost else ""))

    system = bd.models.hopper()
    step, points = (bd.Filter(system, [2.0, 0.0], [1e-4, 1e-4], method=m) for m in ("matrix", "flow"))

    def once(estimator):
        estimator.t, estimator.z, estimator.P = 0.0, np.array([2.0, 0.0]), 1e-4 * np.eye(2)
        estimator.predict(0.6)

    matrix, flow, solve = interleaved(
        [lambda: once(step), lambda: once(points), lambda: bd.solve(system, (0.0, 0.6), [2.0, 0.0])]
    )
    print(
        f"\none prediction through a landing (hopper): {matrix / solve:.1f} solves by a matrix, "
        f"{flow / solve:.1f} by 128 integrated points"
    )


if __name__ == "__main__":
    main()
