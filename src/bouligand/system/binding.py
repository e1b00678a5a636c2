"""Binding a system to the core: its functions compiled (or wrapped), their addresses where the core looks for them."""

from __future__ import annotations

import contextlib
import ctypes
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import state
from ..core.state import CONTEXT, FEW_LANES, FUNCTIONS, JACOBIANS, ONE_LANE, TIMELESS, USER_DATA
from ..errors import FunctionError, FunctionWarning, PerformanceWarning
from .addresses import LostValuesError, WritesArgumentError, is_callback, user_data
from .caught import Failures
from .exact import Jacobians, Ways, dual_function, sources, ways
from .frozen import Frozen
from .outside import NOT_THERE
from .reasons import name_error, undefined_name, why
from .user_memory import Lease
from .warning import warn_user

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import FloatArray, IntArray, RecordArray
    from .functions import UserFunction
    from .outside import Read
    from .system import System


# of steps times states: after so many evaluations for one direction, or for two, another version of f is compiled for these.
# With it they take about half the time, so that this is when what has been lost without it equals the time of the compiler
WORTH_COMPILING = 2_000_000
_FIELD = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_double, *[ctypes.c_int64] * 5)  # of f, in the core


def _compiling() -> contextlib.AbstractContextManager[None]:
    """As ``core.compiler.compiling``, which imports Numba."""
    from ..core.compiler.compiling import compiling

    context: contextlib.AbstractContextManager[None] = compiling()
    return context


class Compiled:
    """Whether the functions of a system run as machine code: true, or false with a reason.

    Attributes
    ----------
    reason : str
        Why they do not; empty if they do.
    """

    def __init__(self, reason: str = "") -> None:
        self.reason = reason

    def __bool__(self) -> bool:
        return not self.reason

    def __repr__(self) -> str:
        return "yes" if self else f"no: {self.reason}"


