"""Functions of the user's that a function calls: they are compiled with it, whether they are decorated or not.

Numba calls functions that it has compiled, or knows itself, and no others. So a function that calls plain ones is replaced by a
copy in which their names stand for compiled functions. The user's own functions and modules stay as they are.
"""

from __future__ import annotations

import types
from typing import Any, TypeAlias

from .frozen import FIXED_MODULES, names_in

Made: TypeAlias = dict[types.FunctionType, Any]  # the compiled function in place of each plain one


def with_compiled_helpers(function: Any) -> Any:
    """The function; or a copy of it that calls compiled functions, if there are plain ones among those that it calls."""
    if not isinstance(function, types.FunctionType):
        return function
    made: Made = {}
    copy = _bare_copy(function)
    _fill(copy, function, made)
    return copy if made else function


def _bare_copy(function: types.FunctionType) -> types.FunctionType:
    """A copy with globals and a closure of its own, which are to be filled."""
    closure = tuple(types.CellType() for _ in function.__closure__ or ()) or None
    copy = types.FunctionType(function.__code__, {}, function.__name__, function.__defaults__, closure)
    copy.__kwdefaults__, copy.__qualname__ = function.__kwdefaults__, function.__qualname__
    copy.__module__ = function.__module__
    return copy


def _fill(copy: types.FunctionType, function: types.FunctionType, made: Made) -> None:
    names, space = names_in(function.__code__), function.__globals__
    copy.__globals__.update(space)
    copy.__globals__.update({name: _compiled(space[name], names, made) for name in names if name in space})
    for mine, theirs in zip(copy.__closure__ or (), function.__closure__ or (), strict=True):
        try:
            mine.cell_contents = _compiled(theirs.cell_contents, names, made)
        except ValueError:  # (an empty one)
            continue


def _compiled(value: Any, names: list[str], made: Made) -> Any:
    """What a value is replaced by: a plain function by a compiled one, a module that has functions of these names by one in which
    they are compiled; all others by themselves."""
    if isinstance(value, types.FunctionType):
        return _compiled_function(value, made)
    if isinstance(value, types.ModuleType) and _root(value.__name__) not in FIXED_MODULES:
        inside = vars(value)
        others = {name: _compiled_function(inside[name], made) for name in names if name in inside}
        if any(other is not inside[name] for name, other in others.items()):
            module = types.ModuleType(value.__name__)
            vars(module).update({**inside, **others})
            return module
    return value


def _compiled_function(value: Any, made: Made) -> Any:
    from ..core.compiler.wrapping import is_known, user_jit

    if not isinstance(value, types.FunctionType) or _root(value.__module__) in FIXED_MODULES:
        return value
    if value not in made:
        if is_known(value):
            return value
        copy = _bare_copy(value)
        made[value] = user_jit(
            copy, inline=False
        )  # (compiled when it is called: functions may call themselves, or each other)
        _fill(copy, value, made)
    return made[value]


def _root(module: str | None) -> str:
    return (module or "").partition(".")[0]
