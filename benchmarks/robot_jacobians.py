"""Jacobians of robots by formulas: what Df costs in evaluations of f, and whole derivatives in solves, against differences.

    python -m benchmarks.robot_jacobians

"pressed": every contact and every stop pushes. Times are minima of repetitions, in turns with what they are compared with.
"""

import ctypes
import time

import numpy as np
from numba import njit
from tests.helpers import robots

import bouligand as bd
from bouligand.bridges import mujoco as mj
from bouligand.bridges.mujoco import compiled, jacobians
from bouligand.core.compiler.intrinsics import call

FEET = {"contacts": "feet", "free_base": True}
FILES = {
    "Solo12": (robots.SOLO, {**FEET, "control": mj.PD(robots.STANCE, kp=30.0, kd=0.5)}),
    "Go2": (robots.GO2, FEET),
    "ANYmal B": (robots.ANYMAL_B, FEET),
    "Allegro hand": (robots.ALLEGRO, {"joint_friction": 0.1}),
    "Gymnasium's ant": (robots.ANT, {"contacts": "feet"}),
}
FRICTION = mj.Coulomb(0.7, 0.05)


def hexapod():
    """A box on six legs of three hinges each."""
    legs = ""
    for i in range(6):
        x, y = 0.2 - 0.2 * (i // 2), 0.12 if i % 2 else -0.12
        legs += f"""<body pos="{x} {y} 0"><joint name="a{i}" axis="1 0 0" damping=".1"/><geom size=".03" mass=".2"/>
        <body pos="0 {y / 3} 0"><joint name="b{i}" axis="0 1 0" damping=".1"/>
        <geom type="capsule" fromto="0 0 0 .08 0 -.15" size=".02" mass=".2"/>
        <body pos=".08 0 -.15"><joint name="c{i}" axis="0 1 0" damping=".1"/>
        <geom type="capsule" fromto="0 0 0 -.08 0 -.15" size=".015" mass=".1"/>
        <geom name="foot{i}" type="sphere" pos="-.08 0 -.15" size=".02" mass=".02"/></body></body></body>"""
    xml = f"""<mujoco><worldbody><body pos="0 0 .35"><freejoint/><geom type="box" size=".25 .1 .04" mass="4"/>{legs}</body>
    </worldbody></mujoco>"""
    law, control = mj.Spring(5000.0, 30.0), mj.PD(0.0, kp=30.0, kd=0.5)
    robot = mj.load(xml, contacts="foot*", law=law, friction=FRICTION, control=control)
    return robot, robot.neutral()


def solo(**options):
    robot = robots.solo(friction=FRICTION, **options)
    x = robots.above_floor(robot, 0.05)
    x[3:7] += [0.0, 0.02, 0.01, 0.0]
    x[3:7] /= np.linalg.norm(x[3:7])
    return robot, x


def driven_solo(intervals=10, length=0.04):
    """The same with position actuators, whose targets are held over intervals: 12 controls for each."""
    import mujoco

    def drive(spec):
        for joint in robots.STANCE:
            actuator = spec.add_actuator(name=joint, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)
            actuator.set_to_position(kp=30.0, kv=0.5)

    held = np.tile(list(robots.STANCE.values()), (intervals, 1))
    return solo(control=mj.Hold(length * np.arange(intervals), u=held), edit=drive)


@njit
def _calls(f, other, states, of_f, of_other, ctx, count):
    """f at two states in turn (at the same state again it would be cheaper), and another function after each."""
    failed = 0
    for i in range(count):
        failed += call(f, 0.0, (states[i % 2], *of_f), ctx)
        if other != 0:
            failed += call(other, 0.0, (states[i % 2], *of_other), ctx)
    return failed


def microseconds(robot, word, count=200, rounds=40):
    """Of one call of f, and of what follows it: Df, Dp_f, and the product of Df with one direction or with four."""
    x, p, n = robot.neutral(), np.array(robot.defaults), robot.n
    x[robot.model.nq : robot.model.nq + robot.model.nv] = 0.1
    other, out, tangents = x + 1e-3, np.zeros(n * max(n, len(p), 4)), np.ones(4 * n)
    address, keep = robot.memory()
    ctx = np.array([n, robot.m, len(p), address], dtype=np.int64)
    states, of_f = (x.ctypes.data, other.ctypes.data), tuple(array.ctypes.data for array in (word, p, out))
    along = [(*of_f[:2], tangents.ctypes.data, 4, many, 0, 0, of_f[2]) for many in (1, 4)]
    f = _address(compiled.entries()["f"])
    arms = [(0, of_f), *((_address(jacobians.entry(name)), of_f) for name in ("Df", "Dp_f"))]
    arms += [(_address(jacobians.entry("along")), arguments) for arguments in along]
    best = [np.inf] * len(arms)
    for turn in range(rounds + 1):  # the first compiles
        for i, (function, arguments) in enumerate(arms):
            began = time.perf_counter()
            assert _calls(f, function, states, of_f, arguments, ctx.ctypes.data, count) == 0
            if turn:
                best[i] = min(best[i], (time.perf_counter() - began) / count)
    del keep
    return [1e6 * (seconds - (best[0] if i else 0.0)) for i, seconds in enumerate(best)]


def _address(entry):
    return ctypes.cast(entry, ctypes.c_void_p).value


def seconds_of(task):
    began = time.perf_counter()
    task()
    return time.perf_counter() - began


TASKS = {
    "matrix": lambda sol: sol.bderivative().matrix(),
    "vjp": lambda sol: sol.bderivative().vjp(np.ones(sol.x.shape[1])),
    "vjp in x and p": lambda sol: sol.bderivative(params=True).vjp(np.ones(sol.x.shape[1])),
    "one direction": lambda sol: sol.bderivative()(np.ones(sol.x.shape[1])),
}


def whole_derivatives(name, make, end, rounds=2):
    """Each task next to solves of the same moment, since the load of the machine varies; the smallest ratio of all rounds."""
    (robot, x), (differenced, _) = make(), make()
    for function in ("Df", "Dp_f", "Dp_h", "Dt_h"):
        differenced._functions.pop(function)
    brief = [bd.solve(system, (0.0, 0.01), x) for system in (robot, differenced)]
    sols = [bd.solve(system, (0.0, end), x, rtol=1e-8) for system in (robot, differenced)]
    for what, task in TASKS.items():
        for sol in brief:  # compiles
            task(sol)
        ratios = [np.inf, np.inf]
        for _ in range(rounds):
            for i, sol in enumerate(sols):
                solve = min(seconds_of(lambda: bd.solve(robot, (0.0, end), x, rtol=1e-8)) for _ in range(5))
                ratios[i] = min(ratios[i], seconds_of(lambda task=task, sol=sol: task(sol)) / solve)
        print(f"{name:8} {end:4} s  {what:15} {ratios[0]:6.1f} solves; by differences {ratios[1]:6.1f}", flush=True)
    one, other = (sol.bderivative().matrix() for sol in sols)
    apart = np.abs(one - other).max() / np.abs(one).max()
    print(f"{'':8} n = {robot.n}, {len(sols[0].t)} steps; the two matrices differ by {apart:.0e}", flush=True)


def main():
    for name, (file, options) in FILES.items():
        robot = robots.quietly(file, friction=FRICTION, **options)
        for label, word in (("air", -np.ones(robot.m)), ("pressed", np.ones(robot.m))):
            f, Df, Dp_f, one, four = microseconds(robot, word)
            print(
                f"{name:16} n = {robot.n} {label:8} f {f:5.1f} us, Df {Df / f:4.1f} f (differences: {2 * robot.n} f), "
                f"along one direction {one / f:4.1f} f, four {four / f:4.1f} f, "
                f"Dp_f {Dp_f / f:4.1f} f (differences: {2 * len(robot.defaults)} f)",
                flush=True,
            )
    for name, make, end in (("Solo12", solo, 0.16), ("Solo12", solo, 0.4), ("hexapod", hexapod, 0.3)):
        whole_derivatives(name, make, end)


if __name__ == "__main__":
    main()
