"""The paper's Listing 1, and its section 2 as a check."""

import numpy as np
import pytest

import bouligand as bd
from bouligand.models.hopper import exact as hopper_exact
from bouligand.models.hopper import field as hopper_field
from bouligand.models.hopper import guard as hopper_guard
from bouligand.models.order_test import FINAL as ORDER_TEST_FINAL
from bouligand.models.order_test import START as ORDER_TEST_START
from bouligand.models.order_test import field as order_test_field
from bouligand.models.plate import START as PLATE_START
from tests.helpers import systems
from tests.helpers.systems import close


def f(x, y):
    out = np.empty(3)
    order_test_field(0.0, x, np.where(np.asarray(y) >= 0, 1.0, -1.0), np.empty(0), out)
    return out


def h(x):
    return np.array([x[0], x[1], -x[2]])


def Dh(x):
    return np.diag([1.0, 1.0, -1.0])


@pytest.mark.parametrize(("eps", "error"), [(1e-1, 2e-2), (1e-2, 2e-4), ([1e-3, 2e-3, 1e-3], 1e-5)])
def test_listing(eps, error):
    t, x = bd.integrate(f, h, Dh, eps, ORDER_TEST_START, 0.0, 0.5)
    assert t[0] == 0.0
    assert t[-1] == 0.5
    assert x.shape == (len(t), 3)
    close(x[-1], ORDER_TEST_FINAL, error)
    assert np.abs(x[-1] - ORDER_TEST_FINAL).max() > error / 100  # it is a projection, not something better


def hop_field(x, y):
    return np.array([x[1], -9.81 + (1000.0 * (1.0 - x[0]) if y[1] > 0 else 0.0)])


def hop_guards(x):
    return np.array([x[0] - 1.0, 1.0 - x[0]])


def hop_jacobian(x):
    return np.array([[1.0, 0.0], [-1.0, 0.0]])


@pytest.mark.parametrize("pool", ["armed", "printed"])
def test_pairs_of_guards(pool):
    words = []

    def watched(x, y):
        words.append(tuple(np.sign(y)))
        return hop_field(x, y)

    _, x = bd.integrate(watched, hop_guards, hop_jacobian, 1e-3, [2.0, 0.0], 0.0, 2.0, projection=5, pool=pool)
    close(x[-1], hopper_exact(2.0)[0], 1e-5)
    assert pool == "printed" or (1.0, 1.0) not in words


def test_the_printed_pool_rule_loses_events():
    # two pairs: one of them is never reached, so that under the printed rule the other is never armed again
    def guards(x):
        return np.array([x[0] - 1.0, 1.0 - x[0], x[0] - 100.0])

    def jacobian(x):
        return np.array([[1.0, 0.0], [-1.0, 0.0], [1.0, 0.0]])

    ends = {
        pool: bd.integrate(hop_field, guards, jacobian, 1e-3, [2.0, 0.0], 0.0, 2.0, projection=5, pool=pool)[1][-1]
        for pool in ("armed", "printed")
    }
    close(ends["armed"], hopper_exact(2.0)[0], 1e-5)
    assert np.abs(ends["printed"] - hopper_exact(2.0)[0]).max() > 1e-3


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"Dh must return a matrix of shape \(3, 3\)"):
        bd.integrate(f, h, lambda x: np.eye(2), 1e-2, ORDER_TEST_START, 0.0, 0.5)
    with pytest.raises(ValueError, match="eps must be positive"):
        bd.integrate(f, h, Dh, 0.0, ORDER_TEST_START, 0.0, 0.5)
    with pytest.raises(ValueError, match="tf must not be before t0"):
        bd.integrate(f, h, Dh, 0.1, ORDER_TEST_START, 0.5, 0.0)
    with pytest.raises(ValueError, match="pool must be"):
        bd.integrate(f, h, Dh, 0.1, ORDER_TEST_START, 0.0, 0.5, pool="mine")


# ------------------------------------------------------------------------------------------------------------ check


def test_check_of_a_good_system():
    report = bd.models.plate(4).check([0, 1.0, 0.01, 0, -2.0, 0])
    assert report.ok
    assert report.jacobians["Dh_row"] < 1e-8
    assert report.jacobians["f0 + sum of g"] < 1e-12
    assert report.margin > 0
    assert "all right" in repr(report)
    assert bd.models.hopper().check([1.0, -1.0]).jacobians["Df"] < 1e-8


def test_check_finds_a_wrong_jacobian():
    def wrong(t, x, p):
        return np.array([[1.0, 0.0]])

    system = bd.System(hopper_field, hopper_guard, n=2, m=1, params=[9.81, 1000.0, 1.0], Dh=wrong)
    report = system.check([1.5, 0.0])
    assert not report.ok
    assert "Dh differs" in repr(report)
    assert "element [0, 0] is 1, should be -1" in repr(report)


def test_check_finds_sliding_and_dependence_on_more_than_signs():
    report = systems.relay.check([0.0, 0.0])
    assert not report.ok
    assert report.margin <= 0
    assert report.worst is not None
    assert report.worst[0] == "h0"
    assert not report.depends_on_signs_only
    assert systems.corner.check([0.0, 0.0]).ok
    assert systems.corner.check([0.0, 0.0]).margin == pytest.approx(0.5)


def test_check_of_many_guards_does_not_try_all_words():
    report = bd.models.plate(30).check(PLATE_START)
    assert any("10 guards nearest" in note for note in report.notes)


def test_normalisation():
    factors = bd.normalised(bd.models.order_test(), 1e-2, ORDER_TEST_START)
    assert factors.shape == (3,)
    speeds = bd.models.order_test().check(ORDER_TEST_START).speeds
    close(factors * speeds, np.full(3, 1e-2), 1e-15)
    with pytest.raises(ValueError, match="eps must be positive"):
        bd.normalised(bd.models.order_test(), 0.0, ORDER_TEST_START)
