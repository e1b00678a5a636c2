"""What is said about robots, contacts and inputs that cannot be simulated, or are not what was meant."""

import importlib
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import bouligand as bd
from bouligand.bridges import mujoco as mj
from bouligand.core.compiler.sources import stamp_of

from ..helpers import robots
from ..helpers.robots import ARM


def test_an_unknown_name_lists_what_there_is():
    with pytest.raises(ValueError, match=r"'NOSE'.*FL_FOOT"):
        mj.load(robots.SOLO, contacts="NOSE", free_base=True)
    with pytest.raises(ValueError, match=r"no geom is called 'lid'; .*table"):
        mj.load(ARM, contacts=("rod", "lid"))
    with pytest.raises(ValueError, match=r"floor: no plane is called 'cellar'; planes: floor"):
        mj.load(ARM, floor="cellar")


@pytest.mark.parametrize(
    ("contacts", "message"),
    [
        ("can", r"cylinder.*Contact\(geom='can'"),
        (("brick", "table"), "neither"),
        (("rod", "brick"), "same body"),
        (["rod", "rod"], "2 times"),
        ([3], "a Contact"),
        (mj.Contact(geom="table"), "fixed to the world"),
        (mj.Contact(body="arm", against="table"), "needs geom="),
    ],
)
def test_contacts_that_cannot_be(contacts, message):
    with pytest.raises((ValueError, TypeError), match=message):
        mj.load(ARM, contacts=contacts)


def test_contacts_said_in_full():
    tip = mj.Contact(body="arm", point=(0.5, 0, 0), radius=0.05, law=mj.HuntCrossley(1e5), name="tip")
    robot = mj.load(ARM, contacts=[tip, "rod", mj.Contact(geom="can", point=(0, 0, -0.1), radius=0.0)], limits="ignore")
    assert robot.contacts == ("tip", "rod:0", "rod:1", "can")
    assert robot.params == ("stiffness[tip]", "damping[tip]", "exponent[tip]", "stiffness", "damping", "preload")
    assert robot.guards[:2] == ("tip touches", "rod:0 touches")
    assert robot.function("h")(0.0, robot.neutral(), robot.defaults)[0] == pytest.approx(-0.95)


def test_features_are_refused_one_by_one():
    full = """<mujoco><worldbody><body name="a"><joint name="ball" type="ball" limited="true" range="0 60"/>
    <geom name="g" size="0.1"/></body><body name="b" pos="1 0 0"><joint name="slow" frictionloss="0.2"/><geom size="0.1"/></body>
    <body name="c" mocap="true"><geom size="0.1"/></body></worldbody>
    <equality><weld name="glue" body1="a" body2="b"/></equality>
    <tendon><fixed name="string" frictionloss="0.1"><joint joint="slow" coef="1"/></fixed></tendon>
    <actuator><muscle name="biceps" joint="slow" lengthrange="0 1"/></actuator></mujoco>"""
    with pytest.raises(mj.UnsupportedFeatureError) as error:
        mj.load(full)
    told = "\n".join(error.value.features)
    for name in ("'ball'", "'glue' (weld", "'string'", "'muscle'", "'biceps'", "mocap"):
        assert name in told
    assert len(error.value.features) >= 5


def test_without_mujoco_it_says_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("bouligand.bridges.mujoco")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(ImportError, match=r"pip install 'bouligand\[mujoco\]'"):
        importlib.import_module("bouligand.bridges.mujoco")


def test_an_edited_file_is_another_stamp(tmp_path):
    (tmp_path / "a.py").write_text("x = 1")
    before = stamp_of(tmp_path)
    assert before == stamp_of(tmp_path)
    (tmp_path / "a.py").write_text("x = 2")
    assert before != stamp_of(tmp_path)


