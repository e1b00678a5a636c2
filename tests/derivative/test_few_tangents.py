"""One or two directions by dual numbers that have one or two tangents: the same numbers as by those that have eight."""

import numpy as np
import pytest

import bouligand as bd
from bouligand.models.plate import START
from bouligand.system import binding


def plain(system):
    """A system with nothing but f and h, so that its Jacobians come from dual numbers."""
    params = dict(zip(system.params, system.defaults, strict=True))
    functions = {name: system._functions[name].given for name in ("f", "h", "f0", "g") if system.has(name)}
    if system._composed:
        functions.pop("f", None)
    return bd.System(**functions, states=system.states, guards=system.guards, params=params)


def has_few(system, name="f_one"):
    return bool(system._bind().jacobians(system, True)[name][0])


@pytest.fixture
def at_once(monkeypatch):
    """Compile for few tangents when they are first asked for."""
    monkeypatch.setattr(binding, "WORTH_COMPILING", 0)


CASES = {
    "hopper": lambda: (plain(bd.models.hopper()), (0.0, 1.3), [2.0, 0.0]),
    "plate": lambda: (plain(bd.models.plate(8)), (0.0, 0.8), START),
}


@pytest.mark.parametrize("name", CASES)
def test_one_direction_is_the_same(name, monkeypatch):
    system, span, x0 = CASES[name]()
    sol = bd.solve(system, span, x0, rtol=1e-8)
    dx, dp = np.linspace(1.0, -1.0, system.n), np.linspace(0.01, 0.02, len(system.defaults))
    before = sol.bderivative()(dx), sol.bderivative(params=True)(dx, dp)
    assert not has_few(system)
    monkeypatch.setattr(binding, "WORTH_COMPILING", 0)
    after = sol.bderivative()(dx), sol.bderivative(params=True)(dx, dp)
    assert has_few(system)
    for one, other in zip(before, after, strict=True):
        # (the plate's sums are compiled to be taken in any order)
        assert np.array_equal(one, other) if name == "hopper" else other == pytest.approx(one, rel=1e-12, abs=1e-12)
    B = sol.bderivative(params=True)
    matrices = B.matrix(dx) @ dx + B.matrix(dx, wrt="p") @ dp
    assert after[1] == pytest.approx(matrices, rel=1e-10, abs=1e-10 * np.abs(matrices).max())


def test_first_and_second_are_the_same(at_once):
    """The first is propagated by itself, the second by stored matrices."""
    system, span, x0 = CASES["hopper"]()
    B = bd.solve(system, span, x0, rtol=1e-9).bderivative()
    first, second = B([0.3, -0.2]), B([0.3, -0.2])
    assert has_few(system)
    assert first == pytest.approx(second, rel=1e-12)


def test_against_differences_of_the_flow(at_once):
    system, span, x0 = CASES["hopper"]()
    dx, step = np.array([0.3, -0.2]), 1e-6
    ends = [bd.solve(system, span, np.array(x0) + side * step * dx, rtol=1e-12).x[-1] for side in (1.0, -1.0)]
    B = bd.solve(system, span, x0, rtol=1e-12).bderivative()
    assert B(dx) == pytest.approx((ends[0] - ends[1]) / (2.0 * step), rel=1e-7)
    assert has_few(system)


def test_two_columns_at_many_times(at_once):
    system, span, x0 = CASES["hopper"]()
    t = np.linspace(0.1, 1.3, 7)
    sol = bd.solve(system, span, x0, rtol=1e-9, t_eval=t)
    two = sol.sensitivity(wrt=("z", "k"))
    assert has_few(system, "f_few")
    assert not has_few(system)
    B = sol.bderivative(t, params=True)
    assert two[:, :, 0] == pytest.approx(B.matrix()[:, :, 0], rel=1e-12, abs=1e-12)
    assert two[:, :, 1] == pytest.approx(B.matrix(wrt="p")[:, :, 1], rel=1e-12, abs=1e-15)


def test_where_f_fails(at_once):
    def f(t, x, b, p):
        if x[0] > 0.5 and p[0] > 0.0:
            raise ValueError("too far")
        return np.array([1.0, x[0]])

    system = bd.System(f, lambda t, x, p: (x[1] - 10.0,), n=2, m=1, params={"on": 0.0})
    sol = bd.solve(system, (0.0, 1.0), [0.0, 0.0])
    assert sol.bderivative()([1.0, 0.0]) == pytest.approx([1.0, 1.0])
    assert has_few(system)
    sol.record.parameters[0][:] = 1.0  # (the replay sees another parameter than the solve)
    with pytest.raises(bd.FunctionError):
        sol.bderivative()([1.0, 0.0])


def test_where_steps_are_stiff(monkeypatch):
    """Stiff steps among others: their tangents are in rows of the same size."""

    def f(t, x, b, p):
        return np.array([x[1], -x[0] - p[0] * (x[1] - np.cos(x[2])), 1.0 if b[0] < 0 else 2.0])

    system = bd.System(f, lambda t, x, p: (x[2] - 1.0,), n=3, m=1, params={"fast": 3000.0})
    sol = bd.solve(system, (0.0, 2.0), [1.0, 1.0, 0.0], rtol=1e-6)
    assert sol.record.stiff
    dx, dp = np.array([0.3, -0.2, 0.5]), [20.0]
    before = sol.bderivative()(dx), sol.bderivative(params=True)(dx, dp)
    monkeypatch.setattr(binding, "WORTH_COMPILING", 0)
    after = sol.bderivative()(dx), sol.bderivative(params=True)(dx, dp)
    assert has_few(system)
    for one, other in zip(before, after, strict=True):
        assert np.array_equal(one, other)
    ends = [bd.solve(system, (0.0, 2.0), sol.x[0] + side * 1e-5 * dx, rtol=1e-12).x[-1] for side in (1.0, -1.0)]
    assert after[0] == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-5, abs=1e-6)
