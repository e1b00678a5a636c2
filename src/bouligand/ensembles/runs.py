"""Runs of an ensemble block by block: in memory or into a store, in this process or on an executor."""

from __future__ import annotations

import pathlib
import time
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from .._made import make
from .._optional import need
from ..errors import StoreError, StoreMismatchError, StoreWarning
from ..system.warning import warn_user
from . import blocks, executors, metadata
from .arrays import InMemory
from .ensemble import Ensemble
from .identity import digest, identity
from .inputs import Inputs, StoredInputs, plain
from .kept import EVENT_FIELDS, row_arrays
from .layout import Layout
from .lock import Lock
from .progress import Progress
from .store import AGAIN, Store, starts_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._typing import Path
    from .problem import Problem

SECONDS = 1.0  # of work in a block
MOST_BYTES = 64_000_000  # of results in a block
PILOT = 32  # trajectories that are timed before

Arrays = dict[str, "NDArray[Any]"]


def in_memory(
    problem: Problem, inputs: Inputs | Iterator[Inputs], threads: int, executor: Any, block: int | None, progress: Any
) -> Ensemble:
    """All trajectories, their arrays in memory."""
    if isinstance(inputs, Inputs):
        if executor is None and block is None:
            with Progress(progress, inputs.count) as bar:
                arrays = blocks.integrate(problem, inputs, 0, inputs.count, threads, bar.at)
            return make(Ensemble, problem, inputs, InMemory(arrays))
        layout = Layout((inputs.count,), (block or _block_size(problem, inputs, executor),))
        todo = ((number, inputs, *layout.rows(number)) for number in layout)
        found = dict(_results(problem, todo, threads, executor, None, progress, inputs.count))
        return make(Ensemble, problem, inputs, InMemory(_joined([found[number] for number in layout])))
    given: list[Inputs] = []

    def each() -> Iterator[tuple[int, Inputs, int, int]]:
        for number, part in enumerate(inputs):
            given.append(part)
            yield number, part, 0, part.count

    found = dict(_results(problem, each(), threads, executor, None, progress, None))
    if not given:
        raise ValueError("x0: the iterator gives no blocks")
    x0, p = (
        np.concatenate(
            [np.broadcast_to(getattr(part, name), (part.count, getattr(part, name).shape[1])) for part in given]
        )
        for name in ("x0", "p")
    )
    return make(Ensemble, problem, plain(x0, p, len(x0)), InMemory(_joined([found[q] for q in range(len(given))])))


def in_store(
    problem: Problem,
    inputs: Inputs | Iterator[Inputs],
    threads: int,
    executor: Any,
    block: int | None,
    progress: Any,
    path: Path,
    resume: bool,
    given: str | None,
) -> Ensemble:
    """All trajectories, in a store. What is done there already is skipped."""
    need("zarr", "cluster")
    mine = identity(problem, given)
    path = pathlib.Path(path).absolute()
    if _is_there(path) and not resume:
        raise StoreError(f"store: {path} is there already; give another one, or resume=True to go on with it")
    with Lock(path.with_name(path.name + ".lock")) as lock:  # (taken when something is to be written)
        if isinstance(inputs, Inputs):
            ensemble, store = _array_into_store(problem, mine, inputs, threads, executor, block, progress, path, lock)
        else:
            ensemble, store = _stream_into_store(problem, mine, inputs, threads, executor, progress, path, lock)
    _say_what_is_damaged(store)
    return ensemble


def _is_there(path: pathlib.Path) -> bool:
    """Whether there is a store at a path; an error if there is something else."""
    try:
        if not path.exists():
            return False
        if (path / metadata.FILE).is_file():
            return True
    except OSError as error:
        raise StoreError(f"store: {path} cannot be read: {error.strerror or error}") from error
    raise StoreError(f"store: {path} is there, and is not a store of solve_many")


def _array_into_store(
    problem: Problem,
    mine: dict[str, str],
    inputs: Inputs,
    threads: int,
    executor: Any,
    block: int | None,
    progress: Any,
    path: pathlib.Path,
    lock: Lock,
) -> tuple[Ensemble, Store]:
    mine = {**mine, **_common(inputs)}
    shape = (inputs.count,) if inputs.grid is None else inputs.grid.shape
    if not _is_there(path):
        lock.acquire()
    if _is_there(path):
        store = Store(path)
        store.check(mine, shape)
    else:
        layout = Layout.cut(shape, block or _block_size(problem, inputs, executor))
        store = Store.make(path, problem, inputs, layout, mine)
    left, done = [], 0
    for number in store.layout:
        rows = store.layout.rows(number)
        if _is_done(store, number, inputs, *rows):
            done += rows[1] - rows[0]
        else:
            left.append(number)
    if left:
        _begin(store, lock)
    todo = ((number, inputs, *store.layout.rows(number)) for number in left)
    for _ in _results(problem, todo, threads, executor, store, progress, inputs.count, lock, done):
        pass
    return make(Ensemble, problem, inputs, store), store


