"""The part of a `Solution` that comes from the workspace of its integration, read on first access."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import BouligandError
from .counts import Counts
from .lazy import lazy
from .record import Record, record_of

if TYPE_CHECKING:
    from .._typing import FloatArray, MaybeNone, Status
    from ..integration.stepper import Stepper
    from ..system.system import System

# attributes that read from the integration's workspace
_FROM_WORKSPACE = (
    "system",
    "status",
    "error",
    "_counted",
    "ended_by",
    "_message",
    "_requested",
    "_tolerances",
    "record",
)
_FROM_RECORD = ("events", "_flights")  # attributes that hold on to the record, and are made again from its copy


class FromWorkspace:
    """Attributes that are read from an integration's workspace on first access, until `_detach` has copied them all."""

    def __init__(self, stepper: Stepper) -> None:
        self._stepper: Stepper | MaybeNone = stepper
        if stepper.status != "finished":
            self._detach()

    def _detach(self) -> None:
        """Copy everything out of the integration's workspace: the integration may go on, or this solution be pickled."""
        if self._stepper is None:
            return
        for name in _FROM_WORKSPACE:
            getattr(self, name)
        if self.status == "running":
            memory = self._stepper._memory
            self.record = replace(self.record, word_end=memory.g.b.copy(), **memory.rows())
        self._stepper = None

    def _move_out(self) -> None:
        """Copy what is read from the integration's workspace, so that another integration can use it (see `memory.pool`).

        Another thread may be reading meanwhile: what it has begun to read it keeps alive, and then the workspace is not reused.
        """
        if self._stepper is not None:
            self._stepper._move_out()
        if "record" in self.__dict__:
            self.record = self.record.copy()
        for name in _FROM_RECORD:
            self.__dict__.pop(name, None)

    @lazy
    def system(self) -> System:
        """The system that was integrated."""
        return self._stepper.system

    @lazy
    def status(self) -> Status:
        """ "finished", "terminated" (by a terminal event), "failed" or "running"."""
        return self._stepper.status

    @lazy
    def error(self) -> BaseException | None:
        """The reason of a failure; None if there was none."""
        return self._stepper.error

    @lazy
    def _message(self) -> str:
        return self._stepper.message

    @lazy
    def record(self) -> Record:
        """Steps and crossings as the core has recorded them."""
        return record_of(self._stepper)

    @lazy
    def ended_by(self) -> int | None:
        """Number of the guard whose terminal event ended the integration; None if none did."""
        return self._stepper._memory.s.run.ended_by if self.status == "terminated" else None

    @lazy
    def _requested(self) -> tuple[FloatArray, FloatArray, int] | None:
        """The times and states of ``t_eval``, and how many of them have been written; None without ``t_eval``."""
        memory = self._stepper._memory
        return (memory.t_eval, memory.x_eval, memory.s.rows.requested) if memory.t_eval.size else None

    @lazy
    def _tolerances(self) -> tuple[float, FloatArray]:
        memory = self._stepper._memory
        return memory.s.options.rtol, memory.v.atol.copy()

    @lazy
    def counts(self) -> Counts:
        """Evaluations, steps and events."""
        return Counts(**self._counted, events=int(np.count_nonzero(self.record.shown)))

    @lazy
    def _counted(self) -> dict[str, int]:
        """The same without the events: counting many of them takes time, which a Ctrl-C does not have."""
        c = self._stepper._memory.s.counts
        evaluations = {"f": c.f_calls, "h": c.h_calls, "Dh": c.Dh_calls}
        return {**evaluations, "steps": c.steps, "rejected": c.rejected, "hops": c.hops, "spans": c.spans}

    def __getstate__(self) -> dict[str, Any]:
        self._detach()
        state = dict(self.__dict__)
        for name in _FROM_RECORD:
            state.pop(name, None)
        if not isinstance(state["error"], BouligandError | None):
            # of a user's type, which may not be known, or may not be able to travel: its name and message are enough
            state["error"] = RuntimeError(f"{type(state['error']).__name__}: {state['error']}")
        return state
