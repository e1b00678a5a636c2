"""Friction that sticks exactly: joints and contacts that come to rest and stay, against closed forms; derivatives."""

import ctypes

import numpy as np
import pytest

import bouligand as bd
from bouligand.core.state import DUAL, LANES

from ..helpers import robots

mj = pytest.importorskip("bouligand.bridges.mujoco")
G = 9.81


def slider(loss=2.0, stiffness=10.0):
    xml = f"""<mujoco><option gravity="0 0 0"/><worldbody><body>
    <joint name="s" type="slide" axis="1 0 0" frictionloss="{loss}" stiffness="{stiffness}"/>
    <geom type="sphere" size="0.1" mass="1"/></body></worldbody></mujoco>"""
    return mj.load(xml, joint_friction="exact")


def block(angle, mu, law=None, extra=""):
    """A block on a slope, as gravity that is turned: along the slope and off it."""
    xml = f"""<mujoco><option gravity="{G * np.sin(angle)} 0 {-G * np.cos(angle)}"/><worldbody><body>
    <joint name="along" type="slide" axis="1 0 0"/><joint name="up" type="slide" axis="0 0 1"/>{extra}
    <geom name="block" type="sphere" size="0.1" mass="1"/></body></worldbody></mujoco>"""
    return mj.load(xml, "block", law=law or mj.Spring(1e4, 100.0), friction=mj.ExactCoulomb(mu))


def lying(robot, angle, speed=0.0):
    return robot.x(qpos=[0.0, 0.1 - G * np.cos(angle) / 1e4], qvel=[speed, 0.0])


def test_a_slider_on_a_spring_loses_two_dead_zones_a_swing_and_stays():
    robot = slider()
    assert robot.guards == ("s moves",)
    sol = bd.solve(robot, (0.0, 10.0), robot.x(s=1.1), rtol=1e-10)
    assert sol.events.t == pytest.approx(np.pi / np.sqrt(10.0) * np.array([1, 2, 3]), abs=1e-8)
    assert sol.x[-1] == pytest.approx([0.1, 0.0], abs=1e-9)  # (from 1.1 to -0.7, 0.3 and 0.1)
    assert sol.b[-1, 0] == 0
    assert np.ptp(sol(np.linspace(4.0, 10.0, 50)), axis=0).tolist() == [0.0, 0.0]  # it does not creep, by no bit
    assert sol.bderivative().matrix() == pytest.approx(np.array([[-1.0, 0.0], [0.0, 0.0]]), abs=1e-7)


def test_a_pendulum_is_held_below_the_angle_of_its_friction_and_not_above():
    xml = """<mujoco><worldbody><body><joint name="hinge" axis="0 1 0" frictionloss="2"/>
    <geom type="sphere" size="0.01" pos="0 0 -1" mass="1"/></body></worldbody></mujoco>"""
    robot = mj.load(xml, joint_friction="exact")
    limit = np.arcsin(2.0 / G)
    held = bd.solve(robot, (0.0, 5.0), robot.x(hinge=limit - 1e-3))
    assert len(held.events) == 0
    assert held.b[-1, 0] == 0
    assert held.x[-1].tolist() == held.x[0].tolist()
    falls = bd.solve(robot, (0.0, 20.0), robot.x(hinge=1.5))
    assert falls.b[-1, 0] == 0
    assert falls.x[-1, 1] == 0.0
    assert abs(falls.x[-1, 0]) < limit
    # (all energy that is gone went into friction: 2 N m times the way between reversals)
    turns = [1.5, *falls.events.x[:, 0]]
    height = np.cos(falls.x[-1, 0]) - np.cos(1.5)
    assert 2.0 * np.abs(np.diff(turns)).sum() == pytest.approx(G * height, rel=1e-4)


