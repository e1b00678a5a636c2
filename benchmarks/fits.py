"""Fits to measurements: the Jacobian of the residuals in one pass, next to central differences of the residuals.

Times as ratios within one run, to one evaluation of the residuals (a solve), which an optimiser has asked for before; errors
relative, against the Jacobian at rtol = 1e-12, of differences with the best of four steps. The gradient of the sum of squares is
one adjoint.
"""

from typing import Any

import numpy as np

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

    times = interleaved([solved, lambda: first(fit.jacobian), differences, lambda: first(fit.cost_and_gradient)])
    exact = fit_of(case, samples, 1e-12).jacobian(theta)

    def error(J):
        return (np.abs(J - exact) / np.abs(exact).max(axis=0)).max()

    return times, error(fit.jacobian(theta)), min(error(differences(step)) for step in (1e-2, 1e-3, 1e-4, 1e-5))


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


if __name__ == "__main__":
    main()
