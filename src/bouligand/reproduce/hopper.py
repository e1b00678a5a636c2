"""The paper's calibration (section 5.1): the 1D hopper against MuJoCo at dt = 0.002, from t = 0 to 2.

The target is MuJoCo's RMS error from the exact solution, over its 1,000 steps and both states. Then

- the paper's method (bands and projections, steps no longer than dt): the width eps' at which its error is the target, by
  bisection, for each order of projection;
- our default: the largest rtol at which its error, and that of every smaller rtol tried, is below the target;

and the times of all, measured in turn. The paper: eps' = 0.13, MuJoCo 2.436 ms, theirs 10.251 ms.
"""

import numpy as np
from tqdm import tqdm

from .._optional import need
from ..errors import SolveError
from ..integration.solve import solve
from ..models.hopper import START, exact
from ..models.hopper import hopper as make_hopper
from ..reporting.figures import COLOURS, pyplot, tidy
from ..reporting.results import Run
from ..reporting.tables import number, seconds, table
from ..reporting.timing import interleaved, rms
from . import mujoco_models

SPAN = (0.0, 2.0)
DT = mujoco_models.DT
SAMPLES = 1000
TIMES = np.linspace(*SPAN, SAMPLES + 1)[1:]
PROJECTIONS = (2, 3, 5)
PAPER = {"eps": 0.13, "mujoco": 2.436e-3, "ours": 10.251e-3}


def settings(quick):
    return {"dt": DT, "span": SPAN, "rounds": 5 if quick else 25, "widths": [1e-4, 0.15], "quick": quick}


def mujoco_run():
    return mujoco_models.Stepping(mujoco_models.hopper(), START, SPAN[1])


def banded(system, eps, projection, **options):
    """The paper's method: bands of one width, dopri5 with steps no longer than MuJoCo's."""
    return solve(system, SPAN, START, eps=eps, projection=projection, method="dopri5", max_step=DT, **options)


def error(states):
    return rms(states - exact(TIMES))


def calibrate(system, target, projection, widths=(1e-4, 0.15), steps=30):
    """Bisection for the width whose error is the target; (eps, error) of every trial. What `solve` refuses is too wide."""
    low, high = widths
    trials = []
    for _ in range(steps):
        eps = float(np.sqrt(low * high))
        try:
            reached = error(banded(system, eps, projection, t_eval=TIMES).x)
        except SolveError:
            reached = np.inf
        trials.append((eps, reached))
        low, high = (eps, high) if reached < target else (low, eps)
    return {"eps": low, "error": error(banded(system, low, projection, t_eval=TIMES).x), "trials": trials}


def largest_rtol(system, target):
    """The largest rtol at which the error is below the target, there and at every smaller one tried."""
    chosen = None
    for rtol in np.logspace(-8, -2, 25):
        reached = error(solve(system, SPAN, START, rtol=rtol, t_eval=TIMES).x)
        if reached > target:
            break
        chosen = {"rtol": float(rtol), "error": reached}
    if chosen is None:
        raise RuntimeError(f"no tolerance down to 1e-8 has an error below {target:.1e}")
    return chosen


def times(system, widths, rtol, rounds):
    """Median times of one run to the end, then of one that also returns the 1,000 states."""
    mujoco, stepping = need("mujoco.rollout", "mujoco"), mujoco_run()
    initial = np.r_[0.0, START]

    def roll():
        return mujoco.rollout(stepping.model, stepping.data, initial, nstep=SAMPLES)

    runs = {"MuJoCo": stepping.run}
    for order, eps in widths.items():
        runs[f"bands, order {order}"] = lambda e=eps, q=order: banded(system, e, q).x[-1]
    runs["default"] = lambda: solve(system, SPAN, START, rtol=rtol).x[-1]
    runs["MuJoCo, with 1,000 states"] = roll
    runs["default, with 1,000 states"] = lambda: solve(system, SPAN, START, rtol=rtol, t_eval=TIMES).x
    with tqdm(total=rounds, desc="hopper, timing", unit="round", delay=2) as bar:
        return dict(zip(runs, interleaved(list(runs.values()), rounds, tick=bar.update), strict=True))


