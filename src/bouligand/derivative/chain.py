"""Consecutive walks: a derivative is split at jumps of the state, and at breakpoints at which a guard is crossed.

A perturbation may cross such a guard before the breakpoint or behind it, where f, h and the word may be others. Up to the
breakpoint it is taken as to an end (only what is crossed in time counts), from there on as from a start (what is not crossed
yet is ahead): two corners at one place, each with the field and the guards of its own side.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..core.state import AT_END, AT_START, MARGIN
from ..errors import DerivativeError
from ..solution.lazy import lazy
from .flights import flights
from .instant import Instant
from .walk import Walk, walk_along

if TYPE_CHECKING:
    from .._typing import FloatArray, RecordArray
    from ..solution.solution import Solution
    from .stretch import Stretch
    from .trajectory_corners import TrajectoryCorner
    from .walk import Requested

    AnyCorner = TrajectoryCorner | Instant

NEAR = 30.0  # times the relative tolerance: how near, of the whole time, a crossing is to a breakpoint that is split at


_NO_BOUNDS = np.empty(0)


@dataclass(slots=True)
class Part:
    """A walk; its offset: the row of the chain's ``events`` at which its own begin; and the jump that follows it."""

    walk: Walk
    offset: int
    jump: Instant | None = None


class Chain:
    """The way from ``since`` to ``until`` (or to the row ``wanted`` of the event table): one walk, or several.

    ``nodes`` are times between which `propagate_between` propagates: it is not split there, and a crossing there is in the
    interval in which the trajectory has it. ``frozen``: see `walk_along`.
    """

    parts: list[Part]

    def __init__(
        self,
        solution: Solution,
        since: float,
        until: float,
        wanted: int | None,
        params: bool,
        merge: float | None,
        observers: bool,
        rtol: float | None = None,
        nodes: FloatArray = _NO_BOUNDS,
        frozen: bool = False,
    ) -> None:
        self._solution, self._options, self._nodes = solution, (params, merge, observers, rtol, frozen), nodes
        self.parts, self._bounds = [], _NO_BOUNDS
        self.at_event = False  # whether the outcome is the state behind the last jump, at its own time
        if solution.system.jumps and solution.record.jump_rows.size:
            self._through_jumps(since, until, wanted)
        else:
            self._along(solution, since, until, wanted)
        walk = self.parts[0].walk
        self.n, self.np, self.width, self.merge = walk.n, walk.np, walk.width, walk.merge
        self.starts_on_guard = walk.starts_on_guard
        if len(self.parts) > 1:
            self._bounds = np.array([part.walk.stretch.t[part.walk.stretch.end] for part in self.parts[:-1]])

    @property
    def stretch(self) -> Stretch:
        """That of the first walk."""
        return self.parts[0].walk.stretch

    @lazy
    def rows(self) -> slice:
        """The rows of the record's table of events on the way."""
        first, last = self.stretch, self.parts[-1].walk.stretch
        stop = last.rows.start + last.wanted + 1 if last.wanted >= 0 else last.rows.stop
        return slice(first.rows.start, stop)

    @lazy
    def events(self) -> RecordArray:
        """These events, and all later ones."""
        return self.stretch.events

    def _along(
        self,
        solution: Solution,
        since: float,
        until: float,
        wanted: int | None,
        offset: int = 0,
        after_jump: bool = False,
    ) -> None:
        """Add the walks along a solution without jumps, split at breakpoints. ``offset``: of its first event."""
        record, splits = solution.record, _NO_BOUNDS
        if record.breaks.size or record.legs is not None:
            splits = _splits(solution, since, until, wanted)
            if self._nodes.size:
                splits = np.setdiff1d(splits, self._nodes)
        if not splits.size:
            walk = walk_along(solution, since, until, wanted, *self._options, after_jump=after_jump)
            self.parts.append(Part(walk, offset))
            return
        ended, total = None, 0
        for q, (first, last) in enumerate(pairwise((since, *splits, until))):
            goal, behind = (wanted if q == len(splits) else None), after_jump and q == 0
            ended = walk_along(solution, first, last, goal, *self._options, ended, behind)
            ended.find_corners()
            # rows of events: each walk counts its own from its start
            total = total or len(ended.stretch.events)
            self.parts.append(Part(ended, offset + total - len(ended.stretch.events)))

    def _through_jumps(self, since: float, until: float, wanted: int | None) -> None:
        """Add the walks along the flights between jumps, and the jumps."""
        record = self._solution.record
        if self._solution._flights is None:
            self._solution._flights = flights(self._solution)
        all_flights = self._solution._flights
        first = next(q for q in range(len(all_flights) - 1, -1, -1) if all_flights[q].solution.record.t[0] <= since)
        begin = all_flights[first].first_event
        begin += (
            int(np.searchsorted(all_flights[first].solution.record.events["t"], since)) if since > record.t[0] else 0
        )
        self.events, stop = record.events[begin:], len(record.events)
        for q in range(first, len(all_flights)):
            flight = all_flights[q]
            own = flight.solution.record
            start, end = max(since, float(own.t[0])), float(own.t[-1])
            inside = wanted is not None and wanted < flight.stop_event
            last = inside or (wanted is None and until < end) or q == len(all_flights) - 1
            local = wanted - flight.first_event if inside and wanted is not None else None
            offset = max(flight.first_event - begin, 0)
            self._along(flight.solution, start, end if inside or not last else until, local, offset, after_jump=q > 0)
            if last:
                stop = (
                    wanted + 1
                    if wanted is not None
                    else begin + int(np.searchsorted(self.events["t"], until, side="right"))
                )
                break
            following = all_flights[q + 1]
            events = record.events[flight.stop_event : following.first_event]
            jump = Instant(self.parts[-1].walk, flight, following, events, flight.stop_event - begin)
            self.parts[-1].jump = jump
            if wanted is None and until == end:
                stop = following.first_event  # (the limit from behind)
                break
            if wanted is not None and wanted < following.first_event:
                if not jump.is_linear:
                    raise DerivativeError(
                        f"several guards fire at t = {jump.t:.10g}, and perturbations meet them in different orders: there is no "
                        "derivative of the state at one of these events. Ask for a fixed time behind it"
                    )
                self.at_event, stop = True, wanted + 1
                break
        self.rows = slice(begin, stop)

    def propagate(
        self, D: FloatArray, times: FloatArray | None = None, requested: Requested | tuple[()] = ()
    ) -> Iterator[AnyCorner]:
        """As `Walk.propagate`, over all of them, and through jumps whose order does not matter; yields corners with the place of
        their walk's events among all, and jumps whose order does."""
        if len(self.parts) == 1 and self.parts[0].jump is None:
            return self.parts[0].walk.propagate(D, times, requested=requested)
        return self._propagate_all(D, times, requested)

    def _propagate_all(
        self, D: FloatArray, times: FloatArray | None, requested: Requested | tuple[()]
    ) -> Iterator[AnyCorner]:
        for stop in self.propagate_between(D, times, requested):
            if stop is not None:
                yield stop

    def propagate_between(
        self, D: FloatArray, times: FloatArray | None = None, requested: Requested | tuple[()] = ()
    ) -> Iterator[AnyCorner | None]:
        """As `propagate`; yields also None at each node (see `Walk.propagate_between`), the last time included."""
        parts, last = self.share_out(requested, len(D)), self.parts[-1]
        places = [0, *np.searchsorted(self._nodes, self._bounds), len(self._nodes)]
        for q, (part, asked) in enumerate(zip(self.parts, parts, strict=True)):
            walk, offset, jump = part.walk, part.offset, part.jump
            nodes = self._nodes[places[q] : places[q + 1]]
            end = walk.stretch.t[walk.stretch.end]
            inside, at = nodes[nodes < end], nodes[nodes >= end]
            events = None if times is None else times[offset:]
            for corner in walk.propagate_between(D, inside, events, requested=asked):
                if corner is None:
                    yield None
                    continue
                at_end = corner.mode == AT_END and part is not last
                at_start = corner.mode == AT_START and q > 0
                corner.at_break, corner.offset = at_end or at_start, offset
                yield corner
            for _ in at:
                yield None
            if jump is None:
                continue
            if jump.is_linear:
                jump.push(D, times, self.at_event and part is last)
            else:
                yield jump

    def share_out(self, requested: Requested | tuple[()], rows: int) -> list[Requested | tuple[()]]:
        """What each walk has of the requested times and of their values, of which each time has so many rows."""
        if not requested:
            return [()] * len(self.parts)
        times, values = requested
        places = [0, *np.searchsorted(times, self._bounds), len(times)]
        return [(times[first:last], values[first * rows : last * rows]) for first, last in pairwise(places)]

    def uncertain_times(self) -> FloatArray:
        """As `Walk.uncertain_times`, of all of them, and the breakpoints and jumps between them."""
        if len(self.parts) == 1:
            return self.parts[0].walk.uncertain_times()
        near = nearness(self._solution, self._bounds)
        around = np.column_stack([self._bounds - near, self._bounds + near])
        return np.concatenate([around, *(part.walk.uncertain_times() for part in self.parts)])

    def record_crossings(self) -> None:
        """As `Walk.record_crossings`, on all of them."""
        for part in self.parts:
            part.walk.record_crossings()

    @property
    def by_duals(self) -> bool:
        """Whether perturbations are propagated by dual numbers."""
        return self.parts[0].walk.memory.ways.by_duals

    def find_corners(self) -> None:
        """As `Walk.find_corners`, on all of them."""
        for part in self.parts:
            part.walk.find_corners()

    @property
    def corners(self) -> list[AnyCorner]:
        """The corners of all of them, and the jumps whose order matters, in order."""
        out: list[AnyCorner] = []
        for part in self.parts:
            out += part.walk.corners
            if part.jump is not None and not part.jump.is_linear:
                out.append(part.jump)
        return out