def test_files_that_are_no_robots(tmp_path):
    with pytest.raises(FileNotFoundError, match="nobody"):
        mj.load("nobody.urdf")
    broken = tmp_path / "broken.urdf"
    broken.write_text("<robot><link></robot>")
    with pytest.raises(ValueError, match="not XML"):
        mj.load(broken)
    broken.write_text('<robot name="r"><link name="a"/><link name="a"/></robot>')
    with pytest.raises(ValueError, match="more than one link called 'a'"):
        mj.load(broken)
    other = tmp_path / "robot.sdf"
    other.write_text("<sdf/>")
    with pytest.raises(ValueError, match=r"\.urdf"):
        mj.load(other)
    with pytest.raises(ValueError, match=r"<sdf>.*expected <mujoco>"):
        mj.load("<sdf/>")
    wrong = tmp_path / "wrong.xml"
    wrong.write_text("<mujoco><worldbody><bodi/></worldbody></mujoco>")
    with pytest.raises(ValueError, match="bodi"):
        mj.load(wrong)
    with pytest.raises(TypeError, match="MjModel"):
        mj.load(3)
    broken.write_text('<robot name="r"></robot>')
    with pytest.raises(ValueError, match="it is empty, without a link or body; if it is a template"):
        mj.load(broken, free_base=True)
    with pytest.raises(ValueError, match="free_base"):
        mj.load(robots.GO2.read_text().replace('type="revolute"', 'type="fixed"'))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"law": mj.Coulomb(0.5)}, "law must be"),
        ({"friction": mj.Spring(1.0)}, "friction, if .* must be a number"),
        ({"limits": "maybe"}, "limits must be"),
        ({"joint_friction": -1.0}, "joint_friction"),
        ({"joint_friction": "some"}, "joint_friction"),
        ({"floor": float("nan")}, "floor.*finite.*nan"),
        ({"floor": [1.0]}, "floor.*must be a number"),
        ({"contacts": 3}, "contacts must be a name"),
        ({"control": mj.PD([0.0, 1.0], 1.0)}, "2 values for 1 driven joints: hinge"),
        ({"control": 3}, "control must be"),
        ({"control": mj.PD({"knee": 0.0}, 1.0)}, "'knee'.*hinge"),
        ({"control": mj.PiecewiseConstant([0.0], [[1.0, 2.0]])}, "2 columns.*hinge"),
        ({"contacts": "rod", "law": mj.Spring(1.0, adhesion=True), "friction": mj.Coulomb(0.5)}, "adhesion=False"),
        ({"contacts": "rod", "params": {"stiffness": 1.0}}, "stiffness is there already"),
        ({"free_base": True}, "already has the joint 'hinge'"),
    ],
)
def test_options_that_make_no_sense(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        mj.load(ARM, **options)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ({"hinge": float("nan")}, "'hinge' must be finite"),
        ("up", "PD: target.*'up'"),
        ([], "PD: target is empty"),
        ([[1.0]], "number 0"),
    ],
)
def test_targets_that_are_no_gait_are_refused_at_once(target, message):
    with pytest.raises((ValueError, TypeError), match=message):
        mj.PD(target, 1.0)


def test_numbers_of_any_type_count():
    """NumPy's numbers are not Python's: a floor or a friction given as one was silently ignored."""
    ball = """<mujoco><worldbody><body pos="0 0 1"><joint type="slide" axis="0 0 1" frictionloss="2"/>
    <geom name="ball" size="0.1" mass="1"/></body></worldbody></mujoco>"""
    robot = mj.load(
        ball,
        contacts="ball",
        floor=np.float32(0.5),
        joint_friction=np.float32(0.25),
        law=mj.Spring(np.float32(100.0)),
    )
    x = np.array([0.0, 3.0])
    assert robot.function("h")(0.0, x, robot.defaults) == pytest.approx([0.1 - 0.5])
    acceleration = robot.function("f")(0.0, x, -np.ones(1), robot.defaults)[1]
    assert acceleration == pytest.approx(-9.81 - 2.0 * 3.0 / np.hypot(3.0, 0.25))


