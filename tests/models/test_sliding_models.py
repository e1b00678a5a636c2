"""Ready models that slide: friction that sticks, stick-slip, against closed forms; and their derivatives."""

import math

import numpy as np
import pytest

import bouligand as bd
from bouligand.models import friction_oscillator, stick_slip
from bouligand.models.friction_oscillator import exact, turns
from bouligand.models.stick_slip import cycle

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
