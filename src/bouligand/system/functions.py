"""User functions, brought to the form in which the core calls them: an address with a C signature.

A function may return its values or write them into its last argument; it may be plain Python (compiled where Numba can), a
Numba dispatcher, or a ``scipy.LowLevelCallable`` with the core's own signature (see ``core.intrinsics``).
"""

from __future__ import annotations

import ctypes
import dis
import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .addresses import (
    Keyed,
    LostValuesError,
    WritesArgumentError,
    address_of,
    callback,
    compiled,
    low_level_address,
    real_values,
    refuse_returned,
    returns_too,
    returns_tuple,
    user_data,
    writes_argument,
)
from .arguments import short
from .fingerprint import fingerprint

if TYPE_CHECKING:
    from .._typing import FloatArray
    from .caught import Failures
    from .fingerprint import Fingerprint
    from .outside import Read
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
    "A": ("n", "m", "p", ("n", "n")),  # of a bridge (see `core.state.JACOBIANS`),
    "along": ("n", "m", "p", "tangents", "k", "k", "parameters", "k", "tangents"),  # this one,
    "h_dual": ("1", "n", "p", "m"),  # and this one: of dual numbers
    "Dt_h": ("n", "p", "m"),
    "Dp_f": ("n", "m", "p", ("n", "p")),
    "Dp_h": ("n", "p", ("m", "p")),
    "f0": ("n", "p", "n"),
    "g": ("n", "k", "p", "n"),
    "g_many": ("n", "ks", "p", ("n", "ks")),
    "control": ("n", "p", "m"),  # of a bridge; m is then the number of inputs
    "jump": ("n", "m", "p", "n"),
    "jump_many": ("n", "m", "m", "p", "n"),
    "DR": ("n", "m", "p", ("n", "n")),
    "Dp_R": ("n", "m", "p", ("n", "p")),
    "Dt_R": ("n", "m", "p", "n"),
    "cost": ("n", "p", "m", "1"),  # the same, "1" is a single number
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
    "jump": "R(t, x, b, p) or R(t, x, b, p, xnew)",
    "jump_many": "jump_many(t, x, fired, b, p) or jump_many(t, x, fired, b, p, xnew)",
    "DR": "DR(t, x, b, p) or DR(t, x, b, p, out)",
    "Dp_R": "Dp_R(t, x, b, p) or Dp_R(t, x, b, p, out)",
    "Dt_R": "Dt_R(t, x, b, p) or Dt_R(t, x, b, p, out)",
    "cost": "cost(t, x, p, u) or cost(t, x, p, u, out)",
}


