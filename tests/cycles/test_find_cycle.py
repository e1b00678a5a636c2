"""Cycles against closed forms and the literature: periods, states, multipliers, symmetries, pieces at corners."""

import math
import pickle

import numpy as np
import pytest
from scipy.optimize import brentq

import bouligand as bd
from bouligand.models import (
    bipedal_slip,
    buck_converter,
    hexapod,
    hopper,
    relay_feedback,
    rimless_wheel,
    simplest_walker,
    slip,
    stick_slip,
)
from bouligand.models.bipedal_slip import START as WALKER
from bouligand.models.bipedal_slip import energy as walking_energy

GOLDEN = 0.5 * (1.0 + math.sqrt(5.0))
RING = bd.System(
    lambda t, x, b, p: (-x[0] - b[2], -x[1] - b[0], -x[2] - b[1]), lambda t, x, p: (x[0], x[1], x[2]), n=3, m=3
)
TURNED = {"x0": "-x1", "x1": "-x2", "x2": "-x0"}


def test_the_hopper_keeps_its_height():
    """Energy is kept: every height is a cycle, the nearest one is the guess itself; both multipliers are 1."""
    z0 = 1.7
    found = bd.find_cycle(hopper(), [z0, 0.0], section="foot")
    fall, w, g, k = math.sqrt(2 * (z0 - 1.0) / 9.81), math.sqrt(1000.0), 9.81, 1000.0
    stance = 2.0 / w * (math.pi - math.atan2(g * fall / w, g / k))
    assert found.period == pytest.approx(2 * fall + stance, abs=1e-8)
    assert found.multipliers == pytest.approx([1.0], abs=1e-7)
    assert found.stable is None
    assert found.trivial_error < 1e-8
    assert found.signature == (("foot", -1), ("foot", 1))


def test_the_rimless_wheel():
    found = bd.find_cycle(rimless_wheel(), [-0.3, 1.6], section="forward")
    assert found.at_section[1] == pytest.approx(1.09546283964765683, abs=1e-9)
    assert found.period == pytest.approx(1.03454981142327933, abs=2e-9)
    assert found.multipliers == pytest.approx([0.5], abs=1e-7)
    assert found.stable is True


def test_the_simplest_walker_has_the_gaits_of_the_literature():
    """States to the published 15 digits (within the tolerance), multipliers to their three; and the short gait, unstable."""
    found = bd.find_cycle(simplest_walker(), [0.2, -0.2, 0.4, -0.016], section="heel strike")
    assert found.at_section[:2] == pytest.approx([0.200310900544287, -0.199832473004977], abs=1e-9)
    assert found.multipliers[:2] == pytest.approx([-0.190 + 0.558j, -0.190 - 0.558j], abs=1e-3)
    assert found.multipliers[2] == pytest.approx(0.0, abs=1e-7)
    short = [0.193937369810184, -0.203866927442010]
    guess = [0.1938, -0.2037, 0.3876, -0.0151]
    several = bd.find_cycle(simplest_walker(), guess, section="heel strike", segments=3)
    assert several.at_section[:2] == pytest.approx(short, abs=1e-9)
    assert several.multipliers[:2] == pytest.approx([4.0, 0.459], abs=5e-3)
    assert several.stable is False
    assert several.states.shape == (3, 4)


def test_the_buck_converter_against_matrix_exponentials():
    found = bd.find_cycle(buck_converter(), buck_converter_start(), section="clock", settle=0.02)
    _, restart, multipliers = pulse()
    assert found.period == pytest.approx(400e-6, rel=1e-10)
    assert found.at_section[:2] == pytest.approx(restart, abs=1e-8)
    assert sorted(found.multipliers, key=lambda v: v.imag) == pytest.approx(
        sorted(multipliers, key=lambda v: v.imag), abs=1e-7
    )


def test_a_cycle_of_twice_the_period():
    """Beyond the period doubling the stable motion has two pulses; the one of a single period is there, unstable."""
    system = buck_converter(Vin=26.0)
    twice = bd.find_cycle(system, buck_converter_start(), section="clock", settle=0.1, crossings=2)
    once = bd.find_cycle(system, [12.05, 0.6, 0.0], section="clock", on_failure="return")
    assert twice.period == pytest.approx(800e-6, rel=1e-9)
    assert twice.stable is True
    v = twice.events.x[twice.events.name == "clock"][:, 0]
    assert abs(v[0] - v[1]) > 1e-3
    assert once.period == pytest.approx(400e-6, rel=1e-9)
    assert once.stable is False
    assert once.at_section[:2] == pytest.approx(pulse(26.0)[1], abs=1e-7)


