"""The B-derivative in parameters and start time, of event times and Poincare maps; starts and ends on a guard."""

import numpy as np
import pytest

import bouligand as bd
from bouligand.models.hopper import START as HOPPER_START
from bouligand.models.hopper import crossings as hopper_crossings
from bouligand.models.hopper import exact as hopper_exact
from bouligand.models.plate import START as PLATE_START
from bouligand.models.plate import field as plate_field
from bouligand.models.plate import guards as plate_guards

from ..helpers import systems
from ..helpers.flow import end, richardson
from ..helpers.systems import close

LEVEL = np.array([0.0, 2.0, 0.0, 0.0, 0.0, 0.0])


# ------------------------------------------------------------------------------------- parameters and start time


def test_parameters_of_the_hopper():
    # in its closed form: g, stiffness and length of the leg
    sol = bd.solve(bd.models.hopper(), (0.0, 1.3), HOPPER_START, rtol=1e-12)
    B = sol.bderivative(params=True)
    p = np.array([9.81, 1000.0, 1.0])
    for j in range(3):
        unit = np.eye(3)[j] * p[j]
        known = richardson(lambda q: hopper_exact(1.3, 2.0, *q)[0], p, unit, 1e-3) / p[j]
        close(B.matrix(wrt="p")[:, j], known, 1e-7 * max(np.abs(known).max(), 1e-3))
        close(B(dp=unit), known * p[j], 1e-7 * np.abs(known * p[j]).max())
    close(B(dp={"g": 2.0}), 2.0 * B.matrix(wrt="p")[:, 0], 1e-8)
    known = richardson(lambda z: hopper_exact(1.3, z[0])[0], [2.0], [1.0], 1e-3)
    close(B([1.0, 0.0]), known, 1e-7 * np.abs(known).max())
    # later by dt0: the same motion, earlier on its way
    known = -richardson(lambda t: hopper_exact(t[0])[0], [1.3], [1.0], 1e-4)
    close(B(dt0=1.0), known, 1e-6)
    close(B.matrix(wrt="t0"), known, 1e-6)


@pytest.mark.parametrize("supplied", [True, False], ids=["Jacobians", "differences"])
def test_parameters_of_the_plate(supplied):
    plate = bd.models.plate(3)
    if not supplied:
        plate = bd.System(
            plate_field, plate_guards, n=6, m=3, params=dict(zip(plate.params, plate.defaults, strict=True))
        )
    span, p = (0.0, 0.8), plate.defaults
    B = bd.solve(plate, span, PLATE_START, rtol=1e-12).bderivative(params=True)
    P = B.matrix(wrt="p")
    for name in ("k", "c", "s0"):  # stiffness, damping, position of one support
        j = plate.params.index(name)
        unit = np.eye(len(p))[j] * abs(p[j])
        known = richardson(lambda q: end(plate, span, PLATE_START, q), p, unit, 2e-4) / abs(p[j])
        close(P[:, j], known, 1e-7 * np.abs(known).max())
    w = np.arange(1.0, 7.0)
    x0, gp = B.vjp(w)
    close(x0, B.matrix().T @ w, 1e-12 * np.abs(x0).max())
    close(gp, P.T @ w, 1e-12 * np.abs(gp).max())


def test_gradients_cost_no_solve_and_do_not_grow_with_parameters():
    # counted, not timed: evaluations of f on the way back, without parameters and with 56 of them
    sol = bd.solve(bd.models.plate(50), (0.0, 0.7), PLATE_START, rtol=1e-8)
    sol.bderivative().vjp(np.ones(6))  # (the first call measures fast modes, which the solution keeps)
    counts = []
    for params in (False, True):
        B = sol.bderivative(params=params)
        B.vjp(np.ones(6))
        counts.append(B._map.chain.parts[0].walk.memory.s.counts.f_calls)
    assert counts[0] == counts[1] < 1.5 * sol.counts.f


def test_start_time_with_a_moving_guard():
    def outcome(z):
        return bd.solve(systems.moving, (z[1], 2.0), [z[0]], rtol=1e-12).x[-1]

    B = bd.solve(systems.moving, (0.1, 2.0), [0.3], rtol=1e-12).bderivative()
    for along in ((1.0, 0.0), (0.0, 1.0), (0.5, -2.0)):
        close(B([along[0]], dt0=along[1]), richardson(outcome, (0.3, 0.1), along, 1e-3), 1e-9)


# ----------------------------------------------------------------------------------- event times, Poincare maps


def test_event_times():
    sol = bd.solve(bd.models.hopper(), (0.0, 2.0), HOPPER_START, rtol=1e-12)
    B = sol.bderivative()
    known = richardson(lambda z: hopper_crossings(2.0, z[0]), [2.0], [1.0], 1e-3)
    close(B.event_times((1.0, 0.0)), known, 1e-8)
    assert list(B.events) == [0, 1, 2, 3]
    # one-sided, through a corner
    corner = bd.solve(systems.corner, (0.0, 2.0), [-1.0, -1.0]).bderivative()
    moved = bd.solve(systems.corner, (0.0, 2.0), [-1.25, -1.0])
    when = dict(zip(moved.events.name, moved.events.t, strict=True))
    names = [moved.system.guards[g] for g in corner.solution.events.guard]
    close(corner.event_times((-0.25, 0.0)), [when[name] - 1.0 for name in names], 1e-8)


