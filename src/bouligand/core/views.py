"""Records, rows and tables as Python sees them: the same names as in compiled code.

Python reads and writes the core's memory through these; with the JIT switched off, so does the core itself.
"""

import ctypes
import math
from functools import cache

import numpy as np

from .state import Rows, Table
from .state.layout import columns_of, record_of


@cache
def record_view(dtype, first=0):
    """A class whose attributes are the fields of a record: twenty times as fast as NumPy's own.

    For a record of records these are views in turn, made at first access. ``first`` is its place in the memory, in words.
    """
    if dtype[0].names:
        return _views(dtype)

    def integer(place):
        def get(self):
            return self._integers[place]

        def put(self, value):
            self._integers[place] = int(value)

        return property(get, put)

    def number(place):
        def get(self):
            return self._floats[place]

        def put(self, value):
            self._floats[place] = value

        return property(get, put)

    def connect(self, memory):
        plain = memory.cast("B")
        self._integers, self._floats = plain.cast("q"), plain.cast("d")

    fields = {name: (integer if dtype[name].kind == "i" else number)(first + q) for q, name in enumerate(dtype.names)}
    return type("RecordView", (), {"__slots__": ("_floats", "_integers"), "__init__": connect, **fields})


def _views(dtype):
    """The same for a record of records."""
    kinds = {name: record_view(part, place // 8) for name, (part, place) in dtype.fields.items()}

    def connect(self, memory):
        plain = memory.cast("B")
        self._integers, self._floats = plain.cast("q"), plain.cast("d")

    def first_access(self, name):
        part = kinds[name].__new__(kinds[name])
        part._integers, part._floats = self._integers, self._floats
        setattr(self, name, part)
        return part

    slots = ("_floats", "_integers", *kinds)
    return type("RecordsView", (), {"__slots__": slots, "__init__": connect, "__getattr__": first_access})


class RowsView:
    """The named rows of a matrix, as arrays; ``width`` is their length.

    They are made anew at each access: a view that is kept would count as a use of the memory (see `memory.pool`).
    """

    def __init__(self, rows, matrix):
        self._rows, self._matrix = rows, matrix
        self.width = matrix.shape[1]

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        first, count = self._rows.places[name]
        return self._matrix[first : first + count] if count else self._matrix[first]


def quick_rows(rows, matrix):
    """The same, in a quarter of the time for each access."""
    return _with_rows(rows)(rows, matrix)


@cache
def _with_rows(rows):
    """The class of `quick_rows`: a property for each name."""

    def row(first, count):
        get = (lambda self: self._matrix[first : first + count]) if count else (lambda self: self._matrix[first])
        return property(get)

    return type("RowsView", (RowsView,), {name: row(*place) for name, place in rows.places.items()})


class KeptRowsView(RowsView):
    """The same, for one call of the core without the JIT: each row is made once."""

    def __getattr__(self, name):
        value = self.__dict__[name] = super().__getattr__(name)
        return value


class TableView:
    """The arrays of a table at an address (made at first access)."""

    def __init__(self, table, address):
        self._table, self.address = table, int(address)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        kind = self._table.fields[name]
        address, *shape = (ctypes.c_int64 * 3).from_address(self.address + 24 * self._table.places[name])
        value = self.__dict__[name] = _seen(kind, address, shape)
        return value


def _seen(kind, address, shape):
    if isinstance(kind, Table):
        return TableView(kind, address)
    if isinstance(kind, Rows):
        return KeptRowsView(kind, array_at(address, shape, kind.dtype))
    if isinstance(kind, np.dtype):
        return record_view(kind)(memoryview((ctypes.c_char * kind.itemsize).from_address(address)))
    if isinstance(kind, list):
        item, dimensions = record_of(kind)
        return array_at(address, shape[:dimensions], item).view(np.recarray)
    name, _ = columns_of(kind)
    dtype = np.int64 if name in ("integers", "indices") else np.float64
    return array_at(address, shape if name in ("matrix", "indices") else shape[:1], dtype)


def array_at(address, shape, dtype):
    """The array of that shape at an address."""
    dtype = np.dtype(dtype)
    if math.prod(shape) == 0:
        return np.empty(shape, dtype)
    memory = (ctypes.c_char * (math.prod(shape) * dtype.itemsize)).from_address(address)
    return np.frombuffer(memory, dtype=dtype).reshape(shape)
