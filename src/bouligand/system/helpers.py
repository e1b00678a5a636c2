"""Functions of the user's that a function calls: they are compiled with it, whether they are decorated or not.

Numba calls functions that it has compiled, or knows itself, and no others. So a function is replaced by a copy in which the names
of plain functions stand for compiled ones. The user's own functions and modules stay as they are.

The copy has the values of this moment: what is compiled of it later, for other types of arguments, reads the same. Functions of
Numba whose machine code may have been made with other values than those that they read now are copied, too.
"""

from __future__ import annotations

import types
from typing import Any, TypeAlias

import numpy as np

from ..core.copies import bare_copy, fill, is_known_module, module_copy, names_in
from .frozen import is_stale
from .libraries import is_library

Made: TypeAlias = dict[Any, Any]  # what stands in for each plain function, function of Numba, and module


def with_compiled_helpers(function: Any) -> Any:
    """A copy of a function, with the values that it reads now, which calls compiled functions. (A function of Numba is its own
    copy, unless its machine code may be out of date.)"""
    made: Made = {}
    if isinstance(function, types.FunctionType):
        copy = bare_copy(function)
        _fill(copy, function, made)
        return copy
    return _stand_in(function, made)


def _fill(copy: types.FunctionType, function: types.FunctionType, made: Made) -> None:
    names = tuple(names_in(function.__code__))

    def stand_in(value: Any) -> Any:
        if isinstance(value, types.ModuleType) and not is_library(value):
            if (value, names) not in made:
                made[value, names] = types.ModuleType(value.__name__)  # (first: modules may contain each other)
                made[value, names].__dict__.update(vars(module_copy(value, names, stand_in)))
            return made[value, names]
        return _stand_in(value, made)

    fill(copy, function, stand_in)


def _stand_in(value: Any, made: Made) -> Any:
    """What stands in for a value: for a plain function a compiled one, for an array a copy, for most others themselves."""
    if type(value) is np.ndarray:
        copy = value.copy(order="K")
        copy.setflags(write=value.flags.writeable)
        return copy
    if isinstance(value, types.FunctionType):
        return _compiled_function(value, made)
    if _is_dispatcher(value) and (value in made or is_stale(value)):
        return _compiled_anew(value, made)
    return value


def _compiled_function(function: types.FunctionType, made: Made) -> Any:
    from ..core.compiler.wrapping import is_known, user_jit

    if is_known_module(function.__module__) and is_library(function):
        return function
    if function not in made:
        if is_known(function):
            return function
        copy = bare_copy(function)
        # (compiled when it is called: functions may call themselves, or each other)
        made[function] = user_jit(copy, inline=False)
        _fill(copy, function, made)
    return made[function]


def _compiled_anew(dispatcher: Any, made: Made) -> Any:
    """A function of Numba of which nothing is compiled yet, with the same options."""
    if dispatcher not in made:
        copy = bare_copy(dispatcher.py_func)
        options = dict(dispatcher.targetoptions)
        made[dispatcher] = type(dispatcher)(copy, locals=dict(dispatcher.locals), targetoptions=options)
        _fill(copy, dispatcher.py_func, made)
        if not dispatcher._can_compile:  # (it was given its signatures)
            for signature in dispatcher.overloads:
                made[dispatcher].compile(signature)
            made[dispatcher].disable_compile()
    return made[dispatcher]


def _is_dispatcher(value: Any) -> bool:
    from numba.core.dispatcher import Dispatcher

    return isinstance(value, Dispatcher)
