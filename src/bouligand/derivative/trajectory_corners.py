"""The corners of a trajectory: which crossings belong to one, and the field and the guards there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np

from ..core import codes
from ..core.entries import Kernel
from ..core.state import AT_END, AT_START, MARGIN, SHOWN, SWITCH, TO_GUARD, WHOLE, WITH_CROSSING
from ..errors import DerivativeError
from ..memory.pool import pool_of
from ..solution.record import word_after
from .compiled_corner import EXACT, FROM_STATES
from .corner import Corner
from .failures import raise_failed
from .sliding_entry import begins_to_slide, slide_behind

if TYPE_CHECKING:
    from .._typing import BoolArray, FloatArray, IntArray, RecordArray
    from ..memory.working import Working
    from ..system.binding import Bound
    from ..system.system import System
    from ..system.user_memory import Lease
    from .walk import Walk

_corner_rows = Kernel("tangents.guard_rows", "corner_rows", "corners", direct=True)


def start_corner(
    walk: Walk, on_guard: bool, ended: Walk | None = None, after_jump: bool = False
) -> TrajectoryCorner | None:
    """The corner at the start, if the stretch starts on guards: a perturbed start may be on either side of each. ``on_guard``:
    whether some guard is zero there, or something happens at once; ``ended``: after a breakpoint, the walk that ended there."""
    stretch, system, events = walk.stretch, walk.system, walk.stretch.events
    t, begins, behind = float(stretch.t[0]), float(walk.solution.record.t[0]), stretch.before
    if t == begins and not on_guard and ended is None:
        return None  # (as most do)
    # at a later start, the times of crossings have errors within the tolerance
    doubt = walk.solution._tolerances[0] * (t - begins)
    soonest = math.nextafter(t + doubt, math.inf)
    met = ended.corners[-1] if ended is not None and ended.corners and ended.corners[-1].mode == AT_END else None
    if len(behind):
        behind = behind[behind["t"] >= t - doubt]
    if not (on_guard or len(behind) or (len(events) and events["t"][0] <= soonest) or met):
        return None
    crossed = int(np.searchsorted(events["t"], soonest, side="right"))
    if met and ended is not None:
        crossed = max(crossed, met.event_rows.stop - (len(ended.stretch.events) - len(events)))
    places = units_of(walk, 0, crossed)
    units = [[int(g) for g in events["guard"][q : q + w]] for q, w in places]
    touching = walk.memory.g.held != 0.0 if t == begins else np.zeros(system.m, dtype=bool)
    # (behind a jump the state is on its guard because it was put there, and a perturbed trajectory is, too, at its own time)
    if system.jumps:
        touching[system.jumps.has | (after_jump and t == begins)] = False
    passed = behind["guard"][behind["shown"] != MARGIN]
    touching[passed[~system.observers[passed]]] = True
    touching[asleep(system, stretch.starting_word)] = False
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


def asleep(system: System, word: FloatArray) -> BoolArray:
    """The guards that do not matter in a mode (`System(active_while=)`)."""
    opened = np.where(system.rests, word != 0.0, word < 0.0)
    out: BoolArray = np.any((system.needs >= 0) & opened[system.needs], axis=1)
    return out


def units_of(walk: Walk, first: int, last: int) -> list[tuple[int, int]]:
    """The units among rows of events: (first row, number of rows). A unit is a crossing with the guards that it re-arms."""
    rows, observers, wanted = walk.stretch.events[first:last], walk.system.observers, walk.stretch.wanted
    shown, jumped, guard, record, t = (rows[name].tolist() for name in ("shown", "jumped", "guard", "record", "t"))
    q, count = 0, last - first
    out: list[tuple[int, int]] = []
    while q < count:
        w = 1
        if shown[q] == MARGIN or jumped[q] or (observers[guard[q]] and first + q != wanted):
            q += 1
            continue
        while (
            q + w < count
            and shown[q] == SHOWN
            and ((shown[q + w] == SWITCH and not jumped[q + w]) or jumped[q + w] == WITH_CROSSING)
            and t[q + w] == t[q]
            and record[q + w] == record[q]
        ):
            w += 1
        out.append((first + q, w))
        q += w
    return out


def corner_here(walk: Walk) -> TrajectoryCorner | None:
    """The corner at which the core has stopped; None at a breakpoint if all that is near lies after it."""
    at, events, wanted = walk.memory.at, walk.stretch.events, walk.stretch.wanted
    first, last = at.first, at.first + at.many
    places = units_of(walk, first, last)
    begun = walk.system._stays and begins_to_slide(events[first:last]).any()
    guards = events["guard"][first:last].tolist()
    units = [guards[q - first : q - first + w] for q, w in places]
    if begun:
        units = [events["guard"][q : q + w][~begins_to_slide(events[q : q + w])].tolist() for q, w in places]
        if not all(units):
            begins = f"{events['t'][last - 1]:.10g}"
            raise DerivativeError(
                f"at or before t = {begins} the trajectory begins to stay on a guard that it does not cross"
            )
    middle = int(events["record"][wanted if first <= wanted < last else places[len(places) // 2][0]])
    if at.near_end and walk.stretch.at_break(walk.stretch.end):
        return corner_before_break(walk, first, last)
    near_end = at.near_end
    corner = make_corner(walk, middle, walk.memory.g.b.copy(), units, slice(first, last), [q for q, _ in places])
    if first <= wanted < last:
        corner.mode = TO_GUARD
        corner.target = next(u for u, (q, w) in enumerate(places) if q <= wanted < q + w)
    elif (
        near_end or corner.last_record > walk.stretch.end
    ):  # (where uncertainties are not finite: nothing is behind its end)
        corner.mode = AT_END
    if walk.merge > 0.0:
        keep_offsets(walk, corner, [events["t"][q] for q, _ in places])
    if begun:
        slide_behind(walk, corner, events[first:last], walk.stretch.word_after(last))
    return corner


def corner_before_break(walk: Walk, first: int | None = None, last: int | None = None) -> TrajectoryCorner | None:
    """The corner at the end of a walk, if that is a breakpoint, or None: guards of these rows of events, and those barely met.

    Neither the word nor the guards are those after the breakpoint.
    """
    stretch, events = walk.stretch, walk.stretch.events
    if not stretch.at_break(stretch.end):
        return None
    moment = stretch.t[stretch.end]
    if first is None or last is None:
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


def barely_met(walk: Walk, moment: float) -> IntArray:
    """Guards on which the trajectory was at a breakpoint, on one side of it only and without a crossing."""
    rows = walk.stretch.events
    return np.unique(rows["guard"][(rows["shown"] == MARGIN) & (rows["t"] == moment)])


def make_corner(
    walk: Walk,
    record: int,
    word: FloatArray,
    units: list[list[int]],
    event_rows: slice,
    unit_rows: list[int],
    ends: bool = False,
) -> TrajectoryCorner:
    """The corner at a row of the record, with the rows of Dh of its units there. ``ends``: of a corner at a breakpoint, before
    it."""
    memory, stretch = walk.memory, walk.stretch
    leg = max(memory.at.leg, stretch.leg)
    t, rows, slopes = rows_at(walk, record, leg, [unit[0] for unit in units], not ends)
    at = memory.v.x.copy()
    corner = TrajectoryCorner(walk.system, walk.lease, t, at, stretch.leg_p[leg], word, units, rows, slopes)
    corner._resolved = max(EXACT, FROM_STATES * walk.solution._tolerances[0])
    rows_of_events = stretch.events["record"][event_rows]
    corner.event_rows, corner.unit_rows = event_rows, unit_rows
    corner.record, corner.last_record = record, int(rows_of_events[-1]) if len(rows_of_events) else record
    # (one before a breakpoint stays before it)
    corner.first_record = min(int(rows_of_events[0]), record) if len(rows_of_events) else record
    memory.at.rows_at = -1
    return corner


def rows_at(walk: Walk, record: int, leg: int, guards: list[int], after: bool) -> tuple[float, FloatArray, FloatArray]:
    """The time at a record (of a breakpoint, ``after`` it or before), and the guards' rows of Dh and D_t h; v.x is its state."""
    memory, t = walk.memory, float(walk.stretch.t[record])
    memory.v.x[:] = walk.stretch.states[record]
    at_break = walk.stretch.at_break(record)
    if at_break and not after:
        t = t - 4e-16 * abs(t)
    rows, slopes = np.zeros((len(guards), walk.width)), np.zeros(len(guards))
    moment = math.nextafter(t, math.inf) if at_break and after else t  # (D_t h is taken on the side of its time)
    if _corner_rows(memory.address, moment, leg, np.array(guards, dtype=np.int64), rows, slopes):
        walk.fail(codes.DH_FAILED)
    return t, rows, slopes


