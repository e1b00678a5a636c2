"""Sliding modes (Filippov): entries, exits and trajectories against closed forms; derivatives; what is refused."""

import math
import pickle

import numpy as np
import pytest
from scipy.optimize import brentq

import bouligand as bd


def oscillator(**arguments):
    """A mass on a spring with dry friction: x'' = -x - mu sign(v)."""
    return bd.System(
        lambda t, x, b, p: (x[1], -x[0] - p[0] * b[0]),
        lambda t, x, p: (x[1],),
        states=("x", "v"),
        guards=("reversal",),
        params={"mu": 0.4},
        **{"sliding": "filippov", **arguments},
    )


def slope():
    """A block on a slope of 10 degrees; mu = 0.3."""
    return bd.System(
        lambda t, x, b, p: (x[1], 9.81 * (np.sin(p[0]) - p[1] * np.cos(p[0]) * b[0])),
        lambda t, x, p: (x[1],),
        states=("x", "v"),
        guards=("slip",),
        params={"angle": math.radians(10.0), "mu": 0.3},
        sliding="filippov",
    )


def coupled():
    """x' = (a t, 0) - G sign(x): sliding of codimension two."""
    return bd.System(
        lambda t, x, b, p: (p[0] * t - 2.0 * b[0] - b[1], -0.5 * b[0] - 1.5 * b[1]),
        lambda t, x, p: (x[0], x[1]),
        n=2,
        m=2,
        params={"a": 1.0},
        sliding="filippov",
    )


def test_an_oscillator_with_dry_friction_comes_to_rest():
    sol = bd.solve(oscillator(), (0.0, 20.0), [3.0, 0.0], b0=[-1], rtol=1e-9)
    assert np.allclose(sol.events.t, np.pi * np.arange(1, 5), atol=1e-7)
    assert np.allclose(sol.x[-1], [-0.2, 0.0], atol=1e-8)
    assert sol.x[-1, 1] == 0.0
    assert sol.b[-1] == 0
    assert np.allclose(sol.bderivative().matrix(), [[1.0, 0.0], [0.0, 0.0]], atol=1e-8)
    assert np.allclose(sol(15.0), [-0.2, 0.0], atol=1e-8)
    assert np.allclose(sol.rate(15.0), 0.0, atol=1e-12)


def test_sliding_is_refused_unless_it_is_asked_for():
    with pytest.raises(bd.SlidingError, match="sliding='filippov'"):
        bd.solve(oscillator(sliding=None), (0.0, 20.0), [3.0, 0.0], b0=[-1])
    with pytest.raises(ValueError, match="sliding must be"):
        oscillator(sliding="yes")


def test_a_block_that_sticks_does_not_creep():
    stuck = bd.solve(slope(), (0.0, 1000.0), [0.0, 0.0])
    assert np.array_equal(stuck.x[-1], [0.0, 0.0])
    assert stuck.b[0] == 0
    assert len(stuck.events) == 0
    slides = bd.solve(slope(), (0.0, 1000.0), [0.0, 1.0], rtol=1e-9)
    slows = 9.81 * (0.3 * math.cos(math.radians(10.0)) - math.sin(math.radians(10.0)))
    assert slides.x[-1] == pytest.approx([0.5 / slows, 0.0], abs=1e-8)
    assert slides.x[-1, 1] == 0.0
    B = slides.bderivative()
    assert np.allclose(B.matrix(), [[1.0, 1.0 / slows], [0.0, 0.0]], atol=1e-6)
    assert np.allclose(stuck.bderivative().matrix(), [[1.0, 0.0], [0.0, 0.0]], atol=1e-9), "what is off is projected"
    assert np.allclose(stuck.bderivative().vjp([1.0, 2.0]), [1.0, 0.0], atol=1e-9)


def test_codimension_two():
    sol = bd.solve(coupled(), (0.0, 3.0), [1.0, 1.0], rtol=1e-10)
    expected = [3.0 - math.sqrt(7.0), 0.567764362830022, 5.0 / 3.0]
    assert np.allclose(sol.events.t, expected, atol=1e-8)
    assert np.allclose(sol.x[-1], [8.0 / 9.0, 0.0], atol=1e-8)
    assert list(sol.word(1.0)) == [0, 0]
    B = sol.bderivative(params=True)
    assert np.allclose(B.matrix(), 0.0, atol=1e-8)
    assert np.allclose(B.matrix(wrt="p"), [[28.0 / 9.0], [0.0]], atol=1e-6)
    assert np.allclose(B.vjp([1.0, 0.0])[1], 28.0 / 9.0, atol=1e-6)
    assert np.allclose(sol.bderivative([1.0, 3.0], params=True).vjp([[0.0, 0.0], [1.0, 0.0]])[1], 28.0 / 9.0, atol=1e-6)


