"""A robot with six articulated legs (examples/six_legs.xml: a body and 6 x 3 joints) walks: its gait as a cycle.

    python examples/six_legs_gait.py [FOLDER]

The targets of its servos are sines of time, those of one tripod (LF, RM, LR) half a period ahead of the other's. That makes it a
forced system with a known period; the mirror image of half a stride is the other half. Prints the gait with its multipliers, and
leaves a figure and a film in FOLDER.
"""

import pathlib
import sys

import numpy as np

import bouligand as bd
from bouligand.bridges import mujoco as mj

FILE = pathlib.Path(__file__).parent / "six_legs.xml"
LEGS = ("LF", "LM", "LR", "RF", "RM", "RR")  # in the order of the robot's inputs: swing, lift, knee of each
PERIOD = 0.6  # s


def targets(t, x, p, u):
    """The servos' targets: a leg is lifted while it swings forward."""
    for leg in range(6):
        angle = 2.0 * np.pi * t / PERIOD + np.pi * (leg % 2)
        side = 1.0 if leg < 3 else -1.0
        u[3 * leg] = side * p[-2] * np.cos(angle)
        u[3 * leg + 1] = 0.5 + p[-1] * (0.5 + 0.5 * np.sin(angle)) ** 4
        u[3 * leg + 2] = -1.8


def robot():
    """The robot through the bridge, with the contacts of examples/six_legs.py."""
    return mj.load(
        str(FILE),
        contacts="*_foot",
        law=mj.Spring(4000.0, 40.0),
        friction=mj.Coulomb(mu=0.8, slip_speed=0.1),
        control=targets,
        params={"swing": 0.25, "lift": 0.5},
    )


def mirror(six):
    """What each state becomes in a mirror between left and right."""
    out = {}
    for state in six.states:
        kind, part, *of_base = state.split(":")
        if of_base:
            image = f"-{state}" if of_base[0] in ("y", "qx", "qz", "vy", "wx", "wz") else state
        else:
            leg, joint = part.split("_")
            image = f"{'-' if joint == 'swing' else ''}{kind}:{'R' if leg[0] == 'L' else 'L'}{leg[1]}_{joint}"
        out[state] = image
    return out


def find(six, rtol=1e-9):
    """The gait. The first strides from standing lead near to it."""
    return bd.find_cycle(
        six,
        six.neutral("stand"),
        period=PERIOD,
        drift="qpos:root:x",
        symmetry=mirror(six),
        settle=4.0 * PERIOD,
        rtol=rtol,
        atol=1e-2 * rtol,
    )


def differences(six, gait, step=1e-6):
    """How far a solve at 1e-12 is from coming back after one stride, and the multipliers by differences of such solves: one
    tangent coordinate of the start after the other."""
    nv, tight = six.model.nv, {"rtol": 1e-12, "atol": 1e-14}

    def stride(x):
        return bd.solve(six, (gait.t0, gait.t0 + gait.period), x, gait.p, **tight).x[-1]

    x0 = gait.x0
    back = np.abs(stride(x0) - gait.drift - x0).max()
    G, P = six.lift(x0), six.project(x0)
    ends = [[stride(x0 + sign * step * d) for sign in (1.0, -1.0)] for d in G.T]
    M = np.array([P @ (high - low) / (2.0 * step) for high, low in ends]).T
    kept = np.delete(np.arange(2 * nv), 0)  # (without the distance walked)
    values = np.linalg.eigvals(M[np.ix_(kept, kept)])
    return back, values[np.argsort(-np.abs(values))]


def draw(six, gait, path, strides=3, push=0.3):
    """Which feet touch the floor during two strides, and how a push to the left is forgotten."""
    from bouligand.reporting.figures import pyplot, tidy

    plt = pyplot()
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.2), layout="constrained")
    t = np.linspace(gait.t0, gait.t0 + gait.period, 600)
    words = np.array([gait.solution.word(moment) for moment in t])
    for row, leg in enumerate(("LF", "RM", "LR", "RF", "LM", "RR")):
        down = words[:, six.guards.index(f"{leg}_foot touches")] > 0.0
        for stride in range(2):
            time = t - gait.t0 + stride * gait.period
            colour = "#1f5fa8" if row < 3 else "#c8553d"
            left.fill_between(time, row - 0.35, row + 0.35, where=down, color=colour, lw=0.0)
    left.set_yticks(range(6), ("LF", "RM", "LR", "RF", "LM", "RR"))
    left.invert_yaxis()
    tidy(left, "time (s)", "feet on the floor", "")
    pushed = gait.x0.copy()
    pushed[six.states.index("qvel:root:vy")] += push
    times = gait.t0 + np.linspace(0.0, strides * gait.period, 40 * strides + 1)
    walks = [bd.solve(six, (times[0], times[-1]), x, gait.p, t_eval=times, rtol=1e-9).x for x in (gait.x0, pushed)]
    nq = six.model.nq
    for name, of in (
        ("angles of the joints (rad)", slice(7, nq)),
        ("rates of the body (rad/s)", slice(nq + 3, nq + 6)),
    ):
        gap = np.abs(walks[1][1:, of] - walks[0][1:, of]).max(axis=1)
        right.semilogy((times[1:] - times[0]) / gait.period, gap, label=name)
    right.legend(fontsize="small")
    tidy(right, f"strides since a push of {push:g} m/s to the left", "largest difference", "")
    figure.savefig(path, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "results/six_legs_gait")
    folder.mkdir(parents=True, exist_ok=True)
    six = robot()
    gait = find(six)
    print(gait)
    print(f"stride {gait.drift[0]:.4f} m, speed {gait.drift[0] / gait.period:.4f} m/s")
    back, values = differences(six, gait)
    print(f"a solve at 1e-12 comes back to {back:.0e}; multipliers by differences of such solves:")
    print("  " + ", ".join(f"{v:.4g}" for v in values[:6]))
    # (the two of place across and heading are a double one, which rounding errors of 1e-10 take apart by 1e-5: their mean counts)
    ones = [abs(of[:2].mean() - 1.0) for of in (gait.multipliers, values)]
    others = np.abs(np.sort_complex(values[2:8]) - np.sort_complex(gait.multipliers[2:8])).max()
    print(
        f"  mean of the first two - 1: {ones[0]:.0e}, by differences {ones[1]:.0e}; the next six differ by {others:.0e}"
    )
    draw(six, gait, folder / "six_legs_gait.png")
    from bouligand.bridges.mujoco import pictures

    two = bd.solve(six, (gait.t0, gait.t0 + 2.0 * gait.period), gait.x0, gait.p)
    pictures.film(six, two, folder / "six_legs_gait.gif", size=(400, 260), speed=0.5)
