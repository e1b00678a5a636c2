"""The corners of a trajectory: which crossings belong to one, and the field and the guards there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np

from ..core import codes
from ..core.entries import Kernel
from ..core.state import AT_END, AT_START, MARGIN, SHOWN, SWITCH, TO_GUARD, WHOLE
from ..errors import DerivativeError
from .corner import Corner
from .failures import raise_failed

if TYPE_CHECKING:
    from .._typing import FloatArray
    from ..system.binding import Bound
    from ..system.system import System
    from ..system.user_memory import Lease
    from .walk import Walk

_corner_rows = Kernel("tangents.guard_rows", "corner_rows", "corners")


def start_corner(walk: Walk, on_guard: bool) -> TrajectoryCorner | None:
    """The corner at the start, if the stretch starts on guards: a perturbed start may be on either side of each. ``on_guard``:
    whether some guard is zero there."""
    stretch, system = walk.stretch, walk.system
    t, events, behind = float(stretch.t[0]), stretch.events, stretch.before
    begins = float(walk.solution.record.t[0])
    # at a later start, the times of crossings have errors within the tolerance
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


def units_of(walk: Walk, first: int, last: int) -> list[tuple[int, int]]:
    """The units among rows of events: (first row, number of rows). A unit is a crossing with the guards that it re-arms."""
    events, system, wanted = walk.stretch.events, walk.system, walk.stretch.wanted
    q = first
    out: list[tuple[int, int]] = []
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


def corner_here(walk: Walk) -> TrajectoryCorner:
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


def make_corner(
    walk: Walk, record: int, word: FloatArray, units: list[list[int]], event_rows: slice, unit_rows: list[int]
) -> TrajectoryCorner:
    """The corner at a row of the record, with the rows of Dh of its units there."""
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


def keep_offsets(walk: Walk, corner: TrajectoryCorner, moments: Sequence[float]) -> None:
    """Shift the guards of a merged corner so that the unperturbed trajectory crosses them at its own times."""
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


def refuse_jumps_of_f(walk: Walk) -> None:
    """Raise a DerivativeError if a guard is crossed at the very time at which f jumps: neither a matrix nor a corner is the
    derivative there."""
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
        "tie", "start", "end" or "event".

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
        self.record = self.first_record = self.last_record = 0
        self.guards = tuple(system.guards[unit[0]] for unit in units)
        self._sum = system.has("g")
        flips = np.concatenate([np.array(unit) for unit in units])
        firsts = np.concatenate([[0], np.cumsum([len(unit) for unit in units])])
        self._set_up(lease.fn, p, t, x, word, rows, slopes, flips, firsts)
        self._system, self._lease = system, lease
        self._function = system.function("f")

    def __reduce__(self) -> tuple[Any, ...]:
        made_of = (self.t, self.x, self._p, self._word, self._units, self._rows, self._slopes)
        return _corner_again, (self._system, made_of, {name: getattr(self, name) for name in _OWN}, self._offset)

    def _field(self, word: FloatArray) -> FloatArray:
        return self._function(self._t, self.x, word, self._p)

    def _name(self, k: int) -> str:
        return repr(self._system.guards[k])

    def _fail(self, code: int) -> NoReturn:
        if code != codes.NOT_EVENT_SELECTED:
            raise_failed(self._system, code, self._memory)
        super()._fail(code)

    @property
    def kind(self) -> Literal["tie", "start", "end", "event"]:
        """Where it is: "tie" (on the way), "start", "end", or "event" (at which the outcome is taken)."""
        return _KINDS[self.mode]


_KINDS: dict[int, Literal["tie", "start", "end", "event"]] = {
    WHOLE: "tie",
    AT_START: "start",
    AT_END: "end",
    TO_GUARD: "event",
}

# what a corner is given besides the arguments of its class
_OWN = ("event_rows", "unit_rows", "record", "first_record", "last_record", "mode", "target", "end", "_reference")


def _corner_again(
    system: System, made_of: tuple[Any, ...], own: dict[str, Any], offset: FloatArray
) -> TrajectoryCorner:
    """A corner that was pickled, in memory of its own."""
    corner = TrajectoryCorner(system, system._bind().lease(system), *made_of)
    for name, value in own.items():
        setattr(corner, name, value)
    corner._offset[:] = offset
    return corner
