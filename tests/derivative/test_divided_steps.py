"""Where steps are divided for perturbations: the core's loops against the same written with NumPy."""

import numpy as np
import pytest

import bouligand as bd
from bouligand.core.schemes import METHODS, STIFF
from bouligand.core.state import HOP, SPAN
from bouligand.derivative.damping import DAMPED, MARGIN, Modes, graded, stable_bounds
from bouligand.derivative.refinement import MOST, bounds, lengths_of_rungs, shortest_length
from bouligand.models.plate import START

PLACES = np.concatenate([[0.0], np.geomspace(1e-4, 1.0, 31)])
KINDS = (METHODS["dopri5"], HOP + 2, STIFF)
WORTH = 1.7


def _rates(eigenvalues, places, rtol, order):
    """The rate for which steps must be accurate at these places of a stretch."""
    decay = -eigenvalues.real
    decay[np.abs(eigenvalues.imag) > DAMPED * np.maximum(decay, 0.0)] = 0.0
    left = np.log(MARGIN) - places[:, None] * decay
    rates = np.abs(eigenvalues) * np.exp(np.minimum(left, 0.0) / (order + 1))
    rates[left < np.log(rtol)] = 0.0
    return np.minimum(MARGIN * rates.max(axis=1), np.abs(eigenvalues).max())


def _integral(density, places):
    return np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]) * np.diff(places))])


def _graded(eigenvalues, way, kind, rtol, order):
    """The number of steps from one place to another (``way``: the longest of the stretch, then these), and the places between."""
    longest, first, last = way
    places, fastest = longest * PLACES, np.abs(eigenvalues).max()
    rates, stable = _rates(eigenvalues, places, rtol, order), fastest / stable_bounds()[kind]
    exact = rates / bounds(rtol)[kind]
    enough = np.diff(np.interp([first, last], places, _integral(exact, places)))[0] <= WORTH
    whole = _integral(np.maximum(exact, stable), places)
    low, high = np.interp([first, last], places, whole)
    count = 1 if enough and (last - first) * stable <= 1.0 else max(int(np.ceil(high - low)), 1)
    return count, np.interp(low + np.arange(1, count) / count * (high - low), whole, places)


@pytest.mark.parametrize("seed", range(4))
def test_steps_where_modes_decay(seed):
    rng = np.random.default_rng(seed)
    stretches, n, rows, rtol, order = 3, 5, 12, 1e-6, 5
    eigenvalues = -(10.0 ** rng.uniform(0, 4, (stretches, n))) + 1j * 10.0 ** rng.uniform(-1, 3, (stretches, n))
    stretch = np.sort(rng.integers(0, stretches, rows))
    ends = np.sort(rng.uniform(0.0, 0.3, (2, rows)), axis=0)
    kinds = rng.choice(KINDS, rows)
    modes = Modes(eigenvalues, np.arange(rows), stretch, np.zeros(rows), np.ones(rows))
    taken = kinds.copy()
    parts, places = graded(modes, ends, taken, rtol, order, bounds(rtol), WORTH, MOST)
    assert parts.sum() - rows == len(places) > 0
    behind = np.split(places, np.cumsum(parts - 1))
    for q in range(rows):
        longest = ends[1][stretch == stretch[q]].max()
        way = (longest, *ends[:, q])
        count, expected = _graded(eigenvalues[stretch[q]], way, taken[q], rtol, order)
        assert count == parts[q]
        assert behind[q] == pytest.approx(expected, rel=1e-9, abs=1e-12)
        if kinds[q] == STIFF:
            others = {
                kind: _graded(eigenvalues[stretch[q]], way, kind, rtol, order)[0] for kind in (STIFF, METHODS["dopri5"])
            }
            assert others[taken[q]] == min(others.values())


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
    assert np.array_equal(stretch.states, sol(t))
    assert np.array_equal(stretch.events["record"], np.searchsorted(t, stretch.events["t"], side="right") - 1)
    assert np.count_nonzero(within) > 100
    # a part of a step has the formula with the fewest stages that is accurate enough for its length
    rates, parents = sol._rates, np.searchsorted(record.t, t[1:])
    assert rates is not None
    lengths, wholes = np.diff(t), np.diff(record.t, prepend=0.0)[parents]
    z = np.maximum(rates.at[parents] * lengths, shortest_length(1e-6) * lengths / wholes)
    rung = np.searchsorted(lengths_of_rungs(1e-6), z)
    own = np.where(record.kind == SPAN, METHODS["dopri5"], record.steps["kind"])[parents]
    smooth = (own < HOP) & (lengths < wholes) & (rung < 4)
    assert np.array_equal(stretch.steps["kind"][1:], np.where(smooth, HOP + 1 + rung, own))
