"""Where steps are divided for perturbations: the core's loops against the same written with NumPy, or by hand."""

import math

import numpy as np
import pytest

import bouligand as bd
from bouligand.core.schemes import METHODS, STIFF
from bouligand.core.state import DAMPED, DIVIDED, EVENT, HOP, SPAN, STEP, WORTH
from bouligand.core.tangents.graded_steps import MARGIN, PARDON, PLACES
from bouligand.derivative.refinement import _divide_steps, limits, set_limits, stable_bounds
from bouligand.memory.extras import TangentMemory
from bouligand.memory.tables import Placed
from bouligand.models.plate import START

KINDS = (METHODS["dopri5"], HOP + 2, STIFF)


def _rates(eigenvalues, places, rtol, order):
    """The rate for which steps must be accurate at these places of a stretch."""
    decay = -eigenvalues.real
    decay[np.abs(eigenvalues.imag) > DAMPED * np.maximum(decay, 0.0)] = 0.0
    left = np.log(MARGIN) - places[:, None] * decay
    pardoned = left - np.minimum(places[-1] * decay, np.log(PARDON))
    rates = np.abs(eigenvalues) * np.exp(np.minimum(pardoned, 0.0) / (order + 1))
    rates[left < np.log(rtol)] = 0.0
    return np.minimum(MARGIN * rates.max(axis=1), np.abs(eigenvalues).max())


def _integral(density, places):
    return np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]) * np.diff(places))])


def _graded(eigenvalues, way, kind, rtol, order):
    """The number of steps from one place to another (``way``: the longest of the stretch, then these), and the places between."""
    longest, first, last = way
    places, fastest = longest * PLACES, np.abs(eigenvalues).max()
    rates, stable = _rates(eigenvalues, places, rtol, order), fastest / stable_bounds()[kind]
    exact = rates / limits(rtol).kinds[0, kind]
    enough = np.diff(np.interp([first, last], places, _integral(exact, places)))[0] <= WORTH
    whole = _integral(np.maximum(exact, stable), places)
    low, high = np.interp([first, last], places, whole)
    count = 1 if enough and (last - first) * stable <= 1.0 else max(int(np.ceil(high - low)), 1)
    return count, np.interp(low + np.arange(1, count) / count * (high - low), whole, places)


def _divided(t, kinds, begins, eigenvalues, rtol):
    """The parts of the steps to t[1:], and the times between them; all are too long. ``begins``: the first rows of stretches."""
    n, rows = eigenvalues.shape[1], np.zeros(len(t), dtype=DIVIDED)
    system = bd.System(lambda t, x, b, p: -x, lambda t, x, p: (x[0],), n=n, m=1)
    system._bind().jacobians(system, False)
    memory = TangentMemory(system, False)
    division, steps = memory.tangents.division, np.zeros(len(t), dtype=STEP)
    steps["t"], nothing = t, np.empty(0)
    none = np.zeros(0, dtype=EVENT), nothing, np.empty((1, 0)), np.zeros(1, dtype=np.int64)
    memory.put_record(Placed.of(steps, np.zeros((len(t), n)), *none))
    rows["sample"], rows["parts"] = -1, 1.0
    rows["begin"][1:] = begins[np.searchsorted(begins, np.arange(1, len(t))) - 1]
    rows["long"][1:], rows["kind"][1:] = 1, kinds
    rows["sample"][begins] = np.arange(len(begins))
    rows["rate"][1:] = np.abs(eigenvalues).max(axis=1)[rows["sample"][rows["begin"][1:]]]
    set_limits(memory, rtol)
    memory.tangents.division.put("rows", rows.view(float).reshape(len(t), -1))
    division.hold_samples()
    division.samples[: len(begins)] = begins + 1
    division.put("eigenvalues", eigenvalues.view(float))
    division.now.samples = len(begins)
    for room in (0, 100_000):  # (what does not fit is counted)
        division.put("times", np.full(room, np.nan))
        _divide_steps(memory.address)
    assert division.now.total == rows["parts"].sum() == division.now.count + len(t)
    return rows["parts"][1:].astype(int), rows["kind"][1:], division.times[: division.now.count]


