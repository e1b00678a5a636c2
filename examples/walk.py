"""A hexapod walks forward and turns under model predictive control, is pushed, and recovers.

    python examples/walk.py [FOLDER] [--seconds 10]

Leg clocks and leg lengths are the controls: twelve of them, planned over half a second at 50 plans a second, through every
touchdown and lift-off. What is planned from a measurement is applied one tick later, so that a planner that takes less than a
tick (20 ms) works in real time. Prints how long planning took, and leaves a film and a figure in FOLDER.
"""

import argparse
import pathlib

import numpy as np

import bouligand as bd
from bouligand.models.driven_hexapod import CONTROLS, LEG, START

TURN = 2.0 * np.pi / 0.5  # rad/s: the usual rate of the clocks
TICK = 0.02  # s between plans
PUSHES = {2.5: [0.0, 0.5, 0.0], 5.0: [-0.5, 0.0, 0.0], 7.5: [0.0, -0.6, 0.3]}  # when, and the change of velocity in m/s
REST = np.concatenate([np.full(6, TURN), np.full(6, LEG)])


def heading(t):
    """Straight ahead for 2 s, a turn to the left, straight ahead, a turn to the right."""
    return float(np.interp(t, [0.0, 2.0, 4.0, 6.0, 8.0], [0.0, 0.0, 1.0, 1.0, 0.0]))


def target(t, speed=0.5):
    """The state that is aimed at: speed, heading and height; and clocks that go on as usual."""
    x, yaw = START.copy(), heading(t)
    x[2], x[5], x[6:9], x[9:12] = 0.165, yaw, [speed * np.cos(yaw), speed * np.sin(yaw), 0.0], 0.0
    x[12:18] += TURN * t
    return x


def make(quick=True, horizon=0.5, nodes=25):
    """The plan: weights on height, attitude, velocity and rates, a little on clocks and controls."""
    weights = {"z": 40.0, "roll": 10.0, "pitch": 10.0, "yaw": 12.0, "vx": 4.0, "vy": 4.0, "vz": 0.5}
    weights |= {"wx": 0.3, "wy": 0.3, "wz": 0.3} | {f"clock{i}": 0.1 for i in range(6)}
    P = bd.planning
    return P.Plan(
        bd.models.driven_hexapod(),
        np.linspace(0.0, horizon, nodes + 1),
        running=P.Quadratic(target, x=weights, u=[5e-4] * 6 + [20.0] * 6, rest=REST),
        end=P.Quadratic(target, x={name: 0.1 * weight for name, weight in weights.items()}),
        inputs=CONTROLS,
        limits=(np.array([0.0] * 6 + [0.12] * 6), np.array([30.0] * 6 + [0.21] * 6)),
        quick=quick,
        rtol=1e-3,
        atol=1e-5,
    )


def walk(seconds=10.0, pushes=PUSHES, latency=TICK, iterations=1, progress=True):
    """The closed loop: times, states, modes and parameters at each tick, and the controller.

    ``latency``: TICK, or 0 as if planning took no time.
    """
    from tqdm import tqdm

    plan = make()
    mpc, x = bd.planning.MPC(plan, TICK, iterations, latency=latency), START.copy()
    u = mpc.start(0.0, x, REST).u[0]
    ticks, p = round(seconds / TICK), plan.p.copy()
    rows = []
    for k in tqdm(range(ticks), desc="walk", disable=not progress, delay=2):
        t = k * TICK
        if (push := pushes.get(round(t, 6))) is not None:
            x[6:9] += push
        planned = mpc.plan(t, x)
        u = u if latency else planned
        run = bd.rollout(plan.system, x, [u], [t, t + TICK], inputs=CONTROLS, rtol=1e-6)
        p[plan._columns] = u
        rows.append((t, x.copy(), np.asarray(run.solution.word(t + 0.5 * TICK)), p.copy()))
        x, u = run.x[-1].copy(), planned
        if x[2] < 0.08 or np.abs(x[3:5]).max() > 0.8:
            print(f"it fell at t = {t:.2f}")
            break
    return rows, mpc


def draw_path(rows, path):
    """Heading, speed and height over time, with what was aimed at and the pushes."""
    from bouligand.reporting.figures import pyplot, tidy

    plt = pyplot()
    t, X = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    aims = np.array([target(moment) for moment in t])
    along = X[:, 6] * np.cos(X[:, 5]) + X[:, 7] * np.sin(X[:, 5])
    figure, axes = plt.subplots(4, 1, figsize=(8.0, 7.5), sharex=True, layout="constrained")
    for ax, values, aim, label in zip(
        axes,
        (along, X[:, 5], X[:, 2], X[:, 3]),
        (np.full(len(t), 0.5), aims[:, 5], aims[:, 2], aims[:, 3]),
        ("speed ahead (m/s)", "heading (rad)", "height (m)", "roll (rad)"),
        strict=True,
    ):
        ax.plot(t, aim, color="0.6", lw=1.2, ls="--", label="aim")
        ax.plot(t, values, color="#1f5fa8", lw=1.4, label="driven hexapod")
        for moment in PUSHES:
            ax.axvline(moment, color="#c8553d", lw=1.0, alpha=0.7)
        tidy(ax, "", label, "")
    axes[0].legend(fontsize="small", ncols=2, loc="lower right", bbox_to_anchor=(1.0, 1.0))  # (above the curves)
    axes[-1].set_xlabel("time (s); red: a push")
    figure.savefig(path, dpi=110)
    plt.close(figure)


def film(rows, path):
    """A film of the model's own drawing."""
    from bouligand.models.driven_hexapod import draw
    from bouligand.reporting.figures import pyplot

    plt = pyplot()
    from matplotlib.animation import FuncAnimation, PillowWriter

    figure, ax = plt.subplots(figsize=(5.0, 3.2), layout="constrained")

    def frame(k):
        ax.clear()
        draw(ax, *rows[k])

    FuncAnimation(figure, frame, frames=range(0, len(rows), 3)).save(path, writer=PillowWriter(fps=16), dpi=70)
    plt.close(figure)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?", default="results/walk")
    parser.add_argument("--seconds", type=float, default=10.0)
    chosen = parser.parse_args()
    folder = pathlib.Path(chosen.folder)
    folder.mkdir(parents=True, exist_ok=True)
    rows, mpc = walk(chosen.seconds)
    print(mpc.statistics)
    print(f"after {rows[-1][0]:.2f} s at {rows[-1][1][:3].round(2)}, heading {rows[-1][1][5]:.2f}")
    draw_path(rows, folder / "walk.png")
    film(rows, folder / "walk.gif")
