"""Forces at contacts, against the dynamics; a viewer without a screen; meshes that are missing."""

import mujoco
import numpy as np
import pytest

import bouligand as bd
from bouligand.bridges import mujoco as mj

from ..helpers import robots


def test_forces_carry_the_weight_and_are_those_of_f():
    """At rest they are the weight; in motion, with their moments, what f differs by from f without contacts."""
    robot = robots.solo(friction=mj.LuGre(0.8, 0.7))
    x = robots.above_floor(robot, 0.0)
    sol = bd.solve(robot, (0.0, 1.0), x, rtol=1e-6)
    weight = robot.model.body_mass.sum() * 9.81
    assert robot.forces(sol.x[-1], sol.b[-1]).sum(axis=0) == pytest.approx([0.0, 0.0, weight], abs=0.02 * weight)
    t = 0.02
    x, b, p = sol(t), sol.word(t).astype(float), sol.p
    assert robot.touching(b).any()
    f = robot.function("f")
    data = robot.data(x)
    mujoco.mj_makeM(robot.model, data)
    M, nq, nv = np.zeros((robot.model.nv,) * 2), robot.model.nq, robot.model.nv
    mujoco.mj_fullM(robot.model, data, M)
    generalised = M @ (f(0.0, x, b, p) - f(0.0, x, -np.ones(robot.m), p))[nq : nq + nv]
    expected = np.zeros(nv)
    for place, point, push in zip(robot.places, robot.points(x), robot.forces(x, b, p), strict=True):
        jacobian = np.zeros((3, nv))
        low = point - [0.0, 0.0, place.radius]
        mujoco.mj_jac(robot.model, data, jacobian, None, low, place.body)
        expected += jacobian.T @ push
    assert np.allclose(generalised, expected, rtol=0, atol=1e-8)
    with pytest.raises(ValueError, match="b must have"):
        robot.forces(x, [1.0])


def test_a_viewer_needs_a_screen(monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    ball = mj.load(robots.BALL)
    sol = bd.solve(ball, (0.0, 0.1), ball.neutral())
    with pytest.raises(mj.pictures.RenderingError, match="no screen"):
        mj.pictures.view(ball, sol, viewer="window")


def test_a_mesh_that_is_missing_is_named():
    text = """<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
    </inertial><visual><geometry><mesh filename="package://nowhere/hull.stl"/></geometry></visual></link></robot>"""
    with pytest.raises(ValueError, match=r"package://nowhere/hull\.stl.*package_dirs"):
        mj.load(text, meshes=True, free_base=True)
    with pytest.raises(ValueError, match=r"hull\.stl"):
        mj.load(text.replace("package://nowhere/", ""), meshes=True, free_base=True)
