"""The memory of one run of the core, in one piece: scalars, vectors of the state's size, values for each guard, parameters; and,
for an integration, the first rows of its record.

A short integration takes ten microseconds; allocating half a dozen arrays and filling them would take half as long again. So
there is one allocation, and a plan of what is where in it for each size.
"""

import struct
from functools import lru_cache
from itertools import accumulate

import numpy as np

from ..core.state import EVENT, FUNCTIONS, GUARD_ROWS, SCALARS, START_SIZE, STATE_ROWS, STEP, WORK
from ..core.views import RowsView, record_view
from .tables import TableMemory

write_times = struct.Struct(f"{START_SIZE}d").pack_into  # like a memory's own ``write``, without the state

NO_FUNCTIONS = np.zeros(1, dtype=FUNCTIONS)
NO_TIMES = np.empty(0)
NO_MATRIX = np.empty((0, 0))
NO_UNITS = np.empty((0, 2), dtype=np.int64)

ROOM = 64  # rows of the record and of the event table to begin with

_Scalars = record_view(SCALARS)


class Working(TableMemory):
    """The core's table of one run: what `core.state.WORK` names is an attribute of the same name.

    ``rows`` and ``events``: for how many steps and crossings there is room at first; none where a record is only gone along.
    """

    Dh: np.ndarray  # (as all arrays of the table, an attribute since it was put there)

    def __init__(self, n, m, parameters, rows=0, events=0, units=NO_UNITS, reset=NO_MATRIX):
        plan = _plan(n, m, parameters, rows, events)
        self.kind = WORK
        buffer = self.buffer = np.empty(plan.size)
        parts = plan.cut(buffer)
        self.head, self.begin, self.state = parts["s"].data, buffer[plan.start : plan.start + START_SIZE + n].data, None
        self.state = self.begin[START_SIZE:]
        self.s = _Scalars(self.head)
        self.v = RowsView(STATE_ROWS, parts["v"].reshape(-1, n))
        guards = parts["g"].reshape(GUARD_ROWS.count, m)
        guards.fill(0.0)
        self.g = RowsView(GUARD_ROWS, guards)
        self.p = parts["p"]
        self.parameters = self.p.data
        self.steps, self.states = parts["steps"].view(STEP), parts["states"].reshape(rows, n)
        self.events = parts["events"].view(EVENT)
        # write(begin, 0, t0, t0, tf, tf, *x0): the last scalars and the state, what each integration has of its own
        self.write = plan.write
        table = plan.table.copy()
        table[plan.own, 0] += buffer.ctypes.data
        self._connect(table)
        given = {"fn": NO_FUNCTIONS, "units": units, "reset": reset, "Dh": NO_MATRIX, "breaks": NO_TIMES}
        for name, array in {**given, "t_eval": NO_TIMES, "x_eval": NO_MATRIX}.items():
            TableMemory.put(self, name, array)

    @property
    def size(self):
        return self.buffer.size

    def bind(self, fn, has_jacobian):
        """Let the core call these functions."""
        self.put("fn", fn)
        if has_jacobian and self.Dh is NO_MATRIX:
            self.put("Dh", np.empty((self.g.width, self.v.width)))

    def fill(self):
        """As new, for going along a record: every scalar and every row is zero."""
        self.buffer.fill(0.0)


class IntegrationMemory(Working):
    """The memory of an integration, which the next one of the same system may use again."""

    def __init__(self, system, events):
        rows = max(8, min(ROOM, 4_000_000 // (system.n + 5)))
        super().__init__(system.n, system.m, len(system.defaults), rows, events, system.unit, system.reset)
        self.usual = {name: getattr(self, name) for name in _OWN_OF_ONE_RUN}
        self.marked = False  # whether an integration left options in ``g``, or arrays of its own
        self.idle = 0  # references to it and to its memory while nobody uses it

    def put(self, name, array, place=None):
        super().put(name, array, place)
        self.marked = True

    def bind(self, fn, has_jacobian):
        super().bind(fn, has_jacobian)
        self.usual |= {"fn": fn, "Dh": self.Dh}

    def contents(self):
        """Everything that is in it, to be written to another memory of the same system with `restore`."""
        return self.buffer.copy(), {name: getattr(self, name).copy() for name in _TRAVELLING}

    def restore(self, contents):
        """As the one was of which these are the `contents`."""
        buffer, arrays = contents
        self.buffer[:] = buffer
        for name, array in arrays.items():
            self.put(name, array)

    def clear(self):
        """As it was before an integration that was something special."""
        self.g._matrix.fill(0.0)
        for name, array in self.usual.items():
            if getattr(self, name) is not array:
                self.put(name, array)
        self.marked = False

    def grow(self, name):
        """Four times as much room in the record, or in the event table."""
        used = self.s.record_count if name != "events" else self.s.event_count
        for which in ("steps", "states") if name != "events" else ("events",):
            old = getattr(self, which)
            bigger = np.empty((4 * old.shape[0], *old.shape[1:]), dtype=old.dtype)
            bigger[:used] = old[:used]
            self.put(which, bigger)


_TRAVELLING = ("steps", "states", "events", "t_eval", "x_eval", "breaks")
_OWN_OF_ONE_RUN = ("fn", "Dh", "steps", "states", "events", "t_eval", "x_eval", "breaks", "reset")


class _Plan:
    """What is where in a buffer of 8-byte numbers: scalars, then the vectors, whose first row is the state, and all else."""

    def __init__(self, n, m, parameters, rows, events):
        sizes = {
            "s": len(SCALARS),
            "v": STATE_ROWS.count * n,
            "g": GUARD_ROWS.count * m,
            "p": parameters,
            "steps": rows * len(STEP),
            "states": rows * n,
            "events": events * len(EVENT),
        }
        ends = list(accumulate(sizes.values()))
        self.size = ends[-1]
        self.places = {name: slice(end - size, end) for (name, size), end in zip(sizes.items(), ends, strict=True)}
        self.start = self.places["v"].start - START_SIZE
        self.write = struct.Struct(f"{START_SIZE + n}d").pack_into
        shapes = {
            "s": (1, 1),
            "v": (STATE_ROWS.count, n),
            "g": (GUARD_ROWS.count, m),
            "p": (parameters, 1),
            "steps": (rows, 1),
            "states": (rows, n),
            "events": (events, 1),
        }
        self.own = [WORK.places[name] for name in shapes]
        self.table = np.zeros((len(WORK.places), 3), dtype=np.int64)
        for name, shape in shapes.items():
            self.table[WORK.places[name]] = 8 * self.places[name].start, *shape

    def cut(self, buffer):
        return {name: buffer[place] for name, place in self.places.items()}


_plan = lru_cache(maxsize=64)(_Plan)
