"""Are two functions the same? Their fingerprints are equal if they do the same, in this process and in others.

A fingerprint is made of what runs: the code with its constants and defaults, and the content of everything that it reads from
outside, followed through modules, classes, partial functions, decorators and functions of Numba. (Not of the source text: two
lambdas in one line have the same, and what a function calls is not in it.) What belongs to Python itself, NumPy, SciPy or Numba
counts by its name. What cannot be looked into, such as an address of C code, is listed in ``unknown``; a fingerprint with such
objects means something in this process only.

Everything that asks whether functions are the same asks this: machine code, in memory and on disk, stores of ensembles, saved
solutions, and the warning about values that have changed since a function was compiled.
"""

from __future__ import annotations

import functools
import hashlib
import sys
import types
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from .libraries import extension_digest, name_in_library
from .outside import NOT_THERE, Read, all_names, read_by, read_in, reads_unnamed
from .schedule import Schedule

MOST = 50_000  # objects that are looked into: a function that needs more has taken hold of a whole library

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), type(NotImplemented))
_OF_CODE = (
    "co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_flags", "co_code", "co_names", "co_varnames", "co_freevars",
    "co_cellvars", "co_exceptiontable",
)  # fmt: skip
_CYTHON = ("cython_function_or_method", "fused_cython_function")
_OF_LINES = ("co_name", "co_firstlineno", "co_linetable")
_NOT_RUN = {  # attributes of a class that describe it
    "__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__firstlineno__", "__static_attributes__",
    "__annotations__", "__annotate__", "__annotate_func__", "__annotations_cache__", "__dataclass_fields__",
    "__dataclass_params__", "__orig_bases__", "__parameters__", "_abc_impl",
}  # fmt: skip


_ANOTHER = "somebody has given Numba another implementation of it"


class Unknown(NamedTuple):
    """An object that cannot be looked into."""

    where: str  # the names on the way to it, the last one first
    it: Any
    why: str

    def __str__(self) -> str:
        return f"{self.where} ({self.why})"


class Same:
    """Stands for an object in a key: equal to itself only."""

    def __init__(self, it: object) -> None:
        self.it = it

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.it is self.it

    def __hash__(self) -> int:
        return id(self.it)


class Fingerprint(NamedTuple):
    """What is known of a function, or of another value, by its content."""

    digest: str  # equal for equal content
    lines: str  # equal for equal names, modules and line numbers, which are in machine code too
    unknown: tuple[Unknown, ...]
    reads: tuple[Read, ...]  # what is read from outside and may change while the program runs
    numba: tuple[Any, ...]  # the functions of Numba among all that was looked into

    @property
    def content(self) -> tuple[object, ...]:
        """Equal within this process for what does the same."""
        return self.digest, *(Same(one.it) for one in self.unknown)

    @property
    def key(self) -> tuple[object, ...]:
        """Equal within this process for functions that compile to the same machine code."""
        return self.lines, *self.content


def fingerprint(value: Any, name: str = "") -> Fingerprint:
    """The fingerprint of a function, or of any other value. ``name``: what it is called, for ``unknown``."""
    return Looking().at(value, name)


