"""Breakpoints at which h jumps, ends and starts on corners, ends inside bands: random ones, each solved by hand."""

import math

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import brentq

import bouligand as bd
from tests.helpers.piecewise_constant import by_hand, parameters, system

PLAIN = {m: system(m, 1) for m in (1, 2, 3, 4)}


def corner(rng, m):
    """Normals, speeds and a table in which every guard is approached at 0.4 or more under every word."""
    normals = np.linalg.qr(rng.normal(size=(m, m)))[0]
    return normals, rng.uniform(-0.2, 0.2, m), rng.uniform(0.6, 2.0, (1, 2**m, m)) @ normals


@pytest.mark.parametrize("place", ["end", "breakpoint", "breakpoint at tf"])
def test_a_leg_that_ends_on_a_corner_or_near_it(place):
    rng = np.random.default_rng(1)
    for _ in range(200):
        m = int(rng.integers(1, 5))
        normals, speed, tables = corner(rng, m)
        t0, T, there = float(rng.choice([0.0, 1.0, -1.0])), rng.uniform(0.3, 2.0), rng.normal(size=m)
        x0, level = there - T * tables[0, 0], normals @ there - speed * (t0 + T)
        last = t0 + T + int(rng.choice([0, 1, -1, 5, -5, 30, 200, -1000])) * np.spacing(t0 + T)
        end = last + 0.3 if place == "breakpoint" else last
        rtol, legs = float(10 ** rng.uniform(-11, -4)), [(level, speed)]
        breaks = [] if place == "end" else [last]
        p = parameters(tables, normals, legs, [])
        sol = bd.solve(PLAIN[m], (t0, end), x0, p, rtol=rtol, breakpoints=breaks, max_steps=200)
        exact, _, _ = by_hand(tables, normals, legs, [], x0, t0, end)
        assert len(set(sol.events.guard)) == len(sol.events)  # none twice
        assert np.abs(sol.x[-1] - exact).max() <= 30 * rtol * max(np.abs(sol.x).max(), 1.0) + 1e-12
        if place == "breakpoint":
            assert (sol.b[-1] == 1).all()


@pytest.mark.parametrize("given", [True, False])
def test_a_start_some_units_in_the_last_place_from_several_guards(given):
    rng = np.random.default_rng(2)
    for _ in range(300):
        m = int(rng.integers(1, 5))
        normals, speed, tables = corner(rng, m)
        t0, there = float(rng.choice([0.0, 1e-3, 1.0, -1.0])), rng.normal(size=m)
        level = normals @ there - speed * t0
        units = rng.choice([0, 0, 1, -1, 2, -2, 5, -5, 30, -200, 1000, -1000], m)
        x0 = there + normals.T @ (units * np.spacing(np.abs(level)))
        word = np.where(units > 2, 1, -1) if given else None
        rtol, legs = float(10 ** rng.uniform(-11, -3)), [(level, speed)]
        p = parameters(tables, normals, legs, [])
        sol = bd.solve(PLAIN[m], (t0, t0 + 0.7), x0, p, rtol=rtol, b0=word, max_steps=100)
        exact, _, _ = by_hand(tables, normals, legs, [], x0, t0, t0 + 0.7)
        assert len(set(sol.events.guard)) == len(sol.events)
        assert (sol.b[-1] == 1).all()
        assert np.abs(sol.x[-1] - exact).max() <= 30 * rtol * max(np.abs(sol.x).max(), 1.0) + 1e-12


@pytest.mark.parametrize("direction", [0, 1, -1])
def test_levels_that_jump_at_breakpoints(direction):
    rng = np.random.default_rng(3)
    systems = {(m, legs): system(m, legs, direction=direction) for m in (1, 2, 3) for legs in (2, 3)}
    stopped = 0
    for _ in range(200):
        m, count = int(rng.integers(1, 4)), int(rng.integers(2, 4))
        way = rng.choice([-1.0, 1.0], m)
        tables = rng.uniform(0.3, 2.0, (count, 2**m, m)) * way
        end = rng.uniform(1.0, 3.0)
        breaks = np.sort(rng.uniform(0.05, 0.95, count - 1)) * end
        legs = [(np.round(rng.uniform(-0.5, 3.0, m), 2) * way + 1e-3, rng.uniform(-0.2, 0.2, m)) for _ in range(count)]
        exact, word, events = by_hand(tables, np.eye(m), legs, breaks, np.zeros(m), 0.0, end)
        apart = [abs(t - moment) for t, _, _ in events for moment in (*breaks, end) if t not in breaks]
        if min(apart, default=1.0) < 1e-4:
            continue
        rtol, p = float(10 ** rng.uniform(-11, -4)), parameters(tables, np.eye(m), legs, breaks)
        arguments = (systems[m, count], (0.0, end), np.zeros(m), p)
        sol = bd.solve(*arguments, rtol=rtol, breakpoints=breaks)
        wanted = [event for event in events if direction in (0, event[2])]
        assert np.abs(sol.x[-1] - exact).max() <= 1e3 * rtol
        np.testing.assert_array_equal(sol.b[-1], word)
        found = sorted(zip(sol.events.guard, sol.events.direction, strict=True))
        assert found == sorted((k, sign) for _, k, sign in wanted)
        np.testing.assert_allclose(np.sort(sol.events.t), np.sort([t for t, _, _ in wanted]), atol=1e3 * rtol)
        for k in range(m):
            times = [t for t, guard, _ in wanted if guard == k]
            for crossing, t in enumerate(times, start=1):
                last = bd.solve(*arguments, rtol=rtol, breakpoints=breaks, terminal={k: crossing})
                assert last.status == "terminated"
                assert (last.events.guard == k).sum() == crossing
                assert abs(last.t[-1] - t) <= 1e3 * rtol
                stopped += 1
    assert stopped > 100


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_a_start_on_a_guard_and_on_an_observer(way):
    # x' = 1 + 2 x before the guard and 2 + 2 x behind it; the observer rises or falls from zero: no event, and B as without it
    def f(t, x, b, p):
        return ((2.0 if b[0] > 0 else 1.0) + 2.0 * x[0],)

    def h(t, x, p):
        return x[0], p[0] * x[0]

    watched = bd.System(f, h, n=1, m=2, params=[1.0], observers=[1])
    sol = bd.solve(watched, (0.0, 1.0), [0.0], [way], rtol=1e-9)
    assert len(sol.events) == 0
    np.testing.assert_array_equal(sol.b[-1], [1, way])
    B, growth = sol.bderivative(), np.exp(2.0)
    # from behind: the flow; from before: the start is reached |dx| later, and what is left of the time is as from zero
    assert B([1.0])[0] == pytest.approx(growth, rel=1e-7)
    assert B([-1.0])[0] == pytest.approx(-2.0 * growth, rel=1e-7)


