"""Jumps of the state at events: trajectories against closed forms, cascades, ties, orders, and what is refused."""

import math
import pickle

import numpy as np
import pytest

import bouligand as bd
from tests.jumps import systems

G = 9.81


def test_a_bouncing_ball_follows_its_closed_form():
    ball = systems.ball()
    sol = bd.solve(ball, (0.0, 2.0), [1.0, 0.0], rtol=1e-10)
    flights = math.sqrt(2.0 / G) * np.array([1.0, 2.6, 3.88])  # 1, + 2 e, + 2 e^2, with e = 0.8
    assert np.allclose(sol.events.t, flights, atol=1e-11)
    assert (sol.events.direction == -1).all()
    assert (sol.word(2.0) == 1).all()
    assert np.allclose(sol.x[-1], systems.bounced(1.0, 0.0, G, 0.8, 2.0), atol=1e-9)


def test_both_sides_of_a_jump():
    sol = bd.solve(systems.ball(), (0.0, 1.0), [1.0, 0.0])
    [t] = sol.events.t
    v = math.sqrt(2.0 * G)
    assert np.allclose(sol(t), [0.0, 0.8 * v])
    assert np.allclose(sol(t, side="left"), [0.0, -v])
    assert np.allclose(sol.events.x[0], [0.0, -v])
    assert np.allclose(sol.events.x_after[0], [0.0, 0.8 * v])
    assert np.array_equal(sol([t, 0.1, t])[0], sol(t))
    at = bd.solve(systems.ball(), (0.0, 1.0), [1.0, 0.0], t_eval=[0.1, t, 0.9])
    assert at.x[1, 1] > 0.0, "a requested time at the instant has the state behind the jump"
    with pytest.raises(ValueError, match="side must be"):
        sol(0.1, side="both")


def test_jumps_go_on_in_a_stepper_and_after_pickling():
    ball = systems.ball()
    whole = bd.solve(ball, (0.0, 2.0), [1.0, 0.0])
    stepper = bd.Stepper(ball, (0.0, 2.0), [1.0, 0.0])
    while stepper.t < 1.0:
        stepper.step()
    stepper = pickle.loads(pickle.dumps(stepper))
    assert np.array_equal(stepper.finish().x, whole.x)
    again = pickle.loads(pickle.dumps(whole))
    assert np.array_equal(again.x, whole.x)
    assert np.array_equal(again([0.3, 1.3]), whole([0.3, 1.3]))


def test_a_terminal_event_stops_behind_its_jump():
    sol = bd.solve(systems.ball(), (0.0, 9.0), [1.0, 0.0], terminal={"floor": 2})
    assert sol.status == "terminated"
    assert len(sol.events) == 2
    assert sol.x[-1, 1] > 0.0
    on = bd.solve(systems.ball(), (sol.t[-1], sol.t[-1] + 0.1), sol.x[-1], b0=sol.b[-1])
    assert len(on.events) == 0
    assert on.x[-1, 0] > 0.0


def test_plain_python_and_machine_code_agree():
    one, other = systems.ball(), systems.ball(compile=False)
    a, b = (bd.solve(system, (0.0, 2.0), [1.0, 0.0]).x[-1] for system in (one, other))
    assert np.allclose(a, b, rtol=1e-12)


def test_a_function_that_returns_the_state():
    ball = systems.ball(jumps={"floor": lambda t, x, b, p: (x[0], -p[1] * x[1])})
    assert np.array_equal(
        bd.solve(ball, (0.0, 2.0), [1.0, 0.0]).x[-1], bd.solve(systems.ball(), (0.0, 2.0), [1.0, 0.0]).x[-1]
    )


def test_two_thresholds_are_hysteresis():
    """A thermostat: two one-sided guards, each with a jump that switches a state between 0 and 1."""
    sol = bd.solve(systems.thermostat(), (0.0, 10.0), [20.0, 1.0], rtol=1e-9)
    # on: T' = 30 - T, from 18 to 22; off: T' = 10 - T, from 22 to 18
    first = math.log((30.0 - 20.0) / (30.0 - 22.0))
    on, off = math.log(12.0 / 8.0), math.log(12.0 / 8.0)
    assert np.allclose(sol.events.t[:4], first + np.array([0.0, off, off + on, 2 * off + on]), atol=1e-8)


