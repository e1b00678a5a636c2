"""Solo12, dropped level onto its four feet, next to MuJoCo with its own contacts on the same file: time, error, real-time factor.

Both sides get the same file with the same springs and dampers in its joints, which hold a stance; they differ in the contact.
Ours is a spring and a damper in N/m and N s/m. MuJoCo's is its soft contact with direct stiffness and damping (negative
solref), scaled with the foot's inverse weight and at the smallest impedance, so that both stand equally deep: the nearest
that its law comes. (Its force also depends on the other feet, and never pulls. Its friction is a constraint, ours is smooth.)

The error of each is against its own tight reference: the RMS over 100 times in one second and all states. Ours at rtol = 1e-12;
MuJoCo's with steps of 2 us (quick: 20), each integrator for itself; how far the two then agree is printed.
"""

import pathlib
from importlib.metadata import distribution

import numpy as np
from tqdm import tqdm

import bouligand as bd
from bouligand._optional import need
from bouligand.reporting.figures import COLOURS, pyplot, tidy
from bouligand.reporting.results import Run
from bouligand.reporting.tables import number, seconds, table
from bouligand.reporting.timing import interleaved, rms

FILE = "cmeel.prefix/share/example-robot-data/robots/solo_description/robots/solo12.urdf"
LEGS = ("FL", "FR", "HL", "HR")
TIMES = np.linspace(0.0, 1.0, 101)[1:]
STIFFNESS, DAMPING, RADIUS = 4000.0, 40.0, 0.016  # of a foot: N/m, N s/m, m
KP, KD = 4.0, 0.1  # of a joint: N m/rad, N m s/rad
MU, SLIP = 0.7, 0.05  # friction, and the speed (m/s) below which ours is rounded off
HEIGHT = 0.35  # of the base at the start, in m
STEPS = {
    "Euler": (5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5, 1e-5),
    "implicitfast": (5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5, 1e-5),
    "RK4": (5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5),
}
TOLERANCES = ((3e-2, None), (1e-2, None), (3e-3, None), *[(10.0**-k, None) for k in range(3, 11)])
TIGHT = {True: 2e-5, False: 2e-6}  # steps of MuJoCo's reference, quick or not
MARKS = tuple(10.0**-k for k in range(1, 10))
PROBLEMS = {"slippery": False, "with friction": True}


def stance():
    """Bent knees, front and hind legs mirrored; joints in the order of the file."""
    front = {"HAA": 0.0, "HFE": 0.8, "KFE": -1.6}
    return {f"{leg}_{joint}": a * (1.0 if leg[0] == "F" else -1.0) for leg in LEGS for joint, a in front.items()}


def with_springs(spec):
    """The file with springs and dampers in its joints."""
    angles = stance()
    for joint in spec.joints:
        joint.limited = False
        if joint.name in angles:
            joint.springref = angles[joint.name]
            for name, value in (("stiffness", KP), ("damping", KD)):  # (MuJoCo 4 has polynomials there)
                shape = np.shape(getattr(joint, name))
                setattr(joint, name, np.r_[value, np.zeros(shape[0] - 1)] if shape else value)


def path():
    need("mujoco", "mujoco")
    return pathlib.Path(str(distribution("example-robot-data").locate_file(FILE)))


def start(qpos):
    """Level, at rest, in its stance."""
    qpos[:7] = 0.0, 0.0, HEIGHT, 1.0, 0.0, 0.0, 0.0
    qpos[7:] = list(stance().values())


# --------------------------------------------------------------------------------------------------------------- ours


def ours(friction):
    from bouligand.bridges import mujoco as mj

    robot = mj.load(
        path(),
        contacts=[mj.Contact(site=f"{leg}_FOOT", radius=RADIUS) for leg in LEGS],
        law=mj.Spring(STIFFNESS, DAMPING),
        friction=mj.Coulomb(MU, SLIP) if friction else None,
        free_base=True,
        edit=with_springs,
    )
    x0 = robot.neutral()
    start(x0[: robot.model.nq])
    return robot, x0


