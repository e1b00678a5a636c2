"""What a compiled function has taken in for good: the global variables and closures that it reads.

Numba puts their values into the machine code. A later change has no effect there, so it is noticed: a new system gets new
machine code, and an old one warns.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ..core.copies import is_known_module, names_in
from .schedule import Schedule

NUMBERS = (bool, int, float, complex, str, bytes, np.generic)
MOST_BYTES = 1000  # of an array whose contents are compared at every integration


class Value(NamedTuple):
    """One value that a function reads: what it is called, where it is found, and what it was."""

    name: str
    place: Any  # a namespace (dict), or the cell of a closure
    key: str
    was: object
    content: object  # of an array: what was in it

    def now(self) -> object:
        """What is found there now."""
        if isinstance(self.place, types.CellType):
            return _cell(self.place)
        return self.place.get(self.key)

    def has_changed(self) -> bool:
        now = self.now()
        if isinstance(now, np.ndarray):
            return now is not self.was if now.nbytes > MOST_BYTES else _content(now) != self.content
        return now is not self.was and _content(now) != self.content

    def differs(self) -> bool:
        """The same, with a look also into large arrays."""
        return _content(self.now()) != self.content


def values_of(function: Any) -> list[Value]:
    """Numbers, texts, tuples and arrays that a function (and the functions it calls) reads from outside."""
    return [value for part in reached(function) for value in _own_values(part)]


def schedules_of(function: Any) -> list[Schedule]:
    """The schedules that a function (and the functions it calls) reads from outside."""
    found = [value for part in reached(function) for _, _, _, value in outside(part) if isinstance(value, Schedule)]
    return found + ([function] if isinstance(function, Schedule) else [])


def fingerprint(function: Any) -> tuple[object, ...]:
    """Equal for equal values."""
    return tuple((value.name, value.content) for value in values_of(function))


def _python(function: Any) -> types.FunctionType | None:
    function = getattr(function, "py_func", function)
    return function if isinstance(function, types.FunctionType) else None


def reached(function: Any) -> list[Any]:
    """The function, and all that it calls by name."""
    found: list[Any] = []
    todo = [function]
    while todo:
        one = todo.pop()
        if _python(one) is None or any(one is other for other in found):
            continue
        found.append(one)
        todo += [value for _, _, _, value in outside(one) if _python(value) is not None]
    return found


def _own_values(function: Any) -> Iterator[Value]:
    for name, place, key, value in outside(function):
        items = value if isinstance(value, tuple) else (value,)
        if isinstance(value, np.ndarray | Schedule) or all(isinstance(item, NUMBERS) for item in items):
            yield Value(name, place, key, value, _content(value))


def outside(function: Any) -> Iterator[tuple[str, Any, str, Any]]:
    """Name, place, key and value of all that a function reads from outside itself."""
    python = _python(function)
    if python is None:
        return
    names = names_in(python.__code__)
    space = python.__globals__
    for name in names:
        if name not in space:
            continue
        value = space[name]
        if not isinstance(value, types.ModuleType):
            yield name, space, name, value
        elif not is_known_module(value.__name__):
            inside = vars(value)
            yield from ((f"{name}.{key}", inside, key, inside[key]) for key in names if key in inside)
    for name, cell in zip(python.__code__.co_freevars, python.__closure__ or (), strict=True):
        yield name, cell, name, _cell(cell)


def _cell(cell: types.CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # not set yet
        return None


def _content(value: object) -> object:
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes()
    if isinstance(value, Schedule):
        return value.content
    return type(value), repr(value)


# ------------------------------------------------------------------------------------------------- Numba's own functions

_compiled_with: WeakKeyDictionary[Any, tuple[tuple[object, ...], list[object]]] = WeakKeyDictionary()


def note_compiled(function: Any) -> None:
    """Remember with which values the Numba functions that it calls (and itself) were compiled."""
    for part in reached(function):
        if hasattr(part, "overloads"):
            mine = tuple((value.name, value.content) for value in _own_values(part))
            _compiled_with.setdefault(part, (mine, list(part.overloads.values())))


def outdated(function: Any) -> list[Any]:
    """Those of the Numba functions that it calls (or itself) whose machine code has values that are no longer true."""
    found = []
    for part in reached(function):
        if part not in _compiled_with if hasattr(part, "overloads") else True:
            continue
        then, code = _compiled_with[part]
        now = tuple((value.name, value.content) for value in _own_values(part))
        if now == then:
            continue
        if any(one is other for one in code for other in part.overloads.values()):
            found.append(part)
        else:  # it was compiled again
            del _compiled_with[part]
    return found