def test_walls_that_meet_in_a_corner():
    sol = bd.solve(systems.walls(), (0.0, 2.0), [1.0, 1.0, -1.0, -1.0])
    assert np.allclose(sol.x[-1], [0.8, 0.5, 0.8, 0.5], atol=1e-9)
    assert len(sol.events) == 2
    assert np.ptp(sol.events.t) == 0.0


def test_jumps_whose_order_matters_are_refused_unless_it_is_declared():
    start = [-1.0, 0.0, 1.0, 1.0, 0.0, -1.0]
    with pytest.raises(bd.JumpOrderError, match="order=") as caught:
        bd.solve(systems.three_balls(), (0.0, 2.0), start)
    error = caught.value
    assert error.guards == ("12", "23")
    assert error.t == pytest.approx(1.0)
    assert error.solution.t[-1] == error.t
    assert np.allclose([x[3:] for x in error.outcomes], [[0, -1, 1], [-1, 1, 0]])
    for order in (("12", "23"), ("23", "12")):
        sol = bd.solve(systems.three_balls(order=order), (0.0, 2.0), start)
        assert np.allclose(sol.x[-1], [-1, 0, 1, -1, 0, 1], atol=1e-9), "three collisions at one instant"
        assert len(sol.events) == 3


def test_a_cascade_in_generations():
    """Neuron 1 fires; its pulse lifts 2 above the threshold, whose pulse lifts 3."""
    sol = bd.solve(systems.neurons(5), (0.0, 0.3), [0.5, 0.97, 0.96, 0.9, 0.0])
    assert list(sol.events.name) == ["h1", "h2", "h3"]
    assert np.ptp(sol.events.t) == 0.0
    t = sol.events.t[0]
    assert t == pytest.approx(math.log((1.5 - 0.97) / (1.5 - 1.0)))
    decayed = 1.5 + (np.array([0.5, 0.0]) - 1.5) * math.exp(-t)
    assert np.allclose(sol(t), [decayed[0] + 0.15, 0.1, 0.05, 0.0, decayed[1] + 0.15], atol=1e-6)
    assert np.allclose(sol.events.x[2, 3], 1.5 + (0.9 - 1.5) * math.exp(-t) + 0.1, atol=1e-6)


@pytest.mark.parametrize("count", [10, 1000])
def test_many_that_fire_together_do_so_in_one_generation(count):
    together = bd.solve(systems.neurons(count), (0.0, 5.0), np.full(count, 0.3), p={"w": 0.0})
    alone = bd.solve(systems.neurons(1), (0.0, 5.0), [0.3], p={"w": 0.0})
    assert len(together.events) == count * len(alone.events)
    assert np.allclose(together.x[-1], alone.x[-1], atol=1e-8)
    assert len(together.record.jump_rows) == len(alone.events)


def test_the_numbering_of_guards_does_not_matter():
    x0 = np.array([0.5, 0.97, 0.96, 0.9, 0.0])
    usual = bd.solve(systems.neurons(5), (0.0, 3.0), x0)
    order = np.array([3, 0, 4, 2, 1])
    other = bd.solve(systems.neurons(5), (0.0, 3.0), x0[order])
    assert np.allclose(other.x[-1], usual.x[-1][order], atol=1e-12)
    assert len(other.events) == len(usual.events)


def test_a_thousand_balls_bounce_at_the_same_instant():
    sol = bd.solve(systems.balls(1000), (0.0, 2.0), np.concatenate([np.ones(1000), np.zeros(1000)]), rtol=1e-8)
    assert len(sol.events) == 3000
    assert len(np.unique(sol.events.t)) == 3
    assert np.allclose(sol.x[-1, :1000], systems.bounced(1.0, 0.0, G, 0.8, 2.0)[0], atol=1e-6)


def test_a_ball_that_comes_to_rest_is_a_zeno_error():
    with pytest.raises(bd.ZenoError, match="accumulate") as caught:
        bd.solve(systems.ball(), (0.0, 2.0), [1.0, 0.0], p={"e": 0.5})
    error = caught.value
    assert error.t_end == pytest.approx(1.35457092295719271, abs=1e-9)
    assert error.ratio == pytest.approx(0.5, abs=1e-3)
    assert error.guard == "floor"
    assert len(error.solution.events) > 10
    assert bd.solve(systems.ball(), (0.0, 1.35), [1.0, 0.0], p={"e": 0.5}).success


