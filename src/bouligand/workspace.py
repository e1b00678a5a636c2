"""The memory of one integration, in one piece, and its reuse by the next one of the same system.

A short integration takes ten microseconds; allocating half a dozen arrays and filling them would take half as long again.
"""

import struct
from functools import lru_cache
from itertools import accumulate
from sys import getrefcount

import numpy as np

from .core import layout as at

write_times = struct.Struct(f"{at.S_OWN}d").pack_into  # like a workspace's own ``write``, without the state

ROOM = 64  # rows of the record and of the event table to begin with
MOST_KEPT = 100_000  # numbers in a workspace that is kept for the next integration


class Workspace:
    """The core's arrays (see `core.layout`) in one buffer: I and S, then V, whose first row is the state, H, R and E."""

    __slots__ = ("E", "H", "I", "R", "S", "V", "begin", "buffer", "head", "idle", "marked", "size", "state", "write")

    def __init__(self, n, m, room):
        rows, at_S, at_V, at_H, at_R, at_E, self.size, self.write = _plan(n, m, room)
        buffer = self.buffer = np.empty(self.size)
        self.I = buffer[:at_S].view(np.int64)
        self.S = buffer[at_S:at_V]
        self.V = buffer[at_V:at_H].reshape(at.V_ROWS, n)
        self.H = buffer[at_H:at_R].reshape(at.H_ROWS, m)
        self.R = buffer[at_R:at_E].reshape(rows, 5 + n)
        self.E = buffer[at_E:].reshape(room, at.E_SIZE)
        self.H.fill(0.0)
        self.marked = False  # whether options of an integration have been written to H
        self.head = buffer[:at_V].data  # I and S
        # the last slots of S and the first row of V, what each integration has of its own: write(begin, 0, t0, t0, tf, tf, *x0)
        self.begin = buffer[at_V - at.S_OWN : at_V + n].data
        self.state = buffer[at_V : at_V + n].data
        self.idle = 0  # references to it and to its memory while nobody uses it


@lru_cache(maxsize=64)
def _plan(n, m, room):
    """Rows of the record, where S, V, H, R, E begin, where all ends, and the function that writes the start."""
    rows = max(8, min(ROOM, 4_000_000 // (n + 5)))
    sizes = (at.I_SIZE, at.S_SIZE, at.V_ROWS * n, at.H_ROWS * m, rows * (5 + n), room * at.E_SIZE)
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
                work.H.fill(0.0)
                work.marked = False
            return work
    each = 8 if system._is_sum else 2 if system._special else 0  # events of a guard that there is room for at once
    work = Workspace(system.n, system.m, ROOM + each * system.m)
    if work.size <= MOST_KEPT:
        if system._spare is not None:
            system._later = system._spare  # (and the one that has been in use for longer is left to its user)
        system._spare = work
        # the references to it and to its memory now: any Stepper, Solution or view adds one. (So does another thread that is
        # at this very place: then neither takes it.)
        work.idle = getrefcount(work) + getrefcount(work.buffer)
    return work