@pytest.mark.parametrize("mu", [0.5, 0.2])
def test_a_block_on_a_slope_stays_below_the_friction_angle_and_slides_above(mu):
    angle = 0.3
    robot, a = block(angle, mu), G * (np.sin(angle) - mu * np.cos(angle))
    sol = bd.solve(robot, (0.0, 2.0), lying(robot, angle), rtol=1e-9)
    assert sol.x[-1, 0] == pytest.approx(max(2.0 * a, 0.0), abs=1e-8)
    moving = bd.solve(robot, (0.0, 2.0), lying(robot, angle, 1.0), rtol=1e-9)
    if a < 0.0:
        assert abs(sol.x[-1, 0]) < 1e-15
        assert sol.x[-1, 2] == 0.0
        assert moving.events.t == pytest.approx([-1.0 / a], abs=1e-8)
        assert moving.x[-1, [0, 2]] == pytest.approx([-0.5 / a, 0.0], abs=1e-8)
        # at rest friction balances the weight along the slope
        force = robot.forces(moving.x[-1], moving.b[-1])[0]
        assert force == pytest.approx([-G * np.sin(angle), 0.0, G * np.cos(angle)], abs=1e-6)
    else:
        assert moving.x[-1, 0] == pytest.approx(2.0 + 2.0 * a, abs=1e-8)


@pytest.mark.parametrize("speed", [0.0, 0.4, -0.4])
def test_landing_on_a_slope_and_its_derivative(speed):
    robot = block(0.3, 0.5)
    start = robot.x(qpos=[0.0, 0.3], qvel=[speed, 0.0])
    sol = bd.solve(robot, (0.0, 1.0), start, rtol=1e-9)
    assert sol.b[-1].tolist() == [1, 1, 0]
    B = sol.bderivative().matrix()
    tight = {"rtol": 1e-12, "atol": 1e-13}
    for i in range(4):
        d = 1e-6 * np.eye(4)[i]
        ends = [bd.solve(robot, (0.0, 1.0), start + s * d, **tight).x[-1] for s in (1, -1)]
        assert B[:, i] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=2e-6)


@pytest.mark.parametrize(
    "law", [mj.Spring(1e4, 100.0), mj.Spring(1e4), mj.HuntCrossley(1e5), mj.HuntCrossley(1e5, 0.4)]
)
@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-9])
def test_straight_down_it_does_not_slip_at_all(law, rtol):
    """Without friction at the instant of touching (Spring without damping, HuntCrossley), and bouncing until it lies still."""
    robot = block(0.0, 0.5, law)
    sol = bd.solve(robot, (0.0, 1.0), robot.x(up=0.3), rtol=rtol)
    assert abs(sol.x[:, 0]).max() < 1e-15
    assert abs(sol.x[:, 2]).max() < 1e-15
    smooth = mj.load(robot.model, "block", law=law)
    same = bd.solve(smooth, (0.0, 1.0), smooth.x(up=0.3), rtol=rtol)
    assert sol.events.name.tolist() == same.events.name.tolist()  # (the slip has none)
    assert sol.x[-1] == pytest.approx(same.x[-1], abs=100.0 * rtol)


def test_the_derivative_where_it_touches_and_sticks_at_one_instant():
    robot = block(0.0, 0.5)
    start, tight = robot.x(up=0.3), {"rtol": 1e-12, "atol": 1e-13}
    B = bd.solve(robot, (0.0, 0.5), start, rtol=1e-9).bderivative().matrix()
    end = bd.solve(robot, (0.0, 0.5), start, **tight).x[-1]
    for i in range(4):
        for step in (1e-6, -1e-6):
            moved = bd.solve(robot, (0.0, 0.5), start + step * np.eye(4)[i], **tight).x[-1]
            assert B[:, i] == pytest.approx((moved - end) / step, abs=1e-4)


