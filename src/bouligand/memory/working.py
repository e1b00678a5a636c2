"""The memory of one integration, in one piece, and its reuse by the next one of the same system.

A short integration takes ten microseconds; allocating half a dozen arrays and filling them would take half as long again.
"""

import struct
from functools import lru_cache
from itertools import accumulate
from sys import getrefcount

import numpy as np

from ..core import state as at

write_times = struct.Struct(f"{at.S_OWN}d").pack_into  # like a workspace's own ``write``, without the state

NO_FUNCTIONS = np.empty(0, dtype=np.int64)
NO_TIMES = np.empty(0)
NO_MATRIX = np.empty((0, 0))

ROOM = 64  # rows of the record and of the event table to begin with
MOST_KEPT = 100_000  # numbers in a workspace that is kept for the next integration


class Workspace:
    """The core's arrays (see `core.state`): in one buffer I and S, then V, whose first row is the state, H, R, E and p; besides
    these what belongs to the system, or to one integration. ``enter`` is the address of their table."""

    # fmt: off
    __slots__ = (
        "E", "H", "I", "R", "S", "TQ", "V", "Y", "begin", "breaks", "buffer", "enter", "fn", "head", "idle", "jacobian",
        "marked", "p", "parameters", "reset", "size", "state", "table", "usual", "write",
    )
    # fmt: on

    def __init__(self, system, room):
        n, m = system.n, system.m
        rows, at_S, at_V, at_H, at_R, at_E, at_p, self.size, self.write = _plan(n, m, len(system.defaults), room)
        buffer = self.buffer = np.empty(self.size)
        self.I = buffer[:at_S].view(np.int64)
        self.S = buffer[at_S:at_V]
        self.V = buffer[at_V:at_H].reshape(at.V_ROWS, n)
        self.H = buffer[at_H:at_R].reshape(at.H_ROWS, m)
        self.R = buffer[at_R:at_E].reshape(rows, 5 + n)
        self.E = buffer[at_E:at_p].reshape(room, at.E_SIZE)
        self.p = buffer[at_p:]
        self.H.fill(0.0)
        self.head = buffer[:at_V].data  # I and S
        # the last slots of S and the first row of V, what each integration has of its own: write(begin, 0, t0, t0, tf, tf, *x0)
        self.begin = buffer[at_V - at.S_OWN : at_V + n].data
        self.state = buffer[at_V : at_V + n].data
        self.parameters = self.p.data
        self.fn, self.reset, self.jacobian = NO_FUNCTIONS, system.reset, NO_MATRIX
        self.TQ, self.Y, self.breaks = NO_TIMES, NO_MATRIX, NO_TIMES
        self.table = np.empty((len(at.TABLE), 3), dtype=np.int64)
        self.enter = self.table.ctypes.data
        self.usual = {name: getattr(self, name) for name in at.TABLE}
        for name, array in self.usual.items():
            self.put(name, array)
        self.marked = False  # whether an integration left options in H, or arrays of its own
        self.idle = 0  # references to it and to its memory while nobody uses it

    def put(self, name, array):
        """Let the core work on another array, until the end of this integration."""
        setattr(self, name, array)
        self.table[at.TABLE.index(name)] = array.ctypes.data, *(array.shape if array.ndim == 2 else (array.size, 1))
        self.marked = True

    def bind(self, fn, has_jacobian):
        """Let the core call these functions, in this integration and those that follow."""
        self.put("fn", fn)
        if has_jacobian and self.jacobian is NO_MATRIX:
            self.put("jacobian", np.empty((self.H.shape[1], self.V.shape[1])))
        self.usual |= {"fn": fn, "jacobian": self.jacobian}

    def clear(self):
        """As it was before an integration that was something special."""
        self.H.fill(0.0)
        for name, array in self.usual.items():
            if getattr(self, name) is not array:
                self.put(name, array)
        self.marked = False


@lru_cache(maxsize=64)
def _plan(n, m, parameters, room):
    """Rows of the record, where S, V, H, R, E, p begin, where all ends, and the function that writes the start."""
    rows = max(8, min(ROOM, 4_000_000 // (n + 5)))
    sizes = (at.I_SIZE, at.S_SIZE, at.V_ROWS * n, at.H_ROWS * m, rows * (5 + n), room * at.E_SIZE, parameters)
    return rows, *accumulate(sizes), struct.Struct(f"{at.S_OWN + n}d").pack_into


def workspace(system):
    """A workspace for an integration of a system: one of its last two, if nobody can see that any more, or a new one.

    (Two: in a loop ``sol = solve(...)``, the last solution is alive while the next is being found.)
    """
    for _ in range(2):
        system._spare, system._later = system._later, system._spare
        work = system._spare
        if work is None:
            break
        if getrefcount(work) + getrefcount(work.buffer) == work.idle:
            if work.marked:
                work.clear()
            return work
    each = 8 if system._is_sum else 2 if system._special else 0  # events of a guard that there is room for at once
    work = Workspace(system, ROOM + each * system.m)
    if work.size <= MOST_KEPT:
        if system._spare is not None:
            system._later = system._spare  # (and the one that has been in use for longer is left to its user)
        system._spare = work
        # the references to it and to its memory now: any Stepper, Solution or view adds one. (So does another thread that is
        # at this very place: then neither takes it.)
        work.idle = getrefcount(work) + getrefcount(work.buffer)
    return work
