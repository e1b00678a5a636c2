"""Options of solve, the stepper, and the solution."""

import io
import math
import pickle
import warnings
from contextlib import redirect_stderr
from functools import cache

import numpy as np
import pytest

import bouligand as bd
from bouligand.models.hopper import _durations, field
from bouligand.models.hopper import crossings as hopper_crossings
from bouligand.models.hopper import exact as hopper_exact
from bouligand.models.plate import START as PLATE_START
from tests.helpers import systems
from tests.helpers.restarts import restarts
from tests.helpers.systems import close

HOPPER = bd.models.hopper()


def run(system=HOPPER, t_span=(0, 2), x0=(2.0, 0.0), **options):
    return bd.solve(system, t_span, x0, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"t_span": (1, 0)}, "t_span runs backwards"),
        ({"t_span": (0, np.inf)}, "t_span must be finite"),
        ({"t_span": 3}, "t_span must be two times"),
        ({"x0": [1.0]}, r"x0 must have 2 values \(z, vz\)"),
        ({"x0": 1.0}, "x0 must have 2 values"),
        ({"rtol": 0}, "rtol must be between"),
        ({"rtol": -1e-3}, "rtol must be between"),
        ({"atol": -1.0}, "atol must not be negative"),
        ({"atol": [1e-6] * 3}, "atol must be a number, or one for each of the 2 states"),
        ({"eps": 0.0}, "eps must be positive"),
        ({"eps": [0.1, 0.1]}, "eps must be a number, or one for each of the 1 guards"),
        ({"projection": 3}, "needs eps"),
        ({"eps": 0.1, "projection": 4}, "projection must be 2 or 'tangent'"),
        ({"method": "euler"}, "method must be 'auto', 'dopri5'"),
        ({"max_step": 0}, "max_step must be positive"),
        ({"max_steps": 0}, "max_steps must be a whole number, at least 1"),
        ({"max_steps": 1.5}, "max_steps must be a whole number"),
        ({"rtol": "1e-3"}, "rtol must be a number"),
        ({"terminal": True}, "terminal names the guards"),
        ({"eps": 0.1, "projection": [2]}, "projection must be 2"),
        ({"t_eval": [0, 3]}, "t_eval must lie within t_span"),
        ({"t_eval": [1, 0]}, "t_eval must be a vector of increasing times"),
        ({"t_eval": 10}, r"got 10. np.linspace\(0, .*, N\) makes N"),
        ({"terminal": "knee"}, "no guard is called 'knee'"),
        ({"terminal": {"foot": 0}}, "a whole number, at least 1"),
        ({"b0": [0]}, "b0 must have 1 signs"),
        ({"b0": [1]}, r"b0 says \+1 for guard 'foot', but h = -1"),
        ({"on_failure": "ignore"}, "on_failure must be"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises((ValueError, bd.StartError), match=message):
        run(**options)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_x0_that_is_not_finite(bad):
    with pytest.raises(bd.NotFiniteError, match="x0 must be finite; got"):
        run(x0=[bad, 0.0])


def test_t_eval_and_dense_output():
    grid = np.linspace(0, 2, 301)
    for rtol, tol in ((1e-4, 3e-2), (1e-9, 1e-6)):
        sol = run(t_eval=grid, rtol=rtol)
        assert sol.t is not grid
        close(sol.t, grid, 0.0)
        close(sol.x, hopper_exact(grid), tol)
        close(sol(grid), sol.x, 1e-13)
        assert sol.y.shape == (2, 301)
        assert sol(0.5).shape == (2,)
        assert sol([[0.5, 1.0]]).shape == (1, 2, 2)
    with pytest.raises(ValueError, match="within the trajectory"):
        sol(2.5)
    assert run(t_span=(1.0, 1.0), t_eval=[1.0]).x.shape == (1, 2)
    assert run(t_span=(1.0, 1.0), x0=[1.0, -1.0]).b[0, 0] == 1


def test_requesting_times_does_not_change_the_steps():
    one, other = run(), run(t_eval=np.linspace(0, 2, 77))
    assert one.counts.steps == other.counts.steps
    close(one.x[-1], other.x[-1], 0.0)


def test_events_table():
    sol = run(rtol=1e-10)
    assert len(sol.events) == 4
    close(sol.events.t, hopper_crossings(2.0), 1e-9)
    assert list(sol.events.direction) == [1, -1, 1, -1]
    assert list(sol.events.name) == ["foot"] * 4
    close(sol.events.x[:, 0], np.ones(4), 1e-12)
    close(sol.events.before[:, 0], [-1, 1, -1, 1], 0)
    close(sol.events.after[:, 0], [1, -1, 1, -1], 0)
    table = sol.events.array
    assert table.dtype.names == ("t", "guard", "direction", "x")
    assert table[0]["t"] == sol.events.t[0]
    close(sol.t_events[0], sol.events.t, 0)
    assert sol.y_events[0].shape == (4, 2)
    assert "foot" in repr(sol.events)
    assert sol.events[1]["direction"] == -1
    assert len(list(sol.events)) == 4


def test_terminal_where_it_would_slide():
    # behind the guard the flow points back: what would come after a terminal event does not matter
    relay = bd.System(lambda t, x, b, p: (-b[0],), lambda t, x, p: (x[0],), n=1, m=1)
    with pytest.raises(bd.SlidingError):
        bd.solve(relay, (0.0, 2.0), [-1.0])
    sol = bd.solve(relay, (0.0, 2.0), [-1.0], terminal=0)
    assert sol.status == "terminated"
    assert sol.t[-1] == pytest.approx(1.0, abs=1e-9)
    assert list(sol.events.direction) == [1]
    with pytest.raises(bd.SlidingError):
        bd.solve(relay, (0.0, 2.0), [-1.0], terminal={0: 2})


def test_terminal():
    first = run(terminal="foot", rtol=1e-10)
    close(first.t[-1], hopper_crossings(2.0)[0], 1e-10)
    assert first.status == "terminated"
    assert first.success
    third = run(terminal={"foot": 3}, rtol=1e-10)
    close(third.t[-1], hopper_crossings(2.0)[2], 1e-9)
    both = bd.solve(systems.balls(2), (0, 2), [1.0, 1.0, 0.0, 0.0], terminal=[0])
    assert len(both.events) == 2  # the tie is recorded, then it stops
    going_on = run(t_span=(first.t[-1], 2.0), x0=first.x[-1], b0=first.b[-1], rtol=1e-10)
    assert len(going_on.events) == 3
    close(going_on.x[-1], hopper_exact(2.0)[0], 1e-7)


def apex_guards(t, x, p, out):
    out[0] = p[2] - x[0]
    out[1] = x[1]


@pytest.mark.parametrize("rtol", [1e-4, 1e-9])
def test_observers(rtol):
    apex = bd.System(
        field,
        apex_guards,
        n=2,
        guards=("foot", "apex"),
        params=HOPPER.defaults,
        observers=["apex"],
        direction={"apex": -1},
    )
    seen, plain = run(apex, rtol=rtol), run(rtol=rtol)
    close(seen.x, plain.x, 0.0)  # observing changes nothing
    assert seen.counts.f <= plain.counts.f + 6 * seen.counts.steps
    fall, stance = _durations(2.0, 9.81, 1000.0, 1.0)
    period = 2 * fall + stance
    close(seen.t_events[1], [period], 100 * rtol)
    close(seen.y_events[1][0], [2.0, 0.0], 1000 * rtol)
    stopped = run(apex, rtol=rtol, terminal="apex")
    close(stopped.t[-1], period, 100 * rtol)
    assert (np.diff(seen.events.t) >= 0).all()


def test_one_sided_guards_and_the_reset_matrix():
    def h(t, x, p):
        return (x[0], -x[0])

    def f(t, x, b, p):
        return (x[1], -x[0])

    x0, tf = [math.sin(0.3), math.cos(0.3)], 30.0
    pair = bd.System(f, h, n=2, m=2, direction=1, compile=False)
    sol = bd.solve(pair, (0, tf), x0)
    crossings = math.floor((tf + 0.3) / math.pi)
    assert len(sol.events) == crossings
    assert (sol.events.direction == 1).all()
    assert (np.abs(sol.b.sum(axis=1)) == 0).all()  # never both, never none
    assert (sol.events.after.sum(axis=1) == 0).all()
    by_matrix = bd.System(f, h, n=2, m=2, direction=1, reset=[[0, 1], [1, 0]], compile=False)
    close(bd.solve(by_matrix, (0, tf), x0).events.t, sol.events.t, 1e-12)
    never = bd.System(f, h, n=2, m=2, direction=1, reset=np.zeros((2, 2)), compile=False)
    assert len(bd.solve(never, (0, tf), x0).events) == 1


def test_breakpoints():
    def f(t, x, b, p):
        return (1.0 if t < 1.0 else -3.0,)

    system = bd.System(f, lambda t, x, p: (x[0] - 5.0,), n=1, m=1, breakpoints=[1.0])
    sol = bd.solve(system, (0, 2), [0.0], rtol=1e-9)
    close(sol.x[-1], [-2.0], 1e-13)
    assert 1.0 in sol.t
    assert sol.counts.rejected == 0
    close(sol([0.5, 1.5])[:, 0], [0.5, -0.5], 1e-12)


def test_stepper():
    stepper = bd.Stepper(HOPPER, (0, 2), [2.0, 0.0], rtol=1e-9)
    assert stepper.status == "running"
    times = []
    while stepper.status == "running":
        stepper.step()
        times.append(stepper.t)
    assert (np.diff(times[:-1]) > 0).all()
    assert stepper.status == "finished"
    whole = run(rtol=1e-9)
    close(stepper.x, whole.x[-1], 0.0)
    close(stepper.solution.x, whole.x, 0.0)
    stepper.step()  # nothing more happens
    assert stepper.t == 2.0


def test_parameters_may_change_between_steps():
    stepper = bd.Stepper(HOPPER, (0, 1), [2.0, 0.0], rtol=1e-9)
    while stepper.t < 0.1:
        stepper.step()
    t, x = stepper.t, stepper.x
    before = stepper.solution
    stepper.p = {"g": 0.0}
    sol = stepper.finish()
    close(sol.x[-1], [x[0] + (1 - t) * x[1], x[1]] if x[0] + (1 - t) * x[1] > 1 else sol.x[-1], 1e-9)
    close(sol(t + 0.05), [x[0] + 0.05 * x[1], x[1]], 1e-9)
    close(sol(0.5 * t), hopper_exact(0.5 * t)[0], 1e-7)
    assert before.t[-1] == t


def test_progress_bar():
    out = io.StringIO()
    with redirect_stderr(out):
        sol = bd.solve(systems.circling, (0, 300), [1.0, 1.0], progress="circling")
    assert "circling" in out.getvalue()
    assert sol.success


def test_nothing_prints_unasked(capfd):
    run()
    assert capfd.readouterr().out == ""


def test_pickled_solution():
    sol = run(rtol=1e-8)
    copy = pickle.loads(pickle.dumps(sol))
    grid = np.linspace(0, 2, 11)
    close(copy(grid), sol(grid), 0.0)
    close(copy.events.t, sol.events.t, 0.0)
    failed = pickle.loads(pickle.dumps(run(max_steps=3, on_failure="return")))
    assert not failed.success
    assert "max_steps" in failed.message


def test_repr():
    text = repr(run())
    assert "4 events" in text
    assert "the end of the interval was reached, t = 2" in text


def test_ten_thousand_guards_in_little_memory():
    import tracemalloc

    m = 10_000
    plate = bd.models.plate(m)
    bd.solve(plate, (0, 0.01), PLATE_START)
    tracemalloc.start()
    sol = bd.solve(plate, (0, 2), [0, 2.637, -0.046, 0, 0, 0], rtol=1e-3)
    events, size = len(sol.events), tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert events == 40_000
    assert size < 100e6


def test_not_event_selected_corner_is_refused():
    with pytest.raises(bd.NotEventSelectedError, match="not event-selected"):
        bd.solve(systems.turned, (0, 2), [-1.0, -1.0])
    # apart by more than the tolerance it is an ordinary trajectory
    sol = bd.solve(systems.turned, (0, 2), [-1.0, -1.1])
    close(sol.x[-1], [1.0, -1.1], 1e-9)
    sol = bd.solve(systems.turned, (0, 2), [-1.0, -0.9])
    assert len(sol.events) == 3


def test_text_and_complex_numbers_are_no_states_or_times():
    hopper, start = bd.models.hopper(), [2.0, 0.0]
    for x0 in (["2", "0"], np.array(["2", "0"]), np.array([2.0 + 1.0j, 0.0])):
        with pytest.raises(ValueError, match="x0 must have 2 values"):
            bd.solve(hopper, (0.0, 1.0), x0)
    for t_span in ("01", ("0", "1"), (0.0, 1.0j)):
        with pytest.raises(ValueError, match="t_span must be two times"):
            bd.solve(hopper, t_span, start)
    with pytest.raises(ValueError, match="rtol must be a number"):
        bd.solve(hopper, (0.0, 1.0), start, rtol=np.array([1e-6]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bd.solve(hopper, (np.int64(0), np.float32(1.0)), start)


@cache
def plate_of_32_springs():
    """The plate, and where it ends according to SciPy."""
    plate = bd.models.plate(32)
    f, h, p = plate.function("f"), plate.function("h"), plate.defaults
    end, table = restarts(
        lambda x, touching: f(0.0, x, np.where(touching, 1.0, -1.0), p),
        lambda x: h(0.0, x, p),
        (0.0, 2.0),
        PLATE_START,
    )
    assert len(table) == 134
    return plate, end


@pytest.mark.parametrize("rtol", [1e-6, 1e-7, 1e-8, 1e-9, 1e-10])
def test_hops_from_spring_to_spring_keep_the_tolerance(rtol):
    """Behind the first springs the third derivative nearly vanishes: a hop that took the next ones to be as small would be 25 to
    50 tolerances off at the end."""
    plate, end = plate_of_32_springs()
    sol = bd.solve(plate, (0, 2), PLATE_START, rtol=rtol)
    assert sol.counts.hops == len(sol.events) == 134
    close(sol.x[-1], end, 3 * rtol)
