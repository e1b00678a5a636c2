"""Flights: the parts of a trajectory between jumps of the state, each as a solution of its own.

Inside a flight the state is continuous, and its derivative is that of a trajectory without jumps. The crossings of the instants
between flights belong to no flight: see `instant`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..core.state import JUMP
from ..solution.record import Record, word_after
from ..solution.solution import Solution

if TYPE_CHECKING:
    from .._typing import FloatArray


class Flight(NamedTuple):
    """A part of a trajectory without jumps. Rows are those of the whole record, ``stop`` is exclusive."""

    solution: Solution
    first_row: int
    last_row: int
    first_event: int
    stop_event: int
    word: FloatArray  # at its end, before the crossings of the instant there


def flights(solution: Solution) -> list[Flight]:
    """All flights of a solution, in order."""
    record = solution.record
    behind = record.steps["kind"] == JUMP
    landings = np.flatnonzero(behind[1:] & ~behind[:-1])  # rows before a jump
    takeoffs = np.flatnonzero(behind & ~np.append(behind[1:], False))  # rows behind the last jump of an instant
    firsts, lasts = [0, *takeoffs.tolist()], [*landings.tolist(), len(record) - 1]
    events, word, out = record.events, record.word_start, []
    done = 0
    for q, (first, last) in enumerate(zip(firsts, lasts, strict=True)):
        # what happens at the very rows of an instant is part of it
        begin = done if q == 0 else int(np.searchsorted(events["record"], first, side="right"))
        stop = len(events) if q == len(lasts) - 1 else max(int(np.searchsorted(events["record"], last)), begin)
        word = word_after(word, events[done:begin])
        mine = events[begin:stop].copy()
        mine["record"] -= first
        after = word_after(word, mine)
        own = Record(
            steps=record.steps[first : last + 1],
            states=record.states[first : last + 1],
            events=mine,
            word_end=after,
            breaks=record.breaks,
            p=record.parameters_at(float(record.t[last]), "left"),
            legs=_legs(record, first, last),
            word_before=word,  # (a guard that was at rest, 0, takes either sign at its first flip)
        )
        out.append(Flight(_part(solution, own), first, last, begin, stop, after))
        word, done = after, stop
    return out


def _legs(record: Record, first: int, last: int) -> tuple[tuple[int, FloatArray], ...] | None:
    """The parameters from one row to another."""
    if record.legs is None:
        return None
    begun = [p for row, p in record.legs if row <= first]
    later = [(row - first, p) for row, p in record.legs if first < row <= last]
    return ((0, begun[-1]), *later) if later else None


def _part(solution: Solution, record: Record) -> Solution:
    """A solution that consists of this record."""
    if solution._difference_steps is None:
        solution._difference_steps = {}
    part = Solution.__new__(Solution)
    part.__dict__.update(
        _stepper=None,
        system=solution.system,
        status="finished",
        error=None,
        counts=solution.counts,
        ended_by=None,
        _message="",
        _requested=None,
        _tolerances=solution._tolerances,
        _difference_steps=solution._difference_steps,
        record=record,
    )
    return part
