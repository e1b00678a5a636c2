"""Robots that stand on their feet, with their meshes and contact forces: ``python docs/figures/robot_gallery.py``.

The files are those of example-robot-data and Gymnasium. Needs MUJOCO_GL=egl where there is no screen.
"""

import pathlib
import warnings
from importlib.metadata import distribution
from importlib.util import find_spec

import matplotlib.pyplot as plt
from PIL import Image

import bouligand as bd
from bouligand.bridges import mujoco as mj

HERE = pathlib.Path(__file__).parent
DATA = pathlib.Path(str(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")))
SIZE = (400, 300)


def legs(names, joints, back=()):
    """Angles of the joints ``{name: angle}`` of each leg; hind legs that bend the other way have the opposite ones."""
    return {f"{leg}_{joint}": -a if leg in back else a for leg in names for joint, a in joints.items()}


STANDING = {
    "Solo12": (
        DATA / "solo_description/robots/solo12.urdf",
        legs(("FL", "FR", "HL", "HR"), {"HAA": 0.0, "HFE": 0.8, "KFE": -1.6}, ("HL", "HR")),
        (8.0, 0.2),
        mj.Spring(5e3, 30.0),
    ),
    "Go2": (
        DATA / "go2_description/urdf/go2.urdf",
        legs(("FL", "FR", "RL", "RR"), {"hip_joint": 0.0, "thigh_joint": 0.8, "calf_joint": -1.5}),
        (60.0, 2.0),
        mj.Spring(2e4, 200.0),
    ),
    "ANYmal C": (
        DATA / "anymal_c_simple_description/urdf/anymal.urdf",
        legs(("LF", "RF", "LH", "RH"), {"HAA": 0.0, "HFE": 0.7, "KFE": -1.4}, ("LH", "RH")),
        (300.0, 10.0),
        mj.Spring(5e4, 500.0),
    ),
    "Talos": (
        DATA / "talos_data/robots/talos_reduced.urdf",
        legs(("leg_left", "leg_right"), {"3_joint": -0.4, "4_joint": 0.8, "5_joint": -0.4}),
        (2000.0, 60.0),
        mj.Spring(1e5, 1e3),
    ),
}


def standing(file, pose, gains, law):
    """A robot that a PD holds in a pose, after a fall of a centimetre."""
    plain = mj.load(file, free_base=True)
    target = {name[5:]: 0.0 for name in plain.states if name.startswith("qpos:") and name.count(":") == 1} | pose
    control = mj.PD(target, *gains)
    robot = mj.load(file, "feet", control, law=law, friction=mj.LuGre(mu_s=0.8, mu_d=0.7), free_base=True, meshes=True)
    x = robot.x(**target)
    x[2] += 0.01 - min(robot.points(x)[:, 2] - [place.radius for place in robot.places])
    return robot, x


def ant():
    """Gymnasium's ant, on its feet."""
    folder = pathlib.Path(next(iter(find_spec("gymnasium").submodule_search_locations)))
    robot = mj.load(
        folder / "envs/mujoco/assets/ant.xml", "feet", law=mj.Spring(5e3, 50.0), friction=mj.LuGre(mu_s=0.8, mu_d=0.7)
    )
    x = robot.x(ankle_1=1.0, ankle_2=-1.0, ankle_3=-1.0, ankle_4=1.0)
    x[2] += 0.01 - min(robot.points(x)[:, 2] - [place.radius for place in robot.places])
    return robot, x


def picture(robot, x):
    """The robot at rest; the upper part of the picture, where there is only sky, is left out."""
    solution = bd.solve(robot, (0.0, 0.4), x, rtol=1e-5)
    return next(mj.pictures.frames(robot, solution, times=[0.4], size=SIZE, forces=True))[SIZE[1] // 8 :]


def hexapod(ax):
    """The ready model, in its second step."""
    model = bd.models.available()["hexapod"]
    system = model.make()
    solution = bd.solve(system, (0.0, 0.5), model.start, rtol=1e-6)
    model.draw(ax, 0.5, solution.x[-1], solution.b[-1], solution.p)
    ax.texts[-1].remove()  # the time
    ax.set_title("hexapod (a ready model)")


def main():
    warnings.simplefilter("ignore", mj.RobotFileWarning)
    pictures = {name: picture(*standing(*what)) for name, what in STANDING.items()}
    pictures["Gymnasium's ant"] = picture(*ant())
    with plt.style.context(bd.plot.STYLE):
        figure, axes = plt.subplots(2, 3, figsize=(10.5, 5.2), layout="constrained")
        for ax, (name, shown) in zip(axes.flat, pictures.items(), strict=False):
            ax.imshow(shown)
            ax.set_title(name)
            ax.axis("off")
        hexapod(axes.flat[5])
        figure.savefig(HERE / "robot_gallery.png", dpi=120)
    Image.open(HERE / "robot_gallery.png").convert("RGB").quantize(256).save(HERE / "robot_gallery.png", optimize=True)


if __name__ == "__main__":
    main()
