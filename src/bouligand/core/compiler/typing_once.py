"""A shortcut through Numba's type inference: what it works out again and again while it compiles is worked out once.

It changes nothing of what is found. See `compiling` for when it is taken.
"""

import contextlib

from numba import types

_SCALARS = (types.Number, types.Boolean, types.Literal)


@contextlib.contextmanager
def scalar_operations_typed_once():
    """Remember the signatures of functions of scalars ("types").

    For each ``a * b`` Numba tries some ten rules, those of arrays, strings and tuples among them, twice each: in the core
    8,000 times for 170 different kinds. (A rule that is added later makes another ``types.Function``, so that none goes
    stale; and what Numba notes in it about a signature stays there.)
    """
    usual, known = types.Function.get_call_type, {}

    def get_call_type(function, context, args, kws):
        if kws or not all(isinstance(arg, _SCALARS) for arg in args):
            return usual(function, context, args, kws)
        signature = known.get((function, args))
        if signature is None:
            signature = known[function, args] = usual(function, context, args, kws)
        return signature

    types.Function.get_call_type = get_call_type
    try:
        yield
    finally:
        types.Function.get_call_type = usual