class Bound:
    """The addresses of a system's functions, as the core wants them, and what keeps them alive."""

    def __init__(self, system: System) -> None:
        from ..core.compiler import jit

        self.failures = Failures()
        self.calls_python = False  # whether some functions are callbacks into Python
        self._globals: list[tuple[dict[str, object], str, object]] = []
        self._others: list[Frozen] = []
        self.frozen: list[Frozen] = []  # what compiled functions have taken in for good
        self.fn: RecordArray = np.zeros(1, dtype=FUNCTIONS)  # their addresses
        self._jacobians: RecordArray = np.zeros(1, dtype=JACOBIANS)
        self.keep: list[object] = []
        self._contexts = system._contexts
        if "f" not in system._functions:
            system._compose()
        data = [user_data(u.function) for u in system._functions.values() if u.is_low_level]
        sizes = [system.n, system.m, len(system.defaults)]
        self.context: IntArray = np.zeros(len(CONTEXT), dtype=np.int64)
        self.context[: USER_DATA + 1] = [*sizes, data[0] if data else 0]
        self.fn["context"] = self.context.ctypes.data
        reasons = [] if jit.JIT else ["Numba's JIT is switched off (NUMBA_DISABLE_JIT)"]
        for name in ("f", "h", "fh", "Dh"):
            if name in system._functions:
                self._take(system, system._functions[name], self.fn, reasons)
        self.jumps: IntArray = np.zeros(system.m, dtype=np.int64)  # the addresses of the guards' jumps
        for k, jump in system.jumps.functions.items():
            self.jumps[k] = self._address(system, jump, reasons)
        if system.jumps.many is not None:
            self._take(system, system.jumps.many, self.fn, reasons)
        self.compiled = Compiled("; ".join(reasons))
        # how derivatives are propagated, without parameters and with them, once the Jacobians that these need are bound
        self.ways: dict[bool, Ways] = {}
        self.pattern: Any = None  # of Dh, with many states: see `derivative.patterns`
        self._dual_jumps: dict[
            int, int
        ] = {}  # the addresses of jumps of dual numbers; 0: they do not compile for these
        self._no_duals: dict[str, str] = {}  # functions that do not compile for dual numbers, and why
        # of f and h of dual numbers with one tangent, or with two: states evaluated so far without it (inf: it does not compile)
        self._evaluated: dict[str, float] = {"f_one": 0.0, "f_few": 0.0, "h_few": 0.0}
        self._few: set[str] = set()  # those of them that are compiled
        self.space: FloatArray | None = None  # working memory of sliding modes
        if system._stays:
            self._let_stay(system)
        self.has_jacobian = bool(self.fn["Dh"][0])

    def lease(self, system: System) -> Bound | Lease:
        """What an integration calls: itself, or, where functions work in memory of their own, a copy with such memory."""
        if system._shares_context:
            return self
        if system._is_sum and self._contexts is not None:
            self.bind_contacts(system)
        return Lease(self, self._contexts)

    def give_back(self) -> None:
        pass

    def _let_stay(self, system: System) -> None:
        """Put functions that know sliding modes and rest in place of f and h; they call the user's through the context."""
        from ..core.sliding.compiled import addresses

        if not system._functions["h"].is_low_level:
            self._take_dual(system, system._functions["h"])
        elif "h_dual" in system._functions:
            self._take(system, system._functions["h_dual"], self._jacobians, [])
        there = addresses()
        users = self.fn["f"][0], self.fn["h"][0], self._jacobians["h_dual"][0]
        self.context[[state.USERS_F, state.USERS_H, state.USERS_H_DUAL]] = users
        if system.rests.any():
            self._rests: FloatArray = system.rests.astype(float)
            places = self._rests.ctypes.data, self.jumps.ctypes.data, self.fn["jump_many"][0]
            self.context[[state.RESTS, state.JUMPS, state.JUMP_MANY]] = places
            self._forces: IntArray = system.rest_forces
            if (self._forces >= 0).any():
                self.context[state.FORCES] = self._forces.ctypes.data
        from ..core.sliding.space import layout

        self.space = np.zeros(layout(*system.sizes.values())[-1])
        self.context[state.SPACE] = self.space.ctypes.data
        self.fn["fh"] = self.fn["Dh"] = 0
        for name in ("f", "h"):  # (an integration calls the user's own while it stays on no guard)
            self.fn[f"{name}_moving"], self.fn[f"{name}_staying"] = self.fn[name], there[name]
        for name, address in there.items():
            self.fn[name] = address
        if not system.rests.any():
            self.fn["contact_rates"] = 0

    def field(self, t: float, x: ArrayLike, b: ArrayLike, p: ArrayLike) -> FloatArray:
        """f, also in sliding modes and at rest (b = 0), called from Python."""
        return self._call("f", t, x, b, p, np.size(x))

    def onto_guards(self, t: float, x: ArrayLike, b: ArrayLike, p: ArrayLike) -> FloatArray:
        """The state x, moved onto the guards on which the trajectory stays (b = 0)."""
        return self._call("project", t, x, b, p, np.size(x))

    def multipliers(self, t: float, x: ArrayLike, b: ArrayLike, p: ArrayLike) -> FloatArray:
        """The multipliers of the guards on which the trajectory stays (see `core.sliding.field`), one for each guard."""
        return self._call("multipliers", t, x, b, p, np.size(b))

    def contact_rates(self, t: float, x: ArrayLike, b: ArrayLike, p: ArrayLike) -> FloatArray:
        """The rates of all guards, in a system with contacts on which the trajectory may rest."""
        return self._call("contact_rates", t, x, b, p, np.size(b))

    def signs(self, t: float, x: ArrayLike, b: ArrayLike, p: ArrayLike) -> FloatArray:
        """The mode b, with the multipliers of guards that are slid on in place of their zeros."""
        return np.where(np.asarray(b) == 0.0, self.multipliers(t, x, b, p), b)

    def _call(self, name: str, t: float, x: ArrayLike, b: ArrayLike, p: ArrayLike, size: int) -> FloatArray:
        given = [np.array(a, dtype=float) for a in (x, b, p)]
        out = np.full(size, np.nan)
        lease = Lease(self, self._contexts)
        status = _FIELD(int(self.fn[name][0]))(t, *(a.ctypes.data for a in (*given, out, lease.context)))
        lease.give_back()
        if status != 0:
            raise self.failures.take() or FunctionError(f"f failed at t = {t}", t=t, x=given[0])
        return out

    def bind_contacts(self, system: System) -> None:
        """Bind g as well (and g_many, where it is compiled): only spanning steps need them, so when the first is taken."""
        with _compiling():
            if self.fn["g"][0] == 0:
                many = system._functions.get("g_many")
                if many is not None and self.compiled:  # (plain Python does without: g for each contact)
                    self._take(system, many, self.fn, [])
                self._take(system, system._functions["g"], self.fn, [])

    def jacobians(self, system: System, params: bool) -> RecordArray:
        """The addresses of the functions that only derivatives need, bound when first asked for: those given in parameters, which
        may take seconds to compile, only with ``params``."""
        if params in self.ways:
            return self._jacobians
        with _compiling():
            mine = self._jacobians
            for name in JACOBIANS.names:
                wanted = (
                    name in system._functions and name not in ("A", "along") and (params or not name.startswith("Dp"))
                )
                # (those of the user's f are not those of a sliding mode)
                wanted = wanted and not (system._stays and name in ("Df", "Dp_f"))
                if wanted and mine[name][0] == 0:
                    self._take(system, system._functions[name], mine, [])
            if mine["Dt_h"][0] == 0 and system._functions["h"].ignores_time():
                mine["Dt_h"] = TIMELESS
            known = {name for name in JACOBIANS.names if mine[name][0] != 0}
            known |= {"Dh"} if "Dh_row" in known else set()
            for name, needed in (("f", ("Df", "Dp_f")), ("h", ("Dh", "Dt_h", "Dp_h"))):
                missing = {key for key in needed if params or not key.startswith("Dp")} - known
                if name == "f" and system._stays:
                    continue
                if missing and name + "_dual" not in known and system._jacobians != "differences":
                    self._take_dual(system, system._functions[name])
            self.ways[params] = ways(system, mine, params)
        return self._jacobians

    def jacobians_of_steps(self, system: System) -> RecordArray:
        """The addresses of what stiff steps need: A where a bridge has it, else the Jacobians; none where Df was found wrong."""
        if system._trusts_Df is False:
            return np.zeros(1, dtype=JACOBIANS)
        if "A" not in system._functions:
            return self.jacobians(system, False)
        with _compiling():
            if self._jacobians["A"][0] == 0:
                self._take(system, system._functions["A"], self._jacobians, [])
        return self._jacobians

    def _take_dual(self, system: System, user: UserFunction) -> None:
        """f or h of dual numbers, from which the Jacobians come that were not given. Without it, they come from differences."""
        if user.name in self._no_duals or (user.name == "h" and not system.m):
            return
        try:
            address, keep = dual_function(user)
        except TypeError as error:
            self._no_duals[user.name] = str(error)
            if system._jacobians == "exact":
                raise TypeError(f"jacobians='exact': {error}") from error
            return
        self.keep.append(keep)
        self._jacobians[user.name + "_dual"] = address

    def expect_few_tangents(self, system: System, tangents: int, evaluations: int) -> bool:
        """Whether one or two tangents are propagated by dual numbers that have no more. These are compiled once so many states
        have been evaluated without them that it pays."""
        return self._expect(system, "f_one" if tangents == ONE_LANE else "f_few", tangents, evaluations)

    def expect_few_colours(self, system: System, evaluations: int) -> bool:
        """Whether rows of Dh with one entry each come from dual numbers with two tangents. These are compiled as those above."""
        return self._expect(system, "h_few", FEW_LANES, evaluations)

    def _expect(self, system: System, name: str, lanes: int, evaluations: int) -> bool:
        if name in self._few:
            return True
        self._evaluated[name] += evaluations
        if not WORTH_COMPILING < self._evaluated[name] < math.inf:
            return False
        with _compiling():
            try:
                address, keep = dual_function(system._functions[name[0]], lanes)
            except TypeError:  # (what compiles for many tangents does for few; if not, many do as well)
                self._evaluated[name] = math.inf
                return False
            self.keep.append(keep)  # (first: a Ctrl-C may come between any two of these lines)
            self._jacobians[name] = address
            self._few.add(name)
        return True

    def take_along(self, system: System) -> bool:
        """Bind the product of Df with a few tangents. Returns whether there is one."""
        user = system._functions.get("along")
        if user is not None and self._jacobians["along"][0] == 0:
            with _compiling():
                self._take(system, user, self._jacobians, [])
        return user is not None

    def dual_jump(self, system: System, user: UserFunction) -> int:
        """The address of a jump of dual numbers; 0 where its derivatives come from differences."""
        address = self._dual_jumps.get(id(user))
        if address is None:
            address = 0
            if system._jacobians != "differences":
                with contextlib.suppress(TypeError):
                    address, keep = dual_function(user)
                    self.keep.append(keep)
            self._dual_jumps[id(user)] = address
        return address

    def sources(self, system: System) -> Jacobians:
        """Where all Jacobians come from."""
        addresses = self.jacobians(system, True)
        reason = system._no_jacobians or "; ".join(self._no_duals.values()) or "jacobians='differences'"
        return sources(system, addresses, reason)

    def _watch(self, system: System, reads: tuple[Read, ...]) -> None:
        """Remember what a compiled function has taken in, and look at it before each integration."""
        known = {(id(value.read.place), value.read.key) for value in self.frozen}
        self.frozen += [Frozen.of(read) for read in reads if (id(read.place), read.key) not in known]
        self._watch_again()
        if reads:
            system._settled = False

    def _watch_again(self) -> None:
        """What is looked at before each integration: global variables by what they are (which is quick), all else by contents."""
        self._globals, self._others = [], []
        for value in self.frozen:
            place, key = value.read.place, value.read.key
            if value.is_quick and isinstance(place, dict):
                self._globals.append((place, key, place.get(key, NOT_THERE)))
            else:
                self._others.append(value)

    def look(self) -> None:
        """Before each integration: have global variables or closures changed since the functions were compiled?"""
        missing = NOT_THERE  # (a local variable is found faster, and this runs before each solve)
        for place, key, was in self._globals:
            if place.get(key, missing) is not was:
                self.warn_of_changes()
                return
        for value in self._others:
            if value.has_changed():
                self.warn_of_changes()
                return

    def warn_of_changes(self) -> None:
        """Warn, once for each, of global variables and closures that have changed since the functions were compiled."""
        changed = [value for value in self.frozen if value.has_changed()]
        if changed:
            self.frozen = [value for value in self.frozen if all(value is not other for other in changed)]
        self._watch_again()  # (one that was set to an equal value is another object now)
        if changed:
            names = ", ".join(dict.fromkeys(value.name for value in changed))
            warn_user(
                f"{names}: changed since the functions of this system were compiled, which go on with the old value. Make a new "
                "System, or pass what changes in p",
                FunctionWarning,
            )

    def _take(self, system: System, user: UserFunction, addresses: RecordArray, reasons: list[str]) -> None:
        """Put the address of a function where the core looks for it. (Without one that does not compile, where others do.)"""
        if address := self._address(system, user, reasons):
            addresses[user.name] = address

    def _address(self, system: System, user: UserFunction, reasons: list[str]) -> int:
        """The address of a function, compiled or wrapped; 0 for one that is not needed and does not compile."""
        wanted = system._compile
        try:
            address, keep = user.bind(wanted is not False, system.sizes, self.failures)
            self._watch(system, user.frozen_reads)
        except (WritesArgumentError, LostValuesError):
            raise
        except Exception as error:
            if missing := undefined_name(error):
                raise name_error(user.name, missing, user.given) from None
            reason = f"{user.name} does not compile: {why(error)}"
            if wanted is True:
                raise TypeError(
                    f"{reason}\n(compile=True; with compile='auto' it would run as plain Python)"
                ) from error
            instead = "It runs as plain Python, about a hundred times slower"
            if user.name == "g_many":
                instead = "g is called for each contact instead, a few times slower"
            warn_user(f"{reason}\n{instead}. compile=False silences this.", PerformanceWarning)
            reasons.append(reason)
            if user.name == "g_many":
                return 0
            address, keep = user.bind(False, system.sizes, self.failures)
        if wanted is False and not user.is_low_level and "compile=False" not in reasons:
            reasons.append("compile=False")
        self.calls_python = self.calls_python or is_callback(keep)
        self.keep.append(keep)
        return address
