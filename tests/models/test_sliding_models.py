"""Ready models that slide (friction that sticks, stick-slip, a relay, a stack of blocks) against closed forms; derivatives."""

import math

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import brentq

import bouligand as bd
from bouligand.models import friction_oscillator, relay_feedback, stick_slip, three_blocks
from bouligand.models.friction_oscillator import exact, turns
from bouligand.models.relay_feedback import START as RELAY
from bouligand.models.stick_slip import cycle

from ..helpers import friction_stack
from ..helpers.systems import close

TIGHT = {"rtol": 1e-11, "atol": 1e-13}


def test_the_oscillator_sticks():
    sol = bd.solve(friction_oscillator(), (0.0, 20.0), [3.0, 0.0], **TIGHT)
    close(sol.events.t, math.pi * np.arange(1, 5), 1e-9)
    times = np.linspace(0.0, 20.0, 81)
    close(sol(times), exact(times), 1e-9)
    close(turns(), [3.0, -2.2, 1.4, -0.6, -0.2], 1e-15)
    assert list(sol.b[-1]) == [0]
    assert sol.x[-1, 1] == 0.0
    close(sol.bderivative().matrix(), [[1.0, 0.0], [0.0, 0.0]], 1e-9)


def test_where_it_sticks_depends_on_friction_and_spring():
    """From x0 it sticks at x0 - 8 friction / k, after four half periods."""
    sol = bd.solve(friction_oscillator(2.0, 0.7), (0.0, 12.0), [3.0, 0.0], **TIGHT)
    close(sol.x[-1], exact([12.0], 3.0, 2.0, 0.7)[0], 1e-9)
    assert len(sol.events) == 4
    by = sol.bderivative(params=True).matrix(wrt="p")
    close(by, [[8.0 * 0.7 / 4.0, -8.0 / 2.0], [0.0, 0.0]], 1e-6)


@pytest.mark.parametrize("start", [[0.0, 0.0], [0.3, 0.5], [2.0, -0.2]])
def test_the_stick_slip_cycle(start):
    """From any start it is on the cycle once it has stuck."""
    sol = bd.solve(stick_slip(), (0.0, 40.0), start, **TIGHT)
    slips, sticks, where = cycle()
    tears = np.flatnonzero(sol.events.direction == -1)
    assert len(tears) >= 4
    close(sol.events.x[tears], np.tile([1.0, 0.5], (len(tears), 1)), 1e-9)
    close(sol.events.x[tears[:-1] + 1], np.tile([where, 0.5], (len(tears) - 1, 1)), 1e-9)
    close(np.diff(sol.events.t[tears]), slips + sticks, 1e-9)
    close(np.diff(sol.events.t)[tears[:-1]], slips, 1e-9)


def test_while_it_sticks_it_has_the_speed_of_the_belt():
    sol = bd.solve(stick_slip(), (0.0, 30.0), [0.0, 0.0])
    times = np.linspace(0.0, 30.0, 200)
    stuck = np.array([0 in sol.word(t) for t in times])
    assert stuck.sum() > 40
    close(sol(times)[stuck, 1], 0.5, 1e-15)


def test_a_period_forgets_everything_but_the_phase():
    """Behind the point where it tears off a perturbation is a shift in time: B has rank 1, and is zero on the Poincare map."""
    sol = bd.solve(stick_slip(), (0.0, 16.0), [0.0, 0.0], **TIGHT)
    B = sol.bderivative().matrix()
    rate = sol.rate(16.0)
    assert np.linalg.matrix_rank(B, tol=1e-6) == 1
    close(B[0] * rate[1], B[1] * rate[0], 1e-6)
    assert list(sol.events.direction[:3]) == [1, -1, 1]
    close(sol.bderivative(event=2).matrix(), 0.0, 1e-6)  # where it sticks again


def test_the_relay_against_matrix_exponentials():
    """Each mode is linear: exponentials on a grid find where it ends, a root finder when."""
    w, z, sigma, tf = 25.0, 0.05, 1.0, 10.0
    A = np.array([[-(2 * z * w + 1), 1, 0], [-(2 * z * w + w**2), 0, 1], [-(w**2), 0, 0]])
    drive = np.array([1.0, -2 * sigma, sigma**2])
    slides = np.array([[0, 0, 0], [0, 2 * sigma, 1], [0, -(sigma**2), 0]])  # with sign(y) replaced by x1

    def generator(mode):
        big = np.zeros((4, 4))
        big[:3, :3] = A if mode else slides
        big[:3, 3] = -mode * drive
        return big

    def margin(x, mode):
        return mode * x[0] if mode else 1.0 - abs(x[1])

    def ahead(s, x, mode):
        return margin(expm(s * generator(mode)) @ x, mode)

    step = {mode: expm(1e-3 * generator(mode)) for mode in (-1, 0, 1)}
    t, x, mode, times = 0.0, np.array([*RELAY, 1.0]), 1, []
    while True:
        s, now = 0.0, x
        while t + s < tf and (s == 0.0 or margin(now, mode) > 0.0):
            s, now = s + 1e-3, step[mode] @ now
        if margin(now, mode) > 0.0:
            break
        end = brentq(ahead, s - 1e-3 or 1e-7, s, args=(x, mode), xtol=1e-15)
        x, t = expm(end * generator(mode)) @ x, t + end
        x[0] = 0.0
        mode = int(np.sign(x[1])) if mode == 0 or abs(x[1]) > 1.0 else 0
        times.append(t)
    sol = bd.solve(relay_feedback(), (0.0, tf), RELAY, **TIGHT)
    assert len(times) > 30
    close(sol.events.t, times, 1e-8)
    close(sol.x[-1], (expm((tf - t) * generator(mode)) @ x)[:3], 1e-7)


