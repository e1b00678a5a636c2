"""The B-derivative: what it costs, next to differences of the flow, and how a corner's cost grows with its guards.

Times as ratios within one run, to one solve at the same tolerance; errors relative, against the derivative at rtol = 1e-12.
"""

import numpy as np

import bouligand as bd
from bouligand.models.plate import START, field, guard_row, guards

from .speed import interleaved

SPAN = (0.0, 0.8)


def anew(sol, **options):
    """A solution without cached results: the search for fast modes, which a solution does once, is part of the cost."""
    sol._rates = None
    return sol.bderivative(**options)


def plate(rtol, contacts=20):
    system, x0, n = bd.models.plate(contacts), START, 6
    sol = bd.solve(system, SPAN, x0, rtol=rtol)
    dx, w = np.linspace(0.2, 1.0, n), np.linspace(1.0, -1.0, n)
    exact = bd.solve(system, SPAN, x0, rtol=1e-12).bderivative().matrix()
    step = rtol ** (1 / 3)  # of a central difference: truncation and round-off are then equal

    def first(**options):
        return anew(sol, **options)

    def end(x):
        return bd.solve(system, SPAN, x, rtol=rtol).x[-1]

    def differences(directions):
        return np.array([(end(x0 + step * d) - end(x0 - step * d)) / (2.0 * step) for d in directions]).T

    arms = {
        "one solve": (lambda: bd.solve(system, SPAN, x0, rtol=rtol), None),
        "one direction, B(dx)": (lambda: first()(dx), exact @ dx),
        "one direction, by differences (2 solves)": (lambda: differences([dx])[:, 0], exact @ dx),
        "gradient, B.vjp(w)": (lambda: first().vjp(w), exact.T @ w),
        "matrix, B.matrix()": (lambda: first().matrix(), exact),
        "matrix, by differences (2 n solves)": (lambda: differences(np.eye(n)), exact),
        "with 26 parameters, B.matrix(wrt='p')": (lambda: first(params=True).matrix(wrt="p"), None),
    }
    times = interleaved([arm for arm, _ in arms.values()])
    print(
        f"plate on {contacts} springs, {len(sol.events)} events, rtol = {rtol:.0e}: time in solves ({times[0] * 1e6:.0f} us each)"
    )
    for (name, (arm, known)), seconds in zip(arms.items(), times, strict=True):
        error = "" if known is None else f"   relative error {np.abs(arm() - known).max() / np.abs(known).max():.1e}"
        print(f"  {name:42s} {seconds / times[0]:6.2f}{error}")


def others(rtol=1e-6):
    """Without the Jacobians of f, and where a solve takes so little that Python counts."""
    given = bd.models.plate(20)
    names = {
        "states": given.states,
        "guards": given.guards,
        "params": dict(zip(given.params, given.defaults, strict=True)),
    }
    cases = {
        "plate on 20 springs, without Df": (
            bd.System(field, guards, Dh_row=guard_row, **names),
            SPAN,
            START,
        ),
        "hopper": (bd.models.hopper(), (0.0, 1.3), [2.0, 0.0]),
    }
    print(f"others, rtol = {rtol:.0e}: time in solves of B(dx), B.vjp(w), B.matrix()")
    for name, (system, span, x0) in cases.items():
        sol, w = bd.solve(system, span, x0, rtol=rtol), np.ones(system.n)
        arms = (
            lambda system=system, span=span, x0=x0: bd.solve(system, span, x0, rtol=rtol),
            lambda sol=sol, w=w: anew(sol)(w),
            lambda sol=sol, w=w: anew(sol).vjp(w),
            lambda sol=sol: anew(sol).matrix(),
        )
        whole, *times = interleaved(arms)
        row = "".join(f"{seconds / whole:8.2f}" for seconds in times)
        print(f"  {f'{name} ({whole * 1e6:.0f} us)':42s} {row}")


def corners(sizes=(125, 250, 500, 1000, 2000)):
    print("a corner of m guards that are crossed at once: time of B(dx) through it, milliseconds")
    cases = {"oscillators (n = 2 m)": (_oscillators, sizes), "level plate (n = 6)": (_level_plate, sizes)}
    for name, (make, counts) in cases.items():
        functions = [make(m) for m in counts]
        times = interleaved(functions, rounds=5)
        growth = np.polyfit(np.log(counts[1:]), np.log(times[1:]), 1)[0]
        row = "  ".join(f"{m}: {t * 1e3:.2f}" for m, t in zip(counts, times, strict=True))
        print(f"  {name:24s} {row}   time ~ m^{growth:.2f}")


def _oscillators(m):
    sol = bd.solve(bd.models.oscillators(m), (0.0, 0.6), np.concatenate([np.full(m, -0.3), np.full(m, 0.6)]), rtol=1e-9)
    return _through(sol, m)


def _level_plate(m):
    return _through(bd.solve(bd.models.plate(m), (0.0, 0.5), [0.0, 2.0, 0.0, 0.0, 0.0, 0.0], rtol=1e-9), m)


def _through(sol, m):
    corner = sol.bderivative().corners[0]
    assert corner.units == m
    D = np.sin(np.arange(float(sol.system.n)))[None]
    return lambda: corner._turn(D.copy())


def main():
    plate(1e-6)
    plate(1e-9)
    others()
    corners()


if __name__ == "__main__":
    main()
