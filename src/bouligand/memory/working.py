"""The workspace of one run of the core, in one buffer: scalars, vectors of the state's size, values for each guard, parameters;
and, for an integration, the first rows of its record.

A short integration takes ten microseconds; allocating and filling half a dozen arrays would add half of that. So there is one
allocation, and for each size a cached layout of it.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .._undivided import undivided
from ..core.state import EVENT, FUNCTIONS, GUARD_ROWS, SCALARS, START_SIZE, STATE_ROWS, STEP, WORD, WORK
from ..core.views import KeptRowsView, RowsView, quick_rows, record_view
from .tables import Placed, TableMemory, enlarged, pack_record, place_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._typing import FloatArray, IntArray, RecordArray
    from ..core.state import Rows
    from ..system.system import System
    from ..system.user_memory import Lease

    Declared: TypeAlias = tuple[memoryview[Any], list[tuple[str, int]]]

write_times = struct.Struct(f"{START_SIZE}d").pack_into  # like a memory's own ``write``, without the state

NO_FUNCTIONS = np.zeros(1, dtype=FUNCTIONS)
NO_TIMES = np.empty(0)
NO_ADDRESSES = np.empty(0, dtype=np.int64)
NO_MATRIX = np.empty((0, 0))
NO_UNITS = np.empty((0, 2), dtype=np.int64)
NOTHING_GIVEN: dict[str, NDArray[Any]] = {
    "fn": NO_FUNCTIONS, "units": NO_UNITS, "reset": NO_MATRIX, "Dh": NO_MATRIX, "breaks": NO_TIMES, "t_eval": NO_TIMES,
    "x_eval": NO_MATRIX, "jumps": NO_ADDRESSES, "jump_order": NO_ADDRESSES,
}  # fmt: skip

FIRST_LEG = np.zeros(1, dtype=np.int64)  # the rows from which on parameters hold that are never changed
_AT_FIRST_LEG = place_of(FIRST_LEG)

Scalars = record_view(SCALARS)
_read_place = struct.Struct("3q").unpack_from
_read_places = struct.Struct("12q").unpack_from  # of steps, states, events and breaks
_AT_P, _AT_STEPS = 24 * WORK.places["p"], 24 * WORK.places["steps"]


class Working(TableMemory):
    """The workspace of one run: each array that `core.state.WORK` names is an attribute of the same name.

    ``rows`` and ``events``: the initial capacity for steps and crossings; zero where a record is only replayed.
    """

    # what each integration uses, for faster access (what `put` sets stands in the instance's dictionary)
    __slots__ = ("address", "begin", "buffer", "g", "guards", "head", "p", "parameters", "s", "state", "v", "write")

    rows_view: Callable[[Rows, FloatArray], RowsView] = KeptRowsView
    slides = False  # whether its functions know sliding modes
    # set by `put`
    fn: RecordArray
    Dh: FloatArray
    breaks: FloatArray
    t_eval: FloatArray
    x_eval: FloatArray
    steps: RecordArray
    states: FloatArray
    events: RecordArray
    event_times: FloatArray

    def __init__(
        self,
        n: int,
        m: int,
        parameters: int,
        rows: int = 0,
        events: int = 0,
        units: IntArray = NO_UNITS,
        reset: FloatArray = NO_MATRIX,
    ) -> None:
        plan = _plan(n, m, parameters, rows, events)
        self.kind = WORK
        buffer = self.buffer = np.empty(plan.size)
        parts = plan.cut(buffer)
        # (memoryviews are written faster than arrays, and refuse what is no vector of numbers)
        self.plan = plan
        self.head: memoryview[Any] = parts["s"].data
        self.begin: memoryview[Any] = buffer[plan.start : plan.start + START_SIZE + n].data
        self.state: Any = self.begin[START_SIZE:]
        self.s = Scalars(self.head)
        self.v = self.rows_view(STATE_ROWS, parts["v"].reshape(-1, n))
        guards = parts["g"].reshape(GUARD_ROWS.count, m)
        guards.fill(0.0)
        self.guards: memoryview[Any] = parts["g"].data
        self.g = self.rows_view(GUARD_ROWS, guards)
        self.p = parts["p"]
        self.parameters: Any = self.p.data
        self.steps, self.states = parts["steps"].view(STEP), parts["states"].reshape(rows, n)
        self.events, self.event_times = parts["events"].view(EVENT), parts["event_times"]
        # write(begin, 0, t0, t0, tf, tf, *x0): the last scalars and the state, which differ in each integration
        self.write = plan.write
        table = plan.table.copy()
        table[plan.own, 0] += buffer.ctypes.data
        self._connect(table)
        self.__dict__ |= NOTHING_GIVEN
        TableMemory.put(self, "units", units)
        TableMemory.put(self, "reset", reset)

    @property
    def size(self) -> int:
        """Of the buffer, in 8-byte numbers."""
        return self.buffer.size

    def bind(self, fn: RecordArray, has_jacobian: bool) -> None:
        """Let the core call these functions."""
        if self.fn is not fn:
            self.put("fn", fn)
            self.slides = bool(fn["multipliers"][0])
        if self.slides:  # h of a guard depends on whether it is slid on: where the word is
            ctypes.c_int64.from_address(int(fn["context"][0]) + 8 * WORD).value = self.g._matrix.ctypes.data
        if has_jacobian and self.Dh is NO_MATRIX:
            self.put("Dh", np.empty((self.g.width, self.v.width)))

    def fill(self) -> None:
        """Set every scalar and every row to zero, before a record is replayed."""
        self.buffer.fill(0.0)

    def release(self) -> None:
        """Forget the record that was replayed: its arrays belong to an integration, whose memory may be waiting for reuse."""
        self.replayed = None
        for name in ("t_eval", "x_eval"):
            self.__dict__[name] = None


class IntegrationMemory(Working):
    """The workspace of an integration, which the next one of the same system may reuse.

    ``room``: number of steps, and at least of crossings, that it can hold before it has to grow."""

    __slots__ = ("declared", "idle", "lease", "marked", "replaced", "room", "solution", "usual")

    rows_view = staticmethod(quick_rows)  # (kept rows would count as users of the memory: see `pool`)

    def __init__(self, system: System, room: int) -> None:
        rows = max(8, min(room, 4_000_000 // (system.n + 5)))
        each = 8 if system._is_sum else 2 if system._special else 0  # events of each guard, besides
        events = room + each * system.m
        super().__init__(system.n, system.m, len(system.defaults), rows, events, system.unit, system.reset)
        self.usual = {name: getattr(self, name) for name in _OWN_OF_ONE_RUN}
        self.room = room
        self.marked = False  # whether an integration left options in ``g``, or arrays of its own:
        self.replaced = False  # the latter
        # what each integration of a system begins with, if that has one-sided guards, observers or jumps: see `options.declare`
        self.declared: Declared | None = None
        self.lease: Lease | None = None  # of a context that belongs to this memory
        self.idle = 0  # number of references to it and to its buffer while it is not in use
        self.solution: Callable[[], Any] = _no_solution  # a weak reference to the solution that reads from it

    def put(self, name: str, array: NDArray[Any] | TableMemory) -> None:
        self.marked = self.replaced = True  # (first: a Ctrl-C may come between any two of these lines)
        super().put(name, array)
        if name == "events" and len(self.event_times) < len(self.events):
            super().put("event_times", np.empty(len(self.events)))

    def bind(self, fn: RecordArray, has_jacobian: bool) -> None:
        super().bind(fn, has_jacobian)
        self.usual |= {"fn": fn, "Dh": self.Dh}

    def placed(self, steps: RecordArray, states: FloatArray, events: RecordArray) -> Placed:
        """As `Placed.of`, of the record of this integration, with the same parameters from its start on: the table has the
        addresses."""
        at, (p, parameters, _), rows = _read_places(self._bytes, _AT_STEPS), _read_place(self._bytes, _AT_P), len(steps)
        of_rows = (at[0], rows, 1, at[3], rows, at[5], at[6], len(events), 1)
        kept = steps, states, events, self.breaks, self.p
        return Placed(kept, pack_record(*of_rows, *at[9:], p, 1, parameters, *_AT_FIRST_LEG))

    def contents(self) -> tuple[FloatArray, dict[str, NDArray[Any]]]:
        """Copies of all that it holds, to be written to another memory of the same system with `restore`."""
        return self.without_record.copy(), {name: getattr(self, name).copy() for name in _PICKLED}

    def restore(self, contents: tuple[FloatArray, dict[str, NDArray[Any]]]) -> None:
        """Write the `contents` of another one to this one."""
        values, arrays = contents
        self.without_record[:] = values
        for name, array in arrays.items():
            self.put(name, array)

    @property
    def without_record(self) -> FloatArray:
        """The part of the buffer whose size does not depend on the room for steps and crossings."""
        return self.buffer[: self.plan.places["steps"].start]

    def clear(self) -> None:
        """Undo what an integration with special options has left."""
        if self.declared is None:  # (else all of it is written before the next one)
            self.g._matrix.fill(0.0)
        if self.replaced:
            for name, array in self.usual.items():
                if getattr(self, name) is not array:
                    self.put(name, array)
        self.marked = self.replaced = False

    @property
    def has_grown(self) -> bool:
        """Whether its integration had more steps or crossings than there is room for in its buffer."""
        return self.steps is not self.usual["steps"] or self.events is not self.usual["events"]

    def grow(self, name: str) -> None:
        """Quadruple the capacity of the record, or of the event table (``"events"``). A Ctrl-C on the way leaves it as it was."""
        tables, used = (("events",), self.s.rows.events) if name == "events" else (_RECORD, self.s.rows.records)
        bigger = {which: enlarged(getattr(self, which), used) for which in tables}
        with undivided():  # (never steps without their states)
            for which, array in bigger.items():
                self.put(which, array)

    def rows(self) -> dict[str, NDArray[Any]]:
        """The rows so far, by table, which stay as they are when the integration goes on.

        Large tables are not copied for that now, which would take seconds: they are cut to these rows, so that they are full, and
        copied if the integration goes on.
        """
        used = {"steps": self.s.rows.records, "states": self.s.rows.records, "events": self.s.rows.events}
        rows = {name: getattr(self, name)[:count] for name, count in used.items()}
        for tables in (_RECORD, ("events",)):
            own = getattr(self, tables[0]) is not self.usual[tables[0]]
            with undivided():
                for name in tables:
                    if own:
                        self.put(name, rows[name])
                    else:
                        rows[name] = rows[name].copy()
        return rows


def _no_solution() -> None:
    """In place of a weak reference to a solution."""


_RECORD = ("steps", "states")
_PICKLED = ("steps", "states", "events", "t_eval", "x_eval", "breaks")
_OWN_OF_ONE_RUN = (
    "fn",
    "Dh",
    "steps",
    "states",
    "events",
    "event_times",
    "t_eval",
    "x_eval",
    "breaks",
    "reset",
    "jumps",
    "jump_order",
)


class _Plan:
    """The layout of a buffer of 8-byte numbers: scalars, then the vectors, whose first row is the state, then the rest."""

    def __init__(self, n: int, m: int, parameters: int, rows: int, events: int) -> None:
        sizes = {
            "s": SCALARS.itemsize // 8,
            "v": STATE_ROWS.count * n,
            "g": GUARD_ROWS.count * m,
            "p": parameters,
            "steps": rows * len(STEP),
            "states": rows * n,
            "events": events * len(EVENT),
            "event_times": events,
        }
        ends = list(accumulate(sizes.values()))
        self.size = ends[-1]
        self.places = {name: slice(end - size, end) for (name, size), end in zip(sizes.items(), ends, strict=True)}
        self.start = self.places["v"].start - START_SIZE
        self.write: Callable[..., None] = struct.Struct(f"{START_SIZE + n}d").pack_into
        shapes = {
            "s": (1, 1),
            "v": (STATE_ROWS.count, n),
            "g": (GUARD_ROWS.count, m),
            "p": (parameters, 1),
            "steps": (rows, 1),
            "states": (rows, n),
            "events": (events, 1),
            "event_times": (events, 1),
        }
        self.own = [WORK.places[name] for name in shapes]
        self.table = np.zeros((len(WORK.places), 3), dtype=np.int64)
        for name, shape in shapes.items():
            self.table[WORK.places[name]] = 8 * self.places[name].start, *shape
        for name, array in NOTHING_GIVEN.items():
            self.table[WORK.places[name]] = place_of(array)

    def cut(self, buffer: FloatArray) -> dict[str, FloatArray]:
        """Views of the parts, by name."""
        return {name: buffer[place] for name, place in self.places.items()}


_plan = lru_cache(maxsize=64)(_Plan)
