"""Joints that follow others: against the motion in the coordinates of the others alone, written by hand; and what cannot be."""

import numpy as np
import pytest

import bouligand as bd
from bouligand.bridges import mujoco as mj

from ..helpers import robots

CHAIN = """<mujoco><option gravity="0 0 -9.81"/><worldbody><body>
<joint name="a" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".02" mass=".5"/>
<body pos=".3 0 0"><joint name="b" axis="0 1 0" range="-60 10" limited="true"/>
<geom type="capsule" fromto="0 0 0 .3 0 .1" size=".02" mass=".4"/><site name="tip" pos=".3 0 .1"/>
<body pos=".3 0 0"><joint name="c" axis="0 0 1"/><geom type="capsule" fromto="0 0 0 .2 0 .1" size=".02" mass=".3"/>
</body></body></body></worldbody>WITH</mujoco>"""
TWO = """<equality><joint joint1="b" joint2="a" polycoef=".1 -1.5 0 0 0"/>
<joint joint1="c" joint2="b" polycoef="0 .5 0 0 0"/></equality>"""  # (the second follows one that follows)
TENDON = """<tendon><fixed name="sum"><joint joint="a" coef="1"/><joint joint="b" coef="2"/></fixed></tendon>
<equality><tendon tendon1="sum" polycoef="0.2 0 0 0 0"/></equality>"""


def chain(with_, **options):
    return mj.load(CHAIN.replace("WITH", with_), **{"limits": "ignore", **options})


def by_hand(robot, a, speed, G, offset):
    """a'' of the chain with q = offset + G a: (G' M G) a'' = G' (forces - M G' a')."""
    import mujoco

    free = chain("")
    model, data = free.model, mujoco.MjData(free.model)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    data.qpos[:], data.qvel[:] = offset + G * a, G * speed
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    return G @ data.qfrc_smooth / (G @ M @ G)


@pytest.mark.parametrize(
    ("with_", "G", "offset"),
    [
        (TWO, np.array([1.0, -1.5, -0.75]), np.array([0.0, 0.1, 0.05])),
    ],
)
def test_the_motion_is_that_of_the_other_joints(with_, G, offset):
    robot = chain(with_)
    for a, speed in ((0.3, 0.0), (-0.7, 2.0)):
        x = np.concatenate([offset + G * a, G * speed])
        dx = robot.function("f")(0.0, x, [], robot.parameters())
        assert np.allclose(dx[3:], G * by_hand(robot, a, speed, G, offset), rtol=1e-9, atol=1e-9)
        # what is said of joints that follow has no effect
        wrong = x.copy()
        wrong[[1, 2, 4, 5]] += 0.3
        assert np.array_equal(robot.function("f")(0.0, wrong, [], robot.parameters()), dx)
        assert np.allclose(robot.x(a=a)[:3], x[:3])


def test_energy_is_conserved_and_nothing_drifts():
    robot = chain(TWO)
    x = robot.x(a=0.3)
    sol = bd.solve(robot, (0.0, 2.0), x, rtol=1e-11)
    energies = [robot.energy(state).sum() for state in sol(np.linspace(0.0, 2.0, 9))]
    assert np.ptp(energies) < 1e-9
    assert np.allclose(sol.x[:, 1], 0.1 - 1.5 * sol.x[:, 0], rtol=0, atol=1e-12)
    assert np.allclose(sol.x[:, 2], 0.5 * sol.x[:, 1], rtol=0, atol=1e-12)


def test_couplings_by_tendons():
    robot = chain(TENDON)
    x = robot.x(a=0.4)
    start = x[0] + 2 * x[1]
    assert start == pytest.approx(0.2)
    sol = bd.solve(robot, (0.0, 1.0), x, rtol=1e-10)
    assert np.allclose(sol.x[:, 0] + 2 * sol.x[:, 1], 0.2, rtol=0, atol=1e-10)
    assert np.ptp([robot.energy(state).sum() for state in sol(np.linspace(0.0, 1.0, 5))]) < 1e-8


