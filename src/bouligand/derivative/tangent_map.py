"""The map of perturbations from the start to the outcome: tangents forwards, gradients backwards.

Between corners it is linear. With few states these parts are stored as matrices once there is a second perturbation (of robots: a
fifth one); else the steps of the record are replayed each time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..core.state import AT_END, AT_START, LANES, MOST_ALONG, SHOWN, TO_GUARD, WITH_CROSSING
from ..errors import DerivativeError
from .chain import Chain
from .sliding_exit import exit_at, exits_among
from .sliding_start import sliding_start

if TYPE_CHECKING:
    from .._typing import FloatArray, RecordArray
    from ..solution.solution import Solution
    from .chain import AnyCorner
    from .compiled_corner import Passage
    from .outcome import Outcome
    from .walk import Requested, Walk

_SMALL = 100  # up to this many states and parameters, the linear parts are stored as matrices


@dataclass
class Link:
    """A linear part of the map (images of the unit perturbations, one per row), the derivatives of the event times in it (None
    where they are not stored), and the corner that follows."""

    matrix: FloatArray
    times: FloatArray | None
    corner: AnyCorner | None


class TangentMap:
    """Perturbations (state, then parameters) along a solution, to an outcome."""

    def __init__(
        self, solution: Solution, outcome: Outcome, params: bool, merge: float | None, rtol: float | None
    ) -> None:
        row = outcome.row
        # (at the end of sliding, or of rest, the state is that at this time, and at its own time what `_exit` adds)
        left = row is not None and solution.system._stays and row in exits_among(solution, solution.record.events)
        row = None if left else row
        end = outcome.t if row is None else solution.record.t[-1]
        self._solution, self._rtol = solution, rtol
        self._arguments = (outcome.since, end, row, params, merge)
        self.chain = Chain(solution, *self._arguments, observers=False, rtol=rtol)
        self._links: list[Link] | None = None
        self._calls = 0
        self._few = MOST_ALONG if "along" in solution.system._functions else 1
        self._stands = self.chain.parts[0].walk.stands
        self._sliding_start = None if self._stands else sliding_start(self.chain.parts[0].walk)
        self.n, self.np, self.width = self.chain.n, self.chain.np, self.chain.n + self.chain.np
        guard = int(solution.record.events["guard"][outcome.row]) if left else -1
        self._exit = exit_at(solution, guard, outcome.t, self.width) if left else None

    @property
    def corners(self) -> list[AnyCorner]:
        """The corners on the way."""
        self.chain.find_corners()
        return self.chain.corners

    # ------------------------------------------------------------------------------------------------ linear parts

    def links(self) -> list[Link]:
        """The linear parts as matrices, and the corners between them."""
        self.store_matrices()
        return self._links or []

    def store_matrices(self, times: bool = False) -> None:
        """Compute the linear parts as matrices, and store them. ``times``: with the derivatives of the event times."""
        if self._links is not None and (not times or self._links[0].times is not None):
            return
        if times:
            self._watch_observers()
        unit = np.eye(self.width)
        links: list[Link] = []
        D = unit.copy()
        record = np.full((len(self.chain.events), self.width), np.nan) if times else np.empty((0, 0))
        for corner in self.chain.propagate(D, record if times else None):
            links.append(Link(D.copy(), record.copy() if times else None, corner))
            D[:] = unit
            record[:] = np.nan
        links.append(Link(D, record if times else None, None))
        self._links = links

    def store_matrices_of_few_states(self, times: bool = False) -> bool:
        """The same, unless there are many states. Returns whether they are stored."""
        if self.width <= _SMALL:
            self.store_matrices(times)
        return self.width <= _SMALL

    def expect(self, count: int) -> None:
        """Store matrices if that pays for so many perturbations: from the second one on, or from the fifth where Df times a few
        tangents takes much less time than Df."""
        self._calls += count
        if self._calls > self._few:
            self.store_matrices_of_few_states()

    def together(self, count: int) -> bool:
        """Whether so many perturbations are propagated in one pass, as they are: a few, which no corner tells apart."""
        return self._links is None and 1 < count <= self._few and not self.corners

    def alone(self, wrt: str) -> bool:
        """Whether the matrix in states, parameters or the start time is propagated without the others: where that takes fewer
        groups of tangents, and nothing has been asked for before (all are stored at the second request)."""
        columns = {"x": self.n, "p": self.np, "t0": 1}[wrt]
        alone = self._links is None and self._calls == 0 and columns // LANES < (self.width - 1) // LANES
        self._calls += alone
        return alone

    def _watch_observers(self) -> None:
        """Cut the stretch again, with a row at each event of an observer, because their times are requested."""
        if self._solution.system.observers.any():
            self.chain = Chain(self._solution, *self._arguments, observers=True, rtol=self._rtol)
            self._links = None

    # ---------------------------------------------------------------------------------------------------- forwards

    def propagate(
        self,
        D: FloatArray,
        dt0: FloatArray | None,
        times: FloatArray | None = None,
        jumps: bool = False,
        requested: Requested | tuple[()] = (),
    ) -> list[Passage]:
        """Propagate tangents (rows of D, changed in place; the first selects the piece) from the start to the outcome.

        Returns how they passed each corner.

        ``dt0``: perturbations of the start time, None if all are zero. ``times``: receives the derivatives of the event times.
        ``jumps``: whether the passages are to hold what the adjoint needs. ``requested``: see `Walk.propagate`.
        """
        passages: list[Passage] = []
        if dt0 is not None and self._stands and self.chain.parts[0].walk.on_guard:
            raise DerivativeError(
                "the solution covers no time and starts on a guard: there is no derivative in the start time (dt0, wrt='t0')"
            )
        if dt0 is not None and not self.chain.starts_on_guard:
            D[:, : self.n] -= np.outer(dt0, self._rate())
        if self._sliding_start is not None:
            self._sliding_start.push(D)
        links = self._links
        if links is None or requested or (times is not None and links[0].times is None):
            for corner in self.chain.propagate(D, times, requested):
                passages.append(self._pass(corner, D, dt0, times, jumps))
        else:
            for link in links:
                if times is not None and link.times is not None:
                    rows = np.isfinite(link.times[:, 0])
                    times[rows] = link.times[rows] @ D.T
                D[:] = D @ link.matrix
                if link.corner is not None:
                    passages.append(self._pass(link.corner, D, dt0, times, jumps))
        if self._exit is not None:
            D[:, : self.n] += np.outer(D @ self._exit.row, self._exit.f)
        return passages

    def _pass(
        self, corner: AnyCorner, D: FloatArray, dt0: FloatArray | None, times: FloatArray | None, jumps: bool
    ) -> Passage:
        """Propagate tangents through a corner; arguments as for `propagate`."""
        passage = corner._pass(D, dt0 if corner.mode == AT_START and not corner.at_break else None, jumps)
        if times is not None:
            for u, when in zip(passage.order, passage.times, strict=True):
                if u < len(corner.unit_rows):
                    row = corner.offset + corner.unit_rows[u]
                    times[row] = when
                    if self.chain.merge > 0.0:  # (with offsets, the first time is relative to the corner's own)
                        times[row, 0] += corner.t - self.chain.events["t"][row]
        return passage

    def _rate(self) -> FloatArray:
        """x' at the start, in the mode there."""
        stretch = self.chain.stretch
        p = stretch.leg_p[stretch.leg]
        return self._solution.system.function("f")(stretch.t[0], stretch.states[0], stretch.word, p)

    def matrix(self, z: FloatArray, dt0: float, wrt: str) -> FloatArray:
        """The linear piece of the perturbation z, dt0, with respect to "x", "p" or "t0"."""
        n = self.n
        stored = self._links is not None and not self.corners and self._sliding_start is self._exit is None
        whole = self._links[0].matrix if self._links is not None and stored else None
        if whole is not None and wrt != "t0":
            return (whole[:n] if wrt == "x" else whole[n:])[:, :n].T.copy()
        unit = np.eye(self.width)
        followers = {"x": unit[:n], "p": unit[n:], "t0": np.zeros((1, self.width))}[wrt]
        D = np.vstack([z, followers])
        start = np.zeros(len(D))
        start[0] = dt0
        if wrt == "t0":
            start[1] = 1.0
        self.propagate(D, start if start.any() else None)
        return D[1, :n].copy() if wrt == "t0" else D[1:, :n].T.copy()

    def event_times(self, z: FloatArray, dt0: float) -> FloatArray:
        """The perturbations of the times of all events between start and outcome."""
        if not self.store_matrices_of_few_states(times=True):
            self._watch_observers()
        events, on_way = self.chain.events, self.chain.rows
        count = on_way.stop - on_way.start
        times = np.full((len(events), 1), np.nan)
        # (a guard that jumps across the trajectory does so at the breakpoint; not one that a jump of the state carries across)
        at_breaks = events["jumped"] == 1
        for part in self.chain.parts:
            if part.jump is not None:
                at_breaks[part.jump.offset : part.jump.offset + len(part.jump.events)] = False
        left = np.empty(0, dtype=np.int64)
        if self._solution.system._stays:
            left = exits_among(self._solution, events[:count])
            left = left[at_breaks[left]]
        at_exits = np.zeros((left.size, self.n))
        D, start = z[None].copy(), np.array([dt0]) if dt0 else None
        self.propagate(D, start, times, requested=(events["t"][left], at_exits) if left.size else ())
        times[at_breaks] = 0.0
        if self._solution.system._stays:  # (of what happens at the very start nothing is known)
            times[at_breaks & (events["t"] <= np.nextafter(self._solution.record.t[0], np.inf))] = np.nan
        for row, dx in zip(left, at_exits, strict=True):
            found = exit_at(self._solution, int(events["guard"][row]), float(events["t"][row]), self.width)
            times[row] = found.row @ np.concatenate([dx, z[self.n :]])
        _times_of_crossings(times, events)
        return times[:count][events["shown"][:count] == SHOWN, 0]

    # --------------------------------------------------------------------------------------------------- backwards

    def gradient_by_columns(self, count: int) -> bool:
        """Whether a gradient in so many unknowns is computed by matrices: with dual numbers an adjoint takes as many evaluations
        of f as all tangents, and more besides."""
        return count <= _SMALL and self.chain.by_duals

    @property
    def _forwards(self) -> bool:
        # (where sliding ends, the sign before is not the opposite one: gradients are not propagated backwards there)
        return bool(self._solution.system._stays) or self.gradient_by_columns(self.width)

    def prepare_gradient(self) -> None:
        """Store what `gradient` needs (and find the corners on the way)."""
        if self._forwards:
            self.store_matrices()
        else:
            self.chain.record_crossings()

    def gradient(self, w: FloatArray, z: FloatArray, dt0: float) -> FloatArray:
        """The gradient of ``w . x(t)`` in the piece of the perturbation z, dt0; after `prepare_gradient`."""
        if not self._forwards:
            start = np.array([dt0]) if dt0 else None
            return self.pull(w, self.propagate(z[None].copy(), start, jumps=True) if self.corners else [])
        D = np.eye(self.width)
        if self.corners:
            start = np.zeros(self.width + 1)
            start[0] = dt0
            D = np.vstack([z, D])
            self.propagate(D, start)
            D = D[1:]
        else:
            self.propagate(D, None)
        return D[:, : self.n] @ w

    def pull(self, w: FloatArray, passages: list[Passage], requested: Requested | tuple[()] = ()) -> FloatArray:
        """The gradient of ``w . x(t)``, with these passages through the corners; ``requested``: times on the way, and a gradient
        for each that is added."""
        g = np.zeros(self.width)
        g[: self.n] = w
        chain, last = self.chain, len(passages)
        parts = chain.share_out(requested, 1)
        for part, asked in zip(chain.parts[::-1], parts[::-1], strict=True):
            if part.jump is not None and part.jump.is_linear:
                part.jump.pull(g, chain.at_event and part is chain.parts[-1])
            elif part.jump is not None:
                last -= 1
                part.jump._adjoint(g, passages[last])
            first = last - len(part.walk.corners)
            _adjoint_along(part.walk, passages[first:last], g, asked)
            last = first
        return g


