"""The MuJoCo bridge: its f and h against MuJoCo's own mj_forward, called from compiled code on the same model.

    python -m benchmarks robots

Robots are files from example-robot-data and Gymnasium. "none": mj_forward with contacts and constraints off, as the bridge has
them; "own": with the file's own. f is measured with every contact and every stop pushing.
"""

import time
import warnings

import mujoco
import numpy as np
from numba import njit, types
from tests.helpers import robots

from bouligand.bridges import mujoco as mj
from bouligand.bridges.mujoco import compiled
from bouligand.core.compiler.intrinsics import call

FILES = {
    "Solo12": (robots.SOLO, {"contacts": "feet", "free_base": True}),
    "Go2": (robots.GO2, {"contacts": "feet", "free_base": True}),
    "ANYmal B": (robots.ANYMAL_B, {"contacts": "feet", "free_base": True}),
    "ANYmal C": (robots.ANYMAL_C, {"contacts": "feet", "free_base": True}),
    "Allegro hand": (robots.ALLEGRO, {"joint_friction": 0.1}),
    "Gymnasium's ant": (robots.ANT, {"contacts": "feet"}),
}

_forward = types.ExternalFunction("mj_forward", types.void(types.int64, types.int64))


@njit
def _forwards(model, data, count):
    for _ in range(count):
        _forward(model, data)


@njit
def _calls(address, arguments, ctx, count):
    failed = 0
    for _ in range(count):
        failed += call(address, 0.0, arguments, ctx)
    return failed


def microseconds(*tasks, count=1000, rounds=60):
    """Time a call of each task: the shortest of many repetitions, interleaved, since the load of the machine varies."""
    best = [np.inf] * len(tasks)
    for function, *arguments in tasks:
        function(*arguments, 10)
    for _ in range(rounds):
        for i, (function, *arguments) in enumerate(tasks):
            began = time.perf_counter()
            function(*arguments, count)
            best[i] = min(best[i], time.perf_counter() - began)
    return [1e6 * seconds / count for seconds in best]


def measure(file, options):
    """Microseconds of f, h, and mj_forward without and with the file's own contacts and constraints."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mj.RobotFileWarning)
        robot = mj.load(file, friction=mj.Coulomb(0.7), **options)
    x, word, p = robot.neutral(), np.ones(robot.m), robot.defaults
    x[robot.model.nq :] = 0.1
    if robot.model.jnt_type[0] == 0:
        x[2] += 1.0  # in the air: MuJoCo's own contacts find nothing to solve
    dx, out = np.zeros(robot.n), np.zeros(robot.m)
    address, keep = robot.memory()
    ctx = np.array([robot.n, robot.m, len(p), address], dtype=np.int64)
    at = [array.ctypes.data for array in (x, word, p, dx, out, ctx)]
    entries = dict(zip(("f", "h", "fh", "Dh"), compiled.addresses(), strict=True))
    tasks = [
        (_calls, entries["f"], (at[0], at[1], at[2], at[3]), at[5]),
        (_calls, entries["h"], (at[0], at[2], at[4]), at[5]),
    ]
    held = [keep]
    for model in (robot.memory.model, robot.model):
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:] = x[: model.nq], x[model.nq : model.nq + model.nv]
        tasks.append((_forwards, model._address, data._address))
        held.append(data)
    return robot, *microseconds(*tasks)


def main():
    print(f"MuJoCo {mujoco.__version__}; microseconds a call; goal: f within 1.3 times mj_forward")
    print(
        f"{'robot':16} {'dofs':>4} {'guards':>6} {'f':>6} {'h':>6} {'mj_forward: none':>17} {'own':>6}  f / none  f / own"
    )
    for name, (file, options) in FILES.items():
        robot, f, h, none, own = measure(file, options)
        print(
            f"{name:16} {robot.model.nv:4} {robot.m:6} {f:6.2f} {h:6.2f} {none:17.2f} {own:6.2f}  {f / none:8.2f}  {f / own:7.2f}"
        )


if __name__ == "__main__":
    main()
