"""Making arrays of dual numbers.

Numba's own arrays of this type already have indexing, slices, views, copies and assignment. The rest asks for a NumPy dtype,
which a dual number does not have, and is written here, in `elementwise`, in `reductions` and in `linear_algebra`. The makers
(`zeros`, `array`, ...) stand in for NumPy's in a copy of the user's function (see `recast`): there every array of floats may come
to hold tangents. Each kind of dual number has makers of its own, `MAKERS[kind]`.
"""

import numpy as np
from numba import types
from numba.extending import intrinsic, overload
from numba.np import arrayobj

from .number import KINDS, is_array, is_dual, is_plain, some_dual


@intrinsic
def empty(typingctx, shape, kind):
    """An array of dual numbers of a kind and of this shape (a number, or a tuple of them), not set."""
    sizes = (shape,) if isinstance(shape, types.Integer) else tuple(shape) if isinstance(shape, types.BaseTuple) else ()
    if not sizes or not all(isinstance(size, types.Integer) for size in sizes):
        return None
    out = types.Array(kind.instance_type, len(sizes), "C")

    def codegen(context, builder, signature, args):
        given = (
            [args[0]]
            if isinstance(shape, types.Integer)
            else [builder.extract_value(args[0], q) for q in range(len(sizes))]
        )
        lengths = [context.cast(builder, a, k, types.intp) for a, k in zip(given, sizes, strict=True)]
        return arrayobj._empty_nd_impl(context, builder, out, lengths)._getvalue()

    return out(shape, kind), codegen


@intrinsic
def zero(typingctx, kind):
    """The dual number zero of a kind."""
    dual = kind.instance_type
    return dual(kind), lambda context, builder, signature, args: context.cast(
        builder, context.get_constant(types.float64, 0.0), types.float64, dual
    )


@intrinsic
def _store_all(typingctx, items, out):
    """Store the items of a tuple in an array of dual numbers."""

    def codegen(context, builder, signature, args):
        array = context.make_array(out)(context, builder, args[1])
        for i, kind in enumerate(items):
            item = context.cast(builder, builder.extract_value(args[0], i), kind, out.dtype)
            place = arrayobj.cgutils.get_item_pointer(
                context, builder, out, array, [context.get_constant(types.intp, i)]
            )
            arrayobj.store_item(context, builder, out, item, place)
        return context.get_dummy_value()

    return types.void(items, out), codegen


def for_floats(dtype):
    """Whether a ``dtype`` argument asks for floats, which may come to hold tangents."""
    if dtype is None or isinstance(dtype, types.NoneType | types.Omitted):
        return True
    if isinstance(dtype, types.Function):
        return dtype.typing_key is float
    given = getattr(dtype, "dtype", None)
    if isinstance(dtype, types.StringLiteral):
        return dtype.literal_value in ("float", "float64", "f8", "d")
    return given == types.float64 or is_dual(given)


def _fill(out, value):
    """Set all elements of a new array."""


@overload(_fill)
def _fill_all(out, value):
    # (a plain loop where one will do: Numba compiles it in a tenth of the time)
    def vector(out, value):
        for i in range(out.size):
            out[i] = value
        return out

    def any_shape(out, value):
        for place in np.ndindex(out.shape):
            out[place] = value
        return out

    return vector if out.ndim == 1 else any_shape


def _filled(kind, value):
    """The rule for np.zeros or np.ones."""

    def rule(shape, dtype=None):
        if for_floats(dtype):
            return lambda shape, dtype=None: _fill(empty(shape, kind), value)
        return (
            (lambda shape, dtype=None: np.zeros(shape, dtype))
            if value == 0.0
            else (lambda shape, dtype=None: np.ones(shape, dtype))
        )

    return rule


def _unset(kind):
    def rule(shape, dtype=None):
        if for_floats(dtype):
            return lambda shape, dtype=None: empty(shape, kind)
        return lambda shape, dtype=None: np.empty(shape, dtype)

    return rule


def _full(kind):
    def rule(shape, fill_value, dtype=None):
        if isinstance(fill_value, types.Float) or is_dual(fill_value) or (dtype is not None and for_floats(dtype)):
            return lambda shape, fill_value, dtype=None: _fill(empty(shape, kind), fill_value)
        return None

    return rule


def _like(kind, value):
    """The rule for np.zeros_like or np.ones_like."""

    def rule(a, dtype=None):
        floats = isinstance(a, types.Array) and (is_array(a) or isinstance(a.dtype, types.Float))
        if not (floats and for_floats(dtype)):
            return None
        return lambda a, dtype=None: _fill(empty(a.shape, kind), value)

    return rule


