"""Operators and functions of dual numbers: for each, the value as Numba computes it, and the rule for its tangents."""

import math
import operator

import numpy as np
from numba import types
from numba.extending import lower_builtin, type_callable

from .number import DOUBLE, Dual, is_dual, pack, parts, some_dual, splat, zeros

_F8 = types.float64
_ONE, _HALF, _NOTHING = DOUBLE(1.0), DOUBLE(0.5), DOUBLE(0.0)


def _call(context, builder, function, *arguments):
    """A function of doubles, as Numba compiles it."""
    resolved = context.typing_context.resolve_value_type(function)
    signature = resolved.get_call_type(context.typing_context, (_F8,) * len(arguments), {})
    result = context.get_function(function, signature)(builder, arguments)
    return context.cast(builder, result, signature.return_type, _F8)


def _scaled(builder, slope, tangents):
    """slope * tangents; None stands for tangents that are zero."""
    return None if tangents is None else builder.fmul(splat(builder, slope, tangents.type), tangents)


def _scaled_safely(builder, slope, tangents):
    """The same, where the slope may be infinite or NaN (a root at zero): zero for a tangent that is zero."""
    if tangents is None:
        return None
    nothing = zeros(tangents.type)
    none = builder.fcmp_ordered("==", tangents, nothing)
    return builder.select(none, nothing, builder.fmul(splat(builder, slope, tangents.type), tangents))


def _sum(builder, one, other):
    if one is None or other is None:
        return other if one is None else one
    return builder.fadd(one, other)


# ------------------------------------------------------------------------------------------------ functions of two numbers


def _two(functions, rule):
    """Register functions of two numbers with ``rule(context, builder, a, da, b, db, kind of b) -> value, tangents``."""

    def lower(context, builder, signature, args):
        (one, other), (first, second) = signature.args, args
        a, da = parts(context, builder, one, first)
        b, db = parts(context, builder, other, second)
        value, tangents = rule(context, builder, a, da, b, db, other)
        return pack(builder, value, zeros(signature.return_type.vector) if tangents is None else tangents)

    for function in functions:

        @type_callable(function)
        def typer(context):
            return lambda a, b: some_dual(a, b)

        plain = (types.Number, types.Boolean)
        for pair in ((Dual, Dual), *((Dual, kind) for kind in plain), *((kind, Dual) for kind in plain)):
            lower_builtin(function, *pair)(lower)


def _add(context, builder, a, da, b, db, _):
    return builder.fadd(a, b), _sum(builder, da, db)


def _subtract(context, builder, a, da, b, db, _):
    return builder.fsub(a, b), da if db is None else builder.fsub(zeros(db.type) if da is None else da, db)


def _multiply(context, builder, a, da, b, db, _):
    return builder.fmul(a, b), _sum(builder, _scaled(builder, b, da), _scaled(builder, a, db))


def _divide(context, builder, a, da, b, db, _):
    value, inverse = builder.fdiv(a, b), builder.fdiv(_ONE, b)
    down = _scaled(builder, builder.fneg(builder.fmul(value, inverse)), db)
    return value, _sum(builder, _scaled(builder, inverse, da), down)


def _power(context, builder, a, da, b, db, kind):
    if isinstance(kind, types.IntegerLiteral):
        return _whole_power(builder, a, da, kind.literal_value)
    value, below = _call(context, builder, math.pow, a, b), builder.fsub(b, _ONE)
    by_base = by_exponent = None
    if da is not None:
        by_base = _scaled_safely(builder, builder.fmul(b, _call(context, builder, math.pow, a, below)), da)
    if db is not None:
        log = _call(context, builder, np.log, a)
        nothing = builder.fcmp_ordered("==", value, _NOTHING)  # (0 ** b is 0 for all b > 0, though log 0 is infinite)
        by_exponent = _scaled_safely(builder, builder.select(nothing, _NOTHING, builder.fmul(value, log)), db)
    return value, _sum(builder, by_base, by_exponent)


def _whole_power(builder, a, da, exponent):
    """By multiplications."""
    if exponent == 0:
        return _ONE, None

    def product(count):
        out, base = None, a
        while count:
            if count & 1:
                out = base if out is None else builder.fmul(out, base)
            count >>= 1
            base = builder.fmul(base, base) if count else base
        return _ONE if out is None else out

    if exponent > 0:
        lower = product(exponent - 1)
        return builder.fmul(lower, a), _scaled(builder, builder.fmul(DOUBLE(float(exponent)), lower), da)
    value = builder.fdiv(_ONE, product(-exponent))
    return value, _scaled(builder, builder.fdiv(builder.fmul(DOUBLE(float(exponent)), value), a), da)


def _atan2(context, builder, y, dy, x, dx, _):
    square = builder.fadd(builder.fmul(x, x), builder.fmul(y, y))
    across = _scaled(builder, builder.fneg(builder.fdiv(y, square)), dx)
    return _call(context, builder, math.atan2, y, x), _sum(
        builder, _scaled(builder, builder.fdiv(x, square), dy), across
    )


