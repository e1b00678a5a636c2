"""Fits to measurements: the Jacobian of the residuals in one pass, next to central differences of the residuals.

Times as ratios within one run, to one evaluation of the residuals (a solve), which an optimiser has asked for before; errors
relative, against the Jacobian at rtol = 1e-12, of differences with the best of four steps. The gradient of the sum of squares is
one adjoint.

(Times are of this thread, whatever else the machine does.)

Then whole fits by `bd.fit` from guesses that are some percent off, next to `scipy.optimize.least_squares` with differences of the
same residuals: forward ones with SciPy's own step, forward and central ones with steps chosen for this tolerance. Each stops
by its own default; it is printed how far their ends are apart.
"""

import time
from typing import Any

import numpy as np
from scipy.optimize import least_squares

import bouligand as bd
from bouligand.models.hexapod import START as HEXAPOD_START
from bouligand.models.plate import START, field, guard_row, guards
from bouligand.reporting.timing import interleaved

SAMPLES = (10, 50, 200)


def cases() -> dict[str, Any]:
    """Name -> system, interval, start, names of the unknowns."""
    plate, hopper = bd.models.plate(8), bd.models.hopper()
    params = dict(zip(plate.params, plate.defaults, strict=True))
    plain = bd.System(field, guards, Dh_row=guard_row, states=plate.states, guards=plate.guards, params=params)
    ten = ("mass", "inertia", "L0", "k", "c", "s0", "s2", "s4", "s6", "z")
    legs = ("mass", "Ix", "Iy", "Iz", "length", "width", "k", "c", "mu", "z")
    return {
        "hopper, 2 unknowns": (hopper, (0.0, 2.0), [2.0, 0.0], ("g", "k")),
        "plate on 8 springs, 2 unknowns": (plate, (0.0, 0.8), START, ("k", "c")),
        "plate on 8 springs, 10 unknowns": (plate, (0.0, 0.8), START, ten),
        "the same without Jacobians, 2 unknowns": (plain, (0.0, 0.8), START, ("k", "c")),
        "the same without Jacobians, 10 unknowns": (plain, (0.0, 0.8), START, ten),
        "hexapod, 2 unknowns": (bd.models.hexapod(), (0.0, 0.5), HEXAPOD_START, ("k", "c")),
        "hexapod, 10 unknowns": (bd.models.hexapod(), (0.0, 0.5), HEXAPOD_START, legs),
    }


def fit_of(case, samples, rtol):
    system, span, x0, free = case
    t = np.linspace(span[0], span[1], samples + 1)[1:]
    shot = bd.Shooting(system, span, x0, free=free, rtol=rtol)
    return shot.fit(t, np.zeros((samples, system.n)))


def compare(case, samples, rtol):
    """Times of the residuals, the Jacobian, central differences and the gradient; and the errors of both Jacobians."""
    fit, other = (fit_of(case, samples, rtol) for _ in range(2))
    theta = fit.shot.start
    sizes = np.where(theta == 0.0, 1.0, np.abs(theta))

    def first(function):
        # (the search for fast modes, which a solution does once, is part of the cost)
        fit.shot.solution(theta)._rates = None
        return function(theta)

    def differences(step=1e-3):
        columns = [(other(theta + h) - other(theta - h)) / (2.0 * h.max()) for h in np.diag(step * sizes)]
        return np.array(columns).T

    def solved():
        fit.shot._theta = None
        return fit(theta)

    times = interleaved(
        [solved, lambda: first(fit.jacobian), differences, lambda: first(fit.cost_and_gradient)], clock=time.thread_time
    )
    exact = fit_of(case, samples, 1e-12).jacobian(theta)

    def error(J):
        return (np.abs(J - exact) / np.abs(exact).max(axis=0)).max()

    return times, error(fit.jacobian(theta)), min(error(differences(step)) for step in (1e-2, 1e-3, 1e-4, 1e-5))


def whole(case, samples, rtol):
    """Times of whole fits, ours and with three kinds of differences, and the sums of squares that they end at."""
    system, span, x0, free = case
    rng = np.random.default_rng(samples)
    t = np.linspace(span[0], span[1], samples + 1)[1:]
    x = bd.solve(system, span, x0, rtol=1e-9)(t)
    sigma = 1e-3 * (np.abs(x).max(axis=0) + 1e-3)
    measured = x + sigma * rng.normal(size=x.shape)
    shot = bd.Shooting(system, span, x0, free=free)
    x_guess, p_guess = shot._scatter(shot.start * (1.0 + 0.03 * np.cos(np.arange(len(free)))), shot.x0, shot.p)
    data = {"t": t, **dict(zip(system.states, measured.T, strict=True))}
    by_name = dict(zip(system.states, sigma, strict=True))
    ends: dict[str, float] = {}

    def ours():
        ends["ours"] = bd.fit(system, data, x_guess, p_guess, free=free, sigma=by_name, rtol=rtol).chi2

    def differences(name, kind, step):
        def run():
            shot = bd.Shooting(system, span, x_guess, p_guess, free=free, failed=np.inf, rtol=rtol)
            fit = shot.fit(t, measured, weights=np.broadcast_to(1.0 / sigma, measured.shape))
            found = least_squares(
                fit,
                shot.start,
                jac=kind,
                diff_step=step,
                x_scale=np.abs(shot.start),
                gtol=1e-12,
                max_nfev=200,
            )
            ends[name] = 2.0 * found.cost

        return run

    kinds = (("2-point", "2-point", None), ("2-point, step", "2-point", 1e-4), ("3-point, step", "3-point", 1e-3))
    times = interleaved([ours, *(differences(*kind) for kind in kinds)], rounds=7, budget=0.5, clock=time.thread_time)
    return times, ends


def main(samples=SAMPLES, rtol=1e-6, chosen=None):
    print(
        f"fits, rtol = {rtol:.0e}: times of the Jacobian of all residuals, in solves, and of central differences over it"
    )
    print(
        f"  {'':42s} {'samples':>8s} {'Jacobian':>9s} {'gradient':>9s} {'diff./J':>8s} {'error':>9s} {'of diff.':>9s}"
    )
    for name, case in (chosen or cases()).items():
        for count in samples:
            (solve, jacobian, differences, gradient), ours, theirs = compare(case, count, rtol)
            row = f"{jacobian / solve:9.2f} {gradient / solve:9.2f} {differences / jacobian:8.2f} {ours:9.1e} {theirs:9.1e}"
            print(f"  {name:42s} {count:8d} {row}")
    print(
        "\nwhole fits: bd.fit in ms; times of least_squares with differences over it, and by how much its chi2 is higher"
    )
    print(f"  {'':42s} {'samples':>8s} {'bd.fit':>8s} {'2-point':>16s} {'with a step':>16s} {'central, step':>16s}")
    for name, case in (chosen or cases()).items():
        for count in samples:
            (ours, *others), ends = whole(case, count, rtol)
            rows = [
                f"{seconds / ours:8.2f} {chi2 - ends['ours']:7.1g}"
                for seconds, chi2 in zip(others, list(ends.values())[1:], strict=True)
            ]
            print(f"  {name:42s} {count:8d} {1e3 * ours:8.1f} {' '.join(rows)}")


if __name__ == "__main__":
    main()
