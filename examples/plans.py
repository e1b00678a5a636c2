"""Plans through impacts: a ball that bounces once onto a target, a hopper on three legs that jumps to a height and lands level,
and Solo12, dropped at a tilt, which lands on its feet.

    python examples/plans.py [FOLDER] [--only ball,jump,solo]

Each prints its plan, and leaves a figure (Solo12: a film) in FOLDER.
"""

import argparse
import pathlib

import numpy as np

import bouligand as bd

P = bd.planning


# ------------------------------------------------------------------------------------------------- a ball, one bounce


def thrown_ball():
    """A ball in a plane with a gust of wind on it, (y, z, vy, vz); at the floor its speed turns round, with a loss."""

    def field(t, x, b, p, dx):
        dx[0], dx[1], dx[2], dx[3] = x[2], x[3], p[1], -p[0]

    def floor(t, x, p, out):
        out[0] = x[1]

    def bounce(t, x, b, p, new):
        new[3] = -p[2] * x[3]

    return bd.System(
        field,
        floor,
        states=("y", "z", "vy", "vz"),
        guards=("floor",),
        params={"g": 9.81, "wind": 0.0, "restitution": 0.8},
        jumps={"floor": bounce},
    )


def ball(folder):
    """Which wind takes it, over one bounce, to y = 1, z = 0.5 at t = 1?"""
    plan = P.Plan(
        thrown_ball(),
        np.linspace(0.0, 1.0, 11),
        P.Quadratic(u=1e-3),
        P.Quadratic([1.0, 0.5, 0.0, 0.0], x={"y": 10.0, "vy": 1.0}),
        inputs="wind",
        limits=(-8.0, 8.0),
    )
    found = plan.solve([0.0, 1.0, 0.0, 0.0])
    print("ball:", found, "ends at", found.x[-1, :2].round(4), "after", len(found.solution.events), "bounce")
    return found


# ------------------------------------------------------------------------------------------------ three preloaded legs


