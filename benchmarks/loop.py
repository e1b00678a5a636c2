"""A controller of Solo12 that samples the state and holds its torques: microseconds a sample, split into f and the rest.

    python -m benchmarks loop

"f": evaluations of f a sample, and the time that they take by themselves, called from compiled code in the states of that very
trot. "controller": the user's own Python. "overhead" is all else: guards, step size control, calls from Python. "new solve":
the same loop as one `solve` a sample, which is what one would write without `Stepper.advance`. All times are those of the
processor, which other programs change less than those of the clock.
"""

import time

import numpy as np
from tests.helpers import robots

import bouligand as bd
from benchmarks.robots import _calls
from bouligand.bridges import mujoco as mj
from bouligand.bridges.mujoco import compiled

SECONDS, ROUNDS = 0.5, 5
SETTINGS = (
    ("Coulomb", mj.Coulomb(0.7, 0.05), 1e-2),
    ("Coulomb", mj.Coulomb(0.7, 0.05), 1e-3),
    ("Coulomb", mj.Coulomb(0.7, 0.05), 1e-4),
    ("LuGre", mj.LuGre(0.8, 0.7), 1e-2),
    ("LuGre", mj.LuGre(0.8, 0.7), 1e-3),
    ("LuGre", mj.LuGre(0.8, 0.7), 1e-4),
)


def f_alone(robot, states, words, p):
    """Microseconds of f at these states and words, called from compiled code."""
    entry = compiled.addresses()[0]
    address, _keep = robot.memory()
    ctx = np.array([robot.n, robot.m, len(p), address], dtype=np.int64)
    dx, best = np.zeros(robot.n), np.inf
    for _ in range(ROUNDS):
        total = 0.0
        for x, b in zip(states, words, strict=True):
            x, b = np.ascontiguousarray(x), np.ascontiguousarray(b, dtype=float)
            at = tuple(array.ctypes.data for array in (x, b, p, dx))
            _calls(entry, at, ctx.ctypes.data, 1)
            began = time.thread_time()
            _calls(entry, at, ctx.ctypes.data, 20)
            total += (time.thread_time() - began) / 20
        best = min(best, total / len(states))
    return 1e6 * best


def by_solves(robot, seconds, rtol):
    """The same trot as one solve a sample. Returns its seconds a sample."""
    control, x, p = robots.Trot(robot), robots.above_floor(robot, 0.005), robot.parameters()
    count = round(1000 * seconds)
    began = time.thread_time()
    for k in range(count):
        p[robot.held] = control(k / 1000, x)
        x = bd.solve(robot, (k / 1000, (k + 1) / 1000), x, p, rtol=rtol).x[-1]
    return (time.thread_time() - began) / count


def controller_alone(robot, samples):
    """Seconds a sample of the user's own part of the loop."""
    control, p, best = robots.Trot(robot), robot.parameters(), np.inf
    for _ in range(ROUNDS):
        began = time.thread_time()
        for k, x in enumerate(samples):
            p[robot.held] = control(k / 1000, x)
        best = min(best, (time.thread_time() - began) / len(samples))
    return best


def measure(friction, rtol):
    """Microseconds a sample: all, f, controller, with a solve each; evaluations of f and steps a sample."""
    robot = robots.solo(control=mj.Hold(), friction=friction)
    best, solves, count = np.inf, np.inf, round(1000 * SECONDS)
    robots.trot(robot, 0.02, rtol=rtol)
    for _ in range(ROUNDS):
        began = time.thread_time()
        samples, stepper = robots.trot(robot, SECONDS, rtol=rtol)
        best = min(best, (time.thread_time() - began) / count)
    for _ in range(2):
        solves = min(solves, by_solves(robot, SECONDS, rtol))
    solution, moments = stepper.solution, np.linspace(0.01, SECONDS, 100)
    each = f_alone(robot, solution(moments), solution.word(moments), robot.parameters())
    counts = solution.counts
    return 1e6 * best, counts.f / count * each, 1e6 * controller_alone(robot, samples), 1e6 * solves, counts, count


def main():
    print(
        "Solo12 under a PD at 1 kHz, sampled and held; microseconds of the processor a sample; goal: overhead below 50"
    )
    print("friction    rtol  steps      f     all     = f  + controller  + overhead  new solve")
    for name, friction, rtol in SETTINGS:
        total, of_f, mine, solves, counts, count = measure(friction, rtol)
        rest = total - of_f - mine
        print(
            f"{name:9} {rtol:6.0e} {counts.steps / count:6.2f} {counts.f / count:6.1f} {total:7.1f} {of_f:7.1f} {mine:13.1f} "
            f"{rest:11.1f} {solves:10.1f}"
        )
    robot = robots.solo(control=mj.Hold(), friction=mj.LuGre(0.8, 0.7))
    (one, stepper), (two, _) = (robots.trot(robot, 5.0) for _ in range(2))
    landings = sum(name.endswith("touches") for name in stepper.solution.events.name) // 2
    print(
        f"a trot of 5 s at rtol 1e-4: finite: {bool(np.isfinite(one).all())}, twice the same bits: {np.array_equal(one, two)}, "
        f"base between {one[:, 2].min():.3f} and {one[:, 2].max():.3f} m, about {landings} steps of its feet"
    )


if __name__ == "__main__":
    main()
