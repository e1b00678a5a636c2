"""A field that a user gives for each word at a corner, as a function that the core can call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..core.state import FUNCTIONS
from ..errors import FunctionError
from ..system.arguments import numbers
from ..system.caught import Failures
from ..system.functions import UserFunction

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import FloatArray, RecordArray


class CornerField:
    """A field given for each word, as a function that the core can call."""

    def __init__(self, F: Callable[[FloatArray], ArrayLike] | Mapping[Any, ArrayLike], n: int, m: int) -> None:
        self._value: Callable[[FloatArray], ArrayLike]
        if callable(F):
            self._value = F
        else:
            table = _table(F)
            self._value = lambda word: table[tuple(int(s) for s in word)]
        self._n = n
        self.failures = Failures()
        user = UserFunction("f", lambda t, x, b, p: self.at(b))
        address, self._callback = user.bind(False, {"n": n, "m": m, "p": 0}, self.failures)
        self.fn: RecordArray = np.zeros(1, dtype=FUNCTIONS)
        self._context = np.array([n, m, 0, 0], dtype=np.int64)
        self.fn["f"], self.fn["context"] = address, self._context.ctypes.data

    def at(self, word: FloatArray) -> FloatArray:
        """The field in this mode, checked."""
        try:
            value = numbers("F", self._value(np.array(word)))
        except KeyError:
            raise KeyError(f"F has no entry for the word {tuple(int(s) for s in word)}") from None
        if value.shape != (self._n,):
            raise ValueError(f"F must give {self._n} values, one for each state; got shape {value.shape}")
        return value

    def failed(self) -> NoReturn:
        """Raise what the user's field raised."""
        raise self.failures.take() or FunctionError("F failed, but did not say why")


def _table(F: Any) -> dict[tuple[int, ...], Any]:
    """A field given as a table, its keys as tuples of whole numbers."""
    try:
        return {tuple(int(s) for s in key): value for key, value in dict(F).items()}
    except (TypeError, ValueError):
        raise TypeError(
            f"F must be a function of the word, or a table keyed by tuples of -1 and +1; got {F!r}"
        ) from None
