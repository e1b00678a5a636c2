"""Addresses that the core calls: of a user's function compiled, of a C function, or of a callback into Python."""

from __future__ import annotations

import ctypes
import linecache
import pathlib
import re
import types
from collections import Counter
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import PerformanceWarning
from . import interrupts
from .fingerprint import fingerprint
from .frozen import note_compiled, note_met, note_own
from .helpers import with_compiled_helpers
from .warning import warn_user

if TYPE_CHECKING:
    from .._typing import FloatArray
    from .caught import Failures
    from .functions import Shape, UserFunction


MANY_TIMES = 100  # compilations of one function with different values, before a warning
_times: Counter[types.CodeType | None] = Counter()


class MachineCode(NamedTuple):
    """A user's function as machine code."""

    dispatcher: Any
    address: int
    keep: object  # what must stay alive for it
    read_only: bool  # whether it was compiled for arguments that cannot be written to


def compiled(name: str, keyed: Keyed, shapes: tuple[Shape, ...], in_place: bool) -> MachineCode:
    """A function compiled with the values that its globals and closures have now: once for each such set of values."""
    from ..core.compiler.compiling import compiling

    with compiling():  # (two threads with equal functions: one compiles, the other waits)
        return _compiled(name, keyed, shapes, in_place)


class Keyed:
    """A function in the key of a cache: equal to all others that compile to the same machine code.

    ``content`` is its fingerprint, with the values that it read when this was made.
    """

    def __init__(self, function: Any) -> None:
        self.function = function
        self.content = fingerprint(function)
        self.key = self.content.key

    @cached_property
    def kept(self) -> Any:
        """What is on disk of its machine code: nothing if that cannot be known from its content."""
        from ..core.compiler.kept import kept

        return kept() if self.content.unknown else kept(_own_sources(), self.content.digest, self.content.lines)

    def why(self) -> str:
        """Why it is compiled, for the line that says so."""
        from ..core.compiler.why import of_a_function

        return str(of_a_function([*map(str, self.content.unknown)]))

    def called(self, name: str) -> str:
        """What f, say, is called in that line."""
        own = getattr(self.function, "__qualname__", type(self.function).__name__)
        return name if own == name else f"{name} ({own})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Keyed) and other.key == self.key

    def __hash__(self) -> int:
        return hash(self.key)


@lru_cache(maxsize=1)
def _own_sources() -> str:
    """A hash of the files of this folder, which prepare functions for compilation."""
    from ..core.compiler.sources import stamp_of

    return str(stamp_of(pathlib.Path(__file__).parent))


@lru_cache(maxsize=512)
def dispatcher_of(keyed: Keyed) -> Any:
    """A user's function as a Numba function: the same one for equal functions."""
    from ..core.compiler.wrapping import user_jit

    dispatcher = user_jit(with_compiled_helpers(keyed.function))
    note_own(dispatcher)
    dispatcher._cache = keyed.kept
    return dispatcher


@lru_cache(maxsize=512)
def _compiled(name: str, keyed: Keyed, shapes: tuple[Shape, ...], in_place: bool) -> MachineCode:
    """Sizes come at run time: a plate with more contacts compiles nothing."""
    from ..core.compiler.compiling import compiling
    from ..core.compiler.notices import said_if_slow
    from ..core.compiler.why import of_a_function_of_numba, only_numba_keeps

    given = only_numba_keeps(keyed.function)
    why = of_a_function_of_numba if given else keyed.why
    with compiling(), said_if_slow(keyed.called(name), why, begun=given):
        return _compiled_now(name, keyed, shapes, in_place)


def _compiled_now(name: str, keyed: Keyed, shapes: tuple[Shape, ...], in_place: bool) -> MachineCode:
    from ..core.compiler.wrapping import c_function

    function, kept = keyed.function, None
    met = note_met(keyed.content)
    if not hasattr(function, "py_func"):
        _count(name, function)
        dispatcher, kept = dispatcher_of(keyed), keyed.kept
    else:
        dispatcher = with_compiled_helpers(function)
    try:
        address, keep = c_function(dispatcher, shapes, in_place, True, kept)
        code = MachineCode(dispatcher, address, keep, True)
    except Exception as error:
        # it writes to its arguments; or it calls something that does not take read-only arrays, which is no fault
        try:
            address, keep = c_function(dispatcher, shapes, in_place, False, kept)
            code = MachineCode(dispatcher, address, keep, False)
        except Exception:
            raise error from None
        if "setitem(readonly" in str(error) or "Cannot modify readonly" in str(error):
            raise WritesArgumentError(writes_argument(name, _line_of(error))) from None
    note_compiled(met)
    return code


def _count(name: str, function: Any) -> None:
    """Warn where one function is compiled again and again, each time with other values: machine code is never freed."""
    code = getattr(function, "__code__", None)
    _times[code] += 1
    if code is not None and _times[code] == MANY_TIMES:
        warn_user(
            f"{name} ({function.__qualname__}) is being compiled for the {MANY_TIMES}th time, each time with other values of "
            "what it reads from outside. That takes time, and a megabyte each that is not freed: pass what changes in p",
            PerformanceWarning,
        )


class WritesArgumentError(ValueError):
    """A function writes to t, x, b or p, which belong to the integration."""


class LostValuesError(TypeError):
    """A jump that is to write the new state to its last argument returns it."""


def refuse_returned(name: str, returned: Any, output: FloatArray) -> None:
    """Raise if a jump that writes to ``output`` also returned something else: that would be lost, and the state unchanged."""
    if returned is not None and returned is not output:
        raise LostValuesError(returns_too(name))


