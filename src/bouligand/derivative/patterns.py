"""The pattern of Dh for systems with many states: which guards depend on which states, and states that share a tangent.

A tangent that is NaN stays NaN through every operation, so that the guards that it reaches depend on its state, whatever the
values are. States that no guard has in common get the same colour; the rows of Dh then take one evaluation of h for seven
colours, instead of one for eight states. Where each guard depends on one state, h of dual numbers with two tangents does as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..core.entries import Kernel
from ..core.state import DUAL, FEW_DUAL, FEW_LANES, LANES

if TYPE_CHECKING:
    from .._typing import FloatArray, IntArray
    from ..memory.extras import TangentMemory
    from ..system.system import System

_mark_columns = Kernel("tangents.sparse_rows", "mark_columns", "what derivatives need")


@dataclass(frozen=True)
class Pattern:
    """The columns of each row (of row k those from row_starts[k] on), and the colour of each column."""

    row_starts: IntArray
    columns: IntArray
    colours: IntArray
    check: FloatArray

    @property
    def count(self) -> int:
        """Number of colours."""
        return int(self.colours.max()) + 1

    def seeds(self, size: int) -> FloatArray:
        """A row for each evaluation of h: the states as dual numbers of this size, each with a tangent for its colour; the last
        tangent is for the check."""
        at_once, states = size - 2, np.arange(self.colours.size)
        out = np.zeros((-(-self.count // at_once), self.colours.size, size))
        out[self.colours // at_once, states, 1 + self.colours % at_once] = 1.0
        out[:, :, size - 1] = self.check
        return out.reshape(len(out), -1)


def take_pattern(system: System, memory: TangentMemory, events: int) -> None:
    """Give the workspace, in which a record with so many events is open, the pattern of Dh."""
    if not system.m:
        return
    bound = system._bind()
    if bound.pattern is None:
        bound.pattern = _find(system, memory)
    few = bound.pattern.count < FEW_LANES and bound.expect_few_colours(system, events * system.n)
    memory.use_pattern(bound.pattern, FEW_DUAL if few else DUAL)


def _find(system: System, memory: TangentMemory) -> Pattern:
    found: list[tuple[IntArray, IntArray]] = []
    for first in range(0, system.n, LANES):
        many = min(LANES, system.n - first)
        if _mark_columns(memory.address, first, many, np.nan):
            raise ValueError("h fails at the start of the trajectory")
        marked = np.isnan(memory.tangents.dual_out[: DUAL * system.m].reshape(system.m, DUAL)[:, 1 : 1 + many])
        rows, columns = np.nonzero(marked)
        found.append((rows, first + columns))
    rows, columns = (np.concatenate([pair[q] for pair in found]) for q in (0, 1))
    order = np.lexsort((columns, rows))
    rows, columns = rows[order], columns[order]
    starts = np.searchsorted(rows, np.arange(system.m + 1))
    check = np.random.default_rng(0).uniform(0.5, 1.5, system.n)
    return Pattern(starts, columns, _coloured(system.n, rows, columns), check)


def _coloured(n: int, rows: IntArray, columns: IntArray) -> IntArray:
    """A colour for each column, one after the other: the first that no column has which shares a row with it."""
    colours = np.zeros(n, dtype=np.int64)
    taken: dict[int, set[int]] = {}  # the colours in each row
    order = np.argsort(columns, kind="stable")
    bounds = np.searchsorted(columns[order], np.arange(n + 1))
    for i in range(n):
        mine = rows[order[bounds[i] : bounds[i + 1]]]
        others: set[int] = set().union(*(taken.get(int(k), ()) for k in mine))
        colour = next(c for c in range(n + 1) if c not in others)
        colours[i] = colour
        for k in mine:
            taken.setdefault(int(k), set()).add(colour)
    return colours
