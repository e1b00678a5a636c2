"""Median times of functions that are run in turn, so that changes of the machine's speed affect all of them equally."""

import time

import numpy as np


def interleaved(functions, rounds=15, seconds=0.02, budget=None, tick=None):
    """Median time of each function in seconds, all measured in turn.

    A round calls a function as often as fits into ``seconds`` (at least once). A function of which ``rounds`` calls would take
    longer than ``budget`` seconds takes part in fewer rounds: at least three, or one if a single call takes longer than
    that. ``tick()`` is called after every round.
    """
    counts, turns = [], []
    for function in functions:
        function()  # once before: compile, allocate, fill the caches
        began = time.perf_counter()
        function()
        once = max(time.perf_counter() - began, 1e-7)
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
            began = time.perf_counter()
            for _ in range(count):
                function()
            record.append((time.perf_counter() - began) / count)
        if tick is not None:
            tick()
    return [float(np.median(record)) for record in times]


def rms(difference):
    """Root mean square over times and components."""
    return float(np.sqrt(np.mean(np.square(difference))))
