"""``find_cycle``: a periodic motion near a guess."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Unpack, cast

import numpy as np

from .._made import make
from ..errors import BouligandError, CycleError
from ..integration.kept_options import check_options
from ..integration.options import state
from ..integration.solve import solve
from ..system.arguments import finite_numbers, not_negative, number, one_of, positive, whole
from ..system.declarations import guard_index
from ..system.system import System, a_system
from ..system.words import mapping, names, pair
from ..system.words import progress as read_progress
from .cycle import Cycle
from .mesh import clear_time, event_times, fractions
from .newton import refuse, solve_equations
from .problem import Problem, Section
from .symmetry import order_of, symmetry_matrix

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .. import _typing as ty
    from ..solution.solution import Solution

HORIZON = 1e6  # how long the section may take to come back, if nothing else is known
STEPS = 200_000
LONGEST = 1e12  # times: beyond that, double precision has less than four digits of a period of one
MOST_SEGMENTS = 10_000


def find_cycle(
    system: System,
    guess: ArrayLike,
    p: ty.Parameters | None = None,
    *,
    section: ty.Guard | tuple[ty.Guard, int] | Literal["phase"] | None = None,
    period: float | None = None,
    crossings: int = 1,
    symmetry: Mapping[str, str] | ArrayLike | None = None,
    drift: str | Iterable[str] = (),
    free: str | Iterable[str] = (),
    fixed: Mapping[str, float] | None = None,
    segments: int = 1,
    settle: float = 0.0,
    t0: float = 0.0,
    max_iterations: int = 30,
    on_failure: ty.OnFailure = "raise",
    progress: bool | str | None = None,
    **options: Unpack[ty.StepperOptions],
) -> Cycle:
    """Find a periodic motion near a guess, by Newton's method with B-derivatives.

    The cycle is cut at one or more nodes that lie between events; each segment is one integration through any number of events,
    with its derivative. Where the equations leave something open, as for a mechanism that keeps its energy, the nearest cycle is
    taken.

    Parameters
    ----------
    system : System
    guess : array (n,) or (nodes, n)
        A state on or near the cycle: the motion from there, until it has come round, is the first guess. Or the states at equally
        spaced times of one period, for cycles so unstable that such a motion would leave them; then give ``period``.
    p : array or mapping, optional
        Parameters, as for `solve`.
    section : guard, (guard, direction), "phase", or None
        What begins a new cycle. A guard: its crossing, in the direction of the first one or in the given one (+1, -1). "phase": a
        plane across the flow at the guess; ``period`` is then a first guess. None: the system is forced, and ``period`` is known.
    period : float, optional
        The period of the whole cycle, known (forced systems) or as a first guess.

    Returns
    -------
    Cycle

    Other Parameters
    ----------------
    crossings : int
        How many crossings of the section make one cycle (2: a cycle of twice the period).
    symmetry : mapping, array (n,) or (n, n); optional
        A linear map S of the state that takes one part of the cycle to the next: only that part is computed. As a mapping,
        ``{"roll": "-roll", "left": "right", "right": "left"}``: what each state becomes (others stay); or n factors; or a matrix.
        With S S = 1 it is half a cycle: the other half is the same, mirrored.
    drift : str or sequence of str
        States on which nothing depends and which need not come back, such as the distance walked.
    free, fixed : names of parameters; mapping
        Parameters that are unknown, and what is asked for instead: ``"period"``, or states where the section is crossed (behind
        its jump; without a section: at the first node). With more free parameters than conditions the nearest cycle is taken.
    segments : int
        Number of segments (multiple shooting): more of them for unstable cycles.
    settle : float
        How long to integrate before the guess is used: towards a stable cycle.
    t0 : float
        The time of the guess, of a forced system.
    max_iterations : int
    on_failure : "raise" or "return"
        What to do if there is no convergence: raise a CycleError with the best result, ``error.cycle``; or return that, with
        ``converged = False``.
    progress : bool or str, optional
        Show the iterations.
    **options
        For `solve`; the default of rtol is 1e-9.

    Raises
    ------
    CycleError
        No cycle was found.
    TypeError, ValueError
        An argument is wrong; the message names it.

    Examples
    --------
    A Glass network whose period is 6 ln of the golden ratio; a sixth of it is enough:

    >>> import numpy as np
    >>> import bouligand as bd
    >>> def f(t, x, b, p):
    ...     return (-x[0] - b[2], -x[1] - b[0], -x[2] - b[1])
    >>> ring = bd.System(f, lambda t, x, p: (x[0], x[1], x[2]), n=3, m=3)
    >>> cycle = bd.find_cycle(ring, [0.6, -0.4, 0.1], section=0, settle=10.0)
    >>> bool(abs(cycle.period - 6 * np.log((1 + np.sqrt(5)) / 2)) < 1e-8)
    True
    >>> turned = {"x0": "-x1", "x1": "-x2", "x2": "-x0"}
    >>> sixth = bd.find_cycle(ring, [0.6, -0.4, 0.1], section=0, settle=10.0, symmetry=turned)
    >>> bool(abs(sixth.period - cycle.period) < 1e-8), cycle.stable
    (True, True)
    """
    a_system(system)
    one_of("on_failure", on_failure, ("raise", "return"))
    options.setdefault("rtol", 1e-9)
    refused = {"terminal", "t_eval"} & options.keys()
    if refused:
        raise TypeError(f"find_cycle does not take {', '.join(sorted(refused))}")
    t0, progress = number("t0", t0), read_progress(progress)
    if not abs(t0) <= LONGEST:
        raise ValueError(f"t0 must be a time up to {LONGEST:g}, beyond which steps would be round-off; got {t0:g}")
    check_options(system, t0, t0 + 1.0, cast("dict[str, Any]", options), without=("on_failure", "progress"))
    values = np.array(system.parameters(p), dtype=float)
    S = symmetry_matrix(system, symmetry)
    line = _section(system, section)
    if section is None and period is None:
        raise ValueError("give section (a guard or 'phase'), or the period of a forced system")
    if period is not None:
        period = positive("period", period, LONGEST)
    settle = not_negative("settle", settle, LONGEST)
    problem = Problem(
        system, values, S, np.array([0.0, 1.0]), t0, None, _parameters(system, free), _states(system, drift),
        _conditions(system, fixed, section), line, np.ones(system.n), np.ones(0), 1.0, dict(options), parts=order_of(S),
    )  # fmt: skip
    segments, crossings = whole("segments", segments, 1, MOST_SEGMENTS), whole("crossings", crossings, 1)
    most = whole("max_iterations", max_iterations, 1)
    nodes = finite_numbers("guess", guess)
    if nodes.ndim == 2:
        if period is None or nodes.shape[1] != system.n or not len(nodes):
            raise ValueError(f"guess: states at several times are an array (times, {system.n}), and need a period")
        states, duration = nodes, period / problem.parts
        problem.fractions = np.linspace(0.0, 1.0, len(nodes) + 1)
        extent = nodes
    else:
        if nodes.shape != (system.n,):
            raise ValueError(f"guess must have {system.n} values ({', '.join(system.states)}); got shape {nodes.shape}")
        start = np.asarray(state(system, guess), dtype=float)
        try:
            states, duration, extent = _first_guess(problem, start, section, period, crossings, segments, settle)
        except BouligandError as error:
            if isinstance(error, CycleError):
                raise
            raise CycleError(f"the motion from the guess could not be integrated: {error}") from error
    if section is None:
        problem.duration = duration
    _set_scales(problem, extent, duration)
    _set_plane(problem, states[0])
    u = problem.pack(states, duration, values)
    from tqdm import tqdm

    title = progress if isinstance(progress, str) else "cycle"
    with tqdm(total=most, desc=title, unit="iteration", disable=not progress, leave=False, delay=1) as bar:
        try:
            found = solve_equations(problem, u, 10.0 * float(options["rtol"]), most, bar=bar)
        except BouligandError as error:
            if isinstance(error, CycleError):
                raise
            raise CycleError(f"the first guess of the cycle could not be integrated: {error}") from error
    cycle = make(Cycle, problem, found)
    if found.converged and problem.parts > 1:
        _check_symmetry(problem, cycle)
    if not found.converged and on_failure == "raise":
        failure = refuse(found, "no cycle was found")
        failure.cycle = cycle
        raise failure
    return cycle


def _section(system: System, section: Any) -> Section | None:
    """The guard of the argument ``section``."""
    if section is None or (isinstance(section, str) and section == "phase" and "phase" not in system.guards):
        return None
    guard, direction = pair("section", section, "(guard, direction)") if isinstance(section, tuple) else (section, 0)
    if whole("section: the direction", direction, -1, 1) not in (-1, 0, 1):
        raise ValueError(f"section: the direction must be +1, -1 or 0; got {direction!r}")
    return Section(guard_index(system.guards, guard, "section"), int(direction))


def _parameters(system: System, free: str | Iterable[str]) -> list[int]:
    """Places of the parameters that are free."""
    return [system.params.index(name) for name in names("free", free, system.params, "parameter")]


def _states(system: System, drift: str | Iterable[str]) -> list[int]:
    """Places of the states that drift."""
    return [system.states.index(name) for name in names("drift", drift, system.states, "state")]


def _conditions(system: System, fixed: Mapping[str, float] | None, section: Any) -> dict[str, float]:
    """What is asked for, checked."""
    given = {} if fixed is None else mapping("fixed", fixed, ("period", *system.states), "state")
    if "period" in given and section is None:
        raise ValueError("fixed: the period of a forced system (section=None) is fixed already")
    return {name: number(f"fixed: {name}", value) for name, value in given.items()}


def _first_guess(
    problem: Problem,
    x: ty.FloatArray,
    section: Any,
    period: float | None,
    crossings: int,
    segments: int,
    settle: float,
) -> tuple[ty.FloatArray, float, ty.FloatArray]:
    """States at the nodes, the time of one part, and states that show the size of the motion: from the motion from x on."""
    system, p, options = problem.system, problem.p, problem.options
    if settle > 0.0:
        x = solve(system, (problem.t0, problem.t0 + settle), x, p, **options).record.states[-1]
    begin = problem.t0 + settle
    if problem.section is not None:
        first, length = _round(problem, x, begin, crossings)
    else:
        assert period is not None
        first, length = begin, period
    solution = solve(system, (begin, first + 2.0 * length), x, p, **options)
    duration = length / problem.parts
    events = event_times(solution)
    anchor = clear_time(solution, first, first + duration)
    problem.t0 = anchor
    problem.fractions = fractions(events, anchor, duration, segments)
    states = solution(anchor + problem.fractions[:-1] * duration)
    return states, duration, solution(np.linspace(anchor, anchor + duration, 200))


def _round(problem: Problem, x: ty.FloatArray, begin: float, crossings: int) -> tuple[float, float]:
    """When the motion from x crosses the section first, and how long it takes until it has come round."""
    section, system, options = problem.section, problem.system, problem.options
    assert section is not None
    name = system.guards[section.guard]
    wanted = 2 * crossings + 2  # (both directions)
    limited: Any = {"max_steps": STEPS, **options, "terminal": {name: wanted}, "on_failure": "return"}
    solution: Solution = solve(system, (begin, begin + HORIZON), x, problem.p, **limited)
    rows = section.rows(solution)
    if rows.size and not section.direction:
        section.direction = int(solution.events.direction[rows[0]])
        rows = section.rows(solution)
    if rows.size <= crossings:
        how = "not at all" if not rows.size else f"only {rows.size} time{'s' * (rows.size > 1)}"
        raise CycleError(
            f"the motion from the guess crosses the section, guard {name!r}, {how} until t = {solution.record.t[-1]:g} "
            f"({solution.message}); a cycle needs {crossings + 1}. Give another guess or section"
        )
    t = solution.events.t
    return float(t[rows[0]]), float(t[rows[crossings]] - t[rows[0]])


def _set_scales(problem: Problem, extent: ty.FloatArray, duration: float) -> None:
    """The sizes of the unknowns: what they are in the first guess."""
    size = np.maximum(np.abs(extent).max(axis=0), np.ptp(extent, axis=0))
    moving = np.ptp(extent, axis=0)
    moving[problem.drift] = 0.0
    problem.scale = np.where(size > 1e-6 * size.max(), size, max(float(moving.max()), 1e-12) or 1.0)
    p = np.abs(problem.p[problem.free])
    problem.parameter_scale = np.where(p > 0.0, p, 1.0)
    problem.time_scale = duration


def _set_plane(problem: Problem, x: ty.FloatArray) -> None:
    """The plane across the flow at the first node (of a forced system only the values of states that drift are held)."""
    if not problem.autonomous:
        problem.reference = x / problem.scale
        return
    short = solve(problem.system, (problem.t0, problem.t0 + 1e-3 * problem.time_scale), x, problem.p, **problem.options)
    problem.set_plane(x, short.rate(problem.t0))


def _check_symmetry(problem: Problem, cycle: Cycle) -> None:
    """Whether the next part is the image of this one, as it must be if S is a symmetry of the system."""
    inverse = np.linalg.inv(problem.S)
    begin = problem.t0 + (0.0 if problem.autonomous else cycle._duration)
    until = begin + problem.fractions[1] * cycle._duration
    image = solve(
        problem.system,
        (begin, until),
        inverse @ cycle.x0,
        problem.p if not problem.free else cycle.p,
        **problem.options,
    )
    gap = np.abs(image.record.states[-1] - inverse @ cycle._solutions[0].record.states[-1]) / problem.scale
    gap[problem.drift] = 0.0
    if gap.max() > 1e-4:
        worst = problem.system.states[int(gap.argmax())]
        raise ValueError(
            f"symmetry is not one of this system: from the mirrored state the motion is not the mirrored one "
            f"({worst!r} is off by {gap.max():.2g} of its size)"
        )
