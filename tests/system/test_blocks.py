"""Saturation, dead zone, limited integrator and relay against closed forms; their derivatives; what is refused."""

import math
from typing import Any

import numpy as np
import pytest

import bouligand as bd
from bouligand import blocks
from bouligand.blocks import dead_zone, limited_integrator, relay, saturation, thresholds, together

from ..helpers.systems import close

TIGHT = {"rtol": 1e-11, "atol": 1e-13}


def test_saturation():
    """x' = sat(-k x): a ramp until x = L / k, an exponential behind that."""
    system = bd.System(
        lambda t, x, b, p: (saturation(-p[0] * x[0], -p[1], p[1], b[0], b[1]),),
        lambda t, x, p: thresholds(-p[0] * x[0], -p[1], p[1]),
        n=1,
        guards=("low", "high"),
        params={"k": 4.0, "limit": 1.0},
        compile=True,
        jacobians="exact",
    )

    def end(x0, k, limit):
        begins = (x0 - limit / k) / limit
        return limit / k * math.exp(-k * (2.0 - begins))

    sol = bd.solve(system, (0.0, 2.0), [2.0], **TIGHT)
    close(sol.events.t, [1.75], 1e-11)
    close(sol.x[-1, 0], end(2.0, 4.0, 1.0), 1e-11)
    B = sol.bderivative(params=True)
    steps = 1e-6 * np.eye(3)
    around = np.array([2.0, 4.0, 1.0])
    by = [(end(*(around + d)) - end(*(around - d))) / 2e-6 for d in steps]
    close([B.matrix()[0, 0], *B.matrix(wrt="p")[0]], by, 1e-8)
    above = bd.solve(system, (0.0, 2.0), [-2.0], **TIGHT)
    close(above.x[-1], -sol.x[-1], 1e-12)


def test_dead_zone():
    """A mass between two springs with play: free over 2 w, half a turn at each end. The period depends on the speed."""
    system = bd.System(
        lambda t, x, b, p: (x[1], -dead_zone(x[0], -p[0], p[0], b[0], b[1])),
        lambda t, x, p: thresholds(x[0], -p[0], p[0]),
        n=2,
        guards=("left", "right"),
        params={"play": 0.3},
        compile=True,
        jacobians="exact",
    )
    speed, play = 0.7, 0.3
    period = 2.0 * math.pi + 4.0 * play / speed
    sol = bd.solve(system, (0.0, period), [0.0, speed], **TIGHT)
    close(sol.x[-1], [0.0, speed], 1e-10)
    close(sol.events.t[:2], [play / speed, play / speed + math.pi], 1e-11)
    # at the end, at x = 0 with that speed, dx = -speed dT
    B = sol.bderivative(params=True)
    close(B.matrix(), [[1.0, 4.0 * play / speed], [0.0, 1.0]], 1e-8)
    close(B.matrix(wrt="p"), [[-4.0], [0.0]], 1e-8)


def limited(**arguments):
    """y' = a cos(t) within its limits, and a state that follows it."""
    return bd.System(
        lambda t, x, b, p: (limited_integrator(p[0] * math.cos(t), b[0], b[1]), x[0]),
        lambda t, x, p: thresholds(x[0], p[1], p[2]),
        states=("y", "z"),
        guards=("low", "high"),
        params={"a": 1.0, "lo": -1.0, "hi": 0.5},
        sliding="filippov",
        compile=True,
        **arguments,
    )


def test_limited_integrator():
    """It waits at 0.5 from pi/6 to pi/2, then falls by 2 sines: to -1 at arcsin(-0.5), where it waits until 3 pi / 2."""
    sol = bd.solve(limited(), (0.0, 6.0), [0.0, 0.0], **TIGHT)
    close(sol.events.t, [math.pi / 6, math.pi / 2, math.pi + math.pi / 6, 1.5 * math.pi], 1e-9)
    waiting = np.linspace(math.pi / 6 + 1e-6, math.pi / 2 - 1e-6, 50)
    assert (sol(waiting)[:, 0] == 0.5).all()
    close(sol.x[-1, 0], math.sin(6.0), 1e-10)  # -1 + sin(6) - sin(3 pi / 2)
    rising, waited = 1.0 - math.cos(math.pi / 6), 0.5 * (math.pi / 2 - math.pi / 6)
    end = 7.0 * math.pi / 6
    falling = -math.cos(end) - 0.5 * (end - math.pi / 2)  # the integral of sin - 1/2
    close(sol(end)[1], rising + waited + falling, 1e-9)
    close(sol.bderivative(6.0).matrix()[0], 0.0, 1e-10)  # the limits forget where it came from
    by = sol.bderivative(6.0, params=True).matrix(wrt="p")[0]
    close(by, [math.sin(6.0) + 1.0, 1.0, 0.0], 1e-6)


