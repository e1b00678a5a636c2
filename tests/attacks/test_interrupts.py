"""A short part of the attack by Ctrl-C and forks, and what it rests on."""

import os
import signal
import subprocess
import sys
import threading

import pytest

import bouligand as bd
from bouligand._undivided import undivided
from tests.attacks import interrupts

pytestmark = pytest.mark.skipif(os.name == "nt", reason="it is about POSIX signals and forks")


@pytest.fixture(autouse=True)
def usual_handler():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.fresh
def test_ctrl_c_at_imports_of_a_first_use():
    right, _, imports = interrupts.undisturbed(None)
    for at in (imports // 3, imports // 2):  # (of NumPy and Numba: each package was broken by that for good)
        assert interrupts.session(None, right, at=at) == (True, "")


@pytest.mark.fresh
@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
def test_children_forked_while_threads_compile():
    assert interrupts.forks(2, 0.3) == []


def test_ctrl_c_waits_for_the_end_of_undivided_work():
    done = []

    def work():
        with undivided():
            with undivided():  # (one inside another does not answer)
                signal.raise_signal(signal.SIGINT)
                done.append("inner")
            done.append("outer")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["inner", "outer"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler

    @undivided()
    def twice():
        signal.raise_signal(signal.SIGINT)
        done.append("decorated")

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            twice()
    assert done[2:] == ["decorated", "decorated"]


def test_handlers_of_others_are_called_or_left_alone():
    calls = []
    mine = lambda number, frame: calls.append((number, frame is not None))  # noqa: E731
    signal.signal(signal.SIGINT, mine)
    with undivided():
        signal.raise_signal(signal.SIGINT)
        assert calls == []
    assert calls == [(signal.SIGINT, True)]
    assert signal.getsignal(signal.SIGINT) is mine
    for other in (signal.SIG_IGN, signal.SIG_DFL):
        signal.signal(signal.SIGINT, other)
        with undivided():
            assert signal.getsignal(signal.SIGINT) == other
    signal.signal(signal.SIGINT, mine)
    with undivided():  # (somebody sets another one meanwhile)
        signal.signal(signal.SIGINT, signal.default_int_handler)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_are_not_concerned():
    def enter():
        with undivided():
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
            finished.append(True)

    finished: list[bool] = []
    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert finished == [True]


SUBINTERPRETER = """
import sys
interpreters = __import__("_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters")
print(interpreters.run_string(interpreters.create(), "import bouligand"))
"""


def test_a_subinterpreter_is_refused_in_one_sentence():
    run = subprocess.run(
        [sys.executable, "-c", SUBINTERPRETER],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(bd.__file__))},
    )
    assert "bouligand was imported in a subinterpreter" in run.stdout + run.stderr
