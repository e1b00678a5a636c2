"""The paper's order test (section 4): RMS error of the trajectory against 1/eps, for each order of projection.

Two systems: the paper's, with flat guards, and a spiral with a curved one. For comparison our default, which needs no bands: its
error against 1/rtol. The slope is fitted over the straight part of the curve, between wide bands (where higher-order terms
matter, or guards share a band) and round-off. The paper found 2.1 with its tangent projection.
"""

import numpy as np
from tqdm import tqdm

from ..integration.solve import solve
from ..models.circle import END as CIRCLE_END
from ..models.circle import START as CIRCLE_START
from ..models.circle import circle
from ..models.circle import exact as circle_exact
from ..models.order_test import END as ORDER_TEST_END
from ..models.order_test import START as ORDER_TEST_START
from ..models.order_test import exact as order_test_exact
from ..models.order_test import order_test
from ..reporting.figures import pyplot, tidy
from ..reporting.results import Run
from ..reporting.tables import number, table
from ..reporting.timing import rms

SYSTEMS = {  # what makes it, where it starts, when it ends, its exact solution
    "paper": (order_test, ORDER_TEST_START, ORDER_TEST_END, order_test_exact),
    "circle": (circle, CIRCLE_START, CIRCLE_END, circle_exact),
}
TITLES = {"paper": "the paper's system (flat guards)", "circle": "a spiral through a circle (curved guard)"}
PROJECTIONS = (2, 3, 5)
COLOURS = {2: "#1f5fa8", 3: "#2e8b57", 5: "#7b4fa3", "default": "#c1272d"}
TIGHT = {"rtol": 3e-14, "atol": 1e-15, "method": "dopri5"}  # so that only the projections' error is left


def settings(quick):
    return {
        "eps": np.logspace(0, -5, 16 if quick else 51),
        "rtol": np.logspace(-2, -12, 11 if quick else 31),
        "quick": quick,
    }


def curve(system, kind, values):
    """Errors and evaluations of f of one curve: kind is an order of projection, or "default"."""
    make, start, end, exact = SYSTEMS[system]
    built = make()
    errors, evaluations = [], []
    for value in values:
        options = {"rtol": value} if kind == "default" else {"eps": value, "projection": kind, **TIGHT}
        sol = solve(built, (0.0, end), start, on_failure="return", **options)
        errors.append(rms(sol.x - exact(sol.t)) if sol.success else None)
        evaluations.append(sol.counts.f)
    return {"values": values, "errors": errors, "evaluations": evaluations, **fit(values, errors, kind == "default")}


def fit(values, errors, whole):
    """Slope and intercept of log error over the straight part, and where that is."""
    x = np.asarray(values, dtype=float)
    y = np.array([np.nan if e is None else e for e in errors])
    floor = np.nanmin(y)
    above = max(30 * floor, 1e-13) if floor < 1e-12 else 0.0  # well above round-off, where that is reached
    straight = np.isfinite(y) & (y > above)
    if not whole:
        straight &= x < 0.04
    if straight.sum() < 3:
        return {"slope": None, "intercept": None, "straight": None}
    slope, intercept = np.polyfit(np.log(x[straight]), np.log(y[straight]), 1)
    return {"slope": slope, "intercept": intercept, "straight": [x[straight].min(), x[straight].max()]}


def run(out, quick=False):
    """Measure, print, draw; returns the contents of result.json."""
    plt = pyplot()
    chosen = settings(quick)
    results = Run(out, "order", chosen, packages=("matplotlib",))
    kinds = (*PROJECTIONS, "default")
    curves = {}
    for system, kind in tqdm([(s, k) for s in SYSTEMS for k in kinds], desc="order", unit="curve", delay=2):
        values = chosen["rtol" if kind == "default" else "eps"]
        curves[system, kind] = results.cell(f"{system}-{kind}", lambda s=system, k=kind, v=values: curve(s, k, v))
    results.figure(draw(plt, curves), "order")
    plt.close("all")
    summary = {f"slope, {system}, {kind}": c["slope"] for (system, kind), c in curves.items()}
    return results.finish(summary, report(curves))


def report(curves):
    lines = []
    for system in SYSTEMS:
        lines.append(f"Order test, {TITLES[system]}: RMS error of the trajectory; the paper's own slope is 2.1")
        shown = [1e-1, 1e-2, 1e-3, 1e-4]
        rows = []
        for kind in PROJECTIONS:
            c = curves[system, kind]
            rows.append((f"projection of order {kind}", *[number(nearest(c, e)) for e in shown], f"{c['slope']:.2f}"))
        lines += [table(("eps", *[f"{e:.0e}" for e in shown], "slope"), rows), ""]
        c = curves[system, "default"]
        shown = [1e-3, 1e-5, 1e-7, 1e-9, 1e-11]
        rows = [
            ("default, error", *[number(nearest(c, r)) for r in shown], f"{c['slope']:.2f}"),
            ("default, evaluations of f", *[nearest(c, r, "evaluations") for r in shown], ""),
        ]
        lines += [table(("rtol", *[f"{r:.0e}" for r in shown], "slope"), rows), ""]
    return "\n".join(lines)


def nearest(c, value, what="errors"):
    """Error (or evaluations of f) of the curve at the point nearest to a value of eps or rtol."""
    return c[what][int(np.argmin(np.abs(np.log(np.array(c["values"]) / value))))]


def draw(plt, curves):
    """Above the paper's figure (error against 1/eps, fits over the shaded parts), below the default against 1/rtol."""
    figure, axes = plt.subplots(2, 2, figsize=(9, 7), sharey="row", layout="constrained")
    for column, system in enumerate(SYSTEMS):
        bands, default = axes[0, column], axes[1, column]
        for kind in PROJECTIONS:
            c = curves[system, kind]
            label = f"order {kind}{' (the paper)' if kind == 2 else ''}: slope {c['slope']:.2f}"
            line(bands, c, COLOURS[kind], label)
        if column == 0:
            low, high = curves[system, 2]["straight"]
            bands.axvspan(1 / high, 1 / low, color="0.94", zorder=0)
        tidy(bands, "1 / eps", "RMS error of the trajectory" if column == 0 else "", TITLES[system])
        c = curves[system, "default"]
        line(default, c, COLOURS["default"], f"default, no bands: slope {c['slope']:.2f}")
        reach = 1 / np.array(c["values"])
        default.loglog(reach, 1 / reach, ":", color="0.6", lw=1, label="error = rtol")
        tidy(default, "1 / rtol", "RMS error of the trajectory" if column == 0 else "")
        for ax in (bands, default):
            ax.set_ylim(1e-16, 10)
            ax.legend(frameon=False, fontsize="small", loc="lower left" if ax is default else "upper right")
    return figure


def line(ax, c, colour, label):
    x = np.array(c["values"], dtype=float)
    y = np.array([np.nan if e is None else e for e in c["errors"]])
    ax.loglog(1 / x, y, ".-", color=colour, lw=1.2, ms=5, label=label)
    if c["slope"] is not None:
        ax.loglog(1 / x, np.exp(c["intercept"]) * x ** c["slope"], "--", color=colour, lw=0.7, alpha=0.7)
