"""Dual numbers: each rule against mpmath, models against their own Jacobians, and functions written to lose a tangent."""

import math

import mpmath
import numpy as np
import pytest
from numba import njit
from numba.core.errors import NumbaError

import bouligand as bd
from bouligand.core.duals.recast import _INLINED, _size
from bouligand.core.state import FEW_LANES, ONE_LANE

from ..helpers.dual_jacobians import dual_jacobian
from ..helpers.many_digits import exact_jacobian

# ---------------------------------------------------------------------------------------------- rules, one by one


def functions_of_one(t, x, b, p, dx):
    dx[0] = math.sin(x[0]) + np.cos(x[0]) + math.tan(x[0])
    dx[1] = math.exp(x[1]) + np.expm1(x[1]) + np.exp2(x[1])
    dx[2] = math.log(x[2]) + np.log2(x[2]) + math.log10(x[2]) + np.log1p(x[2])
    dx[3] = math.sqrt(x[3]) + np.cbrt(x[3]) + np.square(x[3])
    dx[4] = math.sinh(x[4]) + np.cosh(x[4]) + math.tanh(x[4])
    dx[5] = math.atan(x[5]) + np.arcsin(x[5]) + math.acos(x[5])
    dx[6] = math.asinh(x[6]) + np.arccosh(x[6]) + math.atanh(1.0 / x[6])
    dx[7] = math.erf(x[7]) + math.erfc(0.5 * x[7]) + abs(-x[7]) + np.radians(x[7]) + math.degrees(x[7])
    dx[8] = x[8] ** 3 + x[8] ** -2 + x[8] ** 0.7 + 2.0 ** x[8] + (-x[8]) ** 5


EXACT_OF_ONE = (
    lambda x: mpmath.sin(x) + mpmath.cos(x) + mpmath.tan(x),
    lambda x: mpmath.exp(x) + mpmath.expm1(x) + 2**x,
    lambda x: mpmath.log(x) + mpmath.log(x, 2) + mpmath.log10(x) + mpmath.log1p(x),
    lambda x: mpmath.sqrt(x) + mpmath.cbrt(x) + x * x,
    lambda x: mpmath.sinh(x) + mpmath.cosh(x) + mpmath.tanh(x),
    lambda x: mpmath.atan(x) + mpmath.asin(x) + mpmath.acos(x),
    lambda x: mpmath.asinh(x) + mpmath.acosh(x) + mpmath.atanh(1 / x),
    lambda x: mpmath.erf(x) + mpmath.erfc(x / 2) + abs(-x) + mpmath.radians(x) + mpmath.degrees(x),
    lambda x: x**3 + 1 / x**2 + x ** mpmath.mpf(0.7) + 2**x + (-x) ** 5,
)


def functions_of_two(t, x, b, p, dx):
    u, v = x[0], p[0]
    dx[0] = u * v - v / u + (u + 2) * (3 - v)
    dx[1] = u**v + math.pow(v, u)
    dx[2] = math.atan2(u, v) + np.hypot(u, v)
    dx[3] = max(u, v) + 2.0 * min(u, v) + math.copysign(u, -v) + x[1] + x[2] + x[3]


EXACT_OF_TWO = (
    lambda u, v: u * v - v / u + (u + 2) * (3 - v),
    lambda u, v: u**v + v**u,
    lambda u, v: mpmath.atan2(u, v) + mpmath.hypot(u, v),
    lambda u, v: max(u, v) + 2 * min(u, v) - u,
)


def test_functions_of_one_number_are_exact():
    x = [0.7, -1.3, 2.4, 0.3, -0.8, 0.6, 1.9, 0.45, 1.7]
    with mpmath.workdps(40):
        exact = [float(mpmath.diff(g, mpmath.mpf(value))) for g, value in zip(EXACT_OF_ONE, x, strict=True)]
    _, J = dual_jacobian(functions_of_one, x)
    assert np.diag(J) == pytest.approx(exact, rel=1e-14)
    assert not (J - np.diag(np.diag(J))).any()