def test_an_inelastic_jump_is_a_zeno_error_at_once():
    with pytest.raises(bd.ZenoError) as caught:
        bd.solve(systems.ball(), (0.0, 2.0), [1.0, 0.0], p={"e": 0.0})
    assert caught.value.t_end == pytest.approx(math.sqrt(2.0 / G))
    assert caught.value.ratio == 0.0


def test_a_jump_that_feeds_itself_is_a_cascade_error():
    """Two neurons whose pulses lift each other above the threshold, again and again."""
    with pytest.raises(bd.CascadeError, match="without an end") as caught:
        bd.solve(systems.neurons(3), (0.0, 1.0), [0.9, 0.5, 0.5], p={"w": 2.0})
    assert caught.value.solution.t[-1] == caught.value.t


def test_a_jump_that_is_not_finite_keeps_the_trajectory():
    ball = systems.ball(jumps={"floor": lambda t, x, b, p: (x[0], math.nan)})
    with pytest.raises(bd.NotFiniteError, match="jump at guard 'floor'") as caught:
        bd.solve(ball, (0.0, 2.0), [1.0, 0.0])
    assert caught.value.solution.t[-1] == pytest.approx(math.sqrt(2.0 / G))


def test_an_exception_in_a_jump_comes_out_with_the_trajectory():
    def burst(t, x, b, p):
        raise ArithmeticError("burst")

    with pytest.raises(ArithmeticError, match="burst") as caught:
        bd.solve(systems.ball(jumps={"floor": burst}, compile=False), (0.0, 2.0), [1.0, 0.0])
    assert caught.value.solution.t[-1] == pytest.approx(math.sqrt(2.0 / G))  # type: ignore[attr-defined]


def test_a_jump_with_too_few_values():
    with pytest.raises(ValueError, match="jump returned 1 value, but 2 values expected"):
        bd.solve(systems.ball(jumps={"floor": lambda t, x, b, p: (x[0],)}, compile=False), (0.0, 2.0), [1.0, 0.0])


