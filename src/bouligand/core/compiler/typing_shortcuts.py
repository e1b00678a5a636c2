"""Shortcuts through Numba's type inference: what it works out again and again while it compiles is worked out once.

They change nothing of what is found. See `compiling` for when they are taken.
"""

import contextlib

from numba import types
from numba.core.targetconfig import TargetConfig

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


@contextlib.contextmanager
def flags_compared_quickly():
    """Compare the flags of two compilations by what was set in them, before by all that there are ("flags").

    Numba looks up implementations by their flags, some ten thousand times. Its hash of them is one of their names, and so the
    same for all: it is computed once here.
    """
    usual = TargetConfig.__hash__, TargetConfig.__eq__
    hashes = {}

    def hash_of(flags):
        kind = type(flags)
        if kind not in hashes:
            hashes[kind] = usual[0](flags)
        return hashes[kind]

    def equal(flags, other):
        if isinstance(other, TargetConfig) and flags._values == other._values:
            return True
        return usual[1](flags, other)

    TargetConfig.__hash__, TargetConfig.__eq__ = hash_of, equal
    try:
        yield
    finally:
        TargetConfig.__hash__, TargetConfig.__eq__ = usual
