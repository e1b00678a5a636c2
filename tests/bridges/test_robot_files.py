"""Robot files as they come, and what is said about those that cannot be simulated."""

import warnings
import xml.etree.ElementTree as ET

import mujoco
import numpy as np
import pytest

import bouligand as bd
from bouligand.bridges import mujoco as mj

from ..helpers import robots
from ..helpers.robots import quietly


@pytest.mark.parametrize(
    ("file", "feet"),
    [
        (robots.SOLO, {"FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"}),
        (robots.GO2, {"FL_foot", "FR_foot", "RL_foot", "RR_foot"}),
        (robots.ANYMAL_B, {"LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"}),
        (robots.ANYMAL_C, {"LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"}),
    ],
    ids=("solo12", "go2", "anymal-b", "anymal-c"),
)
def test_quadrupeds_as_they_come(file, feet):
    """With all their mass and nothing else; they fall freely, and stand up to being dropped."""
    robot = quietly(file, contacts="feet", free_base=True, limits="ignore")
    assert set(robot.contacts) == feet
    assert (robot.model.nq, robot.model.nv) == (19, 18)
    masses = [float(mass.get("value", "nan")) for mass in ET.parse(file).getroot().findall("link/inertial/mass")]
    assert robot.model.body_mass.sum() == pytest.approx(sum(masses), rel=1e-12)
    x = robot.neutral()
    x[2] += 0.01 - min(robot.points(x)[:, 2] - [place.radius for place in robot.places])
    fall = robot.function("f")(0.0, x, -np.ones(robot.m), robot.defaults)
    assert fall[robot.model.nq :][:3] == pytest.approx([0.0, 0.0, -9.81], abs=1e-9)
    sol = bd.solve(robot, (0.0, 0.06), x)
    assert len(set(sol.events.name[[name.endswith("touches") for name in sol.events.name]])) == 4


def hand_and_rod(spec):
    """Balls at the fingertips of the Allegro hand, something to close on, and joints that are not as stiff as the file's."""
    for joint in spec.joints:
        joint.damping, joint.frictionloss, joint.armature = [0.02, 0.0, 0.0], 0.0, 1e-4
    sphere = mujoco.mjtGeom.mjGEOM_SPHERE
    for site in list(spec.sites):
        if site.name.endswith("_tip"):
            site.parent.add_geom(name=f"{site.name}_ball", type=sphere, size=[0.012, 0, 0], pos=site.pos)
    rod = spec.worldbody.add_body(name="rod", pos=[0.09, 0.0, 0.08], gravcomp=1.0)
    rod.add_freejoint(name="rod")
    rod.add_geom(
        name="rod", type=mujoco.mjtGeom.mjGEOM_CAPSULE, size=[0.02, 0, 0], fromto=[0, -0.1, 0, 0, 0.1, 0], mass=0.2
    )


def test_allegro_hand_closes_on_a_rod():
    """Three fingers that reach a rod almost at once, by MuJoCo's distance between geoms; against a much tighter tolerance."""
    fingers = [f"link_{i}.0_tip_ball" for i in (3, 7, 11)]
    closed = {f"joint_{i}.0": 0.0 if i in (0, 4, 8) else 0.9 for i in range(12)}
    robot = quietly(
        robots.ALLEGRO,
        contacts=[(finger, "rod") for finger in fingers],
        control=mj.PD(closed, kp=1.0, kd=0.05),
        law=mj.HuntCrossley(1e5, 0.2),
        friction=mj.Coulomb(0.8, 0.02),
        edit=hand_and_rod,
    )
    assert len(robot.inputs) == 16
    assert robot.m == 6 + 32  # a contact and its push for three fingers, two stops for 16 joints
    x = robot.neutral()
    rough, tight = (bd.solve(robot, (0.0, 0.15), x, rtol=rtol) for rtol in (1e-6, 1e-10))
    assert {name for name in tight.events.name if name.endswith("touches")} == {f"{f}-rod touches" for f in fingers}
    rod = robot.states.index("qpos:rod:x")
    assert np.linalg.norm(tight.x[-1][rod : rod + 3] - x[rod : rod + 3]) > 0.005  # it was pushed
    assert rough.x[-1] == pytest.approx(tight.x[-1], abs=1e-3)
    assert robot.check(tight.x[-1]).jacobians["Dh"] < 1e-6


