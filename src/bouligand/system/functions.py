"""User functions, brought to the form in which the core calls them: an address with a C signature.

A function may return its values or write them into its last argument; it may be plain Python (compiled where Numba can), a
Numba dispatcher, or a ``scipy.LowLevelCallable`` with the core's own signature (see ``core.intrinsics``).
"""

from __future__ import annotations

import ctypes
import dis
import inspect
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .._typing import FloatArray
    from .user_memory import Contexts

Shape = str | tuple[str, ...]

# shapes of the arguments after t, the output last: n, m, p are sizes, "k" an index, "ks" several of them
SHAPES: dict[str, tuple[Shape, ...]] = {
    "f": ("n", "m", "p", "n"),
    "h": ("n", "p", "m"),
    "fh": ("n", "m", "p", "n", "m"),
    "Dh": ("n", "p", ("m", "n")),
    "Dh_row": ("n", "k", "p", "n"),
    "Df": ("n", "m", "p", ("n", "n")),
    "Dt_h": ("n", "p", "m"),
    "Dp_f": ("n", "m", "p", ("n", "p")),
    "Dp_h": ("n", "p", ("m", "p")),
    "f0": ("n", "p", "n"),
    "g": ("n", "k", "p", "n"),
    "g_many": ("n", "ks", "p", ("n", "ks")),
    "control": ("n", "p", "m"),  # of a bridge; m is then the number of inputs
}

SIGNATURES = {
    "f": "f(t, x, b, p) or f(t, x, b, p, dx)",
    "h": "h(t, x, p) or h(t, x, p, out)",
    "fh": "fh(t, x, b, p, dx, out)",
    "Dh": "Dh(t, x, p) or Dh(t, x, p, out)",
    "Dh_row": "Dh_row(t, x, k, p) or Dh_row(t, x, k, p, out)",
    "Df": "Df(t, x, b, p) or Df(t, x, b, p, out)",
    "Dt_h": "Dt_h(t, x, p) or Dt_h(t, x, p, out)",
    "Dp_f": "Dp_f(t, x, b, p) or Dp_f(t, x, b, p, out)",
    "Dp_h": "Dp_h(t, x, p) or Dp_h(t, x, p, out)",
    "f0": "f0(t, x, p) or f0(t, x, p, dx)",
    "g": "g(t, x, k, p) or g(t, x, k, p, out)",
    "g_many": "g_many(t, x, ks, p, out)",
    "control": "control(t, x, p) or control(t, x, p, u)",
}


class UserFunction:
    """One function that a user gave, with its name, its form, and (once bound) its address."""

    def __init__(self, name: str, function: Any, contexts: Contexts | None = None) -> None:
        self.name = name
        self.function = function
        self.contexts = contexts  # memory that a low-level function works in, see `user_memory`
        self.shapes = SHAPES[name]
        self.is_low_level = type(function).__name__ == "LowLevelCallable"
        self.is_dispatcher = hasattr(function, "py_func")
        self.in_place = self.is_low_level or self._writes_in_place()

    def ignores_time(self) -> bool:
        """Whether its code never reads its first argument, t. False also where the code cannot be inspected."""
        function = getattr(self.function, "py_func", self.function)
        if not inspect.isfunction(function) or not function.__code__.co_argcount:
            return False
        code, t = function.__code__, function.__code__.co_varnames[0]
        names = [i.argval for i in dis.get_instructions(code) if "FAST" in i.opname]
        used = {name for entry in names for name in (entry if isinstance(entry, tuple) else (entry,))}
        return t not in used and t not in code.co_cellvars

    def _writes_in_place(self) -> bool:
        """Whether it writes its values to its last argument: recognised by the number of arguments."""
        if not callable(self.function):
            raise TypeError(f"{self.name} must be a function, {SIGNATURES[self.name]}; got {self.function!r}")
        python = self.function.py_func if self.is_dispatcher else self.function
        try:
            arguments = inspect.signature(python).parameters.values()
        except (TypeError, ValueError):
            raise TypeError(
                f"{self.name}: the arguments of {python!r} cannot be read from it; wrap it in a def"
            ) from None
        if any(a.kind in (a.VAR_POSITIONAL, a.VAR_KEYWORD) for a in arguments):
            raise TypeError(
                f"{self.name} takes *args or **kwargs; name its arguments, because their number decides whether it returns its "
                f"values or writes them: {SIGNATURES[self.name]}"
            )
        count = sum(a.default is a.empty for a in arguments)
        full = len(self.shapes) + 1
        only_in_place = self.name in ("fh", "g_many")
        if only_in_place and count == full:
            return True
        if not only_in_place and count in (full - 1, full):
            return count == full
        raise TypeError(f"{self.name} takes {count} arguments; expected {SIGNATURES[self.name]}")

    # -- calling it from Python, for checks and messages

    def __call__(self, sizes: Mapping[str, int], t: float, *arguments: Any) -> FloatArray:
        """The values at one point, as a fresh array; what the function raises comes out as it is."""
        shape = self.output_shape({**sizes, "ks": np.size(arguments[1])})
        if self.is_low_level:
            return self._call_low_level(sizes, t, arguments, shape)
        if not self.in_place:
            return np.asarray(self.function(t, *arguments), dtype=float)
        out = np.zeros(shape) if self.name in ("g", "g_many") else np.full(shape, np.nan)
        self.function(t, *arguments, out)
        return out

    def output_shape(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """The shape of its values."""
        last = self.shapes[-1]
        return tuple(sizes[s] for s in last) if isinstance(last, tuple) else (sizes[last],)

    def check_shape(self, sizes: Mapping[str, int], values: FloatArray, t: float, x: FloatArray) -> None:
        """Raise unless ``values``, what the function gave at (t, x), has the right shape."""
        shape = self.output_shape(sizes)
        if values.shape != shape and values.size != int(np.prod(shape)):
            guards = "one for each input" if self.name == "control" else "one for each guard"
            what = {"n": "one for each state", "m": guards}.get(str(self.shapes[-1]), "")
            raise ValueError(
                f"{self.name} returned {_describe(values.shape)}, but {_describe(shape)} expected{', ' + what if what else ''} "
                f"(at t = {t:g}, x = {np.array2string(np.asarray(x), threshold=8)})"
            )
        if self.in_place and np.isnan(values).any() and not np.isnan(x).any():
            missing = np.flatnonzero(np.isnan(values.ravel()))
            raise ValueError(
                f"{self.name} left {len(missing)} of {values.size} values unset or NaN at t = {t:g}, the first at index "
                f"{missing[0]}; write every element of its last argument"
            )

    def _call_low_level(
        self, sizes: Mapping[str, int], t: float, arguments: tuple[Any, ...], shape: tuple[int, ...]
    ) -> FloatArray:
        out = np.zeros(shape)
        given = [
            int(a) if kind == "k" else np.ascontiguousarray(a, dtype=np.int64 if kind == "ks" else float)
            for a, kind in zip((*arguments, out), self.shapes, strict=True)
        ]
        signature = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_double, *[ctypes.c_int64] * (len(given) + 1))
        piece = None if self.contexts is None else self.contexts.borrow()
        data = user_data(self.function) if piece is None else piece[0]
        ctx = np.array([sizes["n"], sizes["m"], sizes["p"], data], dtype=np.int64)
        addresses = [a if isinstance(a, int) else a.ctypes.data for a in (*given, ctx)]
        status = signature(low_level_address(self.function))(t, *addresses)
        if self.contexts is not None and piece is not None:
            self.contexts.give_back(piece)
        if status != 0:
            raise RuntimeError(f"{self.name} (a LowLevelCallable) returned the status {status}")
        return out

    # -- binding it for the core

    def bind(self, compiled: bool, sizes: Mapping[str, int], failures: list[BaseException]) -> tuple[int, object]:
        """The address, and what must be kept alive for it.

        ``failures`` is a list to which the callback of a Python function appends the exception it caught.
        """
        from ..core.compiler import jit

        if self.is_low_level:
            return low_level_address(self.function), self.function
        if compiled and jit.JIT:
            self.function, address, keep = _compiled(self.function, self.shapes, self.in_place)
            self.is_dispatcher = True
            return address, keep
        callback = _callback(self, sizes, failures)
        return _address(callback), callback