@pytest.mark.parametrize("law", [mj.Spring(5000.0, 30.0), mj.HuntCrossley(1e5, 1.0)])
def test_a_symmetric_robot_whose_feet_touch_stick_and_leave_together(law):
    """(The force of HuntCrossley fades away where feet leave, and with it the limit of friction.)"""
    robots = pytest.importorskip("tests.helpers.robots")
    solo = robots.solo(robots.symmetric_solo(), law=law, friction=mj.ExactCoulomb(0.7))
    start, ends = robots.above_floor(solo, 0.1), []
    for rtol in (1e-3, 1e-5, 1e-7):
        sol = bd.solve(solo, (0.0, 0.3), start, rtol=rtol)
        assert sol.b[-1].tolist() == [1, 1, 0, 0] * 4
        ends.append(sol.x[-1, :7])
    assert ends[1] == pytest.approx(ends[2], abs=1e-4)
    assert ends[0] == pytest.approx(ends[2], abs=1e-2)


def test_in_three_dimensions_the_limits_of_friction_are_a_square():
    xml = f"""<mujoco><option gravity="{G * np.sin(0.3) / np.sqrt(2)} {G * np.sin(0.3) / np.sqrt(2)} {-G * np.cos(0.3)}"/>
    <worldbody><body><joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>
    <joint name="z" type="slide" axis="0 0 1"/><geom name="block" type="sphere" size="0.1" mass="1"/>
    </body></worldbody></mujoco>"""
    for mu, holds in ((0.25, True), (0.2, False)):  # tan(0.3) / sqrt(2) = 0.219
        robot = mj.load(xml, "block", law=mj.Spring(1e4, 100.0), friction=mj.ExactCoulomb(mu))
        assert robot.guards[2:] == ("block slips along", "block slips across")
        sol = bd.solve(robot, (0.0, 1.0), robot.x(z=0.1 - G * np.cos(0.3) / 1e4), rtol=1e-9)
        a = G * (np.sin(0.3) / np.sqrt(2) - mu * np.cos(0.3))
        assert sol.x[-1, :2] == pytest.approx([0.0 if holds else a / 2] * 2, abs=1e-8)


def guards_of_duals(robot, x, p, tangents):
    """h of dual numbers, called as the core calls it: the derivatives along these tangents of state and parameters."""
    bound = robot._bind()
    lease, address = bound.lease(robot), int(bound.jacobians(robot, True)["h_dual"][0])
    call = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_double, *[ctypes.c_int64] * 5)(address)
    columns = []
    for first in range(0, len(tangents), LANES):
        some = tangents[first : first + LANES]
        T, X, P, out = (np.zeros((size, DUAL)) for size in (1, x.size, p.size, robot.m))
        X[:, 0], P[:, 0] = x, p
        X[:, 1 : 1 + len(some)], P[:, 1 : 1 + len(some)] = some[:, : x.size].T, some[:, x.size :].T
        assert call(0.0, *(a.ctypes.data for a in (T, X, P, out, lease.context))) == 0
        assert out[:, 0] == pytest.approx(robot.function("h")(0.0, x, p), abs=1e-14)
        columns.append(out[:, 1 : 1 + len(some)])
    lease.give_back()
    return np.hstack(columns)


def test_derivatives_of_the_guards_against_differences():
    xml = """<mujoco><worldbody><body pos="0 0 0.4"><freejoint/><geom type="box" size=".2 .1 .05" mass="2"/>
    <body name="leg" pos="0.1 0 0"><joint name="hip" axis="0 1 0.2" frictionloss="0.3"/>
    <geom type="capsule" fromto="0 0 0 0 0.1 -0.3" size="0.02" mass="0.5"/></body></body></worldbody></mujoco>"""
    foot = mj.Contact(body="leg", point=(0.0, 0.1, -0.3), radius=0.05)
    robot = mj.load(
        xml, foot, law=mj.HuntCrossley(1e4, 0.7), friction=mj.ExactCoulomb(0.5), joint_friction="exact", floor=0.1
    )
    h, chance = robot.function("h"), np.random.default_rng(2)
    for height in (0.0, 0.5):  # pressed, and in the air
        x = robot.neutral() + 0.3 * chance.normal(size=robot.n)
        x[2] = 0.3 + height
        p = robot.parameters()
        z, e = np.concatenate([x, p]), 1e-6 * np.eye(robot.n + p.size)
        sides = [[h(0.0, y[: x.size], y[x.size :]) for y in (z + d, z - d)] for d in e]
        differences, exact = (
            np.array([(one - two) / 2e-6 for one, two in sides]).T,
            guards_of_duals(robot, x, p, 1e6 * e),
        )
        assert exact[:, : robot.n] == pytest.approx(differences[:, : robot.n], abs=1e-7)
        assert exact[:2] == pytest.approx(differences[:2], abs=1e-7)  # (also in parameters)


