"""What the core does that Python has no words for: calls by address, bare memory, and hints to the compiler.

Every user function has the C signature ``int32 fn(double t, double* or int64 ..., int64* ctx)``: scalars and bare
pointers, sizes at run time. ``ctx`` points to ``[n, m, np, user data]``, so that a plate with another number of contacts
recompiles nothing, and a simulator's model has a place that is not ``p``. (A function of several contacts has a context of
its own, with their number as well.) The function returns 0, or a status that says it failed.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .jit import JIT

DOUBLE, INT32, INT64 = ir.DoubleType(), ir.IntType(32), ir.IntType(64)
_FOUR = ir.VectorType(DOUBLE, 4)

if JIT:

    @intrinsic
    def row_address(typingctx, array, row):
        """Address of a row of a C-contiguous array, as an integer."""
        signature = types.intp(array, types.intp)

        def codegen(context, builder, signature, args):
            view = context.make_array(signature.args[0])(context, builder, args[0])
            stride = cgutils.unpack_tuple(builder, view.strides)[0]
            base = builder.ptrtoint(view.data, INT64)
            return builder.add(base, builder.mul(args[1], stride))

        return signature, codegen

    @intrinsic
    def call(typingctx, address, t, arguments, ctx):
        """``fn(t, *arguments, ctx)`` through an address; ``arguments`` is a tuple of addresses (or plain integers)."""
        signature = types.int32(types.int64, types.float64, arguments, types.int64)

        def codegen(context, builder, signature, args):
            middle = cgutils.unpack_tuple(builder, args[2])
            kind = ir.FunctionType(INT32, [DOUBLE] + [INT64] * (len(middle) + 1))
            function = builder.inttoptr(args[0], kind.as_pointer())
            return builder.call(function, [args[1], *middle, args[3]])

        return signature, codegen

else:
    import ctypes

    _prototypes: dict = {}

    def row_address(array, row):
        return array.ctypes.data + row * array.strides[0]

    def call(address, t, arguments, ctx):
        key = (int(address), len(arguments))
        if key not in _prototypes:
            kind = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_double, *[ctypes.c_int64] * (len(arguments) + 1))
            _prototypes[key] = kind(int(address))
        return _prototypes[key](t, *[int(a) for a in arguments], int(ctx))


# ------------------------------------------------------------------------------------------ bare memory, for bridges


def _reader(kind, result, width):
    """A compiled ``read(address, i)``: the i-th item of that kind at an address."""

    @intrinsic
    def read(typingctx, address, i):
        signature = result(types.int64, types.int64)

        def codegen(context, builder, signature, args):
            item = builder.load(builder.gep(builder.inttoptr(args[0], kind.as_pointer()), [args[1]]))
            return builder.sext(item, INT64) if width < 64 else item

        return signature, codegen

    return read


if JIT:
    read = _reader(DOUBLE, types.float64, 64)
    read_int = _reader(INT64, types.int64, 64)
    read_int32 = _reader(INT32, types.int64, 32)

    @intrinsic
    def write(typingctx, address, i, value):
        """Store a double as the i-th at an address."""
        signature = types.void(types.int64, types.int64, types.float64)

        def codegen(context, builder, signature, args):
            builder.store(args[2], builder.gep(builder.inttoptr(args[0], DOUBLE.as_pointer()), [args[1]]))
            return context.get_dummy_value()

        return signature, codegen


if JIT:

    @intrinsic
    def compact(typingctx):
        """Called first in a function: optimise its code for size.

        Loops over a handful of components, each unrolled and vectorised, would make up most of the time that the core
        takes to compile, and gain nothing.
        """
        signature = types.void()

        def codegen(context, builder, signature, args):
            builder.function.attributes.add("optsize")
            return context.get_dummy_value()

        return signature, codegen

else:

    def compact():
        pass


if JIT:

    @intrinsic
    def minimum(typingctx, H, row, begin, end, most):
        """The smallest of H[row, begin:end] and ``most``, by vectors: Numba's min in a loop does not become one."""
        signature = types.float64(H, types.int64, types.int64, types.int64, types.float64)

        def codegen(context, builder, signature, args):
            view = context.make_array(signature.args[0])(context, builder, args[0])
            _, row, begin, end, most = args
            start = builder.gep(view.data, [builder.mul(row, cgutils.unpack_tuple(builder, view.shape)[1])])

            def smaller(a, b):
                return builder.select(builder.fcmp_ordered("<", a, b), a, b)

            four = ir.Constant(_FOUR, ir.Undefined)
            for lane in range(4):
                four = builder.insert_element(four, most, INT32(lane))
            lows = cgutils.alloca_once_value(builder, four)
            whole = builder.add(begin, builder.and_(builder.sub(end, begin), INT64(-4)))
            with cgutils.for_range_slice(builder, begin, whole, INT64(4)) as (index, _):
                place = builder.bitcast(builder.gep(start, [index]), _FOUR.as_pointer())
                builder.store(smaller(builder.load(place, align=8), builder.load(lows)), lows)
            four = builder.load(lows)
            low = cgutils.alloca_once_value(builder, most)
            for lane in range(4):
                builder.store(smaller(builder.extract_element(four, INT32(lane)), builder.load(low)), low)
            with cgutils.for_range_slice(builder, whole, end, INT64(1)) as (index, _):
                builder.store(smaller(builder.load(builder.gep(start, [index])), builder.load(low)), low)
            return builder.load(low)

        return signature, codegen

else:

    def minimum(H, row, begin, end, most):
        return min(most, H[row, begin:end].min())


if JIT:

    @intrinsic
    def clear(typingctx, vector, begin, count):
        """vector[begin : begin + count] = 0. (A loop does not become that: its index might be negative, for all Numba knows.)"""
        signature = types.void(vector, types.int64, types.int64)

        def codegen(context, builder, signature, args):
            view = context.make_array(signature.args[0])(context, builder, args[0])
            start = builder.gep(view.data, [args[1]])
            cgutils.memset(builder, start, builder.mul(args[2], INT64(8)), 0)
            return context.get_dummy_value()

        return signature, codegen

    @intrinsic
    def clear_row(typingctx, matrix, row):
        """matrix[row] = 0."""
        signature = types.void(matrix, types.int64)

        def codegen(context, builder, signature, args):
            view = context.make_array(signature.args[0])(context, builder, args[0])
            width = cgutils.unpack_tuple(builder, view.shape)[1]
            start = builder.gep(view.data, [builder.mul(args[1], width)])
            cgutils.memset(builder, start, builder.mul(width, INT64(8)), 0)
            return context.get_dummy_value()

        return signature, codegen

    @intrinsic
    def copy_row(typingctx, matrix, source, target):
        """matrix[target] = matrix[source]."""
        signature = types.void(matrix, types.int64, types.int64)

        def codegen(context, builder, signature, args):
            view = context.make_array(signature.args[0])(context, builder, args[0])
            width = cgutils.unpack_tuple(builder, view.shape)[1]
            source, target = (builder.gep(view.data, [builder.mul(row, width)]) for row in args[1:])
            cgutils.raw_memcpy(builder, target, source, width, INT64(8))
            return context.get_dummy_value()

        return signature, codegen

else:

    def clear(vector, begin, count):
        vector[begin : begin + count] = 0.0

    def clear_row(matrix, row):
        matrix[row] = 0.0

    def copy_row(matrix, source, target):
        matrix[target] = matrix[source]
