"""Trajectories with known answers. Tolerances are stated where they are not the obvious ones."""

import math

import numpy as np
import pytest

import bouligand as bd
from bouligand.models.circle import END as CIRCLE_END
from bouligand.models.circle import FINAL as CIRCLE_FINAL
from bouligand.models.circle import START as CIRCLE_START
from bouligand.models.circle import exact as circle_exact
from bouligand.models.order_test import CROSSINGS
from bouligand.models.order_test import FINAL as ORDER_TEST_FINAL
from bouligand.models.order_test import START as ORDER_TEST_START
from bouligand.models.order_test import exact as order_test_exact
from bouligand.models.oscillators import exact as one_oscillator_exact
from tests.helpers import systems
from tests.helpers.systems import close


@pytest.mark.parametrize("method", ["auto", "dopri5", "dop853", "bosh3"])
def test_c1_order_test(method):
    rtol = 1e-7 if method == "bosh3" else 1e-11
    sol = bd.solve(bd.models.order_test(), (0, 0.5), ORDER_TEST_START, rtol=rtol, method=method)
    assert list(sol.events.name) == ["y", "-z", "x"]
    close(sol.events.t, CROSSINGS, 5 * rtol)
    close(sol.x[-1], ORDER_TEST_FINAL, 20 * rtol)  # x grows by e^1.3 after its crossing
    close(order_test_exact(0.5)[0], ORDER_TEST_FINAL, 1e-15)


@pytest.mark.parametrize(("error", "evaluations"), [(2.9e-3, 50), (2.6e-7, 482), (5.2e-10, 956)])
def test_c1_needs_fewer_evaluations_than_a_method_that_ignores_the_guards(error, evaluations):
    for rtol in np.logspace(-2, -12, 41):
        sol = bd.solve(bd.models.order_test(), (0, 0.5), ORDER_TEST_START, rtol=rtol)
        if np.abs(sol.x[-1] - ORDER_TEST_FINAL).max() < error:
            break
    assert sol.counts.f < evaluations


def test_c1_error_follows_the_tolerance():
    errors = []
    for rtol in np.logspace(-3, -11, 9):
        sol = bd.solve(bd.models.order_test(), (0, 0.5), ORDER_TEST_START, rtol=rtol)
        errors.append(np.abs(sol.x - order_test_exact(sol.t)).max() / rtol)
    assert max(errors) < 10
    assert np.polyfit(np.arange(9), np.log10(np.array(errors) * np.logspace(-3, -11, 9)), 1)[0] == pytest.approx(
        -1, abs=0.25
    )


def test_c2c_moving_guard():
    sol = bd.solve(systems.moving, (0, 2), [0.0], rtol=1e-9)
    close(sol.events.t, [2 / 3], 1e-12)
    close(sol.x[-1], [4 / 3 + 0.7 * 4 / 3], 1e-12)


@pytest.mark.parametrize("rtol", [1e-5, 1e-8, 1e-11])
def test_c4_curved_guard(rtol):
    sol = bd.solve(bd.models.circle(), (0, CIRCLE_END), CIRCLE_START, rtol=rtol)
    close(sol.events.t, [1.0], 50 * rtol)  # 57 is the largest amplification
    close(sol.x[-1], CIRCLE_FINAL, 400 * rtol)
    close(circle_exact(CIRCLE_END)[0], CIRCLE_FINAL, 1e-14)


def oscillators_exact(q0, v0, tf, **p):
    rows = [one_oscillator_exact(tf, q, v, **p) for q, v in zip(q0, v0, strict=True)]
    return np.array([r[0] for r in rows] + [r[1] for r in rows]), [r[2] for r in rows]


def test_c5_one_oscillator():
    q, v, crossings = one_oscillator_exact(10.0, -1.0, 0.2)
    assert len(crossings) == 1
    sol = bd.solve(bd.models.oscillators(1), (0, 10), [-1.0, 0.2], rtol=1e-11)
    close(sol.x[-1], [q, v], 1e-9)
    close(sol.events.t, crossings, 1e-10)


@pytest.mark.parametrize("spread", [0.0, 1e-6])
def test_c5_a_thousand_oscillators_at_once(spread):
    m, tf = 1000, 3.0
    p = {"a": 0.2, "damping": 0.4, "delta": 0.5}
    rng = np.random.default_rng(3)
    # all reach their guard with the same speed, within `spread` seconds of each other
    q0 = -0.5 + 0.8 * spread * (rng.random(m) - 0.5)
    v0 = np.full(m, 0.8)
    system = bd.models.oscillators(m, **p)
    sol = bd.solve(system, (0, tf), np.r_[q0, v0], rtol=1e-9)
    want, crossings = oscillators_exact(q0, v0, tf, **p)
    assert sum(map(len, crossings)) == len(sol.events)
    assert [len(c) for c in crossings] == [len(t) for t in sol.t_events]
    assert np.ptp([c[0] for c in crossings]) <= 1.01 * spread
    close(np.concatenate(sol.t_events), np.concatenate(crossings), 1e-8)
    close(sol.x[-1], want, 2e-8)


def test_c6_a_crossing_that_changes_one_slope():
    sol = bd.solve(systems.slope, (0, 1), [1.0, 0.0], rtol=1e-8)
    close(sol.x[-1], [-1.0, 0.5], 1e-12)
    close(sol.events.t, [0.5], 1e-12)
    assert math.isclose(sol.x[-1, 1], 0.5, rel_tol=1e-12)
