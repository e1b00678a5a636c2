"""``bouligand run`` with robot files: drops, options, and the messages about what is wrong."""

import csv
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from bouligand.cli import figures, robot_units
from bouligand.cli import main as cli

from ..helpers import robots
from ..helpers.systems import close
from .test_cli_run import PLAIN, frames

TABLE_ON_LEGS = """<mujoco model="table"><worldbody><body name="top"><freejoint name="base"/>
<geom type="box" size=".3 .2 .02" mass="2"/>{}</body></worldbody></mujoco>"""
LEG = '<geom name="leg{}" type="sphere" size=".02" pos="{} {} -.3" mass=".1"/>'


def robot_file(folder):
    corners = [(0.28, 0.18), (0.28, -0.18), (-0.28, 0.18), (-0.28, -0.18)]
    path = pathlib.Path(folder) / "table.xml"
    path.write_text(TABLE_ON_LEGS.format("".join(LEG.format(i, x, y) for i, (x, y) in enumerate(corners))))
    return path


@pytest.mark.fresh
def test_a_robot_file(tmp_path):
    """Dropped level by 0.1 m: four legs at the same instant, sqrt(2 h / g) later; in a process of its own, which renders."""
    command = [
        sys.executable,
        "-m",
        "bouligand",
        "run",
        str(robot_file(tmp_path)),
        "--contacts",
        "leg*",
        "--tf",
        "0.3",
    ]
    environment = {key: value for key, value in os.environ.items() if key != "MUJOCO_GL"}
    done = subprocess.run(
        [*command, "--fps", "10", "--out", str(tmp_path / "out")], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "out" / "table" / "events.csv") as file:
        touches = [row for row in csv.DictReader(file) if row["guard"].endswith(" touches")]
    close([float(row["t"]) for row in touches[:4]], np.sqrt(2 * 0.1 / 9.81), 1e-7)
    assert frames(tmp_path / "out" / "table" / "animation.gif") == 7


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--contacts", "paw*"], "paw*"),
        (["--contacts", "leg*", "--x0", "qpos:knee=1"], "no state is called 'qpos:knee'"),
        (["--size", "3"], "--size is for ready models"),
        (["--contacts", "leg*", "--key", "stand"], "no keyframe is 'stand'"),
        (["--contacts", "leg*", "--height", "-1"], "--height must not be negative"),
        (["--contacts", "leg*", "--p", "stiffness=-1"], "stiffness and damping must not be negative"),
        (["--contacts", "leg*", "--hold", "1", "1"], "no hinges or slides to hold"),
    ],
)
def test_what_is_wrong_with_a_robot_is_named(arguments, says, tmp_path, capsys):
    assert cli.main(["run", str(robot_file(tmp_path)), *arguments, "--out", str(tmp_path / "out"), *PLAIN]) == 2
    assert says in capsys.readouterr().err


def test_held_are_the_joints_that_have_motors(tmp_path, capsys):
    """The pole of a cart swings freely; the cart stays where it starts, to what the pole pulls."""
    (tmp_path / "cart.xml").write_text("""<mujoco><worldbody><body><joint name="rail" type="slide" axis="1 0 0"/>
    <geom size="0.1" mass="1" pos="0 0 1"/><body pos="0 0 1"><joint name="pole" axis="0 1 0"/><geom name="tip" size="0.05"
    pos="0 0 0.3" mass="0.001"/></body></body></worldbody><actuator><motor joint="rail"/></actuator></mujoco>""")
    start = [
        "--x0",
        "qpos:rail=0.5",
        "--x0",
        "qpos:pole=0.5",
        "--hold",
        "1000",
        "10",
        "--contacts",
        "tip",
        "--tf",
        "0.3",
    ]
    command = ["run", str(tmp_path / "cart.xml"), *start, "--out", str(tmp_path / "out")]
    assert cli.main([*command, *PLAIN]) == 0
    with np.load(tmp_path / "out" / "cart" / "trajectory.npz") as saved:
        assert np.ptp(saved["x"][:, 0]) < 1e-4
        assert np.ptp(saved["x"][:, 1]) > 0.3
    assert cli.main([*command, "--x0", "qpos:rail=here", *PLAIN]) == 2
    assert "qpos:rail must be a finite number; got 'here'" in capsys.readouterr().err


