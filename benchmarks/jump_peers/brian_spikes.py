"""Brian2, in a process with an environment of its own (it needs NumPy below 2.3): ``BRIAN2_PYTHON`` names its Python.

    python -m venv ELSEWHERE && ELSEWHERE/bin/pip install brian2 'numpy<2.3' && export BRIAN2_PYTHON=ELSEWHERE/bin/python

Its spikes are on a grid of time steps. The request, less than a millisecond, is timed with the run. (It is not given the
population with pulses: there pulses of neurons that fire because of a spike arrive one step later, which is another law.)
"""

import pathlib
from types import SimpleNamespace

from benchmarks.elsewhere import elsewhere

from . import arm

brian = elsewhere(pathlib.Path(__file__).with_name("brian_server.py"), "BRIAN2_PYTHON", "Brian2")


def build(problem, setting):
    method, dt = setting
    number = brian.ask(build=problem.key, method=method, dt=dt)["number"]

    def solve():
        answer = brian.ask(run=number)
        return answer["times"], answer["end"]

    return arm(problem, f"{method}, dt={dt:g} ms", solve)


def settings(problem):
    return [("euler", 0.1), ("rk4", 0.1), ("rk4", 0.01), ("rk4", 0.001)] if problem.key == "adex" else []


PEERS = [
    SimpleNamespace(
        NAME="Brian2",
        PACKAGE=None,
        GIVEN="its own equations, in a process of its own; spikes on its grid",
        settings=settings,
        build=build,
    )
]
