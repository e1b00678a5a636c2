"""Methods of arrays that Numba has for arrays of plain numbers only.

A second rule for a method of Numba's own arrays would disturb the first one. So in the copy of a user's function (see `recast`)
these methods have other names, which lead here, whatever they are called on.
"""

import numpy as np
from numba import types
from numba.extending import overload_method

from .arrays import for_floats
from .number import is_array
from .reductions import STAND_INS

_sum_of, _prod_of, _mean_of, _max_of, _min_of = (STAND_INS[f] for f in (np.sum, np.prod, np.mean, np.max, np.min))

PREFIX = "_of_duals_"
NAMES = ("sum", "prod", "mean", "max", "min", "dot", "astype", "fill")


@overload_method(types.Array, PREFIX + "sum")
def _sum(a):
    return (lambda a: _sum_of(a)) if is_array(a) else lambda a: a.sum()


@overload_method(types.Array, PREFIX + "prod")
def _prod(a):
    return (lambda a: _prod_of(a)) if is_array(a) else lambda a: a.prod()


@overload_method(types.Array, PREFIX + "mean")
def _mean(a):
    return (lambda a: _mean_of(a)) if is_array(a) else lambda a: a.mean()


@overload_method(types.Array, PREFIX + "max")
def _max(a):
    return (lambda a: _max_of(a)) if is_array(a) else lambda a: a.max()


@overload_method(types.Array, PREFIX + "min")
def _min(a):
    return (lambda a: _min_of(a)) if is_array(a) else lambda a: a.min()


@overload_method(types.Array, PREFIX + "dot")
def _dot(a, b):
    return lambda a, b: np.dot(a, b)


@overload_method(types.Array, PREFIX + "astype")
def _astype(a, dtype):
    if is_array(a):
        return (lambda a, dtype: a.copy()) if for_floats(dtype) else None
    return lambda a, dtype: a.astype(dtype)


@overload_method(types.Array, PREFIX + "fill")
def _fill(a, value):
    def impl(a, value):
        a[...] = value

    return impl