@pytest.mark.parametrize(("u", "v"), [(1.3, 0.4), (0.2, 2.5)])
def test_functions_of_two_numbers_are_exact(u, v):
    with mpmath.workdps(40):
        by_u = [float(mpmath.diff(g, (mpmath.mpf(u), mpmath.mpf(v)), (1, 0))) for g in EXACT_OF_TWO]
        by_v = [float(mpmath.diff(g, (mpmath.mpf(u), mpmath.mpf(v)), (0, 1))) for g in EXACT_OF_TWO]
    x = [u, 0.0, 0.0, 0.0]
    assert dual_jacobian(functions_of_two, x, [v])[1][:, 0] == pytest.approx(by_u, rel=1e-14, abs=1e-15)
    assert dual_jacobian(functions_of_two, x, [v], wrt="p")[1][:, 0] == pytest.approx(by_v, rel=1e-14, abs=1e-15)


def test_models_agree_with_their_hand_written_jacobians():
    rng = np.random.default_rng(5)
    compared = 0
    for system in (bd.models.hopper(), bd.models.plate(7), bd.models.three_legs(), bd.models.oscillators(5)):
        x = rng.uniform(0.2, 0.8, system.n)
        word = np.where(rng.random(system.m) < 0.5, 1.0, -1.0)
        for name, wrt in (("Df", "x"), ("Dp_f", "p")):
            if system.has(name):
                by_hand = system.function(name)(0.1, x, word, system.defaults)
                system._bind()
                f = system._functions["f"].given
                _, J = dual_jacobian(f, x, system.defaults, word, wrt, 0.1)
                assert pytest.approx(by_hand, rel=1e-13, abs=1e-13 * np.abs(by_hand).max()) == J
                compared += 1
    assert compared >= 3


MODELS = ("adex", "chua", "exciter", "goodwin", "hexapod", "plate", "predator_prey", "simplest_walker", "tap_changer")


@pytest.mark.parametrize("name", MODELS)
def test_models_agree_with_their_own_code_in_40_digits(name):
    """Dual numbers, and the Jacobians that a model has, against differences of the same Python code run by mpmath."""
    system, rng = getattr(bd.models, name)(), np.random.default_rng(4)
    system._bind()
    f, x, word = (
        system._functions["f"].given,
        rng.uniform(0.2, 0.8, system.n),
        np.where(rng.random(system.m) < 0.5, 1.0, -1.0),
    )
    for wrt, given in (("x", "Df"), ("p", "Dp_f")):
        exact = exact_jacobian(f, x, system.defaults, word, wrt, 0.1)
        _, J = dual_jacobian(f, x, system.defaults, word, wrt, 0.1)
        assert np.abs(J - exact).max() < 1e-13 * np.abs(exact).max()
        if system.has(given):
            by_hand = system.function(given)(0.1, x, word, system.defaults)
            assert np.abs(by_hand - exact).max() < 1e-13 * np.abs(exact).max()


# --------------------------------------------------------------------- written to break it: right, or refused

X, P = np.array([0.37, 0.81]), np.array([1.7])
A, B, K = *X, *P
TABLE = np.linspace(0.0, 1.0, 11)


@njit
def scaled_square(a, k=2.0):
    return a * a * k


@njit
def rotation(angle):
    out = np.zeros((2, 2))
    out[0, 0] = out[1, 1] = math.cos(angle)
    out[1, 0] = math.sin(angle)
    out[0, 1] = -out[1, 0]
    return out


@njit
def power_by_recursion(a, n):
    if n == 0:
        return a * 0.0 + 1.0
    return a * power_by_recursion(a, n - 1)


def whole_numbers(t, x, b, p, dx):
    dx[0] = int(x[0] * 10) * x[1] + math.floor(x[1] * 3.0)
    dx[1] = round(x[1]) * x[0] + x[1] % 0.3 + x[0] // 0.2


def table(t, x, b, p, dx):
    dx[0] = np.interp(x[0], TABLE, TABLE**2)
    dx[1] = np.interp(x[1], TABLE, TABLE * p[0])


def floats_on_purpose(t, x, b, p, dx):
    y = np.zeros(2, dtype=np.float64)
    y[0] = x[0] * x[1]
    z = x.astype(np.float64)
    dx[0], dx[1] = y[0], z[1] * float(z[0])


def in_place(t, x, b, p, dx):
    dx[:] = x
    dx *= 2.0
    part = dx[:1]
    part += x[1:] ** 2


def extremes(t, x, b, p, dx):
    dx[0] = x.max() * x.min()
    dx[1] = np.mean(x) + np.sum(x * x) + x.prod()


def masked(t, x, b, p, dx):
    y = x.copy()
    y[y > 0.5] = 0.5
    dx[:] = np.where(x > 0.5, y * x, -x)


