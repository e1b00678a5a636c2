"""The hexapod: three feet at one instant, a gait that lasts, and the same numbers as when SymPy derives it."""

import numpy as np
import pytest

import bouligand as bd
from bouligand.models.hexapod import START

from ..helpers import flow


@pytest.fixture(scope="module")
def robot():
    return bd.models.hexapod()


@pytest.fixture(scope="module")
def twin():
    pytest.importorskip("sympy")
    from ..helpers import derived

    return derived.hexapod()


@pytest.fixture(scope="module")
def plain_twin():
    pytest.importorskip("sympy")
    from ..helpers import derived

    return derived.hexapod(compile=False)


@pytest.fixture(scope="module")
def gait(robot):
    return bd.solve(robot, (0.0, 3.0), START, rtol=1e-8)


def somewhere(random):
    x = random.normal(size=12) * [1.0, 1.0, 0.05, 0.3, 0.3, 1.0, 1.0, 0.5, 0.5, 2.0, 2.0, 2.0]
    x[2] += 0.17
    return random.uniform(0.0, 2.0), x, random.choice([-1.0, 1.0], 6)


def test_in_flight_the_body_is_free(robot):
    x0 = np.array([0.0, 0.0, 5.0, 0.1, -0.2, 0.3, 1.0, -0.5, 2.0, 3.0, -1.0, 2.0])
    sol = bd.solve(robot, (0.0, 0.8), x0, rtol=1e-10)
    assert len(sol.events) == 0
    assert np.allclose(sol.x[-1, :3], x0[:3] + 0.8 * x0[6:9] - [0.0, 0.0, 0.32 * 9.81], atol=1e-8)
    inertia = np.array([robot.parameters()[robot.params.index(name)] for name in ("Ix", "Iy", "Iz")])

    def momentum(x):  # in the world, where it is constant
        roll, pitch, yaw = x[3:6]
        c, s = np.cos, np.sin
        about_x = np.array([[1, 0, 0], [0, c(roll), -s(roll)], [0, s(roll), c(roll)]])
        about_y = np.array([[c(pitch), 0, s(pitch)], [0, 1, 0], [-s(pitch), 0, c(pitch)]])
        about_z = np.array([[c(yaw), -s(yaw), 0], [s(yaw), c(yaw), 0], [0, 0, 1]])
        return about_z @ about_y @ about_x @ (inertia * x[9:])

    assert np.abs(momentum(sol.x[-1]) - momentum(x0)).max() < 1e-8
    assert abs((inertia * sol.x[-1, 9:] ** 2).sum() - (inertia * x0[9:] ** 2).sum()) < 1e-8


def test_three_feet_land_at_one_instant(robot, gait):
    assert set(gait.events.name[:3]) == set(robot.guards[:3])
    assert np.ptp(gait.events.t[:3]) < 1e-14
    assert (gait.events.direction[:3] == 1).all()


