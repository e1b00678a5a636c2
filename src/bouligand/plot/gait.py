"""The gait diagram: a bar for each foot while it touches."""

from fnmatch import fnmatchcase

import numpy as np

from .axes import new_axes

NAMED = 24  # so many bars have room for their names
COLOUR, TIE = "#33508c", "#c1272d"


def contacts(solution, guards=None, ax=None, sign=1, ties=None, colour=COLOUR):
    """A gait diagram: one bar for each guard while it touches (while its sign is ``sign``), the first on top.

    Parameters
    ----------
    solution : Solution
    guards : str, int or sequence of these, optional
        Which to draw: names, patterns such as ``"foot*"``, numbers. A pattern that begins with ``!`` leaves out:
        ``"!* pushes"``. Default: those called ``"... touches"``; where there are none, all but observers.
    ties : float, optional
        Crossings within this time of each other are joined by a line, with their number on top: the feet that land or
        leave together. Default a millionth of the interval (the same instant, to the eye and mostly to the tolerance);
        negative: no lines.

    Returns
    -------
    Axes
    """
    ax = new_axes(ax)
    system, start, end = solution.system, solution.t[0], solution.t[-1]
    chosen = select(system, guards)
    row = {k: i for i, k in enumerate(chosen)}
    bars = stretches(solution, sign)
    spans = [(i, left, right) for k, i in row.items() for left, right in bars[k]]
    ax.add_collection(_bars(spans, 0.32 if len(chosen) <= 2 * NAMED else 0.5, colour))
    ties = 1e-6 * (end - start) if ties is None else ties
    if ties >= 0.0:
        _join(ax, _together(solution, row, ties), row)
    ax.set_xlim(start, end)
    room = max(0.6, 1.2 / len(chosen))  # a single bar does not fill the picture
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


def stretches(solution, sign=1):
    """For each guard the intervals [(begin, end), ...] in which its sign is ``sign``, within the solution's time."""
    if sign not in (-1, 1):
        raise ValueError(f"sign must be -1 or +1; got {sign!r}")
    system, start, end = solution.system, solution.t[0], solution.t[-1]
    word = solution.word(start)
    since = {k: start for k in range(system.m) if word[k] == sign}
    out: list[list] = [[] for _ in range(system.m)]
    for t, k, direction in zip(solution.events.t, solution.events.guard, solution.events.direction, strict=True):
        if direction == sign:
            since.setdefault(k, t)
        elif k in since:
            out[k].append((since.pop(k), t))
    for k, begin in since.items():
        out[k].append((begin, end))
    return out


def select(system, guards=None):
    """Numbers of the guards that names, numbers and patterns choose, in the system's order."""
    if guards is None:
        contacts = [k for k, name in enumerate(system.guards) if name.endswith(" touches")]
        return contacts or [k for k in range(system.m) if not system.observers[k]]
    wanted = [guards] if isinstance(guards, str | int | np.integer) else list(guards)
    leave_out = [g[1:] for g in wanted if isinstance(g, str) and g.startswith("!")]
    take = [g for g in wanted if not (isinstance(g, str) and g.startswith("!"))] or ["*"]
    chosen: set[int] = set()
    for one in take:
        chosen |= _matching(system, one)
    for one in leave_out:
        chosen -= _matching(system, one)
    if not chosen:
        raise ValueError(f"no guard is left by {guards!r}; guards: {_some(system.guards)}")
    return sorted(chosen)


def _matching(system, one):
    if not isinstance(one, str):
        return {system.guard_index(one)}
    found = {k for k, name in enumerate(system.guards) if name == one or fnmatchcase(name, one)}
    if not found:
        raise ValueError(f"no guard is called {one!r} or matches it; guards: {_some(system.guards)}")
    return found


def _some(names):
    return ", ".join(names[:10]) + (f", ... {names[-1]}" if len(names) > 10 else "")


def _bars(spans, half, colour):
    """One collection for all bars: ten thousand of them draw as fast as one would like. The edge keeps short ones visible."""
    from matplotlib.collections import PolyCollection

    corners = [[(left, i - half), (right, i - half), (right, i + half), (left, i + half)] for i, left, right in spans]
    return PolyCollection(corners, facecolor=colour, edgecolor=colour, linewidth=0.4, zorder=2)


def _together(solution, row, width):
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


def _join(ax, groups, row):
    """A line across the guards that cross together, a dot on each, their number on top; shaded for as long as it takes."""
    for first, last, guards in groups:
        rows, t = sorted(row[k] for k in guards), 0.5 * (first + last)
        ax.axvspan(first, last, color=TIE, alpha=0.12, lw=0, zorder=0)
        ax.plot([t, t], [rows[0], rows[-1]], color=TIE, lw=0.8, zorder=3)
        if len(row) <= 2 * NAMED:
            ax.plot([t] * len(rows), rows, ".", ms=3.5, color=TIE, zorder=3)
        if len(groups) <= 30:
            ax.annotate(
                str(len(guards)), (t, 1.0), xycoords=("data", "axes fraction"), xytext=(0, 1), textcoords="offset points",
                ha="center", va="bottom", fontsize=7, color=TIE,
            )  # fmt: skip
