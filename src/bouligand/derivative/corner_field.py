"""A field that a user gives for each word at a corner, as a function that the core can call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..core.state import FUNCTIONS
from ..errors import FunctionError
from ..system.arguments import numbers, short, vector
from ..system.caught import Failures
from ..system.functions import UserFunction
from ..system.words import function

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import FloatArray, RecordArray


class CornerField:
    """A field given for each word, as a function that the core can call."""

    def __init__(self, F: Callable[[FloatArray], ArrayLike] | Mapping[Any, ArrayLike], n: int, m: int) -> None:
        self._value: Callable[[FloatArray], ArrayLike]
        self._n = n
        if callable(F):
            self._value = function("F", F, "word")
        else:
            table = _Table({word: self._checked(value) for word, value in _table(F, m).items()})
            self._value = lambda word: table[tuple(int(s) for s in word)]
        self.failures = Failures()
        user = UserFunction("f", lambda t, x, b, p: self.at(b))
        address, self._callback = user.bind(False, {"n": n, "m": m, "p": 0}, self.failures)
        self.fn: RecordArray = np.zeros(1, dtype=FUNCTIONS)
        self._context = np.array([n, m, 0, 0], dtype=np.int64)
        self.fn["f"], self.fn["context"] = address, self._context.ctypes.data

    def at(self, word: FloatArray) -> FloatArray:
        """The field in this mode, checked."""
        return self._checked(self._value(np.array(word)))

    def _checked(self, given: Any) -> FloatArray:
        value = numbers("F", given)
        if value.shape != (self._n,):
            raise ValueError(f"F must give {self._n} values, one for each state; got shape {value.shape}")
        return value

    def failed(self) -> NoReturn:
        """Raise what the user's field raised."""
        raise self.failures.take() or FunctionError("F failed, but did not say why")


class _Table(dict[tuple[int, ...], Any]):
    """A field for some words, which says which one is missing."""

    def __missing__(self, word: tuple[int, ...]) -> NoReturn:
        raise KeyError(f"F has no entry for the word {word}")


def _table(F: Any, m: int) -> dict[tuple[int, ...], Any]:
    """A field given as a table, its keys as tuples of m signs."""
    if not isinstance(F, Mapping) or not F:
        raise TypeError(f"F must be a function of the word, or a table keyed by tuples of -1 and +1; got {short(F)}")
    out = {}
    for word, value in F.items():
        signs = vector("F: a word", word)
        if signs.shape != (m,) or not np.isin(signs, (-1.0, 1.0)).all():
            raise ValueError(f"F must have words of {m} signs, -1 or +1, one for each row of Dh; got {short(word)}")
        out[tuple(int(s) for s in signs)] = value
    return out
