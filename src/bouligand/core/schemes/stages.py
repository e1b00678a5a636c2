"""Runge-Kutta formulas as straight code: their weights become constants of the machine code.

On states of a few components a loop over a table of weights would take several times as long as the arithmetic. Where a formula
exists for several schemes, ``scheme`` (1, 2, ...: its place in the list) selects one of them at run time.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ..compiler.intrinsics import DOUBLE, INT32, INT64, address, call
from ..compiler.jit import JIT
from ..compiler.vectors import FOUR, add_product, everywhere

_I8, _F8 = types.int64, types.float64


def _arrays(context, builder, signature, args, *places):
    """The arrays among the arguments."""
    return [context.make_array(signature.args[q])(context, builder, args[q]) for q in places]


def _item(builder, rows, width, row, i):
    return builder.load(builder.gep(rows, [builder.add(builder.mul(INT64(row), width), i)]))


def _sum_rows(builder, rows, width, weights, i):
    """``sum of weights[q] * rows[q, i]`` over the weights that are not zero."""
    total = None
    for q, weight in enumerate(weights):
        if weight == 0.0:
            continue
        item, weight = _item(builder, rows, width, q, i), DOUBLE(float(weight))
        total = builder.fmul(weight, item) if total is None else add_product(builder, weight, item, total)
    return total


def _step(builder, x, rows, width, scale, weights, i):
    """``x[i] + scale * sum of weights[q] * rows[q, i]``, in an order that leaves few operations after the last row is known."""
    last = max(q for q, weight in enumerate(weights) if weight != 0.0)
    state = builder.load(builder.gep(x, [i]))
    others = _sum_rows(builder, rows, width, weights[:last], i)
    if others is not None:
        state = add_product(builder, scale, others, state)
    weight = builder.fmul(scale, DOUBLE(float(weights[last])))
    return add_product(builder, weight, _item(builder, rows, width, last, i), state)


def _each(builder, choice, cases):
    """Yield each case (except None) with the builder in the block that runs if ``choice`` is its number, counted from 1."""
    if len(cases) == 1:
        yield cases[0]
        return
    done = builder.append_basic_block("chosen")
    switch = builder.switch(choice, done)
    for number, case in enumerate(cases, 1):
        if case is not None:
            block = builder.append_basic_block("scheme")
            switch.add_case(INT64(number), block)
            builder.position_at_end(block)
            yield case
            builder.branch(done)
    builder.position_at_end(done)


def combination(weights, onto=False):
    """A compiled ``combine(scheme, base, rows, scale, out)``: out = scale * sum of weights[q] rows[q], plus base where ``onto``.

    ``weights`` has a list for each scheme, or None where a scheme has no such formula.
    """
    if not JIT:

        def combine(scheme, base, rows, scale, out):
            chosen = weights[scheme - 1 if len(weights) > 1 else 0]
            if chosen is not None:
                out[:] = scale * (np.asarray(chosen) @ rows[: len(chosen)]) + (base if onto else 0.0)

        return combine

    @intrinsic
    def combine(typingctx, scheme, base, rows, scale, out):
        def codegen(context, builder, signature, args):
            base, rows, out = _arrays(context, builder, signature, args, 1, 2, 4)
            width, scale = out.nitems, args[3]
            for chosen in _each(builder, args[0], weights):
                with cgutils.for_range(builder, width) as loop:
                    if onto:
                        total = _step(builder, base.data, rows.data, width, scale, chosen, loop.index)
                    else:
                        total = builder.fmul(scale, _sum_rows(builder, rows.data, width, chosen, loop.index))
                    builder.store(total, builder.gep(out.data, [loop.index]))
            return context.get_dummy_value()

        return types.void(_I8, base, rows, _F8, out), codegen

    return combine


def combinations(table, wide=False):
    """A compiled ``combine(base, rows, scale, out, row)``: out = base + scale * sum of table[row][q] rows[q].

    ``wide``: four components at a time, for vectors whose length is a multiple of four.
    """
    kind, step = (FOUR, 4) if wide else (DOUBLE, 1)
    if not JIT:

        def combine(base, rows, scale, out, row):
            out[:] = base + scale * (np.asarray(table[row]) @ rows[: len(table[row])])

        return combine

    def load(builder, start, i):
        return builder.load(builder.bitcast(builder.gep(start, [i]), kind.as_pointer()), align=8)

    @intrinsic
    def combine(typingctx, base, rows, scale, out, row):
        def codegen(context, builder, signature, args):
            base, rows, out = _arrays(context, builder, signature, args, 0, 1, 3)
            width, scale = out.nitems, everywhere(builder, args[2]) if wide else args[2]
            for weights in _each(builder, builder.add(args[4], INT64(1)), table):
                with cgutils.for_range_slice(builder, INT64(0), width, INT64(step)) as (i, _):
                    total, change = load(builder, base.data, i), None
                    for q, weight in enumerate(weights):
                        if weight != 0.0:
                            item = load(builder, rows.data, builder.add(builder.mul(INT64(q), width), i))
                            weight = ir.Constant(FOUR, [float(weight)] * 4) if wide else DOUBLE(float(weight))
                            change = (
                                builder.fmul(weight, item)
                                if change is None
                                else add_product(builder, weight, item, change)
                            )
                    if change is not None:
                        total = builder.fadd(total, builder.fmul(scale, change))
                    target = builder.bitcast(builder.gep(out.data, [i]), kind.as_pointer())
                    builder.store(total, target, align=8)
            return context.get_dummy_value()

        return types.void(base, rows, _F8, out, _I8), codegen

    return combine


def stage_runner(parts):
    """A compiled ``run(scheme, function, context, t, length, cap, x, rows, state, b, p)`` that evaluates some stages.

    ``parts`` has for each scheme (A, c, which stages). Stage q is ``rows[q] = f(min(t + c[q] length, cap), x + length sum_r
    A[q, r] rows[r], b, p)``; its state is left in ``state``. b and p are addresses. Returns 0, or the stage that failed.
    """
    if not JIT:

        def run(scheme, function, context, t, length, cap, x, rows, state, b, p):
            A, c, which = parts[scheme - 1 if len(parts) > 1 else 0]
            for q in which:
                state[:] = x + length * (A[q, :q] @ rows[:q])
                arguments = (address(state), b, p, address(rows[q]))
                if call(function, min(t + c[q] * length, cap), arguments, context) != 0:
                    return q
            return 0

        return run

    @intrinsic
    def run(typingctx, scheme, function, context, t, length, cap, x, rows, state, b, p):
        signature = _I8(_I8, _I8, _I8, _F8, _F8, _F8, x, rows, state, _I8, _I8)

        def codegen(context, builder, signature, args):
            scheme, function, at, t, length, cap, _, _, _, b, p = args
            x, rows, state = _arrays(context, builder, signature, args, 6, 7, 8)
            width = state.nitems
            first_at, state_at = builder.ptrtoint(rows.data, INT64), builder.ptrtoint(state.data, INT64)
            kind = ir.FunctionType(INT32, [DOUBLE] + [INT64] * 5)
            function = builder.inttoptr(function, kind.as_pointer())
            failed = cgutils.alloca_once_value(builder, INT64(0))
            builder.store(INT64(0), failed)
            for A, c, which in _each(builder, scheme, parts):
                done = builder.append_basic_block("stages.done")
                for q in which:
                    with cgutils.for_range(builder, width) as loop:
                        value = _step(builder, x.data, rows.data, width, length, A[q, :q], loop.index)
                        builder.store(value, builder.gep(state.data, [loop.index]))
                    time = builder.fadd(t, builder.fmul(DOUBLE(float(c[q])), length))
                    time = builder.select(builder.fcmp_ordered("<", time, cap), time, cap)
                    slope_at = builder.add(first_at, builder.mul(builder.mul(INT64(q), width), INT64(8)))
                    status = builder.call(function, [time, state_at, b, p, slope_at, at])
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
