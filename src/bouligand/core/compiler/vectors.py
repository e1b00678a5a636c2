"""Whole rows at once, as vector instructions: loops in Python do not become these, since an index may be negative."""

import contextlib

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


def add_product(builder, a, b, total):
    """``a b + total``, rounded once where the machine can: the same everywhere, so that a replayed step has the same bits."""
    kind, name = ir.FunctionType(a.type, [a.type] * 3), "v4f64" if a.type == FOUR else "f64"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.fmuladd.{name}"), [a, b, total])


if JIT:

    @intrinsic
    def minimum(typingctx, vector, begin, end, most):
        """The smallest of vector[begin:end] and ``most``, four at a time: Numba's min in a loop does not become that."""
        signature = types.float64(vector, types.int64, types.int64, types.float64)

        def codegen(context, builder, signature, args):
            _, begin, end, most = args
            start = context.make_array(signature.args[0])(context, builder, args[0]).data

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

    def minimum(vector, begin, end, most):
        return min(most, vector[begin:end].min())


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
    def copy(typingctx, source, target):
        """target[:] = source, of vectors of the same length."""
        signature = types.void(source, target)

        def codegen(context, builder, signature, args):
            of, to = (
                context.make_array(kind)(context, builder, a) for kind, a in zip(signature.args, args, strict=True)
            )
            cgutils.raw_memcpy(builder, to.data, of.data, of.nitems, INT64(8))
            return context.get_dummy_value()

        return signature, codegen

else:

    def clear(vector, begin, count):
        vector[begin : begin + count] = 0.0

    def copy(source, target):
        target[:] = source


if JIT:

    @intrinsic
    def multiply(typingctx, J, vector, out):
        """out = J vector, where both hold a matrix with as many rows as J has; its columns are a multiple of four."""
        signature = types.void(J, vector, out)

        def codegen(context, builder, signature, args):
            matrix = context.make_array(signature.args[0])(context, builder, args[0])
            size = cgutils.unpack_tuple(builder, matrix.shape)[0]
            of, to = (context.make_array(signature.args[q])(context, builder, args[q]) for q in (1, 2))
            columns = builder.udiv(of.nitems, size)
            source, target = of.data, to.data

            def place(start, i, c):
                entry = builder.gep(start, [builder.add(builder.mul(i, columns), c)])
                return builder.bitcast(entry, FOUR.as_pointer())

            def block(rows, start, first, fours):
                """So many times four columns of one row: their sums are independent, so that the processor overlaps them."""
                totals = [cgutils.alloca_once(builder, FOUR) for _ in range(fours)]
                places = [builder.add(first, INT64(4 * q)) for q in range(fours)]
                for total in totals:
                    builder.store(ir.Constant(FOUR, [0.0] * 4), total)
                with cgutils.for_range(builder, size) as inner:
                    number = builder.load(builder.gep(start, [inner.index]))
                    # (to skip zeros pays where many columns follow)
                    counts = builder.fcmp_unordered("!=", number, DOUBLE(0.0))
                    with builder.if_then(counts, likely=True) if fours > 1 else contextlib.nullcontext():
                        factor = everywhere(builder, number)
                        for total, c in zip(totals, places, strict=True):
                            four = builder.load(place(source, inner.index, c), align=8)
                            builder.store(add_product(builder, factor, four, builder.load(total)), total)
                for total, c in zip(totals, places, strict=True):
                    builder.store(builder.load(total), place(target, rows.index, c), align=8)

            wide = builder.and_(columns, INT64(-16))
            with cgutils.for_range(builder, size) as rows:
                start = builder.gep(matrix.data, [builder.mul(rows.index, size)])
                with cgutils.for_range_slice(builder, INT64(0), wide, INT64(16)) as (c, _):
                    block(rows, start, c, 4)
                with cgutils.for_range_slice(builder, wide, columns, INT64(4)) as (c, _):
                    block(rows, start, c, 1)
            return context.get_dummy_value()

        return signature, codegen

else:

    def multiply(J, vector, out):
        out[:] = (J @ vector.reshape(J.shape[0], -1)).ravel()


