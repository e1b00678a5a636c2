"""Drop a plate so that it is level, and does not rotate, at a chosen time.

Its supports are unevenly spaced, so that it tilts when it lands on them. Which drop height and which tilt make up for that? Two
unknowns, two conditions: least squares, with the B-derivative and with finite differences.

    python examples/level_landing.py [FOLDER for the figure]
"""

import pathlib
import sys

import numpy as np
from scipy.optimize import least_squares

import bouligand as bd

POSITIONS = (-0.9, -0.5, -0.2, 0.4, 1.0)
WHEN = 1.0
BOUNDS = ((1.05, -0.3), (4.0, 0.3))  # above the springs, not too steep
TILT, SPIN = 2, 5  # states theta and omega


def solve_for_start(derivative):
    """Find (z, theta) at the start; returns the result of least_squares, and the number of solves."""
    plate = bd.models.plate(positions=POSITIONS)
    shot = bd.Shooting(plate, (0.0, WHEN), [0.0, 1.5, -0.02, 0.0, 0.0, 0.0], free=("z", "theta"), rtol=1e-9)
    jacobian = (lambda theta: shot.jacobian(theta)[[TILT, SPIN]]) if derivative else "2-point"
    result = least_squares(
        lambda theta: shot(theta)[[TILT, SPIN]], shot.start, jac=jacobian, bounds=BOUNDS, xtol=1e-12, ftol=1e-12
    )
    return result, shot


def main(folder=None):
    print(f"level and without rotation at t = {WHEN}: drop height and tilt by least squares")
    for derivative in (True, False):
        result, shot = solve_for_start(derivative)
        name = "B-derivative" if derivative else "finite differences"
        print(
            f"  {name:20s} z = {result.x[0]:.9f}, theta = {result.x[1]:+.9f}: {result.njev:2d} Jacobians, "
            f"{shot.solves:3d} solves, theta, omega at the end {result.fun[0]:+.1e}, {result.fun[1]:+.1e}"
        )
        if derivative and folder is not None:
            draw(shot.solution(result.x), shot.solution(shot.start), pathlib.Path(folder))
    return result


def draw(found, first, folder):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 1, figsize=(7, 5), sharex=True, layout="constrained")
    t = np.linspace(0.0, WHEN, 800)
    for solution, label, style in ((first, "first guess", "--"), (found, "found", "-")):
        x = solution(t)
        axes[0].plot(t, x[:, TILT], style, color="C0", label=label)
        axes[1].plot(t, x[:, SPIN], style, color="C1", label=label)
    for ax, name in zip(axes, ("tilt [rad]", "rate of tilt [rad/s]"), strict=True):
        ax.axhline(0.0, color="0.8", lw=0.8, zorder=0)
        ax.set_ylabel(name)
        ax.legend(frameon=False, loc="upper left")
    axes[1].set_xlabel("time [s]")
    axes[0].set_title(f"A plate on unevenly spaced springs that is level at t = {WHEN:g} s")
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "level_landing.png", dpi=150)
    plt.close(figure)


if __name__ == "__main__":
    main(*sys.argv[1:2])
