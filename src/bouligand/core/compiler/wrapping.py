"""A user's function, compiled, as an address with the core's C signature (see ``intrinsics``)."""

import contextlib
import ctypes

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.core.ccallback import CFunc
from numba.core.errors import NumbaError
from numba.core.registry import cpu_target
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from ..divisions import MODEL
from ..state import DUAL_NAMES, ONE_LANE
from . import why
from .compiling import ALLOWED, compiling, shortcuts, users_shortcuts
from .intrinsics import DOUBLE, INT32, INT64
from .kept import keep_on_disk, new_name
from .notices import said_if_slow
from .settings import JIT

WRONG_LENGTH = 2000  # status of a function that returned another number of values than it should

_VECTOR = types.Array(types.float64, 1, "C")
_INDICES = types.Array(types.int64, 1, "C")
_MATRIX = types.Array(types.float64, 2, "C")
_INTP = types.intp

NO_WRAPPERS: dict = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # of functions that only compiled code calls


def _kind(shape, read_only=False):
    """Numba's type of an argument: "k" is an index, "ks" several, a string a vector of that size, a pair a matrix; "dual n" is a
    vector of dual numbers, "dual t" one of them; "few n" and "one n" have fewer tangents, or one."""
    if shape == "k":
        return _INTP
    if is_dual(shape):
        return _dual(shape) if _is_number(shape) else types.Array(_dual(shape), 1, "C", readonly=read_only)
    kind = _INDICES if shape == "ks" else _MATRIX if isinstance(shape, tuple) else _VECTOR
    return kind.copy(readonly=True) if read_only else kind


def is_dual(shape):
    """Whether an argument consists of dual numbers."""
    return isinstance(shape, str) and shape.startswith(tuple(DUAL_NAMES))


def _is_number(shape):
    """Whether an argument is a single dual number: the time."""
    return is_dual(shape) and shape.endswith(" t")


def _dual(shape):
    """The type of these dual numbers."""
    from ..duals.number import KINDS  # (only derivatives need it)

    return KINDS[DUAL_NAMES[shape.split()[0] + " "]]


def _size(context, builder, ctx, name):
    if name == "1":
        return INT64(1)
    pointer = builder.inttoptr(ctx, INT64.as_pointer())
    return builder.load(builder.gep(pointer, [INT64(("n", "m", "p", "user data", "ks").index(name))]))


def _view(context, builder, address, shape, ctx):
    """An array over bare memory, its sizes read from ``ctx``."""
    names, item, bytes_each = shape if isinstance(shape, tuple) else (shape,), DOUBLE, INT64(8)
    if shape == "ks":
        item = INT64
    elif is_dual(shape):
        dual = _dual(shape)
        names, item, bytes_each = (shape.split()[1],), dual.in_memory, INT64(8 * (1 + dual.lanes))
        if _is_number(shape):
            place = builder.inttoptr(address, item.as_pointer())
            return context.unpack_value(builder, dual, place)
    sizes = [_size(context, builder, ctx, name) for name in names]
    strides, width = [], bytes_each
    for size in reversed(sizes):
        strides.insert(0, width)
        width = builder.mul(width, size)
    view = context.make_array(_kind(shape))(context, builder)
    data = builder.inttoptr(address, item.as_pointer())
    populate_array(view, data=data, shape=sizes, strides=strides, itemsize=bytes_each, meminfo=None)
    return view._getvalue()


def user_jit(function, inline=True):
    """Compile a user's function: bounds are checked, so that a wrong index is an exception and not a crash."""
    return njit(error_model=MODEL, boundscheck=True, nogil=True, forceinline=inline)(function)


def is_known(function):
    """Whether Numba has an implementation of a plain Python function, as of those of NumPy."""
    context = cpu_target.typing_context
    context.refresh()
    try:
        context.resolve_value_type(function)
    except (NumbaError, ValueError):
        return False
    return True


def argument_types(shapes, outputs, read_only):
    """The Numba types a function with arguments ``t, *shapes`` is compiled for, the last ones its outputs."""
    inputs = len(shapes) - outputs
    kinds = [_kind(shape, read_only and i < inputs) for i, shape in enumerate(shapes)]
    return tuple(kinds) if _is_number(shapes[0]) else (types.float64, *kinds)


