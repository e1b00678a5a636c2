"""Failures that are known of other integrators: each is a test named after it."""

import math
import subprocess
import sys

import numpy as np
import pytest

import bouligand as bd
from bouligand.models.circle import END as CIRCLE_END
from bouligand.models.circle import START as CIRCLE_START
from bouligand.models.hopper import START as HOPPER_START
from bouligand.models.hopper import crossings as hopper_crossings
from bouligand.models.hopper import exact as hopper_exact
from bouligand.models.order_test import CROSSINGS as ORDER_TEST_CROSSINGS
from bouligand.models.order_test import START as ORDER_TEST_START
from bouligand.models.order_test import exact as order_test_exact
from bouligand.models.order_test import field as order_test_field
from bouligand.models.plate import START as PLATE_START
from tests.helpers import systems
from tests.helpers.systems import close


def test_f01_simultaneous_events_are_all_recorded():
    sol = bd.solve(systems.balls(2), (0, 2), [1.0, 1.0, 0.0, 0.0], rtol=1e-9)
    assert [len(t) for t in sol.t_events] == [4, 4]
    close(sol.t_events[0], sol.t_events[1], 0.0)
    close(sol.x[:, 0], sol.x[:, 1], 0.0)
    close(sol.x[-1, [0, 2]], hopper_exact(2.0, z0=1.0, rest=0.0)[0], 1e-7)


def test_f02_the_same_guard_listed_twice():
    sol = bd.solve(systems.twins, (0, 2), [1.0, 0.0], rtol=1e-9)
    assert [len(t) for t in sol.t_events] == [4, 4]
    close(sol.x[-1], hopper_exact(2.0, z0=1.0, rest=0.0)[0], 1e-7)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_f03_near_ties_are_continuous_in_the_gap(sign):
    tie = bd.solve(systems.corner, (0, 2), [-1.0, -1.0], rtol=1e-10).x[-1]
    for gap in (1e-16, 1e-15, 1e-13, 1e-10, 1e-7, 1e-5, 1e-3):
        sol = bd.solve(systems.corner, (0, 2), [-1.0, -1.0 - sign * gap], rtol=1e-10)
        assert len(sol.events) == 2
        close(sol.x[-1], tie, 2 * gap + 1e-14)


def test_f04_two_crossings_inside_one_step():
    level = math.cos(0.05)  # beyond the guard for 0.1 of each 2 pi
    sol = bd.solve(systems.wave, (-1.0, 30.0), [math.cos(-1.0), -math.sin(-1.0), 0.0], {"level": level}, rtol=1e-9)
    assert len(sol.events) == 10
    close(sol.x[-1, 2], 0.5, 1e-7)


def test_f05_a_thin_slab_is_not_jumped():
    sol = bd.solve(systems.slab, (0, 2), [-1.0, 0.0], rtol=1e-8)
    assert len(sol.events) == 2
    close(sol.x[-1], [1.0, 1.0], 1e-9)


def test_f06_start_inside_a_band_and_on_a_guard():
    hopper = bd.models.hopper()
    inside = bd.solve(hopper, (0, 1), [1.0005, -1.0], rtol=1e-9, eps=1e-2, projection=5)
    assert inside.b[0, 0] == -1
    assert inside.events.direction[0] == 1
    falls = bd.solve(hopper, (0, 0.01), [1.0, -1.0])
    assert falls.b[0, 0] == 1
    assert len(falls.events) == 0
    rises = bd.solve(hopper, (0, 0.01), [1.0, 1.0])
    assert rises.b[0, 0] == -1
    at_rest = bd.solve(hopper, (0, 0.01), [1.0, 0.0])  # hdot is zero too: the next derivative decides
    assert at_rest.b[0, 0] == 1
    with pytest.raises(bd.StartError, match="no mode is consistent"):
        bd.solve(systems.relay, (0, 1), [0.0, 0.0])
    with pytest.raises(bd.StartError, match="ambiguous"):
        bd.solve(systems.relay, (0, 1), [0.0, 0.0], p=[-1.0])
    chosen = bd.solve(systems.relay, (0, 1), [0.0, 0.0], p=[-1.0], b0=[-1])
    close(chosen.x[-1], [-1.0, 1.0], 1e-9)


