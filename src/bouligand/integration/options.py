"""The options of an integration: checked, and written to the workspace of the core.

The message of every check names the argument, what was given, and what to give instead.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from functools import lru_cache
from numbers import Real
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..core.schemes import METHODS, STIFF
from ..core.state import ALWAYS, EXPLICIT_ONLY, GIVEN, IF_NEEDED, NO_GUARD, SCALARS
from ..core.views import record_view
from ..system.arguments import finite_numbers, number, numbers, short, whole
from ..system.declarations import guard_index, named_state
from ..system.system import times
from ..system.words import listed, pair

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .. import _typing as ty
    from ..core.views import RowsView
    from ..memory.working import Declared, IntegrationMemory
    from ..system.system import System

FIRST_LOOK = 16  # steps after which to see for the first time whether stability limits them
TO_THE_END = 2**62  # steps: more than any integration takes
_SIGNS = {-1.0, 1.0}
_SIGNS_AND_STAYING = {-1.0, 0.0, 1.0}
FEW = 16  # parameters up to which a sum of them is quicker than a product of arrays
PROJECTIONS: dict[str | int, int] = {"tangent": 1, "midpoint": 2, "rk4": 4, 2: 1, 3: 2, 5: 4}


def span(t_span: ty.TimeSpan) -> tuple[float, float]:
    """The two times of ``t_span``."""
    both = pair("t_span", t_span, "two times (t0, tf)")
    try:
        t0, tf = (number("t_span", time) for time in both)
    except TypeError:
        raise ValueError(f"t_span must be two times (t0, tf), real numbers; got {short(t_span)}") from None
    if not -1e300 < t0 <= tf < 1e300:
        if t0 > tf:
            raise ValueError(
                f"t_span runs backwards, from {t0:g} to {tf:g}; give t0 <= tf. Which guard is crossed first, re-arming, jumps "
                "and sliding are defined forwards in time only. Without these, integrate the reversed system -f(-s, x, b, p), "
                "h(-s, x, p) over s from -t0 to -tf"
            )
        raise ValueError(f"t_span must be within 1e300; got {t_span!r}")
    return t0, tf


@lru_cache(maxsize=128)
def settings(rtol: float, atol: ArrayLike | None, method: str, max_step: float, max_steps: int) -> memoryview[Any]:
    """The scalars of a workspace with these options, ready to be copied. (Cached: most integrations use the same options.)"""
    for name, value in (("rtol", rtol), ("max_step", max_step), ("max_steps", max_steps)):
        if not isinstance(value, Real) or isinstance(value, bool):
            raise ValueError(f"{name} must be a number; got {value!r}")
    if not 1e-15 < rtol < 1.0:
        raise ValueError(f"rtol must be between 1e-15 and 1; got {rtol!r}")
    if not max_step > 0.0:
        raise ValueError(f"max_step must be positive; got {max_step}")
    whole("max_steps", max_steps, 1)
    if method != "auto" and method not in METHODS:
        raise ValueError(f"method must be 'auto', {', '.join(map(repr, METHODS))}; got {method!r}")
    head = np.zeros(SCALARS.itemsize // 8)
    s = record_view(SCALARS)(head.data)
    s.options.rtol = rtol
    s.options.dt_max = min(max_step, 1e300)
    s.options.probe = 1e-3
    s.run.cap = 1e300
    s.run.ended_by = NO_GUARD
    s.options.max_steps = min(max_steps, TO_THE_END)
    s.run.budget = TO_THE_END
    s.stiff.explicit = METHODS[method if method not in ("auto", "stiff") else "dopri5" if rtol > 2e-5 else "dop853"]
    s.next.scheme = STIFF if method == "stiff" else s.stiff.explicit
    s.stiff.allowed = {"auto": IF_NEEDED, "stiff": ALWAYS}.get(method, EXPLICIT_ONLY)
    s.stiff.weigh_at = FIRST_LOOK if method == "auto" else TO_THE_END
    s.stiff.A_at = -1
    s.options.atol = 0.01 * rtol if atol is None else _absolute(atol, 1)
    return head.data.toreadonly()


def _absolute(atol: ArrayLike, n: int) -> ty.FloatArray:
    """An absolute tolerance: a number, or one for each state."""
    atol = numbers("atol", atol)
    if atol.ndim > 0 and atol.shape != (n,):
        raise ValueError(f"atol must be a number, or one for each of the {n} states; got shape {atol.shape}")
    if not (atol >= 0.0).all() or not np.isfinite(atol).all():
        raise ValueError(f"atol must not be negative; got {atol}")
    return np.maximum(atol, 1e-290)


def wrote_parameters(work: IntegrationMemory, p: Any) -> bool:
    """Write a vector of finite floats to a workspace, in half a microsecond; False if it is something else, or wrong."""
    try:
        if type(p) is np.ndarray:
            work.parameters[:] = p  # (refuses any other type of numbers, and any other shape)
        elif type(p) is list or type(p) is tuple:
            work.parameters[:] = array("d", p)
        else:
            return False
    except (TypeError, ValueError):
        return False
    total = sum(work.parameters) if len(p) < FEW else float(work.p.dot(work.p))
    return total - total == 0.0


def begin(
    work: IntegrationMemory,
    system: System,
    t_span: ty.TimeSpan,
    x0: ty.State,
    rtol: float,
    atol: ArrayLike | None,
    method: str,
    max_step: float,
    max_steps: int,
) -> tuple[float, float]:
    """Write scalars, interval and state to a workspace, with all checks and conversions: the slow path, for arguments that the
    fast one of `Stepper` could not write. Returns the interval."""
    t0, tf = span(t_span)
    given = None if atol is None else numbers("atol", atol)
    each = None if given is None or given.ndim == 0 else given  # a tolerance for each state
    rtol, max_step = _scalar("rtol", rtol), _scalar("max_step", max_step)
    max_steps = _scalar("max_steps", max_steps)
    if not isinstance(method, str):
        raise ValueError(f"method must be 'auto', {', '.join(map(repr, METHODS))}; got {method!r}")
    common = None if atol is None or each is not None else number("atol", atol)
    work.head[:] = settings(rtol, common, method, max_step, max_steps)
    if each is not None:
        work.s.options.atol = -1.0
        work.v.atol[:] = _absolute(each, system.n)
    work.write(work.begin, 0, t0, t0, tf, tf, *state(system, x0))
    return t0, tf


def _scalar(name: str, value: Any) -> Any:
    """A number, also one in an array of its own."""
    if isinstance(value, np.ndarray) and value.ndim == 0 and not np.ma.is_masked(value):
        value = value.item()
    if not isinstance(value, Real):
        raise ValueError(f"{name} must be a number; got {value!r}")
    return value


def state(system: System, x0: ty.State, what: str = "x0") -> list[float]:
    """The state at the start, as a list; from the argument ``what``."""
    if isinstance(x0, Mapping):
        x0 = named_state(what, system.states, x0)
    try:
        x = numbers(what, x0)
        fits = x.shape == (system.n,)
    except (TypeError, ValueError):
        fits = False
    if not fits:
        names = ", ".join(system.states) if system.n <= 8 else ", ".join(system.states[:4]) + ", ..."
        raise ValueError(f"{what} must have {system.n} values ({names}); got {short(x0)}")
    return cast("list[float]", x.tolist())


def unit_parts(system: System, x: ty.FloatArray) -> None:
    """Check that no unit part of the start is zero: the core normalises them."""
    for first, stop in system.unit:
        if not np.hypot.reduce(x[first:stop]) > 1e-9:
            names = ", ".join(system.states[first:stop])
            raise ValueError(f"x0: ({names}) has unit length, but is {x[first:stop]} at the start")


def rare(
    work: IntegrationMemory,
    system: System,
    t0: float,
    tf: float,
    eps: ty.PerGuard | None,
    projection: ty.Projection | None,
    t_eval: ArrayLike | None,
    terminal: ty.Terminal | None,
    breakpoints: ArrayLike | None,
    b0: ArrayLike | None,
) -> bool:
    """Write options that most integrations do not use to a workspace. Returns whether some guards are one-sided, observers,
    terminal, or have bands."""
    special = system._special or eps is not None or projection is not None or terminal is not None
    if special:
        mark(work, system, eps, projection, terminal)
    if b0 is not None:
        work.guards[: system.m] = word(system, b0)
        work.s.options.word_given = GIVEN
    if breakpoints is not None or system.breakpoints.size:
        work.put("breaks", breaks(system, breakpoints, t0, tf))
        if work.breaks.size:
            work.s.now.stop = work.breaks[0]
    if system.unit.size:
        unit_parts(system, work.v.x)
    if t_eval is not None:
        moments, states = requested(t_eval, t0, tf, system.n)
        work.put("t_eval", moments)
        work.put("x_eval", states)
    return special


def mark(
    work: IntegrationMemory,
    system: System,
    eps: ty.PerGuard | None,
    projection: ty.Projection | None,
    terminal: ty.Terminal | None,
) -> None:
    """Write the properties of guards to a workspace: one-sided, observers, with bands, terminal."""
    work.marked = True
    s = work.s
    if system._special:
        work.guards[:], numbers_of = work.declared or declare(work, system)
        for name, count in numbers_of:
            setattr(s.options, name, count)
    if eps is not None or projection is not None:
        bands(work, system, eps, projection)
    if terminal is not None:
        terminal_guards(work.g, system, terminal)
        s.options.observers = np.count_nonzero(work.g.observer)


def declare(work: IntegrationMemory, system: System) -> Declared:
    """Keep what all integrations of this system begin with in this memory: the rows of the guards, and five scalars."""
    g = work.g
    g.direction[:] = system.direction
    g.observer[:] = system.observers
    if system.jumps:
        g.jump[:] = system.jumps.has
        mine = {"jumps": system._bind().jumps, "jump_order": system.jumps.order}
        for name, array in mine.items():
            work.put(name, array)
        work.usual |= mine  # (they stay for the next integrations)
    if system._stays:
        g.b.fill(1.0)  # (0 means that the trajectory stays on it)
        g.rest[:] = system.rests
        g.needs[:], g.needs_too[:] = system.needs.T + 1.0
    counts = {
        "one_sided": int(np.count_nonzero(system.direction)),
        "observers": int(np.count_nonzero(system.observers)),
        "may_slide": int(system.sliding is not None),
        "jumps": int(np.count_nonzero(system.jumps.has)) if system.jumps else 0,
        "order_given": int(system.jumps.order_given),
        "dependent": int(np.count_nonzero(system.needs[:, 0] >= 0)),
    }
    # (the scalars are zero before)
    declared = work.declared = (g._matrix.ravel().copy().data, [(name, n) for name, n in counts.items() if n])
    return declared


def bands(work: IntegrationMemory, system: System, eps: ty.PerGuard | None, projection: ty.Projection | None) -> None:
    """The paper's mode: bands of fixed width, projections of fixed order."""
    if system.jumps or system.sliding:
        raise ValueError(
            "eps: bands, in which trajectories are projected, do not go with jumps or sliding modes; leave eps out"
        )
    if eps is None:
        raise ValueError(
            f"projection={projection!r} needs eps, the width of the bands; without both, the tolerance decides"
        )
    key = "tangent" if projection is None else projection
    rung = PROJECTIONS.get(key) if isinstance(key, str | int) else None
    if rung is None:
        raise ValueError(f"projection must be 2 or 'tangent', 3 or 'midpoint', 5 or 'rk4'; got {projection!r}")
    widths = system._per_guard("eps", eps)
    if not (widths > 0).all() or not np.isfinite(widths).all():
        raise ValueError(f"eps must be positive, a number or one for each guard; got {eps!r}")
    work.g.eps[:] = np.where(system.observers, 0.0, widths)
    work.s.options.projection = rung


