"""Random drops of legged robots: how many complete at each tolerance, how large their errors are, and what they cost.

    python -m benchmarks drops
    python -m benchmarks.drops --robots solo12,ant --laws Spring --friction no --count 40 --rtol 1e-2,1e-3

Each drop is 0.5 s long: a random pose about a stance, a random tilt, random velocities, the lowest foot a few
centimetres above the floor. The error is that of the state at the end, its largest component in tolerances (``atol +
rtol |x|``), against a reference at rtol = 1e-9. kappa is by how much an error of a tolerance in each state may grow until
the end: a number for each state there, from the derivative with respect to the state at five times along the reference
of each drop. "error / kappa" is the largest of all states and drops. A grazing foot must be decided somehow: an
integration that is refused (GrazingError) is of no use, and one that decides wrongly has an error far above kappa.
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
DERIVATIVE = 1e-6  # tolerance with which kappa is measured, which takes two digits only,
MOMENTS = np.linspace(0.0, 0.4, 5)  # and from when on
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


def amplification(robot, reference):
    """kappa: by how much an error of a tolerance in each state, made at one of some times, may grow until the end. For each
    state there, the largest row sum of the derivative with respect to the state at that time; both in tolerances."""
    end = reference.x[-1]
    largest = np.ones(robot.n)
    for t in MOMENTS:
        x = reference(t)
        B = bd.solve(robot, (t, DURATION), x, rtol=DERIVATIVE, on_graze="go on").bderivative()
        # (two guards may be crossed within the tolerance of each other: then there is a matrix for either order)
        for dx in (tolerance(x), -tolerance(x)) if B.corners else (None,):
            largest = np.maximum(largest, np.abs(B.matrix(dx)) @ tolerance(x) / tolerance(end))
    return largest


def tolerance(x):
    """That of each state, over rtol."""
    return 0.01 + np.abs(x)


def measure(kind, law, friction, count, tolerances, tick):
    """Rows, one for each tolerance: completed, why others did not, errors, kappa, evaluations of f."""
    robot, stance = load(kind, law, friction)
    runs = []
    for seed in range(count):
        x0 = start(robot, stance, seed)
        try:
            reference = bd.solve(robot, (0.0, DURATION), x0, rtol=REFERENCE, on_graze="go on")
            kappa = amplification(robot, reference)
        except bd.BouligandError:
            reference, kappa = None, np.full(robot.n, np.nan)
        for rtol in tolerances:
            sol = bd.solve(robot, (0.0, DURATION), x0, rtol=rtol, on_failure="return")
            error = np.full(robot.n, np.nan)
            if sol.success and reference is not None:
                error = np.abs(sol.x[-1] - reference.x[-1]) / (rtol * tolerance(reference.x[-1]))
            failed = None if sol.success else type(sol.error).__name__
            runs.append((rtol, failed, error.max(), (error / kappa).max(), kappa.max(), sol.nfev, len(sol.margins)))
        tick()
    return [row(rtol, [run[1:] for run in runs if run[0] == rtol]) for rtol in tolerances]


def row(rtol, runs):
    """Of the table, for the drops at one tolerance."""
    failed, errors, shares, kappas, calls, margins = zip(*runs, strict=True)
    why = Counter(name for name in failed if name)
    known = np.isfinite(errors)
    return (
        f"{rtol:.0e}",
        f"{len(runs) - sum(why.values())} of {len(runs)}",
        *([f"{np.median(np.array(errors)[known]):.2g}", f"{np.nanmax(errors):.3g}"] if known.any() else ["-", "-"]),
        f"{np.nanmedian(kappas):.3g}" if np.isfinite(kappas).any() else "-",
        f"{np.nanmax(shares):.2g}" if known.any() else "-",
        f"{np.mean([f for f, name in zip(calls, failed, strict=True) if not name] or [np.nan]):.0f}",
        f"{np.mean(margins):.2g}",
        ", ".join(f"{n} {name}" for name, n in why.items()),
    )


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
