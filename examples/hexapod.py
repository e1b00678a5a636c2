"""A robot with six turning legs lands on three feet at one instant and runs on, in an alternating tripod.

python examples/hexapod.py [FOLDER for the figure]
"""

import pathlib
import sys

import numpy as np

import bouligand as bd
from bouligand.models.hexapod import START


def main(folder=None):
    robot = bd.models.hexapod()
    sol = bd.solve(robot, (0.0, 3.0), START, rtol=1e-8)
    first = sol.events.t[:3]
    late = sol(np.array([1.0, 3.0]))
    print(f"first landing: {', '.join(sol.events.name[:3])}, at t = {first[0]:.9f}, {np.ptp(first):.0e} s apart")
    print(
        f"{len(sol.events)} events in 3 s, {sol.counts.f} evaluations; speed {(late[1, 0] - late[0, 0]) / 2.0:.2f} m/s"
    )
    if folder is not None:
        draw(sol, pathlib.Path(folder))
    return sol


def draw(sol, folder):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.style.use(bd.plot.STYLE)
    figure, axes = plt.subplots(
        3, 1, figsize=(7.5, 5.5), sharex=True, layout="constrained", height_ratios=(1.6, 1.0, 1.0)
    )
    bd.plot.contacts(sol, ax=axes[0])
    t = np.linspace(sol.t[0], sol.t[-1], 1500)
    x = sol(t)
    axes[1].plot(t, 100.0 * x[:, 2], color="C1")
    axes[2].plot(t, x[:, 6], color="C2")
    for ax, name in zip(axes, ("on the ground", "height (cm)", "speed (m/s)"), strict=True):
        ax.set_ylabel(name)
        ax.set_xlabel("")
    axes[2].set_xlabel("time (s)")
    axes[0].set_title(
        "A hexapod in an alternating tripod gait", pad=16
    )  # (above the number of feet that land together)
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "hexapod.png", dpi=150)
    plt.close(figure)


if __name__ == "__main__":
    main(*sys.argv[1:2])
