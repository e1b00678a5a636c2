"""Laws of friction on a slope: Solo12 stands on one of 0.2 rad for 3 s. How far do its feet creep, and what does each law cost?

    python -m benchmarks friction

The drift is that of the fastest foot over the last half second. It starts with a small push sideways, so that no two feet do the
same.
"""

import time

import numpy as np
from tests.helpers import robots

import bouligand as bd
from bouligand.bridges import mujoco as mj

SLOPE, SECONDS, RTOL, ROUNDS = 0.2, 3.0, 1e-6, 3
LAWS = {
    "friction=0.8 (LuGre)": 0.8,
    "Coulomb(0.8, slip_speed=0.01)": mj.Coulomb(0.8, 0.01),
    "Coulomb(0.8, slip_speed=0.001)": mj.Coulomb(0.8, 0.001),
    "Coulomb(0.8, slip_speed=0.0001)": mj.Coulomb(0.8, 0.0001),
    "ExactCoulomb(0.8)": mj.ExactCoulomb(0.8),
}


def tilt(spec):
    spec.option.gravity = [9.81 * np.sin(SLOPE), 0.0, -9.81 * np.cos(SLOPE)]


def stand(friction):
    """The robot and its start."""
    robot = robots.solo(friction=friction, edit=tilt)
    x = robots.above_floor(robot, 0.02)
    x[robot.model.nq : robot.model.nq + 4] = 0.01, 0.003, 0.0, 0.01
    return robot, x


def drift(robot, solution):
    """The speed of the fastest foot over the last half second, in m/s."""
    first, last = (robot.points(solution(t)) for t in (SECONDS - 0.5, SECONDS))
    return float(np.linalg.norm(last - first, axis=1).max()) / 0.5


def main():
    print(f"Solo12 on a slope of {SLOPE} rad, {SECONDS:g} s, rtol {RTOL:g}")
    print(f"{'':34} {'drift, mm/s':>12} {'steps':>7} {'f':>7} {'seconds':>8}")
    made = {name: stand(law) for name, law in LAWS.items()}
    best, solutions = dict.fromkeys(made, np.inf), {}
    for _ in range(ROUNDS):  # interleaved, so that all see the same load of the machine
        for name, (robot, x) in made.items():
            began = time.perf_counter()
            solutions[name] = bd.solve(robot, (0.0, SECONDS), x, rtol=RTOL)
            best[name] = min(best[name], time.perf_counter() - began)
    for name, (robot, _) in made.items():
        counts = solutions[name].counts
        print(f"{name:34} {1e3 * drift(robot, solutions[name]):12.1e} {counts.steps:7} {counts.f:7} {best[name]:8.3f}")


if __name__ == "__main__":
    main()
