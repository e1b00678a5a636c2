"""Ctrl-C: answered soon, wherever the library is, never swallowed, and the trajectory so far is kept."""

import contextlib
import math
import os
import signal
import threading
import time

import numpy as np
import pytest

import bouligand as bd
from bouligand.core.codes import GO_ON, LOOK
from bouligand.derivative import refinement
from bouligand.memory import tables
from bouligand.memory.tables import enlarged

pytestmark = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1" or os.name == "nt", reason="it is about compiled code, and POSIX signals"
)
SOON = 10.0  # seconds: 0.05 is meant, and machines are busy


@pytest.fixture(scope="module", autouse=True)
def loaded():
    """All that the tests use is imported and loaded: a Ctrl-C waits for imports and compilation (see `test_first_use`)."""
    for system, start in ((bd.models.hopper(), [2.0, 0.0]), (bd.models.plate(200), (0.0, 2.0, -0.05, 0.0, 0.0, 0.0))):
        sol = bd.solve(system, (0.0, 1.0), start)
        sol(0.5)
        sol.bderivative()(np.ones(system.n))
    bd.solve(bd.models.hopper(), (0.0, 0.1), [2.0, 0.0], t_eval=[0.05])


@pytest.fixture(autouse=True)
def usual_handler():
    """Processes in the background are started with Ctrl-C ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted(function, after=0.3):
    """Call a function that takes long, with a Ctrl-C on the way: how long it took to be answered, and the exception."""
    sent: list[float] = []

    def send():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, send)

    def run():
        timer.start()  # (in here: on a busy machine it may come before the function is called)
        function()

    try:
        with pytest.raises(KeyboardInterrupt) as caught:
            run()
    finally:
        with contextlib.suppress(KeyboardInterrupt):  # (one that comes after the function must not end the next test)
            timer.join()
            time.sleep(0.01)
    return time.perf_counter() - sent[0], caught.value


def oscillator(t, x, b, p, dx):
    dx[0], dx[1] = x[1], -p[0] * x[0]


def level(t, x, p, out):
    out[0] = x[0] - 0.1


@pytest.fixture(scope="module")
def fast():
    """A compiled system that takes minutes to the end of a long interval."""
    return bd.System(oscillator, level, n=2, m=1, params={"k": 1.0})


def test_a_compiled_solve(fast):
    bd.solve(fast, (0.0, 1.0), [1.0, 0.0])
    waited, interrupt = interrupted(lambda: bd.solve(fast, (0.0, 1e7), [1.0, 0.0], rtol=1e-9, max_steps=10**9))
    assert waited < SOON
    assert interrupt.solution.status == "running"
    t, x = interrupt.solution.t[-1], interrupt.solution.x[-1]
    assert t > 100.0
    assert abs(x - [np.cos(t), -np.sin(t)]).max() < 1e-7 * t


def test_a_stepper_goes_on_after_ctrl_c_and_leaves_what_it_gave(fast):
    """The solution so far has the stepper's own tables, where these are large: going on must not change it."""

    def run():
        return bd.Stepper(fast, (0.0, 2e4), [1.0, 0.0], rtol=1e-9, max_steps=10**9)

    run().finish()  # (compiled by now)
    begins = time.perf_counter()
    whole, stepper, given = run().finish(), run(), []
    share = 0.1 * (time.perf_counter() - begins)  # of the time that it takes
    assert whole.record.events.nbytes > 400_000
    while stepper.status == "running":
        timer = threading.Timer(share, os.kill, (os.getpid(), signal.SIGINT))
        try:
            timer.start()
            stepper.finish()
            timer.join()
            time.sleep(0.01)
        except KeyboardInterrupt:
            given.append(stepper.solution)
            given.append(stepper.solution)
    assert len(given) > 2
    assert (stepper.solution.x == whole.x).all()
    assert (stepper.solution.events.array == whole.events.array).all()
    for sol in given:
        rows, events = len(sol.record), len(sol.record.events)
        assert (sol.record.steps == whole.record.steps[:rows]).all()
        assert (sol.record.states == whole.record.states[:rows]).all()
        assert (sol.record.events == whole.record.events[:events]).all()


def test_a_table_that_grows_is_answered_and_stays_as_it_was(fast, monkeypatch):
    monkeypatch.setattr(tables, "AT_ONCE", 1000)
    stepper = bd.Stepper(fast, (0.0, 1e4), [1.0, 0.0])
    stepper.finish()
    memory = stepper._memory
    before = {name: rows.copy() for name, rows in memory.rows().items()}
    for name in ("record", "events"):
        interrupted(lambda: [enlarged(before["steps"], len(before["steps"])) for _ in range(10**6)], 0.01)
        interrupted(lambda name=name: grow_again_and_again(memory, name), 0.01)
        assert len(memory.steps) == len(memory.states)
    for name, rows in memory.rows().items():
        assert (rows == before[name]).all()


def grow_again_and_again(memory, name):
    """Of the same rows each time, so that memory does not run out."""
    for _ in range(10**6):
        memory.grow(name)
        memory.rows()


def test_a_python_function_whose_failure_is_returned():
    slow = bd.System(lambda t, x, b, p: np.array([x[1], -x[0]]), n=2, compile=False)
    bd.solve(slow, (0.0, 1.0), [1.0, 0.0])
    waited, _ = interrupted(lambda: bd.solve(slow, (0.0, 1e5), [1.0, 0.0], on_failure="return"))
    assert waited < SOON


