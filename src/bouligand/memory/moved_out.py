"""What a solution reads of its integration's workspace, without the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.state import GUARD_ROWS, STATE_ROWS
from ..core.views import RowsView
from .working import IntegrationMemory, Scalars

if TYPE_CHECKING:
    from .._typing import FloatArray


class MovedOut:
    """A copy of an integration's workspace, to be read only: no larger than its record, where a workspace has room for more."""

    __slots__ = ("_front", "_n", "_places", "breaks", "event_times", "events", "states", "steps", "t_eval", "x_eval")

    def __init__(self, memory: IntegrationMemory) -> None:
        rows, events = memory.s.rows.records, memory.s.rows.events
        self._front: FloatArray = memory.without_record.copy()
        self._n, self._places = memory.v.width, memory.plan.places
        self.steps, self.states = memory.steps[:rows].copy(), memory.states[:rows].copy()
        self.events = memory.events[:events].copy()
        self.event_times = memory.event_times[: memory.s.rows.shown].copy()
        self.t_eval, self.x_eval, self.breaks = memory.t_eval, memory.x_eval, memory.breaks

    @property
    def s(self) -> Any:
        return Scalars(self._front[self._places["s"]].data)

    @property
    def v(self) -> RowsView:
        return RowsView(STATE_ROWS, self._front[self._places["v"]].reshape(-1, self._n))

    @property
    def g(self) -> RowsView:
        return RowsView(GUARD_ROWS, self._front[self._places["g"]].reshape(GUARD_ROWS.count, -1))