if JIT:

    @intrinsic
    def add_transposed(typingctx, J, vector, out, begin):
        """out[begin:] += J^T vector, in as many places as J has columns."""
        signature = types.void(J, vector, out, types.int64)

        def codegen(context, builder, signature, args):
            matrix, of, to = (context.make_array(signature.args[q])(context, builder, args[q]) for q in (0, 1, 2))
            rows, columns = cgutils.unpack_tuple(builder, matrix.shape)
            target = builder.gep(to.data, [args[3]])

            def block(kind, first, many):
                """So many vectors (or numbers) of one row after the other: they stay in registers."""
                size = kind.count if kind == FOUR else 1
                places = [builder.add(first, INT64(size * q)) for q in range(many)]

                def place(start, c):
                    return builder.bitcast(builder.gep(start, [c]), kind.as_pointer())

                totals = [cgutils.alloca_once(builder, kind) for _ in places]
                for total, c in zip(totals, places, strict=True):
                    builder.store(builder.load(place(target, c), align=8), total)
                with cgutils.for_range(builder, rows) as row:
                    number = builder.load(builder.gep(of.data, [row.index]))
                    factor = everywhere(builder, number) if kind == FOUR else number
                    start = builder.gep(matrix.data, [builder.mul(row.index, columns)])
                    for total, c in zip(totals, places, strict=True):
                        item = builder.load(place(start, c), align=8)
                        builder.store(add_product(builder, factor, item, builder.load(total)), total)
                for total, c in zip(totals, places, strict=True):
                    builder.store(builder.load(total), place(target, c), align=8)

            wide, whole = builder.and_(columns, INT64(-16)), builder.and_(columns, INT64(-4))
            with cgutils.for_range_slice(builder, INT64(0), wide, INT64(16)) as (c, _):
                block(FOUR, c, 4)
            with cgutils.for_range_slice(builder, wide, whole, INT64(4)) as (c, _):
                block(FOUR, c, 1)
            with cgutils.for_range_slice(builder, whole, columns, INT64(1)) as (c, _):
                block(DOUBLE, c, 1)
            return context.get_dummy_value()

        return signature, codegen

else:

    def add_transposed(J, vector, out, begin):
        out[begin : begin + J.shape[1]] += vector[: J.shape[0]] @ J


