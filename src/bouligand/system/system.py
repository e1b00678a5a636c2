"""A system: a vector field that switches on guards, with names, sizes, parameters and whatever else is known of it."""

import threading
from collections.abc import Mapping

import numpy as np

from .binding import Bound, compose
from .functions import UserFunction
from .user_memory import Contexts

_OPTIONAL = ("fh", "Dh", "Dh_row", "Df", "Dt_h", "Dp_f", "Dp_h", "f0", "g", "g_many")


class System:
    """An event-selected system ``x' = f(t, x, b, p)`` with guards ``h(t, x, p) = 0``.

    Parameters
    ----------
    f : function
        The vector field, ``f(t, x, b, p)`` returning n values, or ``f(t, x, b, p, dx)`` writing them into dx, which is
        faster. ``b`` holds the side of each guard, -1.0 or +1.0. For a fixed b, f must be smooth in x, also a step's
        length beyond the guards. Use b, never the sign of h.
    h : function
        The guards, ``h(t, x, p)`` returning m values, or ``h(t, x, p, out)``.
    states, guards : sequence of str
        Names, and with them the sizes n and m. ``n=`` and ``m=`` do for those who want no names.
    params : mapping or sequence, optional
        Names and defaults of the parameters, or defaults alone. Changing parameters never recompiles anything.

    Other parameters
    ----------------
    compile : "auto", True or False
        Whether to compile f, h and the others with Numba. "auto" falls back to Python with a warning (it is a cliff in
        speed); ``system.compiled`` says yes, or why not. Globals and closures are frozen when a function is compiled:
        pass what changes in ``p``.
    direction : 0, +1, -1, a sequence, or a mapping from guard to one of these
        0 (default): the guard's sign flips on each crossing, either way. +1: one-sided, as in the paper: only
        crossings from - to + are events. -1 likewise from + to -.
    observers : sequence of guards
        Guards on which f does not depend (an apex, a log line): crossings are recorded, nothing is restarted.
    reset : array (m, m), optional
        For one-sided guards: ``reset[j, k]`` not zero means that crossing j arms k again (waiting for k to be back on its
        side). Without it, a one-sided guard is armed again as soon as h is back on its side.
    breakpoints : sequence of float, optional
        Times at which f or h may jump (a schedule): steps end there.
    Dh, Df, Dt_h, Dp_f, Dp_h : function, optional
        Jacobians of h (m, n) and f (n, n) in x, of h in t (m), of f (n, np) and h (m, np) in p; with the arguments of h
        and f, and like these with an output argument more if they write in place.
    Dh_row : function, optional
        ``Dh_row(t, x, k, p)``: a single row of Dh.
    f0, g : function, optional
        f as a sum over contacts: ``f = f0 + sum of g_k over the guards with b_k > 0``. ``f0(t, x, p)`` and ``g(t, x, k, p)``
        return n values; in place, ``f0(t, x, p, dx)`` writes and ``g(t, x, k, p, dx)`` *adds* to dx. Without f, it is
        composed of these; with f as well (where algebra makes the sum cheaper), all three are used. Only for such
        sums can one step span many crossings: with many contacts declare them, it is what keeps their cost linear.
    g_many : function, optional
        ``g_many(t, x, ks, p, out)``: several contacts at once, where they share work (the sine of an angle). Writes g of
        contact ``ks[i]`` to the column ``out[:, i]``, which is zero before.
    fh : function, optional
        ``fh(t, x, b, p, dx, out)`` writes f and h at once, where they share work.
    unit : sequence of parts of the state, optional
        Parts with unit length (a quaternion, a direction), each given by its adjacent states' names, or as a slice or a
        sequence of indices. They are made unit at the start and after every step, and perturbations lose what they have
        along them. f must commute with scaling such a part (``q' = q w / 2`` does), and h not depend on its length.
    context : function, optional
        For ``scipy.LowLevelCallable`` functions that work in memory of their own: ``context()`` returns its address, which they
        find as their user data, and an object that keeps it alive. Each integration that runs at the same time has one.
    """

    def __init__(
        self,
        f=None,
        h=None,
        *,
        states=None,
        guards=None,
        params=None,
        n=None,
        m=None,
        compile="auto",
        direction=0,
        observers=(),
        reset=None,
        breakpoints=(),
        unit=(),
        context=None,
        name=None,
        **functions,
    ):
        unknown = set(functions) - set(_OPTIONAL)
        if unknown:
            raise TypeError(f"System does not know {sorted(unknown)}; functions it knows: {', '.join(_OPTIONAL)}")
        if compile not in ("auto", True, False):
            raise ValueError(f"compile must be 'auto', True or False; got {compile!r}")
        self.states, self.n = _names("states", "n", states, n, "x")
        self.guards, self.m = _names(
            "guards", "m", guards, m if guards is not None or m is not None else _no_guards(h), "h"
        )
        self.params, self.defaults = _parameters(params)
        self.name = name
        self._compile = compile
        self._functions = {}
        self._contexts = None if context is None else Contexts(context)
        for key, function in {"f": f, "h": h, **functions}.items():
            if function is not None:
                self._functions[key] = UserFunction(key, function, self._contexts)
        self._composed = f is None
        if ("f0" in self._functions) != ("g" in self._functions):
            raise TypeError("f0 and g go together: f = f0 + sum of g_k over the guards with b_k > 0")
        if "g_many" in self._functions and "g" not in self._functions:
            raise TypeError("g_many is g for several contacts at once; give g as well")
        if f is None and "f0" not in self._functions:
            raise TypeError("give f, or f0 and g for a field that is a sum over contacts")
        if h is None:
            if self.m:
                raise TypeError(f"h is missing: {self.m} guards are declared")
            self._functions["h"] = UserFunction("h", _nothing)
        self.direction = self._per_guard("direction", direction)
        if not np.isin(self.direction, (-1, 0, 1)).all():
            raise ValueError(f"direction must be -1, 0 or +1 for each guard; got {direction!r}")
        self.observers = np.zeros(self.m, dtype=bool)
        self.observers[
            [self.guard_index(k) for k in ((observers,) if isinstance(observers, str | int) else observers)]
        ] = True
        self.reset = self._reset_matrix(reset)
        self.unit = self._parts(unit)
        self.breakpoints = times("breakpoints", breakpoints)
        self._is_sum = "g" in self._functions
        self._special = bool(self.direction.any() or self.observers.any())  # something that most systems do not have
        self._plain = not (self._special or self.unit.size or self.breakpoints.size)
        self._bound = None
        self._probed = False
        self._pool = None  # memory for the next integrations: see `memory.pool`
        self._lock = threading.Lock()

    # ------------------------------------------------------------------------------------------ names and sizes

    @property
    def sizes(self):
        return {"n": self.n, "m": self.m, "p": len(self.defaults)}

    def guard_index(self, guard):
        """Number of a guard given by name or number."""
        if isinstance(guard, str):
            if guard not in self.guards:
                raise ValueError(f"no guard is called {guard!r}; guards: {', '.join(self.guards[:10]) or 'none'}")
            return self.guards.index(guard)
        if not 0 <= int(guard) < self.m:
            raise ValueError(f"guard {guard} does not exist; there are {self.m}, numbered from 0")
        return int(guard)

    def _per_guard(self, what, values, default=0.0):
        """An array of m values from a number, a sequence, or a mapping from guard to value."""
        if isinstance(values, Mapping):
            out = np.full(self.m, default)
            for guard, value in values.items():
                out[self.guard_index(guard)] = value
            return out
        out = np.asarray(values, dtype=float)
        if out.ndim == 0:
            return np.full(self.m, float(out))
        if out.shape != (self.m,):
            raise ValueError(f"{what} must be a number, or one for each of the {self.m} guards; got shape {out.shape}")
        return out.copy()

    def _parts(self, unit):
        """Where each unit part of the state begins and stops, as rows."""
        parts: list[tuple[int, int]] = []
        for part in unit:
            if isinstance(part, slice):
                where = list(range(self.n))[part]
            elif isinstance(part, str):
                raise TypeError(f"unit is a sequence of parts, each with two states or more; got the name {part!r}")
            else:
                unknown = [q for q in part if isinstance(q, str) and q not in self.states]
                if unknown:
                    raise ValueError(f"unit: no state is called {unknown[0]!r}; states: {', '.join(self.states[:10])}")
                where = [self.states.index(q) if isinstance(q, str) else int(q) for q in part]
            if len(where) < 2 or where != list(range(where[0], where[0] + len(where))) or where[0] < 0:
                raise ValueError(f"unit: a part is two or more adjacent states in order; got {part!r}")
            if where[-1] >= self.n or any(first <= where[-1] and where[0] < stop for first, stop in parts):
                raise ValueError(f"unit: {part!r} is beyond the {self.n} states, or overlaps another part")
            parts.append((where[0], where[-1] + 1))
        return np.array(parts, dtype=np.int64).reshape(-1, 2)

    def _reset_matrix(self, reset):
        if reset is None:
            return np.empty((0, 0))
        reset = np.ascontiguousarray(reset, dtype=float)
        if reset.shape != (self.m, self.m):
            raise ValueError(f"reset must have shape ({self.m}, {self.m}), a row for each crossing; got {reset.shape}")
        if not self.direction.any():
            raise ValueError("reset is for one-sided guards; give direction=+1 (or -1) for those it is about")
        return reset

    def parameters(self, p=None):
        """The parameter vector: the defaults, an array instead, or the defaults with what a mapping changes."""
        if p is None:
            return self.defaults
        if isinstance(p, Mapping):
            out = self.defaults.copy()
            for key, value in p.items():
                if key not in self.params:
                    raise ValueError(f"no parameter is called {key!r}; parameters: {', '.join(self.params) or 'none'}")
                out[self.params.index(key)] = value
        else:
            out = np.array(p, dtype=float)
            if out.ndim == 0:
                out = out.reshape(1)
            if out.shape != self.defaults.shape:
                raise ValueError(f"p must have {len(self.defaults)} values, {self._parameter_list()}; got {out.shape}")
        if not np.isfinite(out).all():
            raise ValueError(f"p is not finite: {out}")
        return out

    def _parameter_list(self):
        return f"({', '.join(self.params)})" if self.params else "as many as the defaults in params"

    # -------------------------------------------------------------------------------------------------- functions

    def has(self, name):
        """Whether the function of that name was given (or, for f, can be composed)."""
        return name in self._functions

    def function(self, name):
        """The user's function of that name as a callable ``(t, *arguments) -> array``, for Python; None if not given."""
        if name == "f" and "f" not in self._functions:
            self._compose()
        user = self._functions.get(name)
        return None if user is None else lambda t, *arguments: user(self.sizes, t, *arguments)

    @property
    def compiled(self):
        """Whether f, h and the others run as machine code: true, or false with the reason when printed."""
        return self._bind().compiled

    def _compose(self):
        """f out of f0 and g."""
        f0, g = self._functions["f0"], self._functions["g"]
        composed = compose(f0.function, f0.in_place, g.function, g.in_place)
        self._functions["f"] = UserFunction("f", composed)

    def _bind(self):
        """Compile what the core needs, once."""
        if self._bound is None:
            with self._lock:
                if self._bound is None:
                    self._bound = Bound(self)
        return self._bound

    def _probe(self, t, x, p):
        """Call f and h once from Python, so that a wrong shape or an exception is told before anything else."""
        if self._probed:
            return
        word = np.empty(0)
        for name in ("h", "f"):
            user = self._functions[name]
            arguments = (x.copy(), p) if name == "h" else (x.copy(), word, p)
            try:
                values = user(self.sizes, t, *arguments)
                user.check_shape(self.sizes, values, t, x)
            except Exception as error:
                error.add_note(f"in {name}(t = {t:g}, x = {x}), called once to check it before the integration")
                raise
            word = np.where(values.ravel() >= 0.0, 1.0, -1.0)
        self._probed = True

    def __getstate__(self):
        """Functions travel as dispatchers where they are compiled: these can be pickled wherever they were written."""
        state = {key: value for key, value in self.__dict__.items() if key not in ("_bound", "_lock", "_pool")}
        if self._composed:
            state["_functions"] = {key: value for key, value in self._functions.items() if key != "f"}
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._bound = None
        self._pool = None
        self._lock = threading.Lock()

    def __repr__(self):
        def some(names):
            return ", ".join(names) if len(names) <= 6 else f"{', '.join(names[:3])}, ... {names[-1]}"

        extra = [key for key in self._functions if key not in ("f", "h")]
        return (
            f"System({self.name or 'unnamed'}: {self.n} states ({some(self.states)}), {self.m} guards ({some(self.guards)}), "
            f"{len(self.defaults)} parameters" + (f"; with {', '.join(extra)}" if extra else "") + ")"
        )

    def check(self, x, p=None, t=0.0, **options):
        """Check a system at a state: Jacobians, dependence on b, and whether its guards are crossed for good.

        See `bouligand.check.check`.
        """
        from .check import check

        return check(self, x, p, t, **options)