def test_f07_no_event_fires_again_after_10000_returns():
    returns = 10_000
    sol = bd.solve(systems.circling, (0.0, math.pi * (returns + 0.5) - 1.0), [math.sin(1.0), math.cos(1.0)], rtol=1e-8)
    assert len(sol.events) == returns
    assert (np.diff(sol.events.t) > 3.0).all()
    assert (sol.events.direction[1:] == -sol.events.direction[:-1]).all()


def test_f08_a_guard_is_armed_by_its_own_sign():
    # one guard is crossed again and again, another never
    def f(x, y):
        return np.array([x[1], -x[0], 0.0])

    def h(x):
        return np.array([x[0], -x[0], x[2] - 10.0])

    def Dh(x):
        return np.array([[1.0, 0, 0], [-1.0, 0, 0], [0, 0, 1.0]])

    _, x = bd.integrate(f, h, Dh, 1e-3, [0.5, 1.0, 0.0], 0.0, 20.0)
    close(x[-1, :2], [0.5 * math.cos(20) + math.sin(20), math.cos(20) - 0.5 * math.sin(20)], 1e-4)


def test_f09_the_first_stage_after_an_event_sees_the_new_word():
    # the jump in f is large; with a stale first stage the step after it would be off by its whole length
    sol = bd.solve(systems.slope, (0, 1), [1.0, 0.0], rtol=1e-10, p=[2.0, 1e6])
    close(sol.x[-1, 1] / 1e6, 0.5, 1e-9)


def test_f10_no_burst_of_rejections_and_never_a_mixed_word():
    seen = set()

    def f(t, x, b, p):
        seen.add(tuple(b))
        return np.array([1.0 if b[0] < 0 else 0.1, 1.0 + 100.0 * (b[0] > 0)])

    system = bd.System(f, lambda t, x, p: [x[0], -x[0]], n=2, m=2, compile=False)
    sol = bd.solve(system, (0, 2), [-1.0, 0.0], rtol=1e-8)
    # the two guards are one surface: they tie, and are crossed one after the other at the same instant
    assert len(sol.events) == 2
    assert sol.counts.rejected <= 3
    assert seen <= {(-1.0, 1.0), (1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)}


def test_f11_dense_output_does_not_smear_the_jump():
    sol = bd.solve(systems.slope, (0, 1), [1.0, 0.0], rtol=1e-6)
    t = sol.events.t[0]
    close(sol(t - 1e-9), sol(t + 1e-9), 1e-8)
    close(sol.rate(t, "left"), [-2.0, 1.0], 0.0)
    close(sol.rate(t, "right"), [-2.0, 0.0], 0.0)
    assert sol.word(t, "left")[0] == 1
    assert sol.word(t)[0] == -1
    grid = np.linspace(0, 1, 101)
    close(sol(grid)[:, 1], np.minimum(grid, 0.5), 1e-7)


def test_f12_times_strictly_increase():
    for x0 in ([1.0, 1.0, 0.0, 0.0], [1.0, 1.0 + 1e-13, 0.0, 0.0]):
        sol = bd.solve(systems.balls(2), (0, 3), x0)
        assert (np.diff(sol.t) > 0).all()
        assert (np.diff(sol.events.t) >= 0).all()


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-9])
@pytest.mark.parametrize("off", [0, 1, -1, 1e5, -1e5])  # in units of round-off
def test_a_graze_at_the_end_or_the_start_of_a_step(rtol, off):
    """A thrown ball that reaches its guard exactly: whether it crosses is undecidable wherever the steps end, and it matters."""

    def f(t, x, b, p, dx):
        dx[0], dx[1], dx[2] = x[1], -1.0, 1e6 if b[0] > 0.0 else 0.0

    system = bd.System(f, lambda t, x, p: (x[0] - 1.0,), n=3, m=1)
    with pytest.raises(bd.GrazingError):
        bd.solve(system, (0.0, 3.0), [0.0, math.sqrt(2.0) * (1.0 + off * 2.2e-16), 0.0], rtol=rtol)


