"""Numbers that no robot has are refused by the name of what has them; MuJoCo's warnings are Python's, and write no file."""

import warnings

import mujoco
import numpy as np
import pytest

import bouligand as bd
from bouligand.bridges import mujoco as mj

URDF = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="knee" type="revolute">
<parent link="a"/><child link="b"/><axis xyz="0 1 0"/><limit lower="{}" upper="{}" effort="1" velocity="1"/></joint></robot>"""


def arm(joint="", tendon="", actuator="", option="", geom=""):
    return f"""<mujoco><option {option}/><worldbody><body><joint name="elbow" {joint}/><geom name="hand" size=".1" {geom}/>
    </body></worldbody><tendon><fixed name="string" {tendon}><joint joint="elbow" coef="1"/></fixed></tendon>
    <actuator><general name="motor" joint="elbow" {actuator}/></actuator></mujoco>"""


@pytest.mark.parametrize(
    ("where", "who"),
    [("joint", "the joint 'elbow'"), ("tendon", "the tendon 'string'"), ("actuator", "the actuator 'motor'")],
)
def test_crossed_limits_and_negative_numbers_name_who_has_them(where, who):
    names = {
        "joint": ("range", "actuatorfrcrange"),
        "tendon": ("range", "actuatorfrcrange"),
        "actuator": ("ctrlrange", "forcerange"),
    }[where]
    for name in names:
        for limited in ("", f'{name.replace("range", "")}limited="false"'):  # (with "true" MuJoCo refuses it)
            with pytest.raises(ValueError, match=f"{who} has the {name} 2 -1, of which the first must be the smaller"):
                mj.load(arm(**{where: f'{name}="2 -1" {limited}'}))
    quantities = {
        "joint": ("stiffness", "damping", "armature", "frictionloss"),
        "tendon": ("stiffness", "damping"),
        "actuator": (),
    }
    for name in quantities[where]:
        with pytest.raises(ValueError, match=f"{who} has the {name} -0.5, which must not be negative"):
            mj.load(arm(**{where: f'{name}="-0.5"'}))


def test_other_numbers_that_no_robot_has():
    for given, says in (
        ({"option": 'density="-1"'}, "the option density is -1"),
        ({"option": 'gravity="0 0 inf"'}, "gravity is not finite"),
        ({"option": 'wind="nan 0 0"'}, "wind is not finite"),
        ({"geom": 'friction="-1"'}, "the geom 'hand' has the friction -1"),
        ({"actuator": 'dyntype="filter" dynprm="-1"'}, r"the actuator 'motor' has the time constant \(dynprm\) -1"),
    ):
        with pytest.raises(ValueError, match=says):
            mj.load(arm(**given))
    # each once, and of many the first
    many = "".join(f'<body><joint name="j{k}" armature="-1"/><geom size="1"/></body>' for k in range(20))
    with pytest.raises(ValueError, match=r"'j0'.*; the joint 'j7' has .* and 12 more") as error:
        mj.load(f"<mujoco><worldbody>{many}</worldbody></mujoco>")
    assert "'j8'" not in str(error.value)


def test_a_urdf_and_models_that_were_made_elsewhere():
    with pytest.raises(ValueError, match="the joint 'knee' has the range 1 -1"):
        mj.load(URDF.format(1, -1))
    assert mj.load(URDF.format(-1, 1)).m == 2
    spec = mujoco.MjSpec.from_string(arm())
    spec.joints[0].range = [1.0, -1.0]
    for model in (spec, spec.compile()):
        with pytest.raises(ValueError, match="the joint 'elbow' has the range 1 -1"):
            mj.load(model)

    def mend(spec):
        spec.joints[0].range = [-1.0, 1.0]

    assert mj.load(arm(joint='range="1 -1"'), edit=mend).m == 2


def test_warnings_of_mujoco_during_a_solve_are_pythons(tmp_path, monkeypatch):
    """Without a handler they go to MUJOCO_LOG.TXT in the current folder: inputs so large that it takes them for zero, say."""
    monkeypatch.chdir(tmp_path)
    robot = mj.load(arm(), control=mj.Hold())
    word, fine = np.ones(robot.m), robot.hold([3.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bd.solve(robot, (0.0, 0.1), robot.neutral(), p=fine)
    huge = robot.hold([2e10])
    with pytest.warns(mj.RobotFileWarning, match="MuJoCo.*CTRL at ACTUATOR 0") as found:
        bd.solve(robot, (0.0, 0.1), robot.neutral(), p=huge)
    assert {one.filename for one in found} == {__file__}
    with pytest.warns(mj.RobotFileWarning, match="CTRL"):  # (and each time that it happens)
        robot.function("f")(0.0, robot.neutral(), word, huge)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bd.solve(robot, (0.0, 0.1), robot.neutral(), p=fine)
    assert not list(tmp_path.iterdir())
    assert mujoco.get_mju_user_warning() is None


def test_warnings_while_a_file_is_read_come_once(tmp_path, monkeypatch):
    """MuJoCo 4 gives those of its compiler twice."""
    monkeypatch.chdir(tmp_path)
    with pytest.warns(UserWarning, match="'knee' has equal lower and upper limits") as found:
        mj.load(URDF.format(1, 1))
    assert [(one.category, one.filename) for one in found] == [(mj.RobotFileWarning, __file__)]
    assert not list(tmp_path.iterdir())
