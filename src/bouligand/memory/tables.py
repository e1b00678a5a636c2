"""A table of arrays in the form in which the core is given it: the address, rows and columns of each."""

import struct

import numpy as np

RECORD_ARRAYS = ("steps", "states", "events", "breaks", "leg_p", "legs")  # what the core goes along
_write = struct.Struct("3q").pack_into


class TableMemory:
    """Arrays by name, as the attributes of this object, and the table of them: ``address`` is what the core gets.

    An array that was put stays alive as long as this object does.
    """

    def __init__(self, table, **arrays):
        self.kind = table
        self._connect(np.zeros((len(table.places), 3), dtype=np.int64))
        for name, array in arrays.items():
            self.put(name, array)

    def _connect(self, table):
        self.table, self.address, self._bytes = table, table.ctypes.data, table.data.cast("B")

    def put(self, name, array, place=None):
        """Let the core work on this array (or table) from now on. ``place``: see `place_of`, where it is known already.

        Attributes that name an entry of the table are only set here: one that is there already is in the table as well.
        """
        if self.__dict__.get(name) is not array:
            self.__dict__[name] = array
            _write(self._bytes, 24 * self.kind.places[name], *(place or place_of(array)))


def place_of(array):
    """Address, rows and columns; the address of a table of its own."""
    if isinstance(array, TableMemory):
        return array.address, 0, 0
    address, shape = array.ctypes.data, array.shape
    return (address, *shape) if len(shape) == 2 else (address, shape[0], 1)