def test_f13_grazing():
    start = [math.cos(-1.0), -math.sin(-1.0), 0.0]
    # clearly short of the guard, and clearly beyond it: no error
    assert len(bd.solve(systems.wave, (-1, 1), start, {"level": 1.0 + 1e-5}, rtol=1e-8).events) == 0
    assert len(bd.solve(systems.wave, (-1, 1), start, {"level": 1.0 - 1e-5}, rtol=1e-8).events) == 2
    # undecidable, and a large jump: refused, with the trajectory so far
    with pytest.raises(bd.GrazingError, match="grazed") as caught:
        bd.solve(systems.wave, (-1, 1), start, {"level": 1.0 + 1e-12, "rate": 1e3}, rtol=1e-8)
    assert caught.value.guard == "h0"
    assert caught.value.solution.t[-1] > -1
    # undecidable, but it makes no difference: it continues, and the margin is recorded
    sol = bd.solve(systems.wave, (-1, 1), start, {"level": 1.0 + 1e-12, "rate": 1e-9}, rtol=1e-8)
    assert sol.success
    assert len(sol.margins) + len(sol.events) > 0


def test_f14_sliding_and_chattering_are_named():
    with pytest.raises(bd.SlidingError, match="sliding") as caught:
        bd.solve(systems.relay, (0, 2), [1.0, 0.0])
    close(caught.value.t, 1.0, 1e-9)
    close(caught.value.x, [0.0, 1.0], 1e-9)
    assert caught.value.hdot is not None
    assert caught.value.hdot < 0
    assert caught.value.solution.t[-1] == caught.value.t


def test_f15_too_many_events_in_no_time():
    with pytest.raises(bd.ChatteringError) as caught:
        bd.solve(systems.zeno, (0, 100), [0.0, 1.0], b0=[1, 1], rtol=1e-10)
    assert caught.value.guard in ("q", "v")
    close(caught.value.x, [0.0, 0.0], 1e-5)
    assert len(caught.value.solution.events) > 10
    assert np.isfinite(caught.value.x).all()


def test_f16_an_event_at_tf_and_on_a_requested_time():
    tf = ORDER_TEST_CROSSINGS[0]
    fall = hopper_crossings(1.0)[0]
    sol = bd.solve(bd.models.hopper(), (0, fall), HOPPER_START, rtol=1e-9)
    assert len(sol.events) == 1
    close(sol.events.t, [fall], 1e-14)
    sol = bd.solve(bd.models.hopper(), (0, 1), HOPPER_START, rtol=1e-9, t_eval=[0.0, 0.2, fall, 0.8, 1.0])
    assert len(sol.events) == 2
    close(sol.x, hopper_exact(sol.t), 1e-7)
    sol = bd.solve(bd.models.order_test(), (0, tf), ORDER_TEST_START, rtol=1e-10)
    close(sol.x[-1], order_test_exact(tf)[0], 1e-10)


@pytest.mark.parametrize("scale", [1e6, 1e-6])
def test_f17_units_of_guards_do_not_matter(scale):
    def field(t, x, b, p, dx):
        order_test_field(t, x, b, p, dx)

    def make(factor):
        return bd.System(
            order_test_field, lambda t, x, p: (factor * x[0], factor * x[1], -factor * x[2]), n=3, m=3, compile=False
        )

    one, other = (bd.solve(make(s), (0, 0.5), ORDER_TEST_START, rtol=1e-7) for s in (1.0, scale))
    close(one.x[-1], other.x[-1], 1e-13)
    close(one.events.t, other.events.t, 1e-13)
    assert one.counts.f == other.counts.f


def test_f18_numbering_of_guards_does_not_matter():
    m = 12
    order = np.random.default_rng(1).permutation(m)
    positions = np.linspace(-1, 1, m)
    ends = []
    for where in (positions, positions[order]):
        sol = bd.solve(bd.models.plate(positions=where), (0, 2), PLATE_START, rtol=1e-10)
        ends.append(sol.x[-1])
        assert len(sol.events) > 2 * m
    close(ends[0], ends[1], 1e-7)


