"""Ready models of other fields that jump (neurons, a tap changer, gears, balls) against closed forms and other solvers."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import bouligand as bd
from bouligand.models import adex, ball_row, cuba, gear_rattle, tap_changer
from bouligand.models.adex import PARAMETERS
from bouligand.models.ball_row import exact
from bouligand.models.cuba import connections
from bouligand.models.gear_rattle import periodic
from bouligand.models.tap_changer import START, conductance, voltage

from ..helpers.systems import close

TIGHT = {"rtol": 1e-11, "atol": 1e-13}


def adex_field(V, w, exp, current=1000.0):
    C, g, E, VT, width, tau, a = (PARAMETERS[k] for k in ("C", "g", "E", "VT", "width", "tau", "a"))
    return (g * (E - V) + g * width * exp((V - VT) / width) - w + current) / C, (a * (V - E) - w) / tau


def test_spikes_of_an_adex_neuron():
    """Against SciPy with a restart at every spike."""

    def cut(t, x):
        return x[0] - PARAMETERS["cut"]

    cut.terminal = True  # type: ignore[attr-defined]
    t, x, times = 0.0, np.array([-70.6, 0.0]), []
    while True:
        run = solve_ivp(
            lambda t, x: adex_field(x[0], x[1], math.exp),
            (t, 100.0),
            x,
            method="DOP853",
            events=cut,
            rtol=1e-13,
            atol=1e-12,
        )
        t, x = float(run.t[-1]), run.y[:, -1]
        if run.status == 0:
            break
        times.append(t)
        x = np.array([PARAMETERS["reset"], x[1] + PARAMETERS["b"]])
    sol = bd.solve(adex(), (0.0, 100.0), [-70.6, 0.0], **TIGHT)
    assert len(times) == 5
    close(sol.events.t, times, 1e-8)
    close(sol.x[-1], x, 1e-8)


def test_the_first_spike_of_an_adex_neuron_by_taylor_series():
    """By mpmath, with 20 digits; from there to the cut a step by the slope, which is corrected."""
    with mpmath.workdps(20):
        path = mpmath.odefun(
            lambda t, x: list(adex_field(x[0], x[1], mpmath.exp)), 0, [mpmath.mpf(-70.6), 0], tol=1e-14
        )
        first = mpmath.mpf("11.7286696")
        for _ in range(3):
            V, w = path(first)
            first += (PARAMETERS["cut"] - V) / adex_field(V, w, mpmath.exp)[0]
    sol = bd.solve(adex(), (0.0, 12.0), [-70.6, 0.0], rtol=1e-13, atol=1e-13)
    assert sol.events.t[0] == pytest.approx(float(first), abs=2e-11)


def test_adex_neurons_with_pulses_fire_in_cascades():
    start = bd.models.available()["adex"].build(20)[1]
    sol = bd.solve(adex(20, pulse=2.0), (0.0, 40.0), start, **TIGHT)
    assert len(np.unique(sol.events.t)) < 0.5 * len(sol.events)
    turned = np.random.default_rng(3).permutation(20)
    other = bd.solve(adex(20, pulse=2.0), (0.0, 40.0), np.r_[start[:20][turned], start[20:]], **TIGHT)
    close(other.events.t, sol.events.t, 1e-9)
    close(other.x[-1, :20], sol.x[-1, :20][turned], 1e-8)


def test_the_derivative_of_a_spike_time():
    sol = bd.solve(adex(), (0.0, 30.0), [-70.6, 0.0], **TIGHT)
    later = sol.bderivative(params=True).event_times(dp={"I": 1.0})
    moved = [bd.solve(adex(current=1000.0 + d), (0.0, 30.0), [-70.6, 0.0], **TIGHT).events.t for d in (0.05, -0.05)]
    close(later, (moved[0] - moved[1]) / 0.1, 1e-6)


def network_spikes(count, probability, seed, tf, step=0.05):
    """Events of the network from closed forms: potentials are sums of exponentials; each interval is searched for a spike."""
    targets, begins = connections(count, probability, seed)
    x0 = bd.models.available()["cuba"].build(count)[1]
    v, ge, gi, release = (part.copy() for part in np.split(x0, 4))
    t, spikes = 0.0, []

    def ahead(s, i):
        """Potential of neuron i, which is not refractory, after a time."""
        e, h, m = math.exp(-s / 5.0), math.exp(-s / 10.0), math.exp(-s / 20.0)
        return -49.0 + (v[i] + 49.0) * m + ge[i] * (m - e) * 5.0 / 15.0 + gi[i] * (m - h) * 10.0 / 10.0

    while t < tf:
        end = min([t + step, tf, *release[release > t + 1e-12]])
        first, who = end - t, None
        for i in range(count):
            if release[i] <= t + 1e-12 and ahead(end - t, i) >= -50.0:
                s = brentq(lambda s, i=i: ahead(s, i) + 50.0, 0.0, end - t, xtol=1e-14)
                if s < first:
                    first, who = s, i
        for i in range(count):
            if release[i] <= t + 1e-12:
                v[i] = ahead(first, i)
        ge *= math.exp(-first / 5.0)
        gi *= math.exp(-first / 10.0)
        t += first
        if who is not None:
            spikes.append((t, who))
            v[who], release[who] = -60.0, t + 5.0
            reached = targets[begins[who] : begins[who + 1]]
            if who < 4 * count // 5:
                ge[reached] += 1.62
            else:
                gi[reached] -= 9.0
    return spikes, v


def test_the_network_against_closed_forms():
    spikes, v = network_spikes(12, 0.3, 5, 90.0)
    system, start = cuba(12, 0.3, 5), bd.models.available()["cuba"].build(12)[1]
    sol = bd.solve(system, (0.0, 90.0), start, **TIGHT)
    fired = sol.events.guard < 12
    assert len(spikes) >= 15
    assert list(sol.events.guard[fired]) == [who for _, who in spikes]
    close(sol.events.t[fired], [t for t, _ in spikes], 1e-9)
    close(sol.x[-1, :12], v, 1e-9)


def test_a_neuron_of_the_network_alone():
    """From -60 towards -49, threshold -50: 20 ln 11 ms, and 5 ms of rest."""
    sol = bd.solve(cuba(1, 0.0), (0.0, 250.0), [-60.0, 0.0, 0.0, -1.0], **TIGHT)
    times = 20.0 * math.log(11.0) + (20.0 * math.log(11.0) + 5.0) * np.arange(5)
    close(sol.t_events[0], times[times < 250.0], 1e-8)
    close(sol.t_events[1], sol.t_events[0] + 5.0, 1e-9)


def test_the_tap_changer_with_a_load_that_does_not_recover():
    """V rises with each step at a multiple of the delay until it is in the dead band."""
    sol = bd.solve(tap_changer(recovery=1e15), (0.0, 500.0), START, **TIGHT)
    n = next(n for n in 1.0 + 0.02 * np.arange(20) if voltage(n, conductance(), 0.95, 0.3) > 0.98)
    count = round((n - 1.0) / 0.02)
    assert count >= 2
    close(sol.t_events[2], 30.0 * np.arange(1, count + 1), 1e-10)
    assert sol.x[-1, 1] == pytest.approx(n, abs=1e-12)


def tap_reference(tf, band):
    """By SciPy: from one event to the next with n fixed, the timer counted by hand."""
    G, n, since, t = conductance(), 1.0, 0.0, 0.0
    changes: list[float] = []

    def outside(G):
        over = voltage(n, G, 0.95, 0.3) - 1.0
        return 0 if abs(over) <= band else int(np.sign(over))

    side = outside(G)
    while True:
        ends = [lambda t, y, c=c, n=n: voltage(n, y[0], 0.95, 0.3) - c for c in (1.0 - band, 1.0 + band)]
        for end in ends:
            end.terminal = True  # type: ignore[attr-defined]
        until = min(tf, since + 30.0) if side else tf
        run = solve_ivp(
            lambda t, y, n=n: [(0.8 - voltage(n, y[0], 0.95, 0.3) ** 2 * y[0]) / 60.0],
            (t, until),
            [G],
            method="DOP853",
            events=ends,
            rtol=1e-13,
            atol=1e-14,
        )
        t, G = float(run.t[-1]), float(run.y[0, -1])
        if run.status == 1:  # into the dead band or out of it
            crossed = 0 if len(run.t_events[0]) else 1
            side = 0 if side else (-1, 1)[crossed]
            since = t
        elif t >= tf:
            return changes, G, n
        else:
            n += 0.02 if side < 0 else -0.02
            side, since = outside(G), t
            changes.append(t)


@pytest.mark.parametrize("band", [0.02, 0.012])
def test_the_tap_changer(band):
    changes, G, n = tap_reference(900.0, band)
    sol = bd.solve(tap_changer(band=band), (0.0, 900.0), START, **TIGHT)
    assert len(changes) >= 4
    close(sol.t_events[2], changes, 1e-8)
    close(sol.x[-1, :2], [G, n], 1e-9)


def test_the_periodic_rattle():
    phase, speed = periodic()
    begin = phase + 0.5 * math.pi  # half way from left to right
    start = np.array([-math.sin(begin), speed - math.cos(begin)])  # at x = 0
    sol = bd.solve(gear_rattle(), (begin, begin + 2.0 * math.pi), start, **TIGHT)
    close(sol.events.t, [phase + math.pi, phase + 2.0 * math.pi], 1e-10)
    close(sol.x[-1], start, 1e-10)
    B = sol.bderivative().matrix()
    assert np.linalg.det(B) == pytest.approx(
        0.6**4, abs=1e-9
    )  # each impact keeps the square of the restitution of areas
    assert np.abs(np.linalg.eigvals(B)).max() < 1.0
    late = bd.solve(gear_rattle(), (begin, begin + 60.0 * math.pi), start + 0.1, rtol=1e-9)
    close(late.x[-1], start, 1e-6)
    with pytest.raises(ValueError, match=r"the gap 20\.0 is too wide"):
        periodic(gap=20.0)


def test_a_rattle_with_drag():
    """From impact to impact: the loose gear's way is an exponential, a root finder says when it meets a wall."""
    drag, gap, r = 0.3, 0.8, 0.7
    t, x, v = 0.0, 0.0, 2.0
    times: list[float] = []

    def distance(s, side):
        return gap - side * (x + v * -math.expm1(-drag * s) / drag - math.sin(t + s))

    while len(times) < 12:
        for begin in itertools.count(1e-7, 1e-3):
            hits = [side for side in (-1, 1) if distance(begin + 1e-3, side) < 0.0]
            if hits:
                break
        s = brentq(distance, begin, begin + 1e-3, args=(hits[0],), xtol=1e-15)
        x, v = x + v * -math.expm1(-drag * s) / drag, v * math.exp(-drag * s)
        t += s
        v = math.cos(t) - r * (v - math.cos(t))
        times.append(t)
    system = gear_rattle(gap=gap, restitution=r, drag=drag)
    sol = bd.solve(system, (0.0, times[-1] + 1e-3), [0.0, 1.0], **TIGHT)  # (e' is 1 at the start)
    close(sol.events.t, times, 1e-8)


