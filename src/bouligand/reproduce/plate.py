"""The paper's experiment (section 5.2): a plate falls onto a bed of springs, run time against the number of contacts.

Four methods, run in turn from the same random starts (z in (2, 3), theta in (-0.1, 0.1), at rest, centred, seeded) for every
number of contacts: our default, the paper's bands at the width that the `hopper` calibrates, and MuJoCo with two models of the
plate (`mujoco_models`). Printed: the median time; the marginal cost per contact, which is its derivative; and the RMS error over
1,000 times of each method against the 1e-10 solution of its own contact law. The paper stopped at 100 contacts; this goes to
1,000.
"""

import time

import numpy as np
from tqdm import tqdm

from .._optional import need
from ..integration.solve import solve
from ..models.hopper import hopper as make_hopper
from ..models.plate import plate as make_plate
from ..reporting.figures import COLOURS, pyplot, tidy
from ..reporting.results import Run
from ..reporting.tables import number, seconds, table
from ..reporting.timing import rms
from . import hopper, mujoco_models

SPAN = (0.0, 2.0)
SAMPLES = 1000
TIMES = np.linspace(*SPAN, SAMPLES + 1)[1:]
PAPER_RANGE = 100
METHODS = ("bouligand", "the paper's bands", "MuJoCo, pads", "MuJoCo, soft contact")
STYLE = {
    "bouligand": (COLOURS["bouligand"], "-"),
    "the paper's bands": ("#e08a8a", "-."),
    "MuJoCo, pads": (COLOURS["MuJoCo, pads"], "--"),
    "MuJoCo, soft contact": (COLOURS["MuJoCo, soft contact"], "--"),
}


def settings(quick):
    return {
        "contacts": [2, 8, 32, 100, 300, 1000]
        if quick
        else [2, 4, 8, 16, 24, 32, 40, 50, 60, 70, 80, 90, 100, 150, 200, 300, 500, 700, 1000],
        "starts": 20 if quick else 120,
        "starts for the error": 1 if quick else 5,
        "largest MuJoCo reference": 32 if quick else 100,  # its accelerations at 1e-10: minutes beyond
        "rtol": 1e-4,
        "dt": mujoco_models.DT,
        "seed": 2402,
        "quick": quick,
    }


def starts(count, seed):
    """Random starts at rest, centred over the bed."""
    rng = np.random.default_rng(seed)
    out = np.zeros((count, 6))
    out[:, 1] = rng.uniform(2.0, 3.0, count)
    out[:, 2] = rng.uniform(-0.1, 0.1, count)
    return out


class Methods:
    """The four ways to run one plate from a start: ``run`` to the end, ``sample`` at the 1,000 times."""

    def __init__(self, contacts, rtol, eps):
        self.system = make_plate(contacts)
        self.options = {
            "bouligand": {"rtol": rtol},
            "the paper's bands": {"rtol": rtol, "eps": eps, "method": "dopri5", "max_step": mujoco_models.DT},
        }
        zero = np.zeros(6)
        self.steppings = {
            "MuJoCo, pads": mujoco_models.Stepping(mujoco_models.pads(contacts), zero, SPAN[1]),
            "MuJoCo, soft contact": mujoco_models.Stepping(mujoco_models.soft(contacts), zero, SPAN[1]),
        }

    def run(self, method, x0):
        """To the end; whether it got there."""
        if method in self.options:
            return solve(self.system, SPAN, x0, on_failure="return", **self.options[method]).success
        stepping = self.steppings[method]
        stepping.start(x0)
        stepping.run()
        return not stepping.unstable()

    def error(self, method, x0):
        """RMS error over the samples, against the tight solution of the method's own law."""
        if method in self.options:
            sol = solve(self.system, SPAN, x0, t_eval=TIMES, on_failure="return", **self.options[method])
            return rms(sol.x - solve(self.system, SPAN, x0, rtol=1e-11, t_eval=TIMES).x) if sol.success else None
        stepping = self.steppings[method]
        stepping.start(x0)
        return rms(stepping.sample(SAMPLES) - mujoco_models.converged(stepping.model, x0, TIMES))


def measure_times(methods, initial):
    """Seconds of every method from every start, the methods in turn; short runs are repeated to a millisecond."""
    times: dict[str, list] = {method: [] for method in METHODS}
    reached = dict.fromkeys(METHODS, 0)
    for method in METHODS:
        methods.run(method, initial[0])
    for x0 in tqdm(initial, desc=f"plate, {methods.system.m} contacts, times", unit="start", leave=False, delay=2):
        for method in METHODS:
            began, count = time.perf_counter(), 0
            while count == 0 or time.perf_counter() - began < 1e-3:
                ended = methods.run(method, x0)
                count += 1
            times[method].append((time.perf_counter() - began) / count)
            reached[method] += ended
    return {"seconds": times, "reached the end": reached}


def measure_errors(methods, initial, largest):
    """Median error of every method over some starts; none for MuJoCo where its reference would take minutes."""
    out = {}
    for method in METHODS:
        if method in methods.options or methods.system.m <= largest:
            todo = tqdm(initial, desc=f"plate, {methods.system.m} contacts, {method}, error", leave=False, delay=2)
            errors = [e for x0 in todo if (e := methods.error(method, x0)) is not None]
            out[method] = float(np.median(errors)) if errors else None
        else:
            out[method] = None
    return out