def test_friction_of_a_joint_that_follows_is_that_of_the_joint_that_leads():
    xml = """<mujoco><option gravity="0 0 0"/><worldbody>
    <body><joint name="a" type="slide" axis="1 0 0" frictionloss="1"/><geom type="sphere" size="0.1" mass="1"/></body>
    <body pos="0 1 0"><joint name="b" type="slide" axis="1 0 0" frictionloss="0.5"/>
    <geom type="sphere" size="0.1" mass="1"/></body></worldbody>
    <equality><joint joint1="b" joint2="a" polycoef="0 -2 0 0 0"/></equality></mujoco>"""
    robot = mj.load(xml, joint_friction="exact")
    assert robot.guards == ("a moves",)
    sol = bd.solve(robot, (0.0, 5.0), robot.x(qvel=[1.0, 0.0]), rtol=1e-9)
    # mass 1 + 4, friction 1 + 2 * 0.5: stops after 5 / 2 s
    assert sol.events.t == pytest.approx([2.5], abs=1e-7)
    assert sol.x[-1, 0] == pytest.approx(1.25, abs=1e-7)


def test_refusals():
    two = '<geom name="other" type="sphere" pos="0.2 0 0" size="0.1" mass="1"/>'
    xml = f"""<mujoco><worldbody><body><freejoint/><geom name="one" type="sphere" size="0.1" mass="1"/>{two}
    </body></worldbody></mujoco>"""
    with pytest.raises(ValueError, match="on one body"):
        mj.load(xml, ["one", "other"], friction=mj.ExactCoulomb(0.5))
    with pytest.raises(ValueError, match="mu must be positive"):
        mj.ExactCoulomb(0.0)
    with pytest.raises(TypeError, match="'exact' or 'ignore'"):
        mj.load("<mujoco/>", joint_friction="exactly")


def test_it_can_be_pickled_and_solved_in_threads():
    import pickle

    robot = pickle.loads(pickle.dumps(slider()))
    starts = np.array([robot.x(s=s) for s in (0.5, 1.1, 2.3)])
    many = bd.solve_many(robot, (0.0, 10.0), starts, rtol=1e-9)
    for x0, x1 in zip(starts, many.x, strict=True):
        assert bd.solve(robot, (0.0, 10.0), x0, rtol=1e-9).x[-1] == pytest.approx(x1, abs=1e-12)


def test_what_a_state_determines_is_kept_for_that_state_only():
    """f, h and Dh in any order of states and signs are those of a robot that has computed nothing before."""
    rng = np.random.default_rng(1)

    def made():
        return robots.solo(friction=mj.ExactCoulomb(0.8))

    robot = made()
    n, m, p = robot.n, robot.m, robot.defaults
    states = [robots.above_floor(robot, -0.01) + 1e-3 * rng.normal(size=n) for _ in range(2)]
    words = np.where(rng.random((3, m)) < 0.5, -1.0, 1.0)

    def values(robot, name, i, k):
        return robot.function(name)(0.0, states[i], *((words[k], p) if name == "f" else (p,)))

    fresh = {(name, i, k): values(made(), name, i, k) for name in "fh" for i in range(2) for k in range(3)}
    for name, i, k in [list(fresh)[q] for q in rng.integers(len(fresh), size=60)]:
        assert (values(robot, name, i, k) == fresh[name, i, k]).all()