def _stream_into_store(
    problem: Problem,
    mine: dict[str, str],
    inputs: Iterator[Inputs],
    threads: int,
    executor: Any,
    progress: Any,
    path: pathlib.Path,
    lock: Lock,
) -> tuple[Ensemble, Store]:
    first = next(inputs, None)
    if first is None:
        raise ValueError("x0: the iterator gives no blocks")
    first = first.spread()
    if not _is_there(path):
        lock.acquire()
    if _is_there(path):
        store = Store(path)
        store.check(mine, None)
    else:
        store = Store.make(path, problem, first, Layout((first.count,), (first.count,)), mine, stream=True)
    length = store.layout.chunk[0]

    def each() -> Iterator[tuple[int, Inputs, int, int]]:
        short = False
        for number, part in enumerate(chain([first], inputs)):
            part = part.spread()
            if short or part.count > length:
                raise ValueError(
                    f"x0: all blocks but the last must have {length} rows; block {number - short} does not"
                )
            short = part.count < length
            count = number * length + part.count
            if count > store.layout.count:
                _begin(store, lock)
                store.grow(count)
            if not _is_done(store, number, part, 0, part.count):
                _begin(store, lock)
                yield number, part, 0, part.count

    for _ in _results(problem, each(), threads, executor, store, progress, None, lock):
        pass
    return make(Ensemble, problem, StoredInputs(store), store), store


def _begin(store: Store, lock: Lock) -> None:
    """Before something is written: nobody else may write, and what was left by others is removed."""
    if lock.acquire():
        store.clean()


def _is_done(store: Store, number: int, inputs: Inputs, first: int, stop: int) -> bool:
    """Whether a block is done (it may be damaged); an error if that was from other starts."""
    starts = store.starts(number)
    if starts is None:
        return False
    if starts and starts != starts_of(inputs, first, stop):
        raise StoreMismatchError(
            f"{store.path} holds the results of other starts or parameters: block {number} differs. Give another store, or "
            "remove this one"
        )
    store.look_at(number)
    return True


def _say_what_is_damaged(store: Store) -> None:
    columns = store.look_at_columns()
    if columns:
        warn_user(f"{store.path}: what xarray reads as {', '.join(columns)} is missing or damaged", StoreWarning)
    if store.damaged:
        number, what = next(iter(store.damaged.items()))
        many = f"{len(store.damaged)} of {len(store.layout)} blocks are" if len(store.damaged) > 1 else "a block is"
        text = f"{store.path}: {many} damaged (block {number}: {what}). Reading it is an error; {AGAIN}"
        warn_user(text, StoreWarning)


def _common(inputs: Inputs) -> dict[str, str]:
    """The part of the inputs that all trajectories have in common, for the hash of the problem."""
    axes = None if inputs.grid is None else inputs.grid.axes
    given = {name: rows if len(rows) == 1 else None for name, rows in (("x0", inputs.x0), ("p", inputs.p))}
    return {"the grid": digest(axes), **{name: digest(rows) for name, rows in given.items()}}


def _results(
    problem: Problem,
    todo: Iterator[tuple[int, Inputs, int, int]],
    threads: int,
    executor: Any,
    store: Store | None,
    progress: Any,
    total: int | None,
    lock: Lock | None = None,
    done: int = 0,
) -> Iterator[tuple[int, Any]]:
    """Number and result (arrays, or the mark of what was written) of each block."""
    with Progress(progress, total) as bar:
        bar.begin(done)

        def look(more: int) -> None:
            bar.at(done + more)
            if lock is not None:
                lock.refresh()

        if executor is None:
            for number, inputs, first, stop in todo:
                arrays = blocks.integrate(problem, inputs, first, stop, threads, look)
                result = arrays if store is None else blocks.write(store, number, arrays, inputs, first, stop)
                done += stop - first
                look(0)
                yield number, result
            return
        lengths = {}

        def parts() -> Iterator[executors.Block]:
            for number, inputs, first, stop in todo:
                lengths[number] = stop - first
                yield number, *inputs.part(first, stop)

        for found in executors.run(executor, problem, parts(), store):
            if found is not None:
                done += lengths.pop(found[0])
                yield found
            look(0)


def _joined(found: list[Arrays]) -> Arrays:
    """The arrays of all blocks."""
    return {name: np.concatenate([arrays[name] for arrays in found]) for name in found[0]}


def _block_size(problem: Problem, inputs: Inputs, executor: Any) -> int:
    """Trajectories for a second's work, by the time that some take (of all over the ensemble); for a small ensemble on an
    executor, a few blocks for each worker."""
    count = inputs.count
    some = np.unique(np.linspace(0, count - 1, PILOT).astype(np.int64))
    rows = [inputs.row(int(i)) for i in some]
    pilot = plain(np.array([row[0] for row in rows]), np.array([row[1] for row in rows]), len(rows))
    blocks.integrate(problem, plain(pilot.x0[:1], pilot.p[:1], 1), 0, 1, 1)  # (compiles)
    begun = time.perf_counter()
    arrays = blocks.integrate(problem, pilot, 0, len(rows), 1)
    each = (time.perf_counter() - begun) / len(rows)
    width = sum(arrays[name].nbytes for name in (*row_arrays(problem), *EVENT_FIELDS) if name in arrays) / len(rows)
    size = min(SECONDS / each, MOST_BYTES / max(width, 1.0))
    if executor is not None:
        size = min(size, -(-count // (4 * executors.workers(executor))))
    return int(max(1, min(size, count)))
