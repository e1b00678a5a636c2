"""The dual number as a Numba type: a value and some tangents, which follow every operation by the rules of differentiation.

There are three such types, which do not mix: with LANES tangents, for matrices, and with FEW_LANES and ONE_LANE, which cost
less, for two directions and for one. There is no conversion from a dual number to a float: code that would lose a tangent does
not compile.
"""

from llvmlite import ir
from numba import types
from numba.core.datamodel import models
from numba.core.typeconv import Conversion
from numba.extending import lower_cast, register_model

from ..state import FEW_LANES, LANES, ONE_LANE

DOUBLE = ir.DoubleType()
_I32 = ir.IntType(32)


class Dual(types.Type):
    """Numba's type of a dual number with so many tangents."""

    def __init__(self, lanes):
        self.lanes = lanes
        super().__init__(name="Dual" if lanes == LANES else f"Dual{lanes}")

    @property
    def vector(self):
        """LLVM's type of the tangents (loops over vectors of one number would not become vector code: that is a plain one),"""
        return DOUBLE if self.lanes == 1 else ir.VectorType(DOUBLE, self.lanes)

    @property
    def in_memory(self):
        """and of the number in memory."""
        return ir.LiteralStructType([DOUBLE, self.vector], packed=True)

    def can_convert_from(self, typingctx, other):
        return Conversion.safe if is_plain(other) else None

    def unify(self, typingctx, other):
        return self if is_plain(other) else None


KINDS = {lanes: Dual(lanes) for lanes in (LANES, FEW_LANES, ONE_LANE)}


def is_plain(kind):
    """Whether this is the type of a plain number, whose tangents are zero."""
    return isinstance(kind, types.Float | types.Integer | types.Boolean)


def is_dual(kind):
    """Whether this is the type of a dual number."""
    return isinstance(kind, Dual)


def is_array(kind):
    """Whether this is an array of dual numbers."""
    return isinstance(kind, types.Array) and isinstance(kind.dtype, Dual)


def some_dual(*kinds):
    """The type of dual numbers if they are among these types, and plain numbers besides; otherwise None."""
    return kind_of(*kinds) if all(is_dual(kind) or is_plain(kind) for kind in kinds) else None


def kind_of(*kinds):
    """The type of dual numbers, or of the dual numbers in arrays, among these types; None if there is none, or two."""
    found = {kind if is_dual(kind) else kind.dtype for kind in kinds if is_dual(kind) or is_array(kind)}
    return found.pop() if len(found) == 1 else None


@register_model(Dual)
class _Model(models.DataModel):
    """In registers a pair of a double and a vector; in memory the same, packed, so that it needs no alignment but a double's."""

    def get_value_type(self):
        return _pair(self.fe_type.vector)

    get_argument_type = get_return_type = get_value_type

    def get_data_type(self):
        return self.fe_type.in_memory

    def as_argument(self, builder, value):
        return value

    from_argument = as_return = from_return = as_argument

    def as_data(self, builder, value):
        return _repacked(builder, value, self.fe_type.in_memory)

    def from_data(self, builder, value):
        return _repacked(builder, value, _pair(self.fe_type.vector))

    def load_from_data_pointer(self, builder, pointer, align=None):
        parts = [builder.load(builder.gep(pointer, [_I32(0), _I32(q)]), align=8) for q in (0, 1)]
        return pack(builder, *parts)


def _pair(vector):
    """LLVM's type of a dual number in registers."""
    return ir.LiteralStructType([DOUBLE, vector])


def _repacked(builder, pair, kind):
    out = builder.insert_value(kind(ir.Undefined), builder.extract_value(pair, 0), 0)
    return builder.insert_value(out, builder.extract_value(pair, 1), 1)


def pack(builder, value, tangents):
    """A dual number of its value and its tangents."""
    return builder.insert_value(builder.insert_value(_pair(tangents.type)(ir.Undefined), value, 0), tangents, 1)


def parts(context, builder, kind, number):
    """Value and tangents of a number; of a plain one, None instead of tangents."""
    if is_dual(kind):
        return builder.extract_value(number, 0), builder.extract_value(number, 1)
    return context.cast(builder, number, kind, types.float64), None


def splat(builder, value, vector):
    """A vector of this type with this value in all lanes."""
    if vector == DOUBLE:
        return value
    first, places = builder.insert_element(vector(ir.Undefined), value, _I32(0)), ir.VectorType(_I32, vector.count)
    return builder.shuffle_vector(first, vector(ir.Undefined), ir.Constant(places, [0] * vector.count))


def zeros(vector):
    """Tangents of this type that are zero."""
    return DOUBLE(0.0) if vector == DOUBLE else ir.Constant(vector, [0.0] * vector.count)


@lower_cast(types.Float, Dual)
@lower_cast(types.Integer, Dual)
@lower_cast(types.Boolean, Dual)
def _constant(context, builder, fromty, toty, number):
    return pack(builder, context.cast(builder, number, fromty, types.float64), zeros(toty.vector))
