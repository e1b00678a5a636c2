"""What a function reads from outside itself: global variables, closures, and what modules have under the names in its code."""

from __future__ import annotations

import builtins
import dis
import importlib
import sys
import types
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from ..core.copies import names_in
from .libraries import is_library, is_library_module

NOT_THERE = object()  # in place of the value of a variable that is not set

# By these a function reads values whose names are not in its code.
UNNAMED = {
    "eval", "exec", "compile", "globals", "locals", "vars", "getattr", "setattr", "delattr", "open", "input",
    "__import__", "__dict__", "__globals__", "__getattribute__", "__builtins__", "__closure__", "__code__",
}  # fmt: skip


class Read(NamedTuple):
    """One value that is read: under which name, where it is found, and what it was."""

    name: str
    place: Any  # a namespace (dict), or the cell of a closure
    key: str
    was: Any
    constant: (
        bool  # a library's own function under its name there: taken for one that does not change while the program runs
    )

    def now(self) -> Any:
        """What is found there now."""
        if isinstance(self.place, types.CellType):
            return _in_cell(self.place)
        return self.place.get(self.key, NOT_THERE)


def python_of(function: Any) -> types.FunctionType | None:
    """The Python function itself, or that of a function of Numba; None for what is neither."""
    function = getattr(function, "py_func", function)
    return function if isinstance(function, types.FunctionType) else None


def read_by(function: types.FunctionType) -> Iterator[Read]:
    """The global variables and the variables of enclosing functions that a function reads itself, and what it imports."""
    space, code = function.__globals__, function.__code__
    names = _names(code)
    for name in names.variables:
        if name not in space and hasattr(builtins, name):
            yield Read(name, vars(builtins), name, getattr(builtins, name), True)
        yield Read(
            name, space, name, space.get(name, NOT_THERE), False
        )  # (a built-in name may be given another value here)
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        yield Read(name, cell, name, _in_cell(cell), False)
    for name in names.imported:
        for full in _imported(name, space.get("__package__")):
            value = sys.modules.get(full, NOT_THERE)
            yield Read(full, sys.modules, full, value, is_library(value))


def read_in(module: types.ModuleType, names: tuple[str, ...]) -> Iterator[Read]:
    """What is found under these names in a module."""
    space, library = vars(module), is_library_module(module)
    for name in names:
        value = space.get(name, NOT_THERE)
        if value is NOT_THERE and "__getattr__" in space:  # (a module can make values when they are asked for)
            value = _asked_for(module, name)
        if value is not NOT_THERE:
            yield Read(f"{module.__name__}.{name}", space, name, value, library and is_library(value))


def all_names(function: types.FunctionType) -> tuple[str, ...]:
    """The names of all variables and attributes in a function's code, and in that of the functions that are defined in it."""
    return _names(function.__code__).all


def reads_unnamed(function: types.FunctionType) -> str:
    """By what a function may read values whose names are not in its code; empty if by nothing."""
    return next((name for name in all_names(function) if name in UNNAMED), "")


def reached(function: Any) -> list[Any]:
    """The function, and all functions of Python and of Numba that it calls by name."""
    found: list[Any] = []
    todo = [function]
    while todo:
        one = todo.pop()
        if python_of(one) is not None and not is_library(one) and all(one is not other for other in found):
            found.append(one)
            todo += list(values_read(one))
    return found


def values_read(function: Any) -> Iterator[Any]:
    """All that a function reads by name itself, also in modules."""
    python = python_of(function)
    if python is None:
        return
    names = all_names(python)
    modules: list[types.ModuleType] = []
    todo = [read.was for read in read_by(python)]
    while todo:
        value = todo.pop()
        yield value
        if isinstance(value, types.ModuleType) and not any(value is other for other in modules):
            modules.append(value)
            todo += [read.was for read in read_in(value, names)]


class _Names(NamedTuple):
    """The names in a code."""

    variables: tuple[str, ...]  # of global variables
    imported: tuple[str, ...]  # of modules, with a dot in front for each level of a relative import
    all: tuple[str, ...]


@lru_cache(maxsize=2048)
def _names(code: types.CodeType) -> _Names:
    variables, imported = [], []
    before: list[Any] = [0, 0]
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"):
            variables.append(instruction.argval)
        elif instruction.opname == "IMPORT_NAME":  # (before it came the level, and the names or None)
            level, names = (before[0] if isinstance(before[0], int) else 0), before[1]
            module = "." * level + instruction.argval
            imported += (
                [module, *(f"{module}{'' if module.endswith('.') else '.'}{name}" for name in names)]
                if names
                else [module]
            )
        before = [before[-1], instruction.argval]
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            inside = _names(constant)
            variables += inside.variables
            imported += inside.imported
    return _Names(tuple(dict.fromkeys(variables)), tuple(dict.fromkeys(imported)), tuple(names_in(code)))


def _in_cell(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return NOT_THERE


def _asked_for(module: types.ModuleType, name: str) -> Any:
    try:
        return getattr(module, name)
    except Exception:  # whatever a module's own code raises
        return NOT_THERE


def _imported(name: str, package: str | None) -> tuple[str, ...]:
    """What a function imports when it is called, and the package that this is in: by `import a.b` the function gets a."""
    try:
        from importlib.util import resolve_name  # (most functions import nothing)

        full = resolve_name(name, package or "")
        importlib.import_module(full)
    except Exception:  # it is a value in a module; or the module raises something, and so will the function
        full = name.lstrip(".")
    return tuple(dict.fromkeys((full.partition(".")[0], full)))
