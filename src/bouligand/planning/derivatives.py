"""Values and derivatives of a user's cost function of (t, x, u) or (t, x): by dual numbers from its own code, or by differences.

The function is compiled once more for numbers that carry eight tangents (see `core.duals`), so that a gradient is exact and costs
a few evaluations. Code that Numba cannot compile runs as Python, and is differenced.
"""

from __future__ import annotations

import ctypes
import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.state import DUAL, LANES
from ..system.arguments import numbers
from ..system.helpers import with_compiled_helpers

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._typing import FloatArray

_STEP = 6e-6  # of central differences, relative


class CostFunction:
    """A user's function ``function(t, x, u)`` or ``function(t, x)`` that returns a number or a vector.

    ``what`` is its name in messages. `values` and `jacobian` take u also of functions that have no u.
    """

    def __init__(self, what: str, function: Callable[..., Any]) -> None:
        if not callable(function):
            raise TypeError(f"{what} must be a function of (t, x, u), or of (t, x); got {function!r}")
        self.what, self.function = what, function
        python = getattr(function, "py_func", function)
        try:
            count = sum(a.default is a.empty for a in inspect.signature(python).parameters.values())
        except (TypeError, ValueError):
            raise TypeError(f"{what}: the arguments of {python!r} cannot be read from it; wrap it in a def") from None
        if count not in (2, 3):
            raise TypeError(f"{what} must take (t, x, u), or (t, x); this one takes {count} arguments")
        self.with_u = count == 3
        self.size = 0  # number of values; 0: not known yet
        self.reason = ""  # why derivatives are by differences; empty if they are exact
        self._dual: tuple[Any, Any] | None = None

    def values(self, t: float, x: FloatArray, u: FloatArray) -> FloatArray:
        """The values, array (size,)."""
        out = numbers(self.what, self.function(t, x, u) if self.with_u else self.function(t, x)).reshape(-1)
        if self.size and out.size != self.size:
            raise ValueError(f"{self.what} returned {out.size} values, and {self.size} before (at t = {t:g})")
        return out

    def prepare(self, t: float, x: FloatArray, u: FloatArray) -> None:
        """Find the number of values, and compile the function for dual numbers."""
        if self.size:
            return
        self.size = self.values(t, x, u).size
        try:
            from ..core.compiler import jit
            from ..core.compiler.compiling import compiling
            from ..core.compiler.notices import said_if_slow
            from ..core.compiler.wrapping import c_function
            from ..core.duals.recast import recast

            if not jit.JIT:
                raise TypeError("Numba's JIT is switched off")
            shapes = ("dual n", "dual p", "dual m") if self.with_u else ("dual n", "dual m")
            with compiling(), said_if_slow(f"{self.what} for derivatives", lambda: ", in every process", begun=True):
                function = recast(with_compiled_helpers(self.function))
                address, keep = c_function(function, shapes, False, read_only=True)
        except Exception as error:  # whatever Numba raises: there are differences
            self.reason = f"{self.what} does not compile for dual numbers ({type(error).__name__})"
            return
        kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_double, *[ctypes.c_int64] * (len(shapes) + 1))
        self._dual = kind(address), keep

    def jacobian(self, t: float, x: FloatArray, u: FloatArray) -> FloatArray:
        """The derivatives of all values, array (size, n + inputs)."""
        self.prepare(t, x, u)
        n, every = len(x), len(x) + len(u)
        J = np.zeros((self.size, every))
        if self._dual is None:
            z = np.concatenate([x, u])
            for i in range(every if self.with_u else n):
                step = _STEP * max(1.0, abs(z[i]))
                sides = []
                for side in (step, -step):
                    moved = z.copy()
                    moved[i] += side
                    sides.append(self.values(t, moved[:n], moved[n:]))
                J[:, i] = (sides[0] - sides[1]) / (2.0 * step)
            return J
        call, X, U, out = self._dual[0], np.zeros((n, DUAL)), np.zeros((len(u), DUAL)), np.zeros((self.size, DUAL))
        X[:, 0], U[:, 0] = x, u
        sizes = np.array([n, self.size, len(u), 0, 0], dtype=np.int64)
        given = (X.ctypes.data, *([U.ctypes.data] if self.with_u else []), out.ctypes.data, sizes.ctypes.data)
        for first in range(0, every if self.with_u else n, LANES):
            here = np.arange(first, min(first + LANES, every))
            for value in (1.0, 0.0):
                for lane, place in enumerate(here.tolist()):
                    (X[place] if place < n else U[place - n])[1 + lane] = value
                if value and call(t, *given):
                    raise ValueError(f"{self.what} fails at t = {t:g}, x = {np.array2string(x, threshold=8)}")
            J[:, here] = out[:, 1 : 1 + len(here)]
        return J
