"""The integration schemes, as mathematics."""

import dataclasses
import math

import numba
import numpy as np
import pytest

from bouligand.core.schemes import BOSH3, DOP853, DOPRI5, METHODS, SCHEMES
from bouligand.core.steps.smooth import step_factor

names = [scheme.name for scheme in SCHEMES]


@pytest.mark.parametrize("scheme", SCHEMES, ids=names)
def test_a_wrong_coefficient_is_noticed(scheme):
    for table in ("A", "errors", "P"):
        wrong = getattr(scheme, table).copy()
        wrong[tuple(index[-1] for index in np.nonzero(wrong))] += 1e-6
        with pytest.raises(ValueError, match=scheme.name):
            dataclasses.replace(scheme, **{table: wrong})


def step(scheme, s):
    """One step of x' = x^2 + t, x(0) = 1: result, error estimate, and the extension at a few places."""
    K = np.zeros(len(scheme.c))
    for q in range(len(K)):
        x = 1.0 + s * scheme.A[q] @ K
        K[q] = x * x + scheme.c[q] * s
    theta = np.array([0.25, 0.5, 0.9])
    powers = theta[:, None] ** np.arange(1, scheme.P.shape[1] + 1)
    return 1.0 + s * scheme.b @ K, s * scheme.errors @ K, 1.0 + s * (powers @ scheme.P.T) @ K, theta


def taylor(s, terms=60):
    """The exact solution as a power series: x_{k+1} = (sum x_j x_{k-j} + [k = 1]) / (k + 1)."""
    x = [1.0]
    for k in range(terms):
        x.append((sum(x[j] * x[k - j] for j in range(k + 1)) + (k == 1)) / (k + 1))
    return sum(c * s**k for k, c in enumerate(x))


@pytest.mark.parametrize(
    ("scheme", "sizes"), [(DOPRI5, (0.1, 0.05)), (BOSH3, (0.04, 0.02)), (DOP853, (0.2, 0.1))], ids=names
)
def test_orders(scheme, sizes):
    errors, dense = [], []
    for s in sizes:
        end, _, between, theta = step(scheme, s)
        errors.append(abs(end - taylor(s)))
        dense.append(max(abs(x - taylor(th * s)) for x, th in zip(between, theta, strict=True)))
    ratio = math.log(sizes[0] / sizes[1])
    assert math.log(errors[0] / errors[1]) / ratio > scheme.order + 0.5
    assert math.log(dense[0] / dense[1]) / ratio > scheme.dense_order + 0.5


@pytest.mark.parametrize("scheme", SCHEMES, ids=names)
def test_the_error_estimate_falls_as_stated(scheme):
    (_, one, _, _), (_, two, _, _) = step(scheme, 0.05), step(scheme, 0.025)
    order = math.log2(abs(one[0] / two[0]))
    assert order > (5.5 if scheme is DOP853 else scheme.error_order + 0.6)


@pytest.mark.parametrize("scheme", SCHEMES, ids=names)
def test_the_factor_of_the_next_step_is_a_root_of_the_error(scheme):
    method = METHODS[scheme.name]
    factor = numba.njit(lambda error: step_factor(error, method))
    for error in np.logspace(-12, 6, 200):
        right = error ** (-1.0 / (scheme.error_order + 1))
        assert 0.994 * right < factor(error) <= right * (1 + 1e-12)
