"""The trajectories of a block on threads of this process: each takes the next few that nobody has taken yet."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from .kept import Kept
from .worker import MOST, Worker

if TYPE_CHECKING:
    from .._typing import FloatArray
    from .problem import Problem

SHARE = 16  # pieces for each thread among the rest: smaller ones at the end, so that no thread waits long for another,
SHORTEST = 1e-3  # but of so many seconds at least: between two pieces there is Python


def default_threads() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Queue:
    """Pieces of the rows that are left: as large as pays, smaller towards the end."""

    def __init__(self, count: int, threads: int) -> None:
        self._next, self._count, self._threads = 0, count, threads
        self._least = 1
        self._lock = threading.Lock()
        self.done = 0
        self.stopped = False

    def take(self) -> tuple[int, int] | None:
        with self._lock:
            left = self._count - self._next
            if not left or self.stopped:
                return None
            first = self._next
            size = MOST if self._threads == 1 else min(max(left // (SHARE * self._threads), self._least), MOST)
            self._next = min(first + size, self._count)
            return first, self._next

    def took(self, count: int, seconds: float) -> None:
        """So many were done in that time."""
        self.done += count  # (for the progress bar: an addition that is lost does no harm)
        self._least = max(1, min(int(count * SHORTEST / max(seconds, 1e-9)), self._count // (2 * self._threads)))


def run(
    problem: Problem,
    x0: FloatArray,
    p: FloatArray,
    count: int,
    threads: int = 1,
    look: Callable[[int], None] | None = None,
) -> Kept:
    """Integrate all rows. ``look`` is called now and then, in the calling thread, with the number of those that are done."""
    kept = Kept(problem, count)
    if problem.system._bind().calls_python:
        threads = 1  # (Python runs in one thread at a time)
    queue = _Queue(count, min(threads, count))
    first = Worker(problem, x0, p, kept)
    if queue._threads == 1:
        _work(first, queue, look)
        return kept
    failures: list[BaseException] = []

    def in_thread(worker: Worker) -> None:
        try:
            _work(worker, queue, None)
        except BaseException as error:
            failures.append(error)
            queue.stopped = True

    workers = [first, *(Worker(problem, x0, p, kept) for _ in range(queue._threads - 1))]
    crew = [threading.Thread(target=in_thread, args=(worker,), daemon=True) for worker in workers]
    try:
        for thread in crew:
            thread.start()
        for thread in crew:
            while thread.is_alive():
                thread.join(0.1)
                if look is not None:
                    look(queue.done)
    except BaseException:
        queue.stopped = True
        for thread in crew:
            thread.join()
        raise
    if failures:
        raise failures[0]
    return kept


def _work(worker: Worker, queue: _Queue, look: Callable[[int], None] | None) -> None:
    try:
        while (piece := queue.take()) is not None:
            begun = time.perf_counter()
            for _ in worker.pieces(*piece):
                if queue.stopped:
                    return
                if look is not None:
                    look(queue.done)
            queue.took(piece[1] - piece[0], time.perf_counter() - begun)
    finally:
        worker.close()
