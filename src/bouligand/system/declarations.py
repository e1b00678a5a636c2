"""What a user declares about a system, read and checked: names, parameters, directions, resets, unit parts, times.

Every function here takes the declaration as it came and returns it in the one form that the rest of the library uses, or
raises an error that names the argument, what came, and what is expected.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .arguments import finite_numbers, index, number, numbers, whole
from .words import listed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import BoolArray, FloatArray, Guard, Guards, IntArray, Parameters, PerGuard
    from .system import System

Names = tuple[str, ...]
MOST = 10**7  # states or guards: beyond that, names and vectors alone would take gigabytes


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
        count = whole(size_name, size, 1 if size_name == "n" else 0, MOST)
        return tuple(f"{letter}{i}" for i in range(count)), count
    names = (names,) if isinstance(names, str) else _texts(what, names)
    if size is not None and whole(size_name, size, 0) != len(names):
        raise ValueError(f"{size_name} = {size}, but {what} has {len(names)} names")
    if len(set(names)) != len(names):
        twice = next(name for q, name in enumerate(names) if name in names[:q])
        raise ValueError(f"{what} has a name twice: {twice!r}")
    if not names and size_name == "n":
        raise ValueError(f"{what} is empty: a system has at least one state")
    return names, len(names)


def _texts(what: str, names: Any) -> Names:
    given = tuple(listed(what, names, "a sequence of names"))
    wrong = [name for name in given if not isinstance(name, str)]
    if wrong:
        raise TypeError(f"{what} must be names (str); got {wrong[0]!r} among them")
    return tuple(str(name) for name in given)


def named_state(what: str, states: Names, values: Mapping[str, Any], default: Any = None) -> list[Any]:
    """The values of all states in their order, from a mapping by name. Those that are not named have their value in ``default``;
    without one, all must be named."""
    unknown = [name for name in values if name not in states]
    if unknown:
        raise ValueError(f"{what}: no state is called {unknown[0]!r}; states: {', '.join(states[:12])}")
    missing = [name for name in states if name not in values]
    if missing and default is None:
        raise ValueError(f"{what} must have a value for every state; {', '.join(missing[:12])} missing")
    return [values[name] if name in values else default[i] for i, name in enumerate(states)]


def guard_index(guards: Names, guard: Guard, what: str = "") -> int:
    """Number of a guard given by name or number, in the argument ``what``."""
    begin = f"{what}: " if what else ""
    if isinstance(guard, str):
        if guard not in guards:
            raise ValueError(f"{begin}no guard is called {guard!r}; guards: {', '.join(guards[:10]) or 'none'}")
        return guards.index(guard)
    k = index(f"{begin}a guard is given by its name or number; it", guard)
    if not 0 <= k < len(guards):
        raise ValueError(f"{begin}guard {guard} does not exist; there are {len(guards)}, numbered from 0")
    return k


def guard_numbers(guards: Names, named: Any, what: str) -> list[int]:
    """Numbers of guards given by name or number, one alone or several, in the argument ``what``."""
    if isinstance(named, int | np.integer):
        return [guard_index(guards, named, what)]
    return [guard_index(guards, guard, what) for guard in listed(what, named, "guards, by name or number")]


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
        names = _texts("params", list(params))
        for name, value in params.items():
            if numbers(f"params: {name}", value).ndim > 0:
                raise ValueError(
                    f"params: {name} is {value!r}, but each parameter is a number; for an array of them give params as an array"
                )
        values = np.array([numbers(f"params: {name}", value) for name, value in params.items()], dtype=float)
    else:
        values = numbers("params", params)
        if values.ndim > 1:
            raise ValueError(f"params must be a vector, or a mapping from names to numbers; got shape {values.shape}")
        values = values.ravel()
    if not np.isfinite(values).all():
        raise ValueError(f"params must be finite; got {params!r}")
    return names, values


def parameter_vector(names: Names, defaults: FloatArray, p: Parameters | None) -> FloatArray:
    """All parameters: the defaults, an array instead, or the defaults with what a mapping changes."""
    if p is None:
        return defaults.copy()
    if isinstance(p, Mapping):
        out = defaults.copy()
        for key, value in p.items():
            if key not in names:
                raise ValueError(f"p: no parameter is called {key!r}; parameters: {', '.join(names) or 'none'}")
            one = numbers(f"p: {key}", value)
            if one.ndim > 0:
                raise ValueError(f"p: {key} must be a number; got {value!r}")
            out[names.index(key)] = one
    else:
        # (astype: an array whose byte order is written out, as from a file, is another kind of memory to Python)
        out = numbers("p", p).astype(np.float64)
        if out.ndim == 0:
            out = out.reshape(1)
        if out.shape != defaults.shape:
            which = f"({', '.join(names)})" if names else "as many as the defaults in params"
            raise ValueError(f"p must have {len(defaults)} values, {which}; got {out.shape}")
    if not np.isfinite(out).all():
        wrong = [names[i] if names else f"p[{i}]" for i in np.flatnonzero(~np.isfinite(out)).tolist()]
        some = ", ".join(wrong[:6]) + (f" and {len(wrong) - 6} more" if len(wrong) > 6 else "")
        raise ValueError(f"p is not finite: {some}; got {out[~np.isfinite(out)][0]}")
    return out


# -------------------------------------------------------------------------------------------------- about single guards


def per_guard(guards: Names, what: str, values: PerGuard, default: float = 0.0) -> FloatArray:
    """A value for each guard, from a number, a sequence, or a mapping from guard to value."""
    if isinstance(values, Mapping):
        out = np.full(len(guards), default)
        for guard, value in values.items():
            out[guard_index(guards, guard, what)] = number(f"{what}: that of {guard!r}", value)
        return out
    array = numbers(what, values)
    if array.ndim == 0:
        return np.full(len(guards), float(array))
    if array.shape != (len(guards),):
        raise ValueError(
            f"{what} must be a number, or one for each of the {len(guards)} guards; got shape {array.shape}"
        )
    return array.copy()


def directions(guards: Names, direction: PerGuard) -> FloatArray:
    """-1, 0 or +1 for each guard: which crossings are events (0: those in both directions)."""
    if isinstance(direction, str):
        raise TypeError(f"direction must be -1, 0 or +1, for all guards or by name, {{'guard': -1}}; got {direction!r}")
    out = per_guard(guards, "direction", direction)
    if not np.isin(out, (-1, 0, 1)).all():
        raise ValueError(f"direction must be -1, 0 or +1 for each guard; got {direction!r}")
    return out


def observer_flags(guards: Names, observers: Guards) -> BoolArray:
    """Whether each guard is an observer, on which f does not depend."""
    out = np.zeros(len(guards), dtype=bool)
    out[guard_numbers(guards, observers, "observers")] = True
    return out


def reset_matrix(reset: ArrayLike | None, direction: FloatArray) -> FloatArray:
    """Which crossing re-arms which one-sided guard, (m, m); empty if not given."""
    if reset is None:
        return np.empty((0, 0))
    if (callable(reset) and not isinstance(reset, type)) or isinstance(reset, Mapping):
        raise TypeError(
            "reset is the matrix that says which crossing re-arms which one-sided guard. For a jump of the state at events of a "
            "guard give jumps={'guard': R}, with R(t, x, b, p) returning the new state"
        )
    matrix, m = np.ascontiguousarray(finite_numbers("reset", reset)), len(direction)
    if matrix.shape != (m, m):
        raise ValueError(f"reset must have shape ({m}, {m}), a row for each crossing; got {matrix.shape}")
    if not direction.any():
        raise ValueError("reset is for one-sided guards; give direction=+1 (or -1) for those it is about")
    return matrix


# ---------------------------------------------------------------------------------------------------- states and times


def needed_guards(guards: Names, given: Mapping[Guard, Guards] | None, slides: bool, jumps: BoolArray) -> IntArray:
    """For each guard the (at most two) guards that must be on their + side for it to matter; -1: none."""
    out = np.full((len(guards), 2), -1, dtype=np.int64)
    if given is None:
        return out
    if not isinstance(given, Mapping):
        raise TypeError(f"active_while maps a guard to the guards while which it matters; got {given!r}")
    if given and not slides:
        raise ValueError("active_while is for systems with sliding modes; give sliding='filippov' too")
    for guard, needed in given.items():
        k = guard_index(guards, guard, "active_while")
        others = guard_numbers(guards, needed, "active_while")
        if not 1 <= len(others) <= 2 or k in others:
            raise ValueError(f"active_while: guard {guards[k]!r} needs one or two other guards; got {needed!r}")
        if jumps[k]:
            raise ValueError(f"active_while: guard {guards[k]!r} has a jump; only guards without one may be asleep")
        out[k, : len(others)] = others
    chained = np.flatnonzero((out[:, 0] >= 0) & np.isin(np.arange(len(guards)), out))
    if chained.size:
        raise ValueError(
            f"active_while: guard {guards[chained[0]]!r} depends on others, and others on it; name those that matter always"
        )
    return out


def unit_parts(states: Names, unit: Iterable[slice | Iterable[str | int]]) -> IntArray:
    """First index and end (exclusive) of each part of the state that has unit length, as rows."""
    parts: list[tuple[int, int]] = []
    if isinstance(unit, str):
        raise TypeError(f"unit must be a sequence of parts of the state; got {unit!r}")
    for part in listed("unit", unit, "a sequence of parts of the state"):
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
    given = listed("unit: a part", part, "a slice, or a sequence of names or numbers of states")
    unknown = [q for q in given if isinstance(q, str) and q not in states]
    if unknown:
        raise ValueError(f"unit: no state is called {unknown[0]!r}; states: {', '.join(states[:10])}")
    return [states.index(q) if isinstance(q, str) else index("unit: a state's number", q) for q in given]


def times(what: str, values: ArrayLike | None) -> FloatArray:
    """Sorted, finite, distinct times as an array."""
    out = finite_numbers(what, values if values is not None else ())
    if out.ndim > 1:
        raise ValueError(f"{what} must be a vector of times; got shape {out.shape}")
    return np.unique(out)
