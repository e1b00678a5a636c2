"""``continue_cycle``: follow a cycle along a parameter by pseudo-arclength continuation.

A step goes along the tangent of the branch and is corrected in the plane across it, so that folds are no obstacle. Between two
cycles multipliers and events are compared; where they show a bifurcation, its place is searched for along the step.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._made import make
from ..errors import BouligandError, CycleError
from ..system.arguments import number, whole
from ..system.words import name as known
from ..system.words import progress as read_progress
from .branch import Bifurcation, Branch
from .changes import changes, located
from .cycle import Cycle
from .mesh import clear_time, event_times, fractions, near_an_event
from .newton import OPEN, Found, solve_equations

if TYPE_CHECKING:
    from collections.abc import Callable

    from .. import _typing as ty
    from .problem import Problem

SMALLEST = 1e-4  # of the first step: shorter ones end the branch


@dataclass
class Point:
    """A cycle on the branch, as unknowns, with the branch's direction there."""

    problem: Problem
    u: ty.FloatArray
    tangent: ty.FloatArray
    cycle: Cycle
    jacobian: ty.FloatArray

    @property
    def value(self) -> float:
        """The parameter."""
        return float(self.u[-1] * self.problem.parameter_scale[-1])


def continue_cycle(
    cycle: Cycle,
    parameter: str,
    stop: float,
    *,
    step: float = 0.02,
    max_step: float = 0.1,
    max_cycles: int = 200,
    backward: float | None = None,
    progress: bool | str | None = None,
) -> Branch:
    """Follow a cycle along a parameter, through folds, and report where its kind changes.

    Parameters
    ----------
    cycle : Cycle
        From `find_cycle`.
    parameter : str
        Name of the parameter that is changed.
    stop : float
        Its value at which to stop. (It first changes towards this value.)
    step, max_step : float
        The first and the longest step along the branch, as parts of the way from the present value to ``stop``.
    max_cycles : int
        After so many cycles it stops.
    backward : float, optional
        A second value at which to stop, on the other side, for branches that turn back at a fold. Default: as far on the other
        side as ``stop`` is on this.
    progress : bool or str, optional
        Show a progress bar.

    Returns
    -------
    Branch
        With ``branch.bifurcations``. It ends where the parameter has reached ``stop``, or where no next cycle is found;
        ``branch.message`` says which.

    Examples
    --------
    >>> import bouligand as bd
    >>> from bouligand.models.rimless_wheel import START
    >>> wheel = bd.find_cycle(bd.models.rimless_wheel(), START, section="forward")
    >>> bd.continue_cycle(wheel, "gamma", stop=0.1)  # doctest: +ELLIPSIS
    Branch of ... cycles, gamma = 0.08 to 0.1; gamma has reached 0.1
    """
    if not isinstance(cycle, Cycle) or not cycle.converged:
        raise ValueError("cycle must be one that find_cycle has found (cycle.converged)")
    system = cycle.system
    known("parameter", parameter, system.params, "parameter")
    progress = read_progress(progress)
    if not 0.0 < number("step", step) <= number("max_step", max_step):
        raise ValueError(f"step must be positive and at most max_step; got {step!r} and {max_step!r}")
    most, stop = whole("max_cycles", max_cycles, 2), number("stop", stop)
    index = system.params.index(parameter)
    begin = float(cycle.p[index])
    if stop == begin:
        raise ValueError(f"stop must differ from the present value, {parameter} = {begin:g}")
    low, high = sorted((stop, number("backward", 2.0 * begin - stop if backward is None else backward)))
    if not low <= begin <= high:
        raise ValueError(f"backward must lie on the other side of {parameter} = {begin:g} than stop; got {backward!r}")
    here = _start(cycle, index, stop)
    cycles, found = [cycle], []
    message, length = f"max_cycles = {most} are done", step
    from tqdm import tqdm

    title = progress if isinstance(progress, str) else f"cycle along {parameter}"
    with tqdm(total=most, desc=title, unit="cycle", disable=not progress, leave=False, delay=1) as bar:
        while len(cycles) < most:
            there, why, iterations = _next(here, length)
            if there is None:
                length *= 0.5
                if length < SMALLEST * step:
                    message = f"beyond {parameter} = {here.value:.8g} no next cycle is found: {why}"
                    found += _grazing_ahead(here, cycles)
                    break
                continue
            last = not low < there.value < high
            if last:
                end = high if there.value >= high else low
                there = _at_value(here, end) or located(here, length, _beyond(end), _next) or there
            found += changes(here, there, length, _next)
            cycles.append(there.cycle)
            bar.set_postfix_str(f"{parameter} = {there.value:.6g}")
            bar.update(1)
            if last:
                exactly = abs(there.value - end) <= 1e-6 * abs(stop - begin)
                message = f"{parameter} has {'reached' if exactly else 'passed'} {end:g}"
                break
            here = _remeshed(here, there)
            length = min(max_step, length * (1.5 if iterations <= 3 else 1.0 if iterations <= 5 else 0.7))
    return make(Branch, parameter, cycles, found, message)


