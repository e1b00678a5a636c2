"""Memory that a system's low-level functions work in (MuJoCo's data, say): a piece of its own for each integration."""

from ..core.state import USER_DATA

MOST_SPARE = 8  # pieces kept for the next integrations


class Contexts:
    """Pieces of memory made by ``make() -> (address, keep)``: lent to one user at a time, who gives it back or drops it.

    It travels without its pieces: what is unpickled makes its own.
    """

    def __init__(self, make):
        if not callable(make):
            raise TypeError(f"context must be a function that returns (address, what keeps it alive); got {make!r}")
        self.make = make
        self._spare: list = []  # (append and pop are atomic)

    def borrow(self):
        try:
            return self._spare.pop()
        except IndexError:
            address, keep = self.make()
            return int(address), keep

    def give_back(self, piece):
        if len(self._spare) < MOST_SPARE:
            self._spare.append(piece)

    def __getstate__(self):
        return {"make": self.make, "_spare": []}


class Lease:
    """The addresses of a bound system's functions, together with a context that nobody else uses meanwhile."""

    __slots__ = ("_contexts", "_piece", "context", "fn")

    def __init__(self, bound, contexts):
        self._contexts = contexts
        self._piece = contexts.borrow()
        self.context = bound.context.copy()
        self.context[USER_DATA] = self._piece[0]
        self.fn = bound.fn.copy()
        self.fn["context"] = self.context.ctypes.data

    def give_back(self):
        """For others to use."""
        if self._piece is not None:
            self._contexts.give_back(self._piece)
            self._piece = self.fn = None

    def __del__(self):
        if hasattr(self, "_piece"):  # (it may have failed to get one)
            self.give_back()
