"""The corners of a trajectory: which crossings they are, and what the field and the guards are there."""

import math

import numpy as np

from ..core import state as at
from ..core.state import AT_END, AT_START, TO_GUARD, WHOLE
from ..errors import DerivativeError
from .corner import Corner


def start_corner(tape, on_guard):
    """Guards on which it starts, crossed there or not: a perturbation may put them ahead, or behind it. ``on_guard``: whether
    h is zero there for some."""
    t, E = float(tape.R[0, at.R_T]), tape.E
    begins = float(tape.solution._R[0, at.R_T])
    exact, behind = t == begins, tape._before
    # later on, a crossing may be off by what the clock has lost
    doubt = tape.solution._tolerances[0] * (t - begins)
    soonest = math.nextafter(t + doubt, math.inf)
    if len(behind):
        behind = behind[behind[:, at.E_T] >= t - doubt]
    if not (on_guard or len(behind) or (len(E) and E[0, at.E_T] <= soonest)):
        return None
    crossed = int(np.searchsorted(E[:, at.E_T], soonest, side="right"))
    places = units_of(tape, 0, crossed)
    units = [[int(g) for g in E[q : q + w, at.E_GUARD]] for q, w in places]
    touching = tape.H[at.HELD] != 0.0 if exact else np.zeros(tape.system.m, dtype=bool)
    passed = behind[behind[:, at.E_SHOWN] != 2, at.E_GUARD].astype(np.int64)
    touching[passed[~tape.system.observers[passed]]] = True
    touching[[g for unit in units for g in unit]] = False
    units += [[int(k)] for k in np.flatnonzero(touching)]
    if not units or 0 <= tape.wanted < crossed:
        return None
    before = tape._word_after(crossed)
    for unit in units:
        before[unit] = -before[unit]
    corner = make_corner(tape, 0, before, units, slice(0, crossed), [q for q, _ in places])
    corner.mode = AT_START
    return corner


def units_of(tape, first, last):
    """Rows of E that are one crossing each: (first row, number of rows)."""
    q, out = first, []
    while q < last:
        row, w = tape.E[q], 1
        if row[at.E_SHOWN] == 2 or (tape.system.observers[int(row[at.E_GUARD])] and q != tape.wanted):
            q += 1
            continue
        while (
            q + w < last
            and row[at.E_SHOWN] == 1
            and tape.E[q + w, at.E_SHOWN] == 0
            and (tape.E[q + w, [at.E_T, at.E_RECORD]] == row[[at.E_T, at.E_RECORD]]).all()
        ):
            w += 1
        out.append((q, w))
        q += w
    return out


