"""What happens inside a step and is not seen at its ends: pairs of crossings, short contacts, grazes. Against closed forms."""

import math

import numpy as np
import pytest

import bouligand as bd
from tests.helpers.systems import close

METHODS = ["dopri5", "dop853", "bosh3"]


def swing(t, x, b, p, dx):
    """x = sin, v = cos; z counts the time that v^2 is below p[2]."""
    dx[0], dx[1], dx[2] = x[1], -x[0], 1.0 if b[2] < 0.0 else 0.0


def levels(t, x, p, out):
    out[0], out[1], out[2] = x[0] - p[0], x[1] - p[1], x[1] * x[1] - p[2]


SWING = {
    "observers": bd.System(swing, levels, n=3, m=3, params=[0.0] * 3, observers=(0, 1)),
    "guards": bd.System(swing, levels, n=3, m=3, params=[0.0] * 3),
}


def times_above(level, phase, end):
    """When sin(t + phase) crosses a level, between 0 and ``end``."""
    a = math.asin(level)
    turns = 2 * math.pi * np.arange(-2, 20)[:, None]
    times = np.sort((turns + np.array([a, math.pi - a]) - phase).ravel())
    return times[(times > 0.0) & (times < end)]


@pytest.mark.parametrize("kind", list(SWING))
@pytest.mark.parametrize("method", METHODS)
def test_levels_just_below_an_amplitude(kind, method):
    rng = np.random.default_rng(5)
    for _ in range(60):
        rtol = 10.0 ** -rng.uniform(3, 7 if method == "bosh3" else 10)
        short = np.maximum(10.0 ** -rng.uniform(1, 7, 2), 1e3 * rtol)
        phase = rng.uniform(0.0, 6.0)
        sol = bd.solve(
            SWING[kind],
            (0.0, 12.0),
            [math.sin(phase), math.cos(phase), 0.0],
            [1.0 - short[0], 1.0 - short[1], -1.0],
            rtol=rtol,
            method=method,
        )
        for k in range(2):
            exact = times_above(1.0 - short[k], phase + (0.0 if k == 0 else 0.5 * math.pi), 12.0)
            assert len(sol.t_events[k]) == len(exact)
            close(sol.t_events[k], exact, 300 * rtol / math.sqrt(short[k]))


@pytest.mark.parametrize("kind", list(SWING))
@pytest.mark.parametrize(("c", "rtol"), [(1e-6, 1e-6), (1e-8, 1e-6), (1e-8, 1e-12), (1e-10, 1e-9), (1e-10, 1e-12)])
def test_a_contact_that_is_much_shorter_than_a_step(kind, c, rtol):
    sol = bd.solve(SWING[kind], (0.0, 20 * math.pi), [math.sin(0.3), math.cos(0.3), 0.0], [2.0, 2.0, c], rtol=rtol)
    assert len(sol.t_events[2]) == 40
    close(sol.x[-1, 2], 40 * math.asin(math.sqrt(c)), 40 * rtol)


def polynomial(t, x, b, p, dx):
    """x = p[0] + p[1] t + ... + p[6] t^6: steps as long as a scheme likes."""
    slope = 0.0
    for q in range(6, 0, -1):
        slope = slope * t + q * p[q]
    dx[0] = slope


def reached(t, x, p, out):
    out[0] = x[0] - p[7]


@pytest.mark.parametrize("observers", [(), (0,)])
@pytest.mark.parametrize("method", METHODS)
def test_many_crossings_in_one_step(observers, method):
    system = bd.System(polynomial, reached, n=1, m=1, params=[0.0] * 8, observers=observers)
    rng = np.random.default_rng(6)
    for _ in range(60):
        roots = np.sort(rng.uniform(0.2, 3.8, rng.integers(2, 6)))
        if np.diff(roots).min() < 0.3:
            continue
        p = np.zeros(8)
        p[: len(roots) + 1] = np.polynomial.polynomial.polyfromroots(roots)
        p /= np.abs(np.polynomial.polynomial.polyval(np.linspace(0.0, 4.0, 50), p[:7])).max()
        sol = bd.solve(system, (0.0, 4.0), [p[0]], p, rtol=1e-7, method=method)
        assert len(sol.events) == len(roots)
        close(sol.events.t, roots, 1e-2)


@pytest.mark.parametrize("observers", [(), (0, 1)])
@pytest.mark.parametrize("rtol", [1e-6, 1e-8, 1e-10])
def test_the_demonstration_of_lsodar(observers, rtol):
    """y = exp(-t^2 + 5 t - 4): y' is zero at 2.5, and ln y is 2.2491 at 2.47 and 2.53."""

    def f(t, x, b, p):
        return (((2 * math.log(x[0]) + 8) / t - 5) * x[0],)

    def h(t, x, p):
        return (((2 * math.log(x[0]) + 8) / t - 5) * x[0], math.log(x[0]) - 2.2491)

    sol = bd.solve(bd.System(f, h, n=1, m=2, observers=observers), (1.0, 6.0), [1.0], rtol=rtol)
    close(sol.t_events[0], [2.5], 1e-5)
    close(sol.t_events[1], [2.47, 2.53], 1e-5)


def pendulum(t, x, b, p):
    return (x[1], -9.8 * math.sin(x[0]))


@pytest.mark.parametrize("c", [1e-8, 1e-10])
@pytest.mark.parametrize("rtol", [1e-6, 1e-9, 1e-12])
def test_a_guard_crossed_back_about_another(c, rtol):
    system = bd.System(pendulum, lambda t, x, p: (x[1], x[1] ** 2 - p[0]), n=2, m=2, params=[c])
    sol = bd.solve(system, (0, 5.0), [-0.05, 0.0025], rtol=rtol)
    assert [len(q) for q in sol.t_events] == [4, 8]


def growing(t, x, b, p, dx):
    dx[0], dx[1] = x[1], 2.0 * p[1] * x[1] - x[0] + (p[2] if b[0] > 0.0 else 0.0)


GROWING = bd.System(growing, lambda t, x, p: (x[0] - p[0],), n=2, m=1, params=[1.0, 0.05, 3.0])


@pytest.mark.parametrize("force", [3.0, -3.0])
def test_a_growing_oscillation_that_just_reaches_a_level_is_never_silent(force):
    """x = exp(z t) sin(w t): its second peak is at a level, or a few tolerances to either side of it."""
    z = 0.05
    w = math.sqrt(1.0 - z * z)
    top = (math.atan2(w, -z) + 2 * math.pi) / w
    peak = math.exp(z * top) * math.sin(w * top)
    rng = np.random.default_rng(7)
    for _ in range(60):
        rtol = 10.0 ** -rng.uniform(3, 9)
        level = peak * (1.0 + rng.uniform(-0.8, 0.8) * rtol)
        try:
            sol = bd.solve(GROWING, (0.0, top + 2.0), [0.0, w], [level, z, force], rtol=rtol)
        except bd.GrazingError:
            continue
        assert len(sol.events) + len(sol.margins) > 0