def test_a_kick_while_a_guard_is_passed():
    """A jump need not throw back: behind this one the flow goes on through the guard."""
    kick = bd.System(
        lambda t, x, b, p: (x[1], 0.0),
        lambda t, x, p: (x[0],),
        n=2,
        guards=("line",),
        jumps={"line": lambda t, x, b, p: (x[0], 2.0 * x[1])},
    )
    sol = bd.solve(kick, (0.0, 2.0), [-1.0, 1.0])
    assert np.allclose(sol.x[-1], [2.0, 2.0])
    assert sol.b[-1, 0] == 1
    assert len(sol.events) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"jumps": {"wall": systems.bounce}}, "no guard is called 'wall'"),
        ({"jumps": {"floor": 3.0}}, "jumps: R must be a function"),
        ({"jumps": ("floor",)}, "guards alone go with jump_many"),
        ({"jumps": {"floor": systems.bounce}, "observers": ("floor",)}, "has a jump and is an observer"),
        ({"jumps": {"floor": systems.bounce}, "order": ("floor", "floor")}, "names 'floor' twice"),
        ({"reset": systems.bounce}, "jumps="),
        ({"jumps": {"floor": systems.bounce}, "DR": {0: 1.0}}, "DR must be a function"),
        ({"jumps": {}, "DR": {0: systems.bounce}}, "has no function in jumps"),
        ({"jumps": {"floor": lambda t, x: x}}, "jumps: R takes 2 arguments; expected R"),
        ({"jumps": {"floor": systems.bounce}, "direction": -1, "reset": [[1.0]]}, "does not go with jumps"),
    ],
)
def test_wrong_declarations_are_named(arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        systems.ball(**arguments)


def test_bands_do_not_go_with_jumps():
    with pytest.raises(ValueError, match="bands"):
        bd.solve(systems.ball(), (0.0, 2.0), [1.0, 0.0], eps=0.1)


def test_ensembles_are_the_single_solves():
    ball, e = systems.ball(), np.linspace(0.3, 0.9, 7)
    many = bd.solve_many(ball, (0.0, 2.0), [1.0, 0.0], p={"e": e})
    for i, value in enumerate(e):
        single = bd.solve(ball, (0.0, 2.0), [1.0, 0.0], p={"e": value}, on_failure="return")
        assert np.array_equal(many.x[i], single.x[-1]), value
    assert "ZenoError" in many.message[0]


def swing(depth):
    """x = cos t - 1 + depth: it comes as near as -depth to a guard at zero, at t = 2 pi; there x would be set back by 1."""
    system = bd.System(
        lambda t, x, b, p: (x[1], -(x[0] + 1.0 - p[0])),
        lambda t, x, p: (x[0],),
        n=2,
        guards=("top",),
        params={"depth": 0.0},
        jumps={"top": lambda t, x, b, p: (x[0] - 1.0, x[1])},
    )
    return system, [-2.0 + depth, 0.0], {"depth": depth}


@pytest.mark.parametrize("depth", [-1e-7, 1e-8])
def test_a_graze_of_a_guard_with_a_jump_is_refused(depth):
    system, x0, p = swing(depth)
    with pytest.raises(bd.GrazingError, match="'top' is grazed") as caught:
        bd.solve(system, (0.0, 6.0), x0, p=p)
    assert caught.value.t == pytest.approx(math.pi, abs=1.0)
    assert bd.solve(system, (0.0, 6.0), x0, p=p, on_graze="go on").margins["decided"].any()
    assert bd.solve(system, (0.0, 6.0), x0, p=p, rtol=1e-12, atol=1e-13).success


def test_how_far_a_jump_carries_a_state_across_a_guard_does_not_matter():
    """The first neuron's pulse lifts the second one to 1.9, far above its threshold; its own jump sets it to 0, below it."""

    def spike(t, x, fired, b, p, xnew):
        for i in range(x.size):
            xnew[i] = 0.0 if fired[i] > 0 or x[i] == 0.0 else x[i] + 1.0

    system = bd.System(
        lambda t, x, b, p: 1.5 - x,
        lambda t, x, p: x - 1.0,
        n=2,
        m=2,
        jump_many=spike,
    )
    sol = bd.solve(system, (0.0, 2.0), [0.95, 0.9], rtol=1e-10)
    first = np.log(0.55 / 0.5)
    assert sol.events.t == pytest.approx(np.repeat([first, first + np.log(3.0)], 2), abs=1e-9)
    assert list(sol.events.guard[:2]) == [0, 1]


@pytest.mark.parametrize("rtol", [1e-6, 1e-8, 1e-9, 1e-10, 1e-11])
def test_walls_that_move_are_not_passed(rtol):
    """Behind a jump, h of a guard that moves is zero up to the last digit of the time."""

    def bounce(t, x, b, p):
        return x[0], math.cos(t) - 0.6 * (x[1] - math.cos(t))

    system = bd.System(
        lambda t, x, b, p: (x[1], 0.0),
        lambda t, x, p: (x[0] - math.sin(t) + 2.0, x[0] - math.sin(t) - 2.0),
        n=2,
        guards=("left", "right"),
        jumps={"left": bounce, "right": bounce},
    )
    sol = bd.solve(system, (0.4776, 0.4776 + 60.0 * math.pi), [0.1, 1.7386], rtol=rtol)
    assert np.abs(sol.x[:, 0] - np.sin(sol.t)).max() < 2.0 + 1e-6


def test_steps_towards_a_spike_are_seldom_rejected():
    sol = bd.solve(bd.models.adex(), (0.0, 100.0), [-70.6, 0.0], rtol=1e-3)
    assert len(sol.events) == 5
    # (two in five trials were, when a rejected step was shortened to a fifth and then grew fivefold)
    assert sol.counts.rejected <= 0.4 * sol.counts.steps
    assert sol.counts.f <= 450


def lost(t, x, b, p, xnew):
    return x[0], -0.8 * x[1]


def forgotten(t, x, b, p):
    -0.8 * x[1]


def written(t, x, b, p, xnew):
    xnew[1] = -0.8 * x[1]
    return xnew


@pytest.mark.filterwarnings("ignore::bouligand.PerformanceWarning")
@pytest.mark.parametrize("compile", ["auto", False])
def test_jumps_that_return_nothing_or_what_would_be_lost(compile):
    def ball(jump):
        return bd.System(lambda t, x, b, p: (x[1], -G), lambda t, x, p: (x[0],), n=2, m=1, jumps=jump, compile=compile)

    with pytest.raises(TypeError, match=r"an argument xnew.*returns values, which would be lost"):
        bd.solve(ball(lost), (0.0, 1.0), [1.0, 0.0])
    with pytest.raises(TypeError, match=r"jump returned nothing \(None\)"):
        bd.solve(ball(forgotten), (0.0, 1.0), [1.0, 0.0])
    assert bd.solve(ball(written), (0.0, 1.0), [1.0, 0.0]).events.x_after[0, 1] > 0.0
