"""`Stepper.advance`: to given times exactly, with parameters that are changed there; against breakpoints and closed forms."""

import math
import pickle

import numpy as np
import pytest

import bouligand as bd


def pushed(t, x, b, p, dx):
    dx[0] = x[1]
    dx[1] = p[0] + math.cos(t)


PUSHED = bd.System(pushed, states=("q", "v"), params={"u": 0.0})


def pushed_exactly(q, v, u, t0, t1):
    """q'' = u + cos t."""
    T = t1 - t0
    speed = v - math.sin(t0)
    return q + speed * T + 0.5 * u * T * T - math.cos(t1) + math.cos(t0), speed + u * T + math.sin(t1)


def test_times_are_met_and_inputs_held():
    stepper = bd.Stepper(PUSHED, (0.0, 1.0), [0.0, 0.0], rtol=1e-10)
    q, v = 0.0, 0.0
    times = np.linspace(0.0, 1.0, 21)
    for k in range(20):
        u = math.sin(3.0 * k)
        stepper.p = [u]
        stepper.advance(times[k + 1])
        q, v = pushed_exactly(q, v, u, times[k], times[k + 1])
        assert stepper.t == times[k + 1]
        assert np.allclose(stepper.x, [q, v], rtol=0, atol=1e-9)
    assert stepper.status == "finished"
    sol = stepper.solution
    assert set(times) <= set(sol.t)
    # a second and a third call with nothing in between change nothing
    stepper.advance(1.0)
    assert stepper.t == 1.0


def test_without_a_change_nothing_is_evaluated_anew():
    """Where parameters stay, the next step goes on with the last slope: a pause costs no evaluation of its own."""
    counts = []
    for pauses in ((), (0.25, 0.5, 0.75)):
        stepper = bd.Stepper(PUSHED, (0.0, 1.0), [0.0, 0.0], rtol=1e-4, method="dopri5", max_step=0.25)
        for until in pauses:
            stepper.advance(until)
        counts.append(stepper.finish().counts.f)
    assert counts[1] <= counts[0] + 6 * 3


def test_user_breakpoints_between_and_at_the_pauses():
    def stairs(t, x, b, p):
        rate = 1.0
        for k in range(1, 10):
            rate += 1.0 if t >= k / 10 else 0.0
        return (rate,)

    jumps = np.arange(1, 10) / 10
    system = bd.System(stairs, n=1, breakpoints=jumps)
    whole = bd.solve(system, (0.0, 1.0), [0.0], rtol=1e-10).x[-1]
    stepper = bd.Stepper(system, (0.0, 1.0), [0.0], rtol=1e-10)
    for until in (0.05, 0.1, 0.1, 0.3, 0.55, 0.95):
        stepper.advance(until)
        assert stepper.t == until
        steps = np.floor(10 * until + 1e-12)
        exact = 0.1 * steps * (steps + 1) / 2 + (until - steps / 10) * (steps + 1)
        assert stepper.x[0] == pytest.approx(exact, abs=1e-11)
    assert stepper.finish().x[-1] == pytest.approx(whole, abs=1e-9)


def test_the_same_as_breakpoints_through_events():
    hopper, times = bd.models.hopper(), np.arange(1, 41) * 0.05
    stepper = bd.Stepper(hopper, (0.0, 2.0), [2.0, 0.0], rtol=1e-11)
    for k, until in enumerate(times):
        stepper.p = {"k": 900.0 + 10.0 * k}
        stepper.advance(until)
    other = bd.Stepper(hopper, (0.0, 2.0), [2.0, 0.0], rtol=1e-11, breakpoints=times)
    for k, until in enumerate(times):
        other.p = {"k": 900.0 + 10.0 * k}
        while other.status == "running" and other.t < until:
            other.step()
    assert np.allclose(stepper.x, other.x, rtol=0, atol=1e-9)
    assert np.allclose(stepper.solution.events.t, other.solution.events.t, rtol=0, atol=1e-9)


def test_terminal_events_and_pickles():
    hopper = bd.models.hopper()
    stepper = bd.Stepper(hopper, (0.0, 2.0), [2.0, 0.0], terminal="foot")
    stepper.advance(0.1)
    stepper = pickle.loads(pickle.dumps(stepper))
    stepper.advance(1.5)
    assert stepper.status == "terminated"
    assert stepper.t == pytest.approx(math.sqrt(2.0 / 9.81), abs=1e-6)
    stepper.advance(1.9)  # (not running any more)
    assert stepper.t < 1.0


@pytest.mark.parametrize("until", [0.05, 2.1, math.nan, math.inf, "soon", None])
def test_bad_times(until):
    stepper = bd.Stepper(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0])
    stepper.advance(0.1)
    with pytest.raises((ValueError, TypeError), match="until"):
        stepper.advance(until)
    stepper.advance(0.2)
    assert stepper.t == 0.2
