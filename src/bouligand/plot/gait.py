"""The gait diagram: a bar for each foot while it touches."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..system.arguments import number, short
from ..system.declarations import guard_index
from . import given
from .axes import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection

    from .._typing import Guard, Guards
    from ..solution.solution import Solution
    from ..system.system import System

NAMED = 24  # so many bars have room for their names
COLOUR, TIE = "#33508c", "#c1272d"


def contacts(
    solution: Solution,
    guards: Guards | None = None,
    ax: Axes | None = None,
    sign: Literal[-1, 1] = 1,
    ties: float | None = None,
    colour: str = COLOUR,
) -> Axes:
    """Draw a gait diagram: a row for each guard, with a bar while it touches. The first guard is on top.

    Guards with jumps have a mark at each event instead; where the trajectory slides or rests on a guard there is a bar in red.

    Parameters
    ----------
    solution : Solution
    guards : str, int or sequence of these, optional
        The guards to draw: names, numbers, and patterns such as ``"foot*"``. A pattern that begins with ``!`` excludes
        guards: ``"!* pushes"``. Default: the guards called ``"... touches"``; if there are none, all but observers.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on new axes.
    sign : {1, -1}
        A guard touches while its sign in the mode b is this.
    ties : float, optional
        Crossings within this time of each other are joined by a line and counted: feet that land or lift off together.
        Default: a millionth of the interval. Negative: no lines.
    colour : str
        Colour of the bars.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    TypeError, ValueError
        If an argument cannot be used; the message names it.

    Examples
    --------
    >>> import bouligand as bd
    >>> from matplotlib.figure import Figure
    >>> sol = bd.solve(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0])
    >>> ax = bd.plot.contacts(sol, ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['foot']
    """
    solution = given.trajectory_of("solution", solution)
    if not isinstance(sign, int | np.integer) or isinstance(sign, bool) or sign not in (-1, 1):
        raise ValueError(f"sign must be 1 or -1; got {short(sign)}")
    ties = None if ties is None else number("ties", ties)
    colour = given.colour("colour", colour)
    system, start, end = solution.system, solution.t[0], solution.t[-1]
    chosen = select(system, guards)
    ax = new_axes(ax)
    row = {k: i for i, k in enumerate(chosen)}
    half = 0.32 if len(chosen) <= 2 * NAMED else 0.5
    bars = stretches(solution, sign)
    spans = [(i, left, right) for k, i in row.items() if not system.jumps.has[k] for left, right in bars[k]]
    ax.add_collection(_bars(spans, half, colour))
    if system.jumps:
        fired = [(row[k], t) for t, k in zip(solution.events.t, solution.events.guard, strict=True) if k in row]
        marks = [(i, t, t) for i, t in fired if system.jumps.has[chosen[i]]]
        ax.add_collection(_bars(marks, half, colour, 1.5))
    if system._stays:
        slides = stretches(solution, 0)
        ax.add_collection(_bars([(i, *span) for k, i in row.items() for span in slides[k]], half, TIE))
    ties = 1e-6 * (end - start) if ties is None else ties
    if ties >= 0.0:
        _join(ax, _together(solution, row, ties), row, 0.015 * (end - start))
    ax.set_xlim(start, end)
    room = max(0.6, 1.2 / max(len(chosen), 1))  # a single bar does not fill the picture
    ax.set_ylim(len(chosen) - 1 + room, -room)
    ax.set_xlabel("t")
    if len(chosen) <= NAMED:
        ax.set_yticks(range(len(chosen)), [system.guards[k].removesuffix(" touches") for k in chosen])
        ax.tick_params(axis="y", length=0)
    else:
        shown = range(0, len(chosen), 10 ** (len(str(len(chosen) - 1)) - 1) * (2 if str(len(chosen))[0] < "4" else 1))
        ax.set_yticks(shown, [system.guards[chosen[i]] for i in shown])
    ax.spines[["top", "right", "left"]].set_visible(False)
    return ax


def stretches(solution: Solution, sign: Literal[-1, 0, 1] = 1) -> list[list[tuple[float, float]]]:
    """The intervals of time in which each guard has a given sign in the mode b.

    Parameters
    ----------
    solution : Solution
    sign : {1, -1, 0}
        0: a sliding mode, or rest.

    Returns
    -------
    list of list of (float, float)
        For each guard, begin and end of its intervals, within the time of the solution.

    Raises
    ------
    TypeError, ValueError
        If an argument cannot be used; the message names it.

    Examples
    --------
    >>> import bouligand as bd
    >>> sol = bd.solve(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0], rtol=1e-9)
    >>> [(round(float(begin), 4), round(float(end), 4)) for begin, end in bd.plot.stretches(sol)[0]]
    [(0.4515, 0.5553)]
    """
    solution = given.trajectory_of("solution", solution)
    if not isinstance(sign, int | np.integer) or isinstance(sign, bool) or sign not in (-1, 0, 1):
        raise ValueError(f"sign must be -1, 0 or +1; got {short(sign)}")
    if solution.system.jumps or solution.system._stays:
        return _stretches_by_mode(solution, sign)
    system, start, end = solution.system, solution.t[0], solution.t[-1]
    word = solution.word(start)
    since = {k: start for k in range(system.m) if word[k] == sign}
    out: list[list[tuple[float, float]]] = [[] for _ in range(system.m)]
    for t, k, direction in zip(solution.events.t, solution.events.guard, solution.events.direction, strict=True):
        if direction == sign:
            since.setdefault(k, t)
        elif k in since:
            out[k].append((since.pop(k), t))
    for k, begin in since.items():
        out[k].append((begin, end))
    return out


def _stretches_by_mode(solution: Solution, sign: int) -> list[list[tuple[float, float]]]:
    """The same where an event does not tell the side behind it, as that of a bounce."""
    times = np.unique([solution.t[0], *solution.events.t, solution.t[-1]])
    held = solution.word(0.5 * (times[:-1] + times[1:])) == sign
    out: list[list[tuple[float, float]]] = []
    for column in held.T:
        edges = times[np.flatnonzero(np.diff(column.astype(int), prepend=0, append=0))]
        out.append(list(zip(edges[::2], edges[1::2], strict=True)))
    return out


def select(system: System, guards: Guards | None = None, argument: str = "guards") -> list[int]:
    """Numbers of the guards that names, numbers and patterns choose, in the order of the system.

    Parameters
    ----------
    system : System
    guards : str, int or sequence of these, optional
        As in `contacts`.
    argument : str
        What it is called in messages.

    Returns
    -------
    list of int

    Raises
    ------
    ValueError
        If a name, number or pattern matches no guard, or all are excluded.

    Examples
    --------
    >>> import bouligand as bd
    >>> from bouligand.plot.gait import select
    >>> select(bd.models.hand(3), ["finger*", "!* pushes"])
    [0, 1, 2]
    """
    if guards is None:
        contacts = [k for k, name in enumerate(system.guards) if name.endswith(" touches")]
        return contacts or [k for k in range(system.m) if not system.observers[k]]
    wanted: list[Guard]
    if isinstance(guards, str | int | np.integer):
        wanted = [guards]
    else:
        try:
            wanted = [] if isinstance(guards, Mapping | bytes) else list(guards)
        except Exception:
            wanted = []
        if not wanted:
            raise TypeError(f"{argument} must be names, patterns or numbers of guards; got {short(guards)}")
    leave_out = [g[1:] for g in wanted if isinstance(g, str) and g.startswith("!")]
    take: list[Guard] = [g for g in wanted if not (isinstance(g, str) and g.startswith("!"))] or ["*"]
    chosen: set[int] = set()
    for one in take:
        chosen |= _matching(system, one, argument)
    for name in leave_out:
        chosen -= _matching(system, name, argument)
    if not chosen:
        raise ValueError(f"{argument}: none is left by {short(guards)}; guards: {_some(system.guards)}")
    return sorted(chosen)


def _matching(system: System, one: Guard, argument: str) -> set[int]:
    if not isinstance(one, str):
        return {guard_index(system.guards, one, argument)}
    found = {k for k, name in enumerate(system.guards) if name == one or fnmatchcase(name, one)}
    if not found:
        raise ValueError(f"{argument}: none is called {one!r} or matches it; guards: {_some(system.guards)}")
    return found


def _some(names: tuple[str, ...]) -> str:
    return ", ".join(names[:10]) + (f", ... {names[-1]}" if len(names) > 10 else "")


def _bars(spans: list[tuple[int, float, float]], half: float, colour: str, edge: float = 0.4) -> PolyCollection:
    """One collection for all bars, which draws ten thousand of them quickly. The edge keeps short ones visible."""
    from matplotlib.collections import PolyCollection

    corners = [[(left, i - half), (right, i - half), (right, i + half), (left, i + half)] for i, left, right in spans]
    return PolyCollection(corners, facecolor=colour, edgecolor=colour, linewidth=edge, zorder=2)


def _together(solution: Solution, row: dict[int, int], width: float) -> list[tuple[float, float, list[int]]]:
    """Crossings of the chosen guards in the same direction, within ``width`` of the first: [(first, last, guards), ...]."""
    groups = []
    for direction in (-1, 1):
        crossings = [
            (t, k)
            for t, k, d in zip(solution.events.t, solution.events.guard, solution.events.direction, strict=True)
            if d == direction and k in row
        ]
        while crossings:
            first = crossings[0][0]
            count = sum(t <= first + width for t, _ in crossings)
            if count > 1:
                groups.append((first, crossings[count - 1][0], [k for _, k in crossings[:count]]))
            crossings = crossings[count:]
    return sorted(groups)


def _join(ax: Axes, groups: list[tuple[float, float, list[int]]], row: dict[int, int], width: float) -> None:
    """A line across the guards that cross together, a dot on each, their number on top; shaded for as long as it takes.

    A number nearer to the last one than ``width``, about two digits, is put above it.
    """
    before, level = -float("inf"), 0
    for first, last, guards in groups:
        rows, t = sorted(row[k] for k in guards), 0.5 * (first + last)
        ax.axvspan(first, last, color=TIE, alpha=0.12, lw=0, zorder=0)
        ax.plot([t, t], [rows[0], rows[-1]], color=TIE, lw=0.8, zorder=3)
        if len(row) <= 2 * NAMED:
            ax.plot([t] * len(rows), rows, ".", ms=3.5, color=TIE, zorder=3)
        if len(groups) <= 30:
            level = level + 1 if t - before < width else 0
            before = t
            ax.annotate(
                str(len(guards)), (t, 1.0), xycoords=("data", "axes fraction"), xytext=(0, 1 + 7 * level),
                textcoords="offset points", ha="center", va="bottom", fontsize=7, color=TIE,
            )  # fmt: skip
