"""The MuJoCo bridge: its motion against closed forms and MuJoCo itself, its contacts against an independent integration."""

import warnings

import mujoco
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import bouligand as bd
from bouligand.bridges import mujoco as mj

from ..helpers import robots
from ..helpers.robots import BALL

TOP = """<mujoco><option gravity="0 0 -9.81"/><worldbody><body name="top"><freejoint name="base"/>
<inertial pos="0 0 0" mass="2" diaginertia="0.02 0.03 0.045"/><site name="tip" pos="0.1 0 -0.2"/></body></worldbody></mujoco>"""


# ----------------------------------------------------------------------------------------------------- without contacts


def test_free_fall_and_a_spin_about_a_principal_axis():
    top = mj.load(TOP)
    x = top.x(qvel=[0.3, 0.0, 2.0, 0.0, 5.0, 0.0])
    sol = bd.solve(top, (0.0, 2.0), x, rtol=1e-10)
    end = sol.x[-1]
    assert end[:3] == pytest.approx([0.6, 0.0, 4.0 - 0.5 * 9.81 * 4.0], abs=1e-9)
    assert end[3:7] == pytest.approx([np.cos(5.0), 0.0, np.sin(5.0), 0.0], abs=1e-8)
    assert np.linalg.norm(sol(np.linspace(0, 2, 50))[:, 3:7], axis=1) == pytest.approx(1.0, abs=1e-14)


