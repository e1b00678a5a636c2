"""Robots from files of third parties: Solo12 lands on four feet, Gymnasium's ant drops and walks on the spot.

MUJOCO_GL=egl python examples/robots.py [folder for the figures]

Needs the extras mujoco and plot, and the files: pip install example-robot-data gymnasium
"""

import pathlib
import sys
from importlib.util import find_spec

import matplotlib.pyplot as plt
import numpy as np

import bouligand as bd
import solo12
from bouligand.bridges import mujoco as mj


def solo():
    """Dropped level from 10 cm, its knees bent and held."""
    robot = solo12.load(kp=6.0, kd=0.15, meshes=True)
    return robot, bd.solve(robot, (0.0, 0.6), solo12.above_floor(robot, 0.1)), (0.0, 0.1, 0.2, 0.32, 0.5)


def ant():
    """Its ankles are swung by motors, diagonal legs in turn."""
    assets = pathlib.Path(find_spec("gymnasium").submodule_search_locations[0]) / "envs/mujoco/assets"
    swing = {}
    for i, side in ((1, 1.0), (2, -1.0), (3, -1.0), (4, 1.0)):
        swing[f"hip_{i}"] = 0.0
        swing[f"ankle_{i}"] = mj.Sinusoid(0.9 * side, 0.35 * side, 3.0, 0.0 if i in (1, 3) else np.pi)
    robot = mj.load(
        assets / "ant.xml",
        contacts="feet",
        law=mj.Spring(stiffness=5000.0, damping=60.0),
        friction=0.8,
        control=mj.PD(swing, kp=30.0, kd=1.0),
    )
    x = robot.x(ankle_1=0.9, ankle_2=-0.9, ankle_3=-0.9, ankle_4=0.9)
    x[2] += 0.05 - (robot.points(x)[:, 2] - [place.radius for place in robot.places]).min()
    return robot, bd.solve(robot, (0.0, 1.2), x, rtol=1e-5), (0.0, 0.3, 0.55, 0.8, 1.1)


def figure(robot, solution, moments, title, path):
    """Rendered frames above, the gait diagram below."""
    whole = plt.figure(figsize=(11, 4.6), layout="constrained")
    above, below = whole.subfigures(2, 1, height_ratios=(1.15, 1.0))
    pictures = mj.pictures.frames(robot, solution, times=moments, size=(400, 400), forces=True)
    for ax, t, picture in zip(above.subplots(1, len(moments)), moments, pictures, strict=True):
        ax.imshow(picture)
        ax.set_title(f"t = {t:.2f} s", fontsize="medium")
        ax.axis("off")
    bd.plot.contacts(solution, ax=below.subplots()).set_xlabel("t (s)")
    whole.suptitle(title)
    whole.savefig(path, dpi=100)
    plt.close(whole)


def main(folder="results/robots"):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for make, title in (
        (solo, "Solo12 (URDF from example-robot-data), dropped level: arrows are the forces at its feet"),
        (ant, "Gymnasium's ant (MJCF), its diagonal legs swung in turn"),
    ):
        robot, solution, moments = make()
        figure(robot, solution, moments, title, folder / f"{make.__name__}.png")
        print(f"{make.__name__}: {len(solution.events)} events, {solution.counts.f} evaluations of f")


if __name__ == "__main__":
    main(*sys.argv[1:])
