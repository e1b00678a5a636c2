"""Along a stretch of a trajectory with perturbations, forwards and back: cut, refine, walk.

`walk_along` makes a `Walk` of a solution: the rates of its fastest modes show which steps are too long for perturbations, the
record is cut to the stretch that is asked for (and divided there), and the memory of the core is filled with it.
"""

import numpy as np

from ..core import codes
from ..core.entries import Kernel
from ..core.state import AT_END, SMALL, TANGENT_ROWS, TO_GUARD
from ..errors import FunctionError, GrazingError
from ..memory.pool import pool_of
from ..solution.dense import close_record
from .refinement import divide, fastest_rates
from .stretch import cut
from .trajectory_corners import corner_before_break, corner_here, refuse_event_at_break, start_corner

_prepare = Kernel("tangents.prepare", "prepare", "what derivatives need", quickly=True)
_push = Kernel("tangents.along", "push", "derivatives", quickly=True)
_pull = Kernel("tangents.along", "pull", "gradients", quickly=True)
_NO_TIMES = np.empty((0, 0))
_NO_PLACES = np.empty((0, 2), dtype=np.int64)
_STAGES = TANGENT_ROWS.places["slopes"][1]


def walk_along(solution, since, until, wanted, params, merge, observers, ended=None):
    """The way from ``since`` to ``until`` (or to the row ``wanted`` of the event table) along a solution. ``ended``: the walk
    that it goes on from, behind a breakpoint."""
    system, record, (rtol, atol) = solution.system, solution.record, solution._tolerances
    bound, kind = system._bind(), "tangents and p" if params else "tangents"
    lease, memory = bound.lease(system), pool_of(system).borrow(kind, system)
    try:
        memory.open(system, record, rtol, atol, lease.fn, bound.jacobians(system, params))
        if solution._rates is None:
            solution._rates = fastest_rates(system, rtol, len(record), memory)
        stretch = cut(solution, since, until, wanted, observers, divide(record, rtol, solution._rates))
        return Walk(solution, stretch, lease, memory, kind, -1.0 if merge is None else float(merge), ended)
    except BaseException:
        close_record(memory)
        pool_of(system).give_back(kind, memory)
        raise


