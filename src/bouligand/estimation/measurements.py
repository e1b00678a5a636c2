"""Measurements as they are given: columns by name, times, standard deviations, gaps (NaN)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..system.arguments import finite_numbers, number, numbers

if TYPE_CHECKING:
    from .. import _typing as ty
    from ..system.system import System


@dataclass
class Table:
    """Measured values: times in increasing order, names of the columns, values (times, columns), NaN where there is none."""

    t: ty.FloatArray
    names: tuple[str, ...]
    values: ty.FloatArray


def table_of(system: System, data: Any, observe: Any, what: str = "data") -> Table:
    """Data as given, ``{"t": times, "z": heights, ...}`` (or a data frame), as a table."""
    try:
        names = tuple(str(name) for name in data.keys() if str(name) != "t")  # noqa: SIM118  (a data frame iterates over rows)
        t = data["t"]
        named = all(isinstance(name, str) for name in data.keys())  # noqa: SIM118
    except Exception:  # (objects of other libraries fail in ways of their own)
        named = False
    if not named:
        raise TypeError(
            f"{what} must be a mapping with the times, 't', and a column for each measured quantity: {{'t': t, 'z': heights}}"
        )
    t = np.atleast_1d(finite_numbers(f"{what}['t']", t))
    if t.ndim != 1 or not t.size or not names:
        raise ValueError(f"{what}: there must be times, 't', and at least one column beside them; got columns {names}")
    columns = []
    for name in names:
        column = np.atleast_1d(numbers(f"{what}[{name!r}]", data[name]))
        if column.shape != t.shape:
            raise ValueError(
                f"{what}[{name!r}] must have a value for each of the {t.size} times; got shape {column.shape}"
            )
        if np.isinf(column).any():
            raise ValueError(f"{what}[{name!r}] has infinite values; gaps are NaN")
        columns.append(column)
    if not callable(observe):
        for name in names:
            if name not in system.states:
                raise ValueError(
                    f"{what}: no state is called {name!r}; states: {', '.join(system.states)}. What is not a state "
                    "needs observe, a function of the state"
                )
    if (np.diff(t) < 0.0).any():
        order = np.argsort(t, kind="stable")
        t, columns = t[order], [column[order] for column in columns]
    return Table(t, names, np.column_stack(columns))


def deviations(sigma: Any, names: Sequence[str], what: str = "sigma") -> ty.FloatArray:
    """Standard deviations of columns, from a number for all or a mapping by name."""
    if isinstance(sigma, Mapping):
        missing = [name for name in names if name not in sigma]
        if missing or len(sigma) > len(names):
            raise ValueError(
                f"{what} must have a value for each of {', '.join(names)}; got {', '.join(map(str, sigma)) or 'none'}"
            )
        values = np.array([number(f"{what}[{name!r}]", sigma[name]) for name in names])
    else:
        given = finite_numbers(what, sigma)
        if given.shape not in ((), (1,), (len(names),)):
            raise ValueError(f"{what} must be a number, or one for each of {', '.join(names)}; got shape {given.shape}")
        values = np.broadcast_to(given, (len(names),)).copy()
    if not (np.isfinite(values) & (values > 0.0)).all():
        raise ValueError(f"{what} must be positive: standard deviations of the measured values; got {values.tolist()}")
    return values