@pytest.mark.parametrize(("start", "first"), [(0.5, 0), (-1.0, 1)])
def test_a_limited_integrator_that_starts_at_a_limit(start, first):
    """At the upper one it stays, because its input points outwards; from the lower one it leaves at once."""
    sol = bd.solve(limited(), (0.0, 1.0), [start, 0.0], **TIGHT)
    close(sol.x[-1, 0], start if first == 0 else start + math.sin(1.0), 1e-10)


@pytest.mark.parametrize("a", [1e-6, 1.0, 1e6])
def test_the_scale_of_a_limited_integrator(a):
    """Its events do not depend on the size of its input, if that is said."""
    system = bd.System(
        lambda t, x, b, p: (limited_integrator(p[0] * math.cos(t), b[0], b[1], p[0]),),
        lambda t, x, p: thresholds(x[0], -p[0], 0.5 * p[0]),
        n=1,
        m=2,
        params={"a": a},
        sliding="filippov",
    )
    sol = bd.solve(system, (0.0, 3.0), [0.0], rtol=1e-10, atol=1e-12 * a)
    close(sol.events.t, [math.pi / 6, math.pi / 2], 1e-8)


def test_two_integrators_at_their_limits_at_once():
    """Sliding on two guards: the field is affine in the two signs."""
    system = bd.System(
        lambda t, x, b, p: (
            limited_integrator(1.0 - x[1], b[0], b[1]),
            limited_integrator(2.0 - t, b[2], b[3]),
        ),
        lambda t, x, p: (*thresholds(x[0], -1.0, 0.25), *thresholds(x[1], -1.0, 0.5)),
        n=2,
        guards=("low 1", "high 1", "low 2", "high 2"),
        sliding="filippov",
    )
    sol = bd.solve(system, (0.0, 3.0), [0.0, 0.0], **TIGHT)
    high = 2.0 - math.sqrt(3.0)  # 2 t - t^2 / 2 = 1/2
    assert set(sol.events.name) == {"high 1", "high 2"}
    close(sol.t_events[3], [high, 2.0], 1e-8)
    assert sol.x[-1, 0] == 0.25
    close(sol.x[-1, 1], 0.0, 1e-9)  # 1/2 - (t - 2)^2 / 2
    assert list(sol.word(1.5)) == [1, 0, 1, 0]


def heated(low=18.0, high=22.0):
    return bd.System(
        lambda t, x, b, p: (10.0 + 20.0 * x[1] - x[0], 0.0),
        lambda t, x, p: thresholds(x[0], p[0], p[1]),
        states=("T", "heater"),
        guards=("cold", "warm"),
        params={"low": low, "high": high},
        compile=True,
        **relay("cold", "warm", state=1, low=1.0, high=0.0),
    )


def test_relay():
    """It heats towards 30 and cools towards 10."""
    sol = bd.solve(heated(), (0.0, 5.0), [15.0, 1.0], **TIGHT)
    heats, cools = math.log(12.0 / 8.0), math.log(12.0 / 8.0)
    first = math.log(15.0 / 8.0)
    times = first + np.cumsum([0.0, *[cools, heats] * 20])
    times = times[times < 5.0]
    close(sol.events.t, times, 1e-10)
    assert list(sol.events.name[:4]) == ["warm", "cold", "warm", "cold"]
    assert set(sol.x[:, 1]) == {0.0, 1.0}
    # the second event: first + ln((high - 10) / (low - 10))
    by = sol.bderivative(event=1, params=True).matrix(wrt="p")
    close(by, [[1.0, 0.0], [0.0, 0.0]], 1e-8)
    later = sol.bderivative(params=True).event_times(dp={"low": 0.0, "high": 1.0})
    close(later[:2], [1.0 / 8.0, 1.0 / 8.0 + 1.0 / 12.0], 1e-8)