def _times_of_crossings(times: FloatArray, events: RecordArray) -> None:
    """Guards that are left because another is crossed are left at its time."""
    for row in np.flatnonzero((events["jumped"] == WITH_CROSSING) & np.isnan(times[:, 0])):
        if row > 0 and events["t"][row - 1] == events["t"][row]:
            times[row] = times[row - 1]


def _adjoint_along(walk: Walk, passages: list[Passage], g: FloatArray, requested: Requested | tuple[()]) -> None:
    """Propagate the gradient g (changed in place) back along one walk, with the passages through its corners."""
    stretch = walk.stretch
    walk.memory.request(*requested, backwards=True)
    here = (stretch.end, int(stretch.events["t"].searchsorted(stretch.t[stretch.end], side="right")))
    for corner, passage in zip(walk.corners[::-1], passages[::-1], strict=True):
        first, behind = corner.event_rows.start, corner.event_rows.stop
        if corner.mode not in (TO_GUARD, AT_END):
            walk.adjoint(g, here, (corner.last_record, behind))
            walk.adjoint(g, (corner.last_record, behind), (corner.record, first), quiet=first)
        corner._adjoint(g, passage)
        # (crossings of a corner at the end may be behind it, where nothing was propagated)
        middle, begin = min(corner.record, stretch.end), min(corner.first_record, stretch.end)
        at_middle = first + int(np.count_nonzero(stretch.events["record"][corner.event_rows] < middle))
        walk.adjoint(g, (middle, at_middle), (begin, first), quiet=first)
        here = (begin, first)
    walk.adjoint(g, here, (0, 0))