def test_it_runs_in_an_alternating_tripod(gait):
    """After two steps: each tripod in turn, its feet within five milliseconds, once a period each; level, straight and fast."""
    assert gait.success
    for foot in range(6):
        own = gait.events.guard == foot
        landings = gait.events.t[own & (gait.events.direction > 0) & (gait.events.t > 0.6)]
        assert len(landings) >= 4
        assert np.abs(np.diff(landings) - 0.5).max() < 0.01
        other = np.array(gait.t_events[(foot + 1) % 3 + 3 * (foot // 3)])  # of the same tripod
        assert max(np.abs(other - t).min() for t in landings) < 5e-3
        other = np.array(gait.t_events[(foot + 3) % 6])  # of the other one
        assert min(np.abs(other - t).min() for t in landings) > 3e-4
    late = gait(np.linspace(1.0, 3.0, 400))
    assert np.abs(late[:, 3:6]).max() < 0.1
    assert np.abs(late[:, 1]).max() < 0.02
    assert 0.8 < (late[-1, 0] - late[0, 0]) / 2.0 < 1.2
    assert np.all((late[:, 2] > 0.11) & (late[:, 2] < 0.18))


def test_the_mirrored_robot_runs_the_mirrored_way(robot):
    """The other tripod first, and left and right exchanged: the same motion in a mirror."""
    x0 = START.copy()
    x0[[1, 3, 5, 7, 9, 11]] = [0.1, 0.05, -0.1, 0.2, 0.3, -0.2]
    mirror = np.array([1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1.0])
    ahead = bd.solve(robot, (0.0, 0.6), x0, rtol=1e-11)
    phase = robot.defaults[robot.params.index("phase")]
    mirrored = bd.solve(robot, (0.0, 0.6), mirror * x0, {"phase": phase + np.pi}, rtol=1e-11)
    assert np.array_equal((ahead.events.guard + 3) % 6, mirrored.events.guard)
    assert np.abs(ahead.x[-1] - mirror * mirrored.x[-1]).max() < 1e-7


def test_feet_that_do_not_pull(robot):
    made = bd.models.hexapod(pulling=False)
    sol = bd.solve(made, (0.0, 1.0), START, rtol=1e-9)
    assert made.m == 12
    h = made.function("h")
    assert any("pushes" in name for name in sol.events.name)
    for t in np.linspace(0.0, 1.0, 200):
        x, word = sol(t), sol.word(t)
        depth, force = np.split(h(t, x, made.defaults), 2)
        touching = (word[:6] > 0) & (word[6:] > 0)
        assert (force[touching] > -1e-5).all()
        assert (depth[touching] > -1e-8).all()


def test_jacobians_pass_the_check(robot, gait):
    for t in (0.0, 0.3, 0.62):
        report = robot.check(gait(t), t=t)
        assert max(report.jacobians.values()) < 1e-7, report


def test_derived_by_kanes_method_it_has_the_same_field(robot, plain_twin):
    twin = plain_twin
    assert twin.states == robot.states
    assert twin.guards == robot.guards
    assert twin.params == robot.params
    random = np.random.default_rng(0)
    for _ in range(50):
        t, x, word = somewhere(random)
        one, other = (q.function("f")(t, x, word, q.defaults) for q in (robot, twin))
        assert np.abs(one - other).max() < 1e-13 * np.abs(one).max()
        one, other = (q.function("h")(t, x, q.defaults) for q in (robot, twin))
        assert np.abs(one - other).max() < 1e-14
    for k in range(6):
        assert (
            np.abs(
                robot.function("Dh_row")(t, x, k, robot.defaults) - twin.function("Dh_row")(t, x, k, twin.defaults)
            ).max()
            < 1e-14
        )
    assert (
        np.abs(robot.function("Dt_h")(t, x, robot.defaults) - twin.function("Dt_h")(t, x, twin.defaults)).max() < 1e-13
    )


def test_derived_by_kanes_method_it_has_the_same_trajectory(twin, gait):
    sol = bd.solve(twin, (0.0, 1.0), START, rtol=1e-8)
    hand = bd.solve(gait.system, (0.0, 1.0), START, rtol=1e-8)
    assert len(sol.events) == len(hand.events) > 20
    assert np.abs(sol.events.t - hand.events.t).max() < 1e-12
    assert np.abs(sol.x[-1] - hand.x[-1]).max() < 1e-12 * np.abs(hand.x).max()


def test_its_exact_jacobians_pass_the_check(plain_twin, gait):
    for t in (0.1, 0.62):
        report = plain_twin.check(gait(t), t=t)
        assert set(report.jacobians) == {"Df", "Dh_row", "Dt_h", "Dp_f", "Dp_h"}
        assert max(report.jacobians.values()) < 1e-7, report


def test_the_derivative_through_a_landing_on_three_feet(robot, twin):
    """Level, so that three guards are crossed together: one-sided differences along a direction and against it, of both."""
    span, direction = (0.0, 0.15), np.array([0.1, 0.2, 1.0, 0.5, -0.7, 0.3, 0.4, -0.2, 1.0, 0.6, 0.8, -0.5])
    # (without the derivatives in parameters, which would take as long again to compile)
    functions = {name: twin._functions[name].function for name in ("f", "h", "Df", "Dh_row", "Dt_h")}
    lean = bd.System(**functions, n=12, m=6, params=twin.defaults)
    matrices = []
    for q in (robot, lean):
        B = bd.solve(q, span, START, rtol=1e-12).bderivative()
        assert len(B.corners) == 1
        here = flow.end(q, span, START)
        for sign in (1.0, -1.0):
            d = 1e-6 * sign * direction
            change = flow.end(q, span, START + d) - here
            assert np.abs(change - B(d)).max() < 1e-4 * np.abs(change).max()
        matrices.append([B.matrix(direction), B.matrix(-direction)])
    one, other = np.array(matrices)
    assert np.abs(one - other).max() < 1e-5 * np.abs(one).max()  # differences against exact Jacobians
    # one piece only: a force changes no guard's speed at once, so that it does not matter which foot lands first
    assert np.abs(one[0] - one[1]).max() < 1e-12


def test_the_example_runs_and_draws(tmp_path, capsys):
    from examples.hexapod import main

    assert main(tmp_path).success
    assert (tmp_path / "hexapod.png").stat().st_size > 10_000
    assert "first landing: front left, middle right, rear left" in capsys.readouterr().out
