"""Memory that is used again: by the next integration, dense output or derivative of the same system."""

from sys import getrefcount

from .extras import SpanMemory, TangentMemory
from .working import ROOM, IntegrationMemory, Working

MOST_KEPT = 100_000  # numbers in a piece of memory that is kept
MOST_SPARE = 4  # pieces of a kind that are kept


_MAKE = {
    "spans": SpanMemory,
    "replay": lambda system: Working(system.n, system.m, len(system.defaults), units=system.unit, reset=system.reset),
    "tangents": lambda system: TangentMemory(system, False),
    "tangents and p": lambda system: TangentMemory(system, True),
}


class Pool:
    """The spare memory of one system, by kind: "spans", "replay" (going along a record), "tangents", "tangents and p".

    Whoever borrows a piece has it alone, and gives it back when done with it. The memory of an integration is not given back:
    its solution reads from it, for as long as somebody has that solution. It is taken again once nobody does.
    """

    def __init__(self):
        self._spare: dict[str, list] = {kind: [] for kind in _MAKE}
        self._last = self._later = None  # the memories of the last two integrations

    def borrow(self, kind, system):
        """A piece that somebody has given back, or a new one."""
        try:
            return self._spare[kind].pop()  # (atomic)
        except IndexError:
            return _MAKE[kind](system)

    def give_back(self, kind, memory):
        """For others to use."""
        spare = self._spare[kind]
        if memory.size <= MOST_KEPT and len(spare) < MOST_SPARE:
            spare.append(memory)

    def integration(self, system):
        """Memory for an integration: that of one of the last two, if nobody can see it any more, or a new one.

        (Two: in a loop ``sol = solve(...)``, the last solution is alive while the next is being found.)
        """
        for _ in range(2):
            self._last, self._later = self._later, self._last
            memory = self._last
            if memory is None:
                break
            if getrefcount(memory) + getrefcount(memory.buffer) == memory.idle:
                if memory.marked:
                    memory.clear()
                return memory
        each = 8 if system._is_sum else 2 if system._special else 0  # events of a guard that there is room for at once
        memory = IntegrationMemory(system, ROOM + each * system.m)
        if memory.size <= MOST_KEPT:
            if self._last is not None:
                self._later = self._last  # (and the one that has been in use for longer is left to its user)
            self._last = memory
            # The references to it and to its memory now: any Stepper, Solution or view adds one. (So does another thread that is
            # at this very place: then neither takes it.)
            memory.idle = getrefcount(memory) + getrefcount(memory.buffer)
        return memory


def pool_of(system):
    """The pool of a system, made when first asked for."""
    if system._pool is None:
        with system._lock:
            if system._pool is None:
                system._pool = Pool()
    return system._pool