def run(out, quick=False, **changes):
    """Measure, print, draw; returns the contents of result.json. ``changes`` to the settings are for small tests."""
    plt = pyplot()
    need("mujoco", "mujoco")
    chosen = {**settings(quick), **changes}
    results = Run(out, "plate", chosen, packages=("mujoco", "matplotlib"))
    initial = starts(chosen["starts"], chosen["seed"])
    eps = results.cell("eps", calibrated)
    cells = {}
    for m in tqdm(chosen["contacts"], desc="plate", unit="size", delay=2):
        keys = (f"times-{m:05d}", f"errors-{m:05d}")
        methods = None if all(results.has(key) for key in keys) else Methods(m, chosen["rtol"], eps)
        timed = results.cell(keys[0], lambda a=methods: measure_times(a, initial))
        few = initial[: chosen["starts for the error"]]
        errors = results.cell(
            keys[1], lambda a=methods, x=few: measure_errors(a, x, chosen["largest MuJoCo reference"])
        )
        cells[m] = {"timed": timed, "errors": errors}
    summary = summarise(cells)
    results.figure(draw(plt, cells, summary), "plate")
    plt.close("all")
    return results.finish(summary, report(cells, summary, chosen, eps))


def calibrated():
    """The width of the bands from the hopper's calibration."""
    target = hopper.error(hopper.mujoco_run().sample(hopper.SAMPLES))
    return hopper.calibrate(make_hopper(), target, 2)["eps"]


def summarise(cells):
    """Medians, marginal costs, and the ratios that the paper's claim is about."""
    sizes = np.array(list(cells))
    medians = {a: np.array([np.median(cells[m]["timed"]["seconds"][a]) for m in sizes]) for a in METHODS}
    paper = sizes <= PAPER_RANGE
    slopes = {a: np.polyfit(sizes[paper], medians[a][paper], 1)[0] if paper.sum() > 1 else None for a in METHODS}
    ours = slopes["bouligand"]
    return {
        "contacts": sizes,
        "median seconds": medians,
        "marginal seconds": {a: np.gradient(t, sizes) if len(sizes) > 1 else [None] for a, t in medians.items()},
        "marginal seconds, fit over the paper's range": slopes,
        "MuJoCo over bouligand, marginal": {
            a: slopes[a] / ours if ours else None for a in METHODS if a.startswith("MuJoCo")
        },
    }


def report(cells, summary, chosen, eps):
    rows: list = []
    for i, m in enumerate(cells):
        row = [m]
        for method in METHODS:
            row += [seconds(summary["median seconds"][method][i]), number(cells[m]["errors"][method])]
        rows.append(row)
    headers = ["contacts"]
    for method in METHODS:
        headers += [method, "error"]
    lines = [
        f"Plate, 2 s, {chosen['starts']} random starts: median time, and RMS error of each against its own law at 1e-10",
        f"(bouligand: rtol = {chosen['rtol']:.0e}; the paper's bands: eps' = {eps:.2e}, steps up to {chosen['dt']};"
        f" MuJoCo: dt = {chosen['dt']})",
        table(headers, rows),
        "",
        f"marginal cost per contact, 2 to {PAPER_RANGE} contacts (slope of the median)",
    ]
    slopes = summary["marginal seconds, fit over the paper's range"]
    ours = slopes["bouligand"]
    rows = [(a, seconds(s), f"{s / ours:.3g}") for a, s in slopes.items() if s is not None]
    lines.append(table(("", "per contact", "times ours"), rows))
    for method in METHODS:
        failed = sum(chosen["starts"] - c["timed"]["reached the end"][method] for c in cells.values())
        if failed:
            lines.append(f"{method}: {failed} of {chosen['starts'] * len(cells)} runs were refused or unstable")
    return "\n".join(lines)


def draw(plt, cells, summary):
    """Run time, marginal cost and error against the number of contacts; the paper's range is shaded."""
    sizes = np.array(list(cells))
    figure, axes = plt.subplots(1, 3, figsize=(13, 4.6), layout="constrained")
    for method in METHODS:
        colour, style = STYLE[method]
        quartiles = np.array([np.quantile(cells[m]["timed"]["seconds"][method], (0.25, 0.75)) for m in sizes]) * 1e3
        axes[0].fill_between(sizes, *quartiles.T, color=colour, alpha=0.2, lw=0)
        axes[0].loglog(
            sizes, np.array(summary["median seconds"][method]) * 1e3, style, marker=".", color=colour, label=method
        )
        cost = np.array(summary["marginal seconds"][method], dtype=float) * 1e6
        axes[1].loglog(sizes, np.where(cost > 0, cost, np.nan), style, marker=".", color=colour)
        errors = [(m, cells[m]["errors"][method]) for m in sizes if cells[m]["errors"][method] is not None]
        if errors:
            axes[2].loglog(*zip(*errors, strict=True), style, marker=".", color=colour)
    tidy(axes[0], "contacts", "median run time (ms)", "run time, quartiles shaded")
    tidy(axes[1], "contacts", "marginal cost per contact (us)", "its derivative (grey: the paper's range)")
    tidy(axes[2], "contacts", "RMS error", "error against its own law")
    for ax in axes:
        ax.axvspan(sizes.min() / 1.1, PAPER_RANGE, color="0.95", zorder=0)
        ax.set_xlim(sizes.min() / 1.1, sizes.max() * 1.1)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False)
    return figure
