"""Runge-Kutta formulas as straight code: their weights become constants of the machine code."""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ..compiler.intrinsics import DOUBLE, INT32, INT64, call, row_address
from ..compiler.jit import JIT
from ..compiler.vectors import FOUR, everywhere


def _add_product(builder, a, b, total):
    """``a b + total``, rounded once where the machine can; always so, that a step taken again be the same to the last bit."""
    kind, name = ir.FunctionType(a.type, [a.type] * 3), "v4f64" if a.type == FOUR else "f64"
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.fmuladd.{name}"), [a, b, total])


def _item(builder, data, width, row, i):
    return builder.load(builder.gep(data, [builder.add(builder.mul(row, width), i)]))


def _sum_rows(builder, data, width, first, weights, i):
    """``sum of weights[q] * V[first + q, i]`` over the weights that are not zero, as straight-line code."""
    total = None
    for q, weight in enumerate(weights):
        if weight == 0.0:
            continue
        item, weight = _item(builder, data, width, builder.add(first, INT64(q)), i), DOUBLE(float(weight))
        total = builder.fmul(weight, item) if total is None else _add_product(builder, weight, item, total)
    return total


def _step(builder, data, width, x, first, scale, weights, i):
    """``V[x, i] + scale * sum of weights[q] * V[first + q, i]``, such that little is left to do once the last row is known."""
    last = max(q for q, weight in enumerate(weights) if weight != 0.0)
    state = _item(builder, data, width, x, i)
    others = _sum_rows(builder, data, width, first, weights[:last], i)
    if others is not None:
        state = _add_product(builder, scale, others, state)
    weight = builder.fmul(scale, DOUBLE(float(weights[last])))
    return _add_product(builder, weight, _item(builder, data, width, builder.add(first, INT64(last)), i), state)


def combination(weights, onto=False):
    """A compiled ``combine(V, base, first, scale, out)``: V[out] = scale * sum of weights[q] V[first + q], plus V[base]
    where ``onto``.

    The weights become constants of straight-line code: on states of a few components a loop over a table would take
    several times as long as the arithmetic.
    """
    if not JIT:

        def combine(V, base, first, scale, out):
            V[out] = scale * (np.asarray(weights) @ V[first : first + len(weights)]) + (V[base] if onto else 0.0)

        return combine

    @intrinsic
    def combine(typingctx, V, base, first, scale, out):
        signature = types.void(V, types.int64, types.int64, types.float64, types.int64)

        def codegen(context, builder, signature, args):
            view = context.make_array(signature.args[0])(context, builder, args[0])
            width = cgutils.unpack_tuple(builder, view.shape)[1]
            with cgutils.for_range(builder, width) as loop:
                if onto:
                    total = _step(builder, view.data, width, args[1], args[2], args[3], weights, loop.index)
                else:
                    total = builder.fmul(args[3], _sum_rows(builder, view.data, width, args[2], weights, loop.index))
                target = builder.add(builder.mul(args[4], width), loop.index)
                builder.store(total, builder.gep(view.data, [target]))
            return context.get_dummy_value()

        return signature, codegen

    return combine


