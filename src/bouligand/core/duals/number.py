"""The dual number as a Numba type: a value and LANES tangents, which follow every operation by the rules of differentiation.

There is no conversion from a dual number to a float: code that would lose a tangent does not compile.
"""

from llvmlite import ir
from numba import types
from numba.core.datamodel import models
from numba.core.typeconv import Conversion
from numba.extending import lower_cast, register_model

from ..state import LANES

DOUBLE = ir.DoubleType()
VECTOR = ir.VectorType(DOUBLE, LANES)
ZERO = ir.Constant(VECTOR, [0.0] * LANES)
_VALUE = ir.LiteralStructType([DOUBLE, VECTOR])
IN_MEMORY = ir.LiteralStructType([DOUBLE, VECTOR], packed=True)
_I32 = ir.IntType(32)


class Dual(types.Type):
    """Numba's type of a dual number."""

    def __init__(self):
        super().__init__(name="Dual")

    def can_convert_from(self, typingctx, other):
        return Conversion.safe if is_plain(other) else None

    def unify(self, typingctx, other):
        return self if is_plain(other) else None


dual = Dual()


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
    known = all(is_dual(kind) or is_plain(kind) for kind in kinds)
    return dual if known and any(is_dual(kind) for kind in kinds) else None


@register_model(Dual)
class _Model(models.DataModel):
    """In registers a pair of a double and a vector; in memory the same, packed, so that it needs no alignment but a double's."""

    def get_value_type(self):
        return _VALUE

    get_argument_type = get_return_type = get_value_type

    def get_data_type(self):
        return IN_MEMORY

    def as_argument(self, builder, value):
        return value

    from_argument = as_return = from_return = as_argument

    def as_data(self, builder, value):
        return _repacked(builder, value, IN_MEMORY)

    def from_data(self, builder, value):
        return _repacked(builder, value, _VALUE)

    def load_from_data_pointer(self, builder, pointer, align=None):
        parts = [builder.load(builder.gep(pointer, [_I32(0), _I32(q)]), align=8) for q in (0, 1)]
        return pack(builder, *parts)


def _repacked(builder, pair, kind):
    out = builder.insert_value(kind(ir.Undefined), builder.extract_value(pair, 0), 0)
    return builder.insert_value(out, builder.extract_value(pair, 1), 1)


def pack(builder, value, tangents):
    """A dual number of its value and its tangents."""
    return builder.insert_value(builder.insert_value(_VALUE(ir.Undefined), value, 0), tangents, 1)


def parts(context, builder, kind, number):
    """Value and tangents of a number; of a plain one, None instead of tangents."""
    if is_dual(kind):
        return builder.extract_value(number, 0), builder.extract_value(number, 1)
    return context.cast(builder, number, kind, types.float64), None


def splat(builder, value):
    """A vector with this value in all lanes."""
    first = builder.insert_element(VECTOR(ir.Undefined), value, _I32(0))
    return builder.shuffle_vector(first, VECTOR(ir.Undefined), ir.Constant(ir.VectorType(_I32, LANES), [0] * LANES))


@lower_cast(types.Float, Dual)
@lower_cast(types.Integer, Dual)
@lower_cast(types.Boolean, Dual)
def _constant(context, builder, fromty, toty, number):
    return pack(builder, context.cast(builder, number, fromty, types.float64), ZERO)
