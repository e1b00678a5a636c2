"""Reuse of workspaces by the next integration, dense output or derivative of the same system."""

from __future__ import annotations

from collections.abc import Callable
from sys import getrefcount
from typing import TYPE_CHECKING, Any

from .extras import SpanMemory, StiffMemory, TangentMemory
from .working import IntegrationMemory, Working

if TYPE_CHECKING:
    from ..system.system import System

MOST_KEPT = 100_000  # size (in 8-byte numbers) up to which a workspace is kept
MOST_SPARE = 4  # workspaces of that size, of a kind, that are kept; or more smaller ones
ROOM = 64  # initial number of rows of the record and of the event table
MORE = 4 * ROOM  # the same, for a system whose integrations needed more than that


_MAKE: dict[str, Callable[[System], Any]] = {
    "spans": SpanMemory,
    "stiff": StiffMemory,
    "replay": lambda system: Working(system.n, system.m, len(system.defaults), units=system.unit, reset=system.reset),
    "tangents": lambda system: TangentMemory(system, False),
    "tangents and p": lambda system: TangentMemory(system, True),
}


class Pool:
    """The unused workspaces of one system, by kind: "spans", "stiff", "replay" (of a record), "tangents", "tangents and p".

    A borrowed workspace belongs to its borrower alone until it is given back. The workspace of an integration is not given
    back, because its solution reads from it. It is reused once no reference to it is left.
    """

    __slots__ = ("_last", "_later", "_room", "_spare")

    def __init__(self) -> None:
        self._spare: dict[str, list[Any]] = {kind: [] for kind in _MAKE}
        # the workspaces of the last two integrations
        self._last: IntegrationMemory | None = None
        self._later: IntegrationMemory | None = None
        self._room = ROOM

    def borrow(self, kind: str, system: System) -> Any:
        """A workspace of this kind (see ``_MAKE``): one that was given back, or a new one."""
        try:
            return self._spare[kind].pop()  # (atomic)
        except IndexError:
            return _MAKE[kind](system)

    def give_back(self, kind: str, memory: Any) -> None:
        """Return a borrowed workspace for reuse."""
        spare, size = self._spare[kind], memory.size
        # (a derivative through many jumps has a small one for each flight)
        if size <= MOST_KEPT and (len(spare) + 1) * size <= MOST_SPARE * MOST_KEPT:
            spare.append(memory)

    def integration(self, system: System) -> IntegrationMemory:
        """The workspace of an integration: that of one of the last two, if no reference to it is left, or a new one.

        (Two: in a loop ``sol = solve(...)``, the last solution is alive while the next is computed.) Where both are read by
        solutions that somebody keeps, the older solution copies what it needs: that takes less time, and less memory, than
        another workspace.
        """
        memory = self._later
        if memory is not None and getrefcount(memory) + getrefcount(memory.buffer) == memory.idle and not memory.marked:
            self._last, self._later = memory, self._last  # (what the loop below finds in most cases, 0.1 us sooner)
            return memory
        for turn in range(3):
            self._last, self._later = self._later, self._last
            memory = self._last
            if memory is None:
                break
            if turn == 2:
                solution = memory.solution()
                if solution is not None:
                    solution._move_out()
                del solution
            if getrefcount(memory) + getrefcount(memory.buffer) == memory.idle:
                if memory.marked:
                    if memory.has_grown and memory.room < MORE and 4 * memory.size <= MOST_KEPT:
                        # growing takes as long as twenty steps: from now on there is more room at first
                        self._room, self._last = MORE, None
                        break
                    memory.clear()
                return memory
            if turn == 2:
                self._last, self._later = self._later, None  # (it is still in use: it stays with its users)
        memory = IntegrationMemory(system, self._room)
        if memory.size <= MOST_KEPT:
            # The number of references to it and to its buffer while it is not in use: those of now, and the one of ``_last``,
            # counted before another thread can see it. (Any Stepper, Solution or view adds one, and so does another thread
            # that executes this function: then neither reuses it.)
            memory.idle = getrefcount(memory) + getrefcount(memory.buffer) + 1
            if self._last is not None:
                self._later = self._last  # (the older one stays with its solution and is not reused)
            self._last = memory
        return memory


def pool_of(system: System) -> Pool:
    """The pool of a system, created on first use."""
    pool: Pool | None = system._pool
    if pool is None:
        pool = system._pool = (
            Pool()
        )  # (of two threads that do this at the same time, one has a pool that is soon forgotten)
    return pool