def test_guards_that_are_reached_together():
    """Both components reach zero at the same instant, and slide."""
    system = bd.System(
        lambda t, x, b, p: (-b[0] + 0.2 * b[1], -b[1] + 0.2 * b[0]),
        lambda t, x, p: (x[0], x[1]),
        n=2,
        m=2,
        sliding="filippov",
    )
    sol = bd.solve(system, (0.0, 5.0), [1.0, 1.0])
    assert np.allclose(sol.events.t, 1.25, atol=1e-6)
    assert np.array_equal(sol.x[-1], [0.0, 0.0])


def test_a_belt_that_pulls_until_the_spring_is_stronger():
    """A mass on a belt (speed 1): sticks while |x| < mu, then slips."""
    system = bd.System(
        lambda t, x, b, p: (x[1], -x[0] - 1.0 * b[0]),
        lambda t, x, p: (x[1] - 1.0,),
        states=("x", "v"),
        guards=("belt",),
        sliding="filippov",
    )
    sol = bd.solve(system, (0.0, 2.0), [0.0, 1.0], rtol=1e-9)
    assert sol.b[0] == 0
    assert sol.events.t == pytest.approx([1.0], abs=1e-7), "x = t reaches mu at t = 1"
    assert sol(1.0) == pytest.approx([1.0, 1.0], abs=1e-8)
    # behind it x'' = -x + 1, with x - 1 = 0 and v = 1
    assert sol.x[-1] == pytest.approx([1.0 + math.sin(1.0), math.cos(1.0)], abs=1e-6)
    B = sol.bderivative()
    moved = bd.solve(system, (0.0, 2.0), [1e-6, 1.0], rtol=1e-11).x[-1]
    base = bd.solve(system, (0.0, 2.0), [0.0, 1.0], rtol=1e-11).x[-1]
    assert np.allclose(B([1.0, 0.0]), (moved - base) / 1e-6, atol=1e-4)