def test_the_cycle_of_the_relay_is_symmetric():
    """x(t + T/2) = -x(t): in half a period the events come again, with the other sign."""
    sol = bd.solve(relay_feedback(), (0.0, 40.0), RELAY, **TIGHT)
    leaves = np.flatnonzero(np.diff(np.sign(sol.events.x[:, 1])) != 0)[-3:] + 1
    first, second, third = (sol.events.x[k] for k in leaves)
    close(first, -second, 1e-8)
    close(first, third, 1e-8)
    close(np.diff(sol.events.t[leaves], 2), 0.0, 1e-8)


def test_a_stack_is_taken_along_by_a_table_of_constant_speed():
    """Constant accelerations: the lowest block has the table's speed first, the others follow one by one."""
    sol = bd.solve(three_blocks(speed=1.0, w=0.0), (0.0, 2.0), np.zeros(6), **TIGHT)
    a = 9.81 * np.array([(6 * 0.6 - 3 * 0.4) / 3, (3 * 0.4 - 1 * 0.2) / 2, 0.2])
    close(sol.events.t, 1.0 / a, 1e-10)
    assert [tuple(sol.word(t)) for t in sol.events.t] == [(0, -1, -1), (0, 0, -1), (0, 0, 0)]
    close(sol.x[-1], [*(2.0 - 0.5 / a), 1.0, 1.0, 1.0], 1e-10)
    apart = bd.solve(three_blocks(speed=1.0, w=0.0), (0.0, 2.0), [0.0, 0.0, 0.0, 0.2, 0.1, 0.0], **TIGHT)
    B = apart.bderivative().matrix()
    close(B[:, :3], np.eye(6)[:, :3], 1e-9)
    close(B[:3, 3:], np.diag([0.8, 0.9, 1.0] / a), 1e-7)
    close(B[3:], 0.0, 1e-12)


def test_the_derivative_of_a_stack_that_starts_at_rest():
    """It starts on the two guards between its blocks, which perturbations leave to either side: B has pieces."""
    system = three_blocks(speed=1.0, w=0.0)
    sol = bd.solve(system, (0.0, 2.0), np.zeros(6), **TIGHT)
    for _ in range(2):  # (the first one estimates rates along the trajectory before)
        B = sol.bderivative()
        assert [corner.kind for corner in B.corners] == ["start"]
        assert not B.is_linear
        for k, sign in ((0, 1.0), (1, -1.0), (2, 1.0), (2, -1.0)):
            dx = np.zeros(6)
            dx[3 + k] = sign
            moved = bd.solve(system, (0.0, 2.0), 1e-6 * dx, rtol=1e-12, atol=1e-15)
            close(B(dx), (moved.x[-1] - sol.x[-1]) / 1e-6, 1e-5)
        with pytest.raises(
            bd.NotEventSelectedError, match="slip 3"
        ):  # block 2 is pulled back: slip 3 changes its direction
            B([0.0, 0.0, 0.0, 0.0, 1.0, 0.0])


@pytest.mark.parametrize("speed", [0.4, 0.8, 1.1])
def test_the_stack_on_a_shaken_table(speed):
    """Against groups of blocks that are moved from event to event by hand."""
    events, velocities = friction_stack.solve(3.0, (3.0, 2.0, 1.0), (0.6, 0.4, 0.2), speed, 2.0 * math.pi)
    sol = bd.solve(three_blocks(speed=speed), (0.0, 3.0), np.zeros(6), **TIGHT)
    assert len(events) > 10
    assert list(sol.events.guard) == [k for _, k, _ in events]
    close(sol.events.t, [t for t, _, _ in events], 1e-8)
    sticks = [sol.word(t)[k] == 0 for t, k in zip(sol.events.t, sol.events.guard, strict=True)]
    assert sticks == [sticks for _, _, sticks in events]
    close(sol.x[-1, 3:], velocities, 1e-8)


def test_a_stack_has_three_blocks():
    with pytest.raises(ValueError, match="masses must be a vector of 3 numbers; got shape"):
        three_blocks(masses=(1.0, 2.0))