def returns_too(name: str) -> str:
    return (
        f"{name} has an argument xnew to write the new state to, and returns values, which would be lost; write them to xnew "
        "(xnew[:] = ...), or leave that argument out"
    )


def returns_tuple(dispatcher: Any) -> bool:
    """Whether a compiled function returns several values (not an array, which may be its own output)."""
    kinds = [str(code.signature.return_type) for code in dispatcher.overloads.values()]
    return any(kind.startswith(("UniTuple(", "Tuple(", "list(", "reflected list(")) for kind in kinds)


def writes_argument(name: str, where: str = "") -> str:
    return (
        f"{name} writes to one of its arguments{where}: they belong to the integration and must stay as they are. Work on a "
        "copy (x = x.copy()), and write results only to the last argument, or return them"
    )


def _line_of(error: Exception) -> str:
    """The line of the user's that a Numba error is about."""
    found = re.findall(r'File "([^"]+)", line (\d+)', str(error))
    line = linecache.getline(found[-1][0], int(found[-1][1])).strip() if found else ""
    return f" ({line})" if line else ""


def address_of(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def low_level_address(function: Any) -> int:
    """The C address in a scipy.LowLevelCallable, from whichever of ctypes, cffi or a capsule it was made."""
    inner = function.function
    if hasattr(inner, "argtypes"):
        return address_of(inner)
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
    return data if isinstance(data, int) else address_of(data)


def is_callback(kept: object) -> bool:
    """Whether what is kept alive for an address is a callback into Python."""
    return isinstance(kept, ctypes._CFuncPtr)  # type: ignore[attr-defined]


def real_values(name: str, values: Any) -> FloatArray:
    """What a function returned, as an array of floats; what is no real number (complex, text, masked) is refused."""
    if type(values) is np.ndarray and values.dtype == float:
        return values
    if values is None:
        raise TypeError(
            f"{name} returned nothing (None). It has no argument to write its values to, so it has to return them, on every way "
            "through it"
        )
    array = np.asarray(values)
    if array.dtype == float and not isinstance(values, np.ma.MaskedArray):
        return array
    if array.dtype.kind in "cSUmMV" or np.ma.is_masked(values):
        what = "masked values" if np.ma.is_masked(values) else f"values of type {array.dtype}"
        raise TypeError(f"{name} returned {what}; real numbers expected")
    try:
        return np.asarray(array, dtype=float)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} returned {values!r}, of which no array of numbers can be made: {error}") from None


def callback(user: UserFunction, sizes: Mapping[str, int], failures: Failures) -> Any:
    """A C function that calls a Python function. Views of the core's memory are cached by address; the user gets copies."""
    known_sizes = {**sizes, "1": 1}
    shapes = [
        None if s == "k" else tuple(known_sizes[q] for q in s) if isinstance(s, tuple) else (known_sizes[s],)
        for s in user.shapes
    ]
    name, function, in_place = user.name, user.function, user.in_place
    known: dict[tuple[int, tuple[int, ...]], FloatArray] = {}

    def view(address: int, shape: tuple[int, ...]) -> FloatArray:
        key = (address, shape)
        if key not in known:
            if len(known) > 64:
                known.clear()
            count = int(np.prod(shape))
            buffer = memoryview((ctypes.c_double * max(count, 1)).from_address(address)).cast("B")
            known[key] = np.frombuffer(buffer, dtype=float, count=count).reshape(shape)
        return known[key]

    outputs = 2 if name == "fh" else 1
    inputs, results = shapes[:-outputs], [s for s in shapes[-outputs:] if s is not None]
    fill = 0.0 if name in user.ADDING else np.nan
    blank = [np.full(shape, fill) for shape in results]
    changing = name in user.CHANGING

    def refuse_unset(t: float, addresses: tuple[int, ...]) -> None:
        """There are NaNs in the output: were they computed, or is it not written?"""
        twice = []
        for fill in (0.0, 1.0):
            scratch = [np.full(shape, fill) for shape in results]
            given = [a if s is None else view(a, s).copy() for a, s in zip(addresses, inputs, strict=False)]
            function(t, *given, *scratch)
            twice.append(scratch)
        for one, other in zip(*twice, strict=True):
            user.refuse_unset(one, other, t)

    def call(t: float, *addresses: int) -> int:
        try:
            if interrupts.waiting:
                interrupts.answer()
            given: list[Any] = [a if s is None else view(a, s).copy() for a, s in zip(addresses, inputs, strict=False)]
            targets = [view(a, s) for a, s in zip(addresses[-1 - outputs : -1], results, strict=True)]
            if in_place:
                scratch = [given[0].copy()] if changing else [values.copy() for values in blank]
                returned = function(t, *given, *scratch)
                if changing:
                    refuse_returned(name, returned, scratch[0])
                for values in () if changing else scratch:
                    square = values.dot(values) if values.ndim == 1 else np.vdot(values, values)
                    if square != square:  # there is a NaN among them
                        refuse_unset(t, addresses)
            else:
                scratch = [real_values(name, function(t, *given))]
            if changing:
                user.check_shape(sizes, scratch[0], t, given[0])
            for target, values in zip(targets, scratch, strict=True):
                target[...] = values if values.shape == target.shape else values.reshape(target.shape)
            return 0
        except BaseException as error:  # also KeyboardInterrupt: it must not be lost inside C
            if failures.first is None:  # (no call of a method: a Ctrl-C during that would be lost)
                failures.first = error
            return 1

    interrupts.callbacks.add(call.__code__)
    kind = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_double, *[ctypes.c_int64] * (len(shapes) + 1))
    return kind(call)