@pytest.mark.parametrize("seed", range(4))
def test_steps_where_modes_decay(seed):
    rng = np.random.default_rng(seed)
    n, steps, rtol, order = 5, 12, 1e-6, 5
    begins = np.array([0, 3, 8])
    eigenvalues = -(10.0 ** rng.uniform(0, 4, (3, n))) + 1j * 10.0 ** rng.uniform(-1, 3, (3, n))
    t, kinds = np.concatenate([[0.0], np.sort(rng.uniform(0.0, 0.3, steps))]), rng.choice(KINDS, steps)
    parts, taken, times = _divided(t, kinds, begins, eigenvalues, rtol)
    assert parts.sum() - steps == len(times) > 0
    behind = np.split(times, np.cumsum(parts - 1))
    for q in range(steps):
        stretch = np.searchsorted(begins, q, side="right") - 1
        since, end = t[begins[stretch]], t[[*begins[1:], steps][stretch]]
        way = (end - since, t[q] - since, t[q + 1] - since)
        count, expected = _graded(eigenvalues[stretch], way, taken[q], rtol, order)
        assert count == parts[q]
        assert behind[q] == pytest.approx(since + expected, rel=1e-9, abs=1e-12)
        if kinds[q] == STIFF:
            others = {
                kind: _graded(eigenvalues[stretch], way, kind, rtol, order)[0] for kind in (STIFF, METHODS["dopri5"])
            }
            assert others[taken[q]] == min(others.values())


def test_steps_without_known_modes_are_divided_evenly():
    """An undamped oscillator that the trajectory leaves at rest, in a system of more states than Df is sampled for."""

    def f(t, x, b, p):
        out = -x
        out[0], out[1] = x[1], -1e4 * x[0]
        return out

    sol = bd.solve(
        bd.System(f, lambda t, x, p: (x[2] + 9.0,), n=70, m=1), (0.0, 1.0), [0.0, 0.0, *np.ones(68)], rtol=1e-6
    )
    B = sol.bderivative()
    t, own = B._map.chain.stretch.t, sol.record.t
    counts = np.diff(np.searchsorted(t, own))
    known = [np.linspace(a, b, count + 1)[1:] for a, b, count in zip(own[:-1], own[1:], counts, strict=True)]
    assert counts.max() > 10
    np.testing.assert_allclose(t[1:], np.concatenate(known), rtol=1e-14)
    out = B([1.0, *np.zeros(69)])
    np.testing.assert_allclose(out[:2], [np.cos(100.0), -100.0 * np.sin(100.0)], atol=1e-2, rtol=1e-3)


@pytest.mark.parametrize("rtol", [1e-6, 1e-9])
def test_from_inside_a_spanning_step(rtol):
    """The state there is dense output; those at the crossings behind it follow from it, step by step."""
    system = bd.models.plate(100)
    sol, true = (bd.solve(system, (0.0, 0.8), START, rtol=r) for r in (rtol, 1e-12))
    row = np.flatnonzero(sol.record.kind == SPAN)[-1] if rtol > 1e-8 else len(sol.record) - 2
    since = sol.record.t[row - 1] + 0.3 * (sol.record.t[row] - sol.record.t[row - 1])
    B, known = (s.bderivative(since=since).matrix() for s in (sol, true))
    assert pytest.approx(known, abs=10.0 * rtol * np.abs(known).max()) == B
    stretch = sol.bderivative(since=since)._map.chain.stretch
    assert np.array_equal(stretch.states[0], sol(since))


def test_states_inside_spanning_steps_take_few_evaluations():
    count = 200
    start = np.concatenate([np.linspace(-0.5, -0.4, count), np.ones(count)])
    sol = bd.solve(bd.models.oscillators(count), (0.0, 2.0), start, rtol=1e-6)
    assert sol.record.spans
    sol.bderivative()  # (the search for fast modes)
    walk = sol.bderivative()._map.chain.parts[0].walk
    plan = walk.memory.tangents.division.now
    assert plan.rows == len(walk.stretch.steps) == plan.row > count
    assert plan.fresh == 0  # no dense output
    # one part of each spanning step, of higher order, shows that second order is enough for the others
    kinds, spans = walk.stretch.steps["kind"], np.count_nonzero(sol.record.kind == SPAN)
    assert np.count_nonzero(kinds == HOP + 2) >= count - spans
    assert walk.memory.s.counts.f_calls <= 2 * plan.rows + 3 * spans


