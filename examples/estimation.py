"""What can be estimated from measurements of motions with contacts: a floor's height, a foot's stiffness, a hexapod's pose.

python examples/estimation.py [FOLDER for the figure]
"""

import pathlib
import sys

import numpy as np

import bouligand as bd


def floor_height(ax_state, ax_floor):
    """A hopper's velocity and the height of the floor (``rest`` is the length of its leg: the guard moves with it),
    from noisy heights."""
    rng, hopper = np.random.default_rng(3), bd.models.hopper(k=400.0)
    t = 0.01 * np.arange(1, 181)
    truth = bd.solve(hopper, (0.0, 1.9), [1.62, 0.1], {"rest": 1.06}, rtol=1e-9)
    data = {"t": t, "z": truth(t)[:, 0] + rng.normal(0.0, 0.02, t.size)}
    estimator = bd.Filter(hopper, [1.6, 0.0], [0.02**2, 0.2**2], R=0.02**2, estimate={"rest": 0.05})
    track = estimator.run(data)
    fine = np.linspace(0.0, 1.8, 600)
    true = {"t": fine, "vz": truth(fine)[:, 1], "rest": np.full(600, 1.06)}
    bd.plot.track(track, "vz", truth=true, ax=ax_state)
    bd.plot.track(track, "rest", truth=true, ax=ax_floor, label="filter")
    bd.plot.track(track.smooth(), "rest", ax=ax_floor, label="smoother", color="C2")
    for ax in (ax_state, ax_floor):
        for moment in truth.events.t[truth.events.t < 1.8]:
            ax.axvline(moment, color="0.88", lw=0.8, zorder=0)
    ax_state.set_ylim(-7.5, 4.5)  # (room for the legend)
    ax_state.legend(loc="lower left")
    ax_state.set(title="a hopper's velocity, from noisy heights", ylabel="velocity (m/s)", xlabel="time (s)")
    ax_floor.set(title="and where it touches the floor", ylabel="height (m)", xlabel="time (s)", ylim=(0.94, 1.16))
    return track


def foot(t, x, b, p, dx):  # a foot on a pad: a spring and a damper from the touch on
    dx[0] = x[1]
    dx[1] = -9.81 + ((-p[0] * x[0] - p[1] * x[1]) / p[2] if b[0] > 0.0 else 0.0)


def foot_stiffness(axes):
    """Stiffness and damping of a foot from one drop, filmed at 1 kHz with half a millimetre of noise."""
    system = bd.System(
        foot, lambda t, x, p: (-x[0],), states=("z", "vz"), guards=("floor",), params={"k": 2e4, "c": 30.0, "m": 1.5}
    )
    rng, t = np.random.default_rng(1), np.arange(0.001, 0.5, 0.001)
    z = bd.solve(system, (0.0, 0.5), [0.3, 0.0], {"k": 1.4e4, "c": 42.0}, rtol=1e-9)(t)[:, 0]
    data = {"t": t, "z": z + rng.normal(0.0, 5e-4, t.size)}
    found = bd.fit(
        system, data, [0.31, 0.0], free=("k", "c", "z"), sigma=5e-4, bounds={"k": (1e3, 1e6), "c": (0.0, 500.0)}
    )
    left, right = bd.plot.residuals(found, axes=axes)
    left.get_legend().remove()  # (there is one column)
    left.set(title="a foot dropped on a pad", ylabel="height (m)", xlabel="time (s)")
    right.set(
        title=f"k = {found.values['k']:.0f} ± {found.std[0]:.0f} N/m, c = {found.values['c']:.1f} ± {found.std[1]:.1f} N s/m",
        xlabel="time (s)",
        ylabel="residual / standard deviation",
    )
    return found


def hexapod_pose(ax_height, ax_pitch):
    """A hexapod's pose from its gyroscope, a rough inclinometer and switches in its feet. (Its legs follow a clock: encoders.)"""
    from bouligand.models.hexapod import FEET, START

    rng, robot = np.random.default_rng(5), bd.models.hexapod()
    t = 0.01 * np.arange(1, 101)
    start = START.copy()
    start[[2, 4, 6, 8]] += [0.01, 0.03, -0.1, 0.1]
    truth = bd.solve(robot, (0.0, 1.0), start, rtol=1e-8)
    x, words = truth(t), truth.word(t)
    names = ("roll", "pitch", "wx", "wy", "wz")
    sigma = {"roll": 0.05, "pitch": 0.05, "wx": 0.05, "wy": 0.05, "wz": 0.05}
    columns = [robot.states.index(name) for name in names]
    data = {
        "t": t,
        **{name: x[:, i] + rng.normal(0.0, sigma[name], t.size) for name, i in zip(names, columns, strict=True)},
    }
    touching = {name: (words[:, robot.guards.index(name)] > 0).astype(float) for name in FEET}
    spread = {
        "z": 0.02**2,
        "roll": 0.02**2,
        "pitch": 0.05**2,
        "vx": 0.2**2,
        "vy": 0.05**2,
        "vz": 0.2**2,
        "wx": 0.01,
        "wy": 0.01,
        "wz": 0.01,
    }
    R = {name: value**2 for name, value in sigma.items()}
    tracks = {}
    for label, contacts in (("with foot switches", touching), ("without", None)):
        estimator = bd.Filter(robot, START, spread, R=R, Q={"vz": 1e-3, "wy": 1e-2, "wx": 1e-2}, samples=64, rtol=1e-5)
        tracks[label] = estimator.run(data, contacts=contacts, contact_error=0.02)
    fine = np.linspace(0.0, 1.0, 800)
    true = {"t": fine, "z": truth(fine)[:, 2], "pitch": truth(fine)[:, 4]}
    for (label, track), colour in zip(tracks.items(), ("C0", "C1"), strict=True):
        bd.plot.track(track, "z", truth=true if label == "without" else None, ax=ax_height, label=label, color=colour)
    bd.plot.track(tracks["with foot switches"], "pitch", truth=true, data=data, ax=ax_pitch)
    ax_height.set(
        title="a hexapod's height, from IMU and switches", ylabel="height (m)", xlabel="time (s)", ylim=(0.12, 0.26)
    )
    ax_pitch.set(title="and its pitch", ylabel="pitch (rad)", xlabel="time (s)", ylim=(-0.32, 0.15))
    ax_pitch.legend(loc="lower left")
    errors = {label: float(np.sqrt(np.mean((track["z"] - x[:, 2]) ** 2))) for label, track in tracks.items()}
    return tracks, errors


def main(folder="results/examples"):
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    plt.style.use(bd.plot.STYLE)
    figure, axes = plt.subplots(3, 2, figsize=(8.8, 9.4), layout="constrained")
    print(floor_height(*axes[0]))
    print(foot_stiffness(axes[1]))
    _, errors = hexapod_pose(*axes[2])
    print(
        "hexapod, error of the height (root mean square): "
        + ", ".join(f"{1e3 * e:.1f} mm {name}" for name, e in errors.items())
    )
    path = pathlib.Path(folder) / "estimation.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    print(f"drawn in {path}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
