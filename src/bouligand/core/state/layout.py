"""Kinds of memory: records of scalars, rows of vectors, tables of arrays."""

import numpy as np


def record(*fields):
    """A dtype of 8-byte fields, each written as ``"name"`` (a float) or ``"name: int"``."""
    return np.dtype([(f.partition(":")[0], np.int64 if f.endswith("int") else np.float64) for f in fields], align=True)


def records(**parts):
    """A dtype of records, one after the other: ``name=(fields of `record`)``. An attribute of it is one of these."""
    return np.dtype([(name, record(*fields)) for name, fields in parts.items()], align=True)


class Rows:
    """Names for the rows of a matrix: a mapping from name to (first row, number of rows; 0: a single one, a vector).

    Rows are counted from zero in the order in which they are given; ``name=(first, count)`` is another name for some of them.
    """

    def __init__(self, kind, *names, dtype=np.float64, **others):
        self.kind, self.dtype = kind, np.dtype(dtype)
        self.places = {}
        first = 0
        for name in names:
            name, _, count = name.partition(" x ")
            self.places[name] = first, int(count or 0)
            first += int(count or 1)
        self.count = first
        for name, (of, place, count) in others.items():
            self.places[name] = self.places[of][0] + place, count


def record_of(kind):
    """The dtype of an array of records that is written as ``[dtype]`` or ``[[dtype]]``, and the number of its axes."""
    (inner,) = kind
    return (inner[0], 2) if isinstance(inner, list) else (inner, 1)


def columns_of(kind):
    """The name of such a kind of array, and the number of its columns if that is fixed."""
    name, _, columns = kind.partition(" x ")
    return name, int(columns) if columns else None


class Table:
    """Names of arrays, each with its kind: "vector", "integers", "matrix", "indices" (a matrix of integers), each of
    these two also with a fixed number of columns, "matrix x 3", a dtype (one record), [dtype] (an array of records), [[dtype]] (a
    matrix of records), `Rows`, or another table.

    Compiled code passes the ``kept`` arrays along with the address; all others are loaded from the table when they are used.
    """

    def __init__(self, kind, kept=(), **fields):
        self.kind, self.fields, self.kept = kind, fields, kept
        self.places = {name: q for q, name in enumerate(fields)}