def times(what, values):
    """Sorted, finite, distinct times as an array."""
    out = np.unique(np.asarray(values if values is not None else (), dtype=float).ravel())
    if not np.isfinite(out).all():
        raise ValueError(f"{what} must be finite times; got {values!r}")
    return out


def _names(what, size_name, names, size, letter):
    if names is None:
        if size is None:
            raise TypeError(f"give {what}=(names) or {size_name}=(number)")
        if int(size) != size or size < 0 or (size_name == "n" and size == 0):
            raise ValueError(f"{size_name} must be a positive whole number; got {size!r}")
        return tuple(f"{letter}{i}" for i in range(int(size))), int(size)
    names = (names,) if isinstance(names, str) else tuple(str(name) for name in names)
    if size is not None and size != len(names):
        raise ValueError(f"{size_name} = {size}, but {what} has {len(names)} names")
    if len(set(names)) != len(names):
        raise ValueError(f"{what} has a name twice: {names}")
    return names, len(names)


def _no_guards(h):
    return 0 if h is None else None


def _parameters(params):
    if params is None:
        return (), np.empty(0)
    if isinstance(params, Mapping):
        names, values = tuple(params), np.array(list(params.values()), dtype=float)
        if values.ndim != 1:
            raise ValueError("params: each parameter is a number; for an array of them give params as an array")
    else:
        names, values = (), np.array(params, dtype=float).ravel()
    if not np.isfinite(values).all():
        raise ValueError(f"params must be finite; got {params!r}")
    return names, values


def _nothing(t, x, p, out):
    pass
