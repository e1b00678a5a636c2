"""The decorator of every compiled function of the core, its cache on disk, and how an entry is compiled.

Five files know Numba's and LLVM's internals, and no other does: this one; ``intrinsics``, the few instructions that the core has
no Python for (calls by address, bare memory); ``vectors``, whole rows at once; ``stages``, Runge-Kutta formulas as straight
code; and ``wrapping``, which turns a user's function into an address. The cache notices an edit of *any* core file.
"""

import contextlib
import gc
import hashlib
import os
import pathlib
import tempfile

from numba import _dynfunc, config, njit, typeof, types  # type: ignore[attr-defined]  # (compiled: no stubs)
from numba.core.codegen import JITCodeLibrary
from numba.core.cpu import CPUContext

JIT = not getattr(config, "DISABLE_JIT")  # noqa: B009  (made at run time: type checkers do not see it)

_CORE = pathlib.Path(__file__).parents[1]
_PACKAGE = __package__.rpartition(".")[0]  # the core, of which this folder is a part


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
    """A hash of all sources in these folders and their subfolders.

    Numba's disk cache looks only at the file in which a function is written, not at the files it imports from. A stamp in
    the function's name makes all cache entries of edited sources unreachable at once.
    """
    digest = hashlib.sha256()
    for folder in map(pathlib.Path, folders):
        for source in sorted(folder.rglob("*.py")):
            digest.update(source.relative_to(folder).as_posix().encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


STAMP = stamp_of(_CORE)


def _cache_is_writable():
    """Whether Numba will find a place for its cache; without one it refuses to decorate at all."""
    candidates = [config.CACHE_DIR] if config.CACHE_DIR else [_CORE / "__pycache__", pathlib.Path.home() / ".cache"]
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
        options["forceinline"] = (
            inline  # (said in any case: else it is inherited from the function that is compiled first)
        )
        if entry:
            function.__qualname__ += "_" + STAMP
            options["cache"] = CACHED
        else:
            options["no_cpython_wrapper"] = True
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
def no_collector():
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
        if fndesc.modname.startswith(_PACKAGE) and not fndesc.qualname.endswith(STAMP):
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
        with no_collector(), _as_a_whole(quickly):
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


def prune_cache(dispatcher, folder=_CORE, stamp=STAMP):
    """Remove what earlier versions of a folder left in its cache; harmless when another process does the same."""
    if not CACHED:
        return
    for entry in pathlib.Path(dispatcher._cache.cache_path).glob("*.nb[ic]"):
        theirs = entry.name.partition(".")[2].split("-")[0].rpartition("_")[2]
        ours = any(pathlib.Path(folder).rglob(f"{entry.name.partition('.')[0]}.py"))
        if ours and len(theirs) == len(stamp) and theirs != stamp:
            entry.unlink(missing_ok=True)
