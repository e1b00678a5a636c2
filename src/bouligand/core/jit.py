"""The one file that knows Numba's and LLVM's internals.

Three things live here:

- ``core``, the decorator of every compiled function of the core, with a cache that notices an edit of *any* core file;
- ``row_address`` and ``call``, which let the core call user functions by address;
- ``c_function``, which turns a user's Numba dispatcher into such an address.

Every user function has the C signature ``int32 fn(double t, double* or int64 ..., int64* ctx)``: scalars and bare
pointers, sizes at run time. ``ctx`` points to ``[n, m, np, user data]``, so that a plate with another number of contacts
recompiles nothing, and a simulator's model has a place that is not ``p``. (A function of several contacts has a context of
its own, with their number as well.) The function returns 0, or a status that says it failed.
"""

import contextlib
import gc
import hashlib
import os
import pathlib
import tempfile

import numpy as np
from llvmlite import ir
from numba import _dynfunc, cfunc, config, njit, typeof, types  # type: ignore[attr-defined]  # (compiled: no stubs)
from numba.core import cgutils
from numba.core.codegen import JITCodeLibrary
from numba.core.cpu import CPUContext
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

JIT = not getattr(config, "DISABLE_JIT")  # noqa: B009  (made at run time: type checkers do not see it)

_HERE = pathlib.Path(__file__).parent


def _array_maths():
    """Import Numba's array maths without scipy.linalg: a fifth of a second, which it spends only to see that it is there.

    (SciPy is a dependency of ours; and where linear algebra is compiled, Numba looks again.)
    """
    from numba.np import linalg

    looks, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        linalg.ensure_blas = looks


if JIT:
    with contextlib.suppress(ImportError, AttributeError):  # a Numba with other insides does without
        _array_maths()


def stamp_of(*folders):
    """A hash of all sources in these folders.

    Numba's disk cache looks only at the file in which a function is written, not at the files it imports from. A stamp in
    the function's name makes all cache entries of edited sources unreachable at once.
    """
    sources = [source for folder in folders for source in sorted(pathlib.Path(folder).glob("*.py"))]
    return hashlib.sha256(b"".join(f.name.encode() + f.read_bytes() for f in sources)).hexdigest()[:12]


STAMP = stamp_of(_HERE)


def _cache_is_writable():
    """Whether Numba will find a place for its cache; without one it refuses to decorate at all."""
    candidates = [config.CACHE_DIR] if config.CACHE_DIR else [_HERE / "__pycache__", pathlib.Path.home() / ".cache"]
    for place in candidates:
        try:
            os.makedirs(place, exist_ok=True)
            with tempfile.TemporaryFile(dir=place):
                return True
        except OSError:
            continue
    return False


CACHED = JIT and _cache_is_writable()


def core(function=None, *, entry=False, inline=False, fastmath=False):
    """Compile a function of the core: no GIL, NumPy's error model (a division by zero is inf).

    Only an ``entry``, which Python calls, is cached on disk and has a wrapper for Python; the others are compiled into
    it. Without Numba's runtime (``_nrt``): the core never allocates, and counting references to its workspace would
    cost more than the arithmetic on it.
    """

    def decorate(function):
        if not JIT:
            return function
        options = {"nogil": True, "error_model": "numpy", "fastmath": fastmath, "_nrt": False, "no_cfunc_wrapper": True}
        if entry:
            function.__qualname__ += "_" + STAMP
            options["cache"] = CACHED
        else:
            options["no_cpython_wrapper"] = True
        if inline:
            options["forceinline"] = True
        return _for_all_values(njit(function, **options))

    return decorate(function) if function is not None else decorate


def _for_all_values(dispatcher):
    """Keep Numba from compiling a function again for every constant that it is called with."""
    template = dispatcher.get_call_template
    dispatcher.get_call_template = lambda args, kws: template(tuple(types.unliteral(a) for a in args), kws)
    return dispatcher