def test_the_ring_of_glass_by_sixths():
    whole = bd.find_cycle(RING, [0.6, -0.4, 0.1], section=0, settle=10.0)
    sixth = bd.find_cycle(RING, [0.6, -0.4, 0.1], section=0, settle=10.0, symmetry=TURNED)
    for found in (whole, sixth):
        assert found.period == pytest.approx(6 * math.log(GOLDEN), abs=1e-9)
        assert np.sort(np.abs(found.at_section)) == pytest.approx([0.0, 2.0 - GOLDEN, GOLDEN - 1.0], abs=1e-9)
    assert sixth.multipliers == pytest.approx(whole.multipliers, abs=1e-9)
    assert sixth._problem.parts == 6


def test_a_runner_against_another_integrator():
    """The slope of the height from apex to apex, by SciPy and differences; and the energy of a family of gaits."""
    system = slip()
    found = bd.find_cycle(system, [0.0, 1.0, 5.0, 0.0, 0.0], section="apex")
    p, apex = found.p, found.at_section
    energy = 9.81 * apex[1] + 0.5 * apex[2] ** 2
    steps = [apex_map(apex[1] + d, energy, p) for d in (-1e-4, 0.0, 1e-4)]
    assert steps[1] == pytest.approx(apex[1], abs=1e-7)
    slope = (steps[2] - steps[0]) / 2e-4
    multipliers = sorted(found.multipliers.real, key=lambda v: -abs(v))
    assert multipliers[:2] == pytest.approx([1.0, slope], abs=1e-4)
    assert abs(slope) < 1.0


def test_a_walker_against_another_integrator():
    """The stable gait of Geyer, Seyfarth and Blickhan (2006), at 816 J; the derivative of a step by SciPy and differences."""
    found = bd.find_cycle(bipedal_slip(), WALKER, section="mid-stance", rtol=1e-10)
    _, y, _, vy, _, _ = found.at_section
    energy = walking_energy(found.at_section, found.p)
    assert 80.0 * energy == pytest.approx(816.0, abs=1.0)
    assert vy == pytest.approx(0.0, abs=1e-8)  # a step is symmetric in time
    here, duration = one_step(y, vy, energy, found.p)
    assert here == pytest.approx([y, vy], abs=1e-8)
    assert duration == pytest.approx(found.period, abs=1e-9)
    d = 1e-5
    columns = [
        (one_step(y + a, vy + b, energy, found.p)[0] - one_step(y - a, vy - b, energy, found.p)[0]) / (2.0 * d)
        for a, b in ((d, 0.0), (0.0, d))
    ]
    right = np.linalg.eigvals(np.transpose(columns))
    mine = [value for value in found.multipliers if abs(value) > 1e-6 and abs(value - 1.0) > 1e-6]
    assert sorted(mine, key=np.imag) == pytest.approx(sorted(right, key=np.imag), abs=1e-6)
    assert np.abs(right).max() < 1.0


def test_two_oscillators_that_fire_in_turn():
    """Mirollo and Strogatz (1990): two oscillators whose pulses advance one another fire in turn in a cycle that repels. Half of
    it has the multiplier -e^(b w), all of it e^(2 b w): they fall in step. Behind a spike the other's phase is 0.58224..."""
    b, w = 3.0, 0.1

    def f(t, x, word, p):
        top = math.exp(p[0]) - 1.0
        return top / (p[0] * math.exp(p[0] * x[0])), top / (p[0] * math.exp(p[0] * x[1]))

    pair = bd.System(
        f,
        lambda t, x, p: (x[0] - 1.0, x[1] - 1.0),
        states=("one", "two"),
        guards=("spike one", "spike two"),
        params={"b": b, "w": w},
        direction=1,
        jumps={
            "spike one": lambda t, x, word, p: (0.0, x[1] + p[1]),
            "spike two": lambda t, x, word, p: (x[0] + p[1], 0.0),
        },
    )
    whole = bd.find_cycle(pair, [0.01, 0.8], section="spike one")
    half = bd.find_cycle(pair, [0.01, 0.8], section="spike one", symmetry={"one": "two", "two": "one"})
    for found in (whole, half):
        assert found.multipliers == pytest.approx([math.exp(2 * b * w)], abs=1e-6)
        phase = (math.exp(b * found.at_section[1]) - 1.0) / (math.exp(b) - 1.0)
        assert phase == pytest.approx(0.58224345184548, abs=1e-8)
        assert found.stable is False
    assert half.part_multipliers == pytest.approx([-math.exp(b * w)], abs=1e-6)


