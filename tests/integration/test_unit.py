"""Unit parts of the state: a spinning top that bounces, its attitude a quaternion."""

import numpy as np
import pytest
from numba import njit
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

import bouligand as bd

STATES = ("z", "qw", "qx", "qy", "qz", "vz", "wx", "wy", "wz")


@njit
def turned(q, v, out):
    """out = R(q) v, for a q of any length."""
    square = q[0] ** 2 + q[1] ** 2 + q[2] ** 2 + q[3] ** 2
    a = 2.0 * (q[2] * v[2] - q[3] * v[1])
    b = 2.0 * (q[3] * v[0] - q[1] * v[2])
    c = 2.0 * (q[1] * v[1] - q[2] * v[0])
    out[0] = v[0] + (q[0] * a + q[2] * c - q[3] * b) / square
    out[1] = v[1] + (q[0] * b + q[3] * a - q[1] * c) / square
    out[2] = v[2] + (q[0] * c + q[1] * b - q[2] * a) / square


def f(t, x, b, p, dx):
    """A rigid body on a spring at a point off its centre: the spring lifts and turns it while it is compressed."""
    q, w = x[1:5], x[6:9]
    arm = np.array([0.3, 0.1, -0.2])
    force, down, lever = np.zeros(3), np.array([0.0, 0.0, 1.0]), np.zeros(3)
    if b[0] > 0.0:
        turned(q, arm, lever)
        force[2] = p[0] * (1.0 - x[0] - lever[2])
    back = np.array([q[0], -q[1], -q[2], -q[3]])
    turned(back, force, down)  # into the body's frame
    torque = np.array(
        [arm[1] * down[2] - arm[2] * down[1], arm[2] * down[0] - arm[0] * down[2], arm[0] * down[1] - arm[1] * down[0]]
    )
    dx[0] = x[5]
    dx[1] = 0.5 * (-q[1] * w[0] - q[2] * w[1] - q[3] * w[2])
    dx[2] = 0.5 * (q[0] * w[0] + q[2] * w[2] - q[3] * w[1])
    dx[3] = 0.5 * (q[0] * w[1] + q[3] * w[0] - q[1] * w[2])
    dx[4] = 0.5 * (q[0] * w[2] + q[1] * w[1] - q[2] * w[0])
    dx[5] = force[2] - 9.81
    dx[6] = (torque[0] + (0.7 - 1.0) * w[1] * w[2]) / 0.4
    dx[7] = (torque[1] + (1.0 - 0.4) * w[2] * w[0]) / 0.7
    dx[8] = (torque[2] + (0.4 - 0.7) * w[0] * w[1]) / 1.0


def h(t, x, p, out):
    lever = np.zeros(3)
    turned(x[1:5], np.array([0.3, 0.1, -0.2]), lever)
    out[0] = 1.0 - x[0] - lever[2]


TOP = bd.System(f, h, states=STATES, guards=("foot",), params={"k": 300.0}, unit=[("qw", "qx", "qy", "qz")])
LOOSE = bd.System(f, h, states=STATES, guards=("foot",), params={"k": 300.0})
START = np.array([2.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.0, -0.5])


def reference(x0, tf):
    """The same law with the word frozen between events, to 1e-12, by SciPy."""
    t, x, b = 0.0, np.array(x0, dtype=float), np.array([-1.0])
    p = np.array([300.0])

    def rhs(t, x):
        dx = np.empty(9)
        f(t, x, b, p, dx)
        return dx

    def guard(t, x):
        out = np.empty(1)
        h(t, x, p, out)
        return out[0] if t > left else b[0]  # (behind the crossing it comes from)

    guard.terminal = True  # type: ignore[attr-defined]
    while t < tf:
        left = t + 1e-6
        out = solve_ivp(rhs, (t, tf), x, method="DOP853", rtol=1e-12, atol=1e-13, events=guard)
        t, x = out.t[-1], out.y[:, -1]
        b = -b if out.status == 1 else b
    x[1:5] /= np.linalg.norm(x[1:5])
    return x


@pytest.mark.parametrize("rtol", [1e-4, 1e-7, 1e-10])
def test_a_bouncing_top_against_a_tight_reference(rtol):
    sol = bd.solve(TOP, (0.0, 1.0), START, rtol=rtol)
    assert len(sol.events) >= 2
    assert_allclose(sol.x[-1], reference(START, 1.0), atol=3e3 * rtol)


def test_attitudes_are_unit_everywhere_and_continuous():
    sol = bd.solve(TOP, (0.0, 1.5), START, rtol=1e-3, t_eval=np.linspace(0.0, 1.5, 40))
    for x in (sol.x, sol.record.states, sol(np.linspace(0.0, 1.5, 333)), sol.events.x):
        assert_allclose(np.linalg.norm(x[:, 1:5], axis=1), 1.0, atol=3e-16)
    ends = sol.record.t[1:-1]
    assert_allclose(sol(ends - 1e-13), sol(ends), atol=1e-10)
    assert_allclose(sol(ends + 1e-13), sol(ends), atol=1e-10)
    drift = bd.solve(LOOSE, (0.0, 1.5), START, rtol=1e-3).x[-1, 1:5]
    assert abs(np.linalg.norm(drift) - 1.0) > 1e-7  # what it is for


def test_scaling_the_start_changes_nothing():
    scaled = START.copy()
    scaled[1:5] *= 3.0
    assert_allclose(
        bd.solve(TOP, (0.0, 1.0), scaled, rtol=1e-6).x, bd.solve(TOP, (0.0, 1.0), START, rtol=1e-6).x, rtol=1e-13
    )


def test_derivative_is_that_of_the_rescaled_motion():
    sol = bd.solve(TOP, (0.0, 1.0), START, rtol=1e-11)
    B = sol.bderivative()
    M = B.matrix(np.zeros(9))
    assert_allclose(sol.x[-1, 1:5] @ M[1:5], 0.0, atol=1e-12)  # it stays on the sphere
    assert_allclose(M[:, 1:5] @ START[1:5], 0.0, atol=1e-7)  # scaling the start does nothing
    for i, step in enumerate(np.full(9, 1e-5)):
        ahead, back = (bd.solve(TOP, (0.0, 1.0), START + s * np.eye(9)[i], rtol=1e-12).x[-1] for s in (step, -step))
        assert_allclose(M[:, i], (ahead - back) / (2.0 * step), atol=2e-6 * np.abs(M).max())
    w = np.arange(1.0, 10.0)
    assert_allclose(B.vjp(w), w @ M, rtol=1e-9, atol=1e-9 * np.abs(w @ M).max())


def test_bad_parts_are_told():
    def make(unit):
        return bd.System(f, h, states=STATES, guards=("foot",), params=[1.0], unit=unit)

    with pytest.raises(ValueError, match="no state is called 'qq'"):
        make([("qw", "qq")])
    with pytest.raises(ValueError, match="adjacent"):
        make([("qw", "qy")])
    with pytest.raises(ValueError, match="overlaps"):
        make([slice(1, 5), slice(4, 6)])
    with pytest.raises(TypeError, match="sequence of parts"):
        make("qw")
    with pytest.raises(ValueError, match="unit length"):
        bd.solve(TOP, (0.0, 1.0), [2.0, 0, 0, 0, 0, 0, 0, 0, 0])
