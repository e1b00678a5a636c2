"""One worker of an ensemble: an integration's memory that is used again and again, and the arrays around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import codes
from ..core.entries import Kernel
from ..core.state import BLOCK, BLOCK_PLAN, COUNTED, TO_KEEP
from ..core.views import record_view
from ..integration import compiled_entries, stiff
from ..integration.failures import failure
from ..integration.options import TO_THE_END
from ..integration.running import ENTERED, borrow_spans, give_back
from ..memory.tables import TableMemory
from ..system import interrupts
from . import outcomes
from .kept import Kept

if TYPE_CHECKING:
    from .._typing import FloatArray
    from .problem import Problem

MOST = 1024  # trajectories that the compiled loop is given at once
_GIVEN = (
    "eps",
    "direction",
    "observer",
    "terminal",
    "jump",
    "rest",
    "needs",
    "needs_too",
)  # rows of the guards that options have written before the start
_Plan = record_view(BLOCK_PLAN)
_run_block = Kernel("steps.block", "run_block", "ensembles", direct=True)


class Worker:
    """Integrates rows of ``x0`` and ``p`` and writes what is kept of each to the same rows of ``kept``.

    For one thread. What it writes does not depend on how the rows are distributed over workers and calls.
    """

    def __init__(self, problem: Problem, x0: FloatArray, p: FloatArray, kept: Kept) -> None:
        self._problem, self._x0, self._p, self._kept = problem, x0, p, kept
        system = problem.system
        self._stepper = stepper = problem.stepper(x0[0], p[0])
        self._memory = memory = stepper._memory
        memory.s.run.budget = TO_THE_END
        guards = np.zeros_like(memory.g._matrix)
        for name in (
            *(_GIVEN if memory.marked else ()),
            *(("b",) if memory.s.options.word_given or system._stays else ()),
        ):
            first, _ = memory.g._rows.places[name]
            guards[first] = memory.g._matrix[first]
        rows = min(MOST, kept.count)
        room = 16 * rows if "events" in problem.keep else 0
        plan = np.zeros(1, dtype=BLOCK_PLAN)
        scalars = np.frombuffer(memory.head, dtype=np.int64)
        self._table = TableMemory(
            BLOCK,
            plan=plan,
            work_table=memory.table,
            scalars=scalars,
            scalars_start=scalars.copy(),
            guards=memory.g._matrix,
            guards_start=guards,
            x0=x0,
            p=p,
            t=np.empty(rows),
            x=np.empty((rows, system.n)),
            b=np.empty((rows, system.m)),
            outcome=np.empty((rows, 2), dtype=np.int64),
            counts=np.empty((rows, len(COUNTED) + 1), dtype=np.int64),
        )
        self._room(room)
        self.plan = _Plan(plan.data.cast("B"))
        self.plan.work = memory.address
        self.plan.x0_step, self.plan.p_step = int(len(x0) > 1), int(len(p) > 1)
        self.plan.run = compiled_entries.loop.address()

    def _room(self, rows: int) -> None:
        """Room for so many events, with those that are there."""
        table = self._table
        for name, kind in (("event_t", np.float64), ("event_guard", np.int64), ("event_sign", np.float64)):
            array = np.empty(rows, dtype=kind)
            old: Any = getattr(table, name, array[:0])
            array[: len(old)] = old
            table.put(name, array)

    def run(self, first: int, stop: int) -> None:
        """Integrate the rows from ``first`` to before ``stop``, MOST of them at once."""
        for begin in range(first, stop, MOST):
            for _ in self.pieces(begin, min(begin + MOST, stop)):
                pass

    def pieces(self, first: int, stop: int) -> Any:
        """Integrate at most MOST rows. A generator, which yields now and then, so that its caller can look after other things."""
        plan, table, kept = self.plan, self._table, self._kept
        block = _run_block.of_workspace()
        plan.next, plan.count, plan.phase, plan.events, plan.first = 0, stop - first, 0, 0, first
        plan.x_eval = kept.address_of_states(first)
        calls_python = self._problem.system._bind().calls_python
        while True:
            if calls_python:
                with interrupts.answered(self._problem.system._bind()):
                    code = block(table.address)
            else:
                code = block(table.address)
            if code == codes.GO_ON:
                break
            self._respond(code)
            yield plan.next
        kept.write(first, stop, table, plan.events)
        yield plan.next

    def _respond(self, code: int) -> None:
        """Do what the core asks for before it can go on."""
        stepper, memory, plan = self._stepper, self._memory, self.plan
        if code == codes.LOOK:
            return
        if code == codes.RECORDS_FULL:
            memory.grow("record")
        elif code == codes.EVENTS_FULL:
            memory.grow("events")
        elif code == codes.EVENTS_KEPT:
            self._room(2 * len(self._table.__dict__["event_t"]) + memory.s.rows.events)
        elif code == codes.NEED_SPAN:
            if stepper._spans is None:
                borrow_spans(stepper)
            plan.span = compiled_entries.spans.address()
        elif codes.FIRST_QUESTION <= code <= codes.LAST_QUESTION:
            plan.judge = compiled_entries.judge.address()
        elif code in ENTERED:
            compiled_entries.let_enter(stepper, ENTERED[code])
        elif code == codes.WEIGH:
            self._set_parameters()
            stiff.weigh(stepper)
        elif code == codes.NEED_WORD:
            plan.find_word = compiled_entries.find_word.address()
            found = compiled_entries.find_word(
                memory.address
            )  # (for this trajectory; for later ones the compiled loop calls it)
            if found >= codes.FIRST_FAILURE:
                self._respond(found)
        elif code >= codes.FIRST_FAILURE:
            self._set_parameters()
            self._end(failure(stepper, code))
        else:
            raise RuntimeError(f"the compiled loop of an ensemble returned {code}")

    def _set_parameters(self) -> None:
        """Let the stepper know which trajectory is integrated."""
        row = self.plan.first + self.plan.next
        self._stepper._p = self._p[row if len(self._p) > 1 else 0]

    def _end(self, error: BaseException) -> None:
        """The present trajectory ends with this error."""
        if not isinstance(error, Exception):  # (Ctrl-C in a function of the user's)
            raise error
        guard = getattr(error, "guard", None)
        self.plan.code = -outcomes.of_error(error)
        self.plan.guard = self._problem.system.guards.index(guard) if guard in self._problem.system.guards else -1
        self.plan.phase = TO_KEEP

    def close(self) -> None:
        """Give back what was borrowed."""
        give_back(self._stepper)
