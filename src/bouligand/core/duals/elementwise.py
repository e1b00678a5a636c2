"""Arithmetic, comparisons and functions of arrays of dual numbers, element by element."""

import math
import operator

import numpy as np
from numba import types
from numba.core.typing import npydecl
from numba.extending import overload, register_jitable

from .arrays import empty
from .number import is_array, is_dual, is_plain, kind_of


def _takes_part(*kinds):
    """Whether these are arrays and numbers, of which at least one is an array and one has tangents."""
    if not all(isinstance(kind, types.Array) or is_dual(kind) or is_plain(kind) for kind in kinds):
        return False
    return any(isinstance(kind, types.Array) for kind in kinds) and kind_of(*kinds) is not None


def _new(result, kind):
    if result == "dual":
        return lambda shape: empty(shape, kind)
    return lambda shape: np.empty(shape, np.bool_)


def _of_two(functions, operation, result="dual"):
    """``operation`` of numbers, for arrays and for an array and a number, by NumPy's rules of shapes."""

    def make(a, b):
        if not _takes_part(a, b):
            return None
        dimensions = [kind.ndim if isinstance(kind, types.Array) else 0 for kind in (a, b)]
        new = register_jitable(_new(result, kind_of(a, b)))
        if dimensions == [1, 0]:

            def impl(a, b):
                out = new(a.size)
                for i in range(a.size):
                    out[i] = operation(a[i], b)
                return out

        elif dimensions == [0, 1]:

            def impl(a, b):
                out = new(b.size)
                for i in range(b.size):
                    out[i] = operation(a, b[i])
                return out

        elif dimensions[1] == 0:

            def impl(a, b):
                out = new(a.shape)
                for place in np.ndindex(a.shape):
                    out[place] = operation(a[place], b)
                return out

        elif dimensions[0] == 0:

            def impl(a, b):
                out = new(b.shape)
                for place in np.ndindex(b.shape):
                    out[place] = operation(a, b[place])
                return out

        elif dimensions == [1, 1]:

            def impl(a, b):
                n = max(a.size, b.size) if min(a.size, b.size) > 0 else 0
                if (a.size != n and a.size != 1) or (b.size != n and b.size != 1):
                    raise ValueError("arrays of different lengths")
                out = new(n)
                for i in range(n):
                    out[i] = operation(a[i if a.size == n else 0], b[i if b.size == n else 0])
                return out

        else:

            def impl(a, b):
                shape = np.broadcast_shapes(a.shape, b.shape)
                one, other, out = np.broadcast_to(a, shape), np.broadcast_to(b, shape), new(shape)
                for place in np.ndindex(shape):
                    out[place] = operation(one[place], other[place])
                return out

        return impl

    for function in functions:
        overload(function)(make)


def _leave_to_others(template):
    """Let Numba's rule for ``a += b`` on arrays decline arrays of dual numbers, so that ours is asked: by itself it fails."""
    theirs = template.generic

    def generic(self, args, kws):
        return None if any(map(is_array, args)) or any(map(is_dual, args)) else theirs(self, args, kws)

    template.generic = generic


_leave_to_others(npydecl.NumpyRulesInplaceArrayOperator)


def _in_place(function, operation):
    """``a += b`` and its like, which write to the array itself."""

    @overload(function)
    def make(a, b):
        if not (isinstance(a, types.Array) and _takes_part(a, b)):
            return None
        if not is_array(a):
            return None  # (an array of floats cannot hold tangents: refused)

        def vector(a, b):
            changed = operation(a, b)
            if changed.size != a.size:
                raise ValueError("arrays of different lengths")
            for i in range(a.size):
                a[i] = changed[i]
            return a

        def any_shape(a, b):
            a[...] = operation(a, b)
            return a

        return vector if a.ndim == 1 else any_shape


def _of_one(functions, operation):
    def make(a):
        if not is_array(a):
            return None
        kind = a.dtype

        def vector(a):
            out = empty(a.size, kind)
            for i in range(a.size):
                out[i] = operation(a[i])
            return out

        def any_shape(a):
            out = empty(a.shape, kind)
            for place in np.ndindex(a.shape):
                out[place] = operation(a[place])
            return out

        return vector if a.ndim == 1 else any_shape

    for function in functions:
        overload(function)(make)


_of_two((operator.add, np.add), operator.add)
_of_two((operator.sub, np.subtract), operator.sub)
_of_two((operator.mul, np.multiply), operator.mul)
_of_two((operator.truediv, np.divide, np.true_divide), operator.truediv)
_of_two((operator.pow, np.power), operator.pow)
_of_two((operator.mod, np.mod, np.remainder), operator.mod)
_of_two((np.maximum, np.fmax), max)
_of_two((np.minimum, np.fmin), min)
_of_two((np.arctan2,), math.atan2)
_of_two((np.hypot,), math.hypot)
for _comparison in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
    _of_two((_comparison,), _comparison, "truth")
for _operation in ("add", "sub", "mul", "truediv", "pow", "mod"):
    _in_place(getattr(operator, "i" + _operation), getattr(operator, _operation))
_of_one((operator.neg, np.negative), operator.neg)
_of_one((abs, np.abs, np.absolute, np.fabs), abs)
for _name in ("sin", "cos", "tan", "exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "sinh", "cosh", "tanh"):
    _of_one((getattr(np, _name),), getattr(math, _name))
for _name, _plain in (("arctan", math.atan), ("arcsin", math.asin), ("arccos", math.acos)):
    _of_one((getattr(np, _name),), _plain)
for _ufunc in (np.square, np.sign, np.floor, np.ceil):
    _of_one((_ufunc,), _ufunc)