DOUBLE = """<mujoco><option gravity="0 0 0"/><worldbody><body><joint axis="0 1 0"/><geom size="0.1" pos="0.3 0 0"/>
<body pos="0.5 0 0"><joint name="elbow" axis="0 1 0"/><geom size="0.1" pos="0.3 0 0"/></body></body></worldbody>{}</mujoco>"""


def test_targets_of_a_pd_by_name_and_in_order():
    """Also of joints that have no name; and through a gear the torque on the joint is the same."""
    x, rates = np.array([0.2, -0.4, 0.3, 0.1]), []
    motors = "<actuator><motor joint='elbow' gear='3'/><motor joint='elbow'/></actuator>"
    for target, tail in (([0.0, 1.0], ""), ({"elbow": 1.0, "joint0": 0.0}, ""), ({"elbow": 1.0}, ""), ([1.0], motors)):
        robot = mj.load(
            DOUBLE.format(tail), control=mj.PD(np.array(target) if isinstance(target, list) else target, 5.0, 0.5)
        )
        rates.append(robot.function("f")(0.0, x, np.empty(0), robot.defaults))
    assert np.array_equal(rates[0], rates[1])
    assert not np.allclose(rates[0], rates[2])
    assert rates[2] == pytest.approx(rates[3], abs=1e-12)


@pytest.mark.parametrize("motor", ["<motor name='m' joint='elbow' gear='0'/>", "<motor name='m' joint='ball'/>"])
def test_what_a_pd_cannot_hold(motor):
    text = DOUBLE.format(f"<actuator>{motor}</actuator>").replace(
        "<joint axis", "<joint name='ball' type='ball' axis", 1
    )
    with pytest.raises(ValueError, match="'m' is none"):
        mj.load(text, control=mj.PD(0.0, 1.0))


def test_a_height_field_has_no_distance():
    text = """<mujoco><asset><hfield name="hills" nrow="3" ncol="3" size="1 1 1 0.1"/></asset><worldbody>
    <geom name="ground" type="hfield" hfield="hills"/><body pos="0 0 1"><freejoint/><geom name="ball" size="0.1"/></body>
    </worldbody></mujoco>"""
    with pytest.raises(ValueError, match=r"'ground'.*height field"):
        mj.load(text, contacts=("ball", "ground"))


SWING = """<robot name="swing"><link name="base"/><link name="one"><inertial><mass value="{mass}"/>{tensor}</inertial></link>
<link name="two"><inertial><mass value="1"/>{tensor}</inertial></link>
<joint name="lead" type="continuous"><parent link="base"/><child link="one"/><axis xyz="0 1 0"/></joint>
<joint name="follow" type="continuous"><parent link="base"/><child link="two"/><axis xyz="0 1 0"/>{mimic}</joint></robot>"""
TENSOR = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'


def test_what_is_wrong_with_a_urdf_is_named(tmp_path):
    good = SWING.format(mass=1, tensor=TENSOR, mimic="")
    (tmp_path / "SWING.URDF").write_text(good)
    assert mj.load(tmp_path / "SWING.URDF").inputs == ("lead", "follow")
    with pytest.raises(ValueError, match="'follow' mimics 'nobody', which does not exist"):
        mj.load(SWING.format(mass=1, tensor=TENSOR, mimic='<mimic joint="nobody" multiplier="2"/>'))
    with pytest.raises(ValueError, match="'follow' mimics itself"):
        mj.load(SWING.format(mass=1, tensor=TENSOR, mimic='<mimic joint="follow" multiplier="2"/>'))
    with pytest.raises(ValueError, match=r"link 'one'.*'heavy'"):
        mj.load(SWING.format(mass="heavy", tensor=TENSOR, mimic=""))
    (tmp_path / "binary.urdf").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match=r"binary\.urdf is not text"):
        mj.load(tmp_path / "binary.urdf")