def is_compiled(dispatcher):
    """Whether this process has the machine code of ``dispatcher`` already, compiled or read from the cache."""
    return not JIT or bool(dispatcher.overloads)


def direct(dispatcher):
    """The machine code of a dispatcher that has been called, as a function that looks at no types: half the time of a call.

    Only for callers that give it the same kinds of arguments every time.
    """
    if not JIT:
        return dispatcher
    (compiled,) = dispatcher.overloads.values()
    return compiled.entry_point


@contextlib.contextmanager
def _no_collector():
    """Without the garbage collector, which would look through all that the compiler builds, again and again."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


@contextlib.contextmanager
def _as_a_whole(quickly):
    """Let Numba translate an entry as a whole, not each of its parts before: nobody calls these by themselves.

    ``quickly``: nor are they optimised before, but for those that are not ``compact``, whose loops are to become vector code
    (inside a compact one they would not). Together that is a fifth of a cold start.
    """
    try:
        executable, optimise = CPUContext.get_executable, JITCodeLibrary._optimize_final_module
        finish = JITCodeLibrary._finalize_final_module
    except AttributeError:  # a Numba with other insides: it takes longer
        yield
        return

    def get_executable(context, library, fndesc, env):
        if fndesc.modname.startswith(__package__) and not fndesc.qualname.endswith(STAMP):
            library.part = fndesc.llvm_func_name
            return _dynfunc.make_function(fndesc.lookup_module(), fndesc.qualname, "", 0, env, (library,))
        return executable(context, library, fndesc, env)

    def optimise_whole(library):
        part = getattr(library, "part", None)
        if part is None or not quickly or not any(b"optsize" in a for a in library.get_function(part).attributes):
            optimise(library)

    def finish_whole(library):
        if hasattr(library, "part"):
            library._finalize_dynamic_globals()
            library._finalized = True
        else:
            finish(library)

    CPUContext.get_executable = get_executable
    JITCodeLibrary._optimize_final_module, JITCodeLibrary._finalize_final_module = optimise_whole, finish_whole
    try:
        yield
    finally:
        CPUContext.get_executable = executable
        JITCodeLibrary._optimize_final_module, JITCodeLibrary._finalize_final_module = optimise, finish


def compile_for(dispatcher, arguments, quickly=False):
    """Compile (or read from the cache) what a call with these arguments needs, without what only takes time: the garbage
    collector, and a pass over counts of references, which the core has none of.
    """
    if not JIT or dispatcher.overloads:
        return
    prunes = getattr(config, "LLVM_REFPRUNE_PASS", None)
    if prunes is not None:
        config.LLVM_REFPRUNE_PASS = 0
    try:
        with _no_collector(), _as_a_whole(quickly):
            dispatcher.compile(tuple(typeof(argument) for argument in arguments))
    finally:
        if prunes is not None:
            config.LLVM_REFPRUNE_PASS = prunes


def in_disk_cache(dispatcher):
    """Whether the disk cache holds an entry of this dispatcher (so that its first call only loads it)."""
    if not CACHED:
        return not JIT
    cache = dispatcher._cache
    return os.path.exists(os.path.join(cache.cache_path, cache._cache_file._index_name))


def prune_cache(dispatcher, folder=_HERE, stamp=STAMP):
    """Remove what earlier versions of a folder left in its cache; harmless when another process does the same."""
    if not CACHED:
        return
    for entry in pathlib.Path(dispatcher._cache.cache_path).glob("*.nb[ic]"):
        theirs = entry.name.partition(".")[2].split("-")[0].rpartition("_")[2]
        ours = (pathlib.Path(folder) / f"{entry.name.partition('.')[0]}.py").exists()
        if ours and len(theirs) == len(stamp) and theirs != stamp:
            entry.unlink(missing_ok=True)


# ---------------------------------------------------------------------------------------------- calling by address

_DOUBLE, _INT32, _INT64 = ir.DoubleType(), ir.IntType(32), ir.IntType(64)
_FOUR = ir.VectorType(_DOUBLE, 4)

if JIT:

    @intrinsic
    def row_address(typingctx, array, row):
        """Address of a row of a C-contiguous array, as an integer."""
        signature = types.intp(array, types.intp)

        def codegen(context, builder, signature, args):
            view = context.make_array(signature.args[0])(context, builder, args[0])
            stride = cgutils.unpack_tuple(builder, view.strides)[0]
            base = builder.ptrtoint(view.data, _INT64)
            return builder.add(base, builder.mul(args[1], stride))

        return signature, codegen

    @intrinsic
    def call(typingctx, address, t, arguments, ctx):
        """``fn(t, *arguments, ctx)`` through an address; ``arguments`` is a tuple of addresses (or plain integers)."""
        signature = types.int32(types.int64, types.float64, arguments, types.int64)

        def codegen(context, builder, signature, args):
            middle = cgutils.unpack_tuple(builder, args[2])
            kind = ir.FunctionType(_INT32, [_DOUBLE] + [_INT64] * (len(middle) + 1))
            function = builder.inttoptr(args[0], kind.as_pointer())
            return builder.call(function, [args[1], *middle, args[3]])

        return signature, codegen

else:
    import ctypes

    _prototypes: dict = {}

    def row_address(array, row):
        return array.ctypes.data + row * array.strides[0]

    def call(address, t, arguments, ctx):
        key = (int(address), len(arguments))
        if key not in _prototypes:
            kind = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_double, *[ctypes.c_int64] * (len(arguments) + 1))
            _prototypes[key] = kind(int(address))
        return _prototypes[key](t, *[int(a) for a in arguments], int(ctx))


# ------------------------------------------------------------------------------------------ bare memory, for bridges


def _reader(kind, result, width):
    """A compiled ``read(address, i)``: the i-th item of that kind at an address."""

    @intrinsic
    def read(typingctx, address, i):
        signature = result(types.int64, types.int64)

        def codegen(context, builder, signature, args):
            item = builder.load(builder.gep(builder.inttoptr(args[0], kind.as_pointer()), [args[1]]))
            return builder.sext(item, _INT64) if width < 64 else item

        return signature, codegen

    return read


if JIT:
    read = _reader(_DOUBLE, types.float64, 64)
    read_int = _reader(_INT64, types.int64, 64)
    read_int32 = _reader(_INT32, types.int64, 32)

    @intrinsic
    def write(typingctx, address, i, value):
        """Store a double as the i-th at an address."""
        signature = types.void(types.int64, types.int64, types.float64)

        def codegen(context, builder, signature, args):
            builder.store(args[2], builder.gep(builder.inttoptr(args[0], _DOUBLE.as_pointer()), [args[1]]))
            return context.get_dummy_value()

        return signature, codegen


def c_entry(count, stamp):
    """Compile a function of ``t``, ``count`` addresses and ``ctx`` as a C function that is cached on disk under a stamp (see
    ``stamp_of``): ``.address`` is what the core calls.
    """

    def decorate(function):
        function.__qualname__ += "_" + stamp
        signature = types.int32(types.float64, *[types.int64] * (count + 1))
        return cfunc(signature, cache=CACHED, error_model="numpy", nogil=True)(function)

    return decorate


if JIT:

    @intrinsic
    def compact(typingctx):
        """Called first in a function: optimise its code for size.

        Loops over a handful of components, each unrolled and vectorised, would make up most of the time that the core
        takes to compile, and gain nothing.
        """
        signature = types.void()

        def codegen(context, builder, signature, args):
            builder.function.attributes.add("optsize")
            return context.get_dummy_value()

        return signature, codegen

else:

    def compact():
        pass


if JIT:

    @intrinsic
    def minimum(typingctx, H, row, begin, end, most):
        """The smallest of H[row, begin:end] and ``most``, by vectors: Numba's min in a loop does not become one."""
        signature = types.float64(H, types.int64, types.int64, types.int64, types.float64)

        def codegen(context, builder, signature, args):
            view = context.make_array(signature.args[0])(context, builder, args[0])
            _, row, begin, end, most = args
            start = builder.gep(view.data, [builder.mul(row, cgutils.unpack_tuple(builder, view.shape)[1])])

            def smaller(a, b):
                return builder.select(builder.fcmp_ordered("<", a, b), a, b)

            four = ir.Constant(_FOUR, ir.Undefined)
            for lane in range(4):
                four = builder.insert_element(four, most, _INT32(lane))
            lows = cgutils.alloca_once_value(builder, four)
            whole = builder.add(begin, builder.and_(builder.sub(end, begin), _INT64(-4)))
            with cgutils.for_range_slice(builder, begin, whole, _INT64(4)) as (index, _):
                place = builder.bitcast(builder.gep(start, [index]), _FOUR.as_pointer())
                builder.store(smaller(builder.load(place, align=8), builder.load(lows)), lows)
            four = builder.load(lows)
            low = cgutils.alloca_once_value(builder, most)
            for lane in range(4):
                builder.store(smaller(builder.extract_element(four, _INT32(lane)), builder.load(low)), low)
            with cgutils.for_range_slice(builder, whole, end, _INT64(1)) as (index, _):
                builder.store(smaller(builder.load(builder.gep(start, [index])), builder.load(low)), low)
            return builder.load(low)

        return signature, codegen

