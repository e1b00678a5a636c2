"""The corners of a trajectory: which crossings they are, and what the field and the guards are there."""

import math

import numpy as np

from ..core import codes
from ..core.entries import Kernel
from ..core.state import AT_END, AT_START, MARGIN, SHOWN, SWITCH, TO_GUARD, WHOLE
from ..errors import DerivativeError
from .corner import Corner

_corner_rows = Kernel("tangents.guard_rows", "corner_rows", "corners")


def start_corner(walk, on_guard):
    """Guards on which it starts, crossed there or not: a perturbation may put them ahead, or behind it. ``on_guard``: whether
    h is zero there for some."""
    stretch, system = walk.stretch, walk.system
    t, events, behind = float(stretch.t[0]), stretch.events, stretch.before
    begins = float(walk.solution.record.t[0])
    # later on, a crossing may be off by what the clock has lost
    doubt = walk.solution._tolerances[0] * (t - begins)
    soonest = math.nextafter(t + doubt, math.inf)
    if len(behind):
        behind = behind[behind["t"] >= t - doubt]
    if not (on_guard or len(behind) or (len(events) and events["t"][0] <= soonest)):
        return None
    crossed = int(np.searchsorted(events["t"], soonest, side="right"))
    places = units_of(walk, 0, crossed)
    units = [[int(g) for g in events["guard"][q : q + w]] for q, w in places]
    touching = walk.memory.g.held != 0.0 if t == begins else np.zeros(system.m, dtype=bool)
    passed = behind["guard"][behind["shown"] != MARGIN]
    touching[passed[~system.observers[passed]]] = True
    touching[[g for unit in units for g in unit]] = False
    units += [[int(k)] for k in np.flatnonzero(touching)]
    if not units or 0 <= stretch.wanted < crossed:
        return None
    before = stretch.word_after(crossed)
    for unit in units:
        before[unit] = -before[unit]
    corner = make_corner(walk, 0, before, units, slice(0, crossed), [q for q, _ in places])
    corner.mode = AT_START
    return corner


def units_of(walk, first, last):
    """Rows of events that are one crossing each: (first row, number of rows)."""
    events, system, wanted = walk.stretch.events, walk.system, walk.stretch.wanted
    q, out = first, []
    while q < last:
        row, w = events[q], 1
        if row["shown"] == MARGIN or (system.observers[row["guard"]] and q != wanted):
            q += 1
            continue
        while (
            q + w < last
            and row["shown"] == SHOWN
            and events["shown"][q + w] == SWITCH
            and events["t"][q + w] == row["t"]
            and events["record"][q + w] == row["record"]
        ):
            w += 1
        out.append((q, w))
        q += w
    return out


