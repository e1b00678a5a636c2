"""Blocks on an executor: anything with ``submit`` (concurrent.futures, loky, a Dask client)."""

from __future__ import annotations

import queue
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from . import blocks

if TYPE_CHECKING:
    from .inputs import Inputs
    from .problem import Problem
    from .store import Store

AHEAD = 3  # blocks that are handed over for each worker, so that none waits
PATIENCE = 0.5  # seconds between two looks at other things

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
    after other things. No more blocks are handed over than are needed to keep all workers busy."""
    packed: Any = blocks.pack(problem)
    if hasattr(executor, "scatter"):  # Dask: the problem travels once to each worker
        packed = executor.scatter(packed, broadcast=True)
    done: queue.SimpleQueue[Any] = queue.SimpleQueue()
    more = iter(todo)
    running: set[Any] = set()
    options = {"pure": False} if hasattr(executor, "scatter") else {}
    try:
        while True:
            while len(running) < AHEAD * workers(executor):
                block = next(more, None)
                if block is None:
                    break
                number, inputs, first, stop = block
                future = executor.submit(blocks.run_task, packed, inputs, first, stop, number, store, **options)
                running.add(future)
                future.add_done_callback(done.put)
            if not running:
                return
            try:
                future = done.get(timeout=PATIENCE)
            except queue.Empty:
                yield None
                continue
            running.discard(future)
            yield future.result()
    finally:
        for future in running:
            future.cancel()
