"""Kill the workers of ensembles at random moments: stores must have the same bytes as one that was never disturbed, and a run
must go on, or end in an error of the library after which the same call goes on.

    python -m tests.attacks.workers                 # 20 runs, a quarter of an hour
    python -m tests.attacks.workers --runs 3 --seed 7

Of a Dask cluster of two processes one worker is killed, or both at once, up to four times in a run: also while the problem
travels to them. Every fifth run has a pool of processes, which does not survive that. The exit status is 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import pathlib
import random
import signal
import sys
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
from tqdm import tqdm

import bouligand as bd
from tests.attacks.stores import contents

COUNT, BLOCK = 2000, 50
HOPPER, SPAN, OPTIONS = bd.models.hopper(), (0.0, 2.0), {"max_step": 1e-3}
X0 = np.column_stack([1.5 + np.random.default_rng(6).random(COUNT), np.zeros(COUNT)])


class Killer(threading.Thread):
    """Kills processes that run tasks, one or all of them, until it is told to stop."""

    def __init__(self, pids: Callable[[], list[int]], rng: random.Random, most: int) -> None:
        super().__init__(daemon=True)
        self._pids, self._rng, self._most = pids, rng, most
        self._over = threading.Event()
        self.kills = 0

    def run(self) -> None:
        while self.kills < self._most and not self._over.wait(self._rng.uniform(0.0, 1.5)):
            with contextlib.suppress(Exception):  # (a worker that is just being started has no number yet)
                pids = self._pids()
                for pid in pids if self._rng.random() < 0.4 else [self._rng.choice(pids)]:
                    os.kill(pid, signal.SIGKILL)
                    self.kills += 1

    def stop(self) -> None:
        self._over.set()
        self.join()


def attack(store: pathlib.Path, whole: dict[str, str], executor: Any, killer: Killer) -> tuple[str, str]:
    """How a run ends while workers are killed, and what is wrong with it."""
    killer.start()
    try:
        bd.solve_many(HOPPER, SPAN, X0, store=store, block=BLOCK, executor=executor, **OPTIONS)
        end = "went on"
    except bd.ExecutorError as error:
        end = f"ExecutorError ({str(error).split(': ')[1][:60]})"
        if "Call again" not in str(error):
            return end, f"the message does not say what to do: {error}"
    except Exception as error:
        return "another error", f"{type(error).__name__}: {error}"
    finally:
        killer.stop()
    if end != "went on":
        bd.solve_many(HOPPER, SPAN, X0, store=store, block=BLOCK, **OPTIONS)
    found = contents(store)
    different = sorted(name for name in {**whole, **found} if whole.get(name) != found.get(name))
    return end, f"different: {different[:5]}" if different else ""


def runs(count: int, seed: int, folder: pathlib.Path) -> list[str]:
    """So many runs; what is wrong with them."""
    from distributed import Client, LocalCluster

    bd.solve_many(HOPPER, SPAN, X0, store=folder / "whole.zarr", block=BLOCK, **OPTIONS)
    whole, wrong, ends, kills = contents(folder / "whole.zarr"), [], [], 0
    for number in tqdm(range(count), desc="runs"):
        rng = random.Random(seed + number)
        store = folder / f"{number}.zarr"
        if number % 5 == 4:
            pool = ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))
            with pool:
                killer = Killer(lambda pool=pool: list(pool._processes), rng, 1)  # type: ignore[misc]
                end, text = attack(store, whole, pool, killer)
        else:
            with (
                LocalCluster(
                    n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
                ) as cluster,
                Client(cluster) as client,
            ):
                killer = Killer(lambda c=cluster: [w.pid for w in c.workers.values()], rng, 4)  # type: ignore[misc]
                end, text = attack(store, whole, client, killer)
        ends.append(end)
        kills += killer.kills
        if text:
            wrong.append(f"run {number} (seed {seed}): {text}")
    said = ", ".join(f"{ends.count(end)} {end}" for end in sorted(set(ends)))
    print(f"{count} runs, {kills} workers killed (seed {seed}): {said}; {len(wrong)} wrong")
    return wrong


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Kill workers of ensembles, and compare their stores.")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as place:
        wrong = runs(chosen.runs, chosen.seed, pathlib.Path(place))
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    sys.exit(main())