def test_a_python_function_many_times():
    """Wherever it arrives: between callbacks, or at the first bytecode of one, where ctypes would swallow it."""
    slow = bd.System(lambda t, x, b, p: np.array([x[1], -x[0]]), n=2, compile=False)
    for after in np.linspace(0.02, 0.03, 20):
        waited, _ = interrupted(lambda: bd.solve(slow, (0.0, 1e5), [1.0, 0.0], on_failure="return"), after)
        assert waited < SOON
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_long_python_function_is_interrupted_inside():
    def field(t, x, b, p):
        if t > 0.1:
            time.sleep(30.0)
        return -x

    slow = bd.System(field, n=1, compile=False)
    waited, interrupt = interrupted(lambda: bd.solve(slow, (0.0, 1.0), [1.0], max_step=0.05))
    assert waited < SOON
    assert interrupt.solution.t[-1] < 0.2


def test_a_handler_of_the_users_own_is_called_and_the_integration_goes_on():
    calls = []
    signal.signal(signal.SIGINT, lambda number, frame: calls.append(number))
    slow = bd.System(lambda t, x, b, p: np.array([x[1], -x[0]]), n=2, compile=False)
    timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    sol = bd.solve(slow, (0.0, 500.0), [1.0, 0.0])
    timer.join()
    bd.solve(slow, (0.0, 1.0), [1.0, 0.0])
    assert sol.success
    assert calls == [signal.SIGINT]


def test_dense_output_and_derivatives_of_a_python_function():
    slow = bd.System(lambda t, x, b, p: np.array([x[1], -x[0]]), n=2, compile=False)
    sol = bd.solve(slow, (0.0, 100.0), [1.0, 0.0])
    times = np.linspace(0.0, 100.0, 2000)
    sol(times[:10])
    for what in (lambda: sol(times), lambda: sol.bderivative().matrix()):
        waited, _ = interrupted(lambda what=what: [what() for _ in range(10_000)], 0.1)
        assert waited < SOON


def test_dense_output_and_derivatives(fast):
    sol = bd.solve(fast, (0.0, 3e4), [1.0, 0.0], rtol=1e-9)
    times = np.linspace(0.0, 3e4, 5_000_000)
    sol(times[:10])
    waited, _ = interrupted(lambda: [sol(times) for _ in range(100)])
    assert waited < SOON
    B = sol.bderivative(t=100.0)
    B(np.ones(2))
    waited, _ = interrupted(lambda: [sol.bderivative().matrix() for _ in range(1000)])
    assert waited < SOON


def test_steps_across_many_contacts():
    plate = bd.models.plate(2000)
    start = bd.models.available()["plate"].start
    bd.solve(plate, (0.0, 0.5), start, rtol=1e-4)
    waited, _ = interrupted(lambda: [bd.solve(plate, (0.0, 0.5), start, rtol=1e-4) for _ in range(100_000)])
    assert waited < SOON


def test_returning_now_and_then_changes_no_bits(fast):
    # the core returns after 0.05 s; a stepper returns after every step
    whole = bd.solve(fast, (0.0, 3e4), [1.0, 0.0], rtol=1e-9, max_steps=10**9)
    again = bd.solve(fast, (0.0, 3e4), [1.0, 0.0], rtol=1e-9, max_steps=10**9)
    assert (whole.x == again.x).all()


@pytest.mark.parametrize("contacts", [100, 500])
def test_a_stepper_across_many_contacts_is_a_solve(contacts):
    plate = bd.models.plate(contacts)
    start = (0.0, 2.637, -0.046, 0.0, 0.0, 0.0)
    sol = bd.solve(plate, (0.0, 2.0), start, rtol=1e-4)
    stepper = bd.Stepper(plate, (0.0, 2.0), start, rtol=1e-4)
    while stepper.status == "running":
        stepper.step()
    assert sol.counts.spans > 10
    assert (stepper.solution.x == sol.x).all()
    assert (stepper.solution.events.t == sol.events.t).all()
    assert stepper.solution.counts == sol.counts


def slow_oscillator(t, x, b, p, dx):
    lost = 0.0
    for i in range(100_000):  # about a millisecond
        lost += math.sin(float(i) + t)
    dx[0], dx[1] = x[1], -x[0] + p[0] * lost


def test_the_search_for_the_fastest_modes_pauses(monkeypatch):
    """It goes along the whole trajectory, before tangents are propagated; where f takes long it takes seconds."""
    slow = bd.System(slow_oscillator, level, n=2, m=1, params={"none": 0.0}, jacobians="differences")
    sol = bd.solve(slow, (0.0, 30.0), [1.0, 0.0])
    codes = []

    def noted(*arguments):
        codes.append(fastest_modes(*arguments))
        return codes[-1]

    fastest_modes = refinement._fastest_modes.of_workspace()
    monkeypatch.setattr(refinement._fastest_modes, "code", noted)
    B = sol.bderivative()(np.array([1.0, 0.0]))
    assert codes[-1] == GO_ON
    assert codes[:-1] == [LOOK] * (len(codes) - 1)
    assert len(codes) > 1
    assert abs(B - [np.cos(30.0), -np.sin(30.0)]).max() < 1e-3
