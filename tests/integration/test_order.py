"""Orders of the projections in eps, on the paper's system and on a curved guard; errors against tabulated values."""

import numpy as np
import pytest

import bouligand as bd
from bouligand.models.circle import END as CIRCLE_END
from bouligand.models.circle import START as CIRCLE_START
from bouligand.models.circle import exact as circle_exact
from bouligand.models.order_test import END as ORDER_TEST_END
from bouligand.models.order_test import START as ORDER_TEST_START
from bouligand.models.order_test import exact as order_test_exact

CASES = {
    "order_test": (bd.models.order_test(), ORDER_TEST_START, ORDER_TEST_END, order_test_exact),
    "circle": (bd.models.circle(), CIRCLE_START, CIRCLE_END, circle_exact),
}


def rms(case, eps, projection):
    system, x0, tf, exact = CASES[case]
    sol = bd.solve(system, (0, tf), x0, rtol=3e-14, atol=1e-15, eps=eps, projection=projection, method="dopri5")
    return np.sqrt(np.mean((sol.x - exact(sol.t)) ** 2))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    ("projection", "eps"),
    [(2, np.logspace(-2, -4.5, 6)), (3, np.logspace(-1.6, -4, 6)), (5, np.logspace(-1.3, -2.6, 6))],
)
def test_slope(case, projection, eps):
    errors = np.array([rms(case, e, projection) for e in eps])
    keep = errors > 1e-12 if case == "circle" else errors > 1e-13
    slope = np.polyfit(np.log(eps[keep]), np.log(errors[keep]), 1)[0]
    assert keep.sum() >= 4
    assert slope == pytest.approx(projection, abs=0.2)


@pytest.mark.parametrize(
    ("projection", "eps", "error"),
    [(2, 1e-1, 7.4e-3), (2, 1e-2, 5.9e-5), (2, 1e-3, 5.9e-7), (3, 1e-2, 1.3e-6), (3, 1e-3, 1.3e-9), (5, 1e-1, 3.1e-6),
     (5, 1e-2, 2.65e-11), (5, 1e-3, 1e-14)],
)  # fmt: skip
def test_errors_of_the_table(projection, eps, error):
    assert rms("order_test", eps, projection) < 1.01 * error
