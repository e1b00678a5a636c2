"""How a trajectory of an ensemble ended, as a small number: finished, terminated, or the name of an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import errors
from ..core import codes

if TYPE_CHECKING:
    from .._typing import IntArray

PENDING, FINISHED, TERMINATED = 0, 1, 2
_FIRST_ERROR = 3
_OURS = tuple(
    name
    for name in errors.__all__
    if isinstance(getattr(errors, name), type) and issubclass(getattr(errors, name), errors.SolveError)
)
# what a user's function may raise; any other exception counts as the nearest of its base classes
_THEIRS = (
    "ZeroDivisionError",
    "FloatingPointError",
    "OverflowError",
    "ArithmeticError",
    "IndexError",
    "KeyError",
    "TypeError",
    "ValueError",
    "RuntimeError",
    "MemoryError",
    "OSError",
    "Exception",
)
NAMES = ("pending", "finished", "terminated", *_OURS, *_THEIRS)
_NUMBERS = {name: number for number, name in enumerate(NAMES)}

# by code of the core; for failures whose error depends on more, workers decide (a negative number)
_OF_CODE = np.zeros(64, dtype=np.int64)
_OF_CODE[[codes.FINISHED, codes.TERMINATED]] = FINISHED, TERMINATED
for _code, _failure in codes.FAILURES.items():
    _OF_CODE[_code] = _NUMBERS[_failure.error]


def of_codes(found: IntArray) -> IntArray:
    """The outcomes of codes of the core; a negative number is an outcome already."""
    return np.where(found < 0, -found, _OF_CODE[np.maximum(found, 0)])


def of_error(error: BaseException) -> int:
    """The outcome of a trajectory that ended with this exception."""
    for kind in type(error).__mro__:
        if kind.__name__ in _NUMBERS:
            return _NUMBERS[kind.__name__]
    return _NUMBERS["Exception"]


def is_error(outcome: int) -> bool:
    """Whether this is the outcome of a trajectory that failed."""
    return outcome >= _FIRST_ERROR


def status(outcome: int) -> str:
    """The status as that of a Solution, or "pending" for a trajectory that was not integrated."""
    return "failed" if is_error(outcome) else NAMES[outcome]
