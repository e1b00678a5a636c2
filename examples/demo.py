"""What the library does, in one script: the hopper, the plate on 100 springs, the paper's order test, and a film of three legs.

    python examples/demo.py [folder for the figures]

Prints a table of events, errors, evaluations and times, and saves figures, with a page that shows them.
"""

import pathlib
import sys
import time

import matplotlib.pyplot as plt
import numpy as np

import bouligand as bd
from bouligand.models.hopper import START as HOPPER_START
from bouligand.models.hopper import exact as hopper_exact
from bouligand.models.order_test import END as ORDER_TEST_END
from bouligand.models.order_test import FINAL as ORDER_TEST_FINAL
from bouligand.models.order_test import START as ORDER_TEST_START
from bouligand.models.order_test import exact as order_test_exact
from bouligand.models.plate import START as PLATE_START
from bouligand.models.three_legs import TILTED
from bouligand.plot import mechanisms

SIZE = (8, 4.5)


def timed(function, repeats=20):
    """The result of a call and the median of its times, in seconds."""
    function()
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - began)
    return result, float(np.median(times))


def row(name, solution, error, seconds):
    c = solution.counts
    print(f"{name:34s} {c.events:7d} {error:10.1e} {c.f:9d} {c.f / max(c.events, 1):9.1f} {seconds * 1e6:9.0f}")


def hopper(folder):
    system = bd.models.hopper()
    for rtol in (1e-4, 1e-10):
        sol, seconds = timed(lambda rtol=rtol: bd.solve(system, (0, 2), HOPPER_START, rtol=rtol))
        row(f"hopper, rtol = {rtol:.0e}", sol, np.abs(sol.x[-1] - hopper_exact(2.0)[0]).max(), seconds)
    figure, axes = plt.subplots(2, 1, figsize=SIZE, sharex=True, layout="constrained", height_ratios=[2, 1])
    bd.plot.trajectory(sol, ax=axes[0])
    axes[0].set_xlabel("")
    axes[0].set_ylabel("z (m), vz (m/s)")
    axes[0].set_title("A hopping mass: touch and release (grey) are events")
    grid = np.linspace(0, 2, 2001)
    for rtol in (1e-4, 1e-7, 1e-10):
        sol = bd.solve(system, (0, 2), HOPPER_START, rtol=rtol, t_eval=grid)
        error = np.abs(sol.x - hopper_exact(grid)).max(axis=1)
        axes[1].semilogy(grid[1:], np.maximum(error[1:], 1e-16), label=f"rtol = {rtol:.0e}")
    axes[1].set_ylabel("error (m, m/s)")
    axes[1].set_xlabel("time (s)")
    axes[1].set_ylim(1e-15, 1e-1)
    axes[1].legend(frameon=False, ncols=3, loc="lower right", fontsize="small")
    figure.savefig(folder / "hopper.png", dpi=150)


def plate(folder):
    system = bd.models.plate(100)
    reference = bd.solve(system, (0, 2), PLATE_START, rtol=1e-12)
    for rtol in (1e-4, 1e-8):
        sol, seconds = timed(lambda rtol=rtol: bd.solve(system, (0, 2), PLATE_START, rtol=rtol))
        row(f"plate on 100 springs, rtol = {rtol:.0e}", sol, np.abs(sol.x[-1] - reference.x[-1]).max(), seconds)
    figure, axes = plt.subplots(2, 1, figsize=(8, 5.5), sharex=True, layout="constrained")
    bd.plot.trajectory(sol, states=("z", "theta"), ax=axes[0], mark=False)
    axes[0].set_title("A plate falls onto 100 springs: 400 events in two seconds")
    axes[0].set_ylabel("height z (m), tilt theta (rad)")
    axes[0].set_xlabel("")
    bd.plot.contacts(sol, ax=axes[1])
    axes[1].set_ylabel("spring that touches")
    axes[1].set_xlabel("time (s)")
    figure.savefig(folder / "plate.png", dpi=150)


