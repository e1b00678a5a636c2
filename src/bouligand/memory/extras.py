"""What spanning steps and derivatives work on, besides the memory of every run."""

import numpy as np

from ..core.state import (
    CROSSING_NUMBERS,
    CROSSING_ROWS,
    DERIVATIVE_ROWS,
    JACOBIANS,
    POSITION,
    SMALL,
    SPANS,
    SUM_ROWS,
    TANGENTS,
    USER_DATA,
)
from ..core.views import record_view
from .tables import RECORD_ARRAYS, TableMemory
from .working import Working

CHUNK = 128  # contacts evaluated at once

_Position = record_view(POSITION)


class SpanMemory(TableMemory):
    """Of spanning steps of a system: the crossings inside one, sums over them, and a context for ``g_many``."""

    crossings: np.ndarray
    sums: np.ndarray
    g: np.ndarray
    context: np.ndarray

    def __init__(self, system):
        bound = system._bind()
        bound.bind_contacts(system)
        n, most = system.n, 2 * system.m + 8
        super().__init__(
            SPANS,
            numbers=np.zeros((CROSSING_NUMBERS.count, most), dtype=np.int64),
            crossings=np.empty((CROSSING_ROWS.count, most)),
            sums=np.empty((SUM_ROWS.count, n)),
            g=np.empty(3 * n * max(1, min(CHUNK, 200_000 // n))),
            context=np.append(bound.context, 0),
        )
        self.size = self.crossings.size + self.sums.size + self.g.size

    def contents(self):
        """What is in it, for `restore`."""
        return {name: getattr(self, name).copy() for name in ("numbers", "crossings", "sums", "g")}

    def restore(self, contents):
        """As the one was of which these are the `contents`."""
        for name, values in contents.items():
            getattr(self, name)[:] = values

    def use(self, lease):
        """Let ``g_many`` work in the memory that an integration has for the system's low-level functions."""
        self.context[USER_DATA] = lease.context[USER_DATA]


class TangentMemory(Working):
    """Of a derivative along a record: the memory of a run without a record of its own, Jacobians, and where it stands."""

    tangents: TableMemory

    def __init__(self, system, params):
        n, m, parameters = system.n, system.m, len(system.defaults)
        super().__init__(n, m, parameters, units=system.unit, reset=system.reset)
        of_p = parameters if params else 0
        self.position = np.zeros(1, dtype=POSITION)
        self.at = _Position(self.position.data.cast("B"))
        tangents = TableMemory(
            TANGENTS,
            at=self.position,
            jacobians=np.zeros(1, dtype=JACOBIANS),
            rows=np.zeros((DERIVATIVE_ROWS.count, n)),
            differences=np.empty(n + of_p + 1),
            Dh=np.zeros((0 if system.has("Dh_row") else m, n)),
            Dp_h=np.zeros((m, of_p)),
            Dt_h=np.zeros(m),
            Df=np.zeros((n, n if n <= SMALL or system.has("Df") else 0)),
            Dp_f=np.zeros((n, of_p)),
            guard_rows=np.zeros((3, n + of_p)),
            sides=np.empty((2, parameters)),
        )
        self.put("tangents", tangents)

    def open(self, system, record, rtol, atol, fn, jacobians):
        """Let the core go along a record with these functions, from its start."""
        self.fill()
        self.bind(fn, False)
        self.tangents.put("jacobians", jacobians)
        self.tangents.put("whole", *record.placed["states"])
        s, g = self.s, self.g
        s.rtol, s.cap, s.t0, s.tf = rtol, 1e300, record.t[0], record.t[-1]
        self.v.atol[:] = atol
        g.observer[:], g.b[:] = system.observers, record.word_start
        for name, (array, place) in record.placed.items():
            self.put(name, array, place)

    def go_along(self, stretch):
        """The same along a stretch of it."""
        for name in RECORD_ARRAYS:
            self.put(name, getattr(stretch, name))
        self.position.fill(0)
        at = self.at
        at.rows_at, at.halt, at.leg, at.wanted, at.end = -1, -1, stretch.leg, stretch.wanted, stretch.end
