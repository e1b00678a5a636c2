"""Compiling under one lock, with shortcuts through Numba's internals that make a cold start shorter.

The shortcuts replace methods of Numba's classes while something of the core is compiled. Numba's own compiler lock is held
meanwhile, so that no other thread compiles anything with them; and they are taken only with versions of Numba that the
tests have been run with. Without them everything works, and takes longer to compile: ``python -m benchmarks shortcuts`` measures
each. BOULIGAND_SHORTCUTS=none (or some of their names, with commas) switches them off.
"""

import contextlib
import os
import re

import numba
from numba import _dynfunc, typeof  # type: ignore[attr-defined]  # (compiled: no stubs)
from numba.core.compiler_lock import global_compiler_lock

from .cache import JIT, STAMP
from .typing_once import scalar_operations_typed_once

KNOWN = (0, 61), (0, 68)  # versions of Numba, the first and the last with which the shortcuts are tested
SHORTCUTS = ("blas", "parts", "optimise", "types")
_PACKAGE = __package__.rpartition(".")[0]  # the core


def _allowed():
    version = tuple(int(part) for part in re.findall(r"\d+", numba.__version__)[:2])
    wanted = os.environ.get("BOULIGAND_SHORTCUTS", "all")
    if not KNOWN[0] <= version <= KNOWN[1] or wanted == "none":
        return frozenset()
    return frozenset(SHORTCUTS if wanted == "all" else wanted.split(",")) & frozenset(SHORTCUTS)


ALLOWED = _allowed()


def _import_array_functions():
    """Import Numba's array functions without scipy.linalg ("blas"), which they load only to see that it is there.

    (SciPy is a dependency of ours; and where linear algebra is compiled, Numba looks again.)
    """
    from numba.np import linalg

    look, linalg.ensure_blas = linalg.ensure_blas, lambda: None
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        linalg.ensure_blas = look


if JIT and "blas" in ALLOWED:
    _import_array_functions()


def compiling():
    """A context in which no other thread compiles. (Also a decorator.)"""
    return global_compiler_lock


def compile_for(dispatcher, arguments, quickly=False):
    """Compile (or read from the disk) what a call of an entry with these arguments needs. ``quickly``: see `as_a_whole`.

    Within `compiling()`, so that a thread that waited there finds it compiled.
    """
    if JIT and not dispatcher.overloads:
        compile_for_types(dispatcher, tuple(typeof(argument) for argument in arguments), quickly)


def compile_for_types(dispatcher, types, quickly=False):
    """The same, given the types of the arguments."""
    with compiling(), shortcuts(quickly):
        dispatcher.compile(types)


@contextlib.contextmanager
def shortcuts(quickly):
    """All that are allowed, while something is compiled. Within `compiling()`. ``quickly``: see `as_a_whole`."""
    with contextlib.ExitStack() as stack:
        if "types" in ALLOWED:
            stack.enter_context(scalar_operations_typed_once())
        if "parts" in ALLOWED:
            stack.enter_context(as_a_whole(quickly))
        yield


@contextlib.contextmanager
def as_a_whole(quickly):
    """Let Numba translate an entry as a whole to machine code, and not each function that it calls by itself before ("parts").

    ``quickly``: nor are these optimised before ("optimise"), but for those that are not ``compact``, whose loops are to become
    vector code (inside a compact function they would not).
    """
    from numba.core.codegen import JITCodeLibrary
    from numba.core.cpu import CPUContext

    executable = CPUContext.get_executable
    optimise, finish = JITCodeLibrary._optimize_final_module, JITCodeLibrary._finalize_final_module
    quickly = quickly and "optimise" in ALLOWED

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
