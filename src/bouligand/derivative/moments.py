"""What a derivative at many times needs besides: times in order, columns by name, parts of the state with unit length."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ..system.arguments import short
from ..system.words import listed

if TYPE_CHECKING:
    from .._typing import FloatArray, IntArray
    from ..solution.solution import Solution
    from ..system.system import System

    Places: TypeAlias = IntArray | slice


class Units:
    """Parts of the state with unit length: at a time inside a step, tangents and gradients lose their components along these."""

    def __init__(self, solution: Solution, moments: FloatArray) -> None:
        self._parts = solution.system.unit
        self._x = solution(moments) if len(self._parts) else np.empty((0, 0))

    def project(self, vectors: FloatArray) -> None:
        """Remove these components from vectors (moments, rows, n), in place."""
        for first, stop in self._parts:
            x, part = self._x[:, None, first:stop], vectors[:, :, first:stop]
            part -= (x * part).sum(axis=2, keepdims=True) * x


def columns_of(system: System, wrt: str | Iterable[str]) -> list[int]:
    """The places among states and parameters that ``wrt`` names."""
    n = system.n
    if isinstance(wrt, str) and wrt in ("x", "p"):
        return list(range(n)) if wrt == "x" else list(range(n, n + len(system.params)))
    out = []
    for name in listed("wrt", wrt, "'x', 'p', or names of states and parameters"):
        if not isinstance(name, str):
            raise TypeError(f"wrt must be 'x', 'p', or names of states and parameters; got {short(name)} among them")
        if name in system.states and name in system.params:
            raise ValueError(f"wrt: {name!r} is both a state and a parameter")
        if name in system.states:
            out.append(system.states.index(name))
        elif name in system.params:
            out.append(n + system.params.index(name))
        else:
            raise ValueError(
                f"wrt: {name!r} is neither a state nor a parameter; states: {', '.join(system.states)}; "
                f"parameters: {', '.join(system.params) or 'none'}"
            )
    return out


def in_order(times: FloatArray) -> tuple[FloatArray, Places]:
    """Times in increasing order, each once, and where those that were given are among them."""
    if (times[1:] > times[:-1]).all():
        return times, slice(None)
    return np.unique(times, return_inverse=True)


def summed(rows: FloatArray, places: Places, count: int) -> FloatArray:
    """The rows of each of these places, added up."""
    if isinstance(places, slice):
        return rows.copy()
    out = np.zeros((count, rows.shape[1]))
    np.add.at(out, places, rows)
    return out
