"""Planning: are gradients exact, and is it real time? Next to iLQR with MuJoCo's finite differences, and to Crocoddyl.

    python -m benchmarks planning

Times are of one core: set OPENBLAS_NUM_THREADS=1 (else NumPy's matrix products may use more). "wall" includes what else the
machine does, "thread" is the processor's time of this thread. Crocoddyl needs versions of Pinocchio and NumPy of its own: set
CROCODDYL_PYTHON to the interpreter of an environment that has it; without, it is skipped.
"""

import contextlib
import importlib.util
import os
import pathlib
import subprocess
import time

import numpy as np
from tqdm import tqdm

import bouligand as bd
from bouligand.planning import ilqr
from bouligand.reporting.tables import table

EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"
P = bd.planning


def example(name):
    """A file of examples/ as a module."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def milliseconds(values, *percentiles):
    return [f"{1e3 * np.percentile(values, q):.1f}" for q in percentiles]


# ------------------------------------------------------------------------------------------------------------ gradients


def gradients():
    """Largest relative error of a directional derivative of the cost, against one-sided differences of 1e-12 solves."""
    from bouligand.models.driven_hexapod import CONTROLS, START

    tight = {"rtol": 1e-12, "atol": 1e-14}
    rest = np.concatenate([np.zeros(6), np.full(6, 0.175)])
    level = START.copy()
    level[12:18], level[2], level[6] = 0.0, 0.19, 0.1
    scale = np.concatenate([np.ones(6), np.full(6, 0.01)])
    target = np.zeros(24)
    target[2] = 0.15
    quad = P.Quadratic(target, x=1.0, u=1e-3, rest=rest)
    six = P.Plan(
        bd.models.driven_hexapod(),
        np.linspace(0.0, 0.12, 7),
        quad,
        P.Quadratic(target, x=1.0),
        inputs=CONTROLS,
        **tight,
    )
    walking = P.Plan(bd.models.driven_hexapod(), np.linspace(0.0, 0.3, 11), quad, inputs=CONTROLS, **tight)
    hopper = P.Plan(
        bd.models.hopper(), np.linspace(0.0, 0.8, 9), end=P.Quadratic([1.5, 0.0], x=1.0), inputs="g", **tight
    )
    rows = []
    for name, plan, x0, U, by in (
        ("hopper, one bounce", hopper, [2.0, 0.0], np.full((8, 1), 9.81), 1.0),
        ("hexapod, walking", walking, START, np.tile([4.0 * np.pi] * 6 + [0.175] * 6, (10, 1)), scale),
        ("hexapod, six landings at once", six, level, np.tile(rest, (6, 1)), scale),
    ):
        worst, rng, e = 0.0, np.random.default_rng(0), 1e-5
        for _ in tqdm(range(10), desc=name, leave=False, delay=2):
            d = rng.standard_normal(U.shape) * by
            _, gradient = plan._gradient(x0, U, None, d)
            cost = [plan.cost(plan.rollout(x0, U + s * d)) for s in (0.0, 0.5 * e, e)]
            slope = (4.0 * cost[1] - 3.0 * cost[0] - cost[2]) / e
            worst = max(
                worst, abs((gradient * d).sum() - slope) / np.linalg.norm(gradient * by) / np.linalg.norm(d / by)
            )
        run = plan.rollout(x0, U)
        run.linearise()
        rows.append((name, plan.nodes * len(plan.inputs), len(run.solution.events), run.corners, f"{worst:.0e}"))
    print("Gradients of plans against differences of 1e-12 solves, 10 random directions each\n")
    print(table(("", "controls", "events", "corners", "largest relative error"), rows))


# -------------------------------------------------------------------------------------------------------- real time


def walking(seconds=10.0):
    """The closed loop of examples/walk.py: one iteration a tick."""
    walk = example("walk")
    rows, mpc = walk.walk(seconds)
    plan, thread, U = walk.make(), [], walk.REST
    for k in tqdm(range(0, len(rows) - 1, 5), desc="thread time", leave=False, delay=2):
        t, x = rows[k][0], rows[k][1]
        began = time.thread_time()
        U = plan.solve(x, U, t0=t, iterations=1).u
        thread.append(time.thread_time() - began)
    X = np.array([row[1] for row in rows])
    aims = np.array([walk.heading(row[0]) for row in rows])
    wall = mpc.statistics.iterations
    print(
        f"\n{seconds:g} s of walking and turning with {len(walk.PUSHES)} pushes, one iteration every 20 ms, applied 20 ms later, "
        "horizon 0.5 s\n"
    )
    print(
        table(
            ("driven hexapod (24 states, 12 controls, 25 nodes)", "p50 ms", "p99 ms"),
            [
                ("an iteration, wall", *milliseconds(wall, 50, 99)),
                ("an iteration and its first rollout, thread", *milliseconds(thread[1:], 50, 99)),
            ],
        )
    )
    print(
        f"\nfell: {'no' if len(rows) * walk.TICK >= seconds - 1e-9 else 'yes'}; height {X[:, 2].min():.3f} to "
        f"{X[:, 2].max():.3f} m; "
        f"largest roll {np.abs(X[:, 3]).max():.3f}, pitch {np.abs(X[:, 4]).max():.3f}, error of the heading "
        f"{np.abs(X[:, 5] - aims).max():.3f} rad; plans that failed: {mpc.statistics.failed}"
    )


def articulated(rounds=10, iterations=10):
    """examples/six_legs.xml: ours, and iLQR with MuJoCo's steps and finite differences on the same file, in turns."""
    from .planning_mujoco import MuJoCoPlan

    legs = example("six_legs")
    six = legs.robot()
    plan, start = legs.make(six), six.neutral("stand")
    start[six.model.nq + 1] = 0.3
    limits = legs.STAND - 0.6, legs.STAND + 0.6
    nq = six.model.nq + six.model.nv
    theirs = MuJoCoPlan(
        legs.FILE, 100, legs.aim(six)[:nq], legs.weights(six), np.full(18, 0.05), legs.STAND, limits, end=0.5
    )
    rng = np.random.default_rng(0)
    plan.solve(start, legs.STAND, iterations=2)
    ours = {"linearise": [], "all": [], "wall": []}
    fd = {"derivatives": [], "backward": [], "rollouts": [], "all": []}
    gains = np.zeros((2, 2))
    for _ in tqdm(range(rounds), desc="six legs", leave=False, delay=2):
        x0 = start.copy()
        x0[six.model.nq : six.model.nq + 2] += 0.1 * rng.standard_normal(2)
        search = ilqr._Search(plan, x0, plan.controls(legs.STAND), None)
        X, U = theirs.rollout(x0[:nq], lambda k, x: legs.STAND)
        cost = theirs.cost(X, U)
        theirs.start()
        gains[:, 0] += search.cost, cost
        for _ in range(iterations):
            began, wall = time.thread_time(), time.perf_counter()
            search.iterate(1e-9)
            ours["all"].append(time.thread_time() - began)
            ours["wall"].append(time.perf_counter() - wall)
            began = time.thread_time()
            with contextlib.suppress(
                bd.BouligandError
            ):  # (an iteration then takes the derivative of a trajectory nearby)
                search.run.linearise(quick=True)
                ours["linearise"].append(time.thread_time() - began)
            X, U, cost, parts = theirs.iterate(x0[:nq], X, U, cost)
            fd["all"].append(sum(parts))
            for name, value in zip(("derivatives", "backward", "rollouts"), parts, strict=True):
                fd[name].append(value)
        gains[:, 1] += search.cost, cost
    ratio = np.median(fd["all"]) / np.median(ours["all"])
    print("\nSix articulated legs (nv = 24, 18 controls, horizon 0.5 s): an iteration\n")
    print(
        table(
            ("", "nodes", "p50 ms", "p99 ms"),
            [
                ("bouligand (wall)", plan.nodes, *milliseconds(ours["wall"], 50, 99)),
                ("bouligand (thread)", plan.nodes, *milliseconds(ours["all"], 50, 99)),
                ("- derivatives through all events", plan.nodes, *milliseconds(ours["linearise"], 50, 99)),
                ("MuJoCo and mjd_transitionFD (thread)", 100, *milliseconds(fd["all"], 50, 99)),
                ("- derivatives", 100, *milliseconds(fd["derivatives"], 50, 99)),
                ("- backward pass", 100, *milliseconds(fd["backward"], 50, 99)),
                ("- line search", 100, *milliseconds(fd["rollouts"], 50, 99)),
            ],
        )
    )
    less = 1.0 - gains[:, 1] / gains[:, 0]
    print(
        f"\nMuJoCo over ours (medians): {ratio:.1f}. {iterations} iterations lowered the cost by {less[0]:.0%} (ours), "
        f"{less[1]:.0%} (MuJoCo)"
    )


