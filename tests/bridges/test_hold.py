"""Inputs that are held, as parameters of a robot; a running cost; rollouts of a quadruped; sample-and-hold loops."""

import math
import pickle

import numpy as np
import pytest
from scipy.integrate import trapezoid

import bouligand as bd
from bouligand.bridges import mujoco as mj

from ..helpers import robots

PENDULUM = """<mujoco><worldbody><body><joint name="hinge" axis="0 1 0" damping="0.1"/>
<geom type="capsule" fromto="0 0 0 0 0 -1" size="0.05" mass="1"/></body></worldbody></mujoco>"""
DRIVEN = PENDULUM.replace(
    "</mujoco>",
    """<actuator><motor name="torque" joint="hinge" gear="2"/>
<general name="slow" joint="hinge" dyntype="filter" dynprm="0.1" ctrlrange="-1 1" ctrllimited="true"/></actuator></mujoco>""",
)
TIMES, U = np.array([0.0, 0.1, 0.35]), np.array([[1.0, 0.5], [-2.0, -0.3], [0.4, 0.9]])


def effort(t, x, p, u):
    total = x[0] ** 2
    for i in range(u.size):
        total += (i + 1) * u[i] ** 2
    return total


def test_the_same_motion_as_with_fixed_inputs():
    x0 = [0.3, 0.1, 0.0]
    fixed = mj.load(DRIVEN, control=mj.PiecewiseConstant(TIMES, U))
    held = mj.load(DRIVEN, control=mj.Hold(TIMES))
    assert held.params == ("u0:torque", "u0:slow", "u1:torque", "u1:slow", "u2:torque", "u2:slow")
    assert held.held == slice(0, 6)
    one = bd.solve(fixed, (0.0, 0.5), x0, rtol=1e-10)
    other = bd.solve(held, (0.0, 0.5), x0, held.hold(U), rtol=1e-10)
    assert np.array_equal(one.x, other.x)
    assert np.array_equal(bd.solve(mj.load(DRIVEN, control=mj.Hold(TIMES, U)), (0.0, 0.5), x0, rtol=1e-10).x, other.x)
    assert np.array_equal(
        bd.solve(pickle.loads(pickle.dumps(held)), (0.0, 0.5), x0, held.hold(U), rtol=1e-10).x, other.x
    )


def test_only_the_inputs_of_the_interval_have_columns():
    robot = mj.load(DRIVEN, control=mj.Hold(TIMES), cost=effort)
    p, x = robot.hold(U), np.array([0.3, 0.1, 0.2, 0.0])
    f, Dp_f = robot.function("f"), robot.function("Dp_f")
    for t, k in ((-1.0, 0), (0.05, 0), (0.1, 1), (0.3, 1), (0.4, 2), (9.0, 2)):
        J = Dp_f(t, x, [], p)
        differences = [(f(t, x, [], p + d) - f(t, x, [], p - d)) / 2e-4 for d in 1e-4 * np.eye(6)]
        assert np.allclose(J.T, differences, rtol=0, atol=1e-8)
        others = [j for j in range(6) if j // 2 != k]
        assert not J[:, others].any()
        assert J[:, 2 * k].any()
    assert robot.jacobians.Df == robot.jacobians.Dp_f == "given"


def test_a_running_cost_is_the_last_state():
    robot = mj.load(DRIVEN, control=mj.Hold(TIMES), cost=effort)
    assert robot.states[-1] == "cost"
    p, x0 = robot.hold(U), np.array([0.3, 0.1, 0.0, 0.0])
    sol = bd.solve(robot, (0.0, 0.5), x0, p, rtol=1e-11)
    times = np.linspace(0.0, 0.5, 200_001)
    angle = trapezoid(sol(times)[:, 0] ** 2, times)
    inputs = sum(T * (u[0] ** 2 + 2 * u[1] ** 2) for T, u in zip((0.1, 0.25, 0.15), U, strict=True))
    assert sol.x[-1, -1] == pytest.approx(angle + inputs, abs=1e-8)
    gradient = sol.bderivative(params=True).vjp([0.0, 0.0, 0.0, 1.0])[1]
    for j in range(6):
        d = 1e-5 * np.eye(6)[j]
        ends = [bd.solve(robot, (0.0, 0.5), x0, p + s * d, rtol=1e-12).x[-1, -1] for s in (1, -1)]
        assert gradient[j] == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=1e-7)


