"""The stretch of a record along which a derivative is propagated: cut to its times, with additional rows where needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..core.entries import Kernel
from ..core.state import MARGIN
from ..memory.tables import Placed
from ..solution.dense import sample_parts
from ..solution.record import word_after
from .refinement import open_division

if TYPE_CHECKING:
    from .._typing import FloatArray, IntArray, RecordArray
    from ..memory.extras import TangentMemory
    from ..solution.record import Record
    from ..solution.solution import Solution
    from ..system.system import System
    from .refinement import Rates

_divide_rows = Kernel("tangents.divided_rows", "divide_rows", "what derivatives need", quickly=True, direct=True)
_NONE = np.empty(0)


@dataclass(slots=True)
class Stretch:
    """Rows of a record from one time on, with the word and the parameters at its start."""

    steps: RecordArray
    states: FloatArray
    events: RecordArray  # (including those after the end: one may be closer to it than the tolerances resolve)
    before: RecordArray  # the events before its start
    rows: slice  # of the record's table of events, those within the stretch
    word: FloatArray  # at its start
    breaks: FloatArray
    leg_p: FloatArray  # the parameters, a row for each leg,
    legs: IntArray  # the first row of ``steps`` in each leg,
    leg: int  # and the leg at the start
    wanted: int  # the row of ``events`` at which the outcome is taken; -1: at a fixed time
    end: int  # the row of ``steps`` of that fixed time
    placed: Placed  # the arrays that the core replays

    @property
    def t(self) -> FloatArray:
        """Times of the rows."""
        return self.steps["t"]

    @property
    def starting_word(self) -> FloatArray:
        """The word behind what happens at the very start."""
        return self.word_after(int(np.searchsorted(self.events["t"], self.t[0], side="right")))

    def at_break(self, row: int) -> bool:
        """Whether a row of ``steps`` is at a breakpoint."""
        return self.breaks.size > 0 and self.steps["t"][row] in self.breaks

    def word_after(self, count: int) -> FloatArray:
        """The word after the first ``count`` rows of ``events``."""
        return word_after(self.word, self.events[:count])


def cut(
    solution: Solution,
    since: float,
    until: float,
    wanted: int | None,
    observers: bool,
    rates: Rates | None,
    memory: TangentMemory,
) -> Stretch:
    """The stretch from ``since`` to ``until``, with a row at both, at events that are inside a step, and at the times that divide
    steps which are too long. ``observers``: whether events of observers get a row too. ``rates``: of the fastest modes (see
    `refinement`); None: no step is divided, and parts of steps have no formulas of lower order. ``memory``: the workspace in
    which the record is open."""
    record = solution.record
    steps, states, events = record.steps, record.states, record.events
    first, last = 0, len(events)
    from_start, to_end = since == record.t[0], until == record.t[-1]
    if not from_start:
        first = int(np.searchsorted(events["t"], since))
    if not to_end:
        last = int(np.searchsorted(events["t"], until, side="right"))
    wanted = -1 if wanted is None else wanted - first
    more = _inside(record, solution.system, first, wanted, observers)
    after, spans = events[first:] if first else events, record.spans
    divided = rates.times if rates is not None else None
    if more.size or not (from_start and to_end) or spans or divided is not None:
        more = np.concatenate([[since, until], more] if divided is None else [[since, until], more, divided])
        after = after.copy()
        steps, states = _with_rows(solution, memory, since, more, rates, after)
    t = steps["t"]
    leg_p, legs = record.parameters
    breaks, leg = record.breaks, 0
    if record.legs is not None:
        # f may jump where parameters change, as at a breakpoint
        changed = np.array([record.t[row] for row, _ in record.legs[1:]])
        legs = np.concatenate([[0], np.searchsorted(t, changed)]).astype(np.int64)
        breaks = np.unique(np.concatenate([breaks, changed]))
        leg = int(np.searchsorted(legs, 0, side="right")) - 1
    placed = record.placed
    if record.legs is not None:
        placed = Placed.of(steps, states, after, breaks, leg_p, legs)
    elif steps is not record.steps or after is not events:
        placed = placed.with_rows(steps, states, after)
    return Stretch(
        steps=steps,
        states=states,
        events=after,
        before=events[:first],
        rows=slice(first, last),
        word=word_after(record.word_start, events[:first]) if first else record.word_start,
        breaks=breaks,
        leg_p=leg_p,
        legs=legs,
        leg=leg,
        wanted=wanted,
        end=len(t) - 1 if until == t[-1] else int(np.searchsorted(t, until)),
        placed=placed,
    )


def _inside(record: Record, system: System, first: int, wanted: int, observers: bool) -> FloatArray:
    """Times of events that are inside a step and need a row of their own; of observers only if requested."""
    events = record.events[first:]
    if not record.spans and not system._special:
        return events["t"][:0]
    inside = record.inside[first:]
    if not inside.any():
        return events["t"][:0]
    inside &= events["shown"] != MARGIN
    if not observers and system._special:
        seen = system.observers[events["guard"]]
        if wanted >= 0:
            seen[wanted] = False
        inside &= ~seen
    return events["t"][inside]


def _with_rows(
    solution: Solution, memory: TangentMemory, since: float, times: FloatArray, rates: Rates | None, events: RecordArray
) -> tuple[RecordArray, FloatArray]:
    """Steps and states from ``since`` on, with additional rows at these times; the rows of ``events`` among them. The parts of a
    divided step keep its kind, or get a cheaper one."""
    record, division, first = solution.record, memory.tangents.division, 0
    times.sort()
    if since > record.t[0]:
        times, first = times[times.searchsorted(since) :], int(record.t.searchsorted(since))
    if rates is None:
        division.put("rungs", _NONE)
    else:
        open_division(memory, rates.rtol, rates.rows)
    plan = division.now
    plan.first = first
    division.put("times", times)
    division.put("events", events)
    division.hold_rows(len(record) - first + len(times))
    count = _divide_rows(memory.address)
    steps, states = division.steps[:count], division.states[:count]
    if plan.fresh:
        there = np.empty((plan.fresh, states.shape[1]))
        sample_parts(solution.system, record, division.fresh_times[: plan.fresh], there, plan.inside_spans)
        states[division.fresh[: plan.fresh]] = there
    return steps, states