def test_a_body_touches_with_the_shapes_that_touch_in_mujoco():
    """Not also with those that are only there to be seen; and one without a shape that is known has no place to touch with."""
    text = """<mujoco><worldbody><body name="foot" pos="0 0 1"><freejoint/><geom type="{}" size="0.1 0.1"/>
    <geom type="sphere" size="0.12" contype="0" conaffinity="0" mass="0"/></body></worldbody></mujoco>"""
    robot = mj.load(text.format("sphere"), contacts="foot")
    assert robot.contacts == ("foot",)
    assert robot.places[0].radius == 0.1
    assert mj.load(text.format("sphere"), contacts="feet").places[0].radius == 0.1
    with pytest.raises(ValueError, match=r"'foot' is a sphere.*Contact\(body='foot'"):
        mj.load(text.format("cylinder"), contacts="foot")


def test_keyframes_and_names_that_are_not_there():
    robot = mj.load(ARM)
    assert robot.name == "robot"
    with pytest.raises(ValueError, match="no keyframe is 'stand'; there are: none"):
        robot.neutral("stand")
    with pytest.raises(TypeError, match="hinge must be a number"):
        robot.x(hinge=[1.0, 2.0])


def test_laws_check_their_numbers():
    for wrong in (
        lambda: mj.Spring(-1.0),
        lambda: mj.Spring("stiff"),
        lambda: mj.HuntCrossley(1.0, exponent=0.5),
        lambda: mj.Coulomb(0.5, 0.0),
        lambda: mj.LuGre(0.4, 0.5),
        lambda: mj.PiecewiseConstant([1.0, 0.0], [[1.0], [2.0]]),
        lambda: mj.Contact(),
        lambda: mj.Contact(geom="a", radius=-1.0),
        lambda: mj.Contact(geom="a", radius=np.inf),
        lambda: mj.Contact(geom="a", point=(0.0, 0.0, 1.0)),  # it would be left out
        lambda: mj.Contact(geom="a", against="b", radius=1.0),
        lambda: mj.PD(0.0, kp=[1.0, 2.0]),
        lambda: mj.Sinusoid(np.nan),
    ):
        with pytest.raises((ValueError, TypeError)):
            wrong()


def test_a_feedback_that_fails_says_why():
    def broken(t, x, p, u):
        u[7] = 1.0

    with pytest.raises(IndexError) as error:
        mj.load(ARM, control=broken)
    assert "hinge" in error.value.__notes__[0]
    with pytest.raises(ValueError, match=r"control returned 2 values.*one for each input"):
        mj.load(ARM, control=lambda t, x, p: [0.0, 0.0])

    def breaks_later(t, x, p, u):
        u[0 if t < 0.5 else 7] = 1.0

    with pytest.raises(IndexError):
        bd.solve(mj.load(ARM, control=breaks_later), (0.0, 1.0), [0.0, 0.0])


def test_a_feedback_that_does_not_compile_runs_as_python():
    class Memory(dict):
        pass

    memory = Memory()

    def feedback(t, x, p, u):
        u[0] = memory.setdefault("torque", 0.3)

    with pytest.warns(bd.PerformanceWarning, match="control does not compile"):
        slow = mj.load(ARM, control=feedback)
    fast = mj.load(ARM, control=mj.PiecewiseConstant([0.0], [[0.3]]))
    ends = [bd.solve(robot, (0.0, 0.3), [0.0, 0.0]).x[-1] for robot in (slow, fast)]
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)


