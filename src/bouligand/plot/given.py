"""What the functions that draw are given: read, or refused by name before anything is drawn."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from ..solution.solution import Solution
from ..system import words
from ..system.arguments import index, instance, numbers, short, whole

if TYPE_CHECKING:
    from ..system.system import System

MOST = 10**6  # points of a curve


def trajectory_of(name: str, value: Any) -> Solution:
    """A solution that has begun."""
    solution = instance(name, value, Solution, "bd.solve")
    if not len(solution.record):
        raise ValueError(f"{name} has no trajectory to draw: {solution.message}")
    return solution


def result(name: str, value: Any, kind: str, made_by: str) -> None:
    """Raise a TypeError unless this is a result of a class ``module.Class`` of another room of the library.

    That room is not imported for it: where it was not, there are no objects of it.
    """
    module, _, of = kind.rpartition(".")
    there = sys.modules.get(f"{__package__.partition('.')[0]}.{module}")
    if there is None or not isinstance(value, getattr(there, of)):
        raise TypeError(f"{name} must be a {of}, from {made_by}; got {short(value)}")


def state(argument: str, system: System, name: Any) -> int:
    """The number of a state that is given by its name or number."""
    if isinstance(name, str):
        if name not in system.states:
            raise ValueError(f"{argument}: no state is called {name!r}; states: {', '.join(system.states)}")
        return system.states.index(name)
    k = index(f"{argument}: a state is given by its name or number; it", name)
    if not 0 <= k < system.n:
        raise ValueError(f"{argument}: state {k} does not exist; there are {system.n}, numbered from 0")
    return k


def states(argument: str, system: System, names: Any) -> list[int]:
    """The numbers of several states; of all for None."""
    if names is None:
        return list(range(system.n))
    if isinstance(names, str):
        raise TypeError(f"{argument} must be a sequence of names or numbers of states; got {short(names)}")
    listed = words.listed(argument, names, "a sequence of names or numbers of states")
    if not listed:
        raise ValueError(f"{argument} must have at least one state; got none")
    return [state(argument, system, name) for name in listed]


def plane(argument: str, system: System, names: Any) -> list[int]:
    """The numbers of two different states."""
    pair = states(argument, system, names)
    if names is None or len(pair) != 2 or pair[0] == pair[1]:
        raise ValueError(f"{argument} must be two different states; got {short(names)}")
    return pair


def count(argument: str, value: Any, least: int = 1) -> int:
    """How many points or curves are drawn."""
    return whole(argument, value, least, MOST)


def colour(argument: str, value: Any) -> Any:
    """A colour, as matplotlib understands them."""
    from matplotlib.colors import is_color_like

    try:
        known = is_color_like(value)
    except Exception:
        known = False
    if not known or isinstance(value, bool):
        raise ValueError(f"{argument} must be a colour of matplotlib, such as 'C0' or '#33508c'; got {short(value)}")
    return value


def colormap(argument: str, value: Any) -> Any:
    """The name of a colormap, or one."""
    import matplotlib

    if isinstance(value, matplotlib.colors.Colormap):
        return value
    if not isinstance(value, str) or value not in matplotlib.colormaps:
        raise ValueError(f"{argument} must be a colormap of matplotlib, such as 'viridis'; got {short(value)}")
    return matplotlib.colormaps[value]


def text(argument: str, value: Any) -> str | None:
    """A text, or None."""
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{argument} must be a text; got {short(value)}")
    return value


def table(argument: str, value: Any, name: str) -> tuple[Any, Any] | None:
    """The times and the column of a name of a mapping; None if there is no such column."""
    if value is None:
        return None
    try:
        columns = {key: value[key] for key in ("t", name) if key in value}
    except Exception:
        raise TypeError(f"{argument} must be a mapping with 't' and columns; got {short(value)}") from None
    if isinstance(value, str | bytes | list | tuple | set) or "t" not in columns:
        raise TypeError(f"{argument} must be a mapping with 't' and columns; got {short(value)}")
    t = numbers(f"{argument}['t']", columns["t"])
    if name not in columns:
        return None
    column = numbers(f"{argument}[{name!r}]", columns[name])
    try:
        return t, np.broadcast_to(column, t.shape)
    except ValueError:
        raise ValueError(
            f"{argument}[{name!r}] must have a value for each time; got shape {column.shape} for {t.shape}"
        ) from None
