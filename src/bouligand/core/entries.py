"""Entries of the compiled core, for Python: each is imported and compiled when it is first called."""

import importlib


class Kernel:
    """The function ``name`` of the core's ``module``; ``what`` describes it in the line that says that it is compiled.

    ``direct``: see `core.compiler.jit.direct`; every call has contiguous arrays of the same types.
    """

    __slots__ = ("_direct", "_module", "_name", "_what", "code")

    def __init__(self, module, name, what, direct=False):
        self._module, self._name, self._what, self._direct = module, name, what, direct
        self.code = None  # what a call calls: the machine code, once it is there

    def __call__(self, *arguments):
        return (self.code or self._load(arguments))(*arguments)

    def of_workspace(self):
        """Its machine code, of an entry that is given the address of a workspace: for callers to whom 0.1 us matters."""
        return self.code or self._load((0,))

    def address(self):
        """Of its machine code, for `intrinsics.call_entry`: of an entry that is given the address of a workspace."""
        from .compiler import jit

        return jit.address_of(self._compiled((0,)))

    def _load(self, arguments):
        from .compiler import jit

        function = self._compiled(arguments)
        self.code = jit.direct(function) if self._direct else function
        return self.code

    def _compiled(self, arguments):
        from .compiler.compiling import compile_for, compiling
        from .compiler.notices import said_if_slow
        from .compiler.why import of_the_core

        with compiling(), said_if_slow(self._what, of_the_core):  # (one thread compiles, others wait)
            function = getattr(importlib.import_module(f".{self._module}", __package__), self._name)
            compile_for(function, arguments)
        return function
