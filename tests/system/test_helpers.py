"""Functions that f calls are compiled with it, decorated or not."""

import os
import pickle

import numba
import numpy as np
import pytest
from numpy import sum as total

import bouligand as bd
from tests.helpers import plain_functions

pytestmark = pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="it is about compiled code")

STIFFNESS = 4.0


def spring(x):
    return -STIFFNESS * x


def force(x):
    return spring(x)


def factorial(n):
    return 1.0 if n <= 1.0 else n * factorial(n - 1.0)


@numba.extending.overload(plain_functions.halved)
def _halved_by_numba(x):
    return lambda x: 0.5 * x


def calls_one(t, x, b, p):
    return x[1], spring(x[0])


def calls_one_that_calls_another(t, x, b, p):
    return x[1], force(x[0])


def calls_an_attribute(t, x, b, p):
    return x[1], -8.0 * plain_functions.halved(x[0]) * plain_functions.doubled(0.5)


def calls_numpy(t, x, b, p):
    return x[1], -4.0 * (total(x) - x[1])


def calls_one_that_calls_itself(t, x, b, p):
    return x[1], -factorial(4.0) / 6.0 * x[0]


def makes_a_closure():
    def inner(x):
        return -4.0 * x

    return lambda t, x, b, p: (x[1], inner(x[0]))


FIELDS = [
    calls_one,
    calls_one_that_calls_another,
    calls_an_attribute,
    calls_numpy,
    calls_one_that_calls_itself,
    makes_a_closure(),
]


@pytest.mark.parametrize("f", FIELDS, ids=lambda f: f.__name__)
def test_they_are_compiled_and_differentiated(f):
    """An oscillator of frequency 2."""
    system = bd.System(f, n=2, compile=True)
    sol = bd.solve(system, (0.0, 1.0), [1.0, 0.0], rtol=1e-9)
    assert system.compiled
    assert sol.x[-1] == pytest.approx([np.cos(2.0), -2.0 * np.sin(2.0)], abs=1e-7)
    assert sol.bderivative()([1.0, 0.0]) == pytest.approx(sol.x[-1], abs=1e-6)
    assert system.jacobians.Df == "exact"


def test_the_functions_themselves_stay_as_they_are():
    bd.System(calls_one_that_calls_another, n=2).compiled  # noqa: B018
    assert not hasattr(force, "py_func")
    assert not hasattr(spring, "py_func")
    assert calls_one_that_calls_another.__globals__["force"] is force


def test_a_changed_value_that_one_of_them_reads(monkeypatch):
    system = bd.System(calls_one_that_calls_another, n=2, compile=True)
    before = bd.solve(system, (0.0, 1.0), [1.0, 0.0]).x[-1]
    monkeypatch.setitem(globals(), "STIFFNESS", 9.0)
    with pytest.warns(bd.FunctionWarning, match="STIFFNESS"):
        same = bd.solve(system, (0.0, 1.0), [1.0, 0.0]).x[-1]
    assert np.array_equal(same, before)
    fresh = bd.solve(bd.System(calls_one_that_calls_another, n=2), (0.0, 1.0), [1.0, 0.0]).x[-1]
    assert fresh == pytest.approx([np.cos(3.0), -3.0 * np.sin(3.0)], abs=1e-4)


def test_pickled():
    system = pickle.loads(pickle.dumps(bd.System(FIELDS[-1], n=2, compile=True)))
    assert bd.solve(system, (0.0, 1.0), [1.0, 0.0], rtol=1e-9).x[-1, 0] == pytest.approx(np.cos(2.0), abs=1e-7)
