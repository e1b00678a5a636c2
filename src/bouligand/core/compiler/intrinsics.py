"""Instructions that the core needs and Python does not have: calls by address, bare memory, hints to the compiler.

Every user function has the C signature ``int32 fn(double t, double* or int64 ..., int64* ctx)``: scalars and bare
pointers, sizes at run time. ``ctx`` points to ``[n, m, np, user data]``, so that a plate with another number of contacts
recompiles nothing, and a simulator's model has a place that is not ``p``. (A function of several contacts has a context of
its own, with their number as well.) The function returns 0, or a status that says it failed.
"""

import contextlib
import ctypes
import os
import struct
import sys
import time

import llvmlite.binding
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .indexing import field
from .jit import ENTRIES, JIT

DOUBLE, INT32, INT64 = ir.DoubleType(), ir.IntType(32), ir.IntType(64)

if JIT:

    @intrinsic
    def address(typingctx, array):
        """Address of the first item of an array, as an integer."""

        def codegen(context, builder, signature, args):
            return builder.ptrtoint(field(context, builder, signature.args[0], args[0], "data"), INT64)

        return types.intp(array), codegen

    @intrinsic
    def call(typingctx, address, t, arguments, ctx):
        """``fn(t, *arguments, ctx)`` through an address; ``arguments`` is a tuple of addresses (or plain integers), or of arrays.

        An array that was allocated in the calling function has to be given as such where it is not used any more after the call:
        it is freed after its last use, which would be that of its address, before the call.
        """
        signature = types.int32(types.int64, types.float64, arguments, types.int64)

        def codegen(context, builder, signature, args):
            middle = [
                builder.ptrtoint(field(context, builder, kind, item, "data"), INT64)
                if isinstance(kind, types.Array)
                else item
                for kind, item in zip(signature.args[2], cgutils.unpack_tuple(builder, args[2]), strict=True)
            ]
            kind = ir.FunctionType(INT32, [DOUBLE] + [INT64] * (len(middle) + 1))
            function = builder.inttoptr(args[0], kind.as_pointer())
            return builder.call(function, [args[1], *middle, args[3]])

        return signature, codegen

    @intrinsic
    def call_entry(typingctx, address, table):
        """Call an entry of the core by the address of its machine code (see `jit.address_of`); -1 if it raised an exception.

        (A call by name would compile a second copy of it into the caller.)
        """
        kinds = (types.int64,)

        def codegen(context, builder, signature, args):
            convention = context.call_conv
            kind = convention.get_function_type(types.int64, kinds)
            function = builder.inttoptr(args[0], kind.as_pointer())
            status, out = convention.call_function(builder, function, types.int64, kinds, [args[1]])
            return builder.select(status.is_ok, out, INT64(-1))

        return types.int64(types.int64, types.int64), codegen

else:
    _prototypes: dict = {}

    def call_entry(address, table):
        return ENTRIES[int(address)](table)

    def address(array):
        return array.ctypes.data

    def call(address, t, arguments, ctx):
        key = (int(address), len(arguments))
        if key not in _prototypes:
            kind = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_double, *[ctypes.c_int64] * (len(arguments) + 1))
            _prototypes[key] = kind(int(address))
        return _prototypes[key](t, *[a.ctypes.data if hasattr(a, "ctypes") else int(a) for a in arguments], int(ctx))


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


# ------------------------------------------------------------------------------------------ the clock


def _provide_clock():
    """Make a clock of the C library known to LLVM under a name of ours, and say which it is."""
    if os.name == "nt":
        kind, function = "clock", ctypes.cdll.msvcrt.clock
    else:
        kind, function = "clock_gettime", ctypes.CDLL(None).clock_gettime
    llvmlite.binding.add_symbol(f"bouligand_{kind}", ctypes.cast(function, ctypes.c_void_p).value)
    return kind


def _clock_number():
    """Which clock of clock_gettime: on Linux the coarse one (of some milliseconds, in a fifth of the time), if it is there."""
    coarse = 6  # CLOCK_MONOTONIC_COARSE
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            if time.clock_getres(coarse) <= 0.01:
                return coarse
    return time.CLOCK_MONOTONIC


if JIT:
    _CLOCK = _provide_clock()

    @intrinsic
    def seconds(typingctx):
        """The time, from some moment on, to some milliseconds."""

        def codegen(context, builder, signature, args):
            if _CLOCK == "clock":  # (milliseconds)
                function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(INT32, []), "bouligand_clock")
                return builder.fdiv(builder.sitofp(builder.call(function, []), DOUBLE), DOUBLE(1e3))
            moment = cgutils.alloca_once(builder, INT64, size=2)
            kind = ir.FunctionType(INT32, [INT32, INT64.as_pointer()])
            function = cgutils.get_or_insert_function(builder.module, kind, "bouligand_clock_gettime")
            builder.call(function, [INT32(_clock_number()), moment])
            whole, part = (builder.sitofp(builder.load(builder.gep(moment, [INT64(q)])), DOUBLE) for q in (0, 1))
            return builder.fadd(whole, builder.fmul(part, DOUBLE(1e-9)))

        return types.float64(), codegen

else:

    def seconds():
        return time.monotonic()


# ------------------------------------------------------------------------------------------------------ bare memory


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


def _writer(kind, given):
    """A compiled ``write(address, i, value)``: the value as the i-th item of that kind at an address."""

    @intrinsic
    def write(typingctx, address, i, value):
        signature = types.void(types.int64, types.int64, given)

        def codegen(context, builder, signature, args):
            builder.store(args[2], builder.gep(builder.inttoptr(args[0], kind.as_pointer()), [args[1]]))
            return context.get_dummy_value()

        return signature, codegen

    return write


if JIT:
    read = _reader(DOUBLE, types.float64, 64)
    read_int = _reader(INT64, types.int64, 64)
    read_int32 = _reader(INT32, types.int64, 32)

    write = _writer(DOUBLE, types.float64)
    write_int = _writer(INT64, types.int64)

else:

    def read(address, i):
        return ctypes.c_double.from_address(int(address) + 8 * int(i)).value

    def read_int(address, i):
        return ctypes.c_int64.from_address(int(address) + 8 * int(i)).value

    def read_int32(address, i):
        return ctypes.c_int32.from_address(int(address) + 4 * int(i)).value

    def write(address, i, value):
        ctypes.c_double.from_address(int(address) + 8 * int(i)).value = value

    def write_int(address, i, value):
        ctypes.c_int64.from_address(int(address) + 8 * int(i)).value = int(value)


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

    @intrinsic
    def apart(typingctx):
        """Called first in a function that is seldom needed, and called in many places: no copies of it are made there."""
        signature = types.void()

        def codegen(context, builder, signature, args):
            builder.function.attributes.add("noinline")
            return context.get_dummy_value()

        return signature, codegen

else:

    def compact():
        pass

    def apart():
        pass