def test_f19_nothing_is_recorded_in_a_rejected_step():
    loose = bd.solve(bd.models.hopper(), (0, 2), HOPPER_START, rtol=1e-4, max_step=0.5)
    assert loose.counts.rejected > 0
    assert [len(t) for t in loose.t_events] == [4]
    assert (loose.events.direction == [1, -1, 1, -1]).all()


def test_f20_no_silent_early_stop():
    with pytest.raises(bd.TooManyStepsError, match="max_steps = 5") as caught:
        bd.solve(bd.models.hopper(), (0, 2), HOPPER_START, max_steps=5)
    sol = caught.value.solution
    assert not sol.success
    assert sol.status == "failed"
    assert "max_steps" in sol.message
    assert len(sol.t) == 6
    again = bd.solve(bd.models.hopper(), (0, 2), HOPPER_START, max_steps=5, on_failure="return")
    assert not again.success
    close(again.x, sol.x, 0.0)
    stopped = bd.solve(bd.models.hopper(), (0, 2), HOPPER_START, terminal="foot")
    assert stopped.success
    assert stopped.status == "terminated"


def test_f21_a_curved_guard_keeps_its_residual():
    residuals = []
    for projection in (2, 3, 5):
        sol = bd.solve(bd.models.circle(), (0, CIRCLE_END), CIRCLE_START, rtol=1e-12, eps=1e-2, projection=projection)
        residuals.append(abs(sol.events.residual[0]))
    assert residuals[0] > 1e-5  # the tangent leaves the guard, and says so
    assert residuals[1] < 1e-12
    assert residuals[2] < 1e-12


def test_f23_nan_behind_the_guard():
    sol = bd.solve(systems.domain, (0, 2), [1.0, 0.0], rtol=1e-8)
    close(sol.x[-1], [-1.0, 2 / 3], 1e-7)
    close(sol.events.t, [1.0], 1e-9)

    def bad(t, x, b, p):
        return [math.nan if t > 0.5 else 1.0]

    with pytest.raises(bd.NotFiniteError, match="not finite at t = 0") as caught:
        bd.solve(bd.System(bad, lambda t, x, p: [x[0] - 9.0], n=1, m=1, compile=False), (0, 1), [0.0])
    close(caught.value.x, [0.5], 1e-6)


def test_f24_import_has_no_side_effects():
    code = "import sys, bouligand; print([m for m in ('numba', 'scipy.integrate', 'matplotlib') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert done.stderr == ""


@pytest.mark.parametrize("projection", [2, 3, 5])
def test_f25_a_trajectory_may_turn_round_inside_a_band(projection):
    start = [math.cos(-1.0), -math.sin(-1.0), 0.0]
    sol = bd.solve(systems.wave, (-1, 1), start, {"level": 1.01}, rtol=1e-9, eps=0.05, projection=projection)
    assert len(sol.events) == 0
    close(sol.x[-1], [math.cos(1.0), -math.sin(1.0), 0.0], 1e-7)


def test_f26_nothing_beyond_tf():
    tf = hopper_crossings(1.0)[0] - 0.01  # inside the band, before the guard
    sol = bd.solve(bd.models.hopper(), (0, tf), HOPPER_START, rtol=1e-9, eps=0.1, projection=2)
    assert sol.t[-1] == tf
    assert len(sol.events) == 0
    close(sol.x[-1], hopper_exact(tf)[0], 1e-7)


def test_f27_resting_on_contacts():
    m = 4
    plate = bd.models.plate(m)
    depth = 9.81 / 2000.0
    sol = bd.solve(plate, (0, 1), [0, 1.0 - depth, 0, 0, 0, 0], rtol=1e-9)
    assert len(sol.events) == 0
    assert (sol.b == 1).all()
    close(sol.x[-1], sol.x[0], 1e-9)
    # all four exactly on their guards, falling: one word is consistent
    sol = bd.solve(plate, (0, 0.01), [0, 1.0, 0, 0, -1.0, 0], rtol=1e-9)
    assert (sol.b == 1).all()
    assert len(sol.events) == 0
