"""Two source trees next to each other: are their results the same to the last bit, and how do their times compare?

    python benchmarks/trees.py OLD/src NEW/src [--times] [--rounds 7]

Each tree runs in a process of its own with a cache of its own. Only public names are used, so that the trees may be laid out
differently. Bits depend on the processor and on Numba's version: compare trees on one machine, never with a stored hash.
Times are taken in turn, one round of every problem in one tree, then in the other, and printed as ratios new / old.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

PLATE = (0.0, 2.637, -0.046, 0.0, 0.0, 0.0)


# ------------------------------------------------------------------------------------------------------ the problems


def trajectories(bd, np):
    """Name -> a function that returns a solution."""
    models = bd.models

    def plate(contacts, rtol, **options):
        return lambda: bd.solve(models.plate(contacts), (0.0, 2.0), PLATE, rtol=rtol, **options)

    def oscillators(count, rtol):
        x0 = np.concatenate([np.linspace(-0.5, -0.4, count), np.ones(count)])
        return lambda: bd.solve(models.oscillators(count), (0.0, 6.0), x0, rtol=rtol)

    def ball(t, x, b, p, dx):
        dx[0], dx[1] = x[1], -9.81 + (0.0 if b[0] > 0.0 else -p[0] * x[0])

    def height(t, x, p, out):
        out[0], out[1] = x[0], x[1]

    def returning(t, x, b, p):
        return np.array([x[1], -p[0] * x[0] + (0.3 if b[0] > 0.0 else -0.3)])

    def moving(t, x, p):
        return np.array([x[0] - 0.1 * np.sin(t), x[1]])

    watched = {"states": ("z", "v"), "guards": ("ground", "apex"), "params": {"k": 2000.0}, "observers": ("apex",)}
    swing = {"states": ("x", "v"), "guards": ("wall", "turn"), "params": {"k": 9.0}, "observers": ("turn",)}
    hexapod = np.zeros(12)
    hexapod[2], hexapod[6] = 0.18, 0.9
    return {
        "hopper 1e-3": lambda: bd.solve(models.hopper(), (0.0, 2.0), [2.0, 0.0], rtol=1e-3),
        "hopper 1e-8": lambda: bd.solve(models.hopper(), (0.0, 2.0), [2.0, 0.0], rtol=1e-8),
        "hopper 1e-12 requested": lambda: bd.solve(
            models.hopper(), (0.0, 2.0), [2.0, 0.0], rtol=1e-12, t_eval=np.linspace(0.0, 2.0, 201)
        ),
        "plate 2 1e-3": plate(2, 1e-3),
        "plate 2 1e-9": plate(2, 1e-9),
        "plate 8 1e-6": plate(8, 1e-6),
        "plate 8 1e-6 bosh3": plate(8, 1e-6, method="bosh3"),
        "plate 32 1e-9": plate(32, 1e-9),
        "plate 100 1e-4 spans": plate(100, 1e-4),
        "plate 100 1e-4 requested": plate(100, 1e-4, t_eval=np.linspace(0.0, 2.0, 301)),
        "plate 500 1e-5 spans": plate(500, 1e-5),
        "plate 200 1e-9 dop853": plate(200, 1e-9, method="dop853"),
        "circle bosh3": lambda: bd.solve(
            models.circle(), (0.0, math.pi / 2), [math.exp(-1.0), 0.0], rtol=1e-7, method="bosh3"
        ),
        "circle bands": lambda: bd.solve(
            models.circle(), (0.0, math.pi / 2), [math.exp(-1.0), 0.0], rtol=1e-10, eps=1e-3, projection=5
        ),
        "order bands 2": lambda: bd.solve(models.order_test(), (0.0, 0.5), [-0.4, -0.15, 0.3], eps=1e-2, rtol=1e-10),
        "order bands 3": lambda: bd.solve(
            models.order_test(), (0.0, 0.5), [-0.4, -0.15, 0.3], eps=1e-2, projection=3, rtol=1e-10
        ),
        "order 1e-9": lambda: bd.solve(models.order_test(), (0.0, 0.5), [-0.4, -0.15, 0.3], rtol=1e-9),
        "three legs level": lambda: bd.solve(models.three_legs(), (0.0, 1.5), [0.7] + [0.0] * 6, rtol=1e-7),
        "three legs tilted": lambda: bd.solve(
            models.three_legs(), (0.0, 1.5), [0.7, 0.03, -0.02] + [0.0] * 4, rtol=1e-5
        ),
        "hexapod": lambda: bd.solve(models.hexapod(), (0.0, 1.0), hexapod, rtol=1e-6),
        "oscillators 40 spans": oscillators(40, 1e-4),
        "oscillators 40 1e-9": oscillators(40, 1e-9),
        "observer and terminal": lambda: bd.solve(
            bd.System(ball, height, **watched), (0.0, 5.0), [1.0, 0.0], rtol=1e-7, terminal={"ground": 5}
        ),
        "moving guard, plain Python": lambda: bd.solve(
            bd.System(returning, moving, compile=False, **swing), (0.0, 5.0), [1.0, 0.0], rtol=1e-7, breakpoints=[1.5]
        ),
        "moving guard, breakpoints": lambda: bd.solve(
            bd.System(returning, moving, **swing), (0.0, 8.0), [1.0, 0.0], rtol=1e-9, breakpoints=[1.5, 4.0]
        ),
        "stepper, parameters changed": lambda: stepped(bd),
    }


def stepped(bd):
    stepper = bd.Stepper(bd.models.plate(6), (0.0, 1.5), PLATE, rtol=1e-6)
    while stepper.status == "running":
        stepper.step()
        if stepper.t > 0.75 and stepper.p[4] < 1e5:
            stepper.p = {"k": 2e5}
    return stepper.solution


def numbers(bd, np, name, sol):
    """All of a solution that has bits: trajectory, events, dense output, derivative."""
    inside = np.linspace(sol.t[0], sol.t[-1], 57)
    out = {"t": sol.t, "x": sol.x, "events": sol.events.t, "guards": sol.events.guard, "at events": sol.events.x}
    out["dense"], out["words"] = sol(inside), sol.b
    out["counts"] = np.array([sol.counts.f, sol.counts.h, sol.counts.steps, sol.counts.rejected, sol.counts.hops])
    out["margins"] = sol.margins["h"]
    if sol.system.n > 50 or sol.system.m > 300 or "bands" in name:
        return out
    dx = np.linspace(0.2, 1.0, sol.system.n)
    changed = name == "stepper, parameters changed"
    B = sol.bderivative(params=not changed)
    out["B(dx)"], out["matrix"], out["B(dx) again"] = B(dx), B.matrix(dx), B(dx)
    back = B.vjp(np.ones(sol.system.n), dx)
    out["vjp"] = back if changed else np.concatenate(back)
    out["event times"] = B.event_times(dx)
    half = sol.bderivative(t=0.5 * (sol.t[0] + sol.t[-1]), since=0.25 * sol.t[-1] + 0.75 * sol.t[0])
    out["half"] = half(dx)
    return out


def ends(bd, np):
    """Of each problem: the state at its end, number and mean time of its events, image of a perturbation (for the tests)."""
    out = {}
    for name, make in trajectories(bd, np).items():
        sol = make()
        out[name] = {"x": sol.x[-1].tolist(), "events": len(sol.events), "mean": float(np.mean(sol.events.t))}
        if sol.system.n <= 12 and "bands" not in name:
            out[name]["B"] = image(np, sol).tolist()
    return out


def image(np, sol):
    """Of a perturbation, by the matrix of its piece."""
    dx = np.linspace(0.2, 1.0, sol.system.n)
    return sol.bderivative().matrix(dx) @ dx


# ------------------------------------------------------------------------------------------------------ one tree


def work(tree):
    """A process of one tree: reads commands, a line each, and answers with a line of JSON."""
    sys.path.insert(0, tree)
    import time
    import warnings

    import numpy as np

    warnings.simplefilter("ignore")
    began = time.perf_counter()
    import bouligand as bd

    imported = time.perf_counter() - began
    assert pathlib.Path(bd.__file__).resolve().is_relative_to(pathlib.Path(tree).resolve()), bd.__file__
    arms = {}
    for line in sys.stdin:
        command, *rest = json.loads(line)
        answer: Any
        if command == "bits":
            out: dict[str, Any] = {}
            for name, make in trajectories(bd, np).items():
                try:
                    result = numbers(bd, np, name, make())
                except Exception as error:  # the same error in both trees is the same result
                    result = {"error": np.array([f"{type(error).__name__}: {error}"])}
                out |= {f"{name} | {key}": np.ascontiguousarray(value) for key, value in result.items()}
            np.savez(rest[0], **out)
            answer = len(out)
        elif command == "first":
            began = time.perf_counter()
            bd.solve(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0], rtol=1e-8)
            answer = {"import": imported, "first solve": time.perf_counter() - began}
        elif command == "arms":
            arms = timed(bd, np)
            for arm, _ in arms.values():
                arm()
            answer = list(arms)
        else:
            arm, repeat = arms[rest[0]]
            best = math.inf
            for _ in range(5):
                began = time.perf_counter()
                for _ in range(repeat):
                    arm()
                best = min(best, (time.perf_counter() - began) / repeat)
            answer = best
        print(json.dumps(answer), flush=True)


def timed(bd, np):
    """Name -> what to time, and how often in a row."""
    hopper = bd.models.hopper()
    plates = {m: bd.models.plate(m) for m in (2, 8, 20, 32, 100, 500)}
    B = bd.solve(plates[20], (0.0, 0.8), PLATE, rtol=1e-6)
    dx, w = np.linspace(0.2, 1.0, 6), np.linspace(1.0, -1.0, 6)

    def solve(m, rtol):
        return lambda: bd.solve(plates[m], (0.0, 2.0), PLATE, rtol=rtol)

    def anew(use):
        def run():
            B._rates = None
            return use(B.bderivative())

        return run

    arms = {
        "hopper 1e-3": (lambda: bd.solve(hopper, (0.0, 2.0), [2.0, 0.0], rtol=1e-3), 2000),
        "hopper 1e-8": (lambda: bd.solve(hopper, (0.0, 2.0), [2.0, 0.0], rtol=1e-8), 2000),
        "plate 2, 1e-6": (solve(2, 1e-6), 500),
        "plate 8, 1e-6": (solve(8, 1e-6), 200),
        "plate 32, 1e-9": (solve(32, 1e-9), 50),
        "plate 100, 1e-4 (spans)": (solve(100, 1e-4), 50),
        "plate 500, 1e-5 (spans)": (solve(500, 1e-5), 10),
        "plate 500, 1e-9": (solve(500, 1e-9), 5),
        "B(dx), plate 20": (anew(lambda B: B(dx)), 200),
        "B.matrix(), plate 20": (anew(lambda B: B.matrix()), 100),
        "B.vjp(w), plate 20": (anew(lambda B: B.vjp(w)), 100),
        "dense output, plate 20": (lambda: B(np.linspace(0.0, 0.8, 200)), 50),
    }
    arms |= robot_arms(bd)
    return arms


def robot_arms(bd):
    """Solo12 on its feet, where MuJoCo and the robot's file are installed."""
    try:
        from importlib.metadata import distribution

        from bouligand.bridges import mujoco as mj

        files = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
    except Exception:
        return {}
    robot = mj.load(
        pathlib.Path(str(files)) / "solo_description/robots/solo12.urdf",
        contacts="*_FOOT", law=mj.Spring(stiffness=5000.0, damping=30.0), limits="ignore", free_base=True,
    )  # fmt: skip
    x = robot.neutral()
    x[2] += 0.02 - min(robot.points(x)[:, 2])
    return {"Solo12, 0.1 s": (lambda: bd.solve(robot, (0.0, 0.1), x, rtol=1e-5), 3)}