else:

    def minimum(H, row, begin, end, most):
        return min(most, H[row, begin:end].min())


if JIT:

    @intrinsic
    def clear(typingctx, vector, begin, count):
        """vector[begin : begin + count] = 0. (A loop does not become that: its index might be negative, for all Numba knows.)"""
        signature = types.void(vector, types.int64, types.int64)

        def codegen(context, builder, signature, args):
            view = context.make_array(signature.args[0])(context, builder, args[0])
            start = builder.gep(view.data, [args[1]])
            cgutils.memset(builder, start, builder.mul(args[2], _INT64(8)), 0)
            return context.get_dummy_value()

        return signature, codegen

else:

    def clear(vector, begin, count):
        vector[begin : begin + count] = 0.0


# ------------------------------------------------------------------------------- Runge-Kutta stages as straight code


def _add_product(builder, a, b, total):
    """``a b + total``, rounded once where the machine can; always so, that a step taken again be the same to the last bit."""
    kind = ir.FunctionType(_DOUBLE, [_DOUBLE] * 3)
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.fmuladd.f64"), [a, b, total])


def _item(builder, data, width, row, i):
    return builder.load(builder.gep(data, [builder.add(builder.mul(row, width), i)]))


def _sum_rows(builder, data, width, first, weights, i):
    """``sum of weights[q] * V[first + q, i]`` over the weights that are not zero, as straight-line code."""
    total = None
    for q, weight in enumerate(weights):
        if weight == 0.0:
            continue
        item, weight = _item(builder, data, width, builder.add(first, _INT64(q)), i), _DOUBLE(float(weight))
        total = builder.fmul(weight, item) if total is None else _add_product(builder, weight, item, total)
    return total


