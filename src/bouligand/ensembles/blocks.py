"""One block of an ensemble, as a task for whoever runs it: this process, one of a pool, or a worker of a cluster."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import threads as on_threads
from .derivatives import add_derivatives
from .store import Store, starts_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .inputs import Inputs
    from .problem import Problem


def integrate(
    problem: Problem, inputs: Inputs, first: int, stop: int, threads: int, look: Callable[[int], None] | None = None
) -> dict[str, NDArray[Any]]:
    """All arrays of the trajectories from ``first`` to before ``stop``."""
    x0, p = inputs.rows(first, stop)
    kept = on_threads.run(problem, x0, p, stop - first, threads, look)
    if problem.derivative is not None:
        add_derivatives(problem, x0, p, kept)
    return kept.arrays()


def pack(problem: Problem) -> bytes:
    """A problem as bytes, which travel to workers as they are. (cloudpickle also takes functions of a notebook.)"""
    try:
        packer: Any = import_module("cloudpickle")
    except ImportError:
        packer = pickle
    packed: bytes = packer.dumps(problem)
    return packed


@lru_cache(maxsize=4)
def unpack(packed: bytes) -> Problem:
    """The problem, unpacked once in a process, so that its functions are compiled (or read from the disk) once."""
    problem: Problem = pickle.loads(packed)
    return problem


def run_task(
    packed: bytes, inputs: Inputs, first: int, stop: int, number: int, store: Store | None, threads: int = 1
) -> tuple[int, Any]:
    """Integrate a block: its number comes back, and its arrays; or, where it is written to a store, its mark."""
    arrays = integrate(unpack(packed), inputs, first, stop, threads)
    if store is None:
        return number, arrays
    return number, write(store, number, arrays, inputs, first, stop)


def write(store: Store, number: int, arrays: dict[str, Any], inputs: Inputs, first: int, stop: int) -> dict[str, Any]:
    """Write a block with its own inputs to a store."""
    return store.write(number, {**arrays, **inputs.kept_rows(first, stop)}, starts_of(inputs, first, stop))


def hello() -> str:
    """The first task that an executor is given: does it take any?"""
    return "hello"
