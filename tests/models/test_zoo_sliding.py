"""Ready models of other fields that slide (a trade cycle, harvesting, predators, an exciter, two relays) against closed forms."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import bouligand as bd
from bouligand.models import exciter, hicks, predator_prey, threshold_harvest, two_relays
from bouligand.models.exciter import leaves
from bouligand.models.predator_prey import prey_while_sliding
from bouligand.models.threshold_harvest import arrival, exact
from bouligand.models.two_relays import exact as two_relays_exact

from ..helpers.linear_pieces import follow
from ..helpers.systems import close

TIGHT = {"rtol": 1e-11, "atol": 1e-13}


def test_the_trade_cycle():
    saving, speed, accelerator, lag, floor, ceiling = hicks().defaults

    def matrix(mode):  # free, at the ceiling, at the floor
        y = [0.0, 0.0] if mode == 1 else [-speed * saving, speed]
        if mode == 2:
            return [y, [0.0, -lag]], [0.0, -lag * floor]
        return [y, [lag * accelerator * y[0], lag * accelerator * y[1] - lag]], [0.0, 0.0]

    def margins(mode, x):
        growth = speed * (x[1] - saving * x[0])
        return [(ceiling - x[0], accelerator * growth + floor), (growth,), (-accelerator * growth - floor,)][mode]

    times, end = follow(matrix, margins, lambda mode, k, x: 0 if mode else 1 + k, 0, [0.1, 0.1], 45.0)
    sol = bd.solve(hicks(), (0.0, 45.0), [0.1, 0.1], **TIGHT)
    assert len(times) > 12
    close(sol.events.t, times, 1e-8)
    close(sol.x[-1], end, 1e-8)
    # at the ceiling induced investment dies out
    up = np.flatnonzero((sol.events.guard == 0) & (sol.events.direction == 1))
    stays = np.log(sol.events.x[up, 1] / (saving * ceiling)) / lag
    close(sol.events.t[up + 1] - sol.events.t[up], stays, 1e-9)
    assert (sol(sol.events.t[up] + 0.5 * stays)[:, 0] == ceiling).all()


def test_the_trade_cycle_forgets_its_start():
    sol = bd.solve(hicks(), (0.0, 30.0), [0.1, 0.1], **TIGHT)
    B = sol.bderivative().matrix()
    assert np.linalg.matrix_rank(B, tol=1e-6) == 1  # a shift in time is left
    close(B[0] * sol.rate(30.0)[1], B[1] * sol.rate(30.0)[0], 1e-7)


def test_harvest_above_a_threshold():
    times = np.linspace(0.0, 10.0, 41)
    sol = bd.solve(threshold_harvest(), (0.0, 10.0), [0.1, 0.0], **TIGHT)
    close(sol.events.t, [arrival(0.1)], 1e-11)
    close(sol(times), exact(times), 1e-10)
    assert sol.x[-1, 0] == 0.5
    # more effort brings nothing; the yield by the start: what is caught from then on a year, times the time that is won
    B = sol.bderivative(params=True)
    r, x0 = 0.8, 0.1
    close(B.matrix(), [[0.0, 0.0], [r * 0.25 / (r * x0 * (1.0 - x0)), 1.0]], 1e-8)
    close(B.matrix(wrt="p")[:, 2], 0.0, 1e-8)
    close(B.matrix(wrt="p")[0], [0.0, 0.0, 0.0, 1.0], 1e-7)


def test_a_harvest_that_takes_too_little():
    """The stock passes the threshold and comes to rest above it, at K (1 - E / r)."""
    sol = bd.solve(threshold_harvest(effort=0.3), (0.0, 80.0), [0.1, 0.0], **TIGHT)
    assert sol.b[-1, 0] == 1
    assert sol.x[-1, 0] == pytest.approx(1.0 - 0.3 / 0.8, abs=1e-9)


def test_predators_at_their_threshold():
    sol = bd.solve(predator_prey(), (0.0, 8.0), [1.0, 0.3], **TIGHT)
    (begins,) = sol.events.t
    after = np.linspace(0.0, 8.0 - begins, 20)
    close(sol(begins + after)[:, 0], prey_while_sliding(after, sol.events.x[0, 0]), 1e-9)
    assert (sol(begins + after)[1:, 1] == 0.6).all()


def test_predators_that_leave_their_threshold():
    """With less hunting they pass it; the prey falls, so do they, and then they stay. Another solver says the same."""
    r, K, a, e, m = predator_prey().defaults[:5]

    def event(t, x):
        return x[1] - 0.7

    event.terminal = True  # type: ignore[attr-defined]
    x, begin, times = np.array([1.0, 0.3]), 0.0, []
    for hunted, event.direction in ((0.0, 1.0), (0.3, -1.0)):  # type: ignore[attr-defined]
        run = solve_ivp(
            lambda t, x, E=hunted: (r * x[0] * (1 - x[0] / K) - a * x[0] * x[1], x[1] * (e * a * x[0] - m - E)),
            (begin, 20.0),
            x,
            method="DOP853",
            events=event,
            rtol=1e-13,
            atol=1e-13,
        )
        begin, x = run.t[-1], run.y[:, -1]
        times.append(begin)
    sol = bd.solve(predator_prey(effort=0.3, threshold=0.7), (0.0, 20.0), [1.0, 0.3], **TIGHT)
    close(sol.events.t, times, 1e-9)
    assert list(sol.b[-1]) == [0]
    close(sol.x[-1], [prey_while_sliding(20.0 - begin, x[0], threshold=0.7), 0.7], 1e-9)


def test_the_exciter():
    gain, lag, wanted, field_lag, _, highest = exciter().defaults

    def matrix(mode):
        below = [0.0, 0.0] if mode else [-gain / lag, -1.0 / lag]
        return [[-1.0 / field_lag, 1.0 / field_lag], below], [0.0, 0.0 if mode else gain * wanted / lag]

    def margins(mode, x):
        return (gain * (wanted - x[0]) - x[1],) if mode else (highest - x[1], x[1])

    times, end = follow(matrix, margins, lambda mode, k, x: 1 - mode, 0, [0.9, 0.9], 1.0, step=1e-3)
    sol = bd.solve(exciter(), (0.0, 1.0), [0.9, 0.9], **TIGHT)
    assert len(times) == 2
    close(sol.events.t, times, 1e-10)
    close(sol.x[-1], end, 1e-9)
    close(np.diff(sol.events.t), leaves(sol.events.x[0, 0]), 1e-10)
    assert sol.events.x[1, 0] == pytest.approx(wanted - highest / gain, abs=1e-10)
    assert sol(0.1)[1] == highest


def test_an_exciter_at_its_lower_limit():
    """The voltage is too high: E goes to 0 and stays while V decays."""
    sol = bd.solve(exciter(), (0.0, 2.0), [1.2, 1.2], **TIGHT)
    assert list(sol.events.name[:2]) == ["lowest", "lowest"]
    first, second = sol.events.t[:2]
    assert second - first == pytest.approx(5.0 * math.log(sol.events.x[0, 0] / 1.05), abs=1e-9)


def test_the_derivative_of_the_exciter():
    """By the wanted voltage and the limit, against differences of the exact solution by other means: restarts at the limit."""

    def end(wanted, highest):
        sol = bd.solve(exciter(wanted=wanted, highest=highest), (0.0, 0.4), [0.9, 0.9], rtol=1e-12, atol=1e-14)
        assert len(sol.events) == 2
        return sol.x[-1]

    B = bd.solve(exciter(), (0.0, 0.4), [0.9, 0.9], **TIGHT).bderivative(params=True).matrix(wrt="p")
    close(B[:, 2], (end(1.05 + 1e-5, 4.0) - end(1.05 - 1e-5, 4.0)) / 2e-5, 1e-5)
    close(B[:, 5], (end(1.05, 4.0 + 1e-5) - end(1.05, 4.0 - 1e-5)) / 2e-5, 1e-5)


def test_two_relays():
    sol = bd.solve(two_relays(), (0.0, 3.0), [1.0, 1.0], rtol=1e-10)
    times, end = two_relays_exact(3.0)
    close(times, [0.354248688935409, 0.567764362830022, 5.0 / 3.0], 1e-14)
    close(sol.events.t, times, 1e-9)
    close(sol.x[-1], end, 1e-9)
    close(sol(1.0), 0.0, 1e-14)
    B = sol.bderivative(params=True)
    close(B.matrix(), 0.0, 1e-8)
    close(B.matrix(wrt="p"), [[28.0 / 9.0], [0.0]], 1e-6)