class Ours:
    NAME = "bouligand"

    def __init__(self, robot, x0, rtol, atol=None):
        self.robot, self.x0 = robot, x0
        self.options = {"rtol": rtol, **({} if atol is None else {"atol": atol})}
        self.setting = ", ".join(f"{key} = {value:.0e}" for key, value in self.options.items())

    def run(self):
        return bd.solve(self.robot, (0.0, 1.0), self.x0, **self.options)

    def sample(self):
        return bd.solve(self.robot, (0.0, 1.0), self.x0, t_eval=TIMES, **self.options).x[
            :, : self.robot.model.nq + self.robot.model.nv
        ]


# ------------------------------------------------------------------------------------------------------------- MuJoCo


def own_contacts(friction, dt, integrator):
    """MuJoCo's model: balls at the feet, which touch the floor by its soft contact."""
    import mujoco

    from bouligand.bridges.mujoco.robot_file import read_model

    def edit(spec, weight=1.0):
        with_springs(spec)
        spec.option.timestep = dt
        spec.option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}")
        spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC  # (a pyramid makes the normal force softer or harder, too)
        spec.worldbody.add_geom(name="ground", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], contype=0)
        for leg in LEGS:
            site = next(site for site in spec.sites if site.name == f"{leg}_FOOT")
            site.parent.add_geom(
                name=f"{leg}_ball", type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[RADIUS, 0, 0], pos=site.pos, mass=0,
                conaffinity=0, priority=1, condim=3 if friction else 1, friction=[MU, 0.005, 1e-4],
                solref=[-STIFFNESS * weight, -DAMPING * weight], solimp=[1e-4, 1e-4, 1e-3, 0.5, 2],
            )  # fmt: skip

    model = read_model(path(), free_base=True, edit=edit)
    foot = model.geom(f"{LEGS[0]}_ball").bodyid[0]
    weight = float(model.body_invweight0[foot, 0])
    return read_model(path(), free_base=True, edit=lambda spec: edit(spec, weight))