@lru_cache(maxsize=512)
def _compiled(function: Any, shapes: tuple[Shape, ...], in_place: bool) -> tuple[Any, int, object]:
    """Dispatcher, address and what keeps it alive. Sizes come at run time: a plate with more contacts compiles nothing."""
    from ..core.compiler.wrapping import c_function, user_jit

    dispatcher = function if hasattr(function, "py_func") else user_jit(function)
    return dispatcher, *c_function(dispatcher, shapes, in_place)


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def low_level_address(function: Any) -> int:
    """The C address in a scipy.LowLevelCallable, from whichever of ctypes, cffi or a capsule it was made."""
    inner = function.function
    if hasattr(inner, "argtypes"):
        return _address(inner)
    capsule = tuple.__getitem__(function, 0)
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return int(get(capsule, get_name(capsule)))


def user_data(function: Any) -> int:
    """The address of a LowLevelCallable's user data, 0 if it has none."""
    data = function.user_data
    if data is None:
        return 0
    return data if isinstance(data, int) else _address(data)


def _callback(user: UserFunction, sizes: Mapping[str, int], failures: list[BaseException]) -> Any:
    """A C function that calls a Python function. Views of the core's memory are cached by address; the user gets copies."""
    shapes = [
        None if s == "k" else tuple(sizes[q] for q in s) if isinstance(s, tuple) else (sizes[s],) for s in user.shapes
    ]
    function, in_place = user.function, user.in_place
    views: dict[tuple[int, tuple[int, ...]], FloatArray] = {}

    def view(address: int, shape: tuple[int, ...]) -> FloatArray:
        key = (address, shape)
        if key not in views:
            if len(views) > 64:
                views.clear()
            count = int(np.prod(shape))
            buffer = memoryview((ctypes.c_double * max(count, 1)).from_address(address)).cast("B")
            views[key] = np.frombuffer(buffer, dtype=float, count=count).reshape(shape)
        return views[key]

    outputs = 2 if user.name == "fh" else 1
    results = [s for s in shapes[-outputs:] if s is not None]

    def call(t: float, *addresses: int) -> int:
        try:
            given = [a if s is None else view(a, s).copy() for a, s in zip(addresses, shapes[:-outputs], strict=False)]
            targets = [view(a, s) for a, s in zip(addresses[-1 - outputs : -1], results, strict=True)]
            if in_place:
                scratch = [np.zeros(target.shape) for target in targets]
                function(t, *given, *scratch)
            else:
                scratch = [np.asarray(function(t, *given), dtype=float)]
            for target, values in zip(targets, scratch, strict=True):
                target[...] = values if values.shape == target.shape else values.reshape(target.shape)
            return 0
        except BaseException as error:  # also KeyboardInterrupt: it must not be lost inside C
            failures.append(error)
            return 1

    kind = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_double, *[ctypes.c_int64] * (len(shapes) + 1))
    return kind(call)


def _describe(shape: tuple[int, ...]) -> str:
    if len(shape) == 1:
        return f"{shape[0]} value" + ("" if shape[0] == 1 else "s")
    return "a single number" if len(shape) == 0 else "an array of shape " + str(tuple(int(s) for s in shape))