def test_an_asymmetric_top_against_eulers_equations():
    """Near its middle axis, where it tumbles. Energy and the angular momentum in space stay; omega follows Euler's equations."""
    inertia = np.array([0.02, 0.03, 0.045])
    top = mj.load(TOP)
    x = top.x(qvel=[0, 0, 0, 0.01, 6.0, 0.02])
    sol = bd.solve(top, (0.0, 4.0), x, rtol=1e-10)

    def euler(t, w):
        return np.cross(inertia * w, w) / inertia

    reference = solve_ivp(euler, (0, 4), x[10:], method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    end = sol.x[-1]
    assert np.abs(reference - x[10:]).max() > 1.0  # it did tumble
    assert end[10:] == pytest.approx(reference, abs=1e-6)
    turn = np.empty(9)
    mujoco.mju_quat2Mat(turn, end[3:7])
    assert turn.reshape(3, 3) @ (inertia * end[10:]) == pytest.approx(inertia * x[10:], abs=1e-8)


@pytest.mark.parametrize("file", [robots.SOLO, robots.ANT, robots.ALLEGRO], ids=lambda path: path.stem)
def test_f_is_mj_forward(file):
    """Without contacts, with inputs, at random states: MuJoCo's own accelerations to round-off."""
    inputs = 16 if file == robots.ALLEGRO else 8 if file == robots.ANT else 12
    u = 0.3 * np.sin(np.arange(1.0, inputs + 1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mj.RobotFileWarning)
        robot = mj.load(
            file,
            control=mj.PiecewiseConstant([0.0], [u]),
            limits="ignore",
            joint_friction="ignore",
            free_base=file == robots.SOLO,
        )
    model = robot.model
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    for seed in range(5):
        x = robots.random_state(robot, seed)
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:] = x[: model.nq], x[model.nq :]
        if model.nu:
            data.ctrl[:] = u
        else:
            data.qfrc_applied[robot.memory.driver.dofs] = u
        mujoco.mj_forward(model, data)
        dx = robot.function("f")(0.0, x, np.empty(0), robot.defaults)
        assert dx[model.nq :] == pytest.approx(data.qacc, rel=1e-11, abs=1e-9)
        later = data.qpos.copy()  # q' against MuJoCo's own integration of positions
        mujoco.mj_integratePos(model, later, data.qvel, 1e-7)
        assert dx[: model.nq] == pytest.approx((later - data.qpos) / 1e-7, abs=1e-5)


def test_the_flow_commutes_with_the_length_of_a_quaternion():
    robot = robots.solo()
    x = robots.random_state(robot, 3)
    f, word = robot.function("f"), np.ones(robot.m)
    long = x.copy()
    long[3:7] *= 3.0
    one, three = f(0.0, x, word, robot.defaults), f(0.0, long, word, robot.defaults)
    one[3:7] *= 3.0
    assert three == pytest.approx(one, rel=1e-9, abs=1e-9)
    assert robot.function("h")(0.0, long, robot.defaults) == pytest.approx(robot.function("h")(0.0, x, robot.defaults))


# ------------------------------------------------------------------------------------------------------------ contacts


@pytest.mark.parametrize(
    "law", [mj.Spring(3000.0, 40.0, preload=5.0), mj.HuntCrossley(2e5, 0.4)], ids=lambda law: type(law).__name__
)
def test_rows_of_dh(law):
    """Rows of depths and of forces (whose derivative in the pose is a second derivative of kinematics) against differences."""
    robot = robots.solo(law=law, limits=None)
    x = robots.random_state(robot, 5)
    report = robot.check(x)
    assert report.jacobians["Dh"] < 1e-8


def test_forces_do_the_work_that_the_energy_loses():
    """Power of all contacts, from the change of the robot's own energy: springs give back, dampers and friction take."""
    robot = robots.solo(control=None, law=mj.Spring(5000.0, 30.0), friction=mj.Coulomb(0.6, 0.02))
    x = robots.random_state(robot, 11)
    x[2] = 0.1
    word = np.ones(robot.m)
    dx = robot.function("f")(0.0, x, word, robot.defaults)
    step = 1e-6
    change = (sum(robot.energy(x + step * dx)) - sum(robot.energy(x - step * dx))) / (2 * step)
    power = 0.0
    data = robot.data(x)
    for foot in robot.contacts:
        jacobian = np.zeros((3, robot.model.nv))
        mujoco.mj_jacSite(robot.model, data, jacobian, None, robot.model.site(foot).id)
        velocity = jacobian @ data.qvel
        force = 5000.0 * -data.site(foot).xpos[2] - 30.0 * velocity[2]
        slip = velocity[:2]
        power += force * velocity[2] - 0.6 * force * slip @ slip / np.sqrt(slip @ slip + 0.02**2)
    assert change == pytest.approx(power, rel=1e-7)


def test_a_preloaded_foot_pushes_at_once_and_does_not_pull():
    ball = mj.load(BALL, contacts="ball", law=mj.Spring(1000.0, 5.0, preload=20.0))
    x = ball.x(qvel=[0, 0, -3.0, 0, 0, 0])
    x[2] = 0.1 - 1e-12
    before = ball.function("f")(0.0, x, np.array([-1.0, 1.0]), ball.defaults)
    after = ball.function("f")(0.0, x, np.array([1.0, 1.0]), ball.defaults)
    assert before[9] == pytest.approx(-9.81)
    assert after[9] == pytest.approx(-9.81 + 20.0 + 15.0)
    assert ball.function("f")(0.0, x, np.array([1.0, -1.0]), ball.defaults)[9] == pytest.approx(-9.81)


def test_a_bouncing_ball_leaves_where_its_force_ends():
    """Spring and damper without pulling: the flight after leaving is known from the closed form of the damped oscillation."""
    k, c, g = 2000.0, 20.0, 9.81
    ball = mj.load(BALL, contacts="ball", law=mj.Spring(k, c))
    x = ball.x()
    sol = bd.solve(ball, (0.0, 0.7), x, rtol=1e-11)
    fall = np.sqrt(2 * 0.9 / g)
    assert robots.when(sol, "touches")[0] == pytest.approx(fall, abs=1e-10)
    # z'' = -g - k z - c z' from z = 0, z' = -g fall; leaves at k z + c z' = 0 with z < 0
    rate, turn = c / 2, np.sqrt(k - c * c / 4)
    sag, speed = g / k, -g * fall

    def z(s):
        a, b = sag, (speed + rate * sag) / turn
        e, co, si = np.exp(-rate * s), np.cos(turn * s), np.sin(turn * s)
        return np.array([e * (a * co + b * si) - sag, e * ((b * turn - rate * a) * co - (a * turn + rate * b) * si)])

    from scipy.optimize import brentq

    leave = brentq(lambda s: k * z(s)[0] + c * z(s)[1], 0.5 * np.pi / turn, np.pi / turn, xtol=1e-14)
    assert robots.when(sol, "pushes", -1)[0] == pytest.approx(fall + leave, abs=1e-9)
    height, up = z(leave)
    rest = 0.7 - fall - leave
    assert sol.x[-1][2] - 0.1 == pytest.approx(height + up * rest - 0.5 * g * rest**2, abs=1e-8)


def test_hunt_crossley_beyond_release_is_finite_and_odd():
    ball = mj.load(BALL, contacts="ball", law=mj.HuntCrossley(1e5, 0.0, exponent=1.5))
    word = np.ones(ball.m)
    rates = []
    for depth in (1e-3, -1e-3):
        x = ball.x()
        x[2] = 0.1 - depth
        rates.append(ball.function("f")(0.0, x, word, ball.defaults)[9] + 9.81)
    assert rates[0] == pytest.approx(1e5 * 1e-3**1.5)
    assert rates[1] == pytest.approx(-rates[0])


@pytest.mark.parametrize(
    "friction",
    [mj.Coulomb(0.5, 1e-3), mj.LuGre(0.5, 0.5, sigma0=3000.0, sigma1=3.0)],
    ids=lambda law: type(law).__name__,
)
def test_a_sliding_block_decelerates_by_mu_g(friction):
    """On a slide that cannot turn: from 1 m/s at mu g; its load is its weight."""
    block = mj.load(
        """<mujoco><worldbody><body name="block"><joint name="x" type="slide" axis="1 0 0"/>
        <joint name="z" type="slide" axis="0 0 1"/>
        <geom name="block" type="sphere" size="0.1" mass="2"/></body></worldbody></mujoco>""",
        contacts="block",
        law=mj.Spring(2e4, 200.0),
        friction=friction,
    )
    x = block.neutral()
    x[1] = 0.1 - 2 * 9.81 / 2e4
    x[2] = 1.0
    if isinstance(friction, mj.LuGre):
        x[4] = 0.5 / 3000.0  # bristles as bent as they are while sliding
    sol = bd.solve(block, (0.0, 0.1), x, rtol=1e-9)
    assert sol.x[-1][2] == pytest.approx(1.0 - 0.5 * 9.81 * 0.1, abs=2e-5)


def test_lugre_sticks_on_a_slope_where_coulomb_creeps():
    """On a slope of 20 degrees (tan 0.36 < mu): bristles hold the block at a bend that balances its weight."""
    angle = np.deg2rad(20)
    slope = f"""<mujoco><option gravity="{9.81 * np.sin(angle)} 0 {-9.81 * np.cos(angle)}"/><worldbody><body name="block">
    <joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
    <geom name="block" type="sphere" size="0.1" mass="2"/></body></worldbody></mujoco>"""
    law = mj.Spring(2e4, 200.0)
    start = [0.0, 0.1 - 2 * 9.81 * np.cos(angle) / 2e4, 0.0, 0.0]
    bristles = mj.load(slope, contacts="block", law=law, friction=mj.LuGre(0.6, 0.5, sigma0=3000.0, sigma1=40.0))
    end = bd.solve(bristles, (0.0, 2.0), [*start, 0.0, 0.0], rtol=1e-7).x[-1]
    assert abs(end[2]) < 1e-7
    assert end[4] == pytest.approx(np.tan(angle) / 3000.0, rel=1e-4)
    speed = 0.01
    creeping = mj.load(slope, contacts="block", law=law, friction=mj.Coulomb(0.6, speed))
    end = bd.solve(creeping, (0.0, 1.0), start, rtol=1e-7).x[-1]
    ratio = np.tan(angle) / 0.6
    assert end[2] == pytest.approx(speed * ratio / np.sqrt(1 - ratio**2), rel=1e-4)


def test_two_geoms_through_mujocos_distance():
    """A ball on a box that is free itself: depth, rows of Dh, momentum; and far apart nothing saturates."""
    scene = """<mujoco><option gravity="0 0 0"/><worldbody><body name="ball"><freejoint name="a"/>
    <geom name="ball" type="sphere" size="0.1" mass="1"/></body><body name="box" pos="0 0 -0.5"><freejoint name="b"/>
    <geom name="box" type="box" size="0.3 0.2 0.1" mass="2"/></body></worldbody></mujoco>"""
    robot = mj.load(scene, contacts=("ball", "box"), law=mj.Spring(5000.0, 20.0), friction=mj.Coulomb(0.4, 0.01))
    x = robot.neutral()
    x[robot.model.nq :] = np.random.default_rng(0).normal(size=12)
    x[10:14] = [0.99, 0.05, -0.08, 0.02]
    x[10:14] /= np.linalg.norm(x[10:14])
    for height in (-0.28, -0.31, 5.0, 5000.0):  # apart, pressed, far, very far
        x[9] = -0.5 if height < 0 else -height
        x[2] = x[9] + (0.5 + height if height < 0 else height)
        assert robot.check(x).jacobians["Dh"] < 2e-6
    x[9], x[2] = -0.5, -0.31
    dx = robot.function("f")(0.0, x, np.ones(robot.m), robot.defaults)[robot.model.nq :]
    assert np.abs(dx[:3]).max() > 10.0
    assert dx[:3] + 2 * dx[6:9] == pytest.approx(0.0, abs=1e-10)
    assert robot.function("h")(0.0, x, robot.defaults)[0] > 0


def test_two_bodies_that_collide_keep_their_momentum():
    """Linear and angular, about the origin: push and drag act along one line on both, wherever the geoms sit on their bodies."""
    robot = mj.load(
        """<mujoco><option gravity="0 0 0"/><worldbody><body><freejoint/><geom name="rod" type="capsule" size="0.06 0.1"
        euler="30 20 10" pos="0.03 0 0.01" mass="1"/></body><body pos="0.05 0.02 0.5"><freejoint/><geom name="brick" type="box"
        size="0.1 0.1 0.1" euler="10 20 30" mass="2"/></body></worldbody></mujoco>""",
        contacts=("rod", "brick"),
        law=mj.Spring(5000.0, 5.0),
        friction=mj.Coulomb(0.5, 0.05),
    )

    def momentum(x):
        data = robot.data(x)
        mujoco.mj_subtreeVel(robot.model, data)
        linear = robot.model.body_mass[1:, None] * data.subtree_linvel[1:]
        angular = data.subtree_angmom[1:] + np.cross(data.subtree_com[1:], linear)
        return np.concatenate([linear.sum(axis=0), angular.sum(axis=0)])

    x = robot.x(qvel=[0.1, 0.0, 1.0, 2.0, 1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 1.0, 3.0])
    sol = bd.solve(robot, (0.0, 0.4), x, rtol=1e-9)
    assert "rod-brick touches" in sol.events.name
    assert robot.energy(sol.x[-1])[0] < 0.9 * robot.energy(x)[0]
    assert momentum(sol.x[-1]) == pytest.approx(momentum(x), abs=1e-10)


def test_stops_at_joint_limits():
    """A hinge that runs into its stop: energy comes back without damping, less with; the guard is named."""
    pendulum = """<mujoco><option gravity="0 0 0"/><worldbody><body>
    <joint name="hinge" axis="0 1 0" range="-30 30" limited="true"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.02" mass="1"/></body></worldbody></mujoco>"""
    for damping, back in ((0.0, 1.0), (0.3, None)):
        robot = mj.load(pendulum, limits=mj.Stops(2500.0, damping))
        sol = bd.solve(robot, (0.0, 0.7), [0.0, 1.0], rtol=1e-10)
        assert list(sol.events.name) == ["hinge beyond its upper limit"] * 2
        assert sol.events.t[0] == pytest.approx(np.deg2rad(30), abs=1e-9)
        if back is None:
            assert 0.5 < -sol.x[-1][1] < 0.99
        else:
            assert sol.x[-1][1] == pytest.approx(-1.0, abs=1e-9)
            assert np.diff(sol.events.t)[0] == pytest.approx(np.pi / 50.0, rel=1e-8)
