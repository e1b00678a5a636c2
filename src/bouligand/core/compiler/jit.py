"""The decorator of every compiled function of the core.

The files of this folder know Numba's and LLVM's internals, and (with ``schemes.stages``) no other does: this one; ``compiling``,
how an entry is compiled, with ``pipeline``, ``lowering``, ``indexing``, ``variables``, ``messages``, ``once`` and ``whole``;
``kept``, machine code on disk, with ``places``, ``trusted`` (who may have written it), ``checked``, ``sources``,
``surroundings`` and ``shipped``; ``notices`` and ``why``, what is said while it is compiled; ``intrinsics``, instructions that
Python does not have (calls by address, bare memory); ``vectors``, whole rows at once; ``tables``, memory by name; and
``wrapping``, which turns a user's function into an address.
"""

from numba import njit, types

from .kept import keep_on_disk
from .pipeline import CoreCompiler
from .settings import JIT
from .sources import STAMP


def core(function=None, *, entry=False, inline=False, fastmath=False, natural=False):
    """Compile a function of the core: no GIL, NumPy's error model (a division by zero is inf).

    Only an ``entry``, which Python calls, is cached on disk and has a wrapper for Python; the others are compiled into
    it. Without Numba's runtime (``_nrt``): the core never allocates, and counting references to its workspace would
    cost more than the arithmetic on it. In a ``natural`` one no index is negative, which saves a comparison for each (see
    `indexing`).
    """

    def decorate(function):
        if not JIT:
            return function
        function.natural = natural
        options = {"nogil": True, "error_model": "numpy", "fastmath": fastmath, "_nrt": False, "no_cfunc_wrapper": True}
        # (the core has no expressions of whole arrays, which rewriting is for)
        options["no_rewrites"] = True
        options["pipeline_class"] = CoreCompiler
        # (given in any case: otherwise it is inherited from the function that is compiled first)
        options["forceinline"] = inline
        if entry:
            function.__qualname__ += "_" + STAMP
        else:
            options["no_cpython_wrapper"] = True
        dispatcher = _for_all_values(njit(function, **options))
        if entry:
            keep_on_disk(dispatcher, function)
        return dispatcher

    return decorate(function) if function is not None else decorate


def _for_all_values(dispatcher):
    """Keep Numba from compiling a function again for every constant that it is called with."""
    template = dispatcher.get_call_template
    dispatcher.get_call_template = lambda args, kws: template(tuple(types.unliteral(a) for a in args), kws)
    return dispatcher


def direct(dispatcher):
    """The machine code of a dispatcher that has been called, as a function that looks at no types: half the time of a call.

    Only for callers that give it the same kinds of arguments every time.
    """
    if not JIT:
        return dispatcher
    (compiled,) = dispatcher.overloads.values()
    return compiled.entry_point


ENTRIES: dict = {}  # without the JIT: Python functions, by the number that stands for their address


def address_of(dispatcher):
    """The address of an entry's machine code, for `intrinsics.call_entry`. It has been compiled before."""
    if not JIT:
        ENTRIES[id(dispatcher)] = dispatcher
        return id(dispatcher)
    (compiled,) = dispatcher.overloads.values()
    return compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