def _hypot(context, builder, a, da, b, db, _):
    value = _call(context, builder, math.hypot, a, b)
    # (at zero, where it has a kink, the slopes are those that a central difference finds)
    nothing = builder.fcmp_ordered("==", value, _NOTHING)
    by_a, by_b = (builder.select(nothing, _NOTHING, builder.fdiv(side, value)) for side in (a, b))
    return value, _sum(builder, _scaled(builder, by_a, da), _scaled(builder, by_b, db))


def _choice(comparison):
    """The first number if it compares so with the second one, otherwise the second one."""

    def rule(context, builder, a, da, b, db, _):
        first = builder.fcmp_ordered(comparison, a, b)
        nothing = zeros((db if da is None else da).type)
        da, db = (nothing if tangents is None else tangents for tangents in (da, db))
        return builder.select(first, a, b), builder.select(first, da, db)

    return rule


def _copysign(context, builder, a, da, b, db, _):
    value = _call(context, builder, math.copysign, a, b)
    sign = builder.select(builder.fcmp_ordered("==", value, a), _ONE, DOUBLE(-1.0))
    return value, _scaled(builder, sign, da)


def _remainder(function):
    def rule(context, builder, a, da, b, db, _):
        value = _call(context, builder, function, a, b)
        return value, _sum(builder, da, _scaled(builder, builder.fdiv(builder.fsub(value, a), b), db))

    return rule


def _constant_in_pieces(function):
    def rule(context, builder, a, da, b, db, _):
        return _call(context, builder, function, a, b), None

    return rule


_two((operator.add, operator.iadd, np.add), _add)
_two((operator.sub, operator.isub, np.subtract), _subtract)
_two((operator.mul, operator.imul, np.multiply), _multiply)
_two((operator.truediv, operator.itruediv, np.divide, np.true_divide), _divide)
_two((operator.pow, operator.ipow, math.pow, np.power, pow), _power)
_two((math.atan2, np.arctan2), _atan2)
_two((math.hypot, np.hypot), _hypot)
_two((max, np.maximum, np.fmax), _choice(">="))
_two((min, np.minimum, np.fmin), _choice("<="))
_two((math.copysign, np.copysign), _copysign)
_two((operator.mod, operator.imod, np.mod, np.remainder), _remainder(operator.mod))
_two((math.fmod, np.fmod), _remainder(math.fmod))
_two((operator.floordiv, operator.ifloordiv, np.floor_divide), _constant_in_pieces(operator.floordiv))

# ------------------------------------------------------------------------------------------------- functions of one number


def _one(functions, rule):
    """Register functions of one number with ``rule(context, builder, a) -> value, slope``; no slope: constant in pieces."""

    def lower(context, builder, signature, args):
        a, da = parts(context, builder, signature.args[0], args[0])
        value, slope = rule(context, builder, a)
        return pack(builder, value, zeros(da.type) if slope is None else _scaled_safely(builder, slope, da))

    for function in functions:

        @type_callable(function)
        def typer(context):
            return lambda a: a if is_dual(a) else None

        lower_builtin(function, Dual)(lower)


def _function(functions, value_by, slope):
    """The value by a function of floats, the slope from the argument and the value: ``slope(builder, a, value, call)``."""

    def rule(context, builder, a):
        value = _call(context, builder, value_by, a)
        return value, slope(builder, a, value, lambda other, x=a: _call(context, builder, other, x))

    _one(functions, rule)


def _inverse(number):
    """The slope of a logarithm: number / a."""
    return lambda b, a, v, call: b.fdiv(DOUBLE(number), a)