def _step(builder, data, width, x, first, scale, weights, i):
    """``V[x, i] + scale * sum of weights[q] * V[first + q, i]``, such that little is left to do once the last row is known."""
    last = max(q for q, weight in enumerate(weights) if weight != 0.0)
    state = _item(builder, data, width, x, i)
    others = _sum_rows(builder, data, width, first, weights[:last], i)
    if others is not None:
        state = _add_product(builder, scale, others, state)
    weight = builder.fmul(scale, _DOUBLE(float(weights[last])))
    return _add_product(builder, weight, _item(builder, data, width, builder.add(first, _INT64(last)), i), state)


def combination(weights, onto=False):
    """A compiled ``combine(V, base, first, scale, out)``: V[out] = scale * sum of weights[q] V[first + q], plus V[base]
    where ``onto``.

    The weights become constants of straight-line code: on states of a few components a loop over a table would take
    several times as long as the arithmetic.
    """
    if not JIT:

        def combine(V, base, first, scale, out):
            V[out] = scale * (np.asarray(weights) @ V[first : first + len(weights)]) + (V[base] if onto else 0.0)

        return combine

    @intrinsic
    def combine(typingctx, V, base, first, scale, out):
        signature = types.void(V, types.int64, types.int64, types.float64, types.int64)

        def codegen(context, builder, signature, args):
            view = context.make_array(signature.args[0])(context, builder, args[0])
            width = cgutils.unpack_tuple(builder, view.shape)[1]
            with cgutils.for_range(builder, width) as loop:
                if onto:
                    total = _step(builder, view.data, width, args[1], args[2], args[3], weights, loop.index)
                else:
                    total = builder.fmul(args[3], _sum_rows(builder, view.data, width, args[2], weights, loop.index))
                target = builder.add(builder.mul(args[4], width), loop.index)
                builder.store(total, builder.gep(view.data, [target]))
            return context.get_dummy_value()

        return signature, codegen

    return combine


