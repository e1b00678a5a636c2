"""What is known by its name: modules, functions and classes of Python's own library, of NumPy, SciPy and Numba.

Everything else may be a user's, who edits it: what it does is known by its content only.
"""

from __future__ import annotations

import hashlib
import pathlib
import sys
import types
from functools import lru_cache
from typing import Any

import numpy as np

from ..core.copies import is_known_module

# in which objects are looked for that do not tell their module
_ALSO_IN = ("numpy", "numpy.random", "scipy.special", "random", "builtins")
_LARGEST = 1 << 28  # bytes of an extension module whose file is read


def is_library(value: Any) -> bool:
    """Whether a value is a module, function or class of a library, and can be found there under its name."""
    return name_in_library(value) is not None


def name_in_library(value: Any) -> str | None:
    """The name under which a library has this very module, function or class; None if none has."""
    if isinstance(value, types.ModuleType):
        return value.__name__ if is_library_module(value) else None
    if not (isinstance(value, type | np.ufunc | types.BuiltinFunctionType) or _has_name(value)):
        return None
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if not isinstance(name, str):  # (a user's class may call anything so)
        return None
    home = getattr(value, "__self__", None)
    own = home.__name__ if isinstance(home, types.ModuleType) else getattr(value, "__module__", None)
    for place in (own,) if isinstance(own, str) else _ALSO_IN:
        module = sys.modules.get(place)
        if module is not None and is_library_module(module) and _found(module, name) is value:
            return f"{place}.{name}"
    return None


def _has_name(value: Any) -> bool:
    """Whether an object is a function of some kind: it has a name, as its type says, not the object."""
    if isinstance(value, types.FunctionType):
        return True
    kind = type(value)
    return _is_library_name(kind.__module__) and callable(value) and isinstance(getattr(value, "__name__", None), str)


def _found(module: types.ModuleType, name: str) -> Any:
    first, *inside = name.split(".")
    found = vars(module).get(first)  # (not what the module would make now, perhaps with a warning)
    for part in inside:
        found = getattr(found, part, None)
    return found


def is_library_module(module: types.ModuleType) -> bool:
    """Whether a module is one of a library: not one that only has its name."""
    name = module.__name__
    return sys.modules.get(name) is module and _is_library_file(name, getattr(module, "__file__", None))


def _is_library_name(name: str) -> bool:
    return name.partition(".")[0] in sys.stdlib_module_names or is_known_module(name)


@lru_cache(maxsize=4096)
def _is_library_file(name: str, file: str | None) -> bool:
    if not _is_library_name(name):
        return False
    if file is None or name.partition(".")[0] in ("numpy", "scipy", "numba"):
        return True  # (without a file: built into the interpreter)
    return any(place in pathlib.Path(file).parents for place in _standard_library())


@lru_cache(1)
def _standard_library() -> set[pathlib.Path]:
    """The folders of Python's own modules."""
    import sysconfig

    places = (sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))
    return {pathlib.Path(place) for place in places if place}


def extension_digest(value: Any) -> str | None:
    """A hash of the compiled module that a function or class of C code comes from; None if it is not from a file."""
    module = sys.modules.get(getattr(value, "__module__", None) or "")
    file = getattr(module, "__file__", None)
    if file is None or not file.endswith((".so", ".pyd", ".dylib")):
        return None
    try:
        about = pathlib.Path(file).stat()
        return None if about.st_size > _LARGEST else _digest_of_file(file, about.st_mtime_ns)
    except OSError:
        return None


@lru_cache(maxsize=64)
def _digest_of_file(file: str, changed: int) -> str:
    return hashlib.blake2b(pathlib.Path(file).read_bytes(), digest_size=16).hexdigest()
