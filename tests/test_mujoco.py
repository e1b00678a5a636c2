"""The MuJoCo bridge: its motion against closed forms and MuJoCo itself, its contacts against an independent integration."""

import pickle
import threading
import warnings
from itertools import pairwise

import mujoco
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import bouligand as bd
from bouligand.bridges import mujoco as mj

from . import robots

TOP = """<mujoco><option gravity="0 0 -9.81"/><worldbody><body name="top"><freejoint name="base"/>
<inertial pos="0 0 0" mass="2" diaginertia="0.02 0.03 0.045"/><site name="tip" pos="0.1 0 -0.2"/></body></worldbody></mujoco>"""

BALL = """<mujoco><worldbody><body name="ball" pos="0 0 1"><freejoint name="base"/>
<geom name="ball" type="sphere" size="0.1" mass="1"/></body></worldbody></mujoco>"""


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
    options = {"free_base": True} if file == robots.SOLO else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mj.RobotFileWarning)
        robot = mj.load(
            file, control=mj.PiecewiseConstant([0.0], [u]), limits="ignore", joint_friction="ignore", **options
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


# ------------------------------------------------------------------------------------------- the quadruped dropped level


class Reference:
    """The same robot and law written with MuJoCo's Python binding and its Jacobians, integrated by SciPy between events."""

    def __init__(self, robot, kp=30.0, kd=0.5, k=5000.0, c=30.0):
        self.robot, self.gains = robot, (kp, kd, k, c)
        self.model = pickle.loads(pickle.dumps(robot.model))
        self.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        self.data = mujoco.MjData(self.model)
        self.feet = [self.model.site(foot).id for foot in robot.contacts]
        self.wanted = np.array([robots.STANCE[name] for name in robot.inputs])

    def look(self, x):
        nq = self.model.nq
        self.data.qpos[:], self.data.qvel[:] = x[:nq], x[nq:]
        self.data.qpos[3:7] /= np.linalg.norm(x[3:7])
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        jacobian = np.zeros((3, self.model.nv))
        for foot in self.feet:
            mujoco.mj_jacSite(self.model, self.data, jacobian, None, foot)
            depth = -self.data.site_xpos[foot, 2]
            yield depth, -jacobian[2] @ self.data.qvel, jacobian[2].copy()

    def forces(self, x):
        _, _, k, c = self.gains
        return np.array([[depth, k * depth + c * rate] for depth, rate, _ in self.look(x)])

    def rate(self, t, x, active):
        kp, kd, k, c = self.gains
        applied = np.zeros(self.model.nv)
        for on, (depth, rate, row) in zip(active, self.look(x), strict=True):
            if on:
                applied += row * (k * depth + c * rate)
        applied[6:] += kp * (self.wanted - x[7:19]) - kd * self.data.qvel[6:]
        self.data.qfrc_applied[:] = applied
        mujoco.mj_forward(self.model, self.data)
        quat, spin = x[3:7], x[22:25]
        turned = np.empty(4)
        mujoco.mju_mulQuat(turned, quat, np.array([0.0, *spin]))
        return np.concatenate([x[19:22], 0.5 * turned, x[25:], self.data.qacc])

    def run(self, t, x, end, active, event, tol=1e-11):
        """Until ``event(x)`` crosses zero upwards or downwards as its direction says, or the end."""

        def watch(t, x):
            return event(x)

        watch.terminal, watch.direction = True, event.direction  # type: ignore[attr-defined]
        sol = solve_ivp(self.rate, (t, end), x, args=(active,), method="DOP853", rtol=tol, atol=tol, events=_two(watch))
        return sol.t[-1], sol.y[:, -1]


def _two(watch):
    def event(t, x, active):
        return watch(t, x)

    event.terminal, event.direction = True, watch.direction  # type: ignore[attr-defined]
    return event


def test_quadruped_dropped_level():
    """All four feet at one instant, found as four events; the motion after it against the independent integration."""
    robot = robots.solo()
    x = robots.above_floor(robot, 0.05)
    end = 0.16
    sol = bd.solve(robot, (0.0, end), x, rtol=1e-9)
    times = robots.when(sol, "touches")
    assert {str(name) for name in sol.events.name if name.endswith("touches")} == {
        f"{leg}_FOOT touches" for leg in robots.LEGS
    }
    assert len(times) == 4
    assert np.ptp(times) < 1e-9
    assert times[0] == pytest.approx(np.sqrt(2 * 0.05 / 9.81), abs=1e-9)

    reference = Reference(robot)

    def touch(x):
        return reference.forces(x)[:, 0].max()

    def leave(x):
        return reference.forces(x)[:, 1].min()

    touch.direction, leave.direction = 1, -1  # type: ignore[attr-defined]
    t, y = reference.run(0.0, x, end, [False] * 4, touch)
    assert t == pytest.approx(times[0], abs=1e-9)
    assert np.ptp(reference.forces(y)[:, 0]) < 1e-10
    t, y = reference.run(t, y, end, [True] * 4, leave)
    first = robots.when(sol, "pushes", -1).min() if t < end else end
    assert t == pytest.approx(first, abs=1e-7)
    y[3:7] /= np.linalg.norm(y[3:7])
    assert sol(t) == pytest.approx(y, abs=2e-6)


def test_energy_bookkeeping_through_the_landing():
    """Kinetic + potential + springs - what motors gave + what dampers took: closed to the tolerance."""
    robot = robots.solo()
    x = robots.above_floor(robot, 0.05)
    sol = bd.solve(robot, (0.0, 0.3), x, rtol=1e-9)
    reference = Reference(robot)
    kp, kd, k, c = reference.gains
    nodes, weights = np.polynomial.legendre.leggauss(8)

    def power(t):
        x, active = sol(t), robot.touching(sol.word(t))
        given = (kp * (reference.wanted - x[7:19]) - kd * x[25:]) @ x[25:]
        taken = sum(-(k * d + c * v) * v for on, (d, v, _) in zip(active, reference.look(x), strict=True) if on)
        return given + taken

    total = 0.0
    grid = np.unique(np.concatenate([sol.t, sol.events.t]))
    for left, right in pairwise(grid):
        half = 0.5 * (right - left)
        total += half * sum(w * power(0.5 * (left + right) + half * s) for s, w in zip(nodes, weights, strict=True))
    energy = [sum(robot.energy(state)) for state in (sol.x[0], sol.x[-1])]
    assert energy[1] - energy[0] == pytest.approx(total, abs=1e-6)
    assert abs(energy[1] - energy[0]) > 0.1


def test_a_mirrored_start_gives_the_mirrored_motion():
    robot = robots.solo(robots.symmetric_solo(), friction=mj.Coulomb(0.6, 0.05))
    x = robots.above_floor(robot, 0.03, FL_HFE=0.75, HR_KFE=1.5)
    x[19:25] = [0.2, 0.1, 0.0, 0.3, -0.2, 0.1]
    twin = robots.mirrored(robot, x)
    f, word = robot.function("f"), np.ones(robot.m)
    assert f(0.0, twin, word, robot.defaults) == pytest.approx(
        robots.mirrored(robot, f(0.0, x, word, robot.defaults)), abs=1e-7
    )
    one, two = (bd.solve(robot, (0.0, 0.2), start, rtol=1e-8) for start in (x, twin))
    assert len(one.events) == len(two.events) > 8
    assert one.events.t == pytest.approx(two.events.t, abs=1e-8)
    assert robots.mirrored(robot, two.x[-1]) == pytest.approx(one.x[-1], abs=1e-7)


def test_bderivative_through_the_landing():
    """Four feet at once: perturbed, they land in any of 24 orders. One-sided differences both ways, in tangent coordinates.

    (Forces add, and change no speed at once: here the pieces of B agree, whatever the order. While the robot falls nothing
    happens in its legs, and steps grow beyond what their perturbations allow: B divides them.)
    """
    robot = robots.solo(robots.symmetric_solo())
    x = robots.above_floor(robot, 0.02)
    x[robot.model.nq + 2] = -0.5
    span, step, nq, nv = (0.0, 0.045), 1e-6, robot.model.nq, robot.model.nv
    sol = bd.solve(robot, span, x, rtol=1e-11, atol=1e-13)
    assert len(robots.when(sol, "touches")) == 4
    tangent = robot.tangent(sol.bderivative(), sol.x[0], sol.x[-1])
    project = robot.project(sol.x[-1])
    rng = np.random.default_rng(4)
    orders = set()
    for _ in range(2):
        one = rng.normal(size=robot.tangents)
        one[:nv] *= 0.1
        for v in (one, -one):
            moved = x.copy()
            mujoco.mj_integratePos(robot.model, moved[:nq], v[:nv], step)
            moved[nq:] += step * v[nv:]
            other = bd.solve(robot, span, moved, rtol=1e-11, atol=1e-13)
            difference = project @ (other.x[-1] - sol.x[-1]) / step
            assert tangent(v) == pytest.approx(difference, abs=1e-4 * np.abs(difference).max())
            orders.add(tuple(other.events.name))
    assert len(orders) > 1
    still = robots.solo(contacts=None)
    free = bd.solve(still, span, x, rtol=1e-11)
    without = robot.tangent(free.bderivative(), x, free.x[-1])
    assert np.abs(tangent(one) - without(one)).max() > 1.0  # the landing matters


# ------------------------------------------------------------------------------------------------------------- control


def test_a_feedback_function_and_a_pd_are_the_same():
    wanted = np.array([robots.STANCE[name] for name in robots.solo().inputs])

    def feedback(t, x, p, u):
        for i in range(12):
            u[i] = p[3] * (wanted[i] - x[7 + i]) - p[4] * x[25 + i]

    own = robots.solo(control=feedback, params={"gain": 30.0, "loss": 0.5})
    ready = robots.solo()
    x = robots.above_floor(ready, 0.02, FL_KFE=-1.2)
    ends = [bd.solve(robot, (0.0, 0.15), x, rtol=1e-9).x[-1] for robot in (own, ready)]
    assert ends[0] == pytest.approx(ends[1], abs=1e-7)
    assert own.params[3:] == ("gain", "loss")


def test_a_gait_is_followed():
    """A stiff PD on a leg without gravity: the joint is where its sinusoid is, to the lag that damping leaves."""
    arm = """<mujoco><option gravity="0 0 0"/><worldbody><body><joint name="a" axis="0 1 0"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.02" mass="1"/></body></worldbody>
    <actuator><motor joint="a" gear="5"/></actuator></mujoco>"""
    gait = mj.Sinusoid(centre=0.1, amplitude=0.3, frequency=1.5, phase=0.4)
    robot = mj.load(arm, control=mj.PD({"a": gait}, kp=4000.0, kd=60.0))
    turn = 2 * np.pi * 1.5
    x = [0.1 + 0.3 * np.sin(0.4), 0.3 * turn * np.cos(0.4)]
    end = bd.solve(robot, (0.0, 1.0), x, rtol=1e-8).x[-1]
    assert end[0] == pytest.approx(0.1 + 0.3 * np.sin(turn + 0.4), abs=5e-4)


def test_inputs_held_between_breakpoints():
    cart = """<mujoco><worldbody><body><joint name="x" type="slide" axis="1 0 0"/>
    <geom type="sphere" size="0.1" mass="2"/></body></worldbody>
    <actuator><motor name="push" joint="x"/></actuator></mujoco>"""
    robot = mj.load(cart, control=mj.PiecewiseConstant([0.0, 0.3, 0.8], [[2.0], [-4.0], [1.0]]))
    assert robot.inputs == ("push",)
    end = bd.solve(robot, (0.0, 1.0), [0.0, 0.0], rtol=1e-10).x[-1]
    assert end[1] == pytest.approx((2.0 * 0.3 - 4.0 * 0.5 + 1.0 * 0.2) / 2.0, abs=1e-12)


def test_activations_are_states():
    """A filter in front of a motor, against its closed form."""
    cart = """<mujoco><worldbody><body><joint name="x" type="slide" axis="1 0 0"/>
    <geom type="sphere" size="0.1" mass="2"/></body></worldbody>
    <actuator><general joint="x" dyntype="filter" dynprm="0.2" gainprm="3"/></actuator></mujoco>"""
    robot = mj.load(cart, control=mj.PiecewiseConstant([0.0], [[1.0]]))
    assert robot.states[2] == "act:0"
    end = bd.solve(robot, (0.0, 0.5), [0.0, 0.0, 0.0], rtol=1e-10).x[-1]
    assert end[2] == pytest.approx(1 - np.exp(-2.5), abs=1e-9)
    assert end[1] == pytest.approx(1.5 * (0.5 - 0.2 * (1 - np.exp(-2.5))), abs=1e-9)


def test_parameters_change_without_compiling():
    ball = mj.load(BALL, contacts="ball", law=mj.Spring(2000.0, 0.0))
    x = ball.x()
    deep = [bd.solve(ball, (0.0, 0.6), x, p={"stiffness": k}).x[:, 2].min() for k in (500.0, 2000.0)]
    assert deep[0] < deep[1] < 0.1
    for wrong, why in (
        ({"damping": 3.0}, "could pull"),
        ({"preload": -1.0}, "could pull"),
        ({"stiffness": -1.0}, "must not be negative"),
    ):
        with pytest.raises(ValueError, match=why):
            bd.solve(ball, (0.0, 0.6), x, p=wrong)


# ------------------------------------------------------------------------------------------------- threads and pickles


def test_two_systems_share_a_model_in_threads():
    model = mj.load(robots.SOLO, free_base=True).model
    pair = [robots.solo(model, free_base=False, law=mj.Spring(k, 30.0)) for k in (4000.0, 6000.0)]
    x = robots.above_floor(pair[0], 0.02)
    alone = [bd.solve(robot, (0.0, 0.2), x).x for robot in pair]
    found: dict = {}

    def work(i, robot):
        found[i] = [bd.solve(robot, (0.0, 0.2), x).x for _ in range(5)]

    threads = [threading.Thread(target=work, args=(i, pair[i % 2])) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(4):
        for x_found in found[i]:
            assert np.array_equal(x_found, alone[i % 2])


def test_pickle_round_trip():
    robot = robots.solo(friction=mj.LuGre(0.7, 0.6))
    twin = pickle.loads(pickle.dumps(robot))
    x = robots.above_floor(robot, 0.02)
    assert np.array_equal(bd.solve(robot, (0.0, 0.1), x).x, bd.solve(twin, (0.0, 0.1), x).x)
    assert twin.guards == robot.guards
    assert twin.memory.model._address != robot.memory.model._address


def test_pickle_with_a_feedback_function():
    def feedback(t, x, p, u):
        u[0], u[1] = -p[3] * x[0], 0.0

    cart = """<mujoco><worldbody><body><joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
    <geom name="wheel" type="sphere" size="0.1" mass="2"/></body></worldbody></mujoco>"""
    robot = mj.load(cart, contacts="wheel", control=feedback, params={"pull": 8.0}, floor=-1.0)
    twin = pickle.loads(pickle.dumps(robot))
    ends = [bd.solve(each, (0.0, 1.0), [1.0, 0.0, 0.0, 0.0], rtol=1e-9).x[-1] for each in (robot, twin)]
    assert np.array_equal(*ends)
    assert ends[0][0] == pytest.approx(np.cos(2.0), abs=1e-7)
    assert len(robots.when(bd.solve(robot, (0.0, 1.0), [1.0, 0.0, 0.0, 0.0]), "touches")) > 0
    assert robot.model.geom("floor").pos[2] == -1.0


def test_between_x_and_mujocos_data():
    robot = robots.solo()
    x = robots.random_state(robot, 8)
    data = robot.data(x)
    assert robot.x(data) == pytest.approx(x)
    assert robot.points(x)[0] == pytest.approx(data.site("FL_FOOT").xpos)
    assert robot.project(x) @ robot.lift(x) == pytest.approx(np.eye(robot.tangents))
    assert robot.tangents == robot.n - 1
    with pytest.raises(ValueError, match="NOSE"):
        robot.x(NOSE=1.0)