def test_free_parameters_and_conditions():
    """At which angle does the runner reach an apex of 1 m at 5 m/s; which slope gives the wheel a period of one second?"""
    runner = bd.find_cycle(slip(), [0.0, 1.0, 5.0, 0.0, 0.0], section="apex", free="angle", fixed={"y": 1.0, "vx": 5.0})
    assert runner.at_section[1:3] == pytest.approx([1.0, 5.0], abs=1e-7)
    assert apex_map(1.0, 9.81 + 12.5, runner.p) == pytest.approx(1.0, abs=1e-6)
    wheel = bd.find_cycle(rimless_wheel(), [-0.3, 1.6], section="forward", free="gamma", fixed={"period": 1.0})
    assert wheel.period == pytest.approx(1.0, abs=1e-8)
    again = bd.find_cycle(rimless_wheel(), [-0.3, 1.6], {"gamma": wheel.parameters["gamma"]}, section="forward")
    assert again.period == pytest.approx(1.0, abs=1e-7)


def test_a_forced_oscillator_with_a_hard_stop():
    """x'' + x = cos(w t), v -> -e v at x = 0: its motion with one impact in each period is known, and the product of
    its multipliers
    is e^2 (the flow keeps areas; an impact that maps v to -e v scales dx and dv by e each)."""
    w, e = 2.8, 0.8
    T = 2 * math.pi / w
    system = stopped()
    found = bd.find_cycle(system, [-0.3, 0.0], period=T, settle=20 * T)
    assert found.period == T
    assert np.prod(found.multipliers).real == pytest.approx(e**2, abs=1e-9)
    phase, speed = one_impact(w, e)
    events = found.events
    assert len(events) == 1
    assert np.mod(events.t[0] * w, 2 * math.pi) == pytest.approx(np.mod(phase, 2 * math.pi), abs=1e-7)
    assert events.x[0, 1] == pytest.approx(speed, abs=1e-7)
    assert found.trivial_error == 0.0


def test_the_hexapod_by_half_cycles():
    """Alternating tripods: half a cycle and its mirror image are the whole one."""
    from bouligand.models.hexapod import START

    mirror = {"y": "-y", "roll": "-roll", "yaw": "-yaw", "vy": "-vy", "wx": "-wx", "wz": "-wz"}
    options = {"period": 0.5, "drift": "x", "settle": 2.5, "rtol": 1e-7}
    whole = bd.find_cycle(hexapod(), START, **options)
    half = bd.find_cycle(hexapod(), START, symmetry=mirror, **options)
    assert half.drift[0] == pytest.approx(whole.drift[0], abs=1e-5)
    assert half.drift[0] > 0.4
    assert np.abs(half.multipliers[:4]) == pytest.approx(np.abs(whole.multipliers[:4]), abs=1e-4)
    # nothing depends on the place across and the heading: two multipliers of 1; all others decay
    assert np.abs(half.multipliers) == pytest.approx([1.0, 1.0] + [0.0] * 9, abs=0.01)
    later = bd.solve(hexapod(), (half.t0, half.t0 + 2.0), half.x0, rtol=1e-8)
    assert later.x[-1][2:] == pytest.approx(half.x0[2:], abs=1e-5)


def test_cycles_with_sliding_modes():
    from bouligand.models.relay_feedback import START
    from bouligand.models.stick_slip import START as STICKS
    from bouligand.models.stick_slip import cycle

    belt = bd.find_cycle(stick_slip(), STICKS, section="belt", settle=30.0)
    assert belt.period == pytest.approx(sum(cycle()[:2]), abs=1e-8)
    assert belt.multipliers == pytest.approx([0.0], abs=1e-8)  # (sticking forgets everything)
    half = bd.find_cycle(relay_feedback(), START, section="phase", period=5.96, settle=40.1, symmetry=[-1, -1, -1])
    whole = bd.find_cycle(relay_feedback(), START, section="phase", period=5.96, settle=40.1)
    assert half.period == pytest.approx(whole.period, abs=1e-8)
    assert half.multipliers[0] == pytest.approx(whole.multipliers[0], abs=1e-8)
    assert 0.0 < abs(whole.multipliers[0]) < 0.01


