"""Grazes: decided where f has no jump at h = hdot = 0, refused where it has one. Against closed forms and tight references."""

import math

import numpy as np
import pytest

import bouligand as bd

SPRING, PUSHED, PULLED = range(3)


def swing(law):
    """A mass that swings about x = 1 with amplitude 1: it just comes down to the floor, x = 0, where a law begins, at t = pi."""

    def f(t, x, b, p, dx):
        force = 0.0
        if b[0] < 0.0:
            force = -100.0 * x[0] - 5.0 * x[1] if law == SPRING else 3.0 if law == PUSHED else -3.0
        dx[0], dx[1] = x[1], 1.0 - x[0] + force

    return bd.System(f, lambda t, x, p: (x[0],), states=("x", "v"), guards=("floor",))


SWINGS = [swing(law) for law in (SPRING, PUSHED, PULLED)]
TOLERANCES = [1e-2, 1e-3, 1e-4, 1e-6, 1e-8]


def error(sol, exact, rtol):
    return (np.abs(sol.x[-1] - exact) / (rtol * (0.01 + np.abs(exact)))).max()


@pytest.mark.parametrize("rtol", TOLERANCES)
@pytest.mark.parametrize("off", [0.0, 1e-14, -1e-14, 0.3, -0.3, 2.0, -2.0])
def test_a_spring_and_a_damper_that_are_just_touched(rtol, off):
    """The force begins at zero: the outcome depends on the depth without a break, and every side is right to the tolerance."""
    off = off * rtol if abs(off) > 1e-3 else off
    system, x0 = SWINGS[SPRING], [2.0 + off, 0.0]
    sol = bd.solve(system, (0.0, 5.0), x0, rtol=rtol)
    if off <= 0.0:
        exact = np.array([1.0 + (1.0 + off) * math.cos(5.0), -(1.0 + off) * math.sin(5.0)])
    else:
        exact = bd.solve(system, (0.0, 5.0), x0, rtol=1e-12).x[-1]
    assert error(sol, exact, rtol) < 5.0
    decided = sol.margins[sol.margins["decided"]]
    assert (decided["effect"] == 0.0).all()
    assert decided["returns"].all()
    if abs(off) <= 1e-14 and not len(sol.events):
        assert len(decided) == 1


@pytest.mark.parametrize("rtol", TOLERANCES)
@pytest.mark.parametrize("off", [0.0, 1e-14, -1e-14, 0.1])
def test_a_finite_jump_that_pushes_back_is_refused_or_taken_as_computed(rtol, off):
    system, x0 = SWINGS[PUSHED], [2.0 + (off * rtol if off > 1e-3 else off), 0.0]
    with pytest.raises(bd.GrazingError, match="on_graze='go on'") as caught:
        bd.solve(system, (0.0, 5.0), x0, rtol=rtol)
    last = caught.value.solution.margins[-1]
    assert last["decided"]
    assert last["effect"] > 1.0
    sol = bd.solve(system, (0.0, 5.0), x0, rtol=rtol, on_graze="go on")
    assert sol.success
    [margin] = sol.margins
    assert margin["decided"]
    assert margin["returns"]
    assert margin["t"] == pytest.approx(math.pi, abs=3.0 * math.sqrt(rtol))
    assert margin["effect"] == pytest.approx(last["effect"])
    exact = bd.solve(system, (0.0, 5.0), x0, rtol=1e-12, on_graze="go on").x[-1]
    assert error(sol, exact, rtol) < max(10.0, margin["effect"])


@pytest.mark.parametrize("rtol", TOLERANCES)
@pytest.mark.parametrize("off", [0.0, 1e-14, -1e-14, 0.1, -0.05])
@pytest.mark.parametrize("on_graze", ["raise", "go on"])
def test_a_finite_jump_that_pulls_on_is_always_refused(rtol, off, on_graze):
    x0 = [2.0 + (off * rtol if abs(off) > 1e-3 else off), 0.0]
    with pytest.raises(bd.GrazingError, match="does not come back") as caught:
        bd.solve(SWINGS[PULLED], (0.0, 5.0), x0, rtol=rtol, on_graze=on_graze)
    assert caught.value.guard == "floor"
    assert not caught.value.solution.margins[-1]["returns"]


GROWTH = 0.02
RATE = math.sqrt(1.0 - GROWTH**2)
THIRD = 4.0 * math.pi / RATE  # time of the third peak of a growing oscillation
PEAK = math.exp(GROWTH * THIRD)


def growing():
    def f(t, x, b, p, dx):
        dx[0], dx[1] = x[1], 2.0 * GROWTH * x[1] - x[0] + (p[1] if b[0] > 0.0 else 0.0)

    params = {"level": 1.0, "force": 0.0}
    return bd.System(f, lambda t, x, p: (x[0] - p[0],), states=("x", "v"), guards=("level",), params=params)


@pytest.mark.parametrize("rtol", [1e-3, 1e-4, 1e-5, 1e-6, 1e-8])
@pytest.mark.parametrize("force", [-3.0, 3.0])
def test_a_growing_oscillation_whose_third_peak_grazes(rtol, force):
    """A level within a part of the tolerance of the peak is refused; beyond, the events are those of a tight reference."""
    system, span = growing(), (0.0, THIRD + 3.0)
    for part in (0.0, 1e-3, -1e-3, 0.1, -0.1):
        with pytest.raises(bd.GrazingError):
            bd.solve(system, span, [1.0, 0.0], {"level": PEAK * (1.0 + part * rtol), "force": force}, rtol=rtol)
    for part in (30.0, -30.0, 300.0, -300.0):
        if abs(part) * rtol > 0.05:
            continue
        p = {"level": PEAK * (1.0 + part * rtol), "force": force}
        sol = bd.solve(system, span, [1.0, 0.0], p, rtol=rtol)
        tight = bd.solve(system, span, [1.0, 0.0], p, rtol=1e-13)
        assert list(sol.events.direction) == list(tight.events.direction)
        if part > 0.0:
            assert len(sol.events) == 0


