"""Shortcuts through Numba's back end: an entry is translated to machine code as a whole.

Numba optimises each function by itself, links into it all that it calls, optimises that again, and translates it to machine
code, although only the entry is ever called. Here the functions that an entry consists of are parts: nothing is done with
them before all are linked, once each, into the entry. See `compiling` for when this is done.
"""

import contextlib

from numba import _dynfunc  # type: ignore[attr-defined]  # (compiled: no stubs)
from numba.core.codegen import JITCodeLibrary
from numba.core.cpu import CPUContext

from .once import replaced
from .sources import STAMP

_PACKAGE = __package__.rpartition(".")[0]  # the core
# where entries and their parts are (those of a bridge have its own stamp, and stay libraries as Numba makes them)
_WITH_PARTS = _PACKAGE, __package__.partition(".")[0] + ".bridges.mujoco"
_MANGLED = "_ZN" + "".join(f"{len(name)}{name}" for name in _PACKAGE.split("."))  # how names in LLVM's modules begin
_at_once = False  # within `as_a_whole`: parts are linked when the entry is


class Part(JITCodeLibrary):
    """A function of the core, or of a bridge, that is not an entry. (A library that was made by Numba becomes one of these.)"""

    unlinked = False  # whether what it calls is not in its module

    def finalize(self):
        if _at_once and all(map(_is_compact, self.get_defined_functions())):
            self.unlinked = True
            self._finalize_dynamic_globals()
            self._finalized = True
        else:
            super().finalize()

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._finalized = True

    def _get_module_for_linking(self):
        if self.unlinked and not _at_once:  # (something else than the core calls it: with all that it calls, then)
            for library in _called_by(self):
                self._final_module.link_in(library._get_module_for_linking(), preserve=True)
            self.unlinked, self._shared_module = False, None
        return super()._get_module_for_linking()


class Entry(JITCodeLibrary):
    """An entry of the core, with all its parts."""

    def _optimize_final_module(self):
        # (Numba optimises twice, to count fewer references: the core counts none)
        made = self._codegen._module_pass_manager()
        manager, *more = made if isinstance(made, tuple) else (made,)
        manager.run(self._final_module, *more)


def _called_by(library):
    """The libraries of all functions that one calls, and that these call, if they are not in their modules."""
    found, waiting = {}, list(library._linking_libraries)
    while waiting:
        one = waiting.pop(0)
        if one not in found:
            found[one] = None
            waiting += one._linking_libraries if getattr(one, "unlinked", False) else []
    return list(found)


def _is_compact(function):
    return any(b"optsize" in attributes for attributes in function.attributes)


@contextlib.contextmanager
def as_a_whole(optimised_before=False):
    """Let Numba translate an entry as a whole to machine code, and not each function that it calls by itself before ("parts").

    Nor are these optimised before ("optimise"; except with ``optimised_before``), but for those that are not ``compact``, whose
    loops are to become vector code (inside a compact function they would not).
    """
    global _at_once
    executable = CPUContext.get_executable
    optimise, finalize = JITCodeLibrary._optimize_functions, JITCodeLibrary.finalize

    def get_executable(context, library, fndesc, env):
        if not fndesc.modname.startswith(_WITH_PARTS):
            return executable(context, library, fndesc, env)
        if fndesc.qualname.endswith(STAMP):
            library.__class__ = Entry
            return executable(context, library, fndesc, env)
        library.__class__ = Part
        return _dynfunc.make_function(fndesc.lookup_module(), fndesc.qualname, "", 0, env, (library,))

    def optimise_functions(library, module):
        ours = [f for f in module.functions if f.name.startswith(_MANGLED) and not f.is_declaration]
        if optimised_before or not (ours and all(map(_is_compact, ours))):
            optimise(library, module)

    def finalize_with_parts(library):
        library._linking_libraries = _called_by(library)
        finalize(library)

    before, _at_once = _at_once, not optimised_before
    try:
        with (
            replaced(CPUContext, "get_executable", get_executable),
            replaced(JITCodeLibrary, "_optimize_functions", optimise_functions),
            replaced(JITCodeLibrary, "finalize", finalize_with_parts),
        ):
            yield
    finally:
        _at_once = before