def order(folder):
    system = bd.models.order_test()
    sol, seconds = timed(lambda: bd.solve(system, (0, ORDER_TEST_END), ORDER_TEST_START, rtol=1e-8))
    row("order test, rtol = 1e-08", sol, np.abs(sol.x[-1] - ORDER_TEST_FINAL).max(), seconds)
    figure, ax = plt.subplots(figsize=SIZE, layout="constrained")
    eps = np.logspace(-1, -4, 13)
    tight = {"rtol": 3e-14, "atol": 1e-15, "method": "dopri5"}
    for projection, colour in ((2, "C0"), (3, "C1"), (5, "C2")):

        def banded(width, projection=projection, **options):
            return bd.solve(system, (0, ORDER_TEST_END), ORDER_TEST_START, eps=width, projection=projection, **options)

        sol, seconds = timed(lambda solve=banded: solve(1e-2, rtol=1e-6))
        row(f"order test, eps = 1e-2, order {projection}", sol, np.abs(sol.x[-1] - ORDER_TEST_FINAL).max(), seconds)
        errors = []
        for width in eps:
            sol = banded(width, **tight)
            errors.append(np.sqrt(np.mean((sol.x - order_test_exact(sol.t)) ** 2)))
        errors = np.array(errors)
        straight = (errors > 1e-13) & (eps < 0.05)
        slope = np.polyfit(np.log(eps[straight]), np.log(errors[straight]), 1)[0]
        label = f"order {projection}{' (the paper)' if projection == 2 else ''}: slope {slope:.2f}"
        ax.loglog(1 / eps, errors, "o-", color=colour, ms=4, label=label)
    ax.axhline(1e-15, color="0.8", lw=0.8)
    ax.set_xlabel("1 / eps")
    ax.set_ylabel("RMS error of the trajectory")
    ax.set_title("The paper's order test: error against the width of the bands")
    ax.legend(frameon=False)
    figure.savefig(folder / "order.png", dpi=150)


def film(folder):
    """A body lands on three preloaded legs."""
    solution = bd.solve(bd.models.three_legs(), (0.0, 1.2), TILTED, rtol=1e-8)
    bd.plot.animate(
        solution, mechanisms.three_legs, folder / "three_legs.gif", fps=20, speed=0.25, gait=True, progress="a film"
    )


CAPTIONS = {
    "plate.png": "A plate falls onto 100 springs.",
    "three_legs.gif": "A body lands on three preloaded legs; each bar is a foot on the ground.",
    "hopper.png": "A hopping mass, and its error over time for three tolerances.",
    "order.png": "The paper's order test: the error against the width of the bands.",
}


def page(folder):
    """A page with all pictures."""
    figures = "".join(
        f'<figure><img src="{name}" alt="{caption}" style="max-width:100%"><figcaption>{caption}</figcaption></figure>'
        for name, caption in CAPTIONS.items()
    )
    head = '<!doctype html><meta charset="utf-8"><title>Bouligand: the demo</title>'
    style = '<body style="font-family:sans-serif;max-width:900px;margin:auto">'
    (folder / "index.html").write_text(f"{head}{style}<h1>Bouligand: the demo</h1>{figures}</body>\n")


def main(folder="results/demo"):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    plt.switch_backend("agg")
    plt.style.use(bd.plot.STYLE)
    print("A hopping mass, a plate that falls on 100 springs, and the paper's order test, whose solutions are known.")
    print("Events that were found, error of the state, evaluations of f, and the time of one solve in microseconds.")
    print()
    print(f"{'':34s} {'events':>7s} {'error':>10s} {'f evals':>9s} {'per event':>9s} {'time us':>9s}")
    hopper(folder)
    plate(folder)
    order(folder)
    print()
    film(folder)
    page(folder)
    print(f"\npictures: {folder}/index.html shows them all ({', '.join(CAPTIONS)})")


if __name__ == "__main__":
    main(*sys.argv[1:])
