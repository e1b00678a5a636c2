"""Consecutive walks: a derivative is split at breakpoints at which a guard is crossed.

A perturbation may cross such a guard before the breakpoint or behind it, where f, h and the word may be others. Up to the
breakpoint it is taken as to an end (only what is crossed in time counts), from there on as from a start (what is not crossed
yet is ahead): two corners at one place, each with the field and the guards of its own side.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..core.state import AT_END, AT_START, MARGIN
from .walk import Walk, walk_along

if TYPE_CHECKING:
    from .._typing import FloatArray
    from ..solution.solution import Solution
    from .trajectory_corners import TrajectoryCorner
    from .walk import Requested

NEAR = 30.0  # times the relative tolerance: how near, of the whole time, a crossing is to a breakpoint that is split at


class Chain:
    """The way from ``since`` to ``until`` (or to the row ``wanted`` of the event table): one walk, or several."""

    walks: list[Walk]
    offsets: list[int]

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
    ) -> None:
        self._solution, self._splits = solution, _splits(solution, since, until, wanted)
        walk, self.walks, self.offsets = None, [], [0]
        if self._splits.size:
            for first, last in pairwise((since, *self._splits)):
                walk = walk_along(solution, first, last, None, params, merge, observers, rtol, walk)
                walk.find_corners()
                self.walks.append(walk)
            since = self._splits[-1]
        walk = walk_along(solution, since, until, wanted, params, merge, observers, rtol, walk)
        self.walks.append(walk)
        self.n, self.np, self.width, self.merge = walk.n, walk.np, walk.width, walk.merge
        self.stretch, self.starts_on_guard = self.walks[0].stretch, self.walks[0].starts_on_guard
        if self._splits.size:  # rows of events: each walk counts its own from its start
            count = len(self.stretch.events)
            self.offsets = [count - len(walk.stretch.events) for walk in self.walks]

    @property
    def rows(self) -> slice:
        """Of the record's table of events, those on the way."""
        last = self.walks[-1].stretch
        return slice(self.stretch.rows.start, last.rows.start + last.wanted + 1 if last.wanted >= 0 else last.rows.stop)

    def propagate(
        self, D: FloatArray, times: FloatArray | None = None, requested: Requested | tuple[()] = ()
    ) -> Iterator[TrajectoryCorner]:
        """As `Walk.propagate`, over all of them; yields corners with the place of their walk's events among all."""
        if len(self.walks) == 1:
            return self.walks[0].propagate(D, times, requested=requested)
        return self._propagate_all(D, times, requested)

    def _propagate_all(
        self, D: FloatArray, times: FloatArray | None, requested: Requested | tuple[()]
    ) -> Iterator[TrajectoryCorner]:
        parts = self.parts(requested, len(D))
        for walk, offset, part in zip(self.walks, self.offsets, parts, strict=True):
            for corner in walk.propagate(D, None if times is None else times[offset:], requested=part):
                inner = (corner.mode == AT_END and walk is not self.walks[-1]) or (
                    corner.mode == AT_START and walk is not self.walks[0]
                )
                corner.at_break, corner.offset = inner, offset
                yield corner

    def parts(self, requested: Requested | tuple[()], rows: int) -> list[Requested | tuple[()]]:
        """What each walk has of the requested times and of their values, of which each time has so many rows."""
        if not requested:
            return [()] * len(self.walks)
        times, values = requested
        places = [0, *np.searchsorted(times, self._splits), len(times)]
        return [(times[first:last], values[first * rows : last * rows]) for first, last in pairwise(places)]

    def uncertain_times(self) -> FloatArray:
        """As `Walk.uncertain_times`, of all of them, and the breakpoints between them."""
        if len(self.walks) == 1:
            return self.walks[0].uncertain_times()
        near = nearness(self._solution, self._splits)
        around = np.column_stack([self._splits - near, self._splits + near])
        return np.concatenate([around, *(walk.uncertain_times() for walk in self.walks)])

    def record_crossings(self) -> None:
        """As `Walk.record_crossings`, on all of them."""
        for walk in self.walks:
            walk.record_crossings()

    @property
    def by_duals(self) -> bool:
        """Whether perturbations are propagated by dual numbers."""
        return self.walks[0].memory.ways.by_duals

    def find_corners(self) -> None:
        """As `Walk.find_corners`, on all of them."""
        for walk in self.walks:
            walk.find_corners()

    @property
    def corners(self) -> list[TrajectoryCorner]:
        """The corners of all of them, in order."""
        if len(self.walks) == 1:
            return self.walks[0].corners
        return [corner for walk in self.walks for corner in walk.corners]


def nearness(solution: Solution, moments: FloatArray) -> FloatArray:
    """Times within which a crossing is as near to these moments as counts."""
    t = solution.record.t
    return NEAR * solution._tolerances[0] * (t[-1] - t[0]) + 1e-15 * np.abs(moments)


def _splits(solution: Solution, since: float, until: float, wanted: int | None) -> FloatArray:
    """The breakpoints (and changes of parameters) inside, at which something is crossed as far as the tolerances tell."""
    record = solution.record
    moments = record.breaks
    if not moments.size and record.legs is None:
        return moments
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