@pytest.mark.parametrize("count", [2, 3, 8])
def test_elastic_balls_pass_through_one_another(count):
    start = np.r_[np.arange(float(count)), np.random.default_rng(count).normal(size=count)]
    times = np.linspace(0.0, 6.0, 61)
    sol = bd.solve(ball_row(count), (0.0, 6.0), start, **TIGHT)
    close(sol(times)[:, :count], exact(times, start), 1e-11)


def test_two_balls_exactly():
    """The last position of the second ball is that of the first one's flight: its gradient is (1, 0, t, 0)."""
    sol = bd.solve(ball_row(2), (0.0, 3.0), [0.0, 1.0, 1.0, 0.0], **TIGHT)
    close(sol.bderivative().matrix()[1], [1.0, 0.0, 3.0, 0.0], 1e-10)


def test_balls_of_different_masses():
    """Momentum is kept at every impact, and with it e times the relative speed."""
    p = {"e": 0.7, "m0": 2.0, "m2": 0.5}
    sol = bd.solve(ball_row(3), (0.0, 4.0), [0.0, 1.0, 2.0, 1.0, 0.0, -0.3], p=p, **TIGHT)
    masses = np.array([2.0, 1.0, 0.5])
    assert len(sol.events) >= 2
    close(sol.x[:, 3:] @ masses, 2.0 - 0.15, 1e-12)
    k = int(sol.events.guard[0])
    before, after = (np.diff(x[0, 3:])[k] for x in (sol.events.x, sol.events.x_after))
    assert after == pytest.approx(-0.7 * before, abs=1e-12)


def test_a_ball_that_is_hit_from_both_sides():
    with pytest.raises(bd.JumpOrderError, match="0-1"):
        bd.solve(ball_row(3), (0.0, 2.0), [0.0, 1.0, 2.0, 1.0, 0.0, -1.0])
    sol = bd.solve(ball_row(3, order=["0-1", "1-2"]), (0.0, 2.0), [0.0, 1.0, 2.0, 1.0, 0.0, -1.0])
    close(sol.x[-1], [0.0, 1.0, 2.0, -1.0, 0.0, 1.0], 1e-9)