class Looking:
    """Looks at a value and all that belongs to it, once."""

    def __init__(self) -> None:
        self._content, self._lines = hashlib.blake2b(digest_size=16), hashlib.blake2b(digest_size=16)
        self._names: list[str] = []  # on the way to what is being looked at
        self._seen: dict[int, int] = {}
        self._alive: list[Any] = []  # (so that no other object gets the same id)
        self._modules: set[tuple[int, tuple[str, ...]]] = set()
        self.unknown: list[Unknown] = []
        self.reads: list[Read] = []
        self.numba: list[Any] = []
        self._taught, self._taught_names = _taught()

    def at(self, value: Any, name: str) -> Fingerprint:
        """The fingerprint of a value."""
        self.say(sys.version_info[:2])
        self.value(value, name)
        found = tuple(self.unknown), tuple(self.reads), tuple(self.numba)
        return Fingerprint(self._content.hexdigest(), self._lines.hexdigest(), *found)

    def say(self, *words: object) -> None:
        """Add to the fingerprint; what is said in other words is another one."""
        for word in words:
            data = word if isinstance(word, bytes) else repr(word).encode("utf-8", "backslashreplace")
            self._content.update(b"%d:%s;" % (len(data), data))

    def refuse(self, value: Any, why: str, where: str = "") -> None:
        """There is something that cannot be looked into."""
        where = (
            where or " of ".join(dict.fromkeys(name for name in reversed(self._names) if name)) or type(value).__name__
        )
        self.say("unknown", len(self.unknown))
        self.unknown.append(Unknown(where, value, why))
        self._alive.append(value)

    def value(self, value: Any, name: str = "") -> None:
        """Add a value, whatever it is."""
        self._names.append(name)
        self._value(value)
        self._names.pop()

    def values(self, values: Iterable[Any]) -> None:
        """Add several."""
        listed = list(values)
        self.say(len(listed))
        for one in listed:
            self.value(one)

    def _value(self, value: Any) -> None:
        kind = type(value)
        if kind in _PLAIN or value is NOT_THERE:
            self.say(kind.__name__, value if value is not NOT_THERE else "not there")
        elif isinstance(value, np.generic):
            self.say(
                "number", kind.__name__, value.dtype.descr if kind is np.void else value.dtype.str, value.tobytes()
            )
        elif kind is np.ndarray:
            self._array(value)
        elif kind is tuple:
            self.say("tuple")
            self.values(value)
        elif kind is frozenset:
            self._set(value)
        elif isinstance(value, types.CodeType):
            self._code(value)
        elif kind is Schedule:
            self.say("schedule", *value.content)
        elif (name := name_in_library(value)) is not None:
            self.say("library", name)
            if id(value) in self._taught:
                self.refuse(value, _ANOTHER)
        elif id(value) in self._seen:
            self.say("again", self._seen[id(value)])
        elif len(self._seen) >= MOST:
            self.refuse(value, f"more than {MOST} objects belong to it")
        else:
            self._seen[id(value)] = len(self._seen)
            self._alive.append(value)
            self._compound(value)

    def _compound(self, value: Any) -> None:
        """Add what consists of other values, and was not met before."""
        kind = type(value)
        if kind is list:
            self.say("list")
            self.values(value)
        elif kind is dict:
            self._dict(value)
        elif kind is set:
            self._set(value)
        elif isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, types.ModuleType):
            self.say("module", value.__name__)  # (what is read from it is added by `_read`)
        elif isinstance(value, type):
            self._class(value)
        elif _is_numba(value, "core.dispatcher", "Dispatcher"):
            self._numba(value)
        elif _is_numba(value, "np.ufunc.ufunc_base", "UfuncBase") or _is_numba(value, "core.ccallback", "CFunc"):
            self._compiled_already(value)
        elif _is_numba(value, "core.extending", "_Intrinsic"):
            self.say("intrinsic")
            self.values((value._defn, value._prefer_literal, value._ctor_kwargs))
        else:
            self._parts(value)

    def _parts(self, value: Any) -> None:
        """Add what wraps other functions; all else is an object."""
        if isinstance(value, types.MethodType):
            self.say("method")
            self.values((value.__func__, value.__self__))
        elif isinstance(value, functools.partial):
            self.say("partial")
            self.values((type(value), value.func, value.args, value.keywords, vars(value)))
        elif isinstance(value, staticmethod | classmethod):
            self.say(type(value).__name__)
            self.value(value.__func__)
        elif isinstance(value, property):
            self.say("property")
            self.values((value.fget, value.fset, value.fdel))
        elif isinstance(value, functools.cached_property):
            self.say("cached property", value.attrname)
            self.value(value.func)
        elif isinstance(value, functools._lru_cache_wrapper):
            self.say("cached function", value.cache_parameters())
            self.value(value.__wrapped__)
        elif isinstance(value, types.BuiltinFunctionType | types.MethodWrapperType) or type(value).__name__ in _CYTHON:
            self._function_of_c(value)
        elif hasattr(type(value), "__get__") and hasattr(value, "__objclass__"):
            self._of_c_class(value)
        else:
            self._object(value)

    # -- data

    def _array(self, array: Any) -> None:
        flags = array.flags  # (Numba's type of an array has its layout and whether it can be written to)
        self.say("array", array.shape, array.dtype.descr, flags.c_contiguous, flags.f_contiguous, flags.writeable)
        if array.dtype.hasobject:
            self.values(array.ravel().tolist())
        else:
            self.say(np.ascontiguousarray(array).tobytes())

    def _dict(self, value: dict[Any, Any]) -> None:
        self.say("dict", len(value))
        for key, item in value.items():
            self.value(key)
            self.value(item, key if isinstance(key, str) else "")

    def _set(self, value: Any) -> None:
        """Add a set, whose items have another order in each process."""
        self.say(type(value).__name__)
        each = [(fingerprint(item), item) for item in value]
        self.say(sorted(found.digest for found, _ in each))
        for found, item in each:
            for one in found.unknown:
                self.refuse(item, one.why)

    # -- functions

    def _code(self, code: types.CodeType) -> None:
        self.say("code", *(getattr(code, name) for name in _OF_CODE))
        self.values(code.co_consts)
        self._note([getattr(code, name) for name in _OF_LINES])

    def _note(self, names: object) -> None:
        """Add to what does not change what a function does, and is in its machine code."""
        self._lines.update(repr(names).encode("utf-8", "backslashreplace"))

    def _function(self, function: types.FunctionType) -> None:
        self.say("function")
        self._note(function.__globals__.get("__name__"))
        self.value(function.__code__)
        self.value(function.__defaults__)
        self.value(tuple(sorted((function.__kwdefaults__ or {}).items())))
        if id(function) in self._taught:
            self.refuse(function, _ANOTHER)
        if by := reads_unnamed(function):
            self.refuse(function, f"it uses {by}, by which it may read anything")
        names = all_names(function)
        for name in self._taught_names.intersection(names):
            self.refuse(function, f"somebody has taught Numba what {name} is")
        for read in read_by(function):
            self._read(read, names)
        for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
            self._inside(default, names)

    def _read(self, read: Read, names: tuple[str, ...]) -> None:
        """Add what is read from outside, and what is found in it under the names in the code."""
        self.say("read", read.name.rpartition(".")[2])
        if not read.constant:
            self.reads.append(read)
        self.value(read.was, read.name)
        self._inside(read.was, names)

    def _inside(self, value: Any, names: tuple[str, ...]) -> None:
        if isinstance(value, types.ModuleType):
            if (id(value), names) not in self._modules:
                self._modules.add((id(value), names))
                for read in read_in(value, names):
                    self._read(read, names)
        elif isinstance(value, types.FunctionType) and (own := vars(value)):
            for name in names:
                if name in own:
                    self._read(Read(f"{value.__name__}.{name}", own, name, own[name], False), names)

    def _numba(self, dispatcher: Any) -> None:
        """Add a function of Numba: that of Python, and how it is compiled."""
        self.say("numba", type(dispatcher).__name__)
        self.numba.append(dispatcher)
        self._dict({name: dispatcher.targetoptions[name] for name in sorted(dispatcher.targetoptions)})
        self.say(sorted((name, str(kind)) for name, kind in dispatcher.locals.items()))
        self.say([] if dispatcher._can_compile else [str(signature) for signature in dispatcher.overloads])
        self.value(dispatcher.py_func)

    def _compiled_already(self, value: Any) -> None:
        """Add what Numba has made of a function at once (a ufunc, a C function): with the values that it read then."""
        inner = getattr(value, "_dispatcher", None)
        builder = getattr(value, "gufunc_builder", None)
        function = getattr(inner or builder, "py_func", None) or getattr(value, "_pyfunc", None)
        self.say(
            "compiled", type(value).__name__, str(getattr(value, "signature", None) or getattr(value, "_sig", None))
        )
        before = len(self.reads)
        if function is None:
            self.refuse(value, "its Python function is not known")
        else:
            self.value(function)
        if len(self.reads) > before:
            self.refuse(value, "it was compiled with values that may have changed since")

    # -- classes and objects

    def _class(self, kind: type) -> None:
        if kind.__module__.partition(".")[0] == __package__.partition(".")[0]:
            self.say("class of bouligand", kind.__module__, kind.__qualname__)  # (its version is asked for elsewhere)
            return
        if (digest := extension_digest(kind)) is not None:
            self.say("class of an extension", kind.__qualname__, digest)
            return
        self.say("class", kind.__name__)
        self._note((kind.__module__, kind.__qualname__))
        self.values((type(kind), *kind.__bases__))
        self._dict({name: part for name, part in vars(kind).items() if name not in _NOT_RUN})

    def _object(self, value: Any) -> None:
        """Add an object: its class, and what it consists of, as it would be pickled and as it lies there."""
        self.value(type(value))
        try:
            reduced = self.contents(value)
        except Exception as error:  # whatever an object raises that does not know how
            self.refuse(value, f"an object of {type(value).__qualname__}, which cannot be looked into: {error}")
            return
        self.values(reduced)

    def contents(self, value: Any) -> tuple[Any, ...]:
        """What an object consists of. Raises an error if that is not known."""
        reduced = value.__reduce_ex__(4)
        if isinstance(reduced, str):
            raise TypeError(f"it is known by its name {reduced!r} only")
        made, arguments, state, items, pairs = (*reduced, None, None, None)[:5]
        lying = [vars(value)] if hasattr(value, "__dict__") else []
        for kind in type(value).__mro__:
            slots = vars(kind).get("__slots__", ())
            names = (slots,) if isinstance(slots, str) else tuple(slots)
            lying.append([getattr(value, _own_name(kind, name), NOT_THERE) for name in names])
        return made, arguments, state, [] if items is None else list(items), [] if pairs is None else list(pairs), lying

    def _function_of_c(self, value: Any) -> None:
        """Add a function of C code, by its name in a compiled module that is in a file; or an object's method, by the object."""
        home = getattr(value, "__self__", None)
        if (digest := extension_digest(value)) is not None:
            self.say("function of an extension", value.__qualname__, digest)
        elif home is None or isinstance(home, types.ModuleType):
            self.refuse(value, "it is a function of C code")
        else:
            self.say("method", value.__name__)
            self.value(home)

    def _of_c_class(self, value: Any) -> None:
        """Add a method or an attribute that C code defines for a class."""
        self.say("of a class", type(value).__name__, value.__name__)
        self.value(value.__objclass__)


def _own_name(kind: type, name: str) -> str:
    """An attribute's name in a class: those with two underscores in front are private to it."""
    private = name.startswith("__") and not name.endswith("__")
    return f"_{kind.__name__.lstrip('_')}{name}" if private else name


def _is_numba(value: Any, module: str, name: str) -> bool:
    """Whether a value is of one of Numba's classes. (Without Numba being imported, there are none.)"""
    found = getattr(sys.modules.get(f"numba.{module}"), name, None)
    return found is not None and isinstance(value, found)


def _taught() -> tuple[frozenset[int], frozenset[str]]:
    """The ids of functions, and the names of methods, that somebody has taught Numba: none while Numba is not imported."""
    if "numba.core.typing.templates" not in sys.modules:
        return frozenset(), frozenset()
    from ..core.compiler.overloads import taught

    functions, names = taught()
    return functions, names
