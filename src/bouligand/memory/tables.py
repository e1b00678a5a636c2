"""A table of arrays in the form in which the core receives it: the address, rows and columns of each."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._typing import IntArray
    from ..core.state import Table

    Place: TypeAlias = tuple[int, int, int]  # address, rows, columns

RECORD_ARRAYS = ("steps", "states", "events", "breaks", "leg_p", "legs")  # the record that the core replays
_write = struct.Struct("3q").pack_into


class TableMemory:
    """Arrays by name, as attributes of this object, and the table of their addresses, whose own ``address`` the core receives.

    An array in the table is kept alive by this object.
    """

    def __init__(self, table: Table, **arrays: NDArray[Any]) -> None:
        self.kind = table
        self._connect(np.zeros((len(table.places), 3), dtype=np.int64))
        for name, array in arrays.items():
            self.put(name, array)

    def _connect(self, table: IntArray) -> None:
        self.table, self.address, self._bytes = table, table.ctypes.data, table.data.cast("B")

    def put(self, name: str, array: NDArray[Any] | TableMemory, place: Place | None = None) -> None:
        """Let the core work on this array (or table) from now on. ``place``: the result of `place_of`, if it is known already.

        Attributes that name an entry of the table are only set here, so that attribute and table always agree.
        """
        if self.__dict__.get(name) is not array:
            self.__dict__[name] = array
            _write(self._bytes, 24 * self.kind.places[name], *(place or place_of(array)))


def place_of(array: NDArray[Any] | TableMemory) -> Place:
    """Address, rows and columns of an array; of a nested table only the address."""
    if isinstance(array, TableMemory):
        return array.address, 0, 0
    address, shape = array.ctypes.data, array.shape
    return (address, shape[0], shape[1]) if len(shape) == 2 else (address, shape[0], 1)