def combinations(table):
    """Like ``combination`` with ``onto``, for many rows of weights: ``combine(V, base, first, scale, out, row)``."""
    if not JIT:

        def combine(V, base, first, scale, out, row):
            V[out] = V[base] + scale * (np.asarray(table[row]) @ V[first : first + len(table[row])])

        return combine

    @intrinsic
    def combine(typingctx, V, base, first, scale, out, row):
        signature = types.void(V, types.int64, types.int64, types.float64, types.int64, types.int64)

        def codegen(context, builder, signature, args):
            view = context.make_array(signature.args[0])(context, builder, args[0])
            width = cgutils.unpack_tuple(builder, view.shape)[1]
            done = builder.append_basic_block("combined")
            choice = builder.switch(args[5], done)
            for number, weights in enumerate(table):
                block = builder.append_basic_block("weights")
                choice.add_case(_INT64(number), block)
                builder.position_at_end(block)
                with cgutils.for_range(builder, width) as loop:
                    start = builder.gep(view.data, [builder.add(builder.mul(args[1], width), loop.index)])
                    total = builder.load(start)
                    if any(weights):
                        change = _sum_rows(builder, view.data, width, args[2], weights, loop.index)
                        total = builder.fadd(total, builder.fmul(args[3], change))
                    target = builder.add(builder.mul(args[4], width), loop.index)
                    builder.store(total, builder.gep(view.data, [target]))
                builder.branch(done)
            builder.position_at_end(done)
            return context.get_dummy_value()

        return signature, codegen

    return combine