def test_jacobians():
    robot = chain(TWO, contacts="tip", limits=None, friction=mj.LuGre(0.8, 0.6))
    rng = np.random.default_rng(1)
    x, p, word = robot.x(a=0.3), robot.parameters(), np.ones(robot.m)
    x[3:6], x[6:] = rng.normal(size=3), 1e-4
    assert robot.jacobians.Df == "given"
    for name, function in (
        ("Df", lambda y: robot.function("f")(0.0, y, word, p)),
        ("Dh", lambda y: robot.function("h")(0.0, y, p)),
    ):
        J = robot.function(name)(0.0, x, word, p) if name == "Df" else robot.function(name)(0.0, x, p)
        for j, d in enumerate(1e-5 * np.eye(robot.n)):
            column = (8 * (function(x + d) - function(x - d)) - function(x + 2 * d) + function(x - 2 * d)) / 12e-5
            assert np.allclose(J[:, j], column, rtol=0, atol=1e-6 * max(1.0, np.abs(column).max()))


@pytest.mark.parametrize(
    ("with_", "message"),
    [
        ('<equality><joint joint1="a" joint2="b" polycoef="0 1 .5 0 0"/></equality>', "not linear"),
        (
            '<equality><joint joint1="a" joint2="b"/><joint joint1="b" joint2="a" polycoef="1 1 0 0 0"/></equality>',
            "contradicts",
        ),
        ('<equality><connect site1="tip" site2="root"/></equality>', "loops of bodies"),
    ],
)
def test_what_cannot_be(with_, message):
    xml = CHAIN.replace("WITH", with_).replace("<worldbody>", '<worldbody><site name="root"/>')
    with pytest.raises(ValueError, match=message):
        mj.load(xml)


WHEEL = """<mujoco><worldbody><body><joint name="axle" axis="0 1 0" frictionloss="0.3"/>
<inertial pos="0.1 0 0" mass="MASS" diaginertia="0.1 0.1 0.1"/></body></worldbody></mujoco>"""


def test_dry_friction_sticks_and_slips():
    """Below its friction a joint comes to rest and stays, to 1e-9 rad/s; above it, it feels the friction and nothing else."""
    held = mj.load(WHEEL.replace("MASS", "0.2"))  # 0.196 N m of weight
    assert held.states == ("qpos:axle", "qvel:axle", "bristle:axle")
    assert held.params == ("joint_deflection", "joint_damping")
    sol = bd.solve(held, (0.0, 10.0), held.neutral(), rtol=1e-9)
    assert abs(sol.x[-1, 1]) < 1e-8
    assert 0.0 < sol.x[-1, 0] < 0.02  # (it slips a little while it settles)
    assert abs(sol(10.0)[0] - sol(5.0)[0]) < 1e-8
    spun = mj.load(WHEEL.replace('pos="0.1 0 0"', 'pos="0 0 0"').replace("MASS", "1"))
    end = bd.solve(spun, (0.0, 1.0), [0.0, 10.0, 0.01], rtol=1e-10).x[-1]
    assert end[1] == pytest.approx(10.0 - 3.0, abs=1e-3)


def test_jacobians_of_dry_friction():
    robot = mj.load(WHEEL.replace("MASS", "1"))
    p = robot.parameters()
    for x in np.array([[0.2, 0.5, 0.004], [0.2, -3e-4, 0.002], [0.1, 0.0, -0.003]]):
        f = robot.function("f")
        for name, size in (("Df", x), ("Dp_f", p)):
            J = robot.function(name)(0.0, x, [], p)
            for j in range(len(size)):
                d = np.zeros(len(size))
                d[j] = 1e-7 if name == "Df" else 1e-5 * p[j]
                high, low = (f(0.0, x + s * d, [], p) if name == "Df" else f(0.0, x, [], p + s * d) for s in (1, -1))
                assert np.allclose(J[:, j], (high - low) / (2 * d[j]), rtol=1e-5, atol=1e-4)


