"""What the core does that Python has no words for: calls by address, bare memory, and hints to the compiler.

Every user function has the C signature ``int32 fn(double t, double* or int64 ..., int64* ctx)``: scalars and bare
pointers, sizes at run time. ``ctx`` points to ``[n, m, np, user data]``, so that a plate with another number of contacts
recompiles nothing, and a simulator's model has a place that is not ``p``. (A function of several contacts has a context of
its own, with their number as well.) The function returns 0, or a status that says it failed.
"""

import ctypes
import math
import struct

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from .jit import JIT

DOUBLE, INT32, INT64 = ir.DoubleType(), ir.IntType(32), ir.IntType(64)

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
    _prototypes: dict = {}

    def row_address(array, row):
        return array.ctypes.data + row * array.strides[0]

    def call(address, t, arguments, ctx):
        key = (int(address), len(arguments))
        if key not in _prototypes:
            kind = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_double, *[ctypes.c_int64] * (len(arguments) + 1))
            _prototypes[key] = kind(int(address))
        return _prototypes[key](t, *[int(a) for a in arguments], int(ctx))


_ONE = 1023 << 52  # the bits of 1.0

if JIT:

    @intrinsic
    def rough_power(typingctx, x, exponent):
        """``x ** exponent`` of a positive number, for small exponents, and up to seven hundredths too large: the bits of a
        number, read as an integer, are nearly its logarithm."""
        signature = types.float64(types.float64, types.float64)

        def codegen(context, builder, signature, args):
            logarithm = builder.sitofp(builder.sub(builder.bitcast(args[0], INT64), INT64(_ONE)), DOUBLE)
            bits = builder.add(builder.fptosi(builder.fmul(logarithm, args[1]), INT64), INT64(_ONE))
            return builder.bitcast(bits, DOUBLE)

        return signature, codegen

else:

    def rough_power(x, exponent):
        (bits,) = struct.unpack("q", struct.pack("d", x))
        return struct.unpack("d", struct.pack("q", int((bits - _ONE) * exponent) + _ONE))[0]


# ------------------------------------------------------------------------------------------ arrays from a table


def _array(kind, item):
    """A compiled ``array(table, place)``: the array whose address, rows and columns are a row of the table at an address."""

    @intrinsic
    def array(typingctx, table, place):
        def codegen(context, builder, signature, args):
            row = builder.gep(builder.inttoptr(args[0], INT64.as_pointer()), [builder.mul(args[1], INT64(3))])
            address, *shape = (builder.load(builder.gep(row, [INT64(q)])) for q in range(1 + kind.ndim))
            strides = [INT64(8)] if kind.ndim == 1 else [builder.mul(shape[1], INT64(8)), INT64(8)]
            view = context.make_array(kind)(context, builder)
            data = builder.inttoptr(address, item.as_pointer())
            populate_array(view, data=data, shape=shape, strides=strides, itemsize=INT64(8), meminfo=None)
            return view._getvalue()

        return kind(types.int64, types.int64), codegen

    return array


if JIT:
    vector = _array(types.Array(types.float64, 1, "C"), DOUBLE)
    integers = _array(types.Array(types.int64, 1, "C"), INT64)
    matrix = _array(types.Array(types.float64, 2, "C"), DOUBLE)
else:

    def _plain(kind, ndim):
        def array(table, place):
            address, *shape = (ctypes.c_int64 * 3).from_address(table + 24 * place)
            shape = shape[:ndim]
            count = math.prod(shape)
            return (
                np.ctypeslib.as_array((kind * count).from_address(address)).reshape(shape) if count else np.empty(shape)
            )

        return array

    vector, integers, matrix = _plain(ctypes.c_double, 1), _plain(ctypes.c_int64, 1), _plain(ctypes.c_double, 2)


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