if JIT:

    def _fours(builder, begin, end):
        """How far vectors of four reach between two places."""
        return builder.add(begin, builder.and_(builder.sub(end, begin), INT64(-4)))

    @intrinsic
    def add_row(typingctx, F, i, k, begin, end, factor):
        """F[i, begin:end] += factor F[k, begin:end]."""
        signature = types.void(F, types.int64, types.int64, types.int64, types.int64, types.float64)

        def codegen(context, builder, signature, args):
            _, i, k, begin, end, factor = args
            matrix = context.make_array(signature.args[0])(context, builder, args[0])
            columns = cgutils.unpack_tuple(builder, matrix.shape)[1]
            target, source = (builder.gep(matrix.data, [builder.mul(row, columns)]) for row in (i, k))
            four, whole = everywhere(builder, factor), _fours(builder, begin, end)
            with cgutils.for_range_slice(builder, begin, whole, INT64(4)) as (j, _):
                to, of = (builder.bitcast(builder.gep(row, [j]), FOUR.as_pointer()) for row in (target, source))
                total = add_product(builder, four, builder.load(of, align=8), builder.load(to, align=8))
                builder.store(total, to, align=8)
            with cgutils.for_range_slice(builder, whole, end, INT64(1)) as (j, _):
                to, of = (builder.gep(row, [j]) for row in (target, source))
                builder.store(add_product(builder, factor, builder.load(of), builder.load(to)), to)
            return context.get_dummy_value()

        return signature, codegen

    @intrinsic
    def scaled(typingctx, A, factor, out):
        """out = factor A, of matrices of the same shape."""
        signature = types.void(A, types.float64, out)

        def codegen(context, builder, signature, args):
            of, to = (context.make_array(signature.args[q])(context, builder, args[q]) for q in (0, 2))
            begin, end = INT64(0), of.nitems
            four, whole = everywhere(builder, args[1]), _fours(builder, begin, end)
            with cgutils.for_range_slice(builder, begin, whole, INT64(4)) as (j, _):
                source, target = (builder.bitcast(builder.gep(a.data, [j]), FOUR.as_pointer()) for a in (of, to))
                builder.store(builder.fmul(four, builder.load(source, align=8)), target, align=8)
            with cgutils.for_range_slice(builder, whole, end, INT64(1)) as (j, _):
                source, target = (builder.gep(a.data, [j]) for a in (of, to))
                builder.store(builder.fmul(args[1], builder.load(source)), target)
            return context.get_dummy_value()

        return signature, codegen

    @intrinsic
    def add_rows(typingctx, F, i, begin, end, scale, vector):
        """Row i of ``vector`` += scale times the sum of F[i, k] times its row k, from ``begin`` up to ``end``. The vector holds a
        matrix with as many rows as F; its columns are a multiple of four."""
        signature = types.void(F, types.int64, types.int64, types.int64, types.float64, vector)

        def codegen(context, builder, signature, args):
            _, i, begin, end, scale, _ = args
            matrix = context.make_array(signature.args[0])(context, builder, args[0])
            of = context.make_array(signature.args[5])(context, builder, args[5])
            size, width = cgutils.unpack_tuple(builder, matrix.shape)
            columns = builder.udiv(of.nitems, size)
            start = builder.gep(matrix.data, [builder.mul(i, width)])

            def place(row, c):
                entry = builder.gep(of.data, [builder.add(builder.mul(row, columns), c)])
                return builder.bitcast(entry, FOUR.as_pointer())

            def block(first, fours):
                totals = [cgutils.alloca_once(builder, FOUR) for _ in range(fours)]
                places = [builder.add(first, INT64(4 * q)) for q in range(fours)]
                for total, c in zip(totals, places, strict=True):
                    builder.store(builder.load(place(i, c), align=8), total)
                with cgutils.for_range_slice(builder, begin, end, INT64(1)) as (k, _):
                    number = builder.load(builder.gep(start, [k]))
                    with builder.if_then(builder.fcmp_unordered("!=", number, DOUBLE(0.0)), likely=True):
                        factor = everywhere(builder, builder.fmul(number, scale))
                        for total, c in zip(totals, places, strict=True):
                            four = builder.load(place(k, c), align=8)
                            builder.store(add_product(builder, factor, four, builder.load(total)), total)
                for total, c in zip(totals, places, strict=True):
                    builder.store(builder.load(total), place(i, c), align=8)

            wide = builder.and_(columns, INT64(-16))
            with cgutils.for_range_slice(builder, INT64(0), wide, INT64(16)) as (c, _):
                block(c, 4)
            with cgutils.for_range_slice(builder, wide, columns, INT64(4)) as (c, _):
                block(c, 1)
            return context.get_dummy_value()

        return signature, codegen

    @intrinsic
    def row_product(typingctx, F, i, begin, end, y):
        """The sum of F[i, j] y[j] from ``begin`` up to ``end``."""
        signature = types.float64(F, types.int64, types.int64, types.int64, y)

        def codegen(context, builder, signature, args):
            _, i, begin, end, _ = args
            matrix = context.make_array(signature.args[0])(context, builder, args[0])
            vector = context.make_array(signature.args[4])(context, builder, args[4]).data
            row = builder.gep(matrix.data, [builder.mul(i, cgutils.unpack_tuple(builder, matrix.shape)[1])])
            sums = cgutils.alloca_once(builder, FOUR)
            builder.store(ir.Constant(FOUR, [0.0] * 4), sums)
            whole = _fours(builder, begin, end)
            with cgutils.for_range_slice(builder, begin, whole, INT64(4)) as (j, _):
                one, other = (builder.bitcast(builder.gep(of, [j]), FOUR.as_pointer()) for of in (row, vector))
                product = builder.load(one, align=8), builder.load(other, align=8), builder.load(sums)
                builder.store(add_product(builder, *product), sums)
            lanes = builder.load(sums)
            first, *others = (builder.extract_element(lanes, INT32(lane)) for lane in range(4))
            total = cgutils.alloca_once(builder, DOUBLE)
            for lane in others:
                first = builder.fadd(first, lane)
            builder.store(first, total)
            with cgutils.for_range_slice(builder, whole, end, INT64(1)) as (j, _):
                one, other = (builder.load(builder.gep(of, [j])) for of in (row, vector))
                builder.store(add_product(builder, one, other, builder.load(total)), total)
            return builder.load(total)

        return signature, codegen

else:

    def add_row(F, i, k, begin, end, factor):
        F[i, begin:end] += factor * F[k, begin:end]

    def scaled(A, factor, out):
        out[:] = factor * A

    def add_rows(F, i, begin, end, scale, vector):
        rows = vector.reshape(F.shape[0], -1)
        rows[i] += scale * (F[i, begin:end] @ rows[begin:end])

    def row_product(F, i, begin, end, y):
        return F[i, begin:end] @ y[begin:end]