@compiling()
def c_function(dispatcher, shapes, in_place, read_only, kept=None):
    """The address of a C function around a dispatcher, and what must be kept alive for it.

    ``shapes`` are those of the arguments after ``t``, the output last; a function that is not ``in_place`` returns its
    output as an array, a tuple, a list or (a single value) a number. Numba's own status comes back instead of an
    exception: a ``try`` inside compiled code costs seconds to compile. With ``read_only``, a function that writes to its
    inputs, which are the core's own memory, does not compile. ``kept``: what is on disk of it (see `kept`).
    """
    outputs = 0 if not in_place else 2 if len(shapes) == 5 else 1  # (fh has two)
    kinds = argument_types(shapes if in_place else shapes[:-1], outputs, read_only)
    compiled = _compile(dispatcher, kinds, shapes)
    how = shapes, in_place, read_only
    if kept is not None and (found := kept.load_entry(*how)) is not None:
        address, library = found
        return address, (library, dispatcher)
    returned = compiled.signature.return_type
    plain = isinstance(returned, types.BaseTuple | types.Number) or returned in (_VECTOR, _MATRIX, _kind(shapes[-1]))
    if not in_place and (not plain or (is_dual(shapes[-1]) and returned == _VECTOR)):
        if is_dual(shapes[-1]):
            dispatcher = _as_dual_array(dispatcher, len(kinds), _dual(shapes[-1]))
        else:
            dispatcher = _as_float_array(dispatcher, len(kinds))
        compiled = _compile(dispatcher, kinds, shapes)
        returned = compiled.signature.return_type

    name = new_name()

    @intrinsic
    def entry(typingctx):
        def codegen(context, builder, signature, args):
            context.active_code_library.add_linking_library(compiled.library)
            kind = ir.FunctionType(INT32, [DOUBLE] + [INT64] * (len(shapes) + 1))
            function = ir.Function(builder.module, kind, name)
            inside, (t, *addresses, ctx) = ir.IRBuilder(function.append_basic_block()), function.args
            values = [
                address if shape == "k" else _view(context, inside, address, shape, ctx)
                for address, shape in zip(addresses, shapes, strict=True)
            ]
            values = values if in_place else values[:-1]
            values = values if _is_number(shapes[0]) else [t, *values]
            status, result = context.call_internal_no_propagate(inside, compiled.fndesc, compiled.signature, values)
            code = status.code
            if not in_place:
                out = context.make_array(_kind(shapes[-1]))(
                    context, inside, _view(context, inside, addresses[-1], shapes[-1], ctx)
                )
                item = _dual(shapes[-1]) if is_dual(shapes[-1]) else types.float64
                code = _store(context, inside, status, returned, result, out, item)
            inside.ret(code)
            return context.get_dummy_value()

        return types.void(), codegen

    # (Numba compiles functions of Python only: one that is never called brings the other along)
    holder = njit(lambda: entry(), **NO_WRAPPERS)
    holder.compile(())
    if kept is not None:
        kept.save_entry(name, holder.overloads[()], *how)
    return holder.overloads[()].library.get_pointer_to_function(name), (holder, dispatcher)


def _compile(dispatcher, kinds, shapes):
    marks = contextlib.nullcontext()
    # (loops over dual numbers with several tangents, which are vectors, do not become vector code in any case)
    if is_dual(shapes[-1]) and _dual(shapes[-1]).lanes == ONE_LANE and "marks" in ALLOWED:
        from ..duals.marks import marked

        marks = marked()
    with users_shortcuts(), marks:
        dispatcher.compile(kinds)
    return dispatcher.overloads[kinds]


def _as_float_array(dispatcher, count):
    """Around a function that returns a list or an array of another kind: the same as a contiguous float64 array."""
    if count == 3:
        return njit(error_model="numpy")(lambda t, a, b: np.array(dispatcher(t, a, b)).astype(np.float64))
    return njit(error_model="numpy")(lambda t, a, b, c: np.array(dispatcher(t, a, b, c)).astype(np.float64))


def _as_dual_array(dispatcher, count, kind):
    """The same, as an array of dual numbers."""
    from ..duals.arrays import MAKERS

    array = MAKERS[kind][np.array]
    if count == 3:
        return njit(lambda t, a, b: array(dispatcher(t, a, b)), error_model="numpy", **NO_WRAPPERS)
    return njit(lambda t, a, b, c: array(dispatcher(t, a, b, c)), error_model="numpy", **NO_WRAPPERS)


def _store(context, builder, status, returned, result, out, kind_of_item):
    """Copy what a function returned into its output; the status says so if the lengths differ."""
    size = context.get_abi_sizeof(context.get_data_type(kind_of_item))
    code = cgutils.alloca_once_value(builder, status.code)
    with builder.if_then(builder.icmp_signed("==", status.code, INT32(0))):
        if isinstance(returned, types.Array):
            values = context.make_array(returned)(context, builder, result)
            count = values.nitems
        else:
            kinds = returned if isinstance(returned, types.BaseTuple) else (returned,)
            count = INT64(len(kinds))
        fits = builder.icmp_signed("==", count, out.nitems)
        with builder.if_else(fits) as (then, otherwise):
            with then:
                if isinstance(returned, types.Array):
                    cgutils.raw_memcpy(builder, out.data, values.data, count, size)
                else:
                    for i, kind in enumerate(kinds):
                        item = builder.extract_value(result, i) if isinstance(returned, types.BaseTuple) else result
                        item = context.cast(builder, item, kind, kind_of_item)
                        context.pack_value(builder, kind_of_item, item, builder.gep(out.data, [INT64(i)]), align=8)
            with otherwise:
                builder.store(INT32(WRONG_LENGTH), code)
        if isinstance(returned, types.Array):
            context.nrt.decref(builder, returned, result)
    return builder.load(code)


class _PythonEntry:
    """Without the JIT: a Python function that the core can call."""

    def __init__(self, count, function):
        self._callback = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_double, *[ctypes.c_int64] * (count + 1))(function)
        self.address = ctypes.cast(self._callback, ctypes.c_void_p).value


def c_entry(count, stamp, what):
    """Compile a function of ``t``, ``count`` addresses and ``ctx`` as a C function that is cached on disk under a stamp (see
    ``stamp_of``): ``.address`` is what the core calls. ``what`` it is, for the line that says that it is compiled.
    """
    if not JIT:
        return lambda function: _PythonEntry(count, function)

    def decorate(function):
        function.__qualname__ += "_" + stamp
        signature = types.int32(types.float64, *[types.int64] * (count + 1))
        # (Numba's own decorator ``cfunc`` compiles at once, before one could say where to keep it)
        compiled = CFunc(function, (signature.args, signature.return_type), {}, {"error_model": "numpy", "nogil": True})
        keep_on_disk(compiled, function)
        with compiling(), shortcuts(), said_if_slow(what, why.of_the_core):
            compiled.compile()
        return compiled

    return decorate
