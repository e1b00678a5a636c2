"""What a user declares about a system, read and checked: names, parameters, directions, resets, unit parts, times.

Every function here takes the declaration as it came and returns it in the one form that the rest of the library uses, or
raises an error that names the argument, what came, and what is expected.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import BoolArray, FloatArray, Guard, Guards, IntArray, Parameters, PerGuard
    from .system import System

Names = tuple[str, ...]


# ------------------------------------------------------------------------------------------------------ names and sizes


def names_and_size(
    what: str, size_name: str, names: Iterable[str] | None, size: float | None, letter: str
) -> tuple[Names, int]:
    """Names and their number, from either of the two.

    Parameters
    ----------
    what, size_name : str
        What the two arguments are called in messages: "states" and "n", "guards" and "m".
    names : iterable of str, or None
    size : int or None
        Without names, they are made of ``letter`` and a number.
    """
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


def guard_index(guards: Names, guard: Guard) -> int:
    """Number of a guard given by name or number."""
    if isinstance(guard, str):
        if guard not in guards:
            raise ValueError(f"no guard is called {guard!r}; guards: {', '.join(guards[:10]) or 'none'}")
        return guards.index(guard)
    if not 0 <= int(guard) < len(guards):
        raise ValueError(f"guard {guard} does not exist; there are {len(guards)}, numbered from 0")
    return int(guard)


def summary(system: System) -> str:
    """Name, sizes and the first names of a system in one line."""

    def some(names: Names) -> str:
        return ", ".join(names) if len(names) <= 6 else f"{', '.join(names[:3])}, ... {names[-1]}"

    extra = [key for key in system._functions if key not in ("f", "h")]
    return (
        f"{system.name or 'unnamed'}: {system.n} states ({some(system.states)}), {system.m} guards ({some(system.guards)}), "
        f"{len(system.defaults)} parameters" + (f"; with {', '.join(extra)}" if extra else "")
    )


# ---------------------------------------------------------------------------------------------------------- parameters


def defaults_of(params: Parameters | None) -> tuple[Names, FloatArray]:
    """Names (none for a bare array) and default values of the parameters."""
    if params is None:
        return (), np.empty(0)
    names: Names = ()
    if isinstance(params, Mapping):
        names, values = tuple(params), np.array(list(params.values()), dtype=float)
        if values.ndim != 1:
            raise ValueError("params: each parameter is a number; for an array of them give params as an array")
    else:
        values = np.array(params, dtype=float).ravel()
    if not np.isfinite(values).all():
        raise ValueError(f"params must be finite; got {params!r}")
    return names, values


def parameter_vector(names: Names, defaults: FloatArray, p: Parameters | None) -> FloatArray:
    """All parameters: the defaults, an array instead, or the defaults with what a mapping changes."""
    if p is None:
        return defaults
    if isinstance(p, Mapping):
        out = defaults.copy()
        for key, value in p.items():
            if key not in names:
                raise ValueError(f"no parameter is called {key!r}; parameters: {', '.join(names) or 'none'}")
            out[names.index(key)] = value
    else:
        out = np.array(p, dtype=float)
        if out.ndim == 0:
            out = out.reshape(1)
        if out.shape != defaults.shape:
            which = f"({', '.join(names)})" if names else "as many as the defaults in params"
            raise ValueError(f"p must have {len(defaults)} values, {which}; got {out.shape}")
    if not np.isfinite(out).all():
        raise ValueError(f"p is not finite: {out}")
    return out


# -------------------------------------------------------------------------------------------------- about single guards


def per_guard(guards: Names, what: str, values: PerGuard, default: float = 0.0) -> FloatArray:
    """A value for each guard, from a number, a sequence, or a mapping from guard to value."""
    if isinstance(values, Mapping):
        out = np.full(len(guards), default)
        for guard, value in values.items():
            out[guard_index(guards, guard)] = value
        return out
    array = np.asarray(values, dtype=float)
    if array.ndim == 0:
        return np.full(len(guards), float(array))
    if array.shape != (len(guards),):
        raise ValueError(
            f"{what} must be a number, or one for each of the {len(guards)} guards; got shape {array.shape}"
        )
    return array.copy()


def directions(guards: Names, direction: PerGuard) -> FloatArray:
    """-1, 0 or +1 for each guard: which crossings are events (0: those in both directions)."""
    out = per_guard(guards, "direction", direction)
    if not np.isin(out, (-1, 0, 1)).all():
        raise ValueError(f"direction must be -1, 0 or +1 for each guard; got {direction!r}")
    return out


def observer_flags(guards: Names, observers: Guards) -> BoolArray:
    """Whether each guard is an observer, on which f does not depend."""
    out = np.zeros(len(guards), dtype=bool)
    given: Any = (observers,) if isinstance(observers, str | int) else observers
    out[[guard_index(guards, k) for k in given]] = True
    return out


def reset_matrix(reset: ArrayLike | None, direction: FloatArray) -> FloatArray:
    """Which crossing re-arms which one-sided guard, (m, m); empty if not given."""
    if reset is None:
        return np.empty((0, 0))
    matrix, m = np.ascontiguousarray(reset, dtype=float), len(direction)
    if matrix.shape != (m, m):
        raise ValueError(f"reset must have shape ({m}, {m}), a row for each crossing; got {matrix.shape}")
    if not direction.any():
        raise ValueError("reset is for one-sided guards; give direction=+1 (or -1) for those it is about")
    return matrix


# ---------------------------------------------------------------------------------------------------- states and times


def unit_parts(states: Names, unit: Iterable[slice | Iterable[str | int]]) -> IntArray:
    """First index and end (exclusive) of each part of the state that has unit length, as rows."""
    parts: list[tuple[int, int]] = []
    for part in unit:
        where = _indices(states, part)
        if len(where) < 2 or where != list(range(where[0], where[0] + len(where))) or where[0] < 0:
            raise ValueError(f"unit: a part is two or more adjacent states in order; got {part!r}")
        if where[-1] >= len(states) or any(first <= where[-1] and where[0] < stop for first, stop in parts):
            raise ValueError(f"unit: {part!r} is beyond the {len(states)} states, or overlaps another part")
        parts.append((where[0], where[-1] + 1))
    return np.array(parts, dtype=np.int64).reshape(-1, 2)


def _indices(states: Names, part: slice | Iterable[str | int]) -> list[int]:
    if isinstance(part, slice):
        return list(range(len(states)))[part]
    if isinstance(part, str):
        raise TypeError(f"unit is a sequence of parts, each with two states or more; got the name {part!r}")
    given = list(part)
    unknown = [q for q in given if isinstance(q, str) and q not in states]
    if unknown:
        raise ValueError(f"unit: no state is called {unknown[0]!r}; states: {', '.join(states[:10])}")
    return [states.index(q) if isinstance(q, str) else int(q) for q in given]


def times(what: str, values: ArrayLike | None) -> FloatArray:
    """Sorted, finite, distinct times as an array."""
    out = np.unique(np.asarray(values if values is not None else (), dtype=float).ravel())
    if not np.isfinite(out).all():
        raise ValueError(f"{what} must be finite times; got {values!r}")
    return out
