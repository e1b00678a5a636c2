"""A table of arrays in the form in which the core receives it: the address, rows and columns of each."""

from __future__ import annotations

import struct
from ctypes import addressof, c_char
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from ..core.state.layout import columns_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._typing import FloatArray, IntArray, RecordArray
    from ..core.state import Table

    Place: TypeAlias = tuple[int, int, int]  # address, rows, columns

_RECORD = ("steps", "states", "events", "breaks", "leg_p", "legs")  # adjacent entries of `core.state.WORK`
_write = struct.Struct("3q").pack_into
_pack_rows = struct.Struct("9q").pack
pack_record = struct.Struct(f"{3 * len(_RECORD)}q").pack

AT_ONCE = 16_000_000  # bytes of a table that are copied without a look at Ctrl-C
LEAST = 64  # rows of a table that has grown


class Placed(NamedTuple):
    """The entries in a table of the arrays of a record, as bytes (looking up six addresses takes longer than a step), and what
    keeps these arrays alive."""

    kept: Any
    entries: bytes

    @classmethod
    def of(
        cls,
        steps: RecordArray,
        states: FloatArray,
        events: RecordArray,
        breaks: FloatArray,
        leg_p: FloatArray,
        legs: IntArray,
    ) -> Placed:
        arrays: tuple[NDArray[Any], ...] = (steps, states, events, breaks, leg_p, legs)
        return cls(arrays, pack_record(*(number for array in arrays for number in place_of(array))))

    def with_rows(self, steps: RecordArray, states: FloatArray, events: RecordArray) -> Placed:
        """The same, with other rows."""
        entries = _pack_rows(*place_of(steps), *place_of(states), *place_of(events))
        return Placed((steps, states, events, self.kept), entries + self.entries[len(entries) :])


class TableMemory:
    """Arrays by name, as attributes of this object, and the table of their addresses, whose own ``address`` the core receives.

    An array in the table is kept alive by this object.
    """

    replayed: Any = None  # what keeps the record alive that the core replays

    def __init__(self, table: Table, **arrays: NDArray[Any] | TableMemory) -> None:
        self.kind = table
        self._connect(np.zeros((len(table.places), 3), dtype=np.int64))
        for name, array in arrays.items():
            kind, shape = table.fields[name], () if isinstance(array, TableMemory) else array.shape
            if isinstance(kind, str) and columns_of(kind)[1] not in (None, *shape[1:]):
                raise ValueError(f"the array {name} of the table {table.kind} must be a {kind}; got shape {shape}")
            self.put(name, array)

    def _connect(self, table: IntArray) -> None:
        self.table, self.address, self._bytes = table, table.ctypes.data, table.data.cast("B")

    def put(self, name: str, array: NDArray[Any] | TableMemory) -> None:
        """Let the core work on this array (or table) from now on.

        Attributes that name an entry of the table are only set here, so that attribute and table always agree.
        """
        if self.__dict__.get(name) is not array:
            self.__dict__[name] = array
            _write(self._bytes, 24 * self.kind.places[name], *place_of(array))

    def put_record(self, placed: Placed) -> None:
        """Let the core replay this record. Its arrays are then no attributes of this object."""
        self.replayed = placed
        first = 24 * self.kind.places[_RECORD[0]]
        self._bytes[first : first + len(placed.entries)] = placed.entries


def place_of(array: NDArray[Any] | TableMemory) -> Place:
    """Address, rows and columns of an array; of a nested table only the address."""
    if isinstance(array, TableMemory):
        return array.address, 0, 0
    shape = array.shape
    if not array.size:
        address = 0  # (nothing is read there)
    elif array.flags.writeable:
        address = addressof(c_char.from_buffer(array.data))  # (half the time of ``array.ctypes.data``)
    else:
        address = array.ctypes.data
    return (address, shape[0], shape[1]) if len(shape) == 2 else (address, shape[0], 1)


def selected(table: NDArray[Any], which: NDArray[Any]) -> NDArray[Any]:
    """The rows of a table for which ``which`` is true: ``table[which]``, some at a time, as below."""
    some = _some(table)
    if len(table) <= some:
        return table.compress(which)
    out, done = np.empty(np.count_nonzero(which), dtype=table.dtype), 0
    for first in range(0, len(table), some):
        rows = table[first : first + some].compress(which[first : first + some])
        out[done : done + len(rows)] = rows
        done += len(rows)
    return out


def enlarged(table: NDArray[Any], used: int) -> NDArray[Any]:
    """A table with four times the room, and the rows that are used, copied some at a time: between them Python answers Ctrl-C."""
    bigger = np.empty((max(4 * len(table), LEAST), *table.shape[1:]), dtype=table.dtype)
    some = _some(table)
    for first in range(0, used, some):
        bigger[first : min(first + some, used)] = table[first : min(first + some, used)]
    return bigger


def _some(table: NDArray[Any]) -> int:
    """So many rows at a time."""
    return max(1, AT_ONCE * len(table) // max(1, table.nbytes))