class Walk:
    """A stretch of a trajectory in the core's memory, along which perturbations are taken.

    ``corners`` are found on the first walk; they are the same for every perturbation.
    """

    def __init__(self, solution, stretch, lease, memory, kind, merge, ended):
        self.solution, self.system, self.stretch, self.merge = solution, solution.system, stretch, merge
        self.memory, self.lease = memory, lease  # (kept as long as this is)
        self.n, self.np = self.system.n, memory.tangents.Dp_f.shape[1]
        self.width = self.n + self.np
        memory.go_along(stretch)
        on_guard = _prepare(memory.address)
        if on_guard < 0:
            self.fail(codes.H_FAILED)
        refuse_event_at_break(self)
        self.corners = [corner] if (corner := start_corner(self, on_guard > 0, ended)) else []
        # behind a breakpoint, what happened at its very moment is done
        self._done = 0
        if stretch.at_break(0):
            self._done = int(np.searchsorted(stretch.events["t"], stretch.t[0], side="right"))
        memory.at.event, memory.at.record = self._done, 0
        self._at_start = memory.position.copy()
        self.starts_on_guard = bool(self.corners)
        self.complete, self._crossings = False, None
        self._kind = kind

    def __del__(self):
        if hasattr(self, "_kind"):  # (else it has not been made)
            close_record(self.memory)
            pool_of(self.system).give_back(self._kind, self.memory)

    # ------------------------------------------------------------------------------------------------------ forwards

    def along(self, D, times=None, crossings=_NO_TIMES):
        """Take the tangents D (changed in place) along; yields at every corner, for the caller to take them through it."""
        memory, tangents = self.memory, D.shape[0]
        memory.position[:] = self._at_start
        memory.g.b[:] = self.stretch.word_after(self._done) if self._done else self.stretch.word
        of_p = np.ascontiguousarray(np.argwhere(D[:, self.n :])) if self.np and tangents else _NO_PLACES
        way = (D, of_p, self._rows_of_tangents(tangents))
        times = _NO_TIMES if times is None else times
        found = 0
        if self.starts_on_guard:
            self._go_behind(self.corners[0])
            yield self.corners[0]
            found = 1
        while True:
            code = _push(memory.address, *way, times, crossings, self.merge)
            if code == codes.AT_CORNER:
                if not self.complete and (here := corner_here(self)):
                    self.corners.append(here)
                if found == len(self.corners):
                    break  # at a breakpoint: all that is near is behind it
                corner = self.corners[found]
                found += 1
                # the flow from its first crossing to its last one is taken half before, half behind
                self._drift(way, corner, corner.record)
                yield corner
                if corner.mode in (AT_END, TO_GUARD):
                    break
                self._drift(way, corner, corner.last_record)
                self._go_behind(corner)
            elif code == codes.GO_ON:
                if not self.complete and (here := corner_before_break(self)):
                    self.corners.append(here)
                if found < len(self.corners):
                    yield self.corners[found]
                break
            else:
                self.fail(code)
        self.complete = True

    def _rows_of_tangents(self, tangents):
        """A row has either side of one tangent, or all of them at once (see `core.tangents.step_tangents`); by fours."""
        alone = tangents == 1 or (self.n > SMALL and self.memory.tangents.jacobians["Df"][0] == 0)
        width = -4 * (-2 * self.n // 4) if alone else self.n * -4 * (-tangents // 4)
        return np.zeros((TANGENT_ROWS.count, width))

    def _drift(self, way, corner, record):
        """Go on to a record inside a corner: its crossings change the word, and nothing else."""
        at = self.memory.at
        if at.record < record:
            at.quiet, at.halt = corner.event_rows.stop, record
            code = _push(self.memory.address, *way, _NO_TIMES, _NO_TIMES, self.merge)
            at.quiet, at.halt = 0, -1
            if code != codes.GO_ON:
                self.fail(code)

    def _go_behind(self, corner):
        """Set the place behind a corner."""
        at, last = self.memory.at, corner.event_rows.stop
        self.memory.g.b[:] = self.stretch.word_after(last)
        at.event, at.record = last, corner.last_record

    def find_corners(self):
        """Go along once without tangents, if nobody has gone along yet."""
        if not self.complete:
            for _ in self.along(np.empty((0, self.width))):
                pass

    # ------------------------------------------------------------------------------------------------------ back

    def take_down(self):
        """Go along once, for what the way back needs of crossings (and for the corners)."""
        if self._crossings is None:
            crossings = np.zeros((len(self.stretch.events), self.width + self.n))
            for _ in self.along(np.empty((0, self.width)), crossings=crossings):
                pass
            self._crossings = crossings

    def back(self, gradient, start, stop, quiet=None):
        """Take a gradient (changed in place) back from one place (row of steps, row of events) to another. Rows of events from
        ``quiet`` on only change the word."""
        memory, stretch = self.memory, self.stretch
        memory.position.fill(0)
        at = memory.at
        at.rows_at = -1
        at.record, at.event = start
        at.quiet = len(stretch.events) if quiet is None else quiet
        at.leg = max(int(np.searchsorted(stretch.legs, start[0], side="left")) - 1, 0)
        memory.g.b[:] = stretch.word_after(start[1])
        at_once = _STAGES if self.n <= SMALL else 1  # stages whose slopes are kept
        Df, Dp_f = np.empty((at_once, self.n, self.n)), np.empty((at_once, self.n, self.np))
        tv = np.zeros((TANGENT_ROWS.count, self.n))
        code = _pull(memory.address, gradient, tv, Df, Dp_f, self._crossings, *stop)
        if code != codes.GO_ON:
            self.fail(code)

    # ------------------------------------------------------------------------------------------------------ failures

    def fail(self, code):
        """Raise what the core has stopped for."""
        memory = self.memory
        if code == codes.GRAZING:
            _raise_users(self.system)
            guard, t = self.system.guards[memory.at.culprit], memory.s.t
            raise GrazingError(
                f"guard {guard!r} is not crossed at speed at t = {t:g} (hdot points back, or is zero): there the "
                "outcome is not differentiable",
                solution=self.solution,
                t=t,
                x=memory.v.x.copy(),
                guard=guard,
            )
        raise_failed(self.system, code, memory)


def raise_failed(system, code, memory):
    """Raise what a function of the user raised on the way, or an error that says where it failed."""
    _raise_users(system)
    what = {codes.F_FAILED: "f or one of its Jacobians"}.get(code) or codes.FUNCTION[code]
    t, x = memory.s.t_failed, memory.v.x_failed.copy()
    raise FunctionError(f"{what} failed at t = {t:g}, x = {x}, on the way of the derivative", t=t, x=x)


def _raise_users(system):
    bound = system._bind()
    failures, bound.failures[:] = list(bound.failures), []
    if failures:
        raise failures[0]