def _beyond(end: float) -> Callable[[Point], float]:
    """By how much a point's parameter is beyond a value."""
    return lambda point: point.value - end


def _start(cycle: Cycle, index: int, stop: float) -> Point:
    """The first point: the parameter becomes an unknown, and its scale is the way to go."""
    problem = copy.copy(cycle._problem)
    problem.free = [i for i in problem.free if i != index] + [index]
    problem.p = cycle.p.copy()
    way = abs(stop - cycle.p[index])
    others = np.abs(cycle.p[problem.free[:-1]])
    problem.parameter_scale = np.append(np.where(others > 0.0, others, 1.0), way)
    u = problem.pack(cycle.states, cycle._duration, cycle.p)
    direction = np.zeros(u.size)
    direction[-1] = np.sign(stop - cycle.p[index])
    J = problem.evaluate(u, direction).jacobian
    return Point(problem, u, _tangent(problem, J, direction), cycle, J)


def _weights(problem: Problem, size: int) -> ty.FloatArray:
    """Of the unknowns in lengths along the branch: all states together count as much as the parameter."""
    n = problem.segments * problem.system.n
    return np.where(np.arange(size) < n, 0.1 / n, np.where(np.arange(size) == size - 1, 1.0, 0.1))


def _tangent(problem: Problem, J: ty.FloatArray, towards: ty.FloatArray) -> ty.FloatArray:
    """The direction of the branch where the Jacobian is J, of length 1, that points towards ``towards``. Where cycles form
    families (several directions keep the equations), the one nearest to it."""
    _, values, rows = np.linalg.svd(J)
    rank = int((values > OPEN * values[0]).sum())
    null = rows[rank:]
    weights = _weights(problem, J.shape[1])
    if len(null) == 0:
        raise CycleError("the equations leave no direction open along the parameter")
    tangent = null[0] if len(null) == 1 else null.T @ np.linalg.lstsq(null.T, towards, rcond=None)[0]
    tangent = tangent * np.sign((weights * tangent) @ towards or 1.0)
    out: ty.FloatArray = tangent / np.sqrt(weights @ tangent**2)
    return out


def _next(here: Point, length: float) -> tuple[Point | None, str, int]:
    """The cycle at a distance along the branch; or None, and why."""
    return _corrected(here, length, _weights(here.problem, here.u.size) * here.tangent)


def _at_value(here: Point, end: float) -> Point | None:
    """The cycle whose parameter has this value, from a point near it; None if it is not found."""
    ahead, rise = end / here.problem.parameter_scale[-1] - here.u[-1], here.tangent[-1]
    if not rise * ahead > 0.0:
        return None
    return _corrected(here, ahead / rise, np.eye(1, here.u.size, here.u.size - 1)[0])[0]


def _corrected(here: Point, length: float, row: ty.FloatArray) -> tuple[Point | None, str, int]:
    """The cycle near that predicted at a distance along the branch, in the plane through it across ``row``; or None, and why."""
    problem, weights = copy.copy(here.problem), _weights(here.problem, here.u.size)
    predicted = here.u + length * here.tangent
    try:
        rtol = float(problem.options["rtol"])
        found: Found = solve_equations(
            problem,
            predicted,
            10.0 * rtol,
            10,
            lambda u: (np.array(row @ (u - predicted)), row),
            known=here.jacobian,
        )
        if not found.converged:
            return None, found.message, 0
        if np.sqrt(weights @ (found.u - predicted) ** 2) > 0.5 * length + 1e-9:
            return None, "the corrector went to another branch", 0
        problem.p = problem.unpack(found.u)[2]
        J = found.shot.jacobian
        if any(B.corners and B.is_linear is not True for B in found.shot.derivatives):
            J = problem.evaluate(found.u, here.tangent).jacobian  # (the piece ahead)
        tangent = _tangent(problem, J, here.tangent)
        if (weights * tangent) @ here.tangent < 0.5:
            return None, "the branch bends too much", 0
        return Point(problem, found.u, tangent, make(Cycle, problem, found), J), "", found.iterations
    except (BouligandError, np.linalg.LinAlgError) as error:
        return None, str(error), 0