@pytest.mark.parametrize("value", ["stop", True, None, "goon"])
def test_a_wrong_on_graze_is_named(value):
    with pytest.raises(ValueError, match="on_graze must be 'raise' or 'go on'; got"):
        bd.solve(SWINGS[SPRING], (0.0, 1.0), [2.0, 0.0], on_graze=value)
    with pytest.raises(ValueError, match="on_graze"):
        bd.Stepper(SWINGS[SPRING], (0.0, 1.0), [2.0, 0.0], on_graze=value)


def test_steppers_and_shooting_take_it_too():
    with pytest.raises(bd.GrazingError):
        bd.Shooting(SWINGS[PUSHED], (0.0, 5.0), [2.0, 0.0], rtol=1e-4)([2.0, 0.0])
    end = bd.Shooting(SWINGS[PUSHED], (0.0, 5.0), [2.0, 0.0], rtol=1e-4, on_graze="go on")([2.0, 0.0])
    sol = bd.Stepper(SWINGS[PUSHED], (0.0, 5.0), [2.0, 0.0], rtol=1e-4, on_graze="go on").finish()
    assert np.array_equal(end, sol.x[-1])
    # the next integration of the system, in the same memory, has the default again
    with pytest.raises(bd.GrazingError):
        bd.solve(SWINGS[PUSHED], (0.0, 5.0), [2.0, 0.0], rtol=1e-4)


# ----------------------------------------------------------------------------------------------------------------- starts


def hopper(gravity, stiffness=1000.0, damping=10.0):
    def f(t, x, b, p, dx):
        dx[0], dx[1] = x[1], -gravity - (0.0 if b[0] > 0.0 else stiffness * x[0] + damping * x[1])

    return bd.System(f, lambda t, x, p: (x[0],), states=("z", "v"), guards=("floor",))


@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-9])
def test_a_start_at_rest_exactly_on_the_floor(rtol):
    """It sinks in, as a damped oscillator does: closed form."""
    sol = bd.solve(hopper(9.81), (0.0, 1.0), [0.0, 0.0], rtol=rtol)
    decay, rate, rest = 5.0, math.sqrt(1000.0 - 25.0), -9.81e-3
    z = rest - rest * math.exp(-decay) * (math.cos(rate) + decay / rate * math.sin(rate))
    assert sol.x[-1, 0] == pytest.approx(z, abs=20.0 * rtol)
    assert list(sol.b[-1]) == [-1]


def test_a_start_at_rest_on_a_guard_without_a_force_stays():
    sol = bd.solve(hopper(0.0), (0.0, 1.0), [0.0, 0.0])
    assert np.array_equal(sol.x[-1], [0.0, 0.0])
    assert bd.solve(hopper(0.0), (0.0, 1.0), [0.0, 1.0]).x[-1] == pytest.approx([1.0, 1.0])


def test_a_start_where_the_words_differ_is_still_ambiguous():
    def f(t, x, b, p):
        return (1.0 if b[0] > 0.0 else -1.0,)

    system = bd.System(f, lambda t, x, p: (x[0],), n=1, m=1)
    with pytest.raises(bd.StartError, match="ambiguous"):
        bd.solve(system, (0.0, 1.0), [0.0])


@pytest.mark.parametrize("rtol", [1e-4, 1e-6])
@pytest.mark.parametrize("gap", [1e-5, 1e-7, 1e-9])
def test_a_floor_that_is_just_missed_in_the_step_that_lands_on_a_wall(rtol, gap):
    """The step's own guard is crossed at its end, not the one that was looked at in between (which bounced the ball later)."""

    def f(t, x, b, p):
        return (1.0, x[2], 2.0)

    def h(t, x, p):
        return (x[0] - 1.0, x[1])

    def bounce(t, x, b, p):
        return (x[0], x[1], -0.5 * x[2])

    system = bd.System(f, h, states=("s", "y", "v"), guards=("wall", "floor"), jumps={"floor": bounce})
    for lowest in np.linspace(0.3, 0.95, 14):
        sol = bd.solve(system, (0.0, 1.05), [0.0, lowest**2 + gap, -2.0 * lowest], rtol=rtol)
        assert [system.guards[k] for k in sol.events.guard] == ["wall"]
        exact = [1.05, (1.05 - lowest) ** 2 + gap, 2.0 * (1.05 - lowest)]
        np.testing.assert_allclose(sol.x[-1], exact, rtol=10 * rtol, atol=10 * rtol)


@pytest.mark.parametrize("rtol", [1e-3, 1e-5])
def test_a_field_that_would_be_pushed_through_a_guard_just_missed_beside_a_landing(rtol):
    """The same with `on_graze`: the wall's flip of f is what happens."""

    def f(t, x, b, p):
        return (1.0, 2.0 * (x[0] - p[0]), b[0] + 0.5 * b[1])

    def h(t, x, p):
        return (x[0] - 1.0, x[1] + p[1])

    system = bd.System(f, h, states=("s", "y", "z"), guards=("wall", "near"), params={"mid": 0.5, "gap": 0.0})
    for mid in np.linspace(0.3, 0.95, 14):
        for gap in (1e-5, 1e-7, 1e-9):
            p = {"mid": mid, "gap": gap}
            sol = bd.solve(system, (0.0, 1.5), [0.0, mid * mid, 0.0], p=p, rtol=rtol, on_graze="go on")
            assert [system.guards[k] for k in sol.events.guard] == ["wall"]
            assert sol.x[-1, 2] == pytest.approx(0.25, abs=1e-3)