# ------------------------------------------------------------------------------------------------------ both


class Tree:
    def __init__(self, path, cache):
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, __file__, "--work", str(path)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=str(cache)
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.to, self.back = self.process.stdin, self.process.stdout

    def close(self):
        self.to.close()
        self.process.wait()

    def ask(self, *command):
        self.to.write(json.dumps(command) + "\n")
        self.to.flush()
        answer = self.back.readline()
        if not answer:
            raise SystemExit("a tree's process has died; see above")
        return json.loads(answer)


def compare_bits(trees, folder):
    import numpy as np

    paths = [folder / f"{q}.npz" for q in range(2)]
    for tree, path in zip(trees, paths, strict=True):
        tree.ask("bits", str(path))
    old, new = (np.load(path) for path in paths)
    different = sorted(set(old) ^ set(new))
    for key in sorted(set(old) & set(new)):
        a, b = old[key], new[key]
        if a.shape != b.shape or a.tobytes() != np.ascontiguousarray(b, dtype=a.dtype).tobytes():
            far = ""
            if a.shape == b.shape and a.dtype.kind == "f":
                far = f": by {np.nanmax(np.abs(a - b) / np.maximum(np.abs(a), 1e-300), initial=0.0):.1e} relative"
            elif a.dtype.kind == "U":
                far = f": {a} / {b}"
            different.append(key + far)
    problems = {key.partition(" | ")[0] for key in old}
    errors = [f"{key}: {old[key][0]}" for key in old if key.endswith("| error")]
    print(f"{len(problems)} problems, {len(old.files)} arrays: {len(different)} differ")
    for line in [*different, *errors]:
        print("  " + line)
    return not different


