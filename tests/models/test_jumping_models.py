"""Ready models whose state jumps: ball, wheel, block and neurons against their closed forms, and their derivatives."""

import math

import numpy as np
import pytest

import bouligand as bd
from bouligand.models import bouncing_ball, neurons, rimless_wheel, rocking_block
from bouligand.models.bouncing_ball import bounces, rest_time
from bouligand.models.bouncing_ball import exact as ball
from bouligand.models.neurons import period, spikes
from bouligand.models.rimless_wheel import ALPHA, GAMMA, gait, steps
from bouligand.models.rimless_wheel import START as WHEEL
from bouligand.models.rocking_block import amplitudes, impacts

from ..helpers.extrapolated import jacobian
from ..helpers.systems import close

TIGHT = {"rtol": 1e-12, "atol": 1e-14}


def test_the_ball_bounces_as_the_closed_form_says():
    sol = bd.solve(bouncing_ball(), (0.0, 3.0), [1.0, 0.0], **TIGHT)
    close(sol.events.t, bounces(6), 1e-12)
    times = np.linspace(0.0, 3.0, 61)
    close(sol(times), ball(times), 1e-11)
    close(sol.events.x_after[:, 1], -0.8 * sol.events.x[:, 1], 0.0)


def test_the_derivative_of_the_ball_by_height_gravity_and_restitution():
    B = bd.solve(bouncing_ball(), (0.0, 3.0), [1.0, 0.0], **TIGHT).bderivative(params=True)
    by = jacobian(lambda q: ball(3.0, *q)[0], np.array([1.0, 9.81, 0.8]))
    close(np.column_stack([B.matrix()[:, 0], B.matrix(wrt="p")]), by, 1e-7)


def test_the_ball_comes_to_rest():
    """The bounces end at 1.354570922957193 s for e = 0.5."""
    with pytest.raises(bd.ZenoError) as end:
        bd.solve(bouncing_ball(e=0.5), (0.0, 2.0), [1.0, 0.0], rtol=1e-9)
    assert end.value.t_end == pytest.approx(1.35457092295719271, abs=1e-9)
    assert rest_time(e=0.5) == pytest.approx(1.35457092295719271, abs=1e-15)
    close(ball([1.36], e=0.5), 0.0, 0.0)


def test_the_gait_of_the_wheel():
    """Fixed point and step to all digits (by quadrature with 30 digits); the multiplier cos(2 alpha)^2 is exactly 1/2."""
    assert gait() == pytest.approx(1.09546283964765683, abs=1e-15)
    sol = bd.solve(rimless_wheel(), (0.0, 1.2), [GAMMA - ALPHA, gait()], **TIGHT)
    close(sol.events.t, [1.03454981142327933], 1e-11)
    close(sol.events.x_after[0], [GAMMA - ALPHA, gait()], 1e-11)
    step = sol.bderivative(event=0).matrix()
    close(step[0], 0.0, 1e-12)  # a step ends at an angle that is given
    assert step[1, 1] == pytest.approx(0.5, abs=1e-9)


def test_the_wheel_settles_into_its_gait():
    sol = bd.solve(rimless_wheel(), (0.0, 40.0), WHEEL, rtol=1e-11)
    assert set(sol.events.name) == {"forward"}
    close(sol.events.x_after[:, 1], steps(len(sol.events)), 1e-9)
    assert sol.events.x_after[-1, 1] == pytest.approx(gait(), abs=1e-9)


def test_a_wheel_that_is_too_slow_rolls_back():
    """It does not get over the top, and comes down on the spoke behind: omega^2 from the energy."""
    sol = bd.solve(rimless_wheel(), (0.0, 1.2), [0.0, -0.9], rtol=1e-11)
    assert list(sol.events.name[:2]) == ["backward", "forward"]
    lands = math.sqrt(0.81 + 2.0 * 9.81 * (1.0 - math.cos(ALPHA - GAMMA)))
    close(sol.events.x[0], [GAMMA - ALPHA, -lands], 1e-9)
    close(sol.events.x_after[0], [GAMMA + ALPHA, -math.sqrt(0.5) * lands], 1e-9)


def test_the_block_rocks_with_housners_period():
    rate, alpha, r = 2.0, 0.2, 1.0 - 1.5 * math.sin(0.2) ** 2
    sol = bd.solve(rocking_block(), (0.0, 6.0), [0.15, 0.0], **TIGHT)
    count = len(sol.events)
    assert count >= 5
    close(sol.events.t, impacts(count, 0.15, rate, alpha, r), 1e-10)
    assert sol.events.t[0] == pytest.approx(math.acosh(4.0) / rate, abs=1e-11)
    top = 0.5 * (sol.events.t[:-1] + sol.events.t[1:])  # a swing is symmetric
    close(np.abs(sol(top)[:, 0]), amplitudes(count, 0.15, alpha, r)[1:], 1e-10)


