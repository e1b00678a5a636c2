"""Recordings for the interactive page of the site: small scripts, with poses as base64 of float32.

python docs/interactive/recordings.py        (needs the extra mujoco, and example-robot-data)

A recording has bodies, each with shapes; a pose (position, quaternion) for each frame and body; and lamps: which contacts touch.
"""

import base64
import json
import pathlib
import sys

import numpy as np

import bouligand as bd
from bouligand.models.plate import START

HERE = pathlib.Path(__file__).parent
BLUE, ORANGE, GREY = "#4477aa", "#ee8833", "#8899aa"


def packed(values, kind):
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode()


def write(name, title, fps, speed, camera, bodies, poses, lamps, touching):
    """One recording, as a script that puts it where the player looks for it."""
    frames = {
        "title": title,
        "fps": fps,
        "speed": speed,
        "camera": camera,
        "bodies": bodies,
        "frames": len(poses),
        "poses": packed(poses, "<f4"),
        "lamps": lamps,
        "touching": packed(touching, "u1"),
    }
    text = f"window.RECORDINGS = window.RECORDINGS || {{}};\nwindow.RECORDINGS[{name!r}] = {json.dumps(frames)};\n"
    (HERE / f"{name}.recording.js").write_text(text)
    print(f"{name}: {len(poses)} frames, {len(text) / 1000:.0f} kB")


def turn_about_y(angle):
    """Quaternions (x, y, z, w) of turns in the plane of x and z."""
    zero = np.zeros_like(angle)
    return np.column_stack([zero, -np.sin(angle / 2), zero, np.cos(angle / 2)])


def plate(contacts=30, fps=60, seconds=2.0):
    """A plate falls onto springs. Each spring is a body: a rod as high as the plate lets it be."""
    system = bd.models.plate(contacts)
    sol = bd.solve(system, (0.0, seconds), START, rtol=1e-8)
    t = np.linspace(0.0, seconds, int(fps * seconds) + 1)
    x, touching = sol(t), sol.word(t) > 0
    rest, places = system.defaults[3], system.defaults[-contacts:]
    low, high = places.min() - 0.15, places.max() + 0.15
    middle = 0.5 * (low + high)
    slab = {"shape": "box", "size": [high - low, 0.5, 0.03], "at": [middle, 0, 0.015], "colour": BLUE}
    bodies, poses = [[slab]], [np.column_stack([x[:, 0], 0 * t, x[:, 1], turn_about_y(x[:, 2])])]
    upright = np.tile([0.0, 0.0, 0.0, 1.0], (len(t), 1))
    for k, place in enumerate(places):
        height = np.where(touching[:, k], x[:, 1] + np.tan(x[:, 2]) * (place - x[:, 0]), rest)
        rod = {"shape": "cylinder", "size": [0.012, rest], "at": [0, 0, -rest / 2], "colour": GREY, "lamp": k}
        rod["stretch"] = rest  # (as high as the pose)
        bodies.append([rod])
        poses.append(np.column_stack([np.full_like(t, place), 0 * t, height, upright]))
    camera = {"at": [middle + 1.2, -4.8, 2.3], "to": [middle, 0, 1.25]}
    write(
        "plate", f"A plate falls onto {contacts} springs", fps, 0.25, camera, bodies, np.stack(poses, axis=1),
        list(system.guards), touching,
    )  # fmt: skip


def solo(fps=120, seconds=1.2):
    """Solo12 falls onto four feet; its links are drawn as capsules between its joints."""
    import mujoco

    from bouligand.bridges import mujoco as mj

    sys.path.insert(0, str(HERE.parents[1] / "examples"))
    import solo12

    robot = solo12.load(kp=12.0, kd=0.15, friction=mj.Coulomb(mu=0.7, slip_speed=0.05))
    x0 = robot.x(**solo12.STANCE)
    x0[3:7] = np.array([np.cos(0.06), np.sin(0.06), 0.0, 0.0])  # a little to the side
    x0[2] += 0.25 - robot.points(x0)[:, 2].min()
    sol = bd.solve(robot, (0.0, seconds), x0, rtol=1e-6)
    t = np.linspace(0.0, seconds, int(fps * seconds) + 1)
    states, words = sol(t), sol.word(t)
    touching = np.array([robot.touching(b) for b in words.astype(float)]).reshape(len(t), -1)
    names = [name.removesuffix(":touches") for name in robot.guards if "touches" in name]
    model, feet = robot.data(x0), np.array([robot.points(x) for x in states])
    m = model.model if hasattr(model, "model") else robot.model
    bodies, poses = [], []
    for body in range(1, m.nbody):
        ends = [m.body_pos[child] for child in range(1, m.nbody) if m.body_parentid[child] == body]
        if m.body_parentid[body] == 0:
            shapes = [{"shape": "box", "size": [0.36, 0.18, 0.07], "at": [0, 0, 0], "colour": BLUE}]
        else:
            ends = ends or [np.array([0.0, 0.0, -0.16])]
            shapes = [
                {"shape": "capsule", "size": [0.018], "from": [0, 0, 0], "to": [float(v) for v in end], "colour": GREY}
                for end in ends
            ]
        bodies.append(shapes)
        poses.append(np.zeros((len(t), 7)))
    for i, x in enumerate(states):
        data = robot.data(x)
        mujoco.mj_kinematics(m, data)
        for body in range(1, m.nbody):
            w, qx, qy, qz = data.xquat[body]
            poses[body - 1][i] = [*data.xpos[body], qx, qy, qz, w]
    for k in range(feet.shape[1]):
        bodies.append([{"shape": "sphere", "size": [0.022], "at": [0, 0, 0], "colour": GREY, "lamp": k}])
        poses.append(np.column_stack([feet[:, k], np.tile([0.0, 0.0, 0.0, 1.0], (len(t), 1))]))
    camera = {"at": [0.7, -1.0, 0.55], "to": [0, 0, 0.2]}
    names = names[: feet.shape[1]]
    write("solo", "Solo12 lands on its feet", fps, 0.15, camera, bodies, np.stack(poses, axis=1), names, touching)


def fan():
    """Two guards at once: the pieces of the B-derivative, and by how much later each guard is reached."""

    def f(t, x, b, p):
        one, two = b[0] > 0, b[1] > 0
        return np.array([0.5 if one and not two else 1.0, (0.5 if one else 0.75) if two else 1.0])

    system = bd.System(f, lambda t, x, p: (x[0], x[1]), states=("x", "y"), guards=("left", "right"))
    derivative = bd.solve(system, (0.0, 2.0), [-1.0, -1.0], rtol=1e-10).bderivative()
    pieces = []
    for dx in ((0.25, 0.0), (-0.25, 0.0)):
        (order,) = derivative.orders(dx)
        numbers = [system.guard_index(guard) for guard in order]
        pieces.append({"order": numbers, "matrix": derivative.matrix(dx).round(9).tolist()})
    # (h is x, and x' = (1, 1) before the corner)
    content = {"guards": list(system.guards), "times": [[-1.0, 0.0], [0.0, -1.0]], "pieces": pieces}
    text = f"window.RECORDINGS = window.RECORDINGS || {{}};\nwindow.RECORDINGS.fan = {json.dumps(content)};\n"
    (HERE / "fan.recording.js").write_text(text)


if __name__ == "__main__":
    fan()
    plate()
    solo()
