"""Sums, extremes, choices and interpolation of arrays of dual numbers."""

import numpy as np
from numba import types
from numba.extending import overload

from .arrays import empty, zero
from .number import is_array, is_dual, kind_of, some_dual

# --------------------------------------------------------------------------------------------------- sums and extremes


# Names of NumPy's functions, and what the copy of a user's function calls instead: some of Numba's own rules for them, which are
# asked first, fail on dual numbers
STAND_INS: dict = {}


def _reduction(name, rule):
    """Let ``rule(kind)`` be what sums or compares arrays of dual numbers of this kind."""
    function = getattr(np, name)

    def stand_in(a):
        """Of an array of dual numbers, or of another."""

    @overload(stand_in)
    def of_array(a):
        return rule(a.dtype) if is_array(a) else lambda a: function(a)

    STAND_INS[name] = stand_in


def _sum(kind):
    def impl(a):
        total = zero(kind)
        for value in a.flat:
            total = total + value
        return total

    return impl


def _prod(kind):
    def impl(a):
        total = zero(kind) + 1.0
        for value in a.flat:
            total = total * value
        return total

    return impl


def _mean(kind):
    def impl(a):
        total = zero(kind)
        for value in a.flat:
            total = total + value
        return total / a.size

    return impl


def _max(kind):
    def impl(a):
        if a.size == 0:
            raise ValueError("the largest of no numbers")
        best = a.flat[0]
        for value in a.flat:
            if value > best:
                best = value
        return best

    return impl


def _min(kind):
    def impl(a):
        if a.size == 0:
            raise ValueError("the smallest of no numbers")
        best = a.flat[0]
        for value in a.flat:
            if value < best:
                best = value
        return best

    return impl


_reduction("sum", _sum)
_reduction("prod", _prod)
_reduction("mean", _mean)
_reduction("max", _max)
_reduction("min", _min)


@overload(sum)
def _builtin_sum(iterable):
    if not is_array(iterable) or iterable.ndim != 1:
        return None
    kind = iterable.dtype

    def impl(iterable):
        total = zero(kind)
        for value in iterable:
            total = total + value
        return total

    return impl


# --------------------------------------------------------------------------------------------- choices, interpolation


@overload(np.where)
def _where(condition, x, y):
    if isinstance(condition, types.Boolean):
        if some_dual(x, y) is not None or (is_array(x) and x == y):
            return lambda condition, x, y: x if condition else y
        if is_array(x) or is_array(y):
            # (the same type on both sides: a copy of either)
            def whole(condition, x, y):
                return x + 0.0 * y if condition else y + 0.0 * x

            return whole
        return None
    if not isinstance(condition, types.Array):
        return None
    sides = (x, y)
    if not any(is_array(side) or is_dual(side) for side in sides):
        return None
    one_is_array, other_is_array = (isinstance(side, types.Array) for side in sides)
    kind = kind_of(x, y)

    def by_element(condition, x, y):
        out = empty(condition.shape, kind)
        for place in np.ndindex(condition.shape):
            if condition[place]:
                out[place] = x[place] if one_is_array else x
            else:
                out[place] = y[place] if other_is_array else y
        return out

    return by_element


@overload(np.clip)
def _clip(a, a_min, a_max):
    if is_dual(a) or some_dual(a, a_min, a_max) is not None:
        return lambda a, a_min, a_max: min(max(a, a_min), a_max)
    if is_array(a):
        return lambda a, a_min, a_max: np.minimum(np.maximum(a, a_min), a_max)
    return None


@overload(np.interp)
def _interp(x, xp, fp):
    tables = [kind for kind in (xp, fp) if isinstance(kind, types.Array) and kind.ndim == 1]
    if len(tables) < 2 or not (is_dual(x) or is_array(x) or any(map(is_array, tables))):
        return None
    kind = kind_of(x, *tables)
    if isinstance(x, types.Array):

        def each(x, xp, fp):
            out = empty(x.shape, kind)
            for place in np.ndindex(x.shape):
                out[place] = np.interp(x[place] + zero(kind), xp, fp)
            return out

        return each

    def one(x, xp, fp):
        last = xp.size - 1
        if x <= xp[0]:
            return fp[0] + zero(kind)
        if x >= xp[last]:
            return fp[last] + zero(kind)
        low, high = 0, last
        while high - low > 1:
            middle = (low + high) // 2
            if xp[middle] <= x:
                low = middle
            else:
                high = middle
        return fp[low] + (fp[high] - fp[low]) / (xp[high] - xp[low]) * (x - xp[low])

    return one


@overload(np.concatenate)
def _concatenate(arrays):
    if not isinstance(arrays, types.UniTuple) or not is_array(arrays.dtype) or arrays.dtype.ndim != 1:
        return None
    kind = arrays.dtype.dtype

    def impl(arrays):
        count = 0
        for one in arrays:
            count += one.size
        out, at = empty(count, kind), 0
        for one in arrays:
            out[at : at + one.size] = one
            at += one.size
        return out

    return impl
