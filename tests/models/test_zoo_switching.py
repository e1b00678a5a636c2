"""Ready models of other fields that switch (genes, a business cycle, a circuit, power systems) against closed forms."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import bouligand as bd
from bouligand.models import chua, glass_ring, goodwin, load_shedding, swing
from bouligand.models.glass_ring import PERIOD, path
from bouligand.models.load_shedding import shedding
from bouligand.models.swing import START, W0, critical_angle, critical_time

from ..helpers.linear_pieces import follow
from ..helpers.systems import close

TIGHT = {"rtol": 1e-11, "atol": 1e-13}


@pytest.mark.parametrize("count", [2, 3, 5, 8])
def test_the_ring_of_genes(count):
    start = bd.models.available()["glass_ring"].build(count)[1] * np.linspace(1.0, 0.7, count)
    start[0] = -0.3 * start[0]
    sol = bd.solve(glass_ring(count), (0.0, 15.0), start, **TIGHT)
    times, which, end = path(15.0, start)
    assert list(sol.events.guard) == which
    close(sol.events.t, times, 1e-11)
    close(sol.x[-1], end, 1e-11)


@pytest.mark.parametrize(
    ("count", "period", "others"),
    [
        (3, 2.88727095035762068, [0.618033988749895, -0.381966011250105]),
        (5, 6.56255979236975808, [0.927561975483, -0.860371218362, 0.730856869831, -0.481209936324]),
    ],
)
def test_the_cycle_of_the_ring(count, period, others):
    sol = bd.solve(glass_ring(count), (0.0, 80.0), bd.models.available()["glass_ring"].build(count)[1], **TIGHT)
    close(np.diff(sol.t_events[0][-7::2]), period, 1e-9)
    last = sol.events.x[-1]
    around = np.roll(last, -1 - int(sol.events.guard[-1]))[:-1]
    close(np.sort(np.abs(around)), np.sort(np.abs(others)), 1e-9)
    assert pytest.approx(PERIOD, abs=1e-15) == 2.88727095035762068


def test_the_derivative_of_the_ring():
    """Around the cycle: one multiplier is 1, the others are within the unit circle; B(f) = f."""
    x0 = path(40.0, [0.9, -0.5, 0.1])[2]
    sol = bd.solve(glass_ring(3), (0.0, PERIOD), x0, **TIGHT)
    B = sol.bderivative().matrix()
    close(sol.x[-1], x0, 1e-9)
    close(B @ sol.rate(0.0), sol.rate(PERIOD), 1e-8)
    values = np.sort(np.abs(np.linalg.eigvals(B)))
    assert values[-1] == pytest.approx(1.0, abs=1e-7)
    assert values[-2] < 0.2


def test_goodwin():
    eps, theta, alpha, kappa, floor, ceiling = goodwin().defaults

    def matrix(mode):
        slope = kappa if mode == 0 else 0.0
        push = (0.0, ceiling, floor)[mode]
        rows = [[0.0, 1.0], [-(1 - alpha) / (eps * theta), (slope - eps - (1 - alpha) * theta) / (eps * theta)]]
        return rows, [0.0, push / (eps * theta)]

    def margins(mode, x):
        v = kappa * x[1]
        return [(ceiling - v, v - floor), (v - ceiling,), (floor - v,)][mode]

    times, end = follow(matrix, margins, lambda mode, k, x: 0 if mode else 1 + k, 0, [1.0, 1.0], 40.0)
    sol = bd.solve(goodwin(), (0.0, 40.0), [1.0, 1.0], **TIGHT)
    assert len(times) > 12
    close(sol.events.t, times, 1e-9)
    close(sol.x[-1], end, 1e-9)
    other = bd.solve(goodwin(), (0.0, 80.0), [-0.1, 0.2], **TIGHT)
    assert np.diff(other.t_events[1][::2])[-1] == pytest.approx(np.diff(sol.t_events[1][::2])[-1], abs=1e-7)


def test_chua():
    """Chaotic: over 20 units of time errors grow by some hundreds."""
    alpha, beta, inner, outer = chua().defaults

    def matrix(mode):
        slope = inner if mode == 0 else outer
        offset = mode * (inner - outer)
        rows = [[-alpha * (1.0 + slope), alpha, 0.0], [1.0, -1.0, 1.0], [0.0, -beta, 0.0]]
        return rows, [-alpha * offset, 0.0, 0.0]

    def margins(mode, x):
        return (1.0 - x[0], x[0] + 1.0) if mode == 0 else (mode * x[0] - 1.0,)

    times, end = follow(matrix, margins, lambda mode, k, x: 0 if mode else (1, -1)[k], 0, [0.1, 0.0, 0.0], 20.0)
    sol = bd.solve(chua(), (0.0, 20.0), [0.1, 0.0, 0.0], **TIGHT)
    assert len(times) > 8
    close(sol.events.t, times, 1e-8)
    close(sol.x[-1], end, 1e-7)


@pytest.mark.parametrize("damping", [0.0, 1.0, 1.5])
@pytest.mark.parametrize("relays", [3, 6, 12])
def test_load_shedding(relays, damping):
    sol = bd.solve(load_shedding(relays, damping=damping), (0.0, 3.0 if damping else 1.0), [60.0], **TIGHT)
    times = np.repeat(shedding(damping=damping), relays // 3)
    close(sol.events.t, times, 1e-11)
    assert list(sol.events.guard) == list(range(len(times)))
    if damping == 0.0:
        close(times[:: relays // 3], [2.0 / 9.0, 16.0 / 45.0, 28.0 / 45.0], 1e-14)
        assert sol.x[-1, 0] == pytest.approx(59.1, abs=1e-12)
    else:
        assert sol.x[-1, 0] > 59.15  # it recovers, and nothing is switched on again


def test_load_that_is_not_shed():
    """With much damping two stages are enough, or one. Where a part of a tied stage would do, the order matters: refused."""
    for damping, stages in ((12.0, 2), (20.0, 1)):
        sol = bd.solve(load_shedding(3, damping=damping), (0.0, 5.0), [60.0], **TIGHT)
        assert len(sol.events) == stages
        close(sol.events.t, shedding(damping=damping), 1e-10)
    with pytest.raises(bd.NotEventSelectedError, match="relay 11"):
        bd.solve(load_shedding(12, damping=2.5), (0.0, 3.0), [60.0])
    with pytest.raises(ValueError, match="relays must be a multiple of 3, the number of stages; got 4"):
        load_shedding(4)


def test_the_critical_clearing_time():
    """As published: 41.77 degrees before the fault, to be cleared at 52.24 degrees, in 87 ms."""
    assert math.degrees(START[0]) == pytest.approx(41.77, abs=0.01)
    assert math.degrees(critical_angle()) == pytest.approx(52.24, abs=0.01)
    assert critical_time() == pytest.approx(0.0868, abs=5e-5)
    for factor, names in ((1.0 - 1e-6, ["fault", "cleared"]), (1.0 + 1e-6, ["fault", "cleared", "trip"])):
        system = swing(clearing=factor * critical_time())
        assert list(bd.solve(system, (0.0, 4.0), START, **TIGHT).events.name) == names


def test_how_far_it_swings():
    """The energy behind the fault says how far it goes."""
    clearing = 0.07
    cleared = START[0] + 0.25 * W0 / 3.5 * 0.9 * clearing**2

    def area(angle):
        return 0.9 * (angle - START[0]) + 1.1024 * (math.cos(angle) - math.cos(cleared))

    most = brentq(area, cleared, math.pi - math.asin(0.9 / 1.1024), xtol=1e-14)
    sol = bd.solve(swing(clearing=clearing), (0.0, 1.5), START, **TIGHT)
    t = np.linspace(0.17, 1.5, 4001)
    peak = brentq(lambda s: sol(s)[1], t[np.argmax(sol(t)[:, 0]) - 2], t[np.argmax(sol(t)[:, 0]) + 2], xtol=1e-13)
    assert sol(peak)[0] == pytest.approx(most, abs=1e-9)


def test_the_derivative_by_the_clearing_time():
    """Against another solver, with the network frozen between the times at which it changes."""

    def end(clearing):
        x, begin = START, 0.1
        for most, length in ((0.0, clearing), (1.1024, 0.9 - clearing)):
            run = solve_ivp(
                lambda t, x, most=most: (x[1], 0.5 * W0 / 3.5 * (0.9 - most * math.sin(x[0]))),
                (begin, begin + length),
                x,
                method="DOP853",
                rtol=1e-13,
                atol=1e-13,
            )
            x, begin = run.y[:, -1], begin + length
        return x

    sol = bd.solve(swing(clearing=0.07), (0.0, 1.0), START, **TIGHT)
    close(sol.x[-1], end(0.07), 1e-9)
    by = sol.bderivative(params=True).matrix(wrt="p")[:, 7]
    close(by, (end(0.0701) - end(0.0699)) / 2e-4, 1e-2)
    close(by, (8.0 * (end(0.0701) - end(0.0699)) - end(0.0702) + end(0.0698)) / 1.2e-3, 1e-5)