def matrices(t, x, b, p, dx):
    M = np.array([[2.0 + x[0], x[1]], [x[1], 1.0 + p[0]]])
    dx[:] = np.linalg.solve(M, x)


def rotated(t, x, b, p, dx):
    dx[:] = rotation(x[0]) @ x


def broadcast(t, x, b, p, dx):
    outer = x.reshape(2, 1) * x
    dx[0] = outer[0, 1] + np.outer(x, x)[1, 1]
    dx[1] = outer.sum()


def helpers(t, x, b, p, dx):
    def inner(a):
        return a * scaled_square(a)

    dx[0] = inner(x[0]) + scaled_square(x[1], x[0])
    dx[1] = power_by_recursion(x[1], 3)


def a_closure():
    gain = 3.0

    def f(t, x, b, p, dx):
        dx[0] = gain * x[0] * x[1]
        dx[1] = x[1]

    return f


def newton(t, x, b, p, dx):
    e = x[0]
    for _ in range(50):
        change = (e - 0.3 * math.sin(e) - x[0]) / (1.0 - 0.3 * math.cos(e))
        e -= change
        if abs(change) < 1e-16:
            break
    dx[0], dx[1] = e, x[1]


def branches(t, x, b, p, dx):
    v = 0.0 if x[0] > 10 else x[0]
    inside = x[0] > 0.1 and x[1] < 3
    dx[0] = v * inside * x[1]
    dx[1] = -x[1] if not inside else 1


def lists(t, x, b, p):
    values = [0.0]
    values.append(x[0] * x[1])
    total = 0.0
    for value in values:
        total += value
    return [total, x[1]]


def returned_tuple(t, x, b, p):
    return x[0] * x[1], 1


def sorted_values(t, x, b, p, dx):
    y = np.sort(x[::-1])
    dx[0], dx[1] = y[0] ** 2, y[np.argmax(y)]


def root_at_zero(t, x, b, p, dx):
    nothing = x[0] - x[0]
    dx[0] = math.sqrt(nothing * nothing) + np.hypot(nothing, 0.0) + x[1]
    dx[1] = nothing**1.5 + x[1]


def products(t, x, b, p, dx):
    dx[0] = x.dot(x) + np.cross(np.array([x[0], x[1], 1.0]), np.array([1.0, x[0], x[1]]))[0]
    dx[1] = np.linalg.norm(x) ** 2


def concatenated(t, x, b, p):
    return np.concatenate((x[:1] * x[1:], x[1:] ** 2))


def arrays_in_a_tuple(t, x, b, p, dx):
    pair = (x[:1] * x[1:], np.array([x[1], p[0]]))
    dx[0] = pair[0][0] + pair[1][1]
    dx[1] = pair[1][0] ** 2


def arrays_in_a_list(t, x, b, p, dx):
    rows = [x * x[0], np.ones(2)]
    rows.append(x + rows[0])
    total = np.zeros(2)
    for row in rows:
        total += row
    dx[:] = total


def rows_of_a_matrix(t, x, b, p, dx):
    M = np.zeros((2, 2))
    M[0] = x
    M[1, :] = x[::-1] * x[0]
    dx[:] = M.T[1] + M[1]


def single_precision(t, x, b, p, dx):
    y = np.zeros(2, dtype=np.float32)
    y[0] = x[0]
    dx[0], dx[1] = y[0], x[1]


def complex_numbers(t, x, b, p, dx):
    dx[0], dx[1] = abs(complex(x[0], x[1])), x[1]


def integers_that_are_written_to(t, x, b, p, dx):
    y = np.zeros(2, dtype=np.int64)
    y[0] = x[0]
    dx[0], dx[1] = y[0], x[1]


_KEPLER = 1.0 / (1.0 - 0.3 * math.cos(float(mpmath.findroot(lambda e: e - 0.3 * mpmath.sin(e) - A, A))))
_C, _S = math.cos(A), math.sin(A)
_M = np.array([[2.0 + A, B], [B, 1.0 + K]])
_MX = np.linalg.solve(_M, X)