def _full_like(kind):
    def rule(a, fill_value, dtype=None):
        if is_array(a) or (isinstance(a, types.Array) and is_dual(fill_value)):
            return lambda a, fill_value, dtype=None: _fill(empty(a.shape, kind), fill_value)
        return None

    return rule


def _eye(kind):
    def rule(N, dtype=None):
        def impl(N, dtype=None):
            out = _fill(empty((N, N), kind), 0.0)
            for i in range(N):
                out[i, i] = 1.0
            return out

        return impl if for_floats(dtype) else None

    return rule


def _array(kind):
    def rule(object, dtype=None):  # (NumPy's names of the arguments)
        if not for_floats(dtype):
            return lambda object, dtype=None: np.array(object, dtype)  # noqa: A006
        if isinstance(object, types.BaseTuple) and _of_numbers(object):
            n = len(object)

            def from_tuple(object, dtype=None):
                out = empty(n, kind)
                _store_all(object, out)
                return out

            return from_tuple
        if isinstance(object, types.List) and _of_numbers((object.dtype,)):

            def from_list(object, dtype=None):
                out = empty(len(object), kind)
                for i in range(len(object)):
                    out[i] = object[i]
                return out

            return from_list
        if isinstance(object, types.List | types.UniTuple) and _of_numbers(_items(object.dtype)):

            def from_rows(object, dtype=None):
                out = empty((len(object), len(object[0])), kind)
                for i in range(len(object)):
                    for j in range(len(object[0])):
                        out[i, j] = object[i][j]
                return out

            return from_rows
        if is_array(object):
            return lambda object, dtype=None: object.copy()  # noqa: A006
        if isinstance(object, types.Array) and isinstance(object.dtype, types.Float):
            return lambda object, dtype=None: _lifted(object, kind)  # noqa: A006
        return lambda object, dtype=None: _lifted_floats(np.array(object), kind)  # noqa: A006

    return rule


def _of_numbers(kinds):
    """Whether these are numbers, with floats or dual numbers among them."""
    plain = all(map(is_plain, kinds)) and any(isinstance(kind, types.Float) for kind in kinds)
    return plain or some_dual(*kinds) is not None


def _items(row):
    """The types of what is in a row of a matrix that is written as a list or tuple of rows."""
    if isinstance(row, types.List | types.UniTuple) or (isinstance(row, types.Array) and row.ndim == 1):
        return (row.dtype,)
    return ()


def _lifted(a, kind):
    """An array of floats as one of dual numbers, so that it may come to hold tangents."""


@overload(_lifted)
def _lift(a, kind):
    def vector(a, kind):
        out = empty(a.size, kind)
        for i in range(a.size):
            out[i] = a[i]
        return out

    def any_shape(a, kind):
        out = empty(a.shape, kind)
        for place in np.ndindex(a.shape):
            out[place] = a[place]
        return out

    return vector if a.ndim == 1 else any_shape


def _lifted_floats(a, kind):
    """The same, of an array that may be one of integers."""


@overload(_lifted_floats)
def _lift_floats(a, kind):
    if isinstance(a.dtype, types.Float):
        return lambda a, kind: _lifted(a, kind)
    return lambda a, kind: a


def _asarray(array):
    def rule(a, dtype=None):
        if is_array(a):
            return lambda a, dtype=None: a
        if isinstance(a, types.Array) and not isinstance(a.dtype, types.Float):
            return lambda a, dtype=None: np.asarray(a)
        return lambda a, dtype=None: array(a)

    return rule


@overload(np.copy)
def _copy(a):
    return (lambda a: a.copy()) if is_array(a) else None


def _maker(rule):
    """A function that compiled code may call, by this rule."""

    def maker(*args, **kwargs):
        """One of NumPy's makers of arrays, of dual numbers."""

    overload(maker)(rule)
    return maker


def _makers(kind):
    """What stands in for NumPy's makers of arrays where arrays hold dual numbers of this kind."""
    rules = {
        np.zeros: _filled(kind, 0.0),
        np.ones: _filled(kind, 1.0),
        np.empty: _unset(kind),
        np.full: _full(kind),
        np.zeros_like: _like(kind, 0.0),
        np.ones_like: _like(kind, 1.0),
        np.full_like: _full_like(kind),
        np.array: _array(kind),
        np.eye: _eye(kind),
    }
    makers = {theirs: _maker(rule) for theirs, rule in rules.items()}
    asarray = _maker(_asarray(makers[np.array]))
    return {
        **makers,
        np.empty_like: makers[np.zeros_like],
        np.asarray: asarray,
        np.ascontiguousarray: asarray,
        np.identity: makers[np.eye],
    }


MAKERS = {kind: _makers(kind) for kind in KINDS.values()}
