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

PREFIX = "_of_duals_"
NAMES = (*STAND_INS, "dot", "astype", "fill")


def _without_arguments(name, function):
    @overload_method(types.Array, PREFIX + name)
    def method(a):
        return lambda a: function(a)


for _name, _stand_in in STAND_INS.items():
    _without_arguments(_name, _stand_in)


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