class MuJoCo:
    def __init__(self, friction, integrator, dt):
        import mujoco

        self.mujoco = mujoco
        self.NAME = f"MuJoCo, {integrator}"
        self.setting = f"dt = {dt:.0e}"
        self.model = own_contacts(friction, dt, integrator)
        self.data = mujoco.MjData(self.model)
        self.count = round(1.0 / dt)

    def reset(self):
        self.mujoco.mj_resetData(self.model, self.data)
        start(self.data.qpos)

    def run(self):
        self.reset()
        self.mujoco.mj_step(self.model, self.data, self.count)
        return self

    def sample(self):
        self.reset()
        out = np.empty((TIMES.size, self.model.nq + self.model.nv))
        for row in out:
            self.mujoco.mj_step(self.model, self.data, self.count // TIMES.size)
            row[:] = np.r_[self.data.qpos, self.data.qvel]
        return out


# ---------------------------------------------------------------------------------------------------------- measuring


def measure(friction, quick):
    """Rows: arm, setting, error, seconds for one second of motion."""
    robot, x0 = ours(friction)
    known = {"bouligand": Ours(robot, x0, 1e-12).sample()}
    tight = TIGHT[quick]
    for integrator in {"RK4", "Euler", *STEPS}:
        known[f"MuJoCo, {integrator}"] = MuJoCo(friction, integrator, tight).sample()
    doubt = rms(known["MuJoCo, RK4"] - known["MuJoCo, Euler"])
    arms: list = [Ours(robot, x0, *tolerance) for tolerance in TOLERANCES]
    for integrator, steps in STEPS.items():
        arms += [MuJoCo(friction, integrator, dt) for dt in steps if dt > 10.0 * tight]
    rows, usable = [], []
    for arm in tqdm(arms, desc="quadruped, errors", leave=False, delay=2):
        row = {"arm": arm.NAME, "setting": arm.setting, "error": None, "seconds": None, "failed": None}
        rows.append(row)
        try:
            row["error"] = rms(arm.sample() - known[arm.NAME])
            usable.append((row, arm))
        except bd.SolveError as error:  # a refusal is a row too
            row["failed"] = type(error).__name__
    rounds = 5 if quick else 15
    with tqdm(total=rounds, desc="quadruped, timing", leave=False, delay=2) as bar:
        times = interleaved([arm.run for _, arm in usable], rounds, budget=1.0 if quick else 5.0, tick=bar.update)
    for (row, _), took in zip(usable, times, strict=True):
        row["seconds"] = took
    gap = rms(known["bouligand"] - known["MuJoCo, RK4"])
    events = len(Ours(robot, x0, 1e-8).run().events)
    return {"rows": rows, "doubt": doubt, "laws": gap, "events": events, "depth": depths(robot, friction)}


def depths(robot, friction):
    """How deep a foot stands at rest, in m: ours (weight over stiffness) and MuJoCo's, after five seconds."""
    arm = MuJoCo(friction, "Euler", 1e-4)
    arm.reset()
    arm.mujoco.mj_step(arm.model, arm.data, 50_000)
    weight = 9.81 * float(robot.model.body_mass.sum())
    return {"bouligand": weight / 4.0 / STIFFNESS, "MuJoCo": -float(np.mean([c.dist for c in arm.data.contact]))}


def best(rows, arms, mark):
    times = [r["seconds"] for r in rows if r["arm"] in arms and r["seconds"] and r["error"] <= mark]
    return min(times) if times else None


def printed(title, cell):
    rows = cell["rows"]
    lines = [
        (
            r["arm"],
            r["setting"],
            r["failed"] or number(r["error"]),
            seconds(r["seconds"]),
            f"{1.0 / r['seconds']:.3g}" if r["seconds"] else "-",
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
    text = (
        f"Solo12 dropped level, {title}: one second of motion, {cell['events']} events\n"
        + table(("", "setting", "RMS error", "time", "times real time"), lines)
        + f"\n(MuJoCo's reference is known to {cell['doubt']:.0e}; the two laws end {cell['laws']:.0e} apart in RMS; a foot "
        f"stands {1e3 * deep['bouligand']:.2f} mm deep, MuJoCo's {1e3 * deep['MuJoCo']:.2f} mm)\n\n"
        + table(("RMS error below", "bouligand", "MuJoCo", "MuJoCo over ours"), equal)
    )
    return text, ratios


def run(out, quick=False, only=None):
    """Measure, print, draw; returns what result.json holds. (``only`` is for benchmarks with other peers.)"""
    plt = pyplot()
    results = Run(
        out, "quadruped", {"quick": quick, "marks": MARKS}, packages=("mujoco", "matplotlib", "example-robot-data")
    )
    cells, lines, summary = {}, [], {}
    for title, friction in tqdm(PROBLEMS.items(), desc="quadruped", delay=2):
        cells[title] = results.cell(title.replace(" ", "-"), lambda f=friction: measure(f, quick))
        text, summary[title] = printed(title, cells[title])
        lines += [text, ""]
    results.figure(draw(plt, cells), "quadruped")
    plt.close("all")
    return results.finish(summary, "\n".join(lines))


def draw(plt, cells):
    """Time over error, a panel for each problem; real time as a line."""
    figure, axes = plt.subplots(1, len(cells), figsize=(5.2 * len(cells), 4.2), layout="constrained", squeeze=False)
    styles = {"bouligand": (COLOURS["bouligand"], "o-"), "MuJoCo, Euler": (COLOURS["MuJoCo"], "s-")}
    styles["MuJoCo, implicitfast"] = (COLOURS["PyBullet"], "v-")
    styles["MuJoCo, RK4"] = (COLOURS["MuJoCo, soft contact"], "^-")
    for ax, (title, cell) in zip(axes.flat, cells.items(), strict=True):
        for name, (colour, style) in styles.items():
            points = [(r["error"], r["seconds"]) for r in cell["rows"] if r["arm"] == name and r["seconds"]]
            if not points:
                continue
            ax.loglog(*zip(*points, strict=True), style, color=colour, ms=4, lw=1.6, label=name)
        ax.axhline(0.1, color="0.6", ls=":", lw=1)
        ax.text(5.0, 0.1, "ten times real time", va="bottom", ha="left", fontsize="small", color="0.4")
        tidy(ax, "RMS error, each against its own reference", "time for one second of motion (s)", f"Solo12, {title}")
        ax.set_xlim(10.0, 1e-12)
    axes[0, 0].legend(frameon=False, fontsize="small")
    return figure