def jump(folder):
    """From a tilted drop: the pushes of the three legs, chosen every 30 ms, so that it is 0.75 m high at the end, and level."""
    target = np.array([0.75, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    plan = P.Plan(
        three_pushes(),
        np.linspace(0.0, 0.6, 21),
        P.Quadratic(u=1e-6, rest=np.full(3, 8.0)),
        P.Quadratic(target, x=[100.0, 30.0, 30.0, 1.0, 1.0, 1.0, 0.0]),
        inputs=("push0", "push1", "push2"),
        limits=(0.0, 120.0),
        rtol=1e-6,
    )
    start = [0.62, 0.06, -0.04, 0.0, 0.0, 0.0, 0.0]
    found = plan.solve(start, iterations=60)
    landing = bd.solve(plan.system, (0.6, 0.95), found.x[-1])
    spread = np.ptp(landing.events.t[:3])
    print(
        f"jump: {found}; at the end z = {found.x[-1, 0]:.3f}, tilt {np.hypot(*found.x[-1, 1:3]):.4f} rad; its feet "
        f"then land within {1e3 * spread:.1f} ms (the first time within {1e3 * np.ptp(found.solution.events.t[:3]):.1f} ms)"
    )
    free = plan.rollout(start)
    draw_jump(folder / "jump.png", free, found, target)
    return found


def three_pushes():
    """The body on three legs of `bouligand.models.three_legs`, each with a preload of its own."""
    import math

    from bouligand.models.three_legs import DEFAULTS, TURN, free, guard_row, guards

    def contact(t, x, k, p, dx):
        ux, uy, uz = -math.sin(x[2]), math.cos(x[2]) * math.sin(x[1]), math.cos(x[2]) * math.cos(x[1])
        ax, ay = p[4] * math.cos(k * TURN), p[4] * math.sin(k * TURN)
        s = p[5] - (x[0] + ux * ax + uy * ay) / uz
        az = s - p[5]
        rise = (uy * x[6] - uz * x[5]) * ax + (uz * x[4] - ux * x[6]) * ay + (ux * x[5] - uy * x[4]) * az
        push = (p[9 + k] + p[6] * s - p[7] * (x[3] + rise) / uz) / uz
        dx[3] += push / p[1]
        dx[4] += push * (ay * uz - az * uy) / p[2]
        dx[5] += push * (az * ux - ax * uz) / p[2]
        dx[6] += push * (ax * uy - ay * ux) / p[3]

    return bd.System(
        None,
        guards,
        f0=free,
        g=contact,
        states=("z", "roll", "pitch", "vz", "wx", "wy", "wz"),
        guards=("foot0", "foot1", "foot2"),
        params={**DEFAULTS, "push0": 8.0, "push1": 8.0, "push2": 8.0},
        Dh_row=guard_row,
        name="three legs with a push each",
    )


def draw_jump(path, free, found, target):
    """Height, tilt and pushes over time, with and without the plan."""
    from bouligand.reporting.figures import pyplot, tidy

    plt = pyplot()
    figure, axes = plt.subplots(3, 1, figsize=(7.5, 6.5), sharex=True, layout="constrained")
    moments = np.linspace(0.0, free.t[-1], 400)
    for run, colour, label in ((free, "0.6", "constant pushes"), (found.rollout, "#1f5fa8", "planned")):
        x = run.solution(moments[moments <= run.solution.t[-1]])
        axes[0].plot(moments[: len(x)], x[:, 0], color=colour, label=label)
        axes[1].plot(moments[: len(x)], x[:, 1], color=colour)
        axes[1].plot(moments[: len(x)], x[:, 2], color=colour, ls="--")
        for t in run.solution.events.t:
            axes[0].axvline(t, color=colour, lw=0.6, alpha=0.5)
    axes[0].plot(found.t[-1], target[0], "o", color="#c8553d")
    for k in range(3):
        axes[2].step(found.t, np.append(found.u[:, k], found.u[-1, k]), where="post", label=f"leg {k}")
    tidy(axes[0], "", "height (m)", "")
    tidy(axes[1], "", "roll, pitch (rad)", "")
    tidy(axes[2], "time (s); thin lines: events", "push (N)", "")
    axes[0].legend(frameon=False, fontsize="small")
    axes[2].legend(frameon=False, fontsize="small", ncols=3)
    figure.savefig(path, dpi=110)
    plt.close(figure)


# ------------------------------------------------------------------------------------------------------------- Solo12


def with_servos(spec):
    """A position servo for each joint of a robot file (a URDF has none)."""
    import mujoco

    for joint in spec.joints:
        if joint.type == mujoco.mjtJoint.mjJNT_HINGE:
            servo = spec.add_actuator(name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
            servo.set_to_position(kp=8.0, kv=0.25)
            joint.armature = 0.005


def solo_robot():
    """Solo12 from its file, with servos whose targets are held."""
    from importlib.metadata import distribution

    from bouligand.bridges import mujoco as mj

    robots = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
    return mj.load(
        f"{robots}/solo_description/robots/solo12.urdf",
        contacts="*_FOOT",
        law=mj.Spring(3000.0, 30.0),
        friction=mj.Coulomb(mu=0.8, slip_speed=0.1),
        control=mj.Hold(),
        free_base=True,
        edit=with_servos,
    )


def solo_stance():
    """Angles of the joints."""
    out = {}
    for leg in ("FL", "FR", "HL", "HR"):
        side = 1.0 if leg[0] == "F" else -1.0
        out |= {f"{leg}_HAA": 0.0, f"{leg}_HFE": 0.8 * side, f"{leg}_KFE": -1.6 * side}
    return out


def solo_plan(robot, horizon=0.5, nodes=25, **options):
    """Targets of the servos that bring it to rest on its feet, level."""
    stance, angles = robot.x(**solo_stance()), np.array([solo_stance()[name] for name in robot.inputs])
    stance[2] -= robot.points(stance)[:, 2].min() - 0.012
    nv = robot.model.nv
    weights = np.zeros(robot.tangents)
    weights[:6], weights[6:nv] = [2.0, 2.0, 20.0, 60.0, 60.0, 5.0], 0.2
    weights[nv : nv + 6], weights[nv + 6 :] = [1.0, 1.0, 1.0, 0.5, 0.5, 0.5], 0.002
    return P.Plan(
        robot,
        np.linspace(0.0, horizon, nodes + 1),
        P.Quadratic(stance, x=weights, u=0.5, rest=angles),
        P.Quadratic(stance, x=weights),
        limits=(angles - 1.0, angles + 1.0),
        p=dict(zip(robot._held_inputs, angles.tolist(), strict=True)),
        quick=True,
        **{"rtol": 1e-3, "atol": 1e-5, **options},
    )


def tilted(robot, height=0.12, roll=0.35, pitch=0.2):
    """In the air, tilted: the lowest foot so high above the floor."""
    x = robot.x(**solo_stance())
    a, b = 0.5 * roll, 0.5 * pitch
    x[3:7] = [np.cos(a) * np.cos(b), np.sin(a) * np.cos(b), np.cos(a) * np.sin(b), -np.sin(a) * np.sin(b)]
    x[2] += height - robot.points(x)[:, 2].min()
    return x


def solo(folder):
    """The tilted drop; without a plan the servos stay where they are."""
    robot = solo_robot()
    plan, x0 = solo_plan(robot), tilted(robot)
    free = plan.rollout(x0)
    found = plan.solve(x0, iterations=40, progress=True)
    level = robot.data(found.x[-1]).xmat[1].reshape(3, 3)[2, 2]
    before = robot.data(free.x[-1]).xmat[1].reshape(3, 3)[2, 2]
    angle, without = (np.arccos(min(value, 1.0)) for value in (level, before))
    print("solo:", found, f"tilt at the end {angle:.3f} rad (without a plan: {without:.3f})")
    from bouligand.bridges.mujoco import pictures

    pictures.film(robot, found.solution, folder / "solo.gif")
    moments(folder / "solo.gif", folder / "solo_landing.png")
    return found


def moments(film, path, count=6):
    """Some pictures of a film, side by side."""
    from PIL import Image

    with Image.open(film) as frames:
        size = frames.size[0] // 2, frames.size[1] // 2
        sheet = Image.new("RGB", (size[0] * 3, size[1] * (count // 3)))
        for k in range(count):
            frames.seek(k * (frames.n_frames - 1) // (count - 1))
            sheet.paste(frames.convert("RGB").resize(size), ((k % 3) * size[0], (k // 3) * size[1]))
    sheet.save(path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?", default="results/plans")
    parser.add_argument("--only", default="ball,jump,solo")
    chosen = parser.parse_args()
    folder = pathlib.Path(chosen.folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name in chosen.only.split(","):
        {"ball": ball, "jump": jump, "solo": solo}[name](folder)