def corner_here(tape):
    """The corner at which the core has stopped."""
    C = tape.C
    first, last = int(C[at.FIRST]), int(C[at.FIRST] + C[at.MANY])
    places = units_of(tape, first, last)
    units = [[int(g) for g in tape.E[q : q + w, at.E_GUARD]] for q, w in places]
    middle = int(tape.E[places[len(places) // 2][0], at.E_RECORD])
    if first <= tape.wanted < last:
        middle = int(tape.E[tape.wanted, at.E_RECORD])
    corner = make_corner(tape, middle, tape.H[at.B].copy(), units, slice(first, last), [q for q, _ in places])
    if first <= tape.wanted < last:
        corner.mode = TO_GUARD
        corner._target = next(u for u, (q, w) in enumerate(places) if q <= tape.wanted < q + w)
    elif C[at.NEAR_END]:
        corner.mode = AT_END
    if tape.merge > 0.0:
        keep_offsets(tape, corner, [tape.E[q, at.E_T] for q, _ in places])
    return corner


def make_corner(tape, record, word, units, rows_of_E, unit_rows):
    from ..core.tangents.guard_rows import corner_rows

    tape.V[at.X] = tape.R[record, at.R_X :]
    t, p = tape.R[record, at.R_T], tape.P[max(int(tape.C[at.AT_LEG]), tape._leg)]
    guards = np.array([unit[0] for unit in units], dtype=np.int64)
    rows, slopes = np.zeros((len(units), tape.width)), np.zeros(len(units))
    failed = corner_rows(
        tape.fn, tape.dfn, p, tape.S, tape.I, tape.V, tape.H, tape.C, tape.Q, tape.JH, tape.JHP, tape.breaks, t, guards,
        rows, slopes,
    )  # fmt: skip
    if failed:
        tape._fail(at.DH_FAILED)
    corner = TrajectoryCorner(tape, t, tape.V[at.X].copy(), p, word, units, rows, slopes, rows_of_E, unit_rows)
    ends = tape.E[rows_of_E, at.E_RECORD]
    corner.record, corner.last_record = record, int(ends[-1]) if len(ends) else record
    corner.first_record = int(ends[0]) if len(ends) else record
    tape.C[at.ROWS_AT] = -1
    return corner


def keep_offsets(tape, corner, moments):
    """Keep the times between the crossings: the trajectory itself, in the sampled field, crosses at these times."""
    first = corner.t
    word, line = corner._word.copy(), np.zeros(tape.n)
    field = corner._field(word)
    corner._end = (tape.R[-1, at.R_T] - first) if corner.mode == AT_END else 0.0
    for u, moment in enumerate(moments):
        s, row = moment - first, corner._rows[u, : tape.n]
        corner._offset[u] = -(row @ line + (row @ field + corner._slopes[u]) * s)
        if corner.mode == TO_GUARD and u == corner._target:
            corner._reference = line + field * s
        word = corner._flipped(word, u)
        after = corner._field(word)
        line = line - (after - field) * s
        field = after
    if corner.mode != TO_GUARD:
        corner._reference = line + field * corner._end


def refuse_jumps_of_f(tape):
    """A crossing at the very moment at which f jumps in time has no derivative that one matrix, or corner, could be."""
    if not tape.breaks.size or tape.wanted >= 0:
        return
    f, rtol, start = tape.system.function("f"), tape.solution._tolerances[0], tape.solution._R[0, at.R_T]
    for row in tape.E[(tape.E[:, at.E_SHOWN] != 2) & (tape.E[:, at.E_T] <= tape.R[tape.end, at.R_T])]:
        k, moment = int(row[at.E_GUARD]), tape.breaks[np.abs(tape.breaks - row[at.E_T]).argmin()]
        if tape.system.observers[k] or abs(moment - row[at.E_T]) > rtol * (moment - start):
            continue
        x, word = tape.R[int(row[at.E_RECORD]), at.R_X :], tape.solution.word(row[at.E_T], "left").astype(float)
        just_before = f(moment - 4e-16 * abs(moment), x, word, tape.P[-1])
        if not np.allclose(f(moment, x, word, tape.P[-1]), just_before, rtol=1e-9, atol=1e-12):
            raise DerivativeError(
                f"guard {tape.system.guards[k]!r} is crossed at t = {moment:g}, where f jumps (a breakpoint): the outcome has "
                "no B-derivative there that is implemented. Move the breakpoint or the start."
            )


class TrajectoryCorner(Corner):
    """A corner of a trajectory: its field is f at one state, its guards have names."""

    def __init__(self, tape, t, x, p, word, units, rows, slopes, rows_of_E, unit_rows):
        system = tape.system
        self.t, self.x, self.rows_of_E, self.unit_rows = float(t), x, rows_of_E, unit_rows
        self.record = self.first_record = self.last_record = 0
        self.guards = tuple(system.guards[unit[0]] for unit in units)
        self._sum = system.has("g")
        flips = np.concatenate([np.array(unit) for unit in units])
        firsts = np.concatenate([[0], np.cumsum([len(unit) for unit in units])])
        self._set_up(tape.fn, p, t, x, word, rows, slopes, flips, firsts)
        self._tape, self._names = tape, system.guards
        self._function = system.function("f")

    def _field(self, word):
        return self._function(self._t, self.x, word, self._p)

    def _name(self, k):
        return repr(self._names[k])

    def _fail(self, code):
        if code != at.NOT_EVENT_SELECTED:
            self._tape.S[at.T_FAIL], self._tape.I[at.FAIL_ROW] = self._S[at.T_FAIL], self._I[at.FAIL_ROW]
            self._tape._fail(code)
        super()._fail(code)

    @property
    def kind(self):
        """Where it is: "tie", "start", "end", or "event" (the one whose state is asked for)."""
        return {WHOLE: "tie", AT_START: "start", AT_END: "end", TO_GUARD: "event"}[self.mode]
