"""Solo12, dropped level on its four feet: events, another integration of the same law, energy, its mirror image, and B."""

import pickle
from itertools import pairwise

import mujoco
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import bouligand as bd
from bouligand.bridges import mujoco as mj

from ..helpers import robots


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
