"""A shortcut through Numba's lowering: items and rows of contiguous arrays, in a few instructions each.

Numba unpacks an array into memory and packs what it found again, some forty instructions for an ``x[i]``, of which LLVM leaves
four: to write, to parse and to remove them took a good part of the time that the core takes to compile. The items are the
same, negative indices included, unless the function is marked as one without any (`jit.core`). See `compiling` for when this is
done.
"""

import contextlib

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.lowering import Lower
from numba.np.arrayobj import load_item, store_item

from .once import replaced

_INT = ir.IntType(64)


def view(context, builder, kind, data, shape):
    """A contiguous array over bare memory."""
    size = _INT(context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    model = context.data_model_manager[kind]
    array, count = ir.Constant(model.get_value_type(), None), size
    for axis in reversed(range(len(shape))):
        array = builder.insert_value(array, count, [model.get_field_position("strides"), axis])
        array = builder.insert_value(array, shape[axis], [model.get_field_position("shape"), axis])
        if axis > 0:
            count = builder.mul(count, shape[axis])
    items = shape[0]
    for length in shape[1:]:
        items = builder.mul(items, length)
    for name, value in (("nitems", items), ("itemsize", size), ("data", data)):
        array = builder.insert_value(array, value, model.get_field_position(name))
    return array


def field(context, builder, kind, value, name):
    """A field of a structure, of an array for example."""
    return builder.extract_value(value, context.data_model_manager[kind].get_field_position(name))


def _indices(kind):
    """The types of an index: one integer, or a tuple of these; None if it is something else."""
    kinds = tuple(kind) if isinstance(kind, types.BaseTuple) else (kind,)
    return kinds if all(isinstance(k, types.Integer) for k in kinds) else None


def _is_simple(context, array, index):
    """Whether this index is one or a row of a contiguous array, which needs no check and no counting of references."""
    if type(array) not in (types.Array, types.NestedArray) or array.layout != "C" or context.enable_boundscheck:
        return False
    kinds = _indices(index)
    items = isinstance(array.dtype, types.Number | types.Boolean | types.Record)
    rows = not context.enable_nrt
    return kinds is not None and items and (len(kinds) == array.ndim or (rows and 0 < len(kinds) < array.ndim))


def _place(lower, array, value, index_type, index):
    """Where the items begin that an index stands for, and the lengths of the axes that are left."""
    context, builder, natural = lower.context, lower.builder, getattr(lower.func_ir.func_id.func, "natural", False)
    shape = cgutils.unpack_tuple(builder, field(context, builder, array, value, "shape"), array.ndim)
    values = cgutils.unpack_tuple(builder, index) if isinstance(index_type, types.BaseTuple) else [index]
    place = None
    for axis, (kind, number) in enumerate(zip(_indices(index_type), values, strict=True)):
        number = context.cast(builder, number, kind, types.intp if kind.signed else types.uintp)
        if kind.signed and not natural and not (isinstance(kind, types.Literal) and kind.literal_value >= 0):
            behind = builder.add(number, shape[axis])
            number = builder.select(builder.icmp_signed("<", number, _INT(0)), behind, number)
        place = number if place is None else builder.add(builder.mul(place, shape[axis]), number)
    rest = shape[len(values) :]
    for length in rest:
        place = builder.mul(place, length)
    return builder.gep(field(context, builder, array, value, "data"), [place]), rest


@contextlib.contextmanager
def short_indexing():
    """Short code for items and rows of arrays ("arrays")."""
    usual_get, usual_set = Lower.lower_getitem, Lower.lower_setitem

    def lower_getitem(self, result, expr, value, index, signature):
        kind, index_kind = self.typeof(value.name), self.typeof(index.name)
        context, builder = self.context, self.builder
        if isinstance(kind, types.UniTuple) and isinstance(index_kind, types.IntegerLiteral):  # (a shape, mostly)
            item = builder.extract_value(self.loadvar(value.name), range(kind.count)[index_kind.literal_value])
            return context.cast(builder, item, kind.dtype, result)
        if not _is_simple(context, kind, index_kind):
            return usual_get(self, result, expr, value, index, signature)
        pointer, rest = _place(self, kind, self.loadvar(value.name), index_kind, self.loadvar(index.name))
        if rest:
            return view(context, builder, result, pointer, rest)
        return context.cast(builder, load_item(context, builder, kind, pointer), kind.dtype, result)

    def lower_setitem(self, target, index, value, signature):
        kind, index_kind, given = (self.typeof(part.name) for part in (target, index, value))
        context, builder = self.context, self.builder
        simple = _is_simple(context, kind, index_kind) and len(_indices(index_kind)) == kind.ndim
        if not simple or not isinstance(kind.dtype, types.Number) or not isinstance(given, types.Number):
            return usual_set(self, target, index, value, signature)
        pointer, _ = _place(self, kind, self.loadvar(target.name), index_kind, self.loadvar(index.name))
        item = context.cast(builder, self.loadvar(value.name), given, kind.dtype)
        return store_item(context, builder, kind, item, pointer)

    with replaced(Lower, "lower_getitem", lower_getitem), replaced(Lower, "lower_setitem", lower_setitem):
        yield
