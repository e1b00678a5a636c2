"""The B-derivative: what it costs, next to differences of the flow, and how a corner's cost grows with its guards.

Times (of each the least of many calls, in turn) as ratios within one run, to one solve at the same tolerance; errors relative,
against the derivative at rtol = 1e-12. A derivative is that of a solution that was just computed, as users have it: the time of
solve and derivative, less that of the solve.
"""

import time

import numpy as np

import bouligand as bd
from bouligand.models.hand import start as hand_start
from bouligand.models.plate import START
from bouligand.reporting.timing import interleaved
from bouligand.system import binding

SPAN = (0.0, 0.8)
CALLS = 3000  # of each arm, at most


def least(arms, seconds):
    """The least time of each arm, of as many calls in turn as take so many seconds an arm: the same number of all, since the
    speed of a machine changes, and each after an untimed one, so that none finds the caches of another."""
    for arm in arms:
        arm()
    began = time.perf_counter()
    for arm in arms:
        arm()
    calls = int(seconds * len(arms) / (time.perf_counter() - began))
    times = [np.inf] * len(arms)
    for _ in range(min(max(calls, 3), CALLS)):
        for q, arm in enumerate(arms):
            arm()
            began = time.perf_counter()
            arm()
            times[q] = min(times[q], time.perf_counter() - began)
    return times


def plate(rtol, contacts=20):
    system, x0, n = bd.models.plate(contacts), START, 6
    sol = bd.solve(system, SPAN, x0, rtol=rtol)
    dx, w = np.linspace(0.2, 1.0, n), np.linspace(1.0, -1.0, n)
    exact = bd.solve(system, SPAN, x0, rtol=1e-12).bderivative().matrix()
    step = rtol ** (1 / 3)  # of a central difference: truncation and round-off are then equal

    def first(**options):
        return bd.solve(system, SPAN, x0, rtol=rtol).bderivative(**options)

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
    times = least([arm for arm, _ in arms.values()], 1.0)
    print(
        f"plate on {contacts} springs, {len(sol.events)} events, rtol = {rtol:.0e}: time in solves ({times[0] * 1e6:.0f} us each)"
    )
    for (name, (arm, known)), seconds in zip(arms.items(), times, strict=True):
        seconds -= times[0] if "B" in name else 0.0
        error = "" if known is None else f"   relative error {np.abs(arm() - known).max() / np.abs(known).max():.1e}"
        print(f"  {name:42s} {seconds / times[0]:6.2f}{error}")


def cases():
    """Systems as a user writes them, without Jacobians: name, system, interval, start."""
    hexapod = np.zeros(12)
    hexapod[2], hexapod[6] = 0.18, 0.9
    yield "hopper", bd.models.hopper(), (0.0, 1.3), [2.0, 0.0]
    yield "three_legs", bd.models.three_legs(), (0.0, 1.0), [0.7, 0.05, -0.03, 0.0, 0.0, 0.0, 0.0]
    yield "hand 5", bd.models.hand(5), (0.0, 0.1), hand_start(5, 0.002, 0.001)
    yield "plate 20", bd.models.plate(20), SPAN, START
    yield "plate 100", bd.models.plate(100), SPAN, START
    yield "hexapod", bd.models.hexapod(), (0.0, 1.0), hexapod
    count = 1000
    start = np.concatenate([np.linspace(-0.5, -0.4, count), np.ones(count)])
    yield "oscillators 1000", bd.models.oscillators(count), (0.0, 2.0), start


def plain(system, jacobians):
    """A system with nothing but f and h."""
    functions = {name: system._functions[name].given for name in ("f", "h", "f0", "g", "g_many") if system.has(name)}
    if system._composed:
        functions.pop("f", None)
    params = dict(zip(system.params, system.defaults, strict=True)) if system.params else system.defaults
    return bd.System(**functions, states=system.states, guards=system.guards, params=params, jacobians=jacobians)


def table(rtol=1e-6):
    """Exact Jacobians by dual numbers next to differences, in solves. The robot: formulas next to differences."""
    print(f"time in solves, rtol = {rtol:.0e}: B(dx), B.matrix(), B.vjp(w), B.matrix(wrt='p')")
    # (as after some hundred single directions: then f has been compiled for these)
    binding.WORTH_COMPILING = 0
    for name, system, span, x0 in cases():
        for jacobians in ("exact", "differences"):
            _row(
                f"{name}, {jacobians}",
                plain(system, jacobians),
                span,
                np.asarray(x0),
                rtol,
                3.0 if jacobians == "exact" else 0.2,
            )
    try:
        from .robot_jacobians import driven_solo, solo
    except ImportError:
        return
    robot, x0 = solo()
    for span in ((0.0, 0.16), (0.0, 0.4)):
        _row(f"Solo12, {span[1]} s, formulas", robot, span, x0, rtol, 3.0)
    driven, start = driven_solo()
    _row("Solo12, 0.4 s, 120 controls", driven, (0.0, 0.4), start, rtol, 3.0, gradient_in_parameters=True)
    robot._functions = {
        name: user for name, user in robot._functions.items() if not name.startswith(("Df", "Dp", "Dt"))
    }
    robot._bound = robot._pool = None
    _row("Solo12, 0.16 s, differences", robot, (0.0, 0.16), x0, rtol, seconds=0.0)


def _row(name, system, span, x0, rtol, seconds=1.0, gradient_in_parameters=False):
    dx = np.linspace(1.0, -1.0, system.n)

    def solve():
        return bd.solve(system, span, x0, rtol=rtol)

    arms = [solve, lambda: solve().bderivative()(dx)]
    if gradient_in_parameters:
        print("  and B.vjp(w) in states and parameters, in place of the last column:")
        arms += [lambda: solve().bderivative().matrix(dx), lambda: solve().bderivative().vjp(dx, dx)]
        arms.append(lambda: solve().bderivative(params=True).vjp(dx, dx))
    elif system.n <= 100:  # (the whole matrix of a thousand states is nobody's wish)
        arms += [lambda: solve().bderivative().matrix(dx), lambda: solve().bderivative().vjp(dx, dx)]
        if len(system.defaults):
            arms.append(lambda: solve().bderivative(params=True).matrix(dx, wrt="p"))
    whole, *times = least(arms, seconds)
    row = "".join(f"{seconds / whole - 1.0:8.2f}" for seconds in times)
    sizes = f"n = {system.n}, {len(system.defaults)} parameters, {len(solve().events)} events"
    print(f"  {name:30s} {row:32s}  ({sizes}; a solve {whole * 1e6:.0f} us)", flush=True)


def corners(sizes=(125, 250, 500, 1000, 2000)):
    print("a corner of m guards that are crossed at once: time of B(dx) through it, milliseconds")
    cases = {"oscillators (n = 2 m)": (_oscillators, sizes), "level plate (n = 6)": (_level_plate, sizes)}
    for name, (make, counts) in cases.items():
        functions = [make(m) for m in counts]
        times = interleaved(functions, rounds=5, clock=time.thread_time)
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
    return lambda: corner._pass(D.copy())


def main():
    plate(1e-6)
    plate(1e-9)
    table()
    corners()


if __name__ == "__main__":
    main()