@pytest.mark.parametrize("control", [None, mj.PD(0.2, 5.0, 0.4), lambda t, x, p: (-3.0 * x[0] * p[-1],)])
def test_a_cost_with_every_control(control):
    robot = mj.load(PENDULUM, control=control, cost=effort, params={"gain": 1.5})
    x, p, f = np.array([0.4, -0.3, 2.0]), robot.parameters(), robot.function("f")
    for name, at, value in (("Df", 0, x), ("Dp_f", 1, p)):
        J = robot.function(name)(0.0, x, [], p)
        for j, d in enumerate(1e-4 * np.eye(len(value))):
            high, low = (
                f(0.0, x + s * d * (at == 0), [], p + s * d * (at == 1)) if at == 0 else f(0.0, x, [], p + s * d)
                for s in (1, -1)
            )
            assert np.allclose(J[:, j], (high - low) / 2e-4, rtol=0, atol=1e-6)
    assert bd.solve(robot, (0.0, 1.0), [0.3, 0.0, 0.0]).x[-1, -1] > 0.0


def test_costs_that_fail():
    with pytest.raises(ZeroDivisionError):
        mj.load(PENDULUM, cost=lambda t, x, p, u: 1.0 / int(x[0]))
    with pytest.raises(ValueError, match="cost returned 2 values"):
        mj.load(PENDULUM, cost=lambda t, x, p, u: (1.0, 2.0))
    with pytest.raises(TypeError, match="cost takes 2 arguments"):
        mj.load(PENDULUM, cost=lambda t, x: 1.0)


def quadruped(**options):
    return robots.solo(control=mj.Hold(), friction=mj.Coulomb(0.7, 0.05), **options)


def test_rollout_of_a_quadruped_against_differences():
    """A_k and B_k of Solo12 that lands under held torques, against differences of 1e-12 solves, to 1e-6."""
    robot, rng = quadruped(cost=effort), np.random.default_rng(0)
    x0 = robots.above_floor(robot, 0.01)
    x0[7:19] += 0.02 * rng.normal(size=12)
    x0[19:37] += 0.1 * rng.normal(size=18)
    times, U = np.linspace(0.0, 0.06, 4), rng.normal(size=(3, 12))
    run = bd.rollout(robot, x0, U, times, rtol=1e-12)
    assert len(run.solution.events) >= 6
    for k in range(3):

        def flow(x, u, k=k):
            return bd.solve(robot, (times[k], times[k + 1]), x, robot.hold(u), rtol=1e-12).x[-1]

        dx, du, step = rng.normal(size=robot.n), rng.normal(size=12), 2e-6
        dx[3:7] -= run.x[k, 3:7] * (run.x[k, 3:7] @ dx[3:7])
        exact = (flow(run.x[k] + step * dx, U[k] + step * du) - flow(run.x[k] - step * dx, U[k] - step * du)) / (
            2 * step
        )
        assert np.allclose(run.A[k] @ dx + run.B[k] @ du, exact, rtol=0, atol=1e-6 * np.abs(exact).max())


def test_a_trot_under_sample_and_hold_is_finite_and_repeatable():
    robot = quadruped()
    first, stepper = robots.trot(robot, 0.5)
    second, _ = robots.trot(robot, 0.5)
    assert np.array_equal(first, second)
    assert np.isfinite(first).all()
    assert (first[:, 2] > 0.1).all()  # it does not fall
    touches = [name for name in stepper.solution.events.name if name.endswith("touches")]
    assert len(touches) >= 8
    assert stepper.status == "finished"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mj.Hold([0.0, 0.2, 0.1]), "Hold: times must be a vector of increasing"),
        (lambda: mj.Hold([0.0, 0.0]), "increasing"),
        (lambda: mj.Hold([[0.0, 0.1]]), "vector"),
        (lambda: mj.Hold([0.0, math.nan]), "Hold: times must be finite"),
        (lambda: mj.Hold([0.0], [[math.inf, 0.0]]), "Hold: u must be finite"),
        (lambda: mj.Hold("soon"), "Hold: times must be made of real numbers"),
        (lambda: mj.Hold([0.0, 1.0], [[1.0, 2.0]]), "Hold: u .* a row of inputs for each of 2 times"),
        (
            lambda: mj.load(DRIVEN, control=mj.Hold([0.0, 1.0], [[1.0], [2.0]])),
            r"a row for each of 2 intervals.*torque, slow",
        ),
        (lambda: mj.load(DRIVEN, control=mj.Hold(TIMES)).hold(U[:2]), r"got shape \(2, 2\)"),
        (lambda: mj.load(DRIVEN, control=mj.Hold(TIMES)).hold(np.full((3, 2), math.nan)), "U must be finite"),
        (lambda: mj.load(DRIVEN).hold(U), r"control=Hold\(\.\.\.\)"),
        (lambda: bd.rollout(mj.load(DRIVEN), np.zeros(3), U, [0.0, 0.1, 0.2, 0.3]), "which parameters are inputs"),
        (
            lambda: bd.rollout(mj.load(DRIVEN, control=mj.Hold(TIMES)), np.zeros(3), U, [0, 0.1, 0.2, 0.3]),
            "without times",
        ),
    ],
)
def test_bad_arguments(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()
