"""What others than Numba and this library have taught Numba: functions, and methods and attributes of its types.

These become part of the machine code of whatever uses them, and nothing in the code of a function that does tells what they are.
"""

import abc
import types

from numba.core.typing.templates import builtin_registry

_OURS = "numba", __package__.partition(".")[0]
_MADE = type("_", (abc.ABC,), {}).__module__  # of classes that Numba makes of a function
_found: dict = {}  # what was found last, by the lengths of Numba's lists, which only grow


def taught():
    """The ids of functions, and the names of methods and attributes, that somebody else has taught Numba."""
    lengths = len(builtin_registry.globals), len(builtin_registry.attributes)
    if lengths not in _found:
        functions = frozenset(
            id(function)
            for function, kind in builtin_registry.globals
            if any(map(_is_of_others, getattr(kind, "templates", ())))
        )
        names = frozenset(name for kind in builtin_registry.attributes if _is_of_others(kind) for name in _names(kind))
        _found.clear()
        _found[lengths] = functions, names
    return _found[lengths]


def _is_of_others(template):
    """Whether a rule of Numba's was made with a function (or in a class) of another package."""
    return any((module or "").partition(".")[0] not in _OURS for module in _modules(template))


def _modules(template):
    """The modules of what a rule was made with."""
    overload = getattr(template, "_overload_func", None)
    if overload is None and template.__module__ != _MADE:
        return [template.__module__]
    made_with = [overload, *_in_closure(getattr(template, "generic", None))]
    return [one.__globals__.get("__name__") for one in made_with if isinstance(one, types.FunctionType)]


def _in_closure(function):
    return [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]


def _names(template):
    """The names of the methods and attributes that a rule is about."""
    if isinstance(name := getattr(template, "_attr", None), str):
        return [name]
    return [name.removeprefix("resolve_") for name in dir(template) if name.startswith("resolve_")]