@pytest.mark.fresh
def test_a_second_process_runs_from_the_cache():
    """And calls no Python in the loop: a profile of all Python calls does not grow with the number of steps."""
    code = """
import sys
import bouligand as bd
from bouligand.bridges import mujoco as mj
from tests.helpers import robots
robot = robots.solo()
x = robots.above_floor(robot, 0.02)
counts = []
for end in (0.01, 0.2) * 3:  # (the first ones make the memory of the later ones)
    calls = []
    sys.setprofile(lambda frame, event, argument: calls.append(1))
    sol = bd.solve(robot, (0.0, end), x)
    sys.setprofile(None)
    counts.append((len(calls), sol.counts.f))
print(counts[4][0], counts[5][0], counts[4][1], counts[5][1], repr(float(sol.x[-1][2])))
from bouligand.bridges.mujoco.compiled import _keep
print(sum(c.cache_hits for c in _keep), len(_keep))
"""
    outputs = []
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        outputs.append(done.stdout.splitlines())
    (first, _), (second, later_hits) = outputs
    assert first.split()[-1] == second.split()[-1]
    assert later_hits.split()[0] == later_hits.split()[1]
    short, long, few, many = map(int, second.split()[:4])
    assert many > 5 * few
    assert long < short + 200


@pytest.mark.fresh
def test_the_pictures_of_the_docs(tmp_path):
    """In a process of its own, which renders: four feet of Solo12 at once, the ant's legs in pairs."""
    script = pathlib.Path(__file__).parents[2] / "examples" / "robots.py"
    environment = {"MUJOCO_GL": "egl", **os.environ}
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path)], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout.startswith("solo: 8 events")
    assert {path.name for path in tmp_path.iterdir()} == {"solo.png", "ant.png"}


@pytest.mark.parametrize(
    ("mimic", "message"),
    [
        ('<mimic multiplier="2"/>', "'b' has a <mimic> that does not say whom it follows"),
        ('<mimic joint="a" multiplier="nan"/>', "'b' mimics with the multiplier 'nan'; it must be a finite number"),
        ('<mimic joint="a" offset="far"/>', "'b' mimics with the offset 'far'"),
        ('<mimic joint="b"/>', "'b' mimics itself"),
        ('<mimic joint="z"/>', "mimics 'z', which does not exist.*or remove <mimic>"),
    ],
)
def test_mimics_that_cannot_be(mimic, message, tmp_path):
    joint = '<joint name="{}" type="continuous"><parent link="{}"/><child link="{}"/><axis xyz="0 1 0"/>{}</joint>'
    solid = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    links = "".join(f'<link name="{name}">{solid}</link>' for name in ("l0", "l1", "l2"))
    path = tmp_path / "robot.urdf"
    path.write_text(
        f'<robot name="r">{links}{joint.format("a", "l0", "l1", "")}{joint.format("b", "l1", "l2", mimic)}</robot>'
    )
    with pytest.raises(ValueError, match=message):
        mj.load(path)


def test_states_and_pictures_that_cannot_be(tmp_path):
    robot = mj.load(ARM, limits="ignore")
    with pytest.raises(ValueError, match="no hinge or slide is called 'knee'; there are "):
        robot.x(knee=1.0)
    with pytest.raises(ValueError, match="qpos must be finite"):
        robot.x(qpos=np.full(robot.model.nq, np.nan))
    solution = bd.solve(robot, (0.0, 0.01), robot.neutral())
    pendulum = (
        '<mujoco><worldbody><body><joint name="only" axis="0 1 0"/><geom size="0.1"/></body></worldbody></mujoco>'
    )
    other = mj.load(pendulum)
    for options, message in (
        ({"size": (0, 0)}, "size, in pixels, must be a whole number, at least 1; got 0"),
        ({"times": []}, "times must not be empty"),
        ({"times": [np.nan]}, "times must be a vector of finite numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            mj.pictures.film(robot, solution, tmp_path / "a.gif", **options)
    for show in (
        lambda: mj.pictures.film(other, solution, tmp_path / "a.gif"),
        lambda: mj.pictures.serve(other, solution),
    ):
        with pytest.raises(ValueError, match=r"solution: it is one of .* not of the robot"):
            show()
