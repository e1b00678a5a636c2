"""A corner in the core's memory: tangents are propagated through it, and gradients back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from ..core import codes
from ..core.entries import Kernel
from ..core.state import CORNER, CORNER_PLAN, WHOLE
from ..core.views import record_view
from ..memory.tables import TableMemory
from ..memory.working import Working

if TYPE_CHECKING:
    from .._typing import FloatArray, IntArray, RecordArray

_pass_corner = Kernel("tangents.corner_passage", "pass_corner", "corners")
_Plan = record_view(CORNER_PLAN)
_NONE = np.empty((0, 0))


@dataclass
class Passage:
    """How perturbations passed a corner: the units in the order of crossing, the times, and the data of the adjoint.

    (A unit is a guard, together with those that its crossing re-arms.)
    """

    order: IntArray
    times: FloatArray  # (crossings, tangents)
    jumps: FloatArray  # (crossings, n + 1): the jump of f, and hdot


class CompiledCorner:
    """What `Corner` is made of: rows of Dh, the word before, and for each unit the guards that it flips."""

    def _set_up(
        self,
        fn: RecordArray,
        p: FloatArray,
        t: float,
        x: FloatArray,
        word: FloatArray,
        rows: FloatArray,
        times: FloatArray,
        flips: IntArray,
        firsts: IntArray,
    ) -> None:
        """Prepare what the compiled core needs: a workspace, and the rows of Dh without their zeros.

        ``flips`` are the guards of all units, one unit after the other; unit u begins at ``firsts[u]``.
        """
        self.n, self._p, self._t, self._word = x.size, p, t, word
        self._rows, self._slopes = rows, np.ascontiguousarray(times, dtype=float)
        self._flips, self._firsts = flips.astype(np.int64), firsts.astype(np.int64)
        self._side = word[self._flips[self._firsts[:-1]]].copy()
        self._count = np.count_nonzero(rows, axis=1).astype(np.int64)
        widest = max(int(self._count.max(initial=0)), 1)
        first = np.argsort(rows == 0.0, axis=1, kind="stable")[:, :widest]
        self._index = np.ascontiguousarray(first, dtype=np.int64)
        self._value = rows[np.arange(len(rows))[:, None], self._index]
        self._offset = np.zeros(len(rows))
        self._memory = memory = Working(x.size, word.size, p.size)
        memory.fill()
        memory.v.x[:], memory.p[:], memory.s.cap = x, p, math.inf
        memory.bind(fn, False)
        plan = np.zeros(1, dtype=CORNER_PLAN)
        self._plan = _Plan(plan.data.cast("B"))
        self._plan.t = t
        done = np.zeros(len(rows), dtype=np.int64)
        arrays = {"value": self._value, "index": self._index, "count": self._count, "Dt_h": self._slopes}
        arrays |= {"offset": self._offset, "side": self._side, "firsts": self._firsts, "flips": self._flips}
        memory.put("corner", TableMemory(CORNER, plan=plan, done=done, **arrays))
        self.mode, self.target, self.end, self._reference = WHOLE, 0, 0.0, np.zeros(x.size)
        # the move onto guards on which the trajectory begins to slide there: images of states, then of parameters, as rows
        self._onto: FloatArray | None = None

    @property
    def units(self) -> int:
        """Number of crossings. (In a corner of a trajectory, guards that a crossing re-arms belong to that crossing.)"""
        return self._side.size

    def _field(self, word: FloatArray) -> FloatArray:
        """The field at the corner in a mode."""
        raise NotImplementedError

    def _fail(self, code: int) -> NoReturn:
        """Raise the exception for a code of the core."""
        raise NotImplementedError

    def _pass(self, D: FloatArray, dt0: FloatArray | None = None, jumps: bool = False) -> Passage:
        """Propagate the tangents D (one per row, changed in place) through the corner. The first selects the piece for all."""
        units, tangents, plan = self.units, D.shape[0], self._plan
        self._memory.g.b[:] = self._word
        plan.mode, plan.target, plan.end = self.mode, self.target, self.end
        order, times = np.zeros(units, dtype=np.int64), np.zeros((units, tangents))
        records = np.zeros((units, self.n + 1)) if jumps else _NONE
        dt0 = np.zeros(tangents) if dt0 is None else dt0
        code, crossed = _pass_corner(self._memory.address, D, dt0, order, times, records)
        if code != codes.GO_ON:
            self._fail(code)
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
