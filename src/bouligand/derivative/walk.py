"""Propagation of perturbations (tangents) and gradients (adjoints) along a stretch of a trajectory.

`walk_along` makes a `Walk` of a solution: the rates of the fastest modes show which steps are too long for perturbations, the
record is cut to the stretch, these steps are divided, and the workspace of the core is filled with the result.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NoReturn, TypeAlias, cast

import numpy as np

from ..core import codes
from ..core.entries import Kernel
from ..core.state import AT_END, DUAL, FEW_LANES, MOST_ALONG, SMALL, TANGENT_ROWS, TO_GUARD
from ..errors import GrazingError
from ..memory.pool import pool_of
from ..memory.working import NO_TIMES
from ..solution.lazy import lazy
from .differences import take_steps
from .failures import raise_failed, raise_user_error
from .patterns import take_pattern
from .refinement import judge_steps
from .stretch import cut, is_plain, whole
from .trajectory_corners import corner_before_break, corner_here, refuse_event_at_break, start_corner
from .turns import in_turns

if TYPE_CHECKING:
    from .._typing import FloatArray, IntArray
    from ..memory.extras import TangentMemory
    from ..solution.solution import Solution
    from ..system.binding import Bound
    from ..system.user_memory import Lease
    from .stretch import Stretch
    from .trajectory_corners import TrajectoryCorner

    # tangents; where they have components along parameters; workspace of the stages
    Tangents: TypeAlias = tuple[FloatArray, IntArray, FloatArray]
    # times; the tangents there (a row for each time and tangent) or, backwards, the gradients (a row for each time)
    Requested: TypeAlias = tuple[FloatArray, FloatArray]

_open_record = Kernel("tangents.prepare", "open_record", "what derivatives need", direct=True)
_prepare = Kernel("tangents.prepare", "prepare", "what derivatives need", direct=True)
_restart = Kernel("tangents.prepare", "restart", "what derivatives need", direct=True)
_push = Kernel("tangents.along", "push", "derivatives", direct=True)
_pull = Kernel("tangents.along", "pull", "gradients", direct=True)
_NO_HALT = -1  # in place of a record to stop at
_NO_TIMES = np.empty((0, 0))
_NO_NODES = np.empty(0)
_NO_PLACES = np.empty((0, 2), dtype=np.int64)
_STAGES = TANGENT_ROWS.places["slopes"][1]


def walk_along(
    solution: Solution,
    since: float,
    until: float,
    wanted: int | None,
    params: bool,
    merge: float | None,
    observers: bool,
    rtol: float | None = None,
    frozen: bool = False,
    ended: Walk | None = None,
    after_jump: bool = False,
) -> Walk:
    """Prepare the propagation from ``since`` to ``until`` (or to the row ``wanted`` of the event table) along a solution.

    ``observers``: whether events of observers get a row of their own, which is only needed for their times. ``rtol``: to which
    steps that are too long are divided; None: that of the solution. ``frozen``: one Jacobian for a few steps (see
    `core.tangents.frozen`), none of which is divided. ``ended``: the walk that it continues after a breakpoint.
    ``after_jump``: whether it starts where a jump has put the state.
    """
    system, record = solution.system, solution.record
    bound, kind = system._bind(), "tangents and p" if params else "tangents"
    jacobians = bound.jacobians(system, params)
    lease, memory = bound.lease(system), pool_of(system).borrow(kind, system)
    try:
        if params not in system._jacobians_probed:
            system._probe_jacobians(record.t[0], record.states[0], record.word_start, record.parameters[0][0], params)
        memory.open(solution, lease.fn, jacobians)
        record.learn((_open_record.code or _open_record)(memory.address, record.source), memory.tangents.word)
        rtol = memory.s.options.rtol if rtol is None else rtol
        if memory.ways.differenced:
            take_steps(solution, memory, params)
        if memory.ways.by_colours:
            take_pattern(system, memory, len(record.events))
        if record.stiff:
            memory.take_stiff(system.n)
        rates = None if frozen else solution._rates
        if not frozen and (rates is None or rates.rtol != rtol):
            rates = solution._rates = judge_steps(system, record, rtol, memory)
        stretch = None
        if wanted is not None or ended is not None or after_jump or not is_plain(solution, since, until, rates, memory):
            stretch = cut(solution, since, until, wanted, observers, rates, memory, lease)
        merge = -1.0 if merge is None else float(merge)
        return Walk(solution, stretch, lease, memory, kind, merge, ended, after_jump, frozen)
    except BaseException:
        memory.release()
        pool_of(system).give_back(kind, memory)
        raise


class Walk:
    """A stretch of a trajectory in the core's workspace, along which perturbations and gradients are propagated.

    ``corners`` are found by the first propagation; they are the same for every perturbation. It is ``plain`` if the stretch is
    the whole record as it is, without breakpoints (see `stretch.is_plain`).
    """

    _kind = ""  # of the workspace

    def __init__(
        self,
        solution: Solution,
        stretch: Stretch | None,
        lease: Bound | Lease,
        memory: TangentMemory,
        kind: str,
        merge: float,
        ended: Walk | None,
        after_jump: bool,
        frozen: bool,
    ) -> None:
        self.solution, self.system, self.merge = solution, solution.system, merge
        self.memory, self.lease = memory, lease  # (given back when this is deleted)
        self.n, self.np = self.system.n, memory.parameters_differentiated
        self.width = self.n + self.np
        if stretch is not None:
            self.stretch = stretch
            memory.open_stretch(stretch)
            if self.system._stays:
                # h depends on the mode, and the search for the fastest rates has left that of the end
                memory.g.b[:] = stretch.starting_word
        self.frozen = int(frozen)  # 1: one Jacobian for a few steps (see `core.tangents.frozen`)
        self.plain = stretch is None
        self.corners: list[TrajectoryCorner] = []
        on_guard = (_prepare.code or _prepare)(memory.address)
        if on_guard < 0:
            self.fail(codes.H_FAILED)
        record = solution.record
        # whether no time passes, so that no perturbation of the state crosses anything
        self.stands = bool(record.t[0] == record.t[-1]) and not len(record.events)
        self.on_guard = on_guard > 0
        if self.stands:
            on_guard, self.plain = 0, True
        if not self.plain:
            refuse_event_at_break(self)
        if (on_guard > 0 or not self.plain) and (corner := start_corner(self, on_guard > 0, ended, after_jump)):
            self.corners.append(corner)
        self.starts_on_guard = bool(self.corners)
        self.complete = self.stands  # whether all corners have been found
        self._crossings: FloatArray | None = None
        self._kind = kind

    @lazy
    def stretch(self) -> Stretch:
        """The rows of the record that are replayed: all of them, unless it was cut out."""
        return whole(self.solution)

    def __del__(self, is_ending: Callable[[], bool] = sys.is_finalizing) -> None:
        # (without a kind __init__ has failed, and `walk_along` has given the workspace back; when Python ends, names are gone)
        if self._kind and not is_ending():
            self.memory.release()
            pool_of(self.system).give_back(self._kind, self.memory)

    # ------------------------------------------------------------------------------------------------------ forwards

    def propagate(
        self,
        D: FloatArray,
        times: FloatArray | None = None,
        crossings: FloatArray = _NO_TIMES,
        requested: Requested | tuple[()] = (),
    ) -> Iterator[TrajectoryCorner]:
        """Propagate the tangents D (one per row, changed in place). Yields every corner; the caller propagates them through it.

        ``times``, if given, receives the derivatives of the event times; ``crossings`` what the adjoint needs of crossings;
        ``requested`` the tangents at certain times (which must not be inside corners).
        """
        stops = self.propagate_between(D, _NO_NODES, times, crossings, requested)
        return cast("Iterator[TrajectoryCorner]", stops)  # (without nodes there are only corners)

    def propagate_between(
        self,
        D: FloatArray,
        nodes: FloatArray,
        times: FloatArray | None = None,
        crossings: FloatArray = _NO_TIMES,
        requested: Requested | tuple[()] = (),
    ) -> Iterator[TrajectoryCorner | None]:
        """As `propagate`; yields also None at each of the times ``nodes``, which are rows of the record before its end: the
        caller may put other tangents into D there, with parameters in the same places. (A node inside a corner comes behind
        it.)"""
        memory, tangents = self.memory, D.shape[0]
        if requested or memory.t_eval is not NO_TIMES:
            memory.request(*requested)
        (_restart.code or _restart)(memory.address)
        of_p = np.ascontiguousarray(np.argwhere(D[:, self.n :])) if self.np and tangents else _NO_PLACES
        carried: Tangents = (D, of_p, self._rows_of_tangents(tangents))
        times = _NO_TIMES if times is None else times
        halts = np.searchsorted(self.stretch.t, nodes)[::-1].tolist() if nodes.size else []
        found = 0
        if self.starts_on_guard:
            self._move_past(self.corners[0])
            yield self.corners[0]
            found = 1
        while True:
            while halts and halts[-1] <= memory.at.record:
                halts.pop()
                yield None
            code = self._push(carried, times, crossings, halts[-1] if halts else _NO_HALT)
            if code == codes.AT_CORNER:
                if not self.complete and (here := corner_here(self)):
                    self.corners.append(here)
                if found == len(self.corners):
                    break  # at a breakpoint: all that is near is behind it
                corner = self.corners[found]
                found += 1
                # the flow between its first and its last crossing is propagated half before, half after the corner
                self._drift(carried, corner, corner.record)
                yield corner
                if corner.mode in (AT_END, TO_GUARD):
                    break
                self._drift(carried, corner, corner.last_record)
                self._move_past(corner)
            elif code == codes.GO_ON:
                if halts and memory.at.record == halts[-1]:
                    continue
                if not (self.complete or self.plain) and (here := corner_before_break(self)):
                    self.corners.append(here)
                if found < len(self.corners):
                    yield self.corners[found]
                break
            else:
                self.fail(code)
        self.complete = True

    def _push(self, carried: Tangents, times: FloatArray, crossings: FloatArray, halt: int, quiet: int = 0) -> int:
        """To the next corner, or to the record ``halt``; crossings before the row ``quiet`` only change the word. A code."""
        arguments = self.memory.address, *carried, times, crossings, self.merge, halt, quiet, self.frozen
        return in_turns(self.system, _push, *arguments)

    def _rows_of_tangents(self, tangents: int) -> FloatArray:
        """The workspace of the stages: a row holds the state as dual numbers, all tangents at once, or both sides of one (see
        `core.tangents.step_tangents`), rounded up to a multiple of four."""
        memory, ways = self.memory, self.memory.ways
        frozen = self.frozen
        if memory.stages_for == (tangents, frozen):
            return memory.stages
        lasting = True  # whether it would be the same next time
        if ways.Df or frozen or (not ways.by_duals and self.n <= SMALL):
            few = ways.Df and 0 < tangents <= MOST_ALONG and not frozen
            at_once = few and self.system._bind().take_along(self.system)
            width = -4 * (-tangents * self.n // 4) if at_once else self.n * -4 * (-tangents // 4)
        else:
            size = DUAL if ways.by_duals else 2
            if ways.by_duals and 0 < tangents <= FEW_LANES:
                evaluations = len(self.solution.record) * self.n
                lasting = self.system._bind().expect_few_tangents(self.system, tangents, evaluations)
                size = 1 + tangents if lasting else DUAL
            width = -4 * (-size * self.n // 4)
        memory.hold_stages(width, (tangents, frozen) if lasting else None)
        return memory.stages

    def _drift(self, carried: Tangents, corner: TrajectoryCorner, record: int) -> None:
        """Propagate to a row inside a corner. There, crossings only change the word."""
        at = self.memory.at
        if at.record < record:
            code = self._push(carried, _NO_TIMES, _NO_TIMES, record, corner.event_rows.stop)
            if code != codes.GO_ON:
                self.fail(code)

    def _move_past(self, corner: TrajectoryCorner) -> None:
        """Set the position just after a corner."""
        at, last = self.memory.at, corner.event_rows.stop
        self.memory.g.b[:] = self.stretch.word_after(last)
        at.event, at.record = last, corner.last_record

    def find_corners(self) -> None:
        """Find all corners, by a propagation without tangents, unless that has been done."""
        if not self.complete:
            for _ in self.propagate(np.empty((0, self.width))):
                pass

    # ------------------------------------------------------------------------------------------------------ backwards

    def record_crossings(self) -> None:
        """Store what the adjoint needs of crossings (and find the corners), by a propagation without tangents."""
        if self._crossings is None:
            crossings = np.zeros((len(self.stretch.events), self.width + self.n + 1))
            for _ in self.propagate(np.empty((0, self.width)), crossings=crossings):
                pass
            self._crossings = crossings

    def uncertain_times(self) -> FloatArray:
        """Intervals (first, last) of times at which crossings happen, as far as the tolerances tell: a state that is taken there
        may be before or behind them."""
        self.record_crossings()
        t, rtol, begins = self.stretch.events["t"], self.solution._tolerances[0], self.solution.record.t[0]
        # (twice: also a start at such a time must be clear of them, see `start_corner`)
        near = 2.0 * (cast("FloatArray", self._crossings)[:, -1] + rtol * (t - begins)) + max(self.merge, 0.0)
        first, last = t - near, t + near
        for corner in self.corners:
            rows = corner.event_rows
            if rows.stop > rows.start:
                first[rows], last[rows] = first[rows].min(), last[rows].max()
        return np.array([first, last]).T

    def adjoint(
        self, gradient: FloatArray, start: tuple[int, int], stop: tuple[int, int], quiet: int | None = None
    ) -> None:
        """Propagate a gradient (changed in place) backwards from one position (row of steps, row of events) to another. Rows of
        events from ``quiet`` on only change the word."""
        memory, stretch = self.memory, self.stretch
        stretch.find_states(self.solution)
        at = memory.at
        at.rows_at = -1
        at.record, at.event = start
        at.leg = max(int(stretch.legs.searchsorted(start[0])) - 1, 0)
        memory.g.b[:] = stretch.word_after(start[1])
        at_once = _STAGES if self.n <= SMALL else 1  # number of stages whose Jacobians are stored
        Df, Dp_f = np.empty((at_once, self.n, self.n)), np.empty((at_once, self.n, self.np))
        tv = np.zeros((TANGENT_ROWS.count, self.n))
        quiet = len(stretch.events) if quiet is None else quiet
        arguments = memory.address, gradient, tv, Df, Dp_f, self._crossings, *stop, quiet
        code = in_turns(self.system, _pull, *arguments)
        if code != codes.GO_ON:
            self.fail(code)

    # ------------------------------------------------------------------------------------------------------ failures

    def fail(self, code: int) -> NoReturn:
        """Raise the exception for a code of the core."""
        memory = self.memory
        if code == codes.GRAZING:
            raise_user_error(self.system)
            guard, t = self.system.guards[memory.at.culprit], memory.s.now.t
            raise GrazingError(
                f"guard {guard!r} is not crossed at speed at t = {t:g} (hdot points back, or is zero): there the "
                "outcome is not differentiable",
                solution=self.solution,
                t=t,
                x=memory.v.x.copy(),
                guard=guard,
            )
        raise_failed(self.system, code, memory)
