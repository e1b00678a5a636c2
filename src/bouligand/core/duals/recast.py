"""A user's function, compiled for dual numbers: a copy in which NumPy's makers of arrays make arrays of dual numbers.

The code is the user's own. Only the names that it looks up are others: ``np`` is a module whose ``zeros``, ``array`` and so on
are those of `arrays`, and Numba functions that it calls are copies of the same kind. What the copy cannot do with tangents does
not compile.
"""

import dis
import inspect
import math
import types as python_types

import numpy as np
from numba import njit

from ..copies import bare_copy, fill, is_known_module, module_copy, names_in
from ..divisions import MODEL
from ..state import LANES
from . import (  # noqa: F401  (some only register their functions)
    arithmetic,
    arrays,
    elementwise,
    linear_algebra,
    methods,
    reductions,
)
from .number import KINDS

_STAND_INS = {getattr(np, name): ours for name, ours in reductions.STAND_INS.items()}
_NEW_NAMES = {name: methods.PREFIX + name for name in methods.NAMES}
_OF_USERS = {
    "error_model": MODEL,
    "boundscheck": True,
    "nogil": True,
    "forceinline": True,
}  # as in `compiler.wrapping`
_KEPT = ("fastmath", *_OF_USERS)
# Helper functions are compiled into those that call them: a call passes dual numbers through memory, and without calls f of dual
# numbers takes half the time. Not where a function would have more than so many instructions, which would take long to compile.
_INLINED = 2_000


class _Others:
    """What a copy finds in place of NumPy's functions: those for dual numbers of one kind."""

    def __init__(self, kind):
        self._others = {**arrays.MAKERS[kind], **_STAND_INS}
        self.numpy = python_types.ModuleType("numpy")
        own = {key: value for key, value in vars(np).items() if not key.startswith("__")}
        vars(self.numpy).update({key: self.instead_of(value) for key, value in own.items()})
        _with_renamed(self.numpy)

    def instead_of(self, value):
        """The function that stands in for this one; what none stands in for, itself."""
        try:
            return self._others.get(value, value)
        except TypeError:  # (what has no hash)
            return value


def _with_renamed(module):
    """A module that is looked up in by the names of methods, too, which have other names in the copy."""
    vars(module).update({new: vars(module)[name] for name, new in _NEW_NAMES.items() if name in vars(module)})
    return module


def _renamed(code):
    """A code in which the methods of arrays have the names that `methods` gives them."""
    constants = tuple(_renamed(c) if isinstance(c, python_types.CodeType) else c for c in code.co_consts)
    return code.replace(co_names=tuple(_NEW_NAMES.get(name, name) for name in code.co_names), co_consts=constants)


_OTHERS = {lanes: _Others(kind) for lanes, kind in KINDS.items()}


def recast(function, lanes=LANES):
    """The dispatcher of a copy of a function (or dispatcher) that computes with dual numbers of so many tangents."""
    return _copy(function, {}, _OTHERS[lanes], _size(function, {}) <= _INLINED)


def _copy(function, known, others, inline):
    if function in known:
        return known[function]
    python = getattr(function, "py_func", function)
    names = names_in(python.__code__)

    def instead_of(value):
        if value is np:
            return others.numpy
        if hasattr(value, "py_func"):
            return _copy(value, known, others, inline)
        if isinstance(value, python_types.ModuleType) and not is_known_module(value.__name__):
            return _with_renamed(module_copy(value, names, instead_of))
        return others.instead_of(value)

    copy = bare_copy(python, _renamed(python.__code__))
    options = _OF_USERS
    if hasattr(function, "py_func"):
        options = {key: value for key, value in function.targetoptions.items() if key in _KEPT}
        if inline:
            options["forceinline"] = True
    # (rewrites of array expressions, and wrappers for Python, ask for a NumPy dtype)
    known[function] = njit(copy, **options, no_rewrites=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
    fill(copy, python, instead_of, _NEW_NAMES)
    return known[function]


def _size(function, known):
    """Number of instructions of a function, with those of the Numba functions that it calls, as often as it calls them; infinite
    if one calls itself."""
    if function not in known:
        known[function] = math.inf
        python = getattr(function, "py_func", function)
        variables = inspect.getclosurevars(python)
        names = {**variables.globals, **variables.nonlocals}
        modules = [value for value in names.values() if isinstance(value, python_types.ModuleType)]
        for module in modules:
            names.update({name: vars(module)[name] for name in variables.unbound if name in vars(module)})
        size = 0
        for instruction in dis.get_instructions(python):
            called = names.get(instruction.argval) if isinstance(instruction.argval, str) else None
            size += 1 + (_size(called, known) if hasattr(called, "py_func") else 0)
        known[function] = size
    return known[function]