def test_sliding_goes_on_in_a_stepper_in_copies_and_in_ensembles():
    system = coupled()
    whole = bd.solve(system, (0.0, 3.0), [1.0, 1.0])
    stepper = bd.Stepper(system, (0.0, 3.0), [1.0, 1.0])
    while stepper.t < 1.0:
        stepper.step()
    stepper = pickle.loads(pickle.dumps(stepper))
    assert np.array_equal(stepper.finish().x, whole.x)
    many = bd.solve_many(slope(), (0.0, 10.0), [[0.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    for i, x0 in enumerate(([0.0, 0.0], [0.0, 1.0], [0.0, -1.0])):
        assert np.array_equal(many.x[i], bd.solve(slope(), (0.0, 10.0), x0).x[-1])


def test_plain_python_slides_too():
    system = bd.System(
        lambda t, x, b, p: (-b[0] + 0.5 * math.sin(t),),
        lambda t, x, p: (x[0],),
        n=1,
        m=1,
        sliding="filippov",
        compile=False,
    )
    sol = bd.solve(system, (0.0, 4.0), [1.0])
    assert sol.x[-1, 0] == pytest.approx(0.0, abs=1e-12)
    assert sol.events.t == pytest.approx([1.42967165], abs=1e-5)


def test_what_is_not_unique_is_refused():
    """Sliding on two guards, and f has a product of their signs."""
    system = bd.System(
        lambda t, x, b, p: (-b[0] + 0.3 * b[0] * b[1], -b[1]),
        lambda t, x, p: (x[0], x[1]),
        n=2,
        m=2,
        sliding="filippov",
    )
    with pytest.raises(bd.SlidingError, match="not affine") as caught:
        bd.solve(system, (0.0, 5.0), [1.0, 2.0])
    assert caught.value.t == pytest.approx(2.0, abs=1e-6)


def test_the_check_of_a_system_with_sliding_modes():
    """It is not asked to be event-selected: guards that are slid on are named, and what would be refused is noted."""
    report = oscillator().check([0.1, 0.0])
    assert report.ok
    assert "towards 'reversal' on both sides" in str(report)
    assert oscillator(sliding=None).check([0.1, 0.0]).problems
    assert coupled().check([0.0, 0.0]).ok
    products = bd.System(
        lambda t, x, b, p: (-b[0] + 0.3 * b[0] * b[1], -b[1]),
        lambda t, x, p: (x[0], x[1]),
        n=2,
        m=2,
        sliding="filippov",
    )
    assert any("not affine" in note for note in products.check([0.0, 0.0]).notes)


def test_a_limit_of_friction_that_depends_on_the_state():
    """A mass on a belt, pressed on more or less along its way: it sticks until the spring is as strong as friction there."""
    system = bd.System(
        lambda t, x, b, p: (x[1], -x[0] - p[0] * (1.0 + 0.5 * np.sin(x[0])) * b[0]),
        lambda t, x, p: (x[1] - p[1],),
        n=2,
        guards=("belt",),
        params={"mu": 0.7, "c": 0.2},
        sliding="filippov",
    )
    sol = bd.solve(system, (0.0, 6.0), [0.0, 0.2], rtol=1e-10)
    limit = brentq(lambda x: x - 0.7 * (1.0 + 0.5 * np.sin(x)), 0.0, 3.0)
    assert sol.events.t[0] == pytest.approx(limit / 0.2, abs=1e-8)
    by_mu = sol.bderivative(params=True).event_times([0.0, 0.0], {"mu": 1.0})[0]
    assert by_mu == pytest.approx((1.0 + 0.5 * np.sin(limit)) / (1.0 - 0.35 * np.cos(limit)) / 0.2, rel=1e-6)


def test_no_absolute_tolerance_on_a_corner_at_zero():
    """Both states are zero on the guards that are slid on: without atol nothing is within the tolerance."""
    with pytest.raises(bd.StepSizeError, match="atol"):
        bd.solve(coupled(), (0.0, 3.0), [1.0, 1.0], rtol=1e-9, atol=0.0)


def test_what_does_not_go_together():
    with pytest.raises(ValueError, match="bands"):
        bd.solve(oscillator(), (0.0, 1.0), [1.0, 1.0], eps=0.1)


def belt():
    """A mass on a belt, held by a spring; friction becomes weaker with the speed of sliding."""
    return bd.System(
        lambda t, x, b, p: (x[1], -p[1] * x[0] - p[2] * b[0] * (0.6 + 0.4 / (1.0 + 3.0 * (x[1] - p[0]) ** 2))),
        lambda t, x, p: (x[1] - p[0],),
        states=("x", "v"),
        guards=("slip",),
        params={"belt": 0.3, "k": 1.1, "mu": 0.7},
        sliding="filippov",
    )


@pytest.mark.parametrize("which", ["x", "belt", "k", "mu"])
def test_the_time_and_state_at_the_end_of_sliding(which):
    """It is carried along from x, and tears off where k x = mu; later tears and catches against differences of tight solves."""
    system, p, x0 = belt(), np.array([0.3, 1.1, 0.7]), np.array([-0.2, 0.3])
    dx = np.array([float(which == "x"), float(which == "belt")])  # (the start moves with the belt)
    dp = np.array([float(which == name) for name in ("belt", "k", "mu")])

    def run(s):
        return bd.solve(system, (0.0, 12.0), x0 + s * dx, p + s * dp, rtol=1e-11, atol=1e-13)

    sol, high, low = run(0.0), run(1e-4), run(-1e-4)
    later = sol.bderivative(params=True).event_times(dx, dp)
    position = p[2] / p[1]
    known = {
        "x": -1.0 / p[0],
        "belt": -(position - x0[0]) / p[0] ** 2,
        "k": -position / p[1] / p[0],
        "mu": 1.0 / p[1] / p[0],
    }
    assert later[0] == pytest.approx(known[which], rel=1e-8)
    np.testing.assert_allclose(later, (high.events.t - low.events.t) / 2e-4, rtol=1e-6, atol=1e-6)
    for k in (0, 2):
        B = sol.bderivative(event=k, params=True)
        moved = (high.events.x[k] - low.events.x[k]) / 2e-4
        np.testing.assert_allclose(B(dx, dp), moved, rtol=1e-6, atol=1e-6)
        by_x, by_p = B.vjp([1.0, 2.0])
        assert by_x @ dx + by_p @ dp == pytest.approx(moved @ [1.0, 2.0], rel=1e-6, abs=1e-6)


def test_when_one_of_two_guards_is_left():
    """In codimension two: the multiplier of the first is at its limit where a t = 5/3."""
    sol = bd.solve(coupled(), (0.0, 3.0), [1.0, 1.0], rtol=1e-10, atol=1e-12)
    high, low = (bd.solve(coupled(), (0.0, 3.0), [1.0, 1.0], [1.0 + s], rtol=1e-10, atol=1e-12) for s in (1e-5, -1e-5))
    later = sol.bderivative(params=True).event_times([0.0, 0.0], [1.0])
    np.testing.assert_allclose(later, (high.events.t - low.events.t) / 2e-5, atol=1e-6)
    assert later[2] == pytest.approx(-5.0 / 3.0, rel=1e-9)


def test_differences_stay_near_the_trajectory():
    """Far away the friction of `belt` is constant, and long steps of differences agree very well, on a wrong slope."""
    sol = bd.solve(belt(), (0.0, 9.0), [-0.2, 0.3], rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(sol.bderivative()(sol.rate(0.0)), sol.rate(9.0), atol=1e-7)
    np.testing.assert_allclose(sol.bderivative(t=5.0)(sol.rate(0.0)), sol.rate(5.0), atol=1e-7)


@pytest.mark.parametrize("force", [0.5, 3.0])
def test_a_breakpoint_at_which_sticking_may_end(force):
    """A block with friction 1 that sticks, and a force that begins at t = 2: it goes on to stick, or moves at once."""
    system = bd.System(
        lambda t, x, b, p: (x[1], (p[0] if t >= 2.0 else 0.0) - b[0]),
        lambda t, x, p: (x[1],),
        n=2,
        guards=("stop",),
        params={"force": force},
        sliding="filippov",
        breakpoints=[2.0],
    )
    sol = bd.solve(system, (0.0, 3.0), [0.0, 1.0], rtol=1e-9, atol=1e-11)
    moved = 0.5 * max(force - 1.0, 0.0)
    np.testing.assert_allclose(sol.x[-1], [0.5 + moved, 2.0 * moved], atol=1e-9)
    assert list(sol.events.t) == pytest.approx([1.0, 2.0] if moved else [1.0], abs=1e-9)
    B = sol.bderivative()
    np.testing.assert_allclose(B([1.0, 0.0]), [1.0, 0.0], atol=1e-7)
    np.testing.assert_allclose(B([0.0, 1.0]), [1.0, 0.0], atol=1e-7)


def _landing(angle):
    """A block that falls onto a slope with dry friction, which depends on the force of the ground, a spring and a damper."""

    def f(t, x, b, p, dx):
        force = 1e4 * (0.1 - x[1]) - 100.0 * x[3]
        dx[0], dx[1] = x[2], x[3]
        dx[2], dx[3] = 9.81 * np.sin(p[0]), -9.81 * np.cos(p[0])
        if b[0] > 0 and b[1] > 0:
            dx[2] -= 0.5 * force * b[2]
            dx[3] += force

    def h(t, x, p, out):
        out[0] = 0.1 - x[1]
        out[1] = 1e4 * (0.1 - x[1]) - 100.0 * x[3]
        out[2] = x[2]

    while_pressed = {"slips": ("touches", "pushes")}
    guards = ("touches", "pushes", "slips")
    return bd.System(f, h, n=4, guards=guards, params={"angle": angle}, sliding="filippov", active_while=while_pressed)


def test_where_sliding_ends_it_does_not_begin_again():
    """The multiplier leaves its bounds with the field in balance: a rounding error there must not lead back to the guard."""
    system, chance = _landing(0.3), np.random.default_rng(0)
    for _ in range(40):
        start = np.array([0.0, 0.3, 0.4, 0.0]) + 1e-3 * chance.normal(size=4)
        sol = bd.solve(system, (0.0, 1.5), start, rtol=1e-9)
        slips = sol.events.t[sol.events.name == "slips"]
        assert np.diff(slips).min() > 1e-3
        assert sol.b[-1].tolist() == [1, 1, 0]


def test_sliding_ends_where_its_multiplier_has_no_effect_left():
    """Straight down: the contact opens while it sticks, with no friction left."""
    system = _landing(0.0)
    sol = bd.solve(system, (0.0, 1.5), [0.0, 0.3, 0.0, 0.0], rtol=1e-10)
    assert abs(sol.x[:, [0, 2]]).max() < 1e-15
    B, tight = sol.bderivative().matrix(), {"rtol": 1e-12, "atol": 1e-14}
    end = bd.solve(system, (0.0, 1.5), [0.0, 0.3, 0.0, 0.0], **tight).x[-1]
    for i, step in ((0, 1e-6), (1, 1e-6), (2, 1e-6), (2, -1e-6), (3, 1e-6)):
        moved = bd.solve(system, (0.0, 1.5), np.array([0.0, 0.3, 0.0, 0.0]) + step * np.eye(4)[i], **tight).x[-1]
        assert B[:, i] == pytest.approx((moved - end) / step, abs=1e-4)
