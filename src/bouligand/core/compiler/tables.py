"""Tables, rows and records inside compiled code: ``w.s.dt``, ``w.g.held[k]``, ``w.events[q].guard`` (see `core.state`).

A table is the address of rows (address, rows, columns), one for each of its arrays. An attribute of it is loaded from there
when it is asked for; those that nearly every function uses are loaded once and carried along, which LLVM makes better code of.
No references are counted: the memory belongs to Python, which keeps it alive while the core runs.
"""

import numpy as np
from numba import types
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic, lower_getattr_generic, models, register_model
from numba.np.arrayobj import populate_array
from numba.np.numpy_support import from_dtype

from ..state import BLOCK, WORK, Rows, Table
from ..views import KeptRowsView, TableView
from .intrinsics import INT64
from .jit import JIT

_ITEMS = {np.dtype(np.float64): types.float64, np.dtype(np.int64): types.int64}
_ARRAYS = {
    "vector": types.Array(types.float64, 1, "C"),
    "integers": types.Array(types.int64, 1, "C"),
    "matrix": types.Array(types.float64, 2, "C"),
    "indices": types.Array(types.int64, 2, "C"),
}


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
    if isinstance(kind, Table):
        return TableType(kind)
    if isinstance(kind, Rows):
        return RowsType(kind)
    if isinstance(kind, np.dtype):
        return from_dtype(kind)
    if isinstance(kind, list):
        return types.Array(from_dtype(kind[0]), 1, "C")
    return _ARRAYS[kind]


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


def _view(context, builder, kind, data, shape):
    """An array over bare memory."""
    size = INT64(context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    strides = [size] if len(shape) == 1 else [builder.mul(shape[1], size), size]
    view = context.make_array(kind)(context, builder)
    populate_array(view, data=data, shape=shape, strides=strides, itemsize=size, meminfo=None)
    return view._getvalue()


@lower_getattr_generic(TableType)
def _table_entry(context, builder, kind, value, name):
    opened = context.make_helper(builder, kind, value)
    known = name in kind.table.kept or name == "address"
    return getattr(opened, name) if known else _loaded(context, builder, kind, opened.address, name)


def _loaded(context, builder, kind, address, name):
    """An entry of the table at an address."""
    entry = _type(kind.table.fields[name])
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
    data = pointer(context.get_data_type(entry.dtype).as_pointer())
    return _view(context, builder, entry, data, sizes[: entry.ndim])


def _open(context, builder, kind, address):
    """The table at an address."""
    opened = context.make_helper(builder, kind)
    opened.address = address
    for name in kind.table.kept:
        setattr(opened, name, _loaded(context, builder, kind, address, name))
    return opened._getvalue()


@lower_getattr_generic(RowsType)
def _row(context, builder, kind, value, name):
    rows = context.make_helper(builder, kind, value)
    if name == "width":
        return rows.width
    first, count = kind.rows.places[name]
    data = builder.gep(rows.data, [builder.mul(rows.width, INT64(first))])
    shape = [INT64(count), rows.width] if count else [rows.width]
    return _view(context, builder, types.Array(kind.item, len(shape), "C"), data, shape)


def _opener(table):
    """A compiled function from an address to the table that is there."""
    if not JIT:
        return lambda address: TableView(table, address)

    @intrinsic
    def opened(typingctx, address):
        def codegen(context, builder, signature, args):
            return _open(context, builder, signature.return_type, args[0])

        return TableType(table)(types.int64), codegen

    return opened


work = _opener(WORK)
block = _opener(BLOCK)


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