def test_a_height_of_zero_is_one_too(tmp_path, capsys):
    assert cli.main(["run", "hopper", "--height", "0", "--out", str(tmp_path), *PLAIN]) == 2
    assert "--height is for robot files" in capsys.readouterr().err


def test_a_fixed_robot_under_the_floor_is_refused(tmp_path, capsys):
    """A quadruped from a URDF has no joint to the world: without --free-base its feet would start deep in the floor."""
    assert cli.main(["run", str(robots.SOLO), "--out", str(tmp_path), *PLAIN]) == 2
    assert "--free-base lets it fall" in capsys.readouterr().err


def test_a_robot_file_without_mujoco_says_what_to_install(tmp_path, capsys, monkeypatch):
    (tmp_path / "robot.xml").write_text("<mujoco/>")
    monkeypatch.setitem(sys.modules, "mujoco", None)
    assert cli.main(["run", str(tmp_path / "robot.xml"), "--out", str(tmp_path / "out")]) == 1
    assert "pip install 'bouligand[mujoco]'" in capsys.readouterr().err


def test_a_robot_with_pose_law_friction_meshes_and_forces(tmp_path):
    pose = [f"{name}={angle}" for name, angle in robots.STANCE.items()]
    options = [
        "--free-base",
        "--hold",
        "8",
        "0.2",
        "--law",
        "5000",
        "30",
        "--friction",
        "0.7",
        "--meshes",
        "--height",
        "0.01",
    ]
    command = ["run", str(robots.SOLO), *options, "--pose", *pose, "--tf", "0.1", "--rtol", "1e-5", "--fps", "2"]
    assert cli.main([*command, "--out", str(tmp_path)]) == 0
    made = {path.name for path in (tmp_path / "solo12").iterdir()}
    assert {"states.png", "forces.png", "contacts.svg", "animation.gif"} <= made
    assert cli.main(["run", str(robots.SOLO), "--free-base", "--friction", "sticky", "--out", str(tmp_path)]) != 0


def test_euler_angles():
    from bouligand.cli.robot_units import euler

    rng = np.random.default_rng(0)
    quaternions = rng.normal(size=(5, 4))
    quaternions /= np.linalg.norm(quaternions, axis=1)[:, None]
    from scipy.spatial.transform import Rotation

    for q, angles in zip(quaternions, (euler(q[None])[0] for q in quaternions), strict=True):
        same = Rotation.from_euler("xyz", angles).as_matrix()
        assert np.allclose(same, Rotation.from_quat([*q[1:], q[0]]).as_matrix(), atol=1e-12)


def test_curves_that_lie_on_others_are_dashed_and_no_colour_is_there_twice():
    t = np.linspace(0.0, 1.0, 11)
    styles = list(figures.dashes([np.sin(t), np.cos(t), np.sin(t) + 1e-4, np.sin(t)]))
    assert styles == ["-", "-", (0, (4.0, 4.0)), (0, (4.0, 8.0))]
    for count in (0, 3, 10, 12, 37):
        parts = robot_units._divided([f"q{i}" for i in range(count)])
        assert [name for part in parts for name in part] == [f"q{i}" for i in range(count)]
        assert all(len(part) <= robot_units.LINES for part in parts)
        assert np.ptp([len(part) for part in parts] or [0]) <= 1


def test_what_was_done_to_a_file_is_said_once(tmp_path, capsys):
    """--hold loads it twice."""
    path = tmp_path / "arm.urdf"
    path.write_text(
        """<robot name="arm"><link name="base"/><link name="tip"><inertial><mass value="1"/>
        <inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="q" type="continuous"><parent link="base"/><child link="tip"/><axis xyz="0 1 0"/></joint></robot>"""
    )
    options = ["--hold", "1", "0.1", "--contacts", "tip", "--tf", "0.01", *PLAIN]
    assert cli.main(["run", str(path), "--x0", "qpos:q=0.1", "--out", str(tmp_path / "out"), *options]) == 0
    heard = capsys.readouterr().err
    assert heard.count("masses without inertia: tip") == 1
    assert ".py" not in heard
