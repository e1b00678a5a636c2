"""The stretch of a record along which a derivative is propagated: cut to its times, with additional rows where needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..core import codes
from ..core.entries import Kernel
from ..memory.tables import Placed
from ..solution.dense import sample, sample_parts
from ..solution.record import word_after
from .failures import raise_failed
from .refinement import set_limits
from .turns import in_turns

if TYPE_CHECKING:
    from .._typing import FloatArray, IntArray, RecordArray
    from ..memory.extras import TangentMemory
    from ..solution.solution import Solution
    from ..system.binding import Bound
    from ..system.user_memory import Lease
    from .refinement import Rates

_divide_rows = Kernel("tangents.divided_rows", "divide_rows", "what derivatives need", direct=True)
_span_states = Kernel("tangents.span_states", "span_states", "what derivatives need", direct=True)
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
    done: int  # rows of ``events`` that are done at the start: at a breakpoint, those of its very moment
    placed: Placed  # the arrays that the core replays
    divided: bool  # whether states where steps are divided may be unknown as yet (see `core.part_states`)

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

    def find_states(self, solution: Solution) -> None:
        """Find all states that no perturbation has come to, as dense output: an adjoint needs them."""
        rows = np.flatnonzero(np.isnan(self.states[:, 0])) if self.divided else ()
        if len(rows):
            there = np.empty((len(rows), self.states.shape[1]))
            sample(solution.system, solution.record, self.t[rows], there)
            self.states[rows] = there
        self.divided = False

    def word_after(self, count: int) -> FloatArray:
        """The word after the first ``count`` rows of ``events``."""
        return word_after(self.word, self.events[:count])


def is_plain(solution: Solution, since: float, until: float, rates: Rates | None, memory: TangentMemory) -> bool:
    """Whether the record that is open in ``memory`` is replayed as it is, from its start to its end, and nothing happens on the
    way but steps and crossings between them."""
    record, system, s = solution.record, solution.system, memory.s
    as_it_is = since == s.now.t0 and until == s.now.tf and (rates is None or rates.times is None) and not record.spans
    if not as_it_is or system._stays or record.legs is not None or record.breaks.size:
        return False
    return not (system._special and record.inside.any())


def whole(solution: Solution) -> Stretch:
    """The whole record, where it `is_plain`."""
    record = solution.record
    events, end = record.events, len(record) - 1
    rows = record.steps, record.states, events, events[:0], slice(0, len(events))
    return Stretch(
        *rows, record.word_start, record.breaks, *record.parameters, 0, -1, end, 0, record.placed, divided=False
    )


def cut(
    solution: Solution,
    since: float,
    until: float,
    wanted: int | None,
    observers: bool,
    rates: Rates | None,
    memory: TangentMemory,
    lease: Bound | Lease,
) -> Stretch:
    """The stretch from ``since`` to ``until``, with a row at both, at events that are inside a step, and at the times that divide
    steps which are too long. ``observers``: whether events of observers get a row too. ``rates``: of the fastest modes (see
    `refinement`); None: no step is divided, and parts of steps have no formulas of lower order. ``memory``: the workspace in
    which the record is open, with the functions of ``lease``."""
    record = solution.record
    steps, states, events = record.steps, record.states, record.events
    first, last = 0, len(events)
    from_start, to_end = since == record.t[0], until == record.t[-1]
    if not from_start:
        first = int(events["t"].searchsorted(since))
    if not to_end:
        last = int(events["t"].searchsorted(until, side="right"))
    wanted = -1 if wanted is None else wanted - first
    after = events[first:] if first else events
    word = word_after(record.word_start, events[:first]) if first else record.word_start
    divided = rates is not None and rates.times is not None
    if divided or record.spans or not (from_start and to_end) or (solution.system._special and record.inside.any()):
        plan = memory.tangents.division.now
        plan.since, plan.until, plan.wanted, plan.observers = since, until, wanted, observers
        plan.first = 0 if from_start else record.t.searchsorted(since)
        after = after.copy()
        steps, states = _with_rows(solution, rates, memory, lease, after, word)
    t = record.t if steps is record.steps else steps["t"]
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
    end = len(t) - 1 if until == t[-1] else int(np.searchsorted(t, until))
    done = int(np.searchsorted(after["t"], t[0], side="right")) if breaks.size and t[0] in breaks else 0
    parameters, rows = (leg_p, legs, leg), slice(first, last)
    return Stretch(
        steps, states, after, events[:first], rows, word, breaks, *parameters, wanted, end, done, placed, divided
    )


def _with_rows(
    solution: Solution,
    rates: Rates | None,
    memory: TangentMemory,
    lease: Bound | Lease,
    events: RecordArray,
    word: FloatArray,
) -> tuple[RecordArray, FloatArray]:
    """Steps and states of the stretch that is planned in ``memory``, whose events these are (their rows change) and which begins
    with this word: with rows at its ends, at events inside a step, and where steps are divided. The parts of a divided step keep
    its kind, or get a cheaper one."""
    record, division = solution.record, memory.tangents.division
    plan, times = division.now, _NONE if rates is None or rates.times is None else rates.times
    if rates is None:
        division.put("rungs", _NONE)
        division.limited_to = 0.0
    else:
        set_limits(memory, rates.rtol)
        division.put("rows", rates.rows)
    division.put("times", times)
    division.put("events", events)
    division.hold_rows(len(record) - plan.first + len(times) + len(events) + 2)
    count = _divide_rows(memory.address)
    steps, states, fresh = division.steps[:count], division.states[:count], plan.fresh
    if fresh:
        there, moments, spanning = np.empty((fresh, states.shape[1])), division.fresh_times[:fresh], plan.inside_spans
        sample_parts(solution.system, record, moments, there, spanning, None if record.stiff else (memory, lease))
        states[division.fresh[:fresh]] = there
    if record.spans:
        memory.g.b[:] = word
        code = in_turns(solution.system, _span_states, memory.address)
        if code != codes.GO_ON:
            raise_failed(solution.system, code, memory)
    return steps, states
