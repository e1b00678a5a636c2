"""Memory that a system's low-level functions work in (MuJoCo's data, say): a piece of its own for each integration."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..core.state import SPACE, USER_DATA
from .arguments import index
from .words import function, pair

if TYPE_CHECKING:
    from .._typing import IntArray, MaybeNone, RecordArray
    from .binding import Bound

MOST_SPARE = 8  # pieces kept for the next integrations


class Contexts:
    """Pieces of memory made by ``make() -> (address, keep)``: lent to one user at a time, who gives it back or drops it.

    If ``make`` has a method ``after_use(piece)``, it is called with each piece that comes back. It travels without its pieces:
    what is unpickled makes its own.
    """

    def __init__(self, make: Callable[[], tuple[int, object]]) -> None:
        self.make = function("context", make, "")
        self._spare: list[tuple[int, object]] = []  # (append and pop are atomic)

    def borrow(self) -> tuple[int, object]:
        """A piece of memory: its address, and what keeps it alive."""
        try:
            return self._spare.pop()
        except IndexError:
            address, keep = pair("what context returns", self.make(), "(address, what keeps it alive)")
            return index("the address that context returns", address), keep

    def give_back(self, piece: tuple[int, object]) -> None:
        """Return a piece for others to use."""
        if (after_use := getattr(self.make, "after_use", None)) is not None:
            after_use(piece)
        if len(self._spare) < MOST_SPARE:
            self._spare.append(piece)

    def __getstate__(self) -> dict[str, Any]:
        return {"make": self.make, "_spare": []}


class Lease:
    """The addresses of a bound system's functions, together with a context that no other integration uses meanwhile."""

    __slots__ = ("_contexts", "_piece", "_space", "context", "fn")

    context: IntArray
    fn: RecordArray | MaybeNone  # None once it was given back
    _piece: tuple[int, object] | None

    def __init__(self, bound: Bound, contexts: Contexts | None) -> None:
        self._contexts = contexts
        self._piece = piece = None if contexts is None else contexts.borrow()
        self.context = bound.context.copy()
        if bound.space is not None:
            self._space = bound.space.copy()
            self.context[SPACE] = self._space.ctypes.data
        if piece is not None:
            self.context[USER_DATA] = piece[0]
        self.fn = fn = bound.fn.copy()
        fn["context"] = self.context.ctypes.data

    def give_back(self) -> None:
        """Return the context for others to use."""
        if self._piece is not None and self._contexts is not None:
            self._contexts.give_back(self._piece)
            self._piece = self.fn = None

    def __del__(self) -> None:
        if hasattr(self, "_piece"):  # (it may have failed to get one)
            self.give_back()
