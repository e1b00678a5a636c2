"""Binding a system to the core: its functions compiled (or wrapped), their addresses where the core looks for them."""

import threading
import warnings

import numpy as np

from ..core.state import FUNCTIONS, JACOBIANS, TIMELESS
from ..errors import PerformanceWarning
from .functions import user_data
from .user_memory import Lease


class Compiled:
    """True, or false with a reason."""

    def __init__(self, reason=""):
        self.reason = reason

    def __bool__(self):
        return not self.reason

    def __repr__(self):
        return "yes" if self else f"no: {self.reason}"


class Bound:
    """The addresses of a system's functions, as the core wants them, and what keeps them alive."""

    def __init__(self, system):
        from ..core.compiler import jit

        self.failures = []
        self.fn = np.zeros(1, dtype=FUNCTIONS)  # their addresses
        self._jacobians = np.zeros(1, dtype=JACOBIANS)
        self.keep = []
        self._contexts = system._contexts
        if "f" not in system._functions:
            system._compose()
        data = [user_data(u.function) for u in system._functions.values() if u.is_low_level]
        self.context = np.array([system.n, system.m, len(system.defaults), data[0] if data else 0], dtype=np.int64)
        self.fn["context"] = self.context.ctypes.data
        reasons = [] if jit.JIT else ["Numba's JIT is switched off (NUMBA_DISABLE_JIT)"]
        for name in ("f", "h", "fh", "Dh"):
            if name in system._functions:
                self._take(system, system._functions[name], self.fn, reasons)
        self.compiled = Compiled("; ".join(reasons))
        self.has_jacobian = bool(self.fn["Dh"][0])
        self._lock = threading.Lock()
        self._have = {False: False, True: False}  # whether the Jacobians that these need are bound

    def lease(self, system):
        """What an integration calls: itself, or, where functions work in memory of their own, a copy with such memory."""
        if self._contexts is None:
            return self
        if system._is_sum:
            self.bind_contacts(system)
        return Lease(self, self._contexts)

    def give_back(self):
        pass

    def bind_contacts(self, system):
        """Bind g as well (and g_many, where it is compiled): only spanning steps need them, so when the first is taken."""
        with self._lock:
            if self.fn["g"][0] == 0:
                many = system._functions.get("g_many")
                if many is not None and self.compiled:  # (plain Python does without: g for each contact)
                    self._take(system, many, self.fn, [])
                self._take(system, system._functions["g"], self.fn, [])

    def jacobians(self, system, params):
        """The addresses of the functions that only derivatives need, bound when first asked for: those in parameters, which may
        take seconds to compile, only with ``params``."""
        if self._have[params]:
            return self._jacobians
        with self._lock:
            for name in JACOBIANS.names:
                wanted = name in system._functions and (params or not name.startswith("Dp"))
                if wanted and self._jacobians[name][0] == 0:
                    self._take(system, system._functions[name], self._jacobians, [])
            if self._jacobians["Dt_h"][0] == 0 and system._functions["h"].ignores_time():
                self._jacobians["Dt_h"] = TIMELESS
            self._have[params] = True
        return self._jacobians

    def _take(self, system, user, addresses, reasons):
        wanted = system._compile
        try:
            address, keep = user.bind(wanted is not False, system.sizes, self.failures)
        except Exception as error:
            reason = f"{user.name} does not compile: {_first_line(error)}"
            if wanted is True:
                raise TypeError(
                    f"{reason}\n(compile=True; with compile='auto' it would run as plain Python)"
                ) from error
            instead = "It runs as plain Python, about a hundred times slower"
            if user.name == "g_many":
                instead = "g is called for each contact instead, a few times slower"
            warnings.warn(
                f"{reason}\n{instead}. compile=False silences this.",
                PerformanceWarning,
                stacklevel=6,
            )
            reasons.append(reason)
            if user.name == "g_many":
                return
            address, keep = user.bind(False, system.sizes, self.failures)
        if wanted is False and not user.is_low_level:
            reasons.append("compile=False") if "compile=False" not in reasons else None
        addresses[user.name] = address
        self.keep.append(keep)


def compose(f0, f0_in_place, g, g_in_place):
    """``f0 + sum of g_k over touching k`` as one in-place function, of plain functions or of dispatchers."""
    from ..core.compiler import jit

    if jit.JIT:
        from ..core.compiler.wrapping import user_jit

        try:
            f0 = f0 if hasattr(f0, "py_func") else user_jit(f0)
            g = g if hasattr(g, "py_func") else user_jit(g)
        except Exception:  # they will run as plain Python, and _take tells why
            pass

    if f0_in_place and g_in_place:

        def f(t, x, b, p, dx):
            f0(t, x, p, dx)
            for k in range(b.size):
                if b[k] > 0.0:
                    g(t, x, k, p, dx)

    elif f0_in_place:

        def f(t, x, b, p, dx):
            f0(t, x, p, dx)
            for k in range(b.size):
                if b[k] > 0.0:
                    part = g(t, x, k, p)
                    for i in range(dx.size):
                        dx[i] += part[i]

    else:

        def f(t, x, b, p, dx):
            whole = f0(t, x, p)
            for i in range(dx.size):
                dx[i] = whole[i]
            for k in range(b.size):
                if b[k] > 0.0:
                    if g_in_place:
                        g(t, x, k, p, dx)
                    else:
                        part = g(t, x, k, p)
                        for i in range(dx.size):
                            dx[i] += part[i]

    return f


def _first_line(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return next((line for line in lines if "Error" in line or "error" in line), lines[0] if lines else repr(error))