def _remeshed(before: Point, here: Point) -> Point:
    """The same point; with other nodes if events have come near to them."""
    problem, cycle = here.problem, here.cycle
    duration = cycle._duration
    moments = cycle.t0 + problem.fractions * duration
    renewed = copy.copy(problem)
    if not near_an_event(cycle.solution, moments, cycle.period):
        _set_plane(renewed, cycle)
        J = here.jacobian.copy()
        if problem.autonomous:  # (behind the rows of the segments)
            J[problem.segments * problem.system.n - len(problem.drift)] = renewed.plane_row(here.u.size)
        return Point(renewed, here.u, here.tangent, cycle, J)
    events = event_times(cycle.solution)
    shift = 0.0
    if problem.autonomous and problem.parts == 1:
        shift = clear_time(cycle.solution, cycle.t0, cycle.t0 + duration) - cycle.t0
    twice = np.concatenate([events, events + cycle.period])
    renewed.fractions = fractions(twice, cycle.t0 + shift, duration, problem.segments)
    u = renewed.pack(_states(renewed, cycle, shift), duration, cycle.p)
    old = before.cycle
    previous = renewed.pack(_states(renewed, old, shift * old.period / cycle.period), old._duration, old.p)
    moved = copy.copy(cycle)
    moved.__dict__.pop("solution", None)
    moved._problem, moved._u = renewed, u
    moved.states, moved.x0 = renewed.unpack(u)[0], renewed.unpack(u)[0][0]
    _set_plane(renewed, moved)
    J = renewed.evaluate(u, u - previous).jacobian
    return Point(renewed, u, _tangent(renewed, J, u - previous), moved, J)


def _states(problem: Problem, cycle: Cycle, shift: float) -> ty.FloatArray:
    """States of a cycle at the nodes of a mesh that begins ``shift`` later."""
    times = cycle.t0 + np.mod(shift + problem.fractions[:-1] * cycle._duration, cycle.period)
    return cycle.solution(times)


def _set_plane(problem: Problem, cycle: Cycle) -> None:
    """The plane across the flow, at this cycle."""
    if problem.autonomous:
        problem.set_plane(cycle.x0, cycle.solution.rate(cycle.t0))
    else:
        problem.reference = cycle.x0 / problem.scale


def _grazing_ahead(here: Point, cycles: list[Cycle]) -> list[Bifurcation]:
    """Where the branch ends: the guard that is about to be grazed, if its distance goes to zero within a step or two."""
    if len(cycles) < 3:
        return []
    last, before = cycles[-1], cycles[-2]
    near, far = _clearances(last), _clearances(before)
    index = here.problem.free[-1]
    for name in near.keys() & far.keys():
        # (near a graze the distance to the guard shrinks linearly)
        if near[name] < far[name]:
            ahead = near[name] / (far[name] - near[name]) * (last.p[index] - before.p[index])
            if abs(ahead) <= 2.0 * abs(last.p[index] - before.p[index]) + 1e-9 * abs(last.p[index]):
                about = f"guard {name!r}: the branch ends"
                return [make(Bifurcation, "grazing", float(last.p[index] + ahead), about, last)]
    return []


def _clearances(cycle: Cycle) -> dict[str, float]:
    """How near each guard comes to zero where it turns back without being crossed, by name."""
    system, solution = cycle.system, cycle.solution
    t = np.linspace(cycle.t0, cycle.t0 + cycle.period, 2001)
    h = system.function("h")
    values = np.array([h(s, x, cycle.p) for s, x in zip(t, solution(t), strict=True)])
    out = {}
    for k in range(system.m):
        size = np.abs(values[:, k])
        inner = np.flatnonzero(
            (size[1:-1] < size[:-2]) & (size[1:-1] < size[2:]) & (values[:-2, k] * values[2:, k] > 0.0)
        )
        if inner.size and size.max() > 0.0:
            out[system.guards[k]] = float(size[inner + 1].min() / size.max())
    return out
