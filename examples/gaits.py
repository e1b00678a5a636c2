"""Gaits and limit cycles: where they are, whether they are stable, and how they change along a parameter.

    python examples/gaits.py [FOLDER for the figure]

Four pictures: a power converter that doubles its period; the two gaits of the simplest walker along the slope; a runner
whose gait stabilises itself; the multipliers of a hexapod.
"""

import pathlib
import sys

import numpy as np

import bouligand as bd
from bouligand.models import buck_converter, hexapod, simplest_walker, slip
from bouligand.plot.cycles import COLOURS

LONG, SHORT = [0.2, -0.2, 0.4, -0.0158], [0.1938, -0.2037, 0.3876, -0.0151]


def converter(ax):
    """The cycle with one pulse along the supply's voltage, and what a simulation settles to."""
    from bouligand.models.buck_converter import PERIOD, START

    cycle = bd.find_cycle(buck_converter(), START, section="clock", settle=0.02)
    branch = bd.continue_cycle(cycle, "Vin", stop=33.0, backward=19.0, step=0.05, max_step=0.05)
    voltages = np.linspace(20.0, 33.0, 261)
    times = PERIOD * np.arange(400, 460)
    many = bd.solve_many(buck_converter(), (0.0, times[-1]), START, {"Vin": voltages}, t_eval=times + 1e-9 - PERIOD)
    ax.plot(np.repeat(voltages, len(times)), many.states[:, :, 0].ravel(), ".", ms=0.8, color="0.65", zorder=0)
    bd.plot.branch(branch, "v", ax=ax)
    ax.set(
        xlabel="supply Vin (V)", ylabel="output when the ramp restarts (V)", title="buck converter", ylim=(11.85, 12.4)
    )
    return branch


def walker(ax):
    """Both gaits along the slope."""
    found = {}
    for name, guess in (("long", LONG), ("short", SHORT)):
        cycle = bd.find_cycle(simplest_walker(), guess, section="heel strike", segments=2)
        for stop in (0.019, 0.0015):
            branch = bd.continue_cycle(cycle, "gamma", stop=stop, step=0.05, max_step=0.1)
            bd.plot.branch(branch, "theta", ax=ax)
            found[name, stop] = branch
    handles, labels = ax.get_legend_handles_labels()
    first = {label: handle for handle, label in reversed(list(zip(handles, labels, strict=True)))}
    ax.legend(first.values(), first.keys(), loc="lower right")
    ax.set(xlabel="slope (rad)", ylabel="leg angle at heel strike (rad)", title="the simplest walker: two gaits")
    ax.set_xticks(np.arange(0.0, 0.0201, 0.005))
    return found


def runner(ax):
    """Gaits of a runner at one energy, along the angle of its leg: the height of the apex."""
    start = bd.find_cycle(slip(), [0.0, 1.0, 5.0, 0.0, 0.0], section="apex", free="angle", fixed={"y": 1.0, "vx": 5.0})
    angle = start.parameters["angle"]
    energy = 9.81 + 12.5
    rows = []
    for shift in np.linspace(-0.03, 0.03, 25):

        def gap(y, a=angle + shift):
            vx = np.sqrt(2.0 * (energy - 9.81 * y))
            try:
                sol = bd.solve(slip(angle=a), (0.0, 5.0), [0.0, y, vx, 0.0, 0.0], rtol=1e-9, terminal="apex")
            except bd.SolveError:
                return np.nan
            return sol.x[-1][1] - y if sol.status == "terminated" else np.nan

        heights = np.linspace(np.sin(angle + shift) + 1e-3, 1.35, 60)
        gaps = np.array([gap(y) for y in heights])
        for k in np.flatnonzero(gaps[1:] * gaps[:-1] < 0.0):
            y = heights[k] - gaps[k] * (heights[k + 1] - heights[k]) / (gaps[k + 1] - gaps[k])
            guess = [0.0, y, np.sqrt(2.0 * (energy - 9.81 * y)), 0.0, 0.0]
            cycle = bd.find_cycle(slip(angle=angle + shift), guess, section="apex", on_failure="return")
            # (energy is kept: one multiplier is 1; the other one decides)
            other = cycle.multipliers[np.argsort(np.abs(cycle.multipliers - 1.0))[1:]]
            rows.append((np.degrees(angle + shift), cycle.at_section[1], np.abs(other).max() < 1.0))
    rows = np.array(rows)
    stable = rows[:, 2] > 0.5
    ax.plot(*rows[stable, :2].T, "o", ms=4, color=COLOURS[True], label="stable")
    ax.plot(*rows[~stable, :2].T, "o", ms=4, mfc="none", color=COLOURS[False], label="unstable")
    ax.legend(loc="center right")
    ax.set(xlabel="leg angle at touchdown (degrees)", ylabel="height of the apex (m)", title="a runner at 5 m/s")
    return rows


def hexapod_gait(ax):
    """Multipliers of the alternating tripod, by half a cycle."""
    from bouligand.models.hexapod import START

    mirror = {"y": "-y", "roll": "-roll", "yaw": "-yaw", "vy": "-vy", "wx": "-wx", "wz": "-wz"}
    gait = bd.find_cycle(hexapod(), START, period=0.5, drift="x", symmetry=mirror, settle=2.5, rtol=1e-7)
    angle = np.linspace(0.0, 2.0 * np.pi, 200)
    ax.plot(np.cos(angle), np.sin(angle), color="0.6", lw=1.0)
    ax.plot(gait.part_multipliers.real, gait.part_multipliers.imag, "o", mfc="none", mew=1.6, color="C0")
    ax.axhline(0.0, color="0.9", lw=0.8, zorder=0)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_title(f"hexapod: multipliers of half a stride of {gait.drift[0]:.3f} m")
    ax.set(xlabel="real part", ylabel="imaginary part")
    ax.annotate(
        "place across and heading:\nnothing brings them back",
        (-1.0, 0.0),
        (-0.62, -0.62),
        arrowprops={"arrowstyle": "->", "color": "0.4"},
        fontsize="small",
    )
    return gait


def main(folder="results/examples"):
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    plt.style.use(bd.plot.STYLE)
    figure, axes = plt.subplots(2, 2, figsize=(8.8, 7.0), layout="constrained")
    print(converter(axes[0, 0]))
    for (name, _), branch in walker(axes[0, 1]).items():
        print(f"{name} gait: {branch}")
    runner(axes[1, 0])
    print(hexapod_gait(axes[1, 1]))
    path = pathlib.Path(folder) / "cycles.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    print(f"drawn in {path}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