def stage_runner(A, c, stages):
    """A compiled ``run(address, ctx, t, s, cap, V, b, p, x, k, scratch)`` that evaluates the given stages.

    Stage q is ``V[k+q] = f(min(t + c[q] s, cap), V[x] + s sum_r A[q, r] V[k+r], b, p)``; its state is left in the row
    ``scratch``. Returns 0, or the stage that failed.
    """
    if not JIT:

        def run(address, ctx, t, s, cap, V, b, p, x, k, scratch):
            for q in stages:
                V[scratch] = V[x] + s * (A[q, :q] @ V[k : k + q])
                arguments = (row_address(V, scratch), b, p, row_address(V, k + q))
                if call(address, min(t + c[q] * s, cap), arguments, ctx) != 0:
                    return q
            return 0

        return run

    @intrinsic
    def run(typingctx, address, ctx, t, s, cap, V, b, p, x, k, scratch):
        i8, f8 = types.int64, types.float64
        signature = types.int64(i8, i8, f8, f8, f8, V, i8, i8, i8, i8, i8)

        def codegen(context, builder, signature, args):
            address, ctx, t, s, cap, V, b, p, x, k, scratch = args
            view = context.make_array(signature.args[5])(context, builder, V)
            data, width = view.data, cgutils.unpack_tuple(builder, view.shape)[1]
            bytes_per_row = builder.mul(width, _INT64(8))
            base = builder.ptrtoint(data, _INT64)
            state_at = builder.add(base, builder.mul(scratch, bytes_per_row))
            kind = ir.FunctionType(_INT32, [_DOUBLE] + [_INT64] * 5)
            function = builder.inttoptr(address, kind.as_pointer())
            failed = cgutils.alloca_once_value(builder, _INT64(0))
            done = builder.append_basic_block("stages.done")
            for q in stages:
                with cgutils.for_range(builder, width) as loop:
                    state = _step(builder, data, width, x, k, s, A[q, :q], loop.index)
                    target = builder.add(builder.mul(scratch, width), loop.index)
                    builder.store(state, builder.gep(data, [target]))
                time = builder.fadd(t, builder.fmul(_DOUBLE(float(c[q])), s))
                time = builder.select(builder.fcmp_ordered("<", time, cap), time, cap)
                slope_at = builder.add(base, builder.mul(builder.add(k, _INT64(q)), bytes_per_row))
                status = builder.call(function, [time, state_at, b, p, slope_at, ctx])
                following = builder.append_basic_block("stage.next")
                builder.store(_INT64(q), failed)
                builder.cbranch(builder.icmp_signed("==", status, _INT32(0)), following, done)
                builder.position_at_end(following)
            builder.store(_INT64(0), failed)
            builder.branch(done)
            builder.position_at_end(done)
            return builder.load(failed)

        return signature, codegen

    return run


# ------------------------------------------------------------------------------------------ wrapping user functions

WRONG_LENGTH = 2000  # status of a function that returned another number of values than it should

_VECTOR = types.Array(types.float64, 1, "C")
_INDICES = types.Array(types.int64, 1, "C")
_MATRIX = types.Array(types.float64, 2, "C")
_INTP = types.intp


def _kind(shape):
    """Numba's type of an argument: "k" is an index, "ks" several, a string a vector of that size, a pair a matrix."""
    if shape in ("k", "ks"):
        return _INTP if shape == "k" else _INDICES
    return _MATRIX if isinstance(shape, tuple) else _VECTOR


def _size(context, builder, ctx, name):
    pointer = builder.inttoptr(ctx, _INT64.as_pointer())
    return builder.load(builder.gep(pointer, [_INT64(("n", "m", "p", "user data", "ks").index(name))]))


def _view(context, builder, address, shape, ctx):
    """An array over bare memory, its sizes read from ``ctx``."""
    names = shape if isinstance(shape, tuple) else (shape,)
    sizes = [_size(context, builder, ctx, name) for name in names]
    strides, width = [], _INT64(8)
    for size in reversed(sizes):
        strides.insert(0, width)
        width = builder.mul(width, size)
    view = context.make_array(_kind(shape))(context, builder)
    item = _INT64 if shape == "ks" else _DOUBLE
    data = builder.inttoptr(address, item.as_pointer())
    populate_array(view, data=data, shape=sizes, strides=strides, itemsize=_INT64(8), meminfo=None)
    return view._getvalue()


def user_jit(function):
    """Compile a user's function: bounds are checked, so that a wrong index is an exception and not a crash."""
    return njit(error_model="numpy", boundscheck=True, nogil=True, forceinline=True)(function)


def argument_types(shapes):
    """The Numba types a function with arguments ``t, *shapes`` is compiled for."""
    return (types.float64, *[_kind(shape) for shape in shapes])