def run(out, quick=False):
    """Measure, print, draw; returns the contents of result.json."""
    plt = pyplot()
    need("mujoco", "mujoco")
    chosen = settings(quick)
    results = Run(out, "hopper", chosen, packages=("mujoco", "matplotlib"))
    system = make_hopper()
    target = results.cell("mujoco", lambda: {"error": error(mujoco_run().sample(SAMPLES))})["error"]
    found = {}
    for order in tqdm(PROJECTIONS, desc="hopper, bisection", delay=2):
        found[order] = results.cell(f"order-{order}", lambda q=order: calibrate(system, target, q, chosen["widths"]))
    default = results.cell("default", lambda: largest_rtol(system, target))
    measured = results.cell(
        "times",
        lambda: times(system, {q: found[q]["eps"] for q in PROJECTIONS}, default["rtol"], chosen["rounds"]),
    )
    results.figure(draw(plt, system, found[2]["eps"], default["rtol"]), "hopper")
    plt.close("all")
    summary = {
        "eps'": found[2]["eps"],
        "rtol": default["rtol"],
        "MuJoCo's error": target,
        "MuJoCo over default": measured["MuJoCo"] / measured["default"],
        "MuJoCo over bands of order 2": measured["MuJoCo"] / measured["bands, order 2"],
        "with 1,000 states": measured["MuJoCo, with 1,000 states"] / measured["default, with 1,000 states"],
    }
    return results.finish(summary, report(target, found, default, measured))


def report(target, found, default, measured):
    base, full = measured["MuJoCo"], measured["MuJoCo, with 1,000 states"]
    rows = [("MuJoCo, dt = 0.002", "", number(target), seconds(base), "1")]
    for order, c in found.items():
        took = measured[f"bands, order {order}"]
        name = f"bands, order {order}{' (the paper)' if order == 2 else ''}, steps up to 0.002"
        rows.append((name, f"eps' = {c['eps']:.2e}", number(c["error"]), seconds(took), f"{base / took:.3g}"))
    took, whole = measured["default"], measured["default, with 1,000 states"]
    tolerance = f"rtol = {default['rtol']:.1e}"
    rows.append(("default", tolerance, number(default["error"]), seconds(took), f"{base / took:.3g}"))
    rows.append(("MuJoCo, returning 1,000 states (rollout)", "", number(target), seconds(full), "1"))
    rows.append(
        ("default, returning 1,000 states", tolerance, number(default["error"]), seconds(whole), f"{full / whole:.3g}")
    )
    return (
        "Hopper, 2 s, at MuJoCo's error: RMS over 1,000 times and both states, from the exact solution\n"
        + table(("", "setting", "RMS error", "time", "times faster"), rows)
        + f"\n(the paper: eps' = {PAPER['eps']}, MuJoCo {PAPER['mujoco'] * 1e3} ms, theirs {PAPER['ours'] * 1e3} ms)"
    )


def draw(plt, system, eps, rtol):
    """The paper's figure: trajectories above, residuals below, positions left, velocities right."""
    known = exact(TIMES)
    curves = (
        ("MuJoCo, dt = 0.002", mujoco_run().sample(SAMPLES), COLOURS["MuJoCo"], "--"),
        (f"the paper's bands, eps' = {eps:.1e}", banded(system, eps, 2, t_eval=TIMES).x, "#e08a8a", "-"),
        (f"default, rtol = {rtol:.0e}", solve(system, SPAN, START, rtol=rtol, t_eval=TIMES).x, "#c1272d", "-"),
    )
    figure, axes = plt.subplots(2, 2, figsize=(9.5, 6), sharex=True, layout="constrained")
    for column, (name, unit) in enumerate((("height z", "m"), ("velocity vz", "m/s"))):
        above, below = axes[:, column]
        above.plot(TIMES, known[:, column], ":", color="0.5", lw=2.5, label="exact")
        for label, states, colour, style in curves:
            above.plot(TIMES, states[:, column], style, color=colour, lw=1.2, label=label)
            below.plot(TIMES, states[:, column] - known[:, column], style, color=colour, lw=1.2)
        tidy(above, "", f"{name} ({unit})")
        tidy(below, "time (s)", f"residual of {name} ({unit})")
        below.set_xlim(*SPAN)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False)
    return figure