MIMIC = """<robot name="gripper"><link name="palm"><inertial><mass value="1"/><inertia ixx="1e-3" iyy="1e-3" izz="1e-3"
 ixy="0" ixz="0" iyz="0"/></inertial></link><link name="left"/><link name="right"><inertial><mass value="0.1"/>
 <inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="l" type="prismatic"><parent link="palm"/><child link="left"/><axis xyz="0 1 0"/>
 <limit lower="0" upper="0.1" effort="1" velocity="1"/></joint>
<joint name="r" type="prismatic"><parent link="palm"/><child link="right"/><axis xyz="0 -1 0"/>
 <mimic joint="l" multiplier="2" offset="0.01"/>
 <limit lower="0" upper="0.3" effort="1" velocity="1"/></joint></robot>"""


def test_mimic_joints_and_links_without_mass_or_inertia():
    with pytest.warns(mj.RobotFileWarning) as caught:
        robot = mj.load(MIMIC, free_base=True)
    told = " ".join(str(warning.message) for warning in caught)
    assert "masses without inertia: right;" in told
    assert "no mass: left;" in told
    x = robot.x(l=0.02)
    assert x[robot.states.index("qpos:r")] == pytest.approx(2 * 0.02 + 0.01)
    sol = bd.solve(robot, (0.0, 0.3), x)
    left, right = (sol.x[:, robot.states.index(f"qpos:{name}")] for name in "lr")
    assert np.allclose(right, 2 * left + 0.01, rtol=0, atol=1e-9)


def test_everything_touches_and_flat_feet():
    xml = """<mujoco><worldbody><body pos="0 0 1"><freejoint/><geom type="box" size=".2 .1 .1" mass="1"/>
    <geom name="can" type="cylinder" size=".05 .1" pos=".3 0 0" mass=".1"/>
    <geom name="egg" type="ellipsoid" size=".1 .05 .02" mass=".1"/>
    <body pos="0 0 -.2"><joint name="ankle" axis="0 1 0"/><geom name="sole" type="box" size=".1 .05 .01" pos="0 0 -.1" mass=".2"/>
    </body></body></worldbody></mujoco>"""
    robot = mj.load(xml, contacts="everything")
    assert len(robot.contacts) == 8 + 16 + 26 + 8
    feet = mj.load(xml, contacts="feet", friction=mj.LuGre(0.8, 0.7))
    assert len(feet.contacts) == 4
    heights = feet.points(feet.neutral())[:, 2]
    assert np.allclose(heights, 1 - 0.2 - 0.11)
    x = feet.neutral()
    x[2] -= heights.min()
    sol = bd.solve(feet, (0.0, 0.2), x, rtol=1e-5)
    assert feet.touching(sol.b[-1]).sum() == 4
    x = robot.neutral()
    x[2] = 0.35
    assert np.isfinite(bd.solve(robot, (0.0, 0.3), x, rtol=1e-4).x).all()
    with pytest.raises(ValueError, match="no body that moves has a shape"):
        mj.load(
            robots.SOLO,
            contacts="everything",
            free_base=True,
            edit=lambda spec: [spec.delete(g) for g in list(spec.geoms)],
        )


def test_hundreds_of_stops_at_rest_on_their_limits():
    """More guards come near at once than the event table has rows at first: it grows."""
    joints = "".join(
        f'<body pos="{0.1 * i} 0 0"><joint name="j{i}" axis="0 1 0" range="0 60" limited="true"/>'
        f'<inertial pos="0 0 -.1" mass="1" diaginertia=".01 .01 .01"/></body>'
        for i in range(150)
    )
    robot = mj.load(f"<mujoco><worldbody>{joints}</worldbody></mujoco>")
    x = robot.neutral()
    x[:150] = np.linspace(0.0, 1e-7, 150)
    sol = bd.solve(robot, (0.0, 0.2), x, rtol=1e-4)
    assert sol.success