def test_dry_friction_of_joints():
    """A wheel with frictionloss slows down at a constant rate, well above the speed below which that is rounded off."""
    wheel = """<mujoco><worldbody><body><joint name="axle" axis="0 0 1" frictionloss="0.3"/>
    <inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/></body></worldbody></mujoco>"""
    robot = mj.load(wheel, joint_friction=1e-3)
    end = bd.solve(robot, (0.0, 1.0), [0.0, 10.0], rtol=1e-10).x[-1]
    assert end[1] == pytest.approx(10.0 - 3.0, abs=1e-6)


def test_ant_from_gymnasium():
    """MJCF with motors, limits and a plane: stands on its four feet and stays on the floor."""
    ant = mj.load(robots.ANT, contacts="feet", friction=mj.Coulomb(0.8, 0.05), law=mj.Spring(5000.0, 50.0))
    assert len(ant.contacts) == 4
    assert len(ant.inputs) == ant.model.nu == 8
    x = ant.neutral()
    for i in range(1, 5):
        x[ant.states.index(f"qpos:ankle_{i}")] = 1.0 if i in (1, 4) else -1.0
    x[2] += 0.02 - min(ant.points(x)[:, 2] - [place.radius for place in ant.places])
    sol = bd.solve(ant, (0.0, 0.5), x, rtol=1e-5)
    radius = ant.places[0].radius
    assert min(ant.points(sol.x[-1])[:, 2]) > 0.9 * radius - 0.02
    assert ant.touching(sol.b[-1]).any()


def test_inertias_that_no_body_has_are_named():
    with pytest.warns(mj.RobotFileWarning, match=r"base") as caught:
        mj.load(robots.ANYMAL_B, free_base=True)
    assert caught[0].filename == __file__
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mj.load(robots.SOLO, free_base=True)


def test_the_nearest_possible_inertia():
    from bouligand.bridges.mujoco.inertias import _possible_inertia

    fine = np.diag([1.0, 2.0, 2.5])
    assert _possible_inertia(fine, 1.0) is fine
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    for moments in ([1.0, 1.0, 2.5], [-0.1, 1.0, 1.2], [0.0, 0.0, 0.0]):
        found = np.linalg.eigvalsh(_possible_inertia(turn @ np.diag(moments) @ turn.T, 1.0))
        assert found[0] > 0
        assert found[0] + found[1] >= found[2] * (1 - 1e-12)
        assert np.abs(np.sort(moments) - found).max() < 0.6


def test_links_on_fixed_joints_keep_their_mass_where_it_is():
    """Made part of the link they are fixed to, or bodies of their own: the same motion."""

    def apart(spec):
        spec.compiler.fusestatic = False

    one, many = mj.load(robots.SOLO, free_base=True), mj.load(robots.SOLO, free_base=True, edit=apart)
    assert many.model.nbody == one.model.nbody + 4
    x, word = robots.random_state(one, 6), -np.ones(one.m)
    rates = [robot.function("f")(0.0, x, word, robot.defaults) for robot in (one, many)]
    assert rates[0] == pytest.approx(rates[1], rel=1e-9, abs=1e-9)


def test_package_paths_and_meshes():
    seen = mj.load(robots.SOLO, free_base=True, meshes=True)
    unseen = mj.load(robots.SOLO, free_base=True)
    assert seen.model.nmesh > 4
    assert unseen.model.nmesh == 0
    x = robots.random_state(seen, 2)
    word = np.ones(seen.m)
    rates = [robot.function("f")(0.0, x, word, robot.defaults) for robot in (seen, unseen)]
    assert rates[0] == pytest.approx(rates[1], rel=1e-12)
    text = robots.SOLO.read_text().replace("package://example-robot-data/", "package://nowhere/at/all/")
    with pytest.raises(ValueError, match="package_dirs"):
        mj.load(text, meshes=True)
