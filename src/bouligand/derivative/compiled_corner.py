"""A corner in the core's memory: tangents are propagated through it, and gradients back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from ..core import codes
from ..core.entries import Kernel
from ..core.state import WHOLE
from ..memory.corners import CornerTable

if TYPE_CHECKING:
    from .._typing import FloatArray, IntArray, RecordArray
    from ..memory.working import Working

_pass_corner = Kernel("tangents.corner_passage", "pass_corner", "corners")
_NONE = np.empty((0, 0))


@dataclass
class Passage:
    """How perturbations passed a corner: the units in the order of crossing, the times, and the data of the adjoint.

    (A unit is a guard, together with those that its crossing re-arms.)
    """

    order: IntArray
    times: FloatArray  # (crossings, tangents)
    jumps: FloatArray  # (crossings, n + 1): the jump of f, and hdot


# What rows of Dh, scaled to 1, are known to: as given; and, in tolerances, at a state of a trajectory. (Of six feet that land
# at once 18 orders occur: 219 were listed with 1e-9 and rtol = 1e-8, 54 with a tenth of the tolerance.)
EXACT, FROM_STATES = 1e-9, 1.0


class CompiledCorner:
    """What `Corner` is made of: rows of Dh, the word before, and for each unit the guards that it flips."""

    def _set_up(
        self,
        p: FloatArray,
        t: float,
        x: FloatArray,
        word: FloatArray,
        rows: FloatArray,
        times: FloatArray,
        flips: list[int],
        firsts: list[int],
    ) -> None:
        """Prepare what the compiled core needs.

        ``flips`` are the guards of all units, one unit after the other; unit u begins at ``firsts[u]``.
        """
        self.n, self._p, self._t, self._x, self._word, self._rows = x.size, p, t, x, word, rows
        self._table = table = CornerTable(rows, times, flips, firsts, word)
        self._slopes, self._offset, self._side = table.slopes, table.offset, table.side
        self._flips, self._firsts, self._plan = table.flips, table.firsts, table.now
        self._plan.t = t
        self.mode, self.target, self.end, self._reference = WHOLE, 0, 0.0, np.zeros(x.size)
        # the move onto guards on which the trajectory begins to slide there: images of states, then of parameters, as rows
        self._onto: FloatArray | None = None
        self._resolved = EXACT

    @property
    def units(self) -> int:
        """Number of crossings. (In a corner of a trajectory, guards that a crossing re-arms belong to that crossing.)"""
        return self._side.size

    def _field(self, word: FloatArray) -> FloatArray:
        """The field at the corner in a mode."""
        raise NotImplementedError

    def _borrow(self) -> tuple[Working, RecordArray]:
        """A workspace, to be given back, and the functions that the core is to call."""
        raise NotImplementedError

    def _give_back(self, memory: Working) -> None:
        pass

    def _fail(self, code: int, memory: Working) -> NoReturn:
        """Raise the exception for a code of the core."""
        raise NotImplementedError

    def _pass(self, D: FloatArray, dt0: FloatArray | None = None, jumps: bool = False) -> Passage:
        """Propagate the tangents D (one per row, changed in place) through the corner. The first selects the piece for all."""
        units, tangents, plan = self.units, D.shape[0], self._plan
        plan.mode, plan.target, plan.end = self.mode, self.target, self.end
        order, times = np.zeros(units, dtype=np.int64), np.zeros((units, tangents))
        records = np.zeros((units, self.n + 1)) if jumps else _NONE
        dt0 = np.zeros(tangents) if dt0 is None else dt0
        memory, fn = self._borrow()
        memory.fill()
        memory.bind(fn, False)
        memory.v.x[:], memory.p[:], memory.g.b[:], memory.s.run.cap = self._x, self._p, self._word, math.inf
        memory.put("corner", self._table)
        code, crossed = _pass_corner(memory.address, D, dt0, order, times, records)
        if code != codes.GO_ON:
            self._fail(code, memory)
        self._give_back(memory)
        D[0, : self.n] -= self._reference
        if self._onto is not None:
            D[:, : self.n] = D @ self._onto
        return Passage(order[:crossed], times[:crossed], records[:crossed])

    def _flipped(self, word: FloatArray, u: int) -> FloatArray:
        """A word with the guards of unit u on their other side."""
        word, flips = word.copy(), self._flips[self._firsts[u] : self._firsts[u + 1]]
        word[flips] = -word[flips]
        return word

    def _adjoint(self, w: FloatArray, passage: Passage) -> None:
        """Propagate the gradient w (n entries of the state, then parameters; changed in place) back through the corner."""
        for u, jump in zip(passage.order[::-1], passage.jumps[::-1], strict=True):
            weight = (jump[:-1] @ w[: self.n]) / jump[-1]
            w += self._rows[u] * weight