@_no_collector()
def c_function(dispatcher, shapes, in_place):
    """The address of a C function around a dispatcher, and what must be kept alive for it.

    ``shapes`` are those of the arguments after ``t``, the output last; a function that is not ``in_place`` returns its
    output as an array, a tuple, a list or (a single value) a number. Numba's own status comes back instead of an
    exception: a ``try`` inside compiled code costs seconds to compile.
    """
    kinds = argument_types(shapes if in_place else shapes[:-1])
    compiled = _compile(dispatcher, kinds)
    returned = compiled.signature.return_type
    if not in_place and not isinstance(returned, types.BaseTuple | types.Number) and returned not in (_VECTOR, _MATRIX):
        dispatcher = _as_float_array(dispatcher, len(kinds))
        compiled = _compile(dispatcher, kinds)
        returned = compiled.signature.return_type

    @intrinsic
    def enter(typingctx, t, arguments, ctx):
        signature = types.int32(t, arguments, ctx)

        def codegen(context, builder, signature, args):
            context.active_code_library.add_linking_library(compiled.library)
            addresses = cgutils.unpack_tuple(builder, args[1])
            values = [
                address if shape == "k" else _view(context, builder, address, shape, args[2])
                for address, shape in zip(addresses, shapes, strict=True)
            ]
            values = [args[0], *(values if in_place else values[:-1])]
            status, result = context.call_internal_no_propagate(builder, compiled.fndesc, compiled.signature, values)
            if in_place:
                return status.code
            out = context.make_array(_kind(shapes[-1]))(
                context, builder, _view(context, builder, addresses[-1], shapes[-1], args[2])
            )
            return _store(context, builder, status, returned, result, out)

        return signature, codegen

    wrapper = cfunc(types.int32(types.float64, *[types.int64] * (len(shapes) + 1)))(_entry(enter, len(shapes)))
    return wrapper.address, (wrapper, dispatcher)


def _compile(dispatcher, kinds):
    dispatcher.compile(kinds)
    return dispatcher.overloads[kinds]


def _as_float_array(dispatcher, count):
    """Around a function that returns a list or an array of another kind: the same as a contiguous float64 array."""
    if count == 3:
        return njit(error_model="numpy")(lambda t, a, b: np.array(dispatcher(t, a, b)).astype(np.float64))
    return njit(error_model="numpy")(lambda t, a, b, c: np.array(dispatcher(t, a, b, c)).astype(np.float64))


def _store(context, builder, status, returned, result, out):
    """Copy what a function returned into its output; the status says so if the lengths differ."""
    code = cgutils.alloca_once_value(builder, status.code)
    with builder.if_then(builder.icmp_signed("==", status.code, _INT32(0))):
        if isinstance(returned, types.Array):
            values = context.make_array(returned)(context, builder, result)
            count = values.nitems
        else:
            kinds = returned if isinstance(returned, types.BaseTuple) else (returned,)
            count = _INT64(len(kinds))
        fits = builder.icmp_signed("==", count, out.nitems)
        with builder.if_else(fits) as (then, otherwise):
            with then:
                if isinstance(returned, types.Array):
                    cgutils.raw_memcpy(builder, out.data, values.data, count, 8)
                else:
                    for i, kind in enumerate(kinds):
                        item = builder.extract_value(result, i) if isinstance(returned, types.BaseTuple) else result
                        item = context.cast(builder, item, kind, types.float64)
                        builder.store(item, builder.gep(out.data, [_INT64(i)]))
            with otherwise:
                builder.store(_INT32(WRONG_LENGTH), code)
        if isinstance(returned, types.Array):
            context.nrt.decref(builder, returned, result)
    return builder.load(code)


def _entry(enter, count):
    """A function of ``count`` addresses between ``t`` and ``ctx``: cfunc wants a fixed number of arguments."""
    if count == 3:
        return lambda t, a, b, c, ctx: enter(t, (a, b, c), ctx)
    if count == 4:
        return lambda t, a, b, c, d, ctx: enter(t, (a, b, c, d), ctx)
    return lambda t, a, b, c, d, e, ctx: enter(t, (a, b, c, d, e), ctx)
