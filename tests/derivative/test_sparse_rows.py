"""Many states: rows of Dh by colours of its columns."""

import numpy as np
import pytest

import bouligand as bd
from bouligand.core.state import DUAL, FEW_DUAL
from bouligand.system import binding

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


def _f_apart(t, x, b, p, dx):
    for i in range(x.size):
        dx[i] = 1.0 - 0.1 * i * x[i] + 0.5 * (b[0] > 0) + 0.2 * (b[1] > 0)


def _h_apart(t, x, p, out):
    """Each guard depends on one state; but the second one on two more, behind a tenth of a second."""
    out[0] = x[0] - 0.3
    out[1] = x[1] - 0.35 if x[0] < 0.1 else x[1] + 0.2 * x[2] - 0.5 + 0.1 * x[4]


def test_two_tangents_where_each_guard_depends_on_one_state(monkeypatch):
    n = 30
    system = bd.System(_f_apart, _h_apart, n=n, m=2)
    x0 = np.concatenate([[0.0, -0.2], np.linspace(0.1, 0.5, n - 2)])
    sol, dx = bd.solve(system, (0.0, 2.0), x0, rtol=1e-9), np.sin(np.arange(float(n)))
    assert len(sol.events) == 2

    def derivative(size):
        B = sol.bderivative()
        assert B._map.chain.parts[0].walk.memory.tangents.coloured.shape == (1, size * n)
        return B(dx)

    many = derivative(DUAL)
    monkeypatch.setattr(binding, "WORTH_COMPILING", 0)
    few = derivative(FEW_DUAL)
    assert system._bind().pattern.columns.tolist() == [0, 1]  # found at the start, and wrong where guard 1 is crossed
    assert few == pytest.approx(many, rel=1e-12, abs=1e-12)
    ends = [bd.solve(system, (0.0, 2.0), x0 + step * dx, rtol=1e-12).x[-1] for step in (1e-5, -1e-5)]
    assert few == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6, abs=1e-6)
