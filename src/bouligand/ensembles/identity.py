"""A hash of everything that determines the results of an ensemble: the same in another process, and on another day.

Functions count by their source and by the values that they read from outside; what a bridge has built, by what it would pickle.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import inspect
import sys
import types
from typing import TYPE_CHECKING, Any

import numpy as np

from ..system.frozen import outside
from ..system.functions import UserFunction
from ..system.system import System

if TYPE_CHECKING:
    from .problem import Problem

# attributes of a system that change while it is used, or that only name it
_PASSING = (
    "_probed",
    "_settled",
    "_jacobians_probed",
    "_modes_tried",
    "_trusts_Df",
    "name",
    "_contexts",
    "__doc__",
    "failures",
    "_radii",
)


def identity(problem: Problem) -> dict[str, str]:
    """The hashes of the parts of a problem, by what they are, so that a difference can be named."""
    from ..core.compiler.cache import STAMP  # (imports Numba, which `import bouligand` does not)

    system = problem.system
    parts: dict[str, Any] = {
        "the system": system,
        "t_span": problem.t_span,
        "t_eval": problem.t_eval,
        "keep": sorted(problem.keep),
        "derivative": (problem.derivative, problem.wrt, problem.cost),
        "the options": {name: problem.options[name] for name in sorted(problem.options)},
        "the version of bouligand's core": (_version("bouligand"), STAMP),
        "the version of numba": _version("numba"),
    }
    if "mujoco" in type(system).__module__:
        parts["the version of mujoco"] = _version("mujoco")
    return {name: digest(value) for name, value in parts.items()}


def digest(value: Any) -> str:
    """A hash of a value: numbers, texts, arrays, functions, and what is made of them."""
    hasher = hashlib.sha256()
    _add(hasher, value, [])
    return hasher.hexdigest()[:32]


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def _add(hasher: Any, value: Any, inside: list[Any]) -> None:
    """Add a value to a hash. ``inside``: what is being looked at, for what contains itself."""

    def say(*words: object) -> None:
        for word in words:
            data = word if isinstance(word, bytes) else str(word).encode()
            hasher.update(f"{len(data)}:".encode() + data)

    if any(value is other for other in inside):
        say("itself", [value is other for other in inside].index(True))
        return
    function = getattr(value, "py_func", value)
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic):
        say(type(value).__name__, value if isinstance(value, bytes) else repr(value))
    elif isinstance(value, np.ndarray):
        say("array", value.dtype.str, value.shape, np.ascontiguousarray(value).tobytes())
    elif isinstance(value, tuple | list | dict | set | frozenset):
        items: Any = value.items() if isinstance(value, dict) else value
        items = sorted(items, key=repr) if isinstance(value, set | frozenset) else list(items)
        say(type(value).__name__, len(items))
        for item in items:
            _add(hasher, item, [*inside, value])
    elif isinstance(function, types.FunctionType):
        say("function", _source(function))
        _add(hasher, function.__defaults__, [*inside, value])
        for name, _, _, read in outside(function):
            say(name)
            _add(hasher, read, [*inside, value])
    elif isinstance(value, UserFunction):
        say(value.name)
        _add(hasher, value.given, [*inside, value])
    elif type(value).__name__ == "LowLevelCallable":
        say("low level", value.signature)
    elif isinstance(value, type | types.ModuleType | types.BuiltinFunctionType):
        say("by name", getattr(value, "__module__", ""), getattr(value, "__qualname__", value.__name__))
    else:
        say(type(value).__module__, type(value).__qualname__)
        _add(hasher, _contents(value), [*inside, value])


def _contents(value: Any) -> Any:
    """What an object consists of: as it would be pickled, without what changes while it is used."""
    if isinstance(value, System):
        given = {name: part for name, part in value._functions.items() if name != "f" or not value._composed}
        state: Any = {**value.__getstate__(), "_functions": given}
    else:
        try:
            reduced = value.__reduce_ex__(4)
        except Exception:
            return repr(type(value))
        if isinstance(reduced, str):
            return reduced
        _, arguments, *rest = reduced
        state = rest[0] if rest else None
        if not isinstance(state, dict):
            return arguments, state
    return {name: part for name, part in state.items() if name not in _PASSING}


def _source(function: types.FunctionType) -> str:
    """The text of a function; without a file, its code."""
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        return f"{sys.version_info[:2]} {_code(function.__code__)}"


def _code(code: types.CodeType) -> str:
    constants = [_code(item) if isinstance(item, types.CodeType) else repr(item) for item in code.co_consts]
    return f"{code.co_code.hex()} {constants} {code.co_names} {code.co_varnames}"