def test_pieces_at_a_corner():
    """Two guards are crossed together, then a clock brings the state back, half as far from where it was: each linear
    piece of the
    corner has its own multipliers. Two pieces of which each contracts need not make a stable cycle; these do."""
    table = {(-1, -1): (1, 1), (-1, 1): (1, 0.75), (1, -1): (0.5, 1), (1, 1): (1, 0.5)}
    c = 0.5

    def f(t, x, b, p):
        one, two = b[0] > 0, b[1] > 0
        return np.array([0.5 if one and not two else 1.0, (0.5 if one else 0.75) if two else 1.0, 1.0])

    system = bd.System(
        f,
        lambda t, x, p: (x[0], x[1], x[2] - 2.0),
        states=("x", "y", "tau"),
        guards=("left", "right", "clock"),
        direction={"clock": 1},
        jumps={"clock": lambda t, x, b, p: (-1.0 + p[0] * (x[0] - 1.0), -1.0 + p[0] * (x[1] - 0.5), 0.0)},
        params={"c": c},
    )
    found = bd.find_cycle(system, [-0.5, -0.5, 0.5], section="clock")
    pieces = bd.Corner(table, [[1, 0], [0, 1]]).pieces()
    wanted = sorted(tuple(np.sort(np.abs(c * np.linalg.eigvals(piece.matrix))).round(7)) for piece in pieces)
    assert sorted(tuple(np.sort(np.abs(values)).round(7)) for values in found.pieces) == wanted
    assert len(wanted) == 2
    assert found.stable is True
    assert "pieces" in repr(found)


def test_cycles_travel():
    found = bd.find_cycle(rimless_wheel(), [-0.3, 1.6], section="forward")
    again = pickle.loads(pickle.dumps(found))
    assert again.period == found.period
    assert again.signature == found.signature


# ---------------------------------------------------------------------------------------------------- bad input


def test_no_cycle_is_an_error_with_the_best_result():
    damped = bd.System(
        lambda t, x, b, p: (x[1], -x[0] - p[0] * x[1]), lambda t, x, p: (x[0],), states=("x", "v"), guards=("middle",),
        params={"c": 0.1}
    )  # fmt: skip
    with pytest.raises(bd.CycleError, match="no cycle was found") as caught:
        bd.find_cycle(damped, [1.0, 0.0], section="middle")
    assert caught.value.cycle.converged is False
    assert caught.value.cycle.gap < 0.5
    assert bd.find_cycle(damped, [1.0, 0.0], section="middle", on_failure="return").converged is False
    with pytest.raises(bd.CycleError, match="at rest"):
        bd.find_cycle(damped, [0.0, 0.0], section="phase", period=1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give section"),
        ({"section": "knee"}, "knee"),
        ({"section": ("foot", 2)}, "direction"),
        ({"section": "foot", "period": -1.0}, "period"),
        ({"section": "foot", "free": "mass"}, "mass"),
        ({"section": "foot", "drift": "x"}, "drift"),
        ({"section": "foot", "fixed": {"y": 1.0}}, "fixed"),
        ({"section": "foot", "symmetry": [1.0, 2.0, 3.0]}, "symmetry"),
        ({"section": "foot", "symmetry": [2.0, 1.0]}, "identity"),
        ({"section": "foot", "symmetry": {"z": "-y"}}, "'y'"),
        ({"section": "foot", "segments": 0}, "segments"),
        ({"period": 1.0, "fixed": {"period": 1.0}}, "fixed already"),
    ],
)
def test_wrong_arguments_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        bd.find_cycle(hopper(), [2.0, 0.0], **options)


def test_guesses_have_the_shape_of_states():
    with pytest.raises(ValueError, match="guess must have 2 values"):
        bd.find_cycle(hopper(), [2.0], section="foot")
    with pytest.raises(ValueError, match="need a period"):
        bd.find_cycle(hopper(), [[2.0, 0.0]], section="phase")
    nodes = bd.find_cycle(rimless_wheel(), [-0.3, 1.6], section="forward", segments=3)
    again = bd.find_cycle(rimless_wheel(), nodes.states, section="phase", period=1.03)
    assert again.period == pytest.approx(nodes.period, abs=1e-8)


def test_a_symmetry_that_is_none_is_refused():
    with pytest.raises((ValueError, bd.CycleError)):
        bd.find_cycle(rimless_wheel(), [-0.3, 1.6], section="forward", symmetry=[1.0, -1.0])


def test_a_section_that_is_not_crossed():
    straight = bd.System(lambda t, x, b, p: (1.0,), lambda t, x, p: (x[0],), states=("x",), guards=("wall",))
    with pytest.raises(bd.CycleError, match="only 1 time"):
        bd.find_cycle(straight, [-1.0], section="wall")