def rows_of_guards(walk: Walk, t: float, x: FloatArray, guards: list[int]) -> tuple[FloatArray, FloatArray]:
    """The guards' rows of Dh and D_t h at any state, with the parameters at the end of a walk."""
    memory, stretch = walk.memory, walk.stretch
    memory.v.x[:] = x
    rows, slopes = np.zeros((len(guards), walk.width)), np.zeros(len(guards))
    leg = max(int(np.searchsorted(stretch.legs, stretch.end, side="left")) - 1, stretch.leg)
    if _corner_rows(memory.address, t, leg, np.array(guards, dtype=np.int64), rows, slopes):
        walk.fail(codes.DH_FAILED)
    memory.at.rows_at = -1
    return rows, slopes


def near_at_break(walk: Walk, record: int, guards: list[int], word: FloatArray, after: bool) -> BoolArray:
    """Which guards are zero, within the tolerances, just after a breakpoint or just before it (h may jump there)."""
    memory, stretch, n, solution = walk.memory, walk.stretch, walk.n, walk.solution
    leg = max(memory.at.leg, stretch.leg)
    t, rows, slopes = rows_at(walk, record, leg, guards, after)
    x, p, rtol = stretch.states[record], stretch.leg_p[leg], solution._tolerances[0]
    h = walk.system.function("h")(t, x, p)[guards]
    speed = rows[:, :n] @ walk.system.function("f")(t, x, word, p) + slopes
    sure = np.abs(rows[:, :n]) @ (memory.v.atol + rtol * np.abs(solution.record.states).max(axis=0))
    # (ten tolerances: a guard that jumped is much farther away)
    return np.abs(h) <= 10.0 * (sure + np.abs(speed) * (rtol * (t - solution.record.t[0]) + 1e-15 * abs(t)))


