"""Periodic motions: one period with its multipliers, and families of cycles along a parameter."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..system.arguments import short
from . import given
from .axes import new_axes, new_row
from .curves import trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from ..cycles.branch import Branch
    from ..cycles.cycle import Cycle

COLOURS = {True: "#4477aa", False: "#cc3344", None: "0.5"}  # blue and red, whatever the style
WORDS = {True: "stable", False: "unstable", None: "undecided"}
MARKS = {
    "fold": "D",
    "period doubling": "s",
    "symmetry breaking": "^",
    "torus": "o",
    "branch point": "P",
    "grazing": "X",
    "tie": "v",
}


def cycle(
    cycle: Cycle, states: Iterable[str | int] | None = None, axes: Sequence[Axes] | NDArray[np.object_] | None = None
) -> NDArray[np.object_]:
    """Draw one period of a cycle, with a thin line at each event, beside its multipliers in the unit circle.

    Parameters
    ----------
    cycle : Cycle
    states : sequence of str or int, optional
        Names or numbers of the states to draw. Default: all.
    axes : pair of matplotlib.axes.Axes, optional
        Where to draw; by default on new axes.

    Returns
    -------
    array of two matplotlib.axes.Axes

    Raises
    ------
    TypeError, ValueError
        If an argument cannot be used; the message names it.

    Examples
    --------
    >>> import bouligand as bd
    >>> from bouligand.models.rimless_wheel import START
    >>> from matplotlib.figure import Figure
    >>> found = bd.find_cycle(bd.models.rimless_wheel(), START, section="forward")
    >>> motion, circle = bd.plot.cycle(found, axes=Figure().subplots(1, 2))
    >>> circle.get_title()
    'multipliers: stable'
    """
    given.result("cycle", cycle, "cycles.cycle.Cycle", "bd.find_cycle")
    chosen = given.states("states", cycle.system, states)
    motion, circle = new_row(axes, 2, "axes")
    trajectory(cycle.solution, chosen, ax=motion)
    motion.set_title(f"one period, T = {cycle.period:.6g}", fontsize="medium")
    angle = np.linspace(0.0, 2.0 * np.pi, 200)
    circle.plot(np.cos(angle), np.sin(angle), color="0.6", lw=1.0)
    circle.axhline(0.0, color="0.9", lw=0.8, zorder=0)
    circle.axvline(0.0, color="0.9", lw=0.8, zorder=0)
    for k, values in enumerate(cycle.pieces):
        outside = (np.abs(values) > 1.0 + 1e-6).any()
        label = f"piece {k}" if len(cycle.pieces) > 1 else None
        colour = f"C{k}" if label else COLOURS[not outside]
        circle.plot(values.real, values.imag, "o", ms=7, mfc="none", mew=1.6, color=colour, label=label)
    if len(cycle.pieces) > 1:
        circle.legend(frameon=False, fontsize="small")
    circle.set_aspect("equal", adjustable="datalim")
    circle.set(xlabel="real part", ylabel="imaginary part")
    circle.set_title(f"multipliers: {WORDS[cycle.stable]}", fontsize="medium")
    return np.array([motion, circle], dtype=object)


def branch(branch: Branch, value: str = "period", ax: Axes | None = None) -> Axes:
    """Draw a family of cycles over its parameter, stable ones in blue and unstable ones in red, with its bifurcations.

    Parameters
    ----------
    branch : Branch
    value : str
        "period", or the name of a state (where the section is crossed).
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default on new axes.

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
    >>> from bouligand.models.rimless_wheel import START
    >>> from matplotlib.figure import Figure
    >>> wheel = bd.find_cycle(bd.models.rimless_wheel(), START, section="forward")
    >>> ax = bd.plot.branch(bd.continue_cycle(wheel, "gamma", stop=0.1), "omega", ax=Figure().subplots())
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('gamma', 'omega')
    """
    given.result("branch", branch, "cycles.branch.Branch", "bd.continue_cycle")
    names = branch.cycles[0].system.states
    if not isinstance(value, str) or value not in ("period", *names):
        raise ValueError(f"value must be 'period' or the name of a state ({', '.join(names)}); got {short(value)}")
    ax = new_axes(ax)
    x = branch.values
    y = branch.periods if value == "period" else branch.states(value)
    marks = [(found.value, _height(found.cycle, value)) for found in branch.bifurcations]
    shown: set[bool | None] = set()
    for k in range(len(branch) - 1):
        ends, kinds = [(x[k], y[k]), (x[k + 1], y[k + 1])], [branch.stable[k + 1]]
        between = [mark for mark in marks if min(x[k], x[k + 1]) <= mark[0] <= max(x[k], x[k + 1])]
        if branch.stable[k] != branch.stable[k + 1] and between:
            ends, kinds = [ends[0], between[0], ends[1]], [branch.stable[k], branch.stable[k + 1]]
        for kind, start, stop in zip(kinds, ends[:-1], ends[1:], strict=True):
            label = None if kind in shown else WORDS[kind]
            ax.plot([start[0], stop[0]], [start[1], stop[1]], color=COLOURS[kind], label=label, lw=1.6)
            shown.add(kind)
    for found, mark in zip(branch.bifurcations, marks, strict=True):
        ax.plot(*mark, MARKS.get(found.kind, "*"), color="k", ms=7, label=str(found).split(" (")[0])
    ax.set_xlabel(branch.parameter)
    ax.set_ylabel(value)
    ax.legend(frameon=False, fontsize="small")
    return ax


def _height(cycle: Cycle, value: str) -> float:
    """What is drawn of a cycle: its period, or a state where the section is crossed."""
    row = cycle.x0 if cycle.at_section is None else cycle.at_section
    return cycle.period if value == "period" else float(row[cycle.system.states.index(value)])
