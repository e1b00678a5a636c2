"""What is kept of the trajectories of an ensemble: arrays with a row for each, and a table of events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import outcomes
from .problem import COUNTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .problem import Problem

EVENT_FIELDS = ("event_t", "event_guard", "event_direction")
EVENT_KINDS = {"event_t": np.float64, "event_guard": np.int32, "event_direction": np.int8}


def row_arrays(problem: Problem) -> dict[str, tuple[tuple[int, ...], type]]:
    """The arrays that have a row for each trajectory: the shape of a row, and its type."""
    system, keep = problem.system, problem.keep
    arrays: dict[str, tuple[tuple[int, ...], type]] = {
        "outcome": ((), np.int8),
        "guard": ((), np.int32),
        "t": ((), np.float64),
    }
    if "x" in keep:
        arrays["x"] = (system.n,), np.float64
    if "b" in keep:
        arrays["b"] = (system.m,), np.int8
    if "counts" in keep:
        arrays["counts"] = (len(COUNTS),), np.int64
    if "events" in keep:
        arrays["event_count"] = (), np.int64
    if problem.t_eval.size:
        arrays["states"] = (problem.t_eval.size, system.n), np.float64
    if problem.derivative == "matrix":
        arrays["B"] = (system.n, problem.columns), np.float64
    elif problem.derivative == "vjp":
        arrays["cost"] = (), np.float64
        arrays["gradient"] = (problem.columns,), np.float64
    return arrays


class Kept:
    """The rows of some trajectories, of a block or of a whole ensemble."""

    def __init__(self, problem: Problem, count: int) -> None:
        self.count = count
        self.rows: dict[str, NDArray[Any]] = {
            name: np.full((count, *shape), np.nan if kind is np.float64 else 0, dtype=kind)
            for name, (shape, kind) in row_arrays(problem).items()
        }
        self._pieces: dict[int, tuple[NDArray[Any], ...]] = {}  # events, by the first row of a piece

    def address_of_states(self, row: int) -> int:
        """Where the states at the requested times of a trajectory are written."""
        states = self.rows.get("states")
        return 0 if states is None else states.ctypes.data + row * states.strides[0]

    def write(self, first: int, stop: int, found: Any, events: int) -> None:
        """Keep the rows that a worker has found, from ``first`` to before ``stop``, with so many events."""
        count, rows = stop - first, self.rows
        rows["outcome"][first:stop] = outcomes.of_codes(found.outcome[:count, 0])
        rows["guard"][first:stop] = found.outcome[:count, 1]
        rows["t"][first:stop] = found.t[:count]
        for name in ("x", "b", "counts"):
            if name in rows:
                rows[name][first:stop] = getattr(found, name)[:count]
        if "event_count" in rows:
            rows["event_count"][first:stop] = found.counts[:count, -1]
            self._pieces[first] = (
                found.event_t[:events].copy(),
                found.event_guard[:events].astype(np.int32),
                found.event_sign[:events].astype(np.int8),
            )

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by name: a row for each trajectory, and the events."""
        return {**self.rows, **(self.events() if "event_count" in self.rows else {})}

    def events(self) -> dict[str, NDArray[Any]]:
        """All events, in the order of the trajectories."""
        pieces = [self._pieces[first] for first in sorted(self._pieces)]
        return {
            name: np.concatenate([piece[q] for piece in pieces]) if pieces else np.empty(0, dtype=EVENT_KINDS[name])
            for q, name in enumerate(EVENT_FIELDS)
        }