def keep_offsets(walk: Walk, corner: TrajectoryCorner, moments: Sequence[float]) -> None:
    """Shift the guards of a merged corner so that the unperturbed trajectory crosses them at its own times."""
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


def refuse_event_at_break(walk: Walk) -> None:
    """Raise a DerivativeError if the requested event happens at a breakpoint at which f or h jumps."""
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


class TrajectoryCorner(Corner[str]):
    """A corner of a trajectory, from ``B.corners``: its field is f at the state x, its guards have names.

    Attributes
    ----------
    t : float
        Its time.
    x : array (n,)
        The state there.
    guards : tuple of str
        Names of the guards.
    kind : str
        "tie", "start", "end", "event" or "breakpoint".

    Examples
    --------
    >>> import bouligand as bd
    >>> sol = bd.solve(bd.models.three_legs(), (0.0, 0.3), [0.7, 0, 0, 0, 0, 0, 0])
    >>> corner = sol.bderivative().corners[0]
    >>> corner.kind, corner.guards, round(corner.t, 6)
    ('tie', ('foot0', 'foot1', 'foot2'), 0.24731)
    """

    def __init__(
        self,
        system: System,
        lease: Bound | Lease,
        t: float,
        x: FloatArray,
        p: FloatArray,
        word: FloatArray,
        units: list[list[int]],
        rows: FloatArray,
        slopes: FloatArray,
    ) -> None:
        self._units = units
        self.t, self.x = float(t), x
        self.event_rows = slice(0, 0)
        self.unit_rows: list[int] = []
        self.at_break, self.offset = False, 0  # (see `Chain`)
        self.record = self.first_record = self.last_record = 0
        self.guards = tuple(system.guards[unit[0]] for unit in units)
        self._sum = system.has("g")
        flips = [guard for unit in units for guard in unit]
        firsts = list(accumulate(map(len, units), initial=0))
        if (
            system._stays
        ):  # (h depends on the mode, which it finds in one workspace for each lease: the walk has its own)
            lease = system._bind().lease(system)
        self._set_up(p, t, x, word, rows, slopes, flips, firsts)
        self._system, self._lease = system, lease

    def __reduce__(self) -> tuple[Any, ...]:
        made_of = (self.t, self.x, self._p, self._word, self._units, self._rows, self._slopes)
        return _corner_again, (self._system, made_of, {name: getattr(self, name) for name in _OWN}, self._offset)

    def _field(self, word: FloatArray) -> FloatArray:
        system = self._system
        function = system._bind().field if system._stays else system.function("f")
        return function(self._t, self.x, word, self._p)

    def _name(self, k: int) -> str:
        return repr(self._system.guards[k])

    def _borrow(self) -> tuple[Working, RecordArray]:
        return pool_of(self._system).borrow("replay", self._system), self._lease.fn

    def _give_back(self, memory: Working) -> None:
        pool_of(self._system).give_back("replay", memory)

    def _fail(self, code: int, memory: Working) -> NoReturn:
        if code != codes.NOT_EVENT_SELECTED:
            raise_failed(self._system, code, memory)
        super()._fail(code, memory)

    @property
    def kind(self) -> Literal["tie", "start", "end", "event", "breakpoint", "jump"]:
        """Where it is: "tie" (on the way), "start", "end", "event" (at which the outcome is taken), "breakpoint" (just before
        or just after it), or "jump" (the state jumps at several guards)."""
        return "breakpoint" if self.at_break else _KINDS[self.mode]


_KINDS: dict[int, Literal["tie", "start", "end", "event"]] = {
    WHOLE: "tie",
    AT_START: "start",
    AT_END: "end",
    TO_GUARD: "event",
}

# what a corner is given besides the arguments of its class
_OWN = (
    "event_rows",
    "unit_rows",
    "record",
    "first_record",
    "last_record",
    "mode",
    "target",
    "end",
    "_reference",
    "at_break",
    "offset",
    "_onto",
    "_resolved",
)


def _corner_again(
    system: System, made_of: tuple[Any, ...], own: dict[str, Any], offset: FloatArray
) -> TrajectoryCorner:
    """A corner that was pickled, in memory of its own."""
    corner = TrajectoryCorner(system, system._bind().lease(system), *made_of)
    for name, value in own.items():
        setattr(corner, name, value)
    corner._offset[:] = offset
    return corner
