"""Our own speed, as ratios within one run; `work` has the peers.

- overhead: a solve against its f and h evaluated alone, the same number of times, through the same addresses;
- plate: marginal cost per contact from 2 to 100, evaluations per event, growth to 2,000 contacts.
"""

import numpy as np
from numba import njit

import bouligand as bd
from benchmarks import scenes
from bouligand.core.compiler.intrinsics import address, call
from bouligand.models.hexapod import START as HEXAPOD_START
from bouligand.models.hopper import START as HOPPER_START
from bouligand.models.plate import START as PLATE_START
from bouligand.reporting.timing import interleaved


@njit(nogil=True)
def evaluate_alone(fn, x, b, p, out, h, nf, nh):
    """f and h at one state, so many times."""
    for _ in range(nf):
        call(fn.f, 0.0, (address(x), address(b), address(p), address(out)), fn.context)
    for _ in range(nh):
        call(fn.h, 0.0, (address(x), address(p), address(h)), fn.context)


def alone(system, solution, x):
    """A function that does the evaluations of a solution and nothing else; half of the guards are taken as touching."""
    b = np.where(np.arange(system.m) % 2 == 0, 1.0, -1.0)
    lease = system._bind().lease(system)
    arguments = (
        lease.fn[0],
        np.array(x, dtype=float),
        b,
        system.defaults,
        np.empty(system.n),
        np.empty(system.m),
    )
    return lambda lease=lease: evaluate_alone(*arguments, solution.counts.f, solution.counts.h)


def overhead(rtol=1e-6):
    """Where f costs less than the arithmetic of a step on its few states (hopper, plate), and where it costs more (robots)."""
    print(f"overhead: solve / (its f and h evaluated alone), rtol = {rtol:.0e}")
    level = [0, 1.0, 0.01, 0, 0, 0]
    cases = [("hopper", bd.models.hopper(), HOPPER_START, level[:2], 2.0)]
    cases += [(f"plate, {m}", bd.models.plate(m), PLATE_START, level, 2.0) for m in (2, 10, 32, 100, 500)]
    cases.append(("hexapod", bd.models.hexapod(), HEXAPOD_START, HEXAPOD_START, 1.0))
    robot, x0 = scenes.Drop(friction=False).ours()
    cases.append(("Solo12", robot, x0, bd.solve(robot, (0, 0.5), x0).x[-1], 1.0))
    for name, system, x0, there, tf in cases:
        sol = bd.solve(system, (0, tf), x0, rtol=rtol)
        whole, evaluations = interleaved(
            [lambda s=system, x=x0, tf=tf: bd.solve(s, (0, tf), x, rtol=rtol), alone(system, sol, there)]
        )
        print(
            f"  {name:12s} {whole * 1e6:9.1f} us, evaluations {evaluations * 1e6:9.1f} us, ratio {whole / evaluations:5.2f}"
        )


def plate(rtol=1e-4):
    print(f"plate, rtol = {rtol:.0e}: time, evaluations of f per event, error against rtol = 1e-11")
    sizes = (2, 10, 32, 100, 500, 2000)
    functions = []
    for m in sizes:
        system = bd.models.plate(m)
        functions.append(lambda s=system: bd.solve(s, (0, 2), PLATE_START, rtol=rtol))
    times = interleaved(functions, rounds=7)
    for m, function, seconds in zip(sizes, functions, times, strict=True):
        sol = function()
        tight = bd.solve(sol.system, (0, 2), PLATE_START, rtol=1e-11)
        error, c = np.abs(sol.x[-1] - tight.x[-1]).max(), sol.counts
        print(
            f"  {m:5d} contacts {seconds * 1e6:9.1f} us  {c.events:5d} events  {c.f / c.events:6.2f} f/event  error {error:.1e}"
        )
    slope = np.polyfit(sizes[:4], np.array(times[:4]) * 1e6, 1)[0]
    print(f"  marginal cost, 2 to 100 contacts: {slope:.2f} us per contact (goal: 4)")
    growth = np.log(times[5] / times[4]) / np.log(sizes[5] / sizes[4])
    print(f"  growth from 500 to 2,000 contacts: time ~ contacts^{growth:.2f}")


def main():
    overhead()
    plate()


if __name__ == "__main__":
    main()
