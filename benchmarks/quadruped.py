"""Robots from their files, next to MuJoCo with its own contacts on the same files: time, error, real-time factor.

Solo12 dropped level and in a trot, Gymnasium's ant, the Allegro hand closing on a ball: see `benchmarks.scenes` for what both
sides get, and how near MuJoCo's soft contact comes to a spring and a damper. (Its force also depends on the other contacts, and
never pulls. Its friction is a constraint, ours is smooth.)

The error of each is against its own tight reference: the RMS over 100 times and all states. Ours at rtol = 1e-12; MuJoCo's with
steps of 2 us (quick: 5), each integrator for itself; how far the two then agree is printed.
"""

import numpy as np
from tqdm import tqdm

import bouligand as bd
from bouligand._optional import need
from bouligand.reporting.figures import COLOURS, pyplot, tidy
from bouligand.reporting.results import Run
from bouligand.reporting.tables import number, seconds, table
from bouligand.reporting.timing import interleaved, rms

STEPS = {
    "Euler": (5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5, 1e-5),
    "implicitfast": (5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5, 1e-5),
    "RK4": (5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5),
}
TOLERANCES = ((1e-1, None), (3e-2, None), (1e-2, None), (3e-3, None), *[(10.0**-k, None) for k in range(3, 11)])
TIGHT = {True: 5e-6, False: 2e-6}  # steps of MuJoCo's reference, quick or not
MARKS = (1.0, *[10.0**-k for k in range(1, 10)])
# title -> its scene in `benchmarks.scenes`, and whether there is friction
PROBLEMS = {
    "slippery": ("Drop", False),
    "with friction": ("Drop", True),
    "trot": ("Trot", True),
    "ant, slippery": ("Ant", False),
    "ant, with friction": ("Ant", True),
    "Allegro, slippery": ("Hand", False),
    "Allegro, with friction": ("Hand", True),
}


class Ours:
    NAME = "bouligand"

    def __init__(self, robot, x0, duration, rtol, atol=None):
        self.robot, self.x0, self.duration = robot, x0, duration
        self.options = {"rtol": rtol, **({} if atol is None else {"atol": atol})}
        self.setting = ", ".join(f"{key} = {value:.0e}" for key, value in self.options.items())

    def run(self):
        return bd.solve(self.robot, (0.0, self.duration), self.x0, **self.options)

    def sample(self, times):
        sol = bd.solve(self.robot, (0.0, self.duration), self.x0, t_eval=times, **self.options)
        return sol.x[:, : self.robot.model.nq + self.robot.model.nv]


def measure(problem, quick):
    """Rows: arm, setting, error, seconds for the whole motion; and what the scene is."""
    from . import scenes

    scene = getattr(scenes, problem[0])(problem[1])
    times = np.linspace(0.0, scene.duration, 101)[1:]
    robot, x0 = scene.ours()
    known = {"bouligand": Ours(robot, x0, scene.duration, 1e-12).sample(times)}
    tight = TIGHT[quick]
    for integrator in tqdm(dict.fromkeys(("RK4", "Euler", *STEPS)), desc="references", leave=False, delay=2):
        known[f"MuJoCo, {integrator}"] = scenes.MuJoCo(scene, integrator, tight).sample(times)
    doubt = rms(known["MuJoCo, RK4"] - known["MuJoCo, Euler"])
    arms: list = [Ours(robot, x0, scene.duration, *tolerance) for tolerance in TOLERANCES]
    for integrator, steps in STEPS.items():
        arms += [scenes.MuJoCo(scene, integrator, dt) for dt in steps if dt > 10.0 * tight]
    rows, usable = [], []
    for arm in tqdm(arms, desc=f"{scene.name}, errors", leave=False, delay=2):
        row = {"arm": arm.NAME, "setting": arm.setting, "error": None, "seconds": None, "failed": None}
        rows.append(row)
        try:
            row["error"] = rms(arm.sample(times) - known[arm.NAME])
            usable.append((row, arm))
        except bd.SolveError as error:  # a refusal is a row too
            row["failed"] = type(error).__name__
    rounds = 5 if quick else 15
    with tqdm(total=rounds, desc=f"{scene.name}, timing", leave=False, delay=2) as bar:
        took = interleaved([arm.run for _, arm in usable], rounds, budget=1.0 if quick else 5.0, tick=bar.update)
    for (row, _), one in zip(usable, took, strict=True):
        row["seconds"] = one
    return {
        "name": scene.name,
        "duration": scene.duration,
        "friction": scene.friction,
        "rows": rows,
        "doubt": doubt,
        "laws": rms(known["bouligand"] - known["MuJoCo, RK4"]),
        "events": len(Ours(robot, x0, scene.duration, 1e-8).run().events),
        "depth": depths(scenes, scene, robot),
    }


