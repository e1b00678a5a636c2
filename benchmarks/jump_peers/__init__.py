"""The peers of the comparison with jumps, one a file, with the interface of `benchmarks.peers`.

An arm's ``run`` and ``sample`` return the same here: the times of all events, and the state at the end (`Problem.result`).
"""

from importlib import import_module

import numpy as np

from benchmarks.peers import Arm

MODULES = ("scipy_jumps", "heyoka_jumps", "diffrax_jumps", "mujoco_bounce", "drake_jumps", "brian_spikes", "ours")


def arm(problem, setting, solve):
    """``solve()`` returns the times of events and the state at the end."""
    count = [0]

    def run():
        times, end = solve()
        count[0] = len(times)
        return problem.result(np.asarray(times), np.asarray(end))

    return Arm(setting, run, lambda: run()[None], lambda: count[0])


def load(only=None):
    """The peers that can be used, and the names of those that cannot, with the reason."""
    usable, skipped = [], {}
    for name in MODULES:
        if only and name not in only:
            continue
        try:
            usable.extend(import_module(f"{__name__}.{name}").PEERS)
        except ImportError as error:
            skipped[name] = f"not installed ({error})"
    return usable, skipped
