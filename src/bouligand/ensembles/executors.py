"""Blocks on an executor: anything with ``submit`` (concurrent.futures, loky, a Dask client)."""

from __future__ import annotations

import contextlib
import queue
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError
from typing import TYPE_CHECKING, Any

from ..errors import ExecutorError
from . import blocks

if TYPE_CHECKING:
    from .inputs import Inputs
    from .problem import Problem
    from .store import Store

AHEAD = 3  # blocks that are handed over for each worker, so that none waits
PATIENCE = 0.5  # seconds between two looks at other things
TRIES = 6  # how often a block is handed over, if its workers are killed
FETCH = 30.0  # seconds for a result that is done to come here: its worker may be killed before it does
ALONE = 60.0  # seconds in which a cluster may start other workers, when all were killed

_GONE = (
    "executor: {what} ({error}). Call again, with an executor that works (a pool of processes must be made anew when one of them "
    "was killed). With store=..., blocks that are done are kept and skipped"
)

Block = tuple[int, "Inputs", int, int]  # number, inputs, and which of their rows


def check(executor: Any) -> None:
    """An error before anything runs, if this is no executor, or takes no tasks."""
    if not hasattr(executor, "submit"):
        raise TypeError(
            f"executor must have a method submit (concurrent.futures, loky, a Dask Client); got {executor!r}"
        )
    try:
        executor.submit(blocks.hello).result()
    except Exception as error:
        if _is_lost(error):
            raise ExecutorError(_GONE.format(what="it lost its first task", error=_in_words(error))) from error
        raise ValueError(f"executor does not run tasks: {type(error).__name__}: {error}") from error


def workers(executor: Any) -> int:
    """How many tasks it runs at once, as far as it says."""
    count = getattr(executor, "_max_workers", None)
    if count is None and hasattr(executor, "nthreads"):  # a Dask client
        count = sum(executor.nthreads().values())
    return int(count or 4)


def run(
    executor: Any, problem: Problem, todo: Iterable[Block], store: Store | None
) -> Iterator[tuple[int, Any] | None]:
    """Number and result of each block, in the order in which they are done; None now and then, so that the caller can look
    after other things. No more blocks are handed over than are needed to keep all workers busy.

    Blocks whose workers were killed are handed over again, some times; an ExecutorError if that does not help.
    """
    cluster = _Cluster(executor, problem, store)
    more = iter(todo)
    try:
        while True:
            while len(cluster.running) < AHEAD * cluster.size():
                block = next(more, None)
                if block is None:
                    break
                cluster.hand_over(block)
            if not cluster.running:
                return
            yield cluster.result()
    finally:
        cluster.cancel()


class _Cluster:
    """An executor, with the problem as it travels to its workers, and the tasks that it has been given."""

    def __init__(self, executor: Any, problem: Problem, store: Store | None) -> None:
        self._executor, self._store = executor, store
        self._packed = blocks.pack(problem)
        self._scatters = hasattr(executor, "scatter")  # Dask: the problem travels once to each worker
        self._scattered: Any = None  # where it is there
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.running: dict[Any, tuple[Block, int, Any]] = {}  # block, how often it was lost, and the scattered problem
        self._heard = time.monotonic()  # when there was a result, or a worker

    def size(self) -> int:
        with _errors_of_executor():
            return workers(self._executor)

    def hand_over(self, block: Block, lost: int = 0) -> None:
        """Submit a block."""
        number, inputs, first, stop = block
        packed: Any = self._packed
        options: dict[str, Any] = {}
        with _errors_of_executor():
            if self._scatters:
                if self._scattered is None:
                    # (under another name each time: Dask remembers that the last one was lost)
                    self._scattered = self._executor.scatter(packed, broadcast=True, hash=False)
                packed, options = self._scattered, {"pure": False}
            future = self._executor.submit(blocks.run_task, packed, inputs, first, stop, number, self._store, **options)
            self.running[future] = block, lost, packed
            future.add_done_callback(self._done.put)

    def result(self) -> tuple[int, Any] | None:
        """Number and result of a block, as soon as one is done; None after a while, or if it was lost."""
        try:
            future = self._done.get(timeout=PATIENCE)
        except queue.Empty:
            self._look_for_workers()
            return None
        block, lost, packed = self.running.pop(future)
        self._heard = time.monotonic()
        try:
            result: tuple[int, Any] = future.result(timeout=FETCH)
            return result
        except Exception as error:
            if not _is_lost(error):
                raise
            if isinstance(error, BrokenExecutor) or lost + 1 == TRIES:
                often = f"block {block[0]} was lost {lost + 1} times" if lost else "a worker was lost"
                raise ExecutorError(_GONE.format(what=often, error=_in_words(error))) from error
        if packed is self._scattered:
            self._scattered = None  # (perhaps its workers were the ones that had the problem)
        self.hand_over(block, lost + 1)
        return None

    def _look_for_workers(self) -> None:
        """After some time without a result: is there anybody left? (A cluster may start others for those that were killed.)"""
        if not hasattr(self._executor, "nthreads") or time.monotonic() - self._heard < ALONE / 10.0:
            return
        with _errors_of_executor():
            there = self._executor.nthreads()
        if there:
            self._heard = time.monotonic()
        elif time.monotonic() - self._heard > ALONE:
            raise ExecutorError(_GONE.format(what=f"there has been no worker for {ALONE:g} s", error="none came back"))

    def cancel(self) -> None:
        """Take back what is not done."""
        for future in self.running:
            with contextlib.suppress(Exception):  # (of an executor that is gone)
                future.cancel()


def _is_lost(error: Exception) -> bool:
    """Whether a task was lost with its worker, or on its way; else it is an error of its own."""
    ours = CancelledError, BrokenExecutor, TimeoutError
    return isinstance(error, ours) or type(error).__module__.partition(".")[0] == "distributed"


@contextlib.contextmanager
def _errors_of_executor() -> Iterator[None]:
    """What an executor raises by itself, because its processes or its scheduler are gone, as an error of this library."""
    try:
        yield
    except Exception as error:
        raise ExecutorError(_GONE.format(what="it takes no tasks any more", error=_in_words(error))) from error


def _in_words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".strip(": ")
