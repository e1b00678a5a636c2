"""Random drops of legged robots: how many complete at each tolerance, how large their errors are, and what they cost.

    python -m benchmarks drops
    python -m benchmarks.drops --robots solo12,ant --laws Spring --friction no --count 40 --rtol 1e-2,1e-3

Each drop is 0.5 s long: a random pose about a stance, a random tilt, random velocities, the lowest foot a few
centimetres above the floor. The error is that of the state at the end, its largest component in tolerances (``atol +
rtol |x|``), against a reference at rtol = 1e-9. kappa is how much a small error grows until the end, measured for each
drop: the state of the reference is moved by a part of a tolerance, at four times, and integrated again. A grazing foot
must be decided somehow: an integration that is
refused (GrazingError) is of no use, and one that decides wrongly has an error far above kappa tolerances.
"""

import argparse
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from tests.helpers import robots
from tqdm import tqdm

import bouligand as bd
from bouligand.bridges import mujoco as mj
from bouligand.reporting.tables import table

DURATION = 0.5
REFERENCE = 1e-9
SHIFT = 1e-7  # of the state, relative as a tolerance is, to measure kappa
TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
LAWS = {
    "Spring": lambda firm: mj.Spring(5000.0 * firm, 30.0 * firm),
    "HuntCrossley": lambda firm: mj.HuntCrossley(1e5 * firm, 0.5),
}
FRICTION = {"no": None, "yes": mj.Coulomb(0.7, 0.05)}


@dataclass(frozen=True)
class Kind:
    """A robot file and how it stands: angles of its joints in the order of its inputs, gains, and how firm its feet
    are."""

    file: object
    stance: tuple = ()
    kp: float = 0.0
    kd: float = 0.0
    firm: float = 1.0
    options: dict = field(default_factory=dict)


_FREE = {"contacts": "feet", "limits": "ignore", "free_base": True}
KINDS = {
    "solo12": Kind(
        robots.SOLO, tuple(robots.STANCE.values()), 30.0, 0.5, options={**_FREE, "contacts": "*_FOOT"}
    ),
    "go2": Kind(robots.GO2, (0.0, 0.8, -1.6) * 4, 100.0, 3.0, 3.0, _FREE),
    "anymal_c": Kind(robots.ANYMAL_C, (0.0, 0.6, -1.2) * 2 + (0.0, -0.6, 1.2) * 2, 400.0, 10.0, 10.0, _FREE),
    "ant": Kind(robots.ANT, options={"contacts": "feet", "limits": "ignore"}),
}  # fmt: skip


def load(kind, law, friction):
    """The robot, and its stance as a state."""
    control = {"control": mj.PD(list(kind.stance), kp=kind.kp, kd=kind.kd)} if kind.stance else {}
    robot = robots.quietly(kind.file, law=LAWS[law](kind.firm), friction=FRICTION[friction], **kind.options, **control)
    x = robot.neutral()
    if kind.stance:
        x[7 : robot.model.nq] = kind.stance
    else:  # in the middle of the joints' ranges
        x[7 : robot.model.nq] = robot.model.jnt_range[1:].mean(axis=1)
    return robot, x


def start(robot, stance, seed):
    """A random start about the stance: its lowest foot 1 to 6 cm above the floor."""
    rng = np.random.default_rng(seed)
    x, nq, nv = stance.copy(), robot.model.nq, robot.model.nv
    x[4:7] = 0.15 * rng.normal(size=3)
    x[3:7] /= np.linalg.norm(x[3:7])
    x[7:nq] += 0.15 * rng.normal(size=nq - 7)
    x[nq : nq + 3] = 0.3 * rng.normal(size=3)
    x[nq + 3 : nq + nv] = rng.normal(size=nv - 3)
    radius = np.array([place.radius for place in robot.places])
    x[2] += rng.uniform(0.01, 0.06) - (robot.points(x)[:, 2] - radius).min()
    return x


def amplification(robot, reference, seed):
    """kappa: the largest growth, until the end, of a small error made at one of four times; in tolerances of the
    state."""
    rng = np.random.default_rng(seed)
    end, largest = reference.x[-1], 1.0
    for t in (0.0, 0.12, 0.2, 0.35):
        x = reference(t)
        size = SHIFT * (0.01 + np.abs(x))
        moved = x + size * rng.choice((-1.0, 1.0), size=x.size)
        other = bd.solve(robot, (t, DURATION), moved, rtol=REFERENCE, on_graze="go on").x[-1]
        largest = max(largest, (np.abs(other - end) / (SHIFT * (0.01 + np.abs(end)))).max())
    return largest


