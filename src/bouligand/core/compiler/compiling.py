"""Compiling under one lock, with shortcuts through Numba's internals that make a cold start shorter.

The shortcuts replace methods of Numba's classes while something of the core is compiled. Numba's own compiler lock is held
meanwhile, so that no other thread compiles anything with them; and they are taken only with versions of Numba that the
tests have been run with. Without them everything works, and takes longer to compile: ``python -m benchmarks shortcuts`` measures
each. BOULIGAND_SHORTCUTS=none (or some of their names, with commas) switches them off.
"""

import contextlib
import os
import re
import threading

import numba
from llvmlite.binding import ffi
from numba import typeof
from numba.core.compiler_lock import global_compiler_lock

from ..._undivided import undivided
from .forks import let_forks_wait_for
from .indexing import short_indexing
from .messages import short_messages
from .once import rules_read_once, sizes_found_once, typed_once, undisturbed
from .pipeline import needed_passes
from .settings import JIT
from .variables import found_fast
from .whole import as_a_whole

KNOWN = (0, 61), (0, 68)  # versions of Numba, the first and the last with which the shortcuts are tested
SHORTCUTS = (
    "blas",
    "parts",
    "optimise",
    "passes",
    "variables",
    "types",
    "rules",
    "arrays",
    "sizes",
    "idle",
    "messages",
    "marks",
)


def _allowed():
    version = tuple(int(part) for part in re.findall(r"\d+", numba.__version__)[:2])
    wanted = os.environ.get("BOULIGAND_SHORTCUTS", "all")
    if not KNOWN[0] <= version <= KNOWN[1] or wanted == "none":
        return frozenset()
    return frozenset(SHORTCUTS if wanted == "all" else wanted.split(",")) & frozenset(SHORTCUTS)


ALLOWED = _allowed()
_WHILE_COMPILING = {
    "passes": needed_passes,
    "variables": found_fast,
    "types": typed_once,
    "rules": rules_read_once,
    "arrays": short_indexing,
    "sizes": sizes_found_once,
    "idle": undisturbed,
}


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


def _inside(lock):
    """The lock of Python's in one of Numba's or llvmlite's, which reports events, or knows no thread that holds it already."""
    inside = getattr(lock, "_lock", None)
    return inside if hasattr(inside, "acquire") else threading.RLock()


# (a child in which nobody opens these locks could compile nothing. LLVM's is taken for each call into LLVM, by the garbage
# collector as well, which holds no other)
let_forks_wait_for(_inside(global_compiler_lock), _inside(getattr(ffi.lib, "_lock", None)))


@contextlib.contextmanager
def compiling():
    """A context in which no other thread compiles, and which neither Ctrl-C nor a fork cuts in two. (Also a decorator.)"""
    with undivided(), global_compiler_lock:
        yield


def compile_for(dispatcher, arguments):
    """Compile (or read from the disk) what a call of an entry with these arguments needs.

    Within `compiling()`, so that a thread that waited there finds it compiled.
    """
    if JIT and not dispatcher.overloads:
        compile_for_types(dispatcher, tuple(typeof(argument) for argument in arguments))


def compile_for_types(dispatcher, types):
    """The same, given the types of the arguments."""
    with compiling(), shortcuts():
        dispatcher.compile(types)


def users_shortcuts():
    """Those for functions of users. Within `compiling()`."""
    return short_messages() if "messages" in ALLOWED else contextlib.nullcontext()


@contextlib.contextmanager
def shortcuts():
    """All those for the core that are allowed, while something is compiled. Within `compiling()`."""
    with contextlib.ExitStack() as stack:
        for name, shortcut in _WHILE_COMPILING.items():
            if name in ALLOWED:
                stack.enter_context(shortcut())
        if "parts" in ALLOWED:
            stack.enter_context(as_a_whole(optimised_before="optimise" not in ALLOWED))
        yield