# ------------------------------------------------------------------------------------------------ known answers


def pulse(Vin=20.0):
    from bouligand.models.buck_converter import pulse

    return pulse(Vin)


def buck_converter_start():
    from bouligand.models.buck_converter import START

    return START


def apex_map(y, energy, p):
    """Height of the next apex of the runner, by SciPy."""
    from scipy.integrate import solve_ivp

    g, k, m, rest, angle = p
    vx = math.sqrt(2.0 * (energy - g * y))
    fall = math.sqrt(2.0 * (y - rest * math.sin(angle)) / g)

    def stance(t, s):
        push = k / m * (rest / math.hypot(s[0], s[1]) - 1.0)
        return [s[2], s[3], push * s[0], push * s[1] - g]

    def leaves(t, s):
        return math.hypot(s[0], s[1]) - rest

    leaves.terminal, leaves.direction = True, 1.0  # type: ignore[attr-defined]
    start = [-rest * math.cos(angle), rest * math.sin(angle), vx, -g * fall]
    s = solve_ivp(stance, (0.0, 2.0), start, events=leaves, rtol=1e-11, atol=1e-12).y[:, -1]
    return s[1] + 0.5 * s[3] ** 2 / g


def one_step(y, vy, energy, p):
    """Height and vertical speed of the walker at the next mid-stance, and the time until then, by SciPy."""
    from scipy.integrate import solve_ivp

    g, k, m, rest, angle = p

    def go(s, other, until, direction):
        def push(x, y):
            return k / m * (rest / math.hypot(x, y) - 1.0) * np.array([x, y])

        def f(t, s):
            force = push(s[0], s[1]) + (0.0 if other is None else push(s[0] - other, s[1]))
            return [s[2], s[3], force[0], force[1] - g]

        def event(t, s):
            return until(s)

        event.terminal, event.direction = True, direction  # type: ignore[attr-defined]
        done = solve_ivp(f, (0.0, 2.0), s, "DOP853", events=event, rtol=1e-12, atol=1e-13)
        return done.y[:, -1], done.t[-1]

    vx = math.sqrt(2.0 * (energy - g * y) - k / m * (rest - y) ** 2 - vy**2)
    s, first = go([0.0, y, vx, vy], None, lambda s: s[1] - rest * math.sin(angle), -1.0)
    foot = s[0] + rest * math.cos(angle)
    s, second = go(s, foot, lambda s: math.hypot(s[0], s[1]) - rest, 1.0)
    s, third = go(s - [foot, 0.0, 0.0, 0.0], None, lambda s: s[0], 1.0)
    return s[[1, 3]], first + second + third


def stopped():
    """An oscillator with a hard stop at x = 0, driven by cos(w t)."""
    return bd.System(
        lambda t, x, b, p: (x[1], -x[0] + math.cos(p[0] * t)),
        lambda t, x, p: (x[0] - p[1],),
        states=("x", "v"),
        guards=("stop",),
        params={"w": 2.8, "gap": 0.0, "e": 0.8},
        jumps={"stop": lambda t, x, b, p: (x[0], -p[2] * x[1])},
        direction=1,
    )


def one_impact(w, e):
    """Phase w t and speed of the impact of the motion with one impact in each period (x = 0 there), in closed form."""
    T, c = 2 * math.pi / w, 1.0 / (1.0 - w * w)

    def after(phase, v):  # x and v one period after an impact at which the speed becomes -e v
        A = -c * math.cos(phase)
        B = -e * v + c * w * math.sin(phase)
        x = A * math.cos(T) + B * math.sin(T) + c * math.cos(phase)
        return x, -A * math.sin(T) + B * math.cos(T) - c * w * math.sin(phase)

    def speed(phase):  # from x = 0 at the next impact, which is linear in v
        x0, x1 = after(phase, 0.0)[0], after(phase, 1.0)[0]
        return -x0 / (x1 - x0)

    def gap(phase):
        v = speed(phase)
        return after(phase, v)[1] - v

    grid = np.linspace(0.0, 2 * math.pi, 401)
    values = [gap(s) for s in grid]
    roots = [
        brentq(gap, a, b, xtol=1e-14)
        for a, b, u, v in zip(grid, grid[1:], values, values[1:], strict=False)
        if u * v < 0
    ]
    phase = next(s for s in roots if speed(s) > 0.0)
    return phase, speed(phase)
