"""The corners of a trajectory: which crossings they are, and what the field and the guards are there."""

import math

import numpy as np

from ..core import codes
from ..core.entries import Kernel
from ..core.state import AT_END, AT_START, MARGIN, SHOWN, SWITCH, TO_GUARD, WHOLE
from ..errors import DerivativeError
from ..solution.record import word_after
from .corner import Corner

_corner_rows = Kernel("tangents.guard_rows", "corner_rows", "corners")


def start_corner(walk, on_guard, ended=None):
    """Guards on which it starts, crossed there or not: a perturbation may put them ahead, or behind it. ``on_guard``: whether
    h is zero there for some; ``ended``: where it goes on behind a breakpoint, the walk that ended there."""
    stretch, system = walk.stretch, walk.system
    t, events, behind = float(stretch.t[0]), stretch.events, stretch.before
    begins = float(walk.solution.record.t[0])
    # later on, a crossing may be off by what the clock has lost
    doubt = walk.solution._tolerances[0] * (t - begins)
    soonest = math.nextafter(t + doubt, math.inf)
    met = ended.corners[-1] if ended is not None and ended.corners and ended.corners[-1].mode == AT_END else None
    if len(behind):
        behind = behind[behind["t"] >= t - doubt]
    if not (on_guard or len(behind) or (len(events) and events["t"][0] <= soonest) or met):
        return None
    crossed = int(np.searchsorted(events["t"], soonest, side="right"))
    if met:
        crossed = max(crossed, met.event_rows.stop - (len(ended.stretch.events) - len(events)))
    places = units_of(walk, 0, crossed)
    units = [[int(g) for g in events["guard"][q : q + w]] for q, w in places]
    touching = walk.memory.g.held != 0.0 if t == begins else np.zeros(system.m, dtype=bool)
    passed = behind["guard"][behind["shown"] != MARGIN]
    touching[passed[~system.observers[passed]]] = True
    if met:
        touching[met._flips] = True
    if stretch.at_break(0):
        touching[barely_met(walk, t)] = True
    touching[[g for unit in units for g in unit]] = False
    units += [[int(k)] for k in np.flatnonzero(touching)]
    if stretch.at_break(0):
        near = near_at_break(walk, 0, [unit[0] for unit in units], stretch.word_after(crossed), True)
        places = [place for place, here in zip(places, near, strict=False) if here]
        units = [unit for unit, here in zip(units, near, strict=True) if here]
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
        if row["shown"] == MARGIN or row["jumped"] or (system.observers[row["guard"]] and q != wanted):
            q += 1
            continue
        while (
            q + w < last
            and row["shown"] == SHOWN
            and events["shown"][q + w] == SWITCH
            and not events["jumped"][q + w]
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
    if at.near_end and walk.stretch.at_break(walk.stretch.end):
        return corner_before_break(walk, first, last)
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


def corner_before_break(walk, first=None, last=None):
    """The corner at the end of a walk, where that is a breakpoint, or None: guards of these rows of events, and what was barely
    met.

    It is before what jumps there: neither the word nor the guards are those behind the break.
    """
    stretch, events = walk.stretch, walk.stretch.events
    if not stretch.at_break(stretch.end):
        return None
    moment = stretch.t[stretch.end]
    if first is None:
        first = last = int(np.searchsorted(events["t"], moment, side="right"))
    places = units_of(walk, first, last)
    units = [[int(g) for g in events["guard"][q : q + w]] for q, w in places]
    crossed = [g for unit in units for g in unit]
    units += [[int(k)] for k in barely_met(walk, moment) if k not in crossed]
    done = events[:first]
    word = word_after(stretch.word, done[(done["jumped"] == 0) | (done["t"] < moment)])
    near = near_at_break(walk, stretch.end, [unit[0] for unit in units], word, False)
    places = [place for place, here in zip(places, near, strict=False) if here]
    units = [unit for unit, here in zip(units, near, strict=True) if here]
    if not units:
        return None
    middle = min(int(events["record"][places[len(places) // 2][0]]), stretch.end) if places else stretch.end
    corner = make_corner(walk, middle, word, units, slice(first, last), [q for q, _ in places], ends=True)
    corner.mode = AT_END
    if walk.merge > 0.0:
        keep_offsets(walk, corner, [events["t"][q] for q, _ in places])
    return corner


def barely_met(walk, moment):
    """Guards on which the trajectory was at a breakpoint, on one side of it only and without a crossing."""
    rows = walk.stretch.events
    return np.unique(rows["guard"][(rows["shown"] == MARGIN) & (rows["t"] == moment)])


def make_corner(walk, record, word, units, event_rows, unit_rows, ends=False):
    """The corner at a record: rows of Dh of its units there, and how the field is to be sampled. ``ends``: of a corner at a
    breakpoint, before it."""
    memory, stretch = walk.memory, walk.stretch
    leg = max(memory.at.leg, stretch.leg)
    t, rows, slopes = rows_at(walk, record, leg, [unit[0] for unit in units], not ends)
    corner = TrajectoryCorner(walk, t, memory.v.x.copy(), stretch.leg_p[leg], word, units, rows, slopes)
    ends = stretch.events["record"][event_rows]
    corner.event_rows, corner.unit_rows = event_rows, unit_rows
    corner.record, corner.last_record = record, int(ends[-1]) if len(ends) else record
    corner.first_record = (
        min(int(ends[0]), record) if len(ends) else record
    )  # (one before a breakpoint stays before it)
    memory.at.rows_at = -1
    return corner


def rows_at(walk, record, leg, guards, behind):
    """The time at a record (of a breakpoint, ``behind`` it or before), and the guards' rows of Dh and D_t h; v.x is its state."""
    memory, t = walk.memory, walk.stretch.t[record]
    memory.v.x[:] = walk.stretch.states[record]
    at_break = walk.stretch.at_break(record)
    if at_break and not behind:
        t = t - 4e-16 * abs(t)
    rows, slopes = np.zeros((len(guards), walk.width)), np.zeros(len(guards))
    moment = math.nextafter(t, math.inf) if at_break and behind else t  # (D_t h is taken on the side of its time)
    if _corner_rows(memory.address, moment, leg, np.array(guards, dtype=np.int64), rows, slopes):
        walk.fail(codes.DH_FAILED)
    return t, rows, slopes


def near_at_break(walk, record, guards, word, behind):
    """Which guards are zero at a breakpoint, as far as the tolerances tell: behind it or before, h may be another there."""
    memory, stretch, n, solution = walk.memory, walk.stretch, walk.n, walk.solution
    leg = max(memory.at.leg, stretch.leg)
    t, rows, slopes = rows_at(walk, record, leg, guards, behind)
    x, p, rtol = stretch.states[record], stretch.leg_p[leg], solution._tolerances[0]
    h = walk.system.function("h")(t, x, p)[guards]
    speed = rows[:, :n] @ walk.system.function("f")(t, x, word, p) + slopes
    sure = np.abs(rows[:, :n]) @ (memory.v.atol + rtol * np.abs(solution.record.states).max(axis=0))
    # (ten times what the tolerances tell: a guard that jumped is much farther away)
    return np.abs(h) <= 10.0 * (sure + np.abs(speed) * (rtol * (t - solution.record.t[0]) + 1e-15 * abs(t)))


def keep_offsets(walk, corner, moments):
    """Keep the times between the crossings: the trajectory itself, in the sampled field, crosses at these times."""
    first = corner.t
    word, line = corner._word.copy(), np.zeros(walk.n)
    field = corner._field(word)
    corner.end = (walk.stretch.t[walk.stretch.end] - first) if corner.mode == AT_END else 0.0
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


def refuse_event_at_break(walk):
    """The state at an event that happens at a breakpoint, before it or behind it: if anything jumps there, it is refused."""
    stretch, system, solution = walk.stretch, walk.system, walk.solution
    if stretch.wanted < 0 or not stretch.breaks.size or stretch.events["jumped"][stretch.wanted]:
        return
    row = stretch.events[stretch.wanted]
    k, moment = int(row["guard"]), stretch.breaks[np.abs(stretch.breaks - row["t"]).argmin()]
    rtol, start = solution._tolerances[0], solution.record.t[0]
    if abs(moment - row["t"]) > rtol * (moment - start) or not stretch.t[0] < moment <= stretch.t[-1]:
        return
    f, h = system.function("f"), system.function("h")
    record, word = int(np.searchsorted(stretch.t, moment)), stretch.word_after(stretch.wanted)
    others = stretch.events["jumped"][stretch.events["t"] == moment].any()
    values = []
    for t, behind in ((moment - 4e-16 * abs(moment), False), (moment, True)):
        leg = int(np.searchsorted(stretch.legs, record, side="right" if behind else "left")) - 1
        x, p = stretch.states[record], stretch.leg_p[max(leg, 0)]
        _, rows, slopes = rows_at(walk, record, max(leg, 0), [k], behind)
        after = stretch.word_after(stretch.wanted + 1)
        values.append(np.concatenate([f(t, x, word, p), f(t, x, after, p), h(t, x, p)[[k]], rows[0], slopes]))
    walk.memory.at.rows_at = -1
    if others or not np.allclose(values[0], values[1], rtol=1e-6, atol=1e-9):
        raise DerivativeError(
            f"event {system.guards[k]!r} happens at t = {moment:g}, a breakpoint at which f or h jumps: the state at that event "
            "has no B-derivative that is implemented. Ask for a fixed time, or move the breakpoint or the start."
        )


class TrajectoryCorner(Corner):
    """A corner of a trajectory: its field is f at one state, its guards have names."""

    def __init__(self, walk, t, x, p, word, units, rows, slopes):
        system = walk.system
        self.t, self.x = float(t), x
        self.event_rows, self.unit_rows = slice(0, 0), []
        self.at_break, self.offset = False, 0  # (see `Chain`)
        self.record = self.first_record = self.last_record = 0
        self.guards = tuple(system.guards[unit[0]] for unit in units)
        self._sum = system.has("g")
        flips = np.concatenate([np.array(unit) for unit in units])
        firsts = np.concatenate([[0], np.cumsum([len(unit) for unit in units])])
        self._set_up(walk.lease.fn, p, t, x, word, rows, slopes, flips, firsts)
        self._system, self._lease = system, walk.lease
        self._function = system.function("f")

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
        """Where it is: "tie", "start", "end", "event" (the one whose state is asked for), "breakpoint" (before or behind it)."""
        if self.at_break:
            return "breakpoint"
        return {WHOLE: "tie", AT_START: "start", AT_END: "end", TO_GUARD: "event"}[self.mode]