def corner_here(walk):
    """The corner at which the core has stopped."""
    at, events, wanted = walk.memory.at, walk.stretch.events, walk.stretch.wanted
    first, last = at.first, at.first + at.many
    places = units_of(walk, first, last)
    units = [[int(g) for g in events["guard"][q : q + w]] for q, w in places]
    middle = int(events["record"][wanted if first <= wanted < last else places[len(places) // 2][0]])
    near_end = at.near_end
    corner = make_corner(walk, middle, walk.memory.g.b.copy(), units, slice(first, last), [q for q, _ in places])
    if first <= wanted < last:
        corner.mode = TO_GUARD
        corner.target = next(u for u, (q, w) in enumerate(places) if q <= wanted < q + w)
    elif near_end:
        corner.mode = AT_END
    if walk.merge > 0.0:
        keep_offsets(walk, corner, [events["t"][q] for q, _ in places])
    return corner


def make_corner(walk, record, word, units, event_rows, unit_rows):
    """The corner at a record: rows of Dh of its units there, and how the field is to be sampled."""
    memory, stretch = walk.memory, walk.stretch
    memory.v.x[:] = stretch.states[record]
    t, leg = stretch.t[record], max(memory.at.leg, stretch.leg)
    guards = np.array([unit[0] for unit in units], dtype=np.int64)
    rows, slopes = np.zeros((len(units), walk.width)), np.zeros(len(units))
    if _corner_rows(memory.address, t, leg, guards, rows, slopes):
        walk.fail(codes.DH_FAILED)
    at = memory.v.x.copy()
    corner = TrajectoryCorner(walk.system, walk.lease, t, at, stretch.leg_p[leg], word, units, rows, slopes)
    ends = stretch.events["record"][event_rows]
    corner.event_rows, corner.unit_rows = event_rows, unit_rows
    corner.record, corner.last_record = record, int(ends[-1]) if len(ends) else record
    corner.first_record = int(ends[0]) if len(ends) else record
    memory.at.rows_at = -1
    return corner


def keep_offsets(walk, corner, moments):
    """Keep the times between the crossings: the trajectory itself, in the sampled field, crosses at these times."""
    first = corner.t
    word, line = corner._word.copy(), np.zeros(walk.n)
    field = corner._field(word)
    corner.end = (walk.stretch.t[-1] - first) if corner.mode == AT_END else 0.0
    for u, moment in enumerate(moments):
        s, row = moment - first, corner._rows[u, : walk.n]
        corner._offset[u] = -(row @ line + (row @ field + corner._slopes[u]) * s)
        if corner.mode == TO_GUARD and u == corner.target:
            corner._reference = line + field * s
        word = corner._flipped(word, u)
        after = corner._field(word)
        line = line - (after - field) * s
        field = after
    if corner.mode != TO_GUARD:
        corner._reference = line + field * corner.end


def refuse_jumps_of_f(walk):
    """A crossing at the very moment at which f jumps in time has no derivative that one matrix, or corner, could be."""
    stretch, system, solution = walk.stretch, walk.system, walk.solution
    if not stretch.breaks.size or stretch.wanted >= 0:
        return
    f, rtol, start, p = system.function("f"), solution._tolerances[0], solution.record.t[0], stretch.leg_p[-1]
    events = stretch.events
    for row in events[(events["shown"] != MARGIN) & (events["t"] <= stretch.t[stretch.end])]:
        k, moment = row["guard"], stretch.breaks[np.abs(stretch.breaks - row["t"]).argmin()]
        if system.observers[k] or abs(moment - row["t"]) > rtol * (moment - start):
            continue
        x, word = stretch.states[row["record"]], solution.word(row["t"], "left").astype(float)
        just_before = f(moment - 4e-16 * abs(moment), x, word, p)
        if not np.allclose(f(moment, x, word, p), just_before, rtol=1e-9, atol=1e-12):
            raise DerivativeError(
                f"guard {system.guards[k]!r} is crossed at t = {moment:g}, where f jumps (a breakpoint): the outcome has "
                "no B-derivative there that is implemented. Move the breakpoint or the start."
            )


class TrajectoryCorner(Corner):
    """A corner of a trajectory: its field is f at one state, its guards have names."""

    def __init__(self, system, lease, t, x, p, word, units, rows, slopes):
        self._units = units
        self.t, self.x = float(t), x
        self.event_rows, self.unit_rows = slice(0, 0), []
        self.record = self.first_record = self.last_record = 0
        self.guards = tuple(system.guards[unit[0]] for unit in units)
        self._sum = system.has("g")
        flips = np.concatenate([np.array(unit) for unit in units])
        firsts = np.concatenate([[0], np.cumsum([len(unit) for unit in units])])
        self._set_up(lease.fn, p, t, x, word, rows, slopes, flips, firsts)
        self._system, self._lease = system, lease
        self._function = system.function("f")

    def __reduce__(self):
        made_of = (self.t, self.x, self._p, self._word, self._units, self._rows, self._slopes)
        return _corner_again, (self._system, made_of, {name: getattr(self, name) for name in _OWN}, self._offset)

    def _field(self, word):
        return self._function(self._t, self.x, word, self._p)

    def _name(self, k):
        return repr(self._system.guards[k])

    def _fail(self, code):
        if code != codes.NOT_EVENT_SELECTED:
            from .walk import raise_failed

            raise_failed(self._system, code, self._memory)
        super()._fail(code)

    @property
    def kind(self):
        """Where it is: "tie", "start", "end", or "event" (the one whose state is asked for)."""
        return {WHOLE: "tie", AT_START: "start", AT_END: "end", TO_GUARD: "event"}[self.mode]


# what a corner is given besides the arguments of its class
_OWN = ("event_rows", "unit_rows", "record", "first_record", "last_record", "mode", "target", "end", "_reference")


def _corner_again(system, made_of, own, offset):
    """A corner that has travelled, in memory of its own."""
    corner = TrajectoryCorner(system, system._bind().lease(system), *made_of)
    for name, value in own.items():
        setattr(corner, name, value)
    corner._offset[:] = offset
    return corner
