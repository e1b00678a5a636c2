"""A digest of all that the machine code of a function is made from: equal digests in two processes mean equal machine code.

That is the function's own code, the values that it reads from outside, and the same of the functions that it calls. For what
cannot be looked into (objects of classes, functions for which somebody has given Numba another implementation) there is no
digest, and such functions are compiled in every process.
"""

from __future__ import annotations

import hashlib
import pathlib
import types
from functools import lru_cache
from typing import Any

import numpy as np

from ..core.copies import is_known_module
from .equal import Same, key_of
from .frozen import fingerprint, reached

_PLAIN = (str, bytes, int, float, complex, type(None), type(Ellipsis))
# of a function's code: all but the name of its file, and what follows from the others
_OF_CODE = (
    "co_name", "co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_flags", "co_code", "co_consts", "co_names",
    "co_varnames", "co_freevars", "co_cellvars", "co_firstlineno", "co_linetable", "co_exceptiontable",
)  # fmt: skip


class _NoDigestError(Exception):
    """There is something that cannot be looked into."""


def digest_of(function: Any) -> str | None:
    """The digest of a function; None if it has none."""
    from ..core.compiler.kept import is_overloaded, surroundings

    if any(is_overloaded(part) for part in reached(function)):
        return None
    try:
        parts = _feed((key_of(function), fingerprint(function)), [])
    except _NoDigestError:
        return None
    return hashlib.sha256(repr((surroundings(), _own_sources(), parts)).encode()).hexdigest()[:32]


@lru_cache(maxsize=1)
def _own_sources() -> str:
    """A hash of the files of this folder, which prepare functions for compilation."""
    from ..core.compiler.cache import stamp_of

    return str(stamp_of(pathlib.Path(__file__).parent))


def _feed(value: Any, inside: list[Any]) -> object:
    """What stands for a part of a key (see `equal`): text, numbers and tuples of these, which are the same in every process."""
    if isinstance(value, types.CodeType):
        return "code", tuple(_feed(getattr(value, name), inside) for name in _OF_CODE)
    if isinstance(value, tuple | list):
        return type(value).__name__, tuple(_feed(item, inside) for item in value)
    if isinstance(value, frozenset):
        return "set", tuple(sorted(map(repr, (_feed(item, inside) for item in value))))
    if isinstance(value, Same):
        return _feed_object(value.it, inside)
    if isinstance(value, type):
        if is_known_module(value.__module__):
            return "type", value.__module__, value.__qualname__
        raise _NoDigestError(value)
    if isinstance(value, _PLAIN):
        return type(value).__name__, repr(value)
    raise _NoDigestError(value)


def _feed_object(value: Any, inside: list[Any]) -> object:
    """The same of an object that equals itself only: modules, functions that Numba knows, and Numba functions."""
    if isinstance(value, types.ModuleType):
        return "module", value.__name__  # (what is read from it stands for itself, unless Numba knows it)
    if hasattr(value, "py_func") and hasattr(value, "targetoptions"):
        if any(value is other for other in inside):
            return "itself", [value is other for other in inside].index(True)
        options = tuple(sorted((name, repr(option)) for name, option in value.targetoptions.items()))
        return "numba", options, _feed((key_of(value.py_func), fingerprint(value.py_func)), [*inside, value])
    if callable(value):
        name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
        module = getattr(value, "__module__", None) or ("numpy" if isinstance(value, np.ufunc) else None)
        if name and module and module.partition(".")[0] != "scipy" and is_known_module(module):
            return "known", module, name
    raise _NoDigestError(value)
