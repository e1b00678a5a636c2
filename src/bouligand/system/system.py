"""A system: a vector field that switches on guards, with names, sizes, parameters and whatever else is known of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Never, overload

import numpy as np

from . import declarations as declared
from . import words
from .arguments import one_of, short
from .binding import Bound, Compiled
from .composing import check_parts, composed_field, no_guards
from .declarations import times
from .exact import KINDS, Jacobians
from .frozen import schedules_of
from .functions import UserFunction
from .jumps import JACOBIANS as JUMP_JACOBIANS
from .jumps import Jumps, SetState
from .probing import probe, probe_jacobians
from .user_memory import Contexts

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .. import _typing as ty
    from .check_report import Report

__all__ = ["System", "times"]

_OPTIONAL = ("fh", "Dh", "Dh_row", "Df", "Dt_h", "Dp_f", "Dp_h", "f0", "g", "g_many")
_OF_SOLVE = ("rtol", "atol", "method", "t_eval", "max_step", "max_steps", "terminal", "b0", "on_graze", "on_failure")
_MADE_ANEW = ("_bound", "_pool")  # what a pickled system does without


def _known(name: str) -> str:
    return words.name("name", name, ("f", "h", *_OPTIONAL), "function")


class System:
    """A differential equation ``x' = f(t, x, b, p)`` that switches on guards ``h(t, x, p) = 0``.

    The mode ``b`` (also called the *word*) has an entry for each guard, -1.0 or +1.0: the side of the guard on which the
    trajectory is. Where the trajectory crosses a guard, an event is recorded and that entry changes its sign.

    Parameters
    ----------
    f : callable
        The vector field. ``f(t, x, b, p)`` returns n values; ``f(t, x, b, p, dx)`` writes them to ``dx``, which is faster.
        For a fixed mode f must be smooth in x, also beyond the guards by the length of a step: switch on ``b``, never on the
        sign of h. May be left out if ``f0`` and ``g`` are given. No function may write to x, b or p; one that writes to its last
        argument has to write all of it.
    h : callable
        The guards. ``h(t, x, p)`` returns m values, ``h(t, x, p, out)`` writes them. May be left out if there are none.
    states, guards : sequence of str
        Names, which also give the sizes n and m.
    params : mapping from str to float, or array, optional
        Names and default values of the parameters, or default values alone. Other values can be given for each integration
        without compiling anything again.

    Other Parameters
    ----------------
    n, m : int
        Numbers of states and guards, instead of their names.
    compile : {"auto", True, False}
        Whether to compile the functions with Numba. With "auto", a function that Numba cannot compile runs as plain Python,
        about a hundred times slower, with a `PerformanceWarning`; with True it is an error. `compiled` holds the outcome.
        Compiling freezes global variables and closures: pass whatever changes in ``p``. (If one changes, there is a
        `FunctionWarning`, and a new System uses the new value.) Functions with the same code and equal globals and closures share
        machine code, which is never freed; other values take about 1.5 MB each.
    jacobians : {"auto", "exact", "differences"}
        Where Jacobians come from that are not given. "auto": f and h are compiled once more, for dual numbers, which gives exact
        Jacobians; where that is not possible (plain Python, machine code, an operation without a rule) they are computed by
        differences, and the attribute `jacobians` says why. "exact": that is a TypeError. "differences": always by differences.
    direction : {0, +1, -1}, sequence of these, or mapping from guard to one of these
        0 (default): crossings in both directions are events. +1: one-sided; only crossings from - to + are events. The crossing
        back is no event; it re-arms the guard, that is, makes it ready for the next event. -1: likewise from + to -.
    observers : guard or sequence of guards
        Guards (names or numbers) on which f does not depend, such as an apex. Their crossings are recorded and the
        integration goes on as if they were not there.
    reset : array (m, m), optional
        For one-sided guards: crossing guard j re-arms guard k if ``reset[j, k]`` is not zero (once h_k is back on its side).
        Without it, a one-sided guard is re-armed as soon as h is back on its side.
    jumps : mapping from guard to callable (or a callable, if there is one guard), optional
        Jumps of the state: at an event of that guard the state becomes ``R(t, x, b, p)`` (returned, or written with
        ``R(t, x, b, p, xnew)``; xnew holds x before, so that only what changes has to be written). b is the mode before it.
        Guards that a jump carries across zero fire at the same instant. See docs/jumps.md.
    jump_many : callable, optional
        Instead of a function for each guard: ``jump_many(t, x, fired, b, p)`` (or with ``xnew``) for all guards that fire at one
        instant, those with ``fired[k] > 0``. It applies to the guards that ``jumps`` names, or to all if ``jumps`` is not given.
    order : sequence of guards, optional
        The order in which jumps of one instant are applied. Without it, jumps whose order matters are refused.
    rest : guard, sequence of guards, or mapping from guard to the name of a parameter, optional
        Contacts with jumps on which the trajectory may come to rest: where its jumps accumulate, or a jump is inelastic, it goes
        on with h = 0, kept by a force in the direction of the jump, until that force would have to pull. The contact must be
        open where h > 0. Without it, jumps that accumulate are refused (`ZenoError`). ``{"floor": "N"}``: f finds the force in
        this parameter while the contact rests (what it adds to the second derivative of h; else the parameter is 0), for
        friction whose limit depends on it.
    sliding : {"filippov"} or bool, optional
        Compute sliding modes: where the flow points towards a guard on both sides, the trajectory stays on it, with the convex
        combination of both fields that keeps it there, and the entry of the mode is 0. On several guards at once, f has to be
        affine in their signs. Without it, sliding is refused (`SlidingError`).
    active_while : mapping from guard to guard (or two guards), optional
        Guards that matter only while others are on their + side (of contacts that may ``rest``: while they rest):
        ``{"slips": "touches"}`` for the slip of a foot, on whose sign f depends while the foot touches. In other modes such a
        guard has no events, and its entry in b is +1. For systems with sliding modes: a foot that lands without slip sticks
        from the start.
    breakpoints : array, optional
        Times at which f or h may jump. Steps end there. (Those of a `Schedule` that f or h call are added to them.)
    unit : sequence of parts of the state, optional
        Parts that have unit length (quaternions, directions). Each is a slice, or a sequence of names or indices of
        adjacent states. They are normalised at the start and after every step, and derivatives leave out perturbations along
        them. f must commute with scaling such a part (``q' = q w / 2`` does), and h must not depend on its length.
    context : callable, optional
        For ``scipy.LowLevelCallable`` functions that need working memory: ``context()`` returns its address, which they find
        as their user data, and an object that keeps it alive. Integrations that run at the same time get one each.
    name : str, optional
        A name for messages.
    Dh, Df, Dt_h, Dp_f, Dp_h : callable, optional
        Jacobians: of h (m, n) and f (n, n) in x, of h in t (m), of f (n, parameters) and h (m, parameters) in p. They take
        the arguments of h or f, and one more if they write to it. Those that are not given come from the code of f and h
        (see ``jacobians``).
    DR, Dp_R, Dt_R : mapping from guard to callable, optional
        Jacobians of jumps in x, p and t, with the arguments of the jumps.
    Dh_row : callable, optional
        ``Dh_row(t, x, k, p)``: row k of Dh.
    f0, g : callable, optional
        f as a sum over contacts, ``f = f0 + sum of g_k over the guards with b_k > 0``. ``f0(t, x, p)`` and
        ``g(t, x, k, p)`` return n values; ``f0(t, x, p, dx)`` writes to dx and ``g(t, x, k, p, dx)`` *adds* to dx. Only for
        such sums can one step span many crossings, which keeps the cost linear in the number of contacts. Give f as well
        if it can be computed faster than by this sum.
    g_many : callable, optional
        ``g_many(t, x, ks, p, out)``: g of several contacts that share work. Writes g of contact ``ks[i]`` to the column
        ``out[:, i]``, which is zero before.
    fh : callable, optional
        ``fh(t, x, b, p, dx, out)``: writes f and h at once, where they share work.

    Attributes
    ----------
    states, guards, params : tuple of str
        Names. ``params`` is empty if the defaults were given as an array.
    n, m : int
        Numbers of states and guards.
    defaults : array
        Default values of the parameters.
    direction, observers, reset, breakpoints, unit : array
        As declared; ``unit`` has the first index and the end (exclusive) of each part.
    name : str or None
    jacobians : Jacobians
        Where each Jacobian comes from.
    compiled : Compiled
        True if all functions run as machine code; otherwise false, and ``compiled.reason`` is the reason.

    Raises
    ------
    TypeError, ValueError
        If a declaration is wrong; the message names the argument. (What is wrong with the functions themselves is told when they
        are first compiled or called.)

    Examples
    --------
    A mass on a springy leg, whose foot is a guard:

    >>> import bouligand as bd
    >>> def f(t, x, b, p, dx):
    ...     g, k, rest = p
    ...     dx[0] = x[1]
    ...     dx[1] = (k * (rest - x[0]) if b[0] > 0 else 0.0) - g
    >>> def h(t, x, p, out):
    ...     out[0] = p[2] - x[0]
    >>> hopper = bd.System(f, h, states=("z", "vz"), guards=("foot",), params={"g": 9.81, "k": 1000.0, "rest": 1.0})
    >>> hopper
    System(unnamed: 2 states (z, vz), 1 guards (foot), 3 parameters)
    >>> bd.solve(hopper, (0.0, 1.0), [2.0, 0.0], p={"k": 800.0}).events.direction
    array([ 1, -1], dtype=int8)
    """

    _held_inputs: tuple[str, ...] = ()  # the parameters that are inputs of one interval: see `rollout`
    _checks_parameters = (
        False  # whether `parameters` has rules beyond numbers and names: of a subclass, or for forces at rest
    )
    # (declared here for mypy, which meets some uses before the declarations that these come from)
    n: int
    m: int
    defaults: ty.FloatArray
    reset: ty.FloatArray
    unit: ty.IntArray

    def __init__(
        self,
        f: ty.ModeFunction | None = None,
        h: ty.Function | None = None,
        *,
        states: Iterable[str] | None = None,
        guards: Iterable[str] | None = None,
        params: ty.Parameters | None = None,
        n: int | None = None,
        m: int | None = None,
        compile: ty.Compile = "auto",
        jacobians: ty.JacobianSource = "auto",
        direction: ty.PerGuard = 0,
        observers: ty.Guards = (),
        reset: ArrayLike | None = None,
        jumps: Mapping[ty.Guard, ty.ModeFunction | SetState] | ty.ModeFunction | ty.Guards | None = None,
        jump_many: ty.JumpFunction | None = None,
        order: Iterable[ty.Guard] | None = None,
        rest: ty.Guards | Mapping[ty.Guard, str | None] | None = None,
        sliding: Literal["filippov"] | bool | None = None,
        active_while: Mapping[Any, ty.Guards] | None = None,
        breakpoints: ArrayLike = (),
        unit: Iterable[slice | Iterable[str | int]] = (),
        context: Callable[[], tuple[int, object]] | None = None,
        name: str | None = None,
        fh: ty.BothFunction | None = None,
        Dh: ty.Function | None = None,
        Dh_row: ty.GuardFunction | None = None,
        Df: ty.ModeFunction | None = None,
        Dt_h: ty.Function | None = None,
        Dp_f: ty.ModeFunction | None = None,
        Dp_h: ty.Function | None = None,
        f0: ty.Function | None = None,
        g: ty.GuardFunction | None = None,
        g_many: ty.GuardsFunction | None = None,
        DR: Mapping[ty.Guard, ty.ModeFunction] | None = None,
        Dp_R: Mapping[ty.Guard, ty.ModeFunction] | None = None,
        Dt_R: Mapping[ty.Guard, ty.ModeFunction] | None = None,
        **unknown: Never,
    ) -> None:
        if unknown:
            later = [name for name in sorted(unknown) if name in _OF_SOLVE]
            what = f"{later[0]} is an option of solve" if later else f"functions it knows: {', '.join(_OPTIONAL)}"
            raise TypeError(f"System does not know {sorted(unknown)}; {what}")
        if not isinstance(compile, bool) and not (isinstance(compile, str) and compile == "auto"):
            raise ValueError(f"compile must be 'auto', True or False; got {short(compile)}")
        one_of("jacobians", jacobians, KINDS)
        if name is not None and not isinstance(name, str):
            raise TypeError(f"name must be a text; got {short(name)}")
        self.states, self.n = declared.names_and_size("states", "n", states, n, "x")
        if guards is None and m is None and h is None:
            m = 0
        self.guards, self.m = declared.names_and_size("guards", "m", guards, m, "h")
        self.params, self.defaults = declared.defaults_of(params)
        self.name = name
        self._compile: ty.Compile = compile
        self._jacobians: ty.JacobianSource = jacobians
        self._functions: dict[str, UserFunction] = {}
        self._contexts = None if context is None else Contexts(context)
        optional = (fh, Dh, Dh_row, Df, Dt_h, Dp_f, Dp_h, f0, g, g_many)
        for key, function in zip(("f", "h", *_OPTIONAL), (f, h, *optional), strict=True):
            if function is not None:
                self._functions[key] = UserFunction(key, function, self._contexts)
        self._composed = f is None
        check_parts(self._functions)
        if h is None:
            if self.m:
                raise TypeError(f"h is missing: {self.m} guards are declared")
            self._functions["h"] = UserFunction("h", no_guards)
        self.direction = declared.directions(self.guards, direction)
        self.observers = declared.observer_flags(self.guards, observers)
        self.reset = declared.reset_matrix(reset, self.direction)
        given = dict(zip(JUMP_JACOBIANS, (DR, Dp_R, Dt_R), strict=True))
        self.jumps = Jumps(self.states, self.guards, jumps, jump_many, order, given, self._contexts)
        self.jumps.refuse(self.guards, self.observers, self.reset)
        if isinstance(sliding, bool):
            sliding = "filippov" if sliding else None  # (there is one kind)
        self.sliding = None if sliding is None else one_of("sliding", sliding, ("filippov",))
        self.rests = self.jumps.resting(self.guards, rest)
        self.rest_forces = self.jumps.forces(self.guards, rest, self.params, self.defaults)
        self._checks_parameters = self._checks_parameters or bool((self.rest_forces >= 0).any())
        self._stays = self.sliding is not None or bool(self.rests.any())  # whether trajectories may stay on guards
        self.needs = declared.needed_guards(self.guards, active_while, self.sliding is not None, self.jumps.has)
        if self.sliding and self.reset.size:
            raise ValueError(
                "reset (the matrix that says which crossing re-arms which guard) does not go with sliding modes"
            )
        self.unit = declared.unit_parts(self.states, unit)
        self.breakpoints = times("breakpoints", breakpoints)
        if read := [s for u in self._functions.values() for s in schedules_of(u.given)]:
            self.breakpoints = np.unique(np.concatenate([self.breakpoints, *(s.times for s in read)]))
        self._no_jacobians = ""  # why a bridge does not give them
        self._is_sum = "g" in self._functions
        # something that most systems do not have
        self._special = bool(self.direction.any() or self.observers.any() or self.jumps or self._stays)
        # whether integrations that run at the same time may share what functions find as their context
        self._shares_context = self._contexts is None and not self._stays
        self._plain = not (self._special or self.unit.size or self.breakpoints.size)
        self._expects_stiff = False  # whether stiff steps are to be expected from the start: set by bridges
        self._trusts_Df: bool | None = None  # whether Df, if given, was compared with differences, and fits
        self._bound: Bound | None = None
        self._probed = False
        self._settled = False  # whether there is nothing to look at before an integration
        self._jacobians_probed: set[bool] = set()  # without those in parameters, and with them
        self._modes_tried = True  # whether the probe may call f in modes that are not those of the start
        self._pool: Any = None  # memory for the next integrations: see `memory.pool`

    @property
    def sizes(self) -> dict[str, int]:
        """The numbers of states ("n"), guards ("m") and parameters ("p")."""
        return {"n": self.n, "m": self.m, "p": len(self.defaults)}

    def guard_index(self, guard: ty.Guard) -> int:
        """Number of a guard given by name or number.

        Raises ValueError if there is no such guard.
        """
        return declared.guard_index(self.guards, guard, "guard")

    def _per_guard(self, what: str, values: ty.PerGuard, default: float = 0.0) -> ty.FloatArray:
        """An array of m values from a number, a sequence, or a mapping from guard to value."""
        return declared.per_guard(self.guards, what, values, default)

    def parameters(self, p: ty.Parameters | None = None) -> ty.FloatArray:
        """The vector of all parameters.

        Parameters
        ----------
        p : array or mapping from str to float, optional
            All parameters, or those that differ from the defaults.

        Returns
        -------
        array (parameters,)

        Raises
        ------
        ValueError
            If a name is unknown, the number of values is wrong, or a value is not finite.

        Examples
        --------
        >>> import bouligand as bd
        >>> bd.models.hopper().parameters({"g": 1.62})
        array([   1.62, 1000.  ,    1.  ])
        """
        values = declared.parameter_vector(self.params, self.defaults, p)
        for place in self.rest_forces[self.rest_forces >= 0]:
            if values[place] != 0.0:
                raise ValueError(
                    f"p: {self.params[place]!r} is the force of a contact at rest, which is found there, and 0 elsewhere; it "
                    f"cannot be given ({values[place]:g} came): leave it out, or give 0"
                )
        return values

    def _approves(self, p: ty.FloatArray) -> bool:
        """Whether it is known, without looking at each, that an array of parameters keeps the rules of a subclass."""
        return not self._checks_parameters

    def has(self, name: str) -> bool:
        """Whether the function of that name (``"Dh"``, ``"g"``, ...) was given."""
        return _known(name) in self._functions

    @overload
    def function(self, name: Literal["f", "h"]) -> Callable[..., ty.FloatArray]: ...

    @overload
    def function(self, name: str) -> Callable[..., ty.FloatArray] | ty.MaybeNone: ...

    def function(self, name: str) -> Callable[..., ty.FloatArray] | ty.MaybeNone:
        """One of the functions, to be called from Python; None if it was not given.

        Parameters
        ----------
        name : str
            ``"f"``, ``"h"``, ``"Dh"``, ... If only f0 and g were given, ``"f"`` is their sum.

        Returns
        -------
        callable or None
            It takes ``t`` and the other arguments, without an output argument, and returns its values as a new array.

        Examples
        --------
        >>> import bouligand as bd
        >>> hopper = bd.models.hopper()
        >>> hopper.function("h")(0.0, [2.0, 0.0], hopper.defaults)
        array([-1.])
        """
        if _known(name) == "f" and "f" not in self._functions:
            self._compose()
        if name == "f" and self._stays:
            return self._bind().field
        user = self._functions.get(name)
        return None if user is None else lambda t, *arguments: user(self.sizes, t, *arguments)

    @property
    def compiled(self) -> Compiled:
        """Whether all functions run as machine code: true, or false with a ``reason``. Compiles them if that was not done yet."""
        return self._bind().compiled

    @property
    def jacobians(self) -> Jacobians:
        """Where each Jacobian comes from: "given", "exact" or "differences", and why. Compiles what was not compiled yet."""
        return self._bind().sources(self)

    def _compose(self) -> None:
        """f out of f0 and g."""
        self._functions["f"] = composed_field(self._functions)

    def _bind(self) -> Bound:
        """Compile what the core needs, once."""
        if self._bound is None:
            from ..core.compiler.compiling import compiling

            with compiling():  # (one thread compiles, others wait)
                if self._bound is None:
                    self._bound = Bound(self)
        return self._bound

    def _look(self, t: float, rows: Any, p: ty.FloatArray) -> None:
        """Before an integration that starts at rows.x: the probe, once; then, for those that have any, at values that compiled
        functions have taken in."""
        bound = self._bind()
        if self._probed:
            bound.look()
        else:
            self._probe(float(t), rows.x.copy(), p)
        self._settled = not bound.frozen

    def _probe(self, t: float, x: ty.FloatArray, p: ty.FloatArray) -> None:
        """Look at f and h once from Python, so that what is wrong with them is reported before anything else happens."""
        if not self._probed:
            probe(self, t, x, p)
            self._probed = True

    def _probe_jacobians(self, t: float, x: ty.FloatArray, word: ty.FloatArray, p: ty.FloatArray, params: bool) -> None:
        """The same for Jacobians, before the first derivative."""
        probe_jacobians(self, t, x, word, p, params)
        self._jacobians_probed.add(params)

    def __getstate__(self) -> dict[str, Any]:
        """Functions are pickled as Numba dispatchers where they are compiled, so that local functions can be pickled too."""
        state = {key: value for key, value in self.__dict__.items() if key not in _MADE_ANEW}
        if self._composed:
            state["_functions"] = {key: value for key, value in self._functions.items() if key != "f"}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._bound = None
        self._pool = None

    def __repr__(self) -> str:
        return f"System({declared.summary(self)})"

    def check(
        self,
        x: ArrayLike,
        p: ty.Parameters | None = None,
        t: float = 0.0,
        *,
        guards: Iterable[ty.Guard] | None = None,
        tol: float = 1e-5,
    ) -> Report:
        """Check the system at a state; see `bouligand.check`."""
        from .check import check

        return check(self, x, p, t, guards=guards, tol=tol)


def a_system(value: Any) -> System:
    """The argument ``system``."""
    if not isinstance(value, System):
        raise TypeError(f"system must be a System (bd.System(f, h, ...)); got {short(value)}")
    return value