def measure(kind, law, friction, count, tolerances, tick):
    """Rows, one for each tolerance: completed, why others did not, errors, kappa, evaluations of f."""
    robot, stance = load(kind, law, friction)
    runs = []
    for seed in range(count):
        x0 = start(robot, stance, seed)
        try:
            reference = bd.solve(robot, (0.0, DURATION), x0, rtol=REFERENCE, on_graze="go on")
            kappa = amplification(robot, reference, seed)
        except bd.SolveError:
            reference, kappa = None, np.nan
        for rtol in tolerances:
            sol = bd.solve(robot, (0.0, DURATION), x0, rtol=rtol, on_failure="return")
            error = np.nan
            if sol.success and reference is not None:
                end = reference.x[-1]
                error = (np.abs(sol.x[-1] - end) / (rtol * (0.01 + np.abs(end)))).max()
            failed = None if sol.success else type(sol.error).__name__
            runs.append((rtol, failed, error, kappa, sol.nfev, len(sol.margins)))
        tick()
    rows = []
    for rtol in tolerances:
        these = [run for run in runs if run[0] == rtol]
        errors, kappas = np.array([(run[2], run[3]) for run in these]).T
        why = Counter(run[1] for run in these if run[1])
        usable = np.isfinite(errors)
        some = [f"{np.median(errors[usable]):.2g}", f"{errors[usable].max():.3g}"] if usable.any() else ["-", "-"]
        worst = f"{(errors[usable] / kappas[usable]).max():.2g}" if usable.any() else "-"
        calls = [run[4] for run in these if not run[1]]
        rows.append(
            (
                f"{rtol:.0e}",
                f"{count - sum(why.values())} of {count}",
                *some,
                f"{np.nanmedian(kappas):.3g}" if np.isfinite(kappas).any() else "-",
                worst,
                f"{np.mean(calls):.0f}" if calls else "-",
                f"{np.mean([run[5] for run in these]):.2g}",
                ", ".join(f"{n} {name}" for name, n in why.items()),
            )
        )
    return rows


HEAD = (
    "rtol",
    "completed",
    "error: median",
    "largest",
    "median kappa",
    "largest error / kappa",
    "f",
    "margins",
    "refused",
)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.drops", description=__doc__.split("\n")[0])
    parser.add_argument("--robots", default=",".join(KINDS), help="names, with commas (%(default)s)")
    parser.add_argument("--laws", default=",".join(LAWS), help="%(default)s")
    parser.add_argument("--friction", default=",".join(FRICTION), help="%(default)s")
    parser.add_argument("--count", type=int, default=40, help="drops of each (%(default)s)")
    parser.add_argument("--rtol", default=",".join(f"{r:.0e}" for r in TOLERANCES), help="tolerances (%(default)s)")
    chosen = parser.parse_args([] if arguments is None else arguments)
    picked = {}
    for name, known in (("robots", KINDS), ("laws", LAWS), ("friction", FRICTION)):
        picked[name] = getattr(chosen, name).split(",")
        unknown = set(picked[name]) - set(known)
        if unknown:
            parser.error(f"--{name}: unknown {', '.join(sorted(unknown))}; choose from {', '.join(known)}")
    try:
        tolerances = [float(r) for r in chosen.rtol.split(",")]
    except ValueError:
        parser.error(f"--rtol: numbers with commas; got {chosen.rtol!r}")
    if chosen.count < 1:
        parser.error(f"--count: at least one drop; got {chosen.count}")
    cells = [(r, law, fr) for r in picked["robots"] for law in picked["laws"] for fr in picked["friction"]]
    with tqdm(total=len(cells) * chosen.count, desc="drops", delay=2) as bar:
        for name, law, friction in cells:
            rows = measure(KINDS[name], law, friction, chosen.count, tolerances, bar.update)
            with_it = "with friction" if friction == "yes" else "without friction"
            print(f"{name}, {law}, {with_it}: {chosen.count} drops of {DURATION} s\n{table(HEAD, rows)}\n", flush=True)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