def test_relays_together():
    system = bd.System(
        lambda t, x, b, p: (10.0 + 20.0 * x[1] - x[0], 0.0, 10.0 + 20.0 * x[3] - x[2], 0.0),
        lambda t, x, p: (*thresholds(x[0], 18.0, 22.0), *thresholds(x[2], 18.0, 22.0)),
        n=4,
        guards=("cold", "warm", "cold 2", "warm 2"),
        **together(relay("cold", "warm", 1, 1.0, 0.0), relay("cold 2", "warm 2", 3, 1.0, 0.0)),
    )
    sol = bd.solve(system, (0.0, 2.0), [15.0, 1.0, 15.0, 1.0], **TIGHT)
    one = bd.solve(heated(), (0.0, 2.0), [15.0, 1.0], **TIGHT)
    close(sol.x[-1], [*one.x[-1], *one.x[-1]], 1e-10)
    assert len(sol.events) == 2 * len(one.events)


def test_what_is_refused():
    with pytest.raises(ValueError, match="two of the relays have the same guard, 'warm'"):
        together(relay("cold", "warm", 1, 1.0, 0.0), relay("dry", "warm", 2, 1.0, 0.0))
    with pytest.raises(TypeError, match="above must be the name of a guard; got 3"):
        relay("cold", 3, 1, 1.0, 0.0)
    with pytest.raises(ValueError, match="below and above must be two guards; got 'cold' for both"):
        relay("cold", "cold", 1, 1.0, 0.0)
    with pytest.raises(ValueError, match="state must be a whole number, at least 0; got -1"):
        relay("cold", "warm", -1, 1.0, 0.0)


@pytest.mark.parametrize("value", [None, "a", 1j, [1.0], np.ones(2), np.ones(2, dtype=complex), 10**30, object(), []])
def test_what_is_no_number_is_refused_by_name(value):
    good = {"u": 0.5, "lo": -1.0, "hi": 1.0, "above_lo": 1.0, "above_hi": -1.0}
    for block, names in (
        (blocks.thresholds, ("u", "lo", "hi")),
        (blocks.saturation, tuple(good)),
        (blocks.dead_zone, tuple(good)),
    ):
        for name in names:
            arguments = {key: good[key] for key in names} | {name: value}
            with pytest.raises((TypeError, ValueError), match=rf"^{name} must be"):
                block(**arguments)
            with pytest.raises((TypeError, ValueError), match=rf"^{name} must be"):
                block(*arguments.values())
    with pytest.raises((TypeError, ValueError), match=r"^rate must be"):
        blocks.limited_integrator(value, 1.0, -1.0)


def test_thresholds_are_in_order():
    for lo, hi in ((1.0, 1.0), (1.0, -1.0), (math.nan, 1.0)):
        with pytest.raises(ValueError, match="lo must be"):
            blocks.thresholds(0.0, lo, hi)
        with pytest.raises(ValueError, match="lo must be"):
            blocks.saturation(0.0, lo, hi, 1.0, -1.0)
        with pytest.raises(ValueError, match="lo must be"):
            blocks.dead_zone(0.0, lo, hi, 1.0, -1.0)
    with pytest.raises(ValueError, match="scale must be positive"):
        blocks.limited_integrator(1.0, 1.0, -1.0, 0.0)


@pytest.mark.parametrize("compile", [True, False])
def test_thresholds_that_parameters_put_out_of_order_are_refused_inside_f_and_h(compile):
    system = bd.System(
        lambda t, x, b, p: (blocks.saturation(-4.0 * x[0], p[0], p[1], b[0], b[1]),),
        lambda t, x, p: blocks.thresholds(-4.0 * x[0], p[0], p[1]),
        n=1,
        guards=("slowest", "fastest"),
        params={"lo": -1.0, "hi": 1.0},
        compile=compile,
    )
    assert abs(bd.solve(system, (0.0, 2.0), [2.0]).events.t[0] - 1.75) < 1e-6
    with pytest.raises(ValueError, match="lo must be less than hi"):
        bd.solve(system, (0.0, 2.0), [2.0], {"lo": 1.0})


def test_relays_refuse_by_name():
    good: dict[str, Any] = {"below": "cold", "above": "warm", "state": 1, "low": 1.0, "high": 0.0}
    wrong: dict[str, list[Any]] = {
        "below": [None, "", 5, "warm"], "above": [None, "", "cold"], "state": [None, "", -1, 0.5, 10**9], "low": ["a", math.nan],
        "high": [None, math.inf],
    }  # fmt: skip
    for name, values in wrong.items():
        for value in values:
            with pytest.raises((TypeError, ValueError), match=name):
                blocks.relay(**(good | {name: value}))
    others: list[Any] = [None, {}, {"direction": {}, "jumps": None}, "relay"]
    for value in others:
        with pytest.raises(TypeError, match=r"relays must be what blocks\.relay returns"):
            blocks.together(blocks.relay(**good), value)
