"""Functions that are equal to a compiler share one compilation; those that differ in anything do not."""

import functools
import threading
import warnings

import numba
import numpy as np
import pytest

import bouligand as bd
from bouligand.core.compiler import compiling
from bouligand.system import addresses
from bouligand.system.fingerprint import fingerprint

pytestmark = pytest.mark.skipif(not compiling.JIT, reason="nothing is compiled without the JIT")


def key_of(function):
    return fingerprint(function).key


def made(rate, table=(1.0,)):
    """A system whose f is a new function each time."""

    def f(t, x, b, p, dx):
        dx[0] = rate * table[0] * x[0]

    return bd.System(f, n=1)


def end(system):
    return bd.solve(system, (0.0, 1.0), [1.0], rtol=1e-10).x[-1, 0]


def address(system):
    return int(system._bind().fn["f"][0])


def test_a_factory_called_again_compiles_nothing():
    first = made(0.5)
    assert end(first) == pytest.approx(np.exp(0.5), rel=1e-8)
    before = addresses._compiled.cache_info().misses
    for _ in range(20):
        again = made(0.5)
        assert address(again) == address(first)
        assert end(again) == end(first)
    assert addresses._compiled.cache_info().misses == before


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [
        ((0.5,), (0.25,), 0.5),
        ((1,), (-1.0,), -1.0),
        ((0.5, (1.0,)), (0.5, (2.0,)), 2.0),
        ((0.5, np.array([1.0])), (0.5, np.array([3.0])), 3.0),
        ((0.5, np.array([1.0])), (0.5, np.array([1.0, 2.0])[:1]), 1.0),
    ],
)
def test_other_values_are_compiled_anew(one, other, ratio):
    a, b = made(*one), made(*other)
    assert np.log(end(b)) / np.log(end(a)) == pytest.approx(ratio, rel=1e-8)
    assert a._functions["f"].given is not b._functions["f"].given


def test_defaults_count():
    def scaled(by):
        return lambda t, x, b, p, scale=by: (scale * x[0],)

    def named(by):
        def f(t, x, b, p, *, scale=by):
            return (scale * x[0],)

        return f

    for make in (scaled, named):
        assert key_of(make(2.0)) == key_of(make(2.0))
        assert key_of(make(2.0)) != key_of(make(3.0))


def test_types_of_constants_count():
    whole, real = eval("lambda t, x, b, p: (1 * x[0],)"), eval("lambda t, x, b, p: (1.0 * x[0],)")
    assert key_of(whole) != key_of(real)
    assert key_of(eval("lambda x: 0.0")) != key_of(eval("lambda x: -0.0"))
    assert key_of(eval("lambda x: 0.5")) == key_of(eval("lambda x: 0.5"))


def test_functions_that_are_called_count():
    def calls(helper):
        def f(t, x, b, p):
            return (helper(x[0]),)

        return f

    def times(factor):
        return lambda x: factor * x

    assert key_of(calls(times(2.0))) == key_of(calls(times(2.0)))
    assert key_of(calls(times(2.0))) != key_of(calls(times(3.0)))
    assert key_of(calls(numba.njit(times(2.0)))) == key_of(calls(numba.njit(times(2.0))))
    assert key_of(calls(numba.njit(times(2.0)))) != key_of(calls(numba.njit(times(3.0))))


def test_a_function_that_calls_itself():
    def made_again():
        def fall(k):
            return 1.0 if k == 0 else k * fall(k - 1)

        return fall

    assert key_of(made_again()) == key_of(made_again())


def test_objects_count_by_content_or_by_identity():
    assert key_of(functools.partial(max, 1.0)) == key_of(functools.partial(max, 1.0))
    assert key_of(functools.partial(max, 1.0)) != key_of(functools.partial(max, 2.0))
    one, other = threading.Lock(), threading.Lock()  # (which cannot be looked into)
    assert key_of(one) == key_of(one)
    assert key_of(one) != key_of(other)


def test_sums_made_again_share_their_field():
    def summed(push):
        return bd.System(
            f0=lambda t, x, p: (1.0,), g=lambda t, x, k, p: (push,), h=lambda t, x, p: (x[0] - 0.5,), n=1, m=1
        )

    one, other = summed(0.5), summed(0.5)
    assert bd.solve(one, (0.0, 1.0), [0.0]).x[-1, 0] == pytest.approx(1.25)
    assert address(one) == address(other)
    assert bd.solve(summed(1.0), (0.0, 1.0), [0.0]).x[-1, 0] == pytest.approx(1.5)


def test_the_same_function_with_ever_other_values_is_warned_of(monkeypatch):
    monkeypatch.setattr(addresses, "MANY_TIMES", 3)

    def shifted(by):
        return bd.System(lambda t, x, b, p: (by,), n=1)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert all(shifted(by).compiled for by in (1.0, 2.0, 1.0))
    with pytest.warns(bd.PerformanceWarning, match=r"f .*lambda.* compiled for the 3th time.*pass what changes in p"):
        assert shifted(3.0).compiled
