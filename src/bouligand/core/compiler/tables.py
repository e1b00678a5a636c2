"""Tables, rows and records inside compiled code: ``w.s.next.dt``, ``w.g.held[k]``, ``w.events[q].guard`` (see `core.state`).

A table is the address of rows (address, rows, columns), one for each of its arrays. An attribute of it is loaded from there
when it is asked for; those that nearly every function uses are loaded once and carried along, which LLVM makes better code of.
No references are counted: the memory belongs to Python, which keeps it alive while the core runs.
"""

import numpy as np
from numba import types
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic, lower_getattr_generic, models, register_model
from numba.np.numpy_support import from_dtype

from ..state import BLOCK, WORK, Rows, Table
from ..state.layout import columns_of, record_of
from ..views import KeptRowsView, TableView, array_at
from .indexing import field, view
from .intrinsics import INT64
from .jit import JIT

_ITEMS = {np.dtype(np.float64): types.float64, np.dtype(np.int64): types.int64}
_ARRAYS = {
    "vector": types.Array(types.float64, 1, "C"),
    "integers": types.Array(types.int64, 1, "C"),
    "matrix": types.Array(types.float64, 2, "C"),
    "indices": types.Array(types.int64, 2, "C"),
}
_TYPES: dict = {}  # types that were made, by the ``id`` of what they were made from (which is kept here too, so that it stays)


class TableType(types.Type):
    """An address at which there is a table."""

    def __init__(self, table):
        self.table = table
        super().__init__(f"Table({table.kind})")


class RowsType(types.Type):
    """A matrix whose rows have names."""

    def __init__(self, rows):
        self.rows = rows
        self.item = _ITEMS[np.dtype(rows.dtype)]
        super().__init__(f"Rows({rows.kind})")


def _type(kind):
    """Numba's type of an entry of a table."""
    if id(kind) not in _TYPES:  # (the type of a record with a hundred fields takes a while to make)
        _TYPES[id(kind)] = kind, _new_type(kind)
    return _TYPES[id(kind)][1]


def _new_type(kind):
    if isinstance(kind, Table):
        return TableType(kind)
    if isinstance(kind, Rows):
        return RowsType(kind)
    if isinstance(kind, np.dtype):
        return from_dtype(kind)
    if isinstance(kind, list):
        item, dimensions = record_of(kind)
        return types.Array(from_dtype(item), dimensions, "C")
    return _ARRAYS[columns_of(kind)[0]]


@register_model(TableType)
class _TableModel(models.StructModel):
    def __init__(self, manager, kind):
        kept = [(name, _type(kind.table.fields[name])) for name in kind.table.kept]
        super().__init__(manager, kind, [("address", types.int64), *kept])


@register_model(RowsType)
class _RowsModel(models.StructModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, [("data", types.CPointer(kind.item)), ("width", types.intp)])


@infer_getattr
class _TableAttributes(AttributeTemplate):
    key = TableType

    def generic_resolve(self, kind, name):
        if name == "address":
            return types.int64
        return _type(kind.table.fields[name]) if name in kind.table.fields else None


@infer_getattr
class _RowsAttributes(AttributeTemplate):
    key = RowsType

    def generic_resolve(self, kind, name):
        if name == "width":
            return types.intp
        if name in kind.rows.places:
            return types.Array(kind.item, 2 if kind.rows.places[name][1] else 1, "C")
        return None


@lower_getattr_generic(TableType)
def _table_entry(context, builder, kind, value, name):
    if name in kind.table.kept or name == "address":
        return field(context, builder, kind, value, name)
    return _loaded(context, builder, kind, field(context, builder, kind, value, "address"), name)


def _loaded(context, builder, kind, address, name):
    """An entry of the table at an address."""
    of_entry = kind.table.fields[name]
    entry = _type(of_entry)
    row = builder.inttoptr(builder.add(address, INT64(24 * kind.table.places[name])), INT64.as_pointer())

    def pointer(to):
        return builder.load(builder.bitcast(row, to.as_pointer()))

    if isinstance(entry, TableType):
        return _open(context, builder, entry, builder.load(row))
    if isinstance(entry, types.Record):
        return pointer(context.get_value_type(entry))
    sizes = [builder.load(builder.gep(row, [INT64(q)])) for q in (1, 2)]
    if isinstance(entry, RowsType):
        rows = context.make_helper(builder, entry)
        rows.data, rows.width = pointer(context.get_value_type(types.CPointer(entry.item))), sizes[1]
        return rows._getvalue()
    if isinstance(of_entry, str) and (columns := columns_of(of_entry)[1]) is not None:
        sizes[1] = INT64(columns)  # (so that places in it are multiples of a constant)
    data = pointer(context.get_data_type(entry.dtype).as_pointer())
    return view(context, builder, entry, data, sizes[: entry.ndim])


def _open(context, builder, kind, address):
    """The table at an address."""
    opened = context.make_helper(builder, kind)
    opened.address = address
    for name in kind.table.kept:
        setattr(opened, name, _loaded(context, builder, kind, address, name))
    return opened._getvalue()


@lower_getattr_generic(RowsType)
def _row(context, builder, kind, value, name):
    width = field(context, builder, kind, value, "width")
    if name == "width":
        return width
    first, count = kind.rows.places[name]
    data = builder.gep(field(context, builder, kind, value, "data"), [builder.mul(width, INT64(first))])
    shape = [INT64(count), width] if count else [width]
    return view(context, builder, types.Array(kind.item, len(shape), "C"), data, shape)


def opener(table):
    """A compiled function from an address to the table that is there."""
    if not JIT:
        return lambda address: TableView(table, address)

    @intrinsic
    def opened(typingctx, address):
        def codegen(context, builder, signature, args):
            return _open(context, builder, signature.return_type, args[0])

        return TableType(table)(types.int64), codegen

    return opened


work = opener(WORK)
block = opener(BLOCK)


def rows_of(rows):
    """A compiled function from a matrix to its named rows."""
    if not JIT:
        return lambda matrix: KeptRowsView(rows, matrix)

    @intrinsic
    def named(typingctx, matrix):
        def codegen(context, builder, signature, args):
            view = context.make_array(signature.args[0])(context, builder, args[0])
            out = context.make_helper(builder, signature.return_type)
            out.data = builder.bitcast(view.data, context.get_value_type(types.CPointer(signature.return_type.item)))
            out.width = builder.extract_value(view.shape, 1)
            return out._getvalue()

        return RowsType(rows)(matrix), codegen

    return named


def _placer(kind, dtype):
    """A compiled function from an address, and the lengths of the axes, to the array that is there."""
    if not JIT:
        return lambda address, *shape: array_at(address, shape, dtype)

    def placed(context, builder, signature, args):
        data = builder.inttoptr(args[0], context.get_data_type(kind.dtype).as_pointer())
        return view(context, builder, kind, data, args[1:])

    if kind.ndim == 1:

        @intrinsic
        def array(typingctx, address, length):
            return kind(types.int64, types.int64), placed

    else:

        @intrinsic
        def array(typingctx, address, rows, columns):
            return kind(types.int64, types.int64, types.int64), placed

    return array


vector_at = _placer(_ARRAYS["vector"], np.float64)
integers_at = _placer(_ARRAYS["integers"], np.int64)
matrix_at = _placer(_ARRAYS["matrix"], np.float64)
