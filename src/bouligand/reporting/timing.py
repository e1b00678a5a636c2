"""Median times of functions that are run in turn, so that changes of the machine's speed affect all of them equally."""

import time

import numpy as np


def interleaved(functions, rounds=15, seconds=0.02, budget=None, tick=None, clock=time.perf_counter):
    """Median time of each function in seconds, all measured in turn.

    A round calls a function as often as fits into ``seconds`` (at least once). A function of which ``rounds`` calls would take
    longer than ``budget`` seconds takes part in fewer rounds: at least three, or one if a single call takes longer than
    that. ``tick()`` is called after every round. ``clock``: `time.thread_time` does not count what else the machine does.
    """
    counts, turns = [], []
    for function in functions:
        function()  # once before: compile, allocate, fill the caches
        began = clock()
        function()
        once = max(clock() - began, 1e-7)
        counts.append(max(1, int(seconds / once)))
        fewest = 3 if budget is None or once < budget else 1
        turns.append(
            rounds if budget is None else int(np.clip(budget / (once * counts[-1]), min(fewest, rounds), rounds))
        )
    times: list[list[float]] = [[] for _ in functions]
    for turn in range(rounds):
        for record, function, count, share in zip(times, functions, counts, turns, strict=True):
            if turn * share // rounds < len(record):
                continue  # slow functions take part in fewer rounds
            began = clock()
            for _ in range(count):
                function()
            record.append((clock() - began) / count)
        if tick is not None:
            tick()
    return [float(np.median(record)) for record in times]


def rms(difference):
    """Root mean square over times and components."""
    return float(np.sqrt(np.mean(np.square(difference))))
