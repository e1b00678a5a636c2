"""A stretch of a trajectory made ready for its derivative: the record cut to it, and everything the core works with."""

import numpy as np

from ..core import state as at
from ..core.entries import Kernel
from ..errors import FunctionError, GrazingError
from ..memory.tangents import borrow, give_back
from ..solution.dense import parameters
from .refinement import refined
from .trajectory_corners import corner_here, refuse_jumps_of_f, start_corner

_ready = Kernel("tangents.prepare", "ready", "what derivatives need", quickly=True)
_push, _pull = (
    Kernel("tangents.along", "push", "derivatives", quickly=True),
    Kernel("tangents.along", "pull", "gradients", quickly=True),
)
_NO_TIMES = np.empty((0, 0))
_NO_PLACES = np.empty((0, 2), dtype=np.int64)


class Tape:
    """The record from ``since`` to ``until`` (or to a row of the event table), with the workspace to go along it."""

    # the arrays of a room: see `rooms`
    V: np.ndarray
    H: np.ndarray
    S: np.ndarray
    I: np.ndarray
    C: np.ndarray
    Q: np.ndarray
    JH: np.ndarray
    JHP: np.ndarray
    JX: np.ndarray
    JP: np.ndarray
    N: np.ndarray
    PW: np.ndarray

    def __init__(self, solution, since, until, wanted, params, merge, observers):
        self.solution, self.system = solution, solution.system
        self.params, self.merge = params, -1.0 if merge is None else float(merge)
        system = self.system
        self.n, self.np = system.n, len(system.defaults) if params else 0
        self.width = self.n + self.np
        self.bound = system._bind()
        self._lease = self.bound.lease(system)  # (kept as long as this derivative is)
        self.fn, self.dfn = self._lease.fn, self.bound.jacobians(system, params)
        self._room = borrow(system, params)
        self.__dict__.update(self._room.arrays)
        (self.P, self.legs), self.breaks, self._leg = parameters(solution), solution._breaks, 0
        self._cut(solution, since, until, wanted, observers)
        self.end = len(self.R) - 1 if until == self.R[-1, at.R_T] else int(np.searchsorted(self.R[:, at.R_T], until))
        if solution._legs is not None:
            self._parameters_that_changed(solution)
        on_guard = _ready(
            self.fn, self.P, self.S, self.I, self.V, self.H, self.C, self.R, solution._R, self.Q, *solution._tolerances,
            self._leg, self.wanted, self.end,
        )  # fmt: skip
        if on_guard < 0:
            self._fail(at.H_FAILED)
        refuse_jumps_of_f(self)
        self._at_start = self.C.copy()
        # corners are found on the first walk; they are the same for every perturbation
        self.corners = [corner] if (corner := start_corner(self, on_guard > 0)) else []
        self.starts_on_guard = bool(self.corners)
        self._complete, self._crossings = False, None

    def __del__(self):
        if hasattr(self, "_room"):
            give_back(self.system, self._room)

    def _parameters_that_changed(self, solution):
        """Between the steps of a Stepper: where they change, f may jump as at a breakpoint."""
        changed = np.array([solution._R[r, at.R_T] for r, _ in solution._legs[1:]])
        self.legs = np.concatenate([[0], np.searchsorted(self.R[:, at.R_T], changed)]).astype(np.int64)
        self.breaks = np.unique(np.concatenate([solution._breaks, changed]))
        # parameters in force at the start
        self._leg = int(np.searchsorted(self.legs, 0, side="right")) - 1

    def _cut(self, solution, since, until, wanted, observers):
        """R and E from the first time on; a record more at both times, and at events that are inside a step."""
        R, E = solution._R, solution._E
        from_start, to_end = since == R[0, at.R_T], until == R[-1, at.R_T]
        first = 0 if from_start else int(np.searchsorted(E[:, at.E_T], since))
        last = len(E) if to_end else int(np.searchsorted(E[:, at.E_T], until, side="right"))
        self.rows = slice(first, last)  # of the solution's table
        # (what comes after the end is kept: it may be too near to tell)
        self.E, self._before = E[first:], E[:first]
        self.wanted = -1 if wanted is None else wanted - first
        self.word = _after(solution._word_start, E[:first]) if first else solution._word_start
        self._spans = bool(solution._integers[at.NSPANS])
        more, finer, complete = self._inside(R, observers), refined(solution, self), from_start and to_end
        if more.size == 0 and complete and not self._spans and finer is None:
            self.R = R
            return
        R, self.E = R.copy(), self.E.copy()
        if finer is not None:
            more, R[:, at.R_KIND] = np.concatenate([more, finer[0]]), finer[1]
        R[R[:, at.R_KIND] == at.SPAN, at.R_KIND] = 1  # between its crossings, a spanning step is one of dopri5
        moments = R[:, at.R_T]
        keep = R[np.searchsorted(moments, since) :]
        more = np.unique(np.concatenate([[since, until], more]))
        more = more[(more >= since) & ~np.isin(more, moments)]
        added = np.zeros((more.size, R.shape[1]))
        added[:, at.R_T] = more
        added[:, at.R_KIND] = R[np.searchsorted(moments, more), at.R_KIND]
        added[:, at.R_X :] = solution(more)
        keep = np.concatenate([keep, added])
        self.R = np.ascontiguousarray(keep[np.argsort(keep[:, at.R_T], kind="stable")])
        # a row's record is where its state is: the last one at or before its time
        self.E[:, at.E_RECORD] = np.maximum(np.searchsorted(self.R[:, at.R_T], self.E[:, at.E_T], side="right") - 1, 0)

    def _inside(self, R, observers):
        """Times of events that are inside a step and need a record of their own; of observers, only where asked for."""
        E = self.E
        if not self._spans and not self.system._special:
            return E[:0, at.E_T]
        inside = E[:, at.E_T] < R[E[:, at.E_RECORD].astype(np.int64), at.R_T]
        if not inside.any():
            return E[:0, at.E_T]
        inside &= E[:, at.E_SHOWN] != 2
        if not observers:
            seen = self.system.observers[E[:, at.E_GUARD].astype(np.int64)]
            if self.wanted >= 0:
                seen[self.wanted] = False
            inside &= ~seen
        return E[inside, at.E_T]

    # ------------------------------------------------------------------------------------------------------ walking

    def walk(self, D, times=None, crossings=_NO_TIMES):
        """Take the tangents D (changed in place) along; yields at every corner, for the caller to take them through it."""
        C, tangents = self.C, D.shape[0]
        C[:] = self._at_start
        self.H[at.B] = self.word
        TV, OF_P = self._for_tangents(tangents), _NO_PLACES
        if self.np and tangents:
            OF_P = np.ascontiguousarray(np.argwhere(D[:, self.n :]))
        times = _NO_TIMES if times is None else times
        found = 0
        if self.starts_on_guard:
            self._pass(self.corners[0])
            yield self.corners[0]
            found = 1
        while True:
            code = self._push(D, OF_P, TV, times, crossings)
            if code == at.AT_CORNER:
                if not self._complete:
                    self.corners.append(corner_here(self))
                corner = self.corners[found]
                found += 1
                # the flow from its first crossing to its last one is taken half before, half behind
                self._drift(D, OF_P, TV, corner, corner.record)
                yield corner
                if corner.mode in (at.AT_END, at.TO_GUARD):
                    break
                self._drift(D, OF_P, TV, corner, corner.last_record)
                self._pass(corner)
            elif code == at.GO_ON:
                break
            else:
                self._fail(code)
        self._complete = True

    def _for_tangents(self, tangents):
        """TV: a row has either side of one tangent, or all of them at once (see `core.variation`); by fours."""
        alone = tangents == 1 or (self.n > at.SMALL and self.dfn[at.DF] == 0)
        width = -4 * (-2 * self.n // 4) if alone else self.n * -4 * (-tangents // 4)
        return np.zeros((at.ROWS, width))

    def _push(self, D, OF_P, TV, times, crossings):
        return _push(
            self.fn, self.dfn, self.P, self.legs, self.S, self.I, self.V, self.H, self.C, self.R, self.E, self.breaks, self.Q,
            self.JH, self.JHP, D, OF_P, self.PW, TV, self.JX, self.JP, self.N, times, crossings, self.merge,
        )  # fmt: skip

    def _drift(self, D, OF_P, TV, corner, record):
        """Go on to a record inside a corner: its crossings change the word, and nothing else."""
        if self.C[at.AT_RECORD] < record:
            self.C[at.QUIET], self.C[at.HALT] = corner.rows_of_E.stop, record
            code = self._push(D, OF_P, TV, _NO_TIMES, _NO_TIMES)
            self.C[at.QUIET], self.C[at.HALT] = 0, -1
            if code != at.GO_ON:
                self._fail(code)

    def _pass(self, corner):
        """Set the place behind a corner."""
        last = corner.rows_of_E.stop
        self.H[at.B] = self._word_after(last)
        self.C[at.AT_EVENT], self.C[at.AT_RECORD] = last, corner.last_record

    def take_down(self):
        """Go along once, for what the way back needs of crossings (and for the corners)."""
        if self._crossings is None:
            crossings = np.zeros((len(self.E), self.width + self.n))
            for _ in self.walk(np.empty((0, self.width)), crossings=crossings):
                pass
            self._crossings = crossings

    def pull(self, w, start, stop, quiet=None):
        """Take the gradient w (changed in place) back from one place (record, row of E) to another. Rows of E from ``quiet``
        on only change the word."""
        C = self.C
        C[:] = 0
        C[at.ROWS_AT] = -1
        C[at.AT_RECORD], C[at.AT_EVENT] = start
        C[at.QUIET] = len(self.E) if quiet is None else quiet
        C[at.AT_LEG] = max(int(np.searchsorted(self.legs, start[0], side="left")) - 1, 0)
        self.H[at.B] = self._word_after(start[1])
        stages = 12 if self.n <= at.SMALL else 1  # at once
        JX, JP = np.empty((stages, self.n, self.n)), np.empty((stages, self.n, self.np))
        code = _pull(
            self.fn, self.dfn, self.P, self.legs, self.S, self.I, self.V, self.H, C, self.R, self.E,
            self._crossings, self.breaks, self.Q, w, np.zeros((at.ROWS, self.n)), JX, JP, *stop,
        )  # fmt: skip
        if code != at.GO_ON:
            self._fail(code)

    def _word_after(self, count):
        """The word after so many rows of E."""
        return _after(self.word, self.E[:count])

    # ------------------------------------------------------------------------------------------------------ failures

    def _fail(self, code):
        failures, self.bound.failures[:] = list(self.bound.failures), []
        if failures:
            raise failures[0]
        if code == at.GRAZING:
            guard = self.system.guards[int(self.C[at.CULPRIT])]
            raise GrazingError(
                f"guard {guard!r} is not crossed at speed at t = {self.S[at.T]:g} (hdot points back, or is zero): there the "
                "outcome is not differentiable",
                solution=self.solution,
                t=float(self.S[at.T]),
                x=self.V[at.X].copy(),
                guard=guard,
            )
        name = {at.F_FAILED: "f or one of its Jacobians", at.H_FAILED: "h"}.get(code, "a Jacobian of h")
        t, x = float(self.S[at.T_FAIL]), self.V[int(self.I[at.FAIL_ROW])].copy()
        raise FunctionError(f"{name} failed at t = {t:g}, x = {x}, on the way of the derivative", t=t, x=x)


def _after(word, rows):
    """A word after rows of E; of several flips of one guard the last one stands."""
    word = word.copy()
    if len(rows):
        flips = rows[rows[:, at.E_SHOWN] != 2]
        word[flips[:, at.E_GUARD].astype(np.int64)] = flips[:, at.E_SIGN]
    return word