def test_an_observer_whose_level_jumps():
    level = bd.System(
        lambda t, x, b, p: (1.0,),
        lambda t, x, p: (x[0] - (5.0 if t < 1.0 else 0.2),),
        n=1,
        m=1,
        observers=[0],
        breakpoints=[1.0],
    )
    sol = bd.solve(level, (0.0, 2.0), [0.0])
    np.testing.assert_array_equal(sol.events.t, [1.0])
    assert sol.b[-1, 0] == 1


def test_a_guard_that_a_reset_matrix_arms_where_the_level_of_another_jumps():
    # guard 0 fires at 0.5 and stays on; guard 1 jumps across at 1 and arms guard 0, whose level is ahead again: it fires at 1.7
    latched = bd.System(
        lambda t, x, b, p: (1.0,),
        lambda t, x, p: (x[0] - (0.5 if t < 1.0 else 1.7), x[0] - (5.0 if t < 1.0 else 0.2)),
        n=1,
        m=2,
        direction=1,
        reset=[[0, 0], [1, 0]],
        breakpoints=[1.0],
    )
    sol = bd.solve(latched, (0.0, 2.0), [0.0])
    np.testing.assert_array_equal(sol.events.guard, [0, 1, 0])
    np.testing.assert_allclose(sol.events.t, [0.5, 1.0, 1.7], atol=1e-9)


def test_a_breakpoint_at_the_end_is_not_seen():
    steep = bd.System(
        lambda t, x, b, p: (1.0 if t < 1.0 else 1e6,), lambda t, x, p: (x[0] + 1.0 if t < 1.0 else -1.0,), n=1, m=1
    )
    sol = bd.solve(steep, (0.0, 1.0), [0.0], breakpoints=[1.0])
    assert abs(sol.x[-1, 0] - 1.0) < 1e-9
    assert len(sol.events) == 0


@pytest.mark.parametrize("projection", [2, 3, 5])
def test_ends_inside_a_wide_band(projection):
    A, B = np.array([[0.0, 1.0], [-1.0, -0.3]]), np.array([[-0.5, 2.0], [-2.0, -0.5]])
    functions = (lambda x, b: (A if b[0] < 0 else B) @ x, lambda x: [x[0]], lambda x: [[1.0, 0.0]])
    x0 = np.array([-0.7, 1.2])
    crosses = brentq(lambda t: (expm(A * t) @ x0)[0], 0.0, 2.0, xtol=1e-15)
    rng = np.random.default_rng(4)
    for eps in (0.05, 0.2, 0.5):
        for end in rng.uniform(0.05, 1.0, 20):
            t, x = bd.integrate(*functions, eps, x0, 0.0, end, projection=projection)
            before = expm(A * min(end, crosses)) @ x0
            exact = before if end < crosses else expm(B * (end - crosses)) @ before
            assert t[-1] == end
            assert np.abs(x[-1] - exact).max() <= 5.0 * eps**2


@pytest.mark.parametrize("start", [[2.0, 0.0], [1.0, -4.0]])
@pytest.mark.parametrize("t0", [0.0, 0.3, 1.0, -1.0, 1e6])
def test_an_interval_of_a_few_units_in_the_last_place(t0, start):
    """Also from a guard: it is short, and f is not singular."""
    for units in (1, 2, 10, 100):
        tf = t0 + units * math.ulp(t0)
        sol = bd.solve(bd.models.hopper(), (t0, tf), start)
        assert sol.status == "finished"
        assert sol.t[-1] == tf
        np.testing.assert_allclose(sol.x[-1], start, atol=1e-6)