def compare_times(trees, rounds):
    names = trees[0].ask("arms")
    trees[1].ask("arms")
    best = {name: [math.inf, math.inf] for name in names}
    for turn in range(rounds):
        for name in names:
            for q in (0, 1) if turn % 2 == 0 else (1, 0):
                best[name][q] = min(best[name][q], trees[q].ask("time", name))
    print(f"{'':26s} {'old':>10s} {'new':>10s}   new / old")
    for name, (old, new) in best.items():
        print(f"{name:26s} {old * 1e6:8.2f}us {new * 1e6:8.2f}us   {new / old:.3f}")


def compare_starts(paths, folder, rounds=2):
    """From an empty cache, and from a filled one: seconds for the import and for the first solve."""
    for kind in ("cold", "warm"):
        best: list[dict[str, float]] = [{}, {}]
        for turn in range(rounds):
            for q, path in enumerate(paths):
                cache = folder / f"{q}-{turn if kind == 'cold' else 0}"
                cache.mkdir(exist_ok=True)
                tree = Tree(path, cache)
                for key, value in tree.ask("first").items():
                    best[q][key] = min(best[q].get(key, math.inf), value)
                tree.close()
        for key in best[0]:
            print(f"{kind} {key:14s} {best[0][key]:8.2f}s {best[1][key]:8.2f}s   {best[1][key] / best[0][key]:.3f}")


def main():
    parser = argparse.ArgumentParser(description="Compare two source trees: bits, and with --times also run time.")
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--no-bits", action="store_true")
    parser.add_argument("--starts", action="store_true", help="also time imports and first solves")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--cache", help="folder for compiled code, kept (default: a temporary one)")
    chosen = parser.parse_args()
    paths = [pathlib.Path(chosen.old).resolve(), pathlib.Path(chosen.new).resolve()]
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(chosen.cache or temporary)
        caches = [folder / f"cache-{q}" for q in range(2)]
        for cache in caches:
            cache.mkdir(parents=True, exist_ok=True)
        same = True
        if not chosen.no_bits or chosen.times:
            trees = [Tree(path, cache) for path, cache in zip(paths, caches, strict=True)]
            if not chosen.no_bits:
                same = compare_bits(trees, folder)
            if chosen.times:
                compare_times(trees, chosen.rounds)
            for tree in trees:
                tree.close()
        if chosen.starts:
            compare_starts(paths, folder)
    return 0 if same else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2])
    else:
        sys.exit(main())
