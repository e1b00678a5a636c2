"""Generated modules on disk, and the System that is made of one. Does not import SymPy.

A module's file is named after the hash of what it was derived from (the expressions, this package's own source and SymPy's
version), so that a later process finds it before any symbolic work; and it ends with the hash of its own text, so that a
damaged file is written anew. A file that somebody else may have written is refused (`core.compiler.places`).
"""

from __future__ import annotations

import hashlib
import sys
import types
from typing import TYPE_CHECKING, Any

from ...core.compiler.compiling import compiling
from ...core.compiler.places import Kept
from ...core.compiler.sources import NO_SOURCES
from ...system.functions import SHAPES, UserFunction
from ...system.system import System
from .compiling import compiled
from .stamp import STAMP

if TYPE_CHECKING:
    from ..._typing import Compile

_ENDING = "# sha256: "
MODULES = Kept("sympy", "bouligand_sympy_*.py*")


def find(key: str) -> str | None:
    """The source kept under that key, or None."""
    content = MODULES.read(_file(key)) if STAMP != NO_SOURCES else None
    if content is None:
        return None
    try:
        source = content.decode("utf-8")
    except UnicodeDecodeError:
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
    name = _name(key)
    with compiling():
        if name not in sys.modules:
            if STAMP != NO_SOURCES and find(key) != source:
                MODULES.write(_file(key), source.encode("utf-8"))
            module = _run(name, source)
            functions = {function: getattr(module, function) for function in SHAPES if hasattr(module, function)}
            machine_code = {function: compiled(f, source) for function, f in functions.items()}
            vars(module).update(PLAIN=functions, COMPILED=machine_code)
            sys.modules[name] = module
    kept: dict[str, Any] = vars(sys.modules[name])["PLAIN" if plain else "COMPILED"]
    return kept


def _name(key: str) -> str:
    return f"bouligand_sympy_{key}"


def _file(key: str) -> str:
    return f"{_name(key)}.py"


def _run(name: str, source: str) -> types.ModuleType:
    """A module with this source: the one at hand, not what is in its file by now. (Tracebacks and debuggers read the file.)"""
    module = types.ModuleType(name)
    path = f"<{name}>" if MODULES.path is None else str(MODULES.path / f"{name}.py")
    exec(compile(source, path, "exec"), vars(module))
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
        self.__doc__ = sys.modules[_name(key)].__doc__

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        del state["_functions"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._functions = {
            name: UserFunction(name, f) for name, f in load(self.key, self.source, self._compile is False).items()
        }