def test_poincare_map_of_the_hopper():
    """From apex to apex: the height is kept, whatever it is (the multiplier is 1), and nothing is left of the velocity."""
    sol = bd.solve(systems.watched, (0.0, 3.0), [2.0, 0.0], rtol=1e-12, terminal="apex")
    assert sol.status == "terminated"
    B = sol.bderivative()
    assert B.event == 2
    close(B.matrix(), [[1.0, 0.0], [0.0, 0.0]], 1e-8)
    period = richardson(
        lambda z: np.array([sum(hopper_crossings(1.2, z[0]))]), [2.0], [1.0], 1e-3
    )  # touch + release = period
    close(B.event_times((1.0, 0.0))[-1], period[0], 1e-7)
    # with a velocity at the start: z + v^2 / 2g at the next apex
    sol = bd.solve(systems.watched, (0.0, 3.0), [2.0, -1.0], rtol=1e-12, terminal="apex")
    close(sol.bderivative().matrix(), [[1.0, -1.0 / 9.81], [0.0, 0.0]], 1e-8)
    # the same, without a terminal event: at that event's number, or at a fixed time
    sol = bd.solve(systems.watched, (0.0, 3.0), [2.0, -1.0], rtol=1e-12)
    at_apex = int(np.flatnonzero(sol.events.name == "apex")[0])
    B = sol.bderivative(event=at_apex)
    close(B.matrix(), [[1.0, -1.0 / 9.81], [0.0, 0.0]], 1e-8)
    close(B.vjp((1.0, 0.0)), (1.0, -1.0 / 9.81), 1e-8)
    fixed = sol.bderivative(float(sol.events.t[at_apex])).matrix()
    assert abs(fixed[1, 0]) > 1.0


def test_state_at_a_tied_terminal_event():
    sol = bd.solve(systems.corner, (0.0, 2.0), [-1.0, -1.0], terminal="h0")
    B = sol.bderivative()
    for dx in ((0.2, 0.1), (-0.2, 0.1), (0.0, -0.3)):
        moved = bd.solve(systems.corner, (0.0, 3.0), np.array([-1.0, -1.0]) + dx, terminal="h0")
        close(B(dx), moved.x[-1] - sol.x[-1], 1e-8)
        close(B.event_times(dx)[list(sol.events.guard).index(0)], moved.t[-1] - sol.t[-1], 1e-8)
        close(B.vjp((1.0, 2.0), dx), B.matrix(dx).T @ (1.0, 2.0), 1e-12)


# ------------------------------------------------------------------------------------------ start and end on a guard


def test_final_time_on_a_guard():
    span, x0 = (0.0, 1.0), np.array([-1.0, -1.0])
    B = bd.solve(systems.corner, span, x0).bderivative()
    assert B.corners[0].kind == "end"
    assert "end" in repr(B)
    for dx in ((0.2, 0.1), (-0.2, 0.1), (0.1, -0.3), (-0.2, -0.1)):
        close(B(dx), end(systems.corner, span, x0 + dx) - end(systems.corner, span, x0), 1e-9)
        close(B.vjp((1.0, 2.0), dx), B.matrix(dx).T @ (1.0, 2.0), 1e-12)
    assert len(B.pieces()) == 5  # none crossed, one of the two, both in either order
    close(B((1.0, 1.0)), (1.0, 0.5), 1e-9)


def test_start_on_a_guard():
    span, x0 = (0.0, 1.0), np.array([0.0, 0.0])
    sol = bd.solve(systems.corner, span, x0)
    B = sol.bderivative()
    assert B.corners[0].kind == "start"
    for dx in ((0.2, 0.1), (-0.2, 0.1), (0.1, -0.3), (-0.2, -0.1)):
        close(B(dx), end(systems.corner, span, x0 + dx) - sol.x[-1], 1e-9)
        close(B.vjp((1.0, 2.0), dx), B.matrix(dx).T @ (1.0, 2.0), 1e-12)
        # later by dt0, from there
        moved = bd.solve(systems.corner, (0.05, 1.0), x0 + dx).x[-1]
        close(B(dx, dt0=0.05), moved - sol.x[-1], 1e-9)


def test_start_at_rest_on_a_guard_without_a_jump():
    # the leg touches, uncompressed and at rest: f does not jump there, so the start may be on either side
    sol = bd.solve(bd.models.hopper(), (0.0, 0.2), [1.0, 0.0], rtol=1e-10, b0=[1])
    assert np.isfinite(sol.bderivative()((1e-3, 0.0))).all()


@pytest.mark.parametrize("start", [[2.0, 0.0], [1.0, -4.0]])
def test_over_no_time_it_is_the_identity(start):
    """Also on a guard, where only the start time has no derivative."""
    B = bd.solve(bd.models.hopper(), (0.3, 0.3), start).bderivative(params=True)
    np.testing.assert_array_equal(B.matrix(), np.eye(2))
    np.testing.assert_array_equal(B.matrix(wrt="p"), np.zeros((2, 3)))
    np.testing.assert_array_equal(B([0.1, -0.2], {"g": 1.0}), [0.1, -0.2])
    np.testing.assert_array_equal(B.vjp([1.0, 2.0])[0], [1.0, 2.0])
    if start[0] == 2.0:
        np.testing.assert_allclose(B.matrix(wrt="t0").ravel(), [0.0, 9.81])
    else:
        with pytest.raises(bd.DerivativeError, match="starts on a guard"):
            B.matrix(wrt="t0")