class UserFunction:
    """One function that a user gave, with its name, its form, and (once bound) its address."""

    ADDING = (
        "g",
        "g_many",
    )  # these add to their last argument, which is zero before,
    CHANGING = ("jump", "jump_many")  # and these change it: it holds the state. All others have to write every element

    def __init__(self, name: str, function: Any, contexts: Contexts | None = None) -> None:
        self.name = name
        self.function = function
        self.contexts = contexts  # memory that a low-level function works in, see `user_memory`
        self.shapes = SHAPES[name]
        self.is_low_level = type(function).__name__ == "LowLevelCallable"
        self.is_dispatcher = hasattr(function, "py_func")
        self.in_place = self.is_low_level or self._writes_in_place()
        self.given = function  # (binding puts machine code in place of ``function``)
        self._compiled_from: Fingerprint | None = None  # once there is machine code
        self._timeless: bool | None = None  # whether it is known to ignore the time
        self._read_only = False  # whether its machine code takes arguments that cannot be written to, and no others

    def __getstate__(self) -> dict[str, Any]:
        """What the user gave, to be compiled there. A function travels inside a Numba function: with its code, where it cannot be
        found by its name (a local one, a lambda, one of a script)."""
        from ..core.compiler.wrapping import user_jit

        travels = user_jit(self.given) if inspect.isfunction(self.given) else self.given
        return {"name": self.name, "contexts": self.contexts, "given": travels, "plain": travels is not self.given}

    def __setstate__(self, state: dict[str, Any]) -> None:
        given = state["given"].py_func if state["plain"] else state["given"]
        UserFunction.__init__(self, state["name"], given, state["contexts"])

    @property
    def content(self) -> Fingerprint:
        """What it is made of: a compiled function of what it was compiled from, which may have changed since."""
        return self._compiled_from or fingerprint(self.given, self.name)

    @property
    def is_machine_code(self) -> bool:
        """Whether it was compiled here."""
        return self._compiled_from is not None

    @property
    def frozen_reads(self) -> tuple[Read, ...]:
        """What its machine code has taken in for good, if there is any."""
        return () if self._compiled_from is None else self._compiled_from.reads

    def ignores_time(self) -> bool:
        """Whether its code never reads its first argument, t. False also where the code cannot be inspected."""
        if self._timeless is None:
            self._timeless = self._never_reads_time()
        return self._timeless

    def _never_reads_time(self) -> bool:
        function = getattr(self.function, "py_func", self.function)
        if not inspect.isfunction(function) or not function.__code__.co_argcount:
            return False
        code, t = function.__code__, function.__code__.co_varnames[0]
        names = [i.argval for i in dis.get_instructions(code) if "FAST" in i.opname]
        used = {name for entry in names for name in (entry if isinstance(entry, tuple) else (entry,))}
        return t not in used and t not in code.co_cellvars

    def _writes_in_place(self) -> bool:
        """Whether it writes its values to its last argument: recognised by the number of arguments."""
        what = "jumps: R" if self.name == "jump" else self.name
        if not callable(self.function):
            raise TypeError(f"{what} must be a function, {SIGNATURES[self.name]}; got {short(self.function)}")
        python = self.function.py_func if self.is_dispatcher else self.function
        try:
            arguments = inspect.signature(python).parameters.values()
        except (TypeError, ValueError):
            raise TypeError(f"{what}: the arguments of {python!r} cannot be read from it; wrap it in a def") from None
        if any(a.kind in (a.VAR_POSITIONAL, a.VAR_KEYWORD) for a in arguments):
            raise TypeError(
                f"{what} takes *args or **kwargs; name its arguments, because their number decides whether it returns its "
                f"values or writes them: {SIGNATURES[self.name]}"
            )
        count = sum(a.default is a.empty for a in arguments)
        full = len(self.shapes) + 1
        only_in_place = self.name in ("fh", "g_many")
        if only_in_place and count == full:
            return True
        if not only_in_place and count in (full - 1, full):
            return count == full
        raise TypeError(f"{what} takes {count} arguments; expected {SIGNATURES[self.name]}")

    # -- calling it from Python, for checks and messages

    def __call__(self, sizes: Mapping[str, int], t: float, *arguments: Any, fill: float = np.nan) -> FloatArray:
        """The values at one point, as a fresh array; what the function raises comes out as it is.

        ``fill`` is what the output of an in-place function holds before.
        """
        shape = self.output_shape({**sizes, "ks": np.size(arguments[1])})
        mine = [a if kind == "k" else self._copy(a, kind) for a, kind in zip(arguments, self.shapes, strict=False)]
        before = [a if isinstance(a, int | np.integer) else a.tobytes() for a in mine]
        if self.is_low_level:
            values = self._call_low_level(sizes, t, mine, shape)
        elif self.in_place:
            values = np.full(shape, 0.0 if self.name in self.ADDING else fill)
            if self.name in self.CHANGING:
                values[:] = mine[0]
            returned = self._run(t, *mine, values)
            if self.name in self.CHANGING:
                refuse_returned(self.name, returned, values)
        else:
            values = real_values(self.name, self._run(t, *mine))
            if any(np.shares_memory(values, a) for a in mine if isinstance(a, np.ndarray)):
                values = values.copy()
        if any(not isinstance(a, int | np.integer) and a.tobytes() != b for a, b in zip(mine, before, strict=True)):
            raise WritesArgumentError(writes_argument(self.name))
        return values

    def _run(self, *arguments: Any) -> Any:
        """Call it. (Machine code does not tell the shapes of slices that differ: plain Python does.)"""
        try:
            return self.function(*arguments)
        except ValueError as error:
            from ..core.compiler.messages import SHAPES_DIFFER

            if str(error) != SHAPES_DIFFER or not hasattr(self.function, "py_func"):
                raise
        return self.function.py_func(*arguments)

    def _copy(self, argument: Any, kind: Shape) -> Any:
        """An argument as an array of its own, of the kind for which the function was compiled."""
        array = np.array(argument, dtype=np.int64 if kind == "ks" else float, order="C")
        if self._read_only:
            array.setflags(write=False)
        return array

    def output_shape(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """The shape of its values."""
        last = self.shapes[-1]
        if last == "1":
            return (1,)
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

    def refuse_unset(self, one: FloatArray, other: FloatArray, t: float, word: FloatArray | None = None) -> None:
        """Raise if two outputs differ that the same arguments gave, on outputs that held other numbers before."""
        differ = np.flatnonzero((one != other) & ~(np.isnan(one) & np.isnan(other)))
        if differ.size:
            where = "" if word is None or word.size > 20 else f", b = {word.astype(int)}"
            raise ValueError(
                f"{self.name} leaves {differ.size} of {one.size} values unset at t = {t:g}{where}, the first at index "
                f"{differ[0]}; write every element of its last argument (with =, not +=: it holds old numbers before)"
            )

    def _call_low_level(
        self, sizes: Mapping[str, int], t: float, arguments: list[Any], shape: tuple[int, ...]
    ) -> FloatArray:
        out = np.zeros(shape)
        given = [int(a) if kind == "k" else a for a, kind in zip((*arguments, out), self.shapes, strict=True)]
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

    def bind(self, as_machine_code: bool, sizes: Mapping[str, int], failures: Failures) -> tuple[int, object]:
        """The address, and what must be kept alive for it.

        ``failures`` takes the exception that the callback of a Python function caught.
        """
        from ..core.compiler import jit

        if self.is_low_level:
            return low_level_address(self.function), self.function
        if as_machine_code and jit.JIT:
            keyed = Keyed(self.function)
            code = compiled(self.name, keyed, self.shapes, self.in_place)
            self._compiled_from = keyed.content
            if self.in_place and self.name in self.CHANGING and returns_tuple(code.dispatcher):
                raise LostValuesError(returns_too(self.name))
            self.function, self._read_only, self.is_dispatcher = code.dispatcher, code.read_only, True
            return code.address, code.keep
        there = callback(self, sizes, failures)
        return address_of(there), there


def _describe(shape: tuple[int, ...]) -> str:
    if len(shape) == 1:
        return f"{shape[0]} value" + ("" if shape[0] == 1 else "s")
    return "a single number" if len(shape) == 0 else "an array of shape " + str(tuple(int(s) for s in shape))
