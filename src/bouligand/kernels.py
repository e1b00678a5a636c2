"""Entries of the compiled core that few integrations need: imported when first called, and announced if they must be compiled."""

import importlib

from .stepper import _say_if_compiling


class Kernel:
    """The function ``name`` of the core's ``module``; ``what`` it is for is said before a compilation that takes seconds."""

    __slots__ = ("_function", "_module", "_name", "_what")

    def __init__(self, module, name, what):
        self._module, self._name, self._what = module, name, what
        self._function = None

    def __call__(self, *arguments):
        if self._function is None:
            from .core import jit

            function = getattr(importlib.import_module(f".core.{self._module}", __package__), self._name)
            _say_if_compiling(function, self._what)
            jit.compile_for(function, arguments, quickly=True)
            self._function = function
        return self._function(*arguments)
