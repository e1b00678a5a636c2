"""Pictures of the mechanisms: three preloaded legs that land, a hand that closes.

python examples/gallery.py [folder for the figures]
"""

import pathlib
import sys

import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp

import bouligand as bd
from bouligand.models.hand import start
from bouligand.models.three_legs import START, TILTED, exact
from bouligand.plot import mechanisms

LOSSLESS = {"c": 0.0, "preload": 25.0}
TOLERANCES = 10.0 ** -np.arange(3.0, 10.0)


def parts(figure, *heights):
    """A figure in parts, one below the other."""
    grid = figure.add_gridspec(len(heights), 1, height_ratios=heights)
    return [figure.add_subfigure(cell) for cell in grid]


def snapshots(figure, solution, draw, moments):
    """The mechanism at some moments, side by side."""
    for ax, t in zip(np.atleast_1d(figure.subplots(1, len(moments))), moments, strict=True):
        draw(ax, t, solution(t), solution.word(t), solution.p)


def against_the_guards():
    """Errors and evaluations on the level drop: ours, and RK45 with the test of contact inside f."""
    robot = bd.models.three_legs(**LOSSLESS)
    f, h, p = robot.function("f"), robot.function("h"), robot.defaults
    truth = exact([1.5], **LOSSLESS)[0][0]

    def ignoring(t, x):
        return f(t, x, np.where(h(t, x, p) > 0.0, 1.0, -1.0), p)

    out: dict = {"Bouligand": [], "SciPy's RK45, guards ignored": []}
    for rtol in TOLERANCES:
        ours = bd.solve(robot, (0.0, 1.5), START, rtol=rtol)
        theirs = solve_ivp(ignoring, (0.0, 1.5), START, rtol=rtol, atol=rtol / 100)
        for name, end, count in zip(out, (ours.x[-1], theirs.y[:, -1]), (ours.counts.f, theirs.nfev), strict=True):
            out[name].append((count, np.abs(end[[0, 3]] - truth).max()))
    return {name: np.array(rows) for name, rows in out.items()}


def three_legs(folder):
    solution = bd.solve(bd.models.three_legs(), (0.0, 1.2), TILTED, rtol=1e-9)
    figure = plt.figure(figsize=(10, 7.0), layout="constrained")
    above, below = parts(figure, 1, 1.35)
    lands = solution.events.t[0]
    above.suptitle("A body lands on three preloaded legs (red: touching)")
    snapshots(above, solution, mechanisms.three_legs, (0.0, lands + 0.002, lands + 0.045, 0.5, 0.69))
    axes = below.subplot_mosaic(
        [["states", "errors"], ["gait", "errors"]], width_ratios=[1.5, 1], height_ratios=[1.6, 1]
    )
    t = np.linspace(0.0, 1.2, 1201)
    axes["states"].plot(t, solution(t)[:, 0], color="#33508c", label="height z (m)")
    for state, colour in ((1, "#c1272d"), (2, "#e08a1e")):
        name = solution.system.states[state]
        axes["states"].plot(t, 10.0 * solution(t)[:, state], color=colour, label=f"10 {name} (rad)")
    axes["states"].legend(fontsize="small", ncols=3, loc="lower left", bbox_to_anchor=(0.0, 1.0))  # (above the curves)
    axes["states"].set(xlim=(0.0, 1.2), ylabel="z (m), 10 angles (rad)")
    bd.plot.contacts(solution, ax=axes["gait"], ties=5e-3)
    axes["gait"].set_xlabel("t (s); red: within 5 ms of each other")
    for (name, rows), colour in zip(against_the_guards().items(), ("#c1272d", "#8c8c8c"), strict=True):
        axes["errors"].loglog(TOLERANCES, rows[:, 1], "o-", color=colour, ms=4, label=name)
        for rtol, (count, error) in list(zip(TOLERANCES, rows, strict=True))[::3]:
            axes["errors"].annotate(
                f"{count:.0f} f",
                (rtol, error),
                xytext=(6, -3),
                textcoords="offset points",
                ha="left",
                va="top",
                fontsize=7,
            )
    axes["errors"].loglog(TOLERANCES, TOLERANCES, ":", color="0.6", label="error = rtol")
    axes["errors"].set(xlabel="rtol", ylabel="error (m, m/s)", title="Level drop, 1.5 s, no damping: error at the end")
    axes["errors"].margins(0.12)
    axes["errors"].title.set_fontsize("medium")
    axes["errors"].legend(frameon=False, fontsize="small")
    figure.savefig(folder / "three_legs.png", dpi=110)
    plt.close(figure)


def landing(folder):
    solution = bd.solve(bd.models.three_legs(), (0.0, 1.2), TILTED, rtol=1e-9)
    bd.plot.animate(
        solution,
        mechanisms.three_legs,
        folder / "three_legs.gif",
        fps=25,
        speed=0.3,
        gait=True,
        size=(4.6, 4.2),
        dpi=80,
    )


def hand(folder):
    solution = bd.solve(bd.models.hand(5), (0.0, 0.1), start(5, 0.002, 0.001), rtol=1e-9)
    figure = plt.figure(figsize=(10, 5.2), layout="constrained")
    above, below = parts(figure, 1.1, 1)
    above.suptitle("Five fingers close on a disc that lies 2 mm off the middle (red: touching)")
    snapshots(above, solution, mechanisms.hand, (0.0, 0.0485, 0.0515, 0.07, 0.1))
    axes = below.subplots(1, 2)
    t = np.linspace(0.04, 0.1, 2001)
    h, states, words = solution.system.function("h"), solution(t), solution.word(t)
    force = np.array([h(0.0, x, solution.p)[5:] for x in states])
    axes[0].plot(t, np.where((words[:, :5] > 0) & (words[:, 5:] > 0), force, 0.0), lw=1.2)
    axes[0].set(xlabel="t (s)", ylabel="normal force (N)", xlim=(0.04, 0.1))
    axes[0].legend([f"finger {i}" for i in range(5)], fontsize="small")
    bd.plot.contacts(solution, ax=axes[1])
    axes[1].set(xlim=(0.04, 0.1), xlabel="t (s)")
    figure.savefig(folder / "hand.png", dpi=110)
    plt.close(figure)


def main(folder="results/gallery"):
    plt.style.use(bd.plot.STYLE)
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    plt.switch_backend("agg")
    three_legs(folder)
    landing(folder)
    hand(folder)
    print(f"figures: {', '.join(str(folder / name) for name in ('three_legs.png', 'three_legs.gif', 'hand.png'))}")


if __name__ == "__main__":
    main(*sys.argv[1:])
