"""A table of arrays in the form in which the core is given it: the address, rows and columns of each."""

import numpy as np


class TableMemory:
    """Arrays by name, as the attributes of this object, and the table of them: ``address`` is what the core gets.

    An array that was put stays alive as long as this object does.
    """

    def __init__(self, table, **arrays):
        self.kind = table
        self.table = np.zeros((len(table.places), 3), dtype=np.int64)
        self.address = self.table.ctypes.data
        for name, array in arrays.items():
            self.put(name, array)

    def put(self, name, array):
        """Let the core work on this array (or table) from now on."""
        setattr(self, name, array)
        self.table[self.kind.places[name]] = place_of(array)


def place_of(array):
    """Address, rows and columns; the address of a table of its own."""
    if isinstance(array, TableMemory):
        return array.address, 0, 0
    return array.ctypes.data, *(array.shape if array.ndim == 2 else (array.size, 1))