_one((operator.neg, np.negative), lambda context, b, a: (b.fneg(a), DOUBLE(-1.0)))
_one((operator.pos, float, np.positive), lambda context, b, a: (a, _ONE))
_one((np.square,), lambda context, b, a: (b.fmul(a, a), b.fadd(a, a)))
_function((math.sin, np.sin), math.sin, lambda b, a, v, call: call(math.cos))
_function((math.cos, np.cos), math.cos, lambda b, a, v, call: b.fneg(call(math.sin)))
_function((math.tan, np.tan), math.tan, lambda b, a, v, call: b.fadd(_ONE, b.fmul(v, v)))
_function((math.exp, np.exp), math.exp, lambda b, a, v, call: v)
_function((np.exp2,), np.exp2, lambda b, a, v, call: b.fmul(DOUBLE(math.log(2.0)), v))
_function((math.expm1, np.expm1), math.expm1, lambda b, a, v, call: b.fadd(v, _ONE))
_function((math.log, np.log), np.log, _inverse(1.0))
_function((math.log2, np.log2), np.log2, _inverse(1.0 / math.log(2.0)))
_function((math.log10, np.log10), np.log10, _inverse(1.0 / math.log(10.0)))
_function((math.log1p, np.log1p), np.log1p, lambda b, a, v, call: b.fdiv(_ONE, b.fadd(_ONE, a)))
_function((math.sqrt, np.sqrt), math.sqrt, lambda b, a, v, call: b.fdiv(_HALF, v))
_function((np.cbrt,), np.cbrt, lambda b, a, v, call: b.fdiv(DOUBLE(1.0 / 3.0), b.fmul(v, v)))
_function((math.sinh, np.sinh), math.sinh, lambda b, a, v, call: call(math.cosh))
_function((math.cosh, np.cosh), math.cosh, lambda b, a, v, call: call(math.sinh))
_function((math.tanh, np.tanh), math.tanh, lambda b, a, v, call: _one_minus_square(b, v))
_function((math.atan, np.arctan), math.atan, lambda b, a, v, call: b.fdiv(_ONE, b.fadd(_ONE, _square(b, a))))
_function(
    (math.asin, np.arcsin), np.arcsin, lambda b, a, v, call: b.fdiv(_ONE, call(math.sqrt, _one_minus_square(b, a)))
)
_function(
    (math.acos, np.arccos),
    np.arccos,
    lambda b, a, v, call: b.fdiv(DOUBLE(-1.0), call(math.sqrt, _one_minus_square(b, a))),
)
_function(
    (math.asinh, np.arcsinh),
    np.arcsinh,
    lambda b, a, v, call: b.fdiv(_ONE, call(math.sqrt, b.fadd(_ONE, _square(b, a)))),
)
_function(
    (math.acosh, np.arccosh),
    np.arccosh,
    lambda b, a, v, call: b.fdiv(_ONE, call(math.sqrt, b.fsub(_square(b, a), _ONE))),
)
_function((math.atanh, np.arctanh), np.arctanh, lambda b, a, v, call: b.fdiv(_ONE, _one_minus_square(b, a)))


def _bell(sign):
    """The slope of erf (of erfc: with the other sign)."""
    factor = DOUBLE(sign * 2.0 / math.sqrt(math.pi))
    return lambda b, a, v, call: b.fmul(factor, call(math.exp, b.fneg(_square(b, a))))


_function((math.erf,), math.erf, _bell(1.0))
_function((math.erfc,), math.erfc, _bell(-1.0))
for _names, _factor in (
    ((math.radians, np.radians, np.deg2rad), math.pi / 180.0),
    ((math.degrees, np.degrees, np.rad2deg), 180.0 / math.pi),
):
    _one(_names, lambda context, b, a, factor=_factor: (b.fmul(DOUBLE(factor), a), DOUBLE(factor)))


def _square(builder, a):
    return builder.fmul(a, a)


def _one_minus_square(builder, a):
    """(1 - a)(1 + a), which keeps its digits near one."""
    return builder.fmul(builder.fsub(_ONE, a), builder.fadd(_ONE, a))


def _absolute(context, builder, a):
    sign = _call(context, builder, math.copysign, _ONE, a)
    return builder.fmul(a, sign), sign


def _sign(context, builder, a):
    below = builder.select(builder.fcmp_ordered("<", a, _NOTHING), DOUBLE(-1.0), _NOTHING)
    return builder.select(builder.fcmp_ordered(">", a, _NOTHING), _ONE, below), None


_one((abs, math.fabs, np.abs, np.absolute, np.fabs), _absolute)
_one((np.sign,), _sign)
for _rounding in (np.floor, np.ceil, np.trunc, np.rint):
    _one((_rounding,), lambda context, b, a, by=_rounding: (_call(context, b, by, a), None))

# --------------------------------------------------------------------------------- results without tangents: truth, integers


def _without_tangents(function, result, count=1):
    """A function whose result has no tangents: of the values alone."""

    @type_callable(function)
    def typer(context):
        if count == 1:
            return lambda a: result if is_dual(a) else None
        return lambda a, b: result if some_dual(a, b) is not None else None

    def lower(context, builder, signature, args):
        values = [parts(context, builder, kind, a)[0] for kind, a in zip(signature.args, args, strict=True)]
        if function is int:  # (Numba has no rule of its own for the int of a float: it casts)
            return context.cast(builder, values[0], _F8, result)
        resolved = context.typing_context.resolve_value_type(function)
        plain = resolved.get_call_type(context.typing_context, (_F8,) * len(values), {})
        outcome = context.get_function(function, plain)(builder, values)
        return context.cast(builder, outcome, plain.return_type, result)

    if count == 1:
        lower_builtin(function, Dual)(lower)
    else:
        for pair in ((Dual, Dual), (Dual, types.Number), (types.Number, Dual)):
            lower_builtin(function, *pair)(lower)


for _compare in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
    _without_tangents(_compare, types.boolean, 2)
for _test in (bool, math.isnan, math.isinf, math.isfinite, np.isnan, np.isinf, np.isfinite, np.signbit):
    _without_tangents(_test, types.boolean)
for _whole in (int, math.floor, math.ceil, math.trunc, round):  # constant in pieces
    _without_tangents(_whole, types.int64)
