"""Functions of the user's that a function calls: they are compiled with it, whether they are decorated or not.

Numba calls functions that it has compiled, or knows itself, and no others. So a function that calls plain ones is replaced by a
copy in which their names stand for compiled functions. The user's own functions and modules stay as they are.
"""

from __future__ import annotations

import types
from typing import Any, TypeAlias

from ..core.copies import bare_copy, fill, is_known_module, module_copy, names_in

Made: TypeAlias = dict[types.FunctionType, Any]  # the compiled function in place of each plain one


def with_compiled_helpers(function: Any) -> Any:
    """The function; or a copy of it that calls compiled functions, if there are plain ones among those that it calls."""
    if not isinstance(function, types.FunctionType):
        return function
    made: Made = {}
    copy = bare_copy(function)
    _fill(copy, function, made)
    return copy if made else function


def _fill(copy: types.FunctionType, function: types.FunctionType, made: Made) -> None:
    names = names_in(function.__code__)

    def compiled(value: Any) -> Any:
        if isinstance(value, types.ModuleType) and not is_known_module(value.__name__):
            return module_copy(value, names, lambda inside: _compiled_function(inside, made))
        return _compiled_function(value, made)

    fill(copy, function, compiled)


def _compiled_function(value: Any, made: Made) -> Any:
    """What stands in for a value: for a plain function a compiled one, for all others themselves."""
    from ..core.compiler.wrapping import is_known, user_jit

    if not isinstance(value, types.FunctionType) or is_known_module(value.__module__):
        return value
    if value not in made:
        if is_known(value):
            return value
        copy = bare_copy(value)
        # (compiled when it is called: functions may call themselves, or each other)
        made[value] = user_jit(copy, inline=False)
        _fill(copy, value, made)
    return made[value]