def test_a_block_that_loses_nothing_has_a_period():
    """T = (4 / rate) acosh(1 / (1 - theta0 / alpha))."""
    full = 4.0 / 2.0 * math.acosh(1.0 / (1.0 - 0.05 / 0.2))
    sol = bd.solve(rocking_block(restitution=1.0), (0.0, full), [0.05, 0.0], **TIGHT)
    close(sol.x[-1], [0.05, 0.0], 1e-11)
    assert len(sol.events) == 2


def test_the_derivative_of_the_block():
    q = np.array([0.15, 0.0, 2.0, 0.2, 0.9])
    system = rocking_block(restitution=0.9)

    def end(q):
        return bd.solve(system, (0.0, 4.0), q[:2], p=q[2:], **TIGHT).x[-1]

    sol = bd.solve(system, (0.0, 4.0), q[:2], **TIGHT)
    assert len(sol.events) >= 3
    B = sol.bderivative(params=True)
    close(np.hstack([B.matrix(), B.matrix(wrt="p")]), jacobian(end, q), 1e-6)


@pytest.mark.parametrize(("count", "pulse"), [(1, 0.05), (2, 0.05), (10, 0.05), (100, 0.02), (100, 0.002)])
def test_spikes_of_the_neurons(count, pulse):
    """Instants, who fires at each, potentials. With strong pulses 100 neurons fire in one cascade and are in step at once."""
    start = bd.models.available()["neurons"].build(count)[1]
    sol = bd.solve(neurons(count, pulse=pulse), (0.0, 4.0), start, **TIGHT)
    times, firing, potentials = spikes(4.0, start, pulse=pulse)
    assert len(times) > 2
    assert len(sol.events) == sum(map(len, firing))
    close(sol.events.t, np.repeat(times, [len(who) for who in firing]), 1e-11)
    assert [set(sol.events.guard[sol.events.t == t]) for t in np.unique(sol.events.t)] == [set(who) for who in firing]
    close(sol.x[-1], potentials, 1e-11)


def test_neurons_in_step_have_the_period_of_one():
    sol = bd.solve(neurons(50), (0.0, 5.0), np.zeros(50), **TIGHT)
    close(np.unique(sol.events.t), period() * np.arange(1, 5), 1e-11)
    assert len(sol.events) == 200


def test_the_numbers_of_the_neurons_do_not_matter():
    start = np.random.default_rng(4).uniform(0.0, 0.99, 30)
    turned = np.random.default_rng(5).permutation(30)
    system = neurons(30, pulse=0.01)
    one, other = (bd.solve(system, (0.0, 6.0), x0, rtol=1e-10) for x0 in (start, start[turned]))
    assert np.array_equal(one.events.t, other.events.t)
    assert np.array_equal(one.x[-1][turned], other.x[-1])


def test_the_runner_keeps_its_energy():
    from bouligand.models.slip import START, energy

    system = bd.models.slip()
    sol = bd.solve(system, (0.0, 3.0), START, rtol=1e-10)
    assert len(sol.events) > 15
    values = energy(sol(np.linspace(0.0, 3.0, 500)), system.defaults)
    assert np.ptp(values) < 1e-7


def test_the_converter_switches_once_in_each_period():
    """It settles to the cycle that is known by matrix exponentials."""
    from bouligand.models.buck_converter import START, pulse

    sol = bd.solve(bd.models.buck_converter(), (0.0, 0.06), START, rtol=1e-9)
    part, restart, _ = pulse()
    ends = sol.events.x[sol.events.name == "clock"]
    assert np.abs(ends[-1][:2] - restart).max() < 1e-6
    closes = sol.events.t[(sol.events.name == "comparator") & (sol.events.direction < 0)]
    assert abs(closes[-1] / 400e-6 % 1.0 - part) < 1e-5


def test_the_walker_walks():
    """Ten steps from its known gait, which is stable: it stays there."""
    from bouligand.models.simplest_walker import GAIT

    theta, rate = GAIT
    c = np.cos(2.0 * theta)
    start = [theta, rate, 2.0 * theta, (1.0 - c) * rate]
    sol = bd.solve(bd.models.simplest_walker(), (0.0, 40.0), start, b0=[1], rtol=1e-10)
    assert len(sol.events) == 10
    assert np.abs(sol.events.x_after[:, :2] - GAIT).max() < 1e-7