RIGHT = {
    whole_numbers: [[0.0, 3.0], [1.0, 1.0]],
    table: [[0.7, 0.0], [0.0, K]],
    floats_on_purpose: [[B, A], [B, A]],
    in_place: [[2.0, 2.0 * B], [0.0, 2.0]],
    extremes: [[B, A], [0.5 + 2.0 * A + B, 0.5 + 2.0 * B + A]],
    masked: [[-1.0, 0.0], [0.0, 0.5]],
    matrices: np.linalg.solve(_M, np.eye(2) - np.array([[_MX[0], _MX[1]], [0.0, _MX[0]]])),
    rotated: [[_C - A * _S - B * _C, -_S], [_S + A * _C - B * _S, _C]],
    broadcast: [[B, A + 2.0 * B], [2.0 * (A + B), 2.0 * (A + B)]],
    helpers: [[6.0 * A**2 + B**2, 2.0 * A * B], [0.0, 3.0 * B**2]],
    a_closure(): [[3.0 * B, 3.0 * A], [0.0, 1.0]],
    newton: [[_KEPLER, 0.0], [0.0, 1.0]],
    branches: [[B, A], [0.0, 0.0]],
    lists: [[B, A], [0.0, 1.0]],
    returned_tuple: [[B, A], [0.0, 0.0]],
    sorted_values: [[2.0 * A, 0.0], [0.0, 1.0]],
    root_at_zero: [[0.0, 1.0], [0.0, 1.0]],
    products: [[2.0 * A - 1.0, 4.0 * B], [2.0 * A, 2.0 * B]],
    concatenated: [[B, A], [0.0, 2.0 * B]],
    arrays_in_a_tuple: [[B, A], [0.0, 2.0 * B]],
    arrays_in_a_list: [[4.0 * A + 1.0, 0.0], [2.0 * B, 2.0 * A + 1.0]],
    rows_of_a_matrix: [[B, 1.0 + A], [4.0 * A, 0.0]],
}


@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_no_tangent_is_lost(f):
    values, J = dual_jacobian(f, X, P)
    assert pytest.approx(np.array(RIGHT[f]), rel=1e-13, abs=1e-13) == J
    if f.__code__.co_argcount == 5:
        dx = np.zeros(2)
        f(0.0, X.copy(), np.ones(1), P, dx)
    else:
        dx = np.array(f(0.0, X.copy(), np.ones(1), P))
    assert values == pytest.approx(dx, rel=1e-15)


@pytest.mark.parametrize("f", [table, in_place, helpers, newton, concatenated], ids=lambda f: f.__name__)
@pytest.mark.parametrize("lanes", [FEW_LANES, ONE_LANE])
def test_few_tangents_are_the_same(f, lanes):
    assert np.array_equal(dual_jacobian(f, X, P, lanes=lanes)[1], dual_jacobian(f, X, P)[1])


@njit
def product_down(count, x):
    return x if count == 1 else x * product_down(count - 1, x)


def calls_itself(t, x, b, p, dx):
    dx[0], dx[1] = product_down(3, x[0]), x[1]


def test_a_helper_that_calls_itself_is_not_inlined():
    assert _size(calls_itself, {}) > _INLINED
    assert dual_jacobian(calls_itself, X, P)[1] == pytest.approx(np.diag([3.0 * A**2, 1.0]), rel=1e-14)


def test_the_size_of_a_function_counts_its_helpers_as_often_as_they_are_called():
    @njit
    def helper(x):
        return x * x

    def once(t, x, b, p, dx):
        dx[0] = helper(x[0])

    def twice(t, x, b, p, dx):
        dx[0] = helper(x[0])
        dx[1] = helper(x[1])

    own = _size(helper, {})
    assert own > 2
    assert _size(once, {}) > own
    assert _size(twice, {}) - _size(once, {}) > own


@pytest.mark.parametrize(
    "f", [single_precision, complex_numbers, integers_that_are_written_to], ids=lambda f: f.__name__
)
def test_what_would_lose_a_tangent_does_not_compile(f):
    njit(f)(0.0, X.copy(), np.ones(1), P, np.zeros(2))
    with pytest.raises(NumbaError):
        dual_jacobian(f, X, P)


def test_other_numba_code_is_left_alone():
    """The rules for dual numbers do not get in the way of code for floats, compiled after them."""

    def f(x):
        y = np.zeros(3)
        y += x
        y *= 2.0
        return (
            y.sum()
            + x.max()
            + x.dot(y)
            + np.where(x > 0.5, x, y).mean()
            + np.clip(x, 0.0, 0.5).min()
            + x.astype(np.int64)[0]
        )

    x = np.array([0.2, 0.7, 1.4])
    assert njit(f)(x) == pytest.approx(f(x), rel=1e-15)