def depths(scenes, scene, robot):
    """How deep a foot stands at rest, in m: ours (weight over stiffness) and MuJoCo's, after five seconds; None if nothing
    stands."""
    if not scene.stands:
        return None
    arm = scenes.MuJoCo(scene, "Euler", 1e-4)
    arm.reset()
    arm.steps(50_000)
    weight = 9.81 * float(robot.model.body_mass.sum())
    deep = weight / len(robot.places) / scene.stiffness
    return {"bouligand": deep, "MuJoCo": -float(np.mean([c.dist for c in arm.data.contact]))}


def best(rows, arms, mark):
    times = [r["seconds"] for r in rows if r["arm"] in arms and r["seconds"] and r["error"] <= mark]
    return min(times) if times else None


def called(cell):
    """What it is, in words."""
    return f"{cell['name']}, {'with friction' if cell['friction'] else 'slippery'}"


def printed(cell):
    rows = cell["rows"]
    lines = [
        (
            r["arm"],
            r["setting"],
            r["failed"] or number(r["error"]),
            seconds(r["seconds"]),
            f"{cell['duration'] / r['seconds']:.3g}" if r["seconds"] else "-",
        )
        for r in rows
    ]
    theirs = [name for name in dict.fromkeys(r["arm"] for r in rows) if name != "bouligand"]
    equal, ratios = [], {}
    for mark in MARKS:
        a, b = best(rows, ["bouligand"], mark), best(rows, theirs, mark)
        ratios[f"{mark:.0e}"] = b / a if a and b else None
        equal.append((f"{mark:.0e}", seconds(a), seconds(b), f"{b / a:.2g}" if a and b else "-"))
    deep = cell["depth"]
    stands = (
        f"; a foot stands {1e3 * deep['bouligand']:.2f} mm deep, MuJoCo's {1e3 * deep['MuJoCo']:.2f} mm" if deep else ""
    )
    text = (
        f"{called(cell)}: {cell['duration']:g} s of motion, {cell['events']} events\n"
        + table(("", "setting", "RMS error", "time", "times real time"), lines)
        + f"\n(MuJoCo's reference is known to {cell['doubt']:.0e}; the two laws end {cell['laws']:.0e} apart in RMS{stands})\n\n"
        + table(("RMS error below", "bouligand", "MuJoCo", "MuJoCo over ours"), equal)
    )
    return text, ratios


def run(out, quick=False, only=None):
    """Measure, print, draw; returns what result.json holds. (``only`` is for benchmarks with other peers.)"""
    need("mujoco", "mujoco")
    plt = pyplot()
    results = Run(
        out,
        "quadruped",
        {"quick": quick, "marks": MARKS},
        packages=("mujoco", "matplotlib", "example-robot-data", "gymnasium"),
    )
    cells, lines, summary = {}, [], {}
    for title, problem in tqdm(PROBLEMS.items(), desc="quadruped", delay=2):
        name = title.replace(", ", "-").replace(" ", "-")
        cells[title] = results.cell(name, lambda problem=problem: measure(problem, quick))
        text, summary[title] = printed(cells[title])
        lines += [text, ""]
    results.figure(draw(plt, cells), "quadruped")
    plt.close("all")
    return results.finish(summary, "\n".join(lines))


def draw(plt, cells):
    """Time over error, a panel for each problem; real time as a line."""
    wide = min(len(cells), 4)
    tall = -(-len(cells) // wide)
    figure, axes = plt.subplots(tall, wide, figsize=(4.2 * wide, 3.8 * tall), layout="constrained", squeeze=False)
    styles = {"bouligand": (COLOURS["bouligand"], "o-"), "MuJoCo, Euler": (COLOURS["MuJoCo"], "s-")}
    styles["MuJoCo, implicitfast"] = (COLOURS["MuJoCo, pads"], "v-")
    styles["MuJoCo, RK4"] = (COLOURS["MuJoCo, soft contact"], "^-")
    for ax, cell in zip(axes.flat, cells.values(), strict=False):
        for name, (colour, style) in styles.items():
            points = [(r["error"], r["seconds"]) for r in cell["rows"] if r["arm"] == name and r["seconds"]]
            if not points:
                continue
            ax.loglog(*zip(*points, strict=True), style, color=colour, ms=4, lw=1.6, label=name)
        tenth = 0.1 * cell["duration"]
        ax.axhline(tenth, color="0.6", ls=":", lw=1)
        # (at the right: MuJoCo's curves are on the left)
        ax.text(1.5e-12, tenth, "ten times real time", va="bottom", ha="right", fontsize="small", color="0.4")
        tidy(
            ax,
            "RMS error, each against its own reference",
            f"time for {cell['duration']:g} s of motion (s)",
            called(cell),
        )
        ax.set_xlim(10.0, 1e-12)
    for ax in list(axes.flat)[len(cells) :]:
        ax.set_axis_off()
    axes[0, 0].legend(frameon=False, fontsize="small")
    return figure
