"""A shortcut for users' functions: machine code does not compose the message of an exception.

For ``dx[:3] = x[3:]`` Numba compiles code that would name both shapes if they differed, with all that it knows of texts: two
thirds of the time that a small f takes to compile. The exception is the same, its message shorter. (Where a user would see that,
the function is called once more as plain Python, whose exception has the shapes.)
"""

import contextlib

from numba.core.extending import overload
from numba.np import arrayobj

from .once import replaced

SHAPES_DIFFER = "cannot assign an array to a slice of another shape"


def _raise_with_shapes(src_shapes, index_shape):
    raise NotImplementedError


@overload(_raise_with_shapes)
def _implementation(src_shapes, index_shape):
    def implementation(src_shapes, index_shape):
        raise ValueError(SHAPES_DIFFER)

    return implementation


@contextlib.contextmanager
def short_messages():
    """Slices of another shape are a ValueError without their shapes ("messages")."""
    with replaced(arrayobj, "raise_with_shape_context", _raise_with_shapes):
        yield