def crocoddyl():
    """Solo12 with a fixed contact sequence, in an environment of its own."""
    python = os.environ.get("CROCODDYL_PYTHON")
    if not python:
        print("\nCrocoddyl: skipped (CROCODDYL_PYTHON is not set)")
        return
    script = pathlib.Path(__file__).parent / "planning_crocoddyl.py"
    from importlib.metadata import distribution

    folder = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
    done = subprocess.run(
        [python, str(script), f"{folder}/solo_description/robots/solo12.urdf"],
        capture_output=True,
        text=True,
        check=False,
    )
    print("\n" + (done.stdout.strip() or f"Crocoddyl: failed ({done.stderr.strip().splitlines()[-1:]})"))


# ---------------------------------------------------------------------------------------------- a gradient's wrong sign


def bounce():
    """From which height must it be dropped to be 0.45 m high after 0.9 s? BFGS with both gradients, from four starts."""
    from .gradients import STARTS, OurBall, TheirBall, search

    rows, runs = [], (OurBall(), TheirBall())
    for start in STARTS:
        row = [f"{start:g}"]
        for run in runs:
            left, calls = search(run, start)
            row += [f"{run.true_slope(start):.3f}", f"{run(start)[1]:.3f}", f"{left:.0e}", calls]
        rows.append(row)
    print(
        "\nA drop that is to be 0.45 m high after 0.9 s: dz(T)/dz(0), and BFGS (hopper of k/m = 1000; MuJoCo with 5 ms)\n"
    )
    head = ("start", "true", "B", "left", "runs", "MuJoCo: true", "chain of FD", "left", "runs")
    print(table(head, rows))


def main():
    gradients()
    walking()
    articulated()
    crocoddyl()
    bounce()


if __name__ == "__main__":
    main()
