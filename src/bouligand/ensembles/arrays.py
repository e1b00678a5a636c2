"""Where the arrays of an ensemble are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from . import outcomes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._typing import IntArray


class Arrays(Protocol):
    """Where the arrays of an ensemble are: in memory, or in a store."""

    @property
    def names(self) -> tuple[str, ...]:
        """The arrays that are there."""

    def array(self, name: str) -> NDArray[Any]:
        """An array with a row for each trajectory, or the whole of a field of the events."""

    def tally(self) -> IntArray:
        """How many trajectories had each outcome."""


class InMemory:
    """Arrays in memory."""

    def __init__(self, arrays: dict[str, NDArray[Any]]) -> None:
        self._arrays = arrays
        self.names = tuple(arrays)

    def array(self, name: str) -> NDArray[Any]:
        return self._arrays[name]

    def tally(self) -> IntArray:
        return np.bincount(self._arrays["outcome"], minlength=len(outcomes.NAMES))
