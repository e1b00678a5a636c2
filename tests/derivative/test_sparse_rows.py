"""Many states: rows of Dh by colours of its columns."""

import numpy as np
import pytest

import bouligand as bd

M = 20


def _without_jacobians(system):
    functions = {name: system._functions[name].given for name in ("f", "h", "f0", "g", "g_many") if system.has(name)}
    functions = {name: f for name, f in functions.items() if not (name == "f" and system._composed)}
    params = dict(zip(system.params, system.defaults, strict=True))
    return bd.System(**functions, states=system.states, guards=system.guards, params=params)


def test_oscillators_agree_with_the_rows_that_were_given():
    given = bd.models.oscillators(M)
    exact = _without_jacobians(given)
    x0 = np.concatenate([np.linspace(-0.5, -0.4, M), np.ones(M)])
    dx = np.sin(np.arange(2.0 * M))
    one, other = (bd.solve(system, (0.0, 2.0), x0, rtol=1e-9).bderivative() for system in (given, exact))
    assert other(dx) == pytest.approx(one(dx), abs=1e-9)
    assert other.vjp(dx, dx) == pytest.approx(one.vjp(dx, dx), abs=1e-9)
    assert exact._bind().pattern.count <= 2  # all guards in one evaluation of h
    assert exact.jacobians.Dh == "exact"


@pytest.mark.parametrize("places", [(0, 149), (70, 140), (63, 64), (64, 128), (149, 149)])
def test_a_guard_of_few_of_many_states(places):
    """Sums over the states of a guard leave out blocks of others."""
    first, last = places

    def f(t, x, b, p, dx):
        for i in range(x.size):
            dx[i] = 1.0 + 0.01 * i + (0.5 * np.cos(i) if b[0] > 0 else 0.0)

    def h(t, x, p, out):
        out[0] = x[first] + 2.0 * x[last] - 1.0

    n = 150
    system = bd.System(f, h, n=n, m=1)
    B = bd.solve(system, (0.0, 1.0), np.zeros(n), rtol=1e-9).bderivative()
    before, jump, row = 1.0 + 0.01 * np.arange(n), 0.5 * np.cos(np.arange(n)), np.zeros(n)
    row[first] += 1.0
    row[last] += 2.0
    dx = np.sin(np.arange(1.0, n + 1.0))
    S = bd.saltation(before, before + jump, row)
    assert B(dx) == pytest.approx(S @ dx, abs=1e-12)
    w = np.cos(np.arange(n))
    assert B.vjp(w) == pytest.approx(S.T @ w, abs=1e-12)


def _f(t, x, b, p, dx):
    dx[0] = 1.0
    for i in range(1, x.size):
        dx[i] = -0.1 * i * x[i] + (0.5 if b[0] > 0 else 0.0) + (0.2 if b[1] > 0 else 0.0)


def _h(t, x, p, out):
    """Another state decides behind half a second: a pattern that was found at the start is wrong there."""
    out[0] = x[0] - 0.3 + 0.1 * x[3]
    out[1] = x[0] - 1.0 + (0.2 * x[5] if x[0] > 0.5 else 0.2 * x[7])


def test_a_pattern_that_changes_on_the_way_is_noticed():
    n = 30
    Dh = np.zeros((2, n))
    Dh[:, 0], Dh[0, 3], Dh[1, 5] = 1.0, 0.1, 0.2  # where they are crossed
    names = {"n": n, "m": 2}
    x0 = np.concatenate([[0.0], np.linspace(0.1, 0.5, n - 1)])
    given = bd.System(_f, _h, **names, Dh=lambda t, x, p: Dh.copy())
    exact = bd.System(_f, _h, **names)
    known, B = (bd.solve(system, (0.0, 2.0), x0, rtol=1e-9).bderivative().matrix() for system in (given, exact))
    pattern = exact._bind().pattern
    assert pattern.columns.tolist() == [0, 3, 0, 7]
    assert pytest.approx(known, abs=1e-9) == B
