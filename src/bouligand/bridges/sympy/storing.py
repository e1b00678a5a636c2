"""Generated modules on disk, and the System that is made of one. Does not import SymPy.

A module's file is named after the hash of what it was derived from (the expressions, this package's own source and SymPy's
version), so that a later process finds it before any symbolic work; and it ends with the hash of its own text, so that a
damaged file is written anew. Being a real file, its functions are cached by Numba like those of any other.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import pathlib
import sys
import tempfile
import threading
import types
from typing import TYPE_CHECKING, Any

import numba

from ...system.functions import SHAPES, UserFunction
from ...system.system import System
from .compiling import compiled

if TYPE_CHECKING:
    from ..._typing import Compile

_HERE = pathlib.Path(__file__).parent
_ENDING = "# sha256: "
_lock = threading.Lock()
STAMP = hashlib.sha256(b"".join(f.read_bytes() for f in sorted(_HERE.glob("*.py")))).hexdigest()


def folder() -> pathlib.Path:
    """Where modules are kept: in Numba's own cache folder, if one is set, or in the user's cache."""
    base = getattr(numba.config, "CACHE_DIR", "") or ""
    if base:
        return pathlib.Path(base) / "bouligand-sympy"
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if not os.path.isabs(base):  # (no home)
        base = tempfile.gettempdir()
    return pathlib.Path(base) / "bouligand" / "sympy"


def find(key: str) -> str | None:
    """The source kept under that key, or None."""
    try:
        source = _path(key).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    return source if is_whole(source) else None


def is_whole(source: str) -> bool:
    """Whether a source ends with the hash of its own text."""
    text, _, ending = source.rpartition(_ENDING)
    return ending.strip() == hashlib.sha256(text.encode()).hexdigest()


def sealed(text: str) -> str:
    """The text, with its hash at the end."""
    return f"{text}{_ENDING}{hashlib.sha256(text.encode()).hexdigest()}\n"


def load(key: str, source: str, plain: bool = False) -> dict[str, Any]:
    """The functions of a generated module by name, compiled or ``plain``; the same ones for the same key within a process."""
    name = f"bouligand_sympy_{key}"
    with _lock:
        if name not in sys.modules:
            path = _keep(key, source)
            module = _import(name, path) if path else _without_file(name, source)
            names = [function for function in SHAPES if hasattr(module, function)]
            functions = {function: getattr(module, function) for function in names}
            machine_code = {function: compiled(f, cache=path is not None) for function, f in functions.items()}
            vars(module).update(PLAIN=functions, COMPILED=machine_code)
            sys.modules[name] = module
    kept: dict[str, Any] = vars(sys.modules[name])["PLAIN" if plain else "COMPILED"]
    return kept


def _path(key: str) -> pathlib.Path:
    return folder() / f"bouligand_sympy_{key}.py"


def _keep(key: str, source: str) -> pathlib.Path | None:
    """Write the source if it is not there already, whole or not at all; None if there is no place for it."""
    path = _path(key)
    try:
        if find(key) != source:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(
                "w", dir=path.parent, suffix=".tmp", encoding="utf-8", delete=False
            ) as file:
                file.write(source)
            os.replace(file.name, path)
        with tempfile.TemporaryFile(dir=path.parent):  # Numba must be able to write beside it
            return path
    except OSError:
        return None


def _import(name: str, path: pathlib.Path) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _without_file(name: str, source: str) -> types.ModuleType:
    module = types.ModuleType(name)
    exec(compile(source, f"<{name}>", "exec"), vars(module))  # nothing can be cached without a file
    return module


class SymbolicSystem(System):
    """A System of generated functions. Its pickle contains their source, so that unpickling needs neither the file nor SymPy.

    Attributes
    ----------
    key : str
        Hash of the equations, under which the module is kept.
    source : str
        The generated Python module.
    """

    def __init__(self, key: str, source: str, *, compile: Compile = "auto", **options: Any) -> None:
        self.key, self.source = key, source
        super().__init__(**load(key, source, plain=compile is False), compile=compile, **options)
        self.__doc__ = sys.modules[f"bouligand_sympy_{key}"].__doc__

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        del state["_functions"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._functions = {
            name: UserFunction(name, f) for name, f in load(self.key, self.source, self._compile is False).items()
        }