def combinations(table, wide=False):
    """Like ``combination`` with ``onto``, for many rows of weights: ``combine(V, base, first, scale, out, row)``.

    ``wide``: four components at a time, for arrays whose width is a multiple of four.
    """
    kind, step = (FOUR, 4) if wide else (DOUBLE, 1)
    if not JIT:

        def combine(V, base, first, scale, out, row):
            V[out] = V[base] + scale * (np.asarray(table[row]) @ V[first : first + len(table[row])])

        return combine

    def load(builder, view, width, row, i):
        start = builder.gep(view.data, [builder.add(builder.mul(row, width), i)])
        return builder.load(builder.bitcast(start, kind.as_pointer()), align=8)

    @intrinsic
    def combine(typingctx, V, base, first, scale, out, row):
        signature = types.void(V, types.int64, types.int64, types.float64, types.int64, types.int64)

        def codegen(context, builder, signature, args):
            view = context.make_array(signature.args[0])(context, builder, args[0])
            width = cgutils.unpack_tuple(builder, view.shape)[1]
            _, base, first, scale, out, row = args
            scale = everywhere(builder, scale) if wide else scale
            done = builder.append_basic_block("combined")
            choice = builder.switch(row, done)
            for number, weights in enumerate(table):
                block = builder.append_basic_block("weights")
                choice.add_case(INT64(number), block)
                builder.position_at_end(block)
                with cgutils.for_range_slice(builder, INT64(0), width, INT64(step)) as (i, _):
                    total, change = load(builder, view, width, base, i), None
                    for q, weight in enumerate(weights):
                        if weight != 0.0:
                            item = load(builder, view, width, builder.add(first, INT64(q)), i)
                            weight = ir.Constant(FOUR, [float(weight)] * 4) if wide else DOUBLE(float(weight))
                            change = (
                                builder.fmul(weight, item)
                                if change is None
                                else _add_product(builder, weight, item, change)
                            )
                    if change is not None:
                        total = builder.fadd(total, builder.fmul(scale, change))
                    target = builder.gep(view.data, [builder.add(builder.mul(out, width), i)])
                    builder.store(total, builder.bitcast(target, kind.as_pointer()), align=8)
                builder.branch(done)
            builder.position_at_end(done)
            return context.get_dummy_value()

        return signature, codegen

    return combine


def stage_runner(A, c, stages):
    """A compiled ``run(address, ctx, t, s, cap, V, b, p, x, k, scratch)`` that evaluates the given stages.

    Stage q is ``V[k+q] = f(min(t + c[q] s, cap), V[x] + s sum_r A[q, r] V[k+r], b, p)``; its state is left in the row
    ``scratch``. Returns 0, or the stage that failed.
    """
    if not JIT:

        def run(address, ctx, t, s, cap, V, b, p, x, k, scratch):
            for q in stages:
                V[scratch] = V[x] + s * (A[q, :q] @ V[k : k + q])
                arguments = (row_address(V, scratch), b, p, row_address(V, k + q))
                if call(address, min(t + c[q] * s, cap), arguments, ctx) != 0:
                    return q
            return 0

        return run

    @intrinsic
    def run(typingctx, address, ctx, t, s, cap, V, b, p, x, k, scratch):
        i8, f8 = types.int64, types.float64
        signature = types.int64(i8, i8, f8, f8, f8, V, i8, i8, i8, i8, i8)

        def codegen(context, builder, signature, args):
            address, ctx, t, s, cap, V, b, p, x, k, scratch = args
            view = context.make_array(signature.args[5])(context, builder, V)
            data, width = view.data, cgutils.unpack_tuple(builder, view.shape)[1]
            bytes_per_row = builder.mul(width, INT64(8))
            base = builder.ptrtoint(data, INT64)
            state_at = builder.add(base, builder.mul(scratch, bytes_per_row))
            kind = ir.FunctionType(INT32, [DOUBLE] + [INT64] * 5)
            function = builder.inttoptr(address, kind.as_pointer())
            failed = cgutils.alloca_once_value(builder, INT64(0))
            done = builder.append_basic_block("stages.done")
            for q in stages:
                with cgutils.for_range(builder, width) as loop:
                    state = _step(builder, data, width, x, k, s, A[q, :q], loop.index)
                    target = builder.add(builder.mul(scratch, width), loop.index)
                    builder.store(state, builder.gep(data, [target]))
                time = builder.fadd(t, builder.fmul(DOUBLE(float(c[q])), s))
                time = builder.select(builder.fcmp_ordered("<", time, cap), time, cap)
                slope_at = builder.add(base, builder.mul(builder.add(k, INT64(q)), bytes_per_row))
                status = builder.call(function, [time, state_at, b, p, slope_at, ctx])
                following = builder.append_basic_block("stage.next")
                builder.store(INT64(q), failed)
                builder.cbranch(builder.icmp_signed("==", status, INT32(0)), following, done)
                builder.position_at_end(following)
            builder.store(INT64(0), failed)
            builder.branch(done)
            builder.position_at_end(done)
            return builder.load(failed)

        return signature, codegen

    return run
