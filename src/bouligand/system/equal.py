"""When two functions are the same to a compiler: the same code, and equal values of all that they read from outside.

A function that a factory makes again, or a lambda in a loop, is a new object each time. Machine code is never freed (Numba's LLVM
engine keeps it), so that such functions must share it.
"""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from ..core.copies import is_known_module
from .frozen import NUMBERS, outside
from .schedule import Schedule


class Same:
    """Stands for an object in a key: equal to itself only."""

    def __init__(self, it: object) -> None:
        self.it = it

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.it is self.it

    def __hash__(self) -> int:
        return id(self.it)


def key_of(function: Any) -> object:
    """Equal for functions that compile to the same machine code; for what cannot be looked into, equal for itself only."""
    return _key(function, [])


def _key(value: Any, inside: list[types.FunctionType]) -> object:
    """The key of a value. ``inside``: the functions that are being looked at, for those that call themselves."""
    if isinstance(value, types.FunctionType) and not is_known_module(value.__module__):
        if any(value is other for other in inside):
            return "itself", [value is other for other in inside].index(True)
        return _key_of_function(value, [*inside, value])
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        # (Numba's type of an array has its layout and whether it can be written to)
        return "array", value.shape, value.strides, value.dtype.str, value.flags.writeable, value.tobytes()
    if isinstance(value, Schedule):
        return "schedule", value.content
    if isinstance(value, tuple):
        return type(value), tuple(_key(item, inside) for item in value)
    if value is None or isinstance(value, NUMBERS):
        return type(value), repr(value)
    return Same(value)


def _key_of_function(function: types.FunctionType, inside: list[types.FunctionType]) -> object:
    named = function.__kwdefaults__ or {}
    return (
        function.__code__,  # (Python compares code with its constants and their types, names and line)
        _key(function.__defaults__, inside),
        tuple((name, _key(named[name], inside)) for name in sorted(named)),
        tuple((name, _key(value, inside)) for name, _, _, value in outside(function)),
        tuple((name, Same(value)) for name, value in _modules(function)),
    )


def _modules(function: types.FunctionType) -> list[tuple[str, types.ModuleType]]:
    """What the names of modules stand for: `outside` only has the values in them."""
    space = function.__globals__
    found = [(name, space[name]) for name in function.__code__.co_names if name in space]
    return [(name, value) for name, value in found if isinstance(value, types.ModuleType)]
