"""Whole rows at once: what a loop in Python does not become, for all that Numba knows of its index."""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .intrinsics import DOUBLE, INT32, INT64
from .jit import JIT

FOUR = ir.VectorType(DOUBLE, 4)


def everywhere(builder, number):
    """A vector of four times the same number."""
    four = ir.Constant(FOUR, ir.Undefined)
    for lane in range(4):
        four = builder.insert_element(four, number, INT32(lane))
    return four


def _rows(context, builder, kind, matrix):
    """Of a matrix, where a row begins, and how wide it is."""
    view = context.make_array(kind)(context, builder, matrix)
    width = cgutils.unpack_tuple(builder, view.shape)[1]
    return lambda row: builder.gep(view.data, [builder.mul(row, width)]), width


if JIT:

    @intrinsic
    def minimum(typingctx, H, row, begin, end, most):
        """The smallest of H[row, begin:end] and ``most``, by vectors: Numba's min in a loop does not become one."""
        signature = types.float64(H, types.int64, types.int64, types.int64, types.float64)

        def codegen(context, builder, signature, args):
            _, row, begin, end, most = args
            start = _rows(context, builder, signature.args[0], args[0])[0](row)

            def smaller(a, b):
                return builder.select(builder.fcmp_ordered("<", a, b), a, b)

            lows = cgutils.alloca_once_value(builder, everywhere(builder, most))
            whole = builder.add(begin, builder.and_(builder.sub(end, begin), INT64(-4)))
            with cgutils.for_range_slice(builder, begin, whole, INT64(4)) as (index, _):
                place = builder.bitcast(builder.gep(start, [index]), FOUR.as_pointer())
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
            start, width = _rows(context, builder, signature.args[0], args[0])
            cgutils.memset(builder, start(args[1]), builder.mul(width, INT64(8)), 0)
            return context.get_dummy_value()

        return signature, codegen

    @intrinsic
    def copy_row(typingctx, matrix, source, target):
        """matrix[target] = matrix[source]."""
        signature = types.void(matrix, types.int64, types.int64)

        def codegen(context, builder, signature, args):
            start, width = _rows(context, builder, signature.args[0], args[0])
            cgutils.raw_memcpy(builder, start(args[2]), start(args[1]), width, INT64(8))
            return context.get_dummy_value()

        return signature, codegen

else:

    def clear(vector, begin, count):
        vector[begin : begin + count] = 0.0

    def clear_row(matrix, row):
        matrix[row] = 0.0

    def copy_row(matrix, source, target):
        matrix[target] = matrix[source]


if JIT:

    @intrinsic
    def multiply(typingctx, J, V, row, out):
        """V[out] = J V[row], where a row of V holds a matrix with as many rows as J has; its columns are a multiple of four."""
        signature = types.void(J, V, types.int64, types.int64)

        def codegen(context, builder, signature, args):
            matrix = context.make_array(signature.args[0])(context, builder, args[0])
            size = cgutils.unpack_tuple(builder, matrix.shape)[0]
            row_of_V, width = _rows(context, builder, signature.args[1], args[1])
            columns = builder.udiv(width, size)
            source, target = row_of_V(args[2]), row_of_V(args[3])

            def place(start, i, c):
                entry = builder.gep(start, [builder.add(builder.mul(i, columns), c)])
                return builder.bitcast(entry, FOUR.as_pointer())

            total = cgutils.alloca_once(builder, FOUR)
            kind = ir.FunctionType(FOUR, [FOUR] * 3)
            add_product = cgutils.get_or_insert_function(builder.module, kind, "llvm.fmuladd.v4f64")
            with cgutils.for_range(builder, size) as rows:
                start = builder.gep(matrix.data, [builder.mul(rows.index, size)])
                with cgutils.for_range_slice(builder, INT64(0), columns, INT64(4)) as (c, _):
                    builder.store(ir.Constant(FOUR, [0.0] * 4), total)
                    with cgutils.for_range(builder, size) as inner:
                        factor = everywhere(builder, builder.load(builder.gep(start, [inner.index])))
                        four = builder.load(place(source, inner.index, c), align=8)
                        builder.store(builder.call(add_product, [factor, four, builder.load(total)]), total)
                    builder.store(builder.load(total), place(target, rows.index, c), align=8)
            return context.get_dummy_value()

        return signature, codegen

else:

    def multiply(J, V, row, out):
        V[out] = (J @ V[row].reshape(J.shape[0], -1)).ravel()
