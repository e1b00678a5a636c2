"""What drives a robot, and robots in threads and in other processes."""

import pickle
import threading

import numpy as np
import pytest

import bouligand as bd
from bouligand.bridges import mujoco as mj

from ..helpers import robots
from ..helpers.robots import BALL

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