def nearness(solution: Solution, moments: FloatArray) -> FloatArray:
    """Times within which a crossing is as near to these moments as counts."""
    t = solution.record.t
    return NEAR * solution._tolerances[0] * (t[-1] - t[0]) + 1e-15 * np.abs(moments)


def _splits(solution: Solution, since: float, until: float, wanted: int | None) -> FloatArray:
    """The breakpoints (and changes of parameters) inside, at which something is crossed as far as the tolerances tell."""
    record = solution.record
    moments = record.breaks
    if record.legs is not None:
        moments = np.unique(np.concatenate([moments, [record.t[row] for row, _ in record.legs[1:]]]))
    events = record.events
    last = events["t"][wanted] if wanted is not None else until
    moments = moments[(moments > since) & (moments < last)]
    if not moments.size:
        return moments
    counts = (events["shown"] != MARGIN) | np.isin(events["t"], moments)  # (see `barely_met`)
    events = events[counts & ~solution.system.observers[events["guard"]]]
    if not len(events):
        return moments[:0]
    near = nearness(solution, moments)
    places = np.searchsorted(events["t"], moments)
    before = moments - events["t"][np.maximum(places - 1, 0)]
    behind = events["t"][np.minimum(places, len(events) - 1)] - moments
    close = (np.abs(before) <= near) | (np.abs(behind) <= near)
    if wanted is not None:
        close &= np.abs(last - moments) > near  # (see `refuse_event_at_break`)
    return moments[close]