def terminal_guards(g: RowsView, system: System, terminal: ty.Terminal) -> None:
    """Write to the guards' rows at which crossing each terminal guard ends the integration."""
    if isinstance(terminal, bool | np.bool_):
        raise ValueError(f"terminal names the guards to stop at, or maps them to a count; got {terminal!r}")
    counts: Mapping[Any, Any]
    if isinstance(terminal, str | int | np.integer):
        counts = {terminal: 1}
    elif isinstance(terminal, Mapping):
        counts = terminal
    else:
        counts = {}
        for guard in listed("terminal", terminal, "guards to stop at, or a mapping from guards to a count"):
            counts[guard_index(system.guards, guard, "terminal")] = 1
    for guard, count in counts.items():
        count = whole(f"terminal: stop at which crossing of {guard!r}? it", count, 1)
        k = guard_index(system.guards, guard, "terminal")
        g.terminal[k] = count
        g.observer[k] = 0.0  # an observer that ends the integration is landed on like any other guard


def word(system: System, b0: ArrayLike) -> array[float]:
    """The word at the start: the side of each guard; 0 where the trajectory stays on it, at the end of an earlier integration."""
    plain = type(b0) is np.ndarray and b0.dtype.kind in "if"
    given = b0 if plain else numbers("b0", b0)
    signs = given.tolist()  # type: ignore[union-attr]
    allowed = _SIGNS_AND_STAYING if system._stays else _SIGNS
    if given.ndim != 1 or len(signs) != system.m or not allowed.issuperset(signs):  # type: ignore[union-attr]
        what = "-1 or +1 (or 0 where it stays)" if system._stays else "-1 or +1"
        raise ValueError(f"b0 must have {system.m} signs, {what}, one for each guard; got {b0!r}")
    if system.sliding is None and 0 in signs:
        for k, sign in enumerate(signs):
            if sign == 0 and not system.rests[k]:
                raise ValueError(
                    f"b0 is 0 for guard {system.guards[k]!r}, on which no trajectory stays (see System(rest=))"
                )
    return array("d", signs)


def breaks(system: System, breakpoints: ArrayLike | None, t0: float, tf: float) -> ty.FloatArray:
    """The breakpoints of system and integration inside the interval."""
    moments = np.union1d(system.breakpoints, times("breakpoints", breakpoints))
    return moments[(moments > t0) & (moments <= tf)]  # (of one at tf, nothing is seen but what is before it)


def requested(t_eval: ArrayLike, t0: float, tf: float, n: int) -> tuple[ty.FloatArray, ty.FloatArray]:
    """The times of ``t_eval``, and an array for the states at these times."""
    wanted = finite_numbers("t_eval", t_eval)
    if wanted.ndim != 1 or (np.diff(wanted) < 0).any():
        few = f"; got {t_eval!r}. np.linspace({t0:g}, {tf:g}, N) makes N of them" if wanted.ndim == 0 else ""
        raise ValueError(f"t_eval must be a vector of increasing times{few}")
    if wanted.size and not (wanted[0] >= t0 and wanted[-1] <= tf):
        raise ValueError(f"t_eval must lie within t_span, [{t0:g}, {tf:g}]; got [{wanted[0]:g}, {wanted[-1]:g}]")
    return wanted, np.full((wanted.size, n), np.nan)