def driven_relays(frequency, count=200):
    """Masses with a force that changes with time; no mode is faster than 5 per unit of time. Each guard takes 1 off its force."""

    def f0(t, x, p, dx):
        m = x.size // 2
        for i in range(m):
            dx[i] = x[m + i]
            dx[m + i] = 1.0 + p[0] * np.cos(p[0] * t) * (1.0 + 0.1 * x[i] * x[i])

    def g(t, x, k, p, dx):
        dx[x.size // 2 + k] -= 1.0

    def h(t, x, p, out):
        for i in range(out.size):
            out[i] = x[i]

    return bd.System(h=h, f0=f0, g=g, n=2 * count, m=count, params={"frequency": frequency})


@pytest.mark.parametrize(("frequency", "second_order"), [(1.0, True), (20.0, False)])
def test_order_of_short_steps_where_the_field_changes_fast(frequency, second_order):
    count, rtol = 200, 1e-6
    system = driven_relays(frequency, count)
    start = np.concatenate([np.linspace(-0.5, -0.4, count), np.full(count, 2.0)])
    sol, true = (bd.solve(system, (0.0, 1.0), start, rtol=r) for r in (rtol, 1e-12))
    assert sol.record.spans
    dx = np.linspace(1.0, -1.0, 2 * count)
    B, known = sol.bderivative(), true.bderivative()(dx)
    kinds = B._map.chain.stretch.steps["kind"]
    assert (np.count_nonzero(kinds == HOP + 2) > 0.8 * count) == second_order
    assert B(dx) == pytest.approx(known, abs=2.0 * rtol * np.abs(known).max())


def test_rows_of_divided_steps():
    sol = bd.solve(bd.models.plate(100), (0.0, 0.8), START, rtol=1e-6)
    record, since, until = sol.record, 0.11, 0.77
    assert record.spans
    B = sol.bderivative(until, since=since)
    stretch = B._map.chain.stretch
    t = stretch.t
    inside = record.t[(record.t > since)]
    within = (sol.events.t > since) & (sol.events.t < until)
    assert np.array_equal(t, np.unique(np.concatenate([[since, until], inside, sol.events.t[sol.events.t > since]])))
    spanned = (record.kind[np.searchsorted(record.t, t)] == SPAN) & ~np.isin(t, record.t)
    assert np.count_nonzero(spanned) > 100
    assert np.array_equal(stretch.states[~spanned], sol(t)[~spanned])
    scale = np.abs(record.states).max(axis=0)
    B(np.ones(6))  # (perturbations find the states at crossings inside spanning steps)
    spanned &= t <= until
    assert np.abs((stretch.states - sol(t))[spanned] / scale).max() < 2e-6
    assert np.array_equal(stretch.events["record"], np.searchsorted(t, stretch.events["t"], side="right") - 1)
    assert np.count_nonzero(within) > 100
    # a part of a step has the formula with the fewest stages that is accurate enough for its length
    rates, parents = sol._rates, np.searchsorted(record.t, t[1:])
    assert rates is not None
    lengths, wholes = np.diff(t), np.diff(record.t, prepend=0.0)[parents]
    limit = limits(1e-6)
    z = np.maximum(rates.rows[parents, 0] * lengths, limit.kinds[0, METHODS["dopri5"]] * lengths / wholes)
    rung = np.searchsorted(limit.rungs, z)
    own = np.where(record.kind == SPAN, METHODS["dopri5"], record.steps["kind"])[parents]
    smooth = (own < HOP) & (lengths < wholes) & (rung < 4)
    assert np.array_equal(stretch.steps["kind"][1:], np.where(smooth, HOP + 1 + rung, own))


def _damped(t, x, b, p, dx):
    """A mass with a damper, which is at rest, and a slow state that turns its spring."""
    dx[0] = x[1]
    dx[1] = -p[0] * x[1] - (100.0 + 50.0 * math.sin(x[2])) * x[0]
    dx[2] = 1.0


def _damped_Df(t, x, b, p, out):
    out[:] = 0.0
    out[0, 1] = 1.0
    out[1, 0], out[1, 1], out[1, 2] = -100.0 - 50.0 * math.sin(x[2]), -p[0], -50.0 * math.cos(x[2]) * x[0]


def _damped_system(**jacobian):
    return bd.System(_damped, lambda t, x, p: (x[2] - 9.0,), n=3, m=1, params=[1000.0], **jacobian)


@pytest.mark.parametrize("jacobian", [{}, {"Df": _damped_Df}, {"jacobians": "differences"}])
def test_states_where_steps_are_divided(jacobian):
    """Those that perturbations reach; the adjoint, which needs them before, has dense output."""
    rtol, dx, w = 1e-6, np.array([0.2, 30.0, 0.5]), np.array([1.0, 0.5, -0.3])
    system, start = _damped_system(**jacobian), [0.01, 0.0, 0.0]
    sol, true = (bd.solve(system, (0.0, 1.0), start, rtol=r) for r in (rtol, 1e-12))
    B = sol.bderivative()
    stretch = B._map.chain.stretch
    between = ~np.isin(stretch.t, sol.record.t)
    assert between.sum() > 4
    assert np.isnan(stretch.states[between, 0]).all()
    assert B._map.chain.parts[0].walk.memory.tangents.division.now.fresh == 0
    image = B(dx)
    np.testing.assert_allclose(stretch.states, true(stretch.t), rtol=0.0, atol=rtol)
    np.testing.assert_allclose(B(dx), image, rtol=1e-12)
    other = sol.bderivative()
    gradient = other.vjp(w)
    if "Df" in jacobian:  # (otherwise gradients of few states come from matrices)
        assert np.array_equal(other._map.chain.stretch.states[between], sol(stretch.t[between]))
    assert gradient @ dx == pytest.approx(w @ image, rel=rtol)
    known = true.bderivative()(dx)
    np.testing.assert_allclose(image, known, rtol=0.0, atol=rtol * np.abs(known).max())
    np.testing.assert_allclose(B.matrix() @ dx, image, rtol=1e-9)


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
def test_while_a_damped_mode_decays_errors_are_of_the_size_of_the_tolerance(rtol):
    system, start, dx = _damped_system(), [0.0, 0.0, 0.0], np.array([1.0, 1000.0, 1.0])
    sol, true = (bd.solve(system, (0.0, 1.0), start, rtol=r) for r in (rtol, 1e-12))
    for t in (3e-4, 1e-3, 3e-3, 5e-3, 1e-2, 1e-1, 1.0):
        image, known = sol.bderivative(t)(dx), true.bderivative(t)(dx)
        assert np.abs((image - known) / dx).max() < 2.0 * rtol


def test_modes_are_sampled_where_their_rate_was_measured():
    """The rate of the hexapod's contacts falls by half between two measurements: no eigenvalue is as large as the last one."""
    start = np.zeros(12)
    start[2], start[6] = 0.18, 0.9
    sol = bd.solve(bd.models.hexapod(), (0.0, 1.0), start, rtol=1e-4)
    assert 0 < len(sol.bderivative()._map.chain.stretch.t) - len(sol.record) < 100


def test_rates_that_stay_are_measured_rarely():
    def f(t, x, b, p, dx):
        dx[0], dx[1] = x[1], -400.0 * x[0]

    sol = bd.solve(bd.System(f, lambda t, x, p: (x[0] + 9.0,), n=2, m=1), (0.0, 30.0), [1.0, 0.0], rtol=1e-9)
    walk = sol.bderivative()._map.chain.parts[0].walk
    assert len(sol.record) > 400
    assert walk.memory.s.counts.f_calls < len(sol.record) // 3


def _turning(t, x, b, p, dx):
    """A damped mode whose direction turns, a slow one, and one that is driven by these. All are at rest."""
    c, s = math.cos(10.0 * t), math.sin(10.0 * t)
    u, v = -300.0 * (c * x[0] + s * x[1]), -2.0 * (c * x[1] - s * x[0]) + 0.3 * x[2]
    dx[0], dx[1] = c * u - s * v, s * u + c * v
    dx[2] = -200.0 * (x[2] - 0.5 * x[1])
    dx[3] = 1.0


def test_rates_of_modes_that_turn_are_measured_well():
    """Parts of steps that are only stable have a length that a rate too small by a tenth would make unstable."""
    rtol, dx = 1e-4, np.array([0.1, -0.13, 0.64, 0.0])
    system = bd.System(_turning, lambda t, x, p: (x[3] - 0.31,), n=4, m=1)
    sol, true = (bd.solve(system, (0.0, 1.0), np.zeros(4), rtol=r) for r in (rtol, 1e-11))
    np.testing.assert_allclose(sol.bderivative()(dx), true.bderivative()(dx), rtol=0.0, atol=3.0 * rtol)
