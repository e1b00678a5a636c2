"""The record of an integration: its steps, the states at their ends, and its crossings.

This is the only class that interprets the core's own tables. Dense output and derivatives replay it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.schemes import STIFF
from ..core.state import BACK, HAS_SPANS, HAS_STIFF_STEPS, JUMP, JUMPS_AT_GRAZES, MARGIN, SHOWN, SPAN
from ..memory.tables import Placed, selected
from ..memory.working import FIRST_LEG, IntegrationMemory
from .lazy import lazy

if TYPE_CHECKING:
    from .._typing import BoolArray, FloatArray, IntArray, RecordArray, Side, SignArray
    from ..integration.stepper import Stepper

SORTED = 1_000_000  # events that are sorted at once, without a look at Ctrl-C
_NOTHING_SPECIAL = {"spans": False, "stiff": False, "jumps_at_grazes": False}


@dataclass(frozen=True)
class Record:
    """The steps of an integration as the core has recorded them; ``sol.record`` of a `Solution`.

    Most users need `Solution` and `Events` instead, which are computed from it.

    Attributes
    ----------
    steps : structured array (rows,)
        The start, then each step: the time ``t`` of its end and its ``kind`` (see `core.state.STEP`).
    states : array (rows, n)
        The states at these times.
    events : structured array
        A row for each change of the word (mode), each event and each near-grazing, with ``t``, ``guard``, ``sign`` and others
        (see `core.state.EVENT`).
    word_end : array (m,)
        The word at the end.
    breaks : array
        Times at which f or h may jump.
    p : array
        The parameters (at the end).
    legs : tuple of (row, array), or None
        Where a `Stepper` changed the parameters: the first row that they hold for and their values, beginning with row 0.
        None if they were never changed.
    word_before : array (m,), or None
        The word at the start, where events do not tell it: of a part of a trajectory, which may begin on guards (sign 0).

    Examples
    --------
    >>> import bouligand as bd
    >>> record = bd.solve(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0]).record
    >>> len(record) == len(record.t) == len(record.states)
    True
    >>> record.word_start, record.word_end
    (array([-1.]), array([-1.]))
    """

    steps: RecordArray
    states: FloatArray
    events: RecordArray
    word_end: FloatArray
    breaks: FloatArray
    p: FloatArray
    legs: tuple[tuple[int, FloatArray], ...] | None = None
    word_before: FloatArray | None = None

    def __getstate__(self) -> dict[str, Any]:
        # (addresses are not pickled)
        return {key: value for key, value in self.__dict__.items() if key not in ("placed", "_workspace")}

    def __len__(self) -> int:
        return len(self.steps)

    @lazy
    def t(self) -> FloatArray:
        """Times of the rows, array (rows,)."""
        return self.steps["t"]

    @property
    def kind(self) -> IntArray:
        """Kind of each step: the number of its scheme, of its hop, or SPAN, regardless of how it was cut back to a guard."""
        return self.steps["kind"] % BACK

    @lazy
    def spans(self) -> bool:
        """Whether there are spanning steps (steps across many crossings)."""
        return bool((self.steps["kind"][1:] == SPAN).any())

    @lazy
    def stiff(self) -> bool:
        """Whether there are stiff steps."""
        return bool((self.kind == STIFF).any())

    @lazy
    def jumps_at_grazes(self) -> bool:
        """Whether f has a finite jump at some near-grazing."""
        return bool((self.events["effect"] > 1.0).any())

    @lazy
    def jump_rows(self) -> IntArray:
        """Rows with the state behind a jump; the row before has that before it, at the same time."""
        return np.flatnonzero(self.steps["kind"] == JUMP)

    @property
    def shown(self) -> BoolArray:
        """Which rows of ``events`` are events."""
        return self.events["shown"] == SHOWN

    @property
    def flips(self) -> RecordArray:
        """The rows of ``events`` that change the word."""
        return selected(self.events, self.events["shown"] != MARGIN)

    @property
    def margins(self) -> RecordArray:
        """The rows of ``events`` that are near-grazings."""
        return selected(self.events, self.events["shown"] == MARGIN)

    @lazy
    def word_start(self) -> FloatArray:
        """The word at the start: the sign of each guard before its first flip."""
        if self.word_before is not None:
            return self.word_before
        word, flips = self.word_end.copy(), self.flips
        for end in range(
            len(flips), 0, -SORTED
        ):  # (from the end, so that the first flip of each guard is the last word)
            some = flips[max(end - SORTED, 0) : end]
            guards, first = np.unique(some["guard"], return_index=True)
            word[guards] = -some["sign"][first]
        return word

    @property
    def inside(self) -> BoolArray:
        """Which rows of ``events`` lie inside a step, not at its end."""
        return self.events["t"] < self.t[self.events["record"]]

    @lazy
    def parameters(self) -> tuple[FloatArray, IntArray]:
        """The parameters, a row for each set of values, and the first row of ``steps`` for which each set holds."""
        if self.legs is None:
            workspace = self.__dict__.get("_workspace")
            return (self.p.copy() if workspace is None else workspace.p).reshape(1, -1), FIRST_LEG
        values = np.array([p for _, p in self.legs]).reshape(len(self.legs), -1)
        return values, np.array([row for row, _ in self.legs], dtype=np.int64)

    def parameters_at(self, t: float, side: Side) -> FloatArray:
        """The parameters at a time; at the very time of a change, those after it ("right") or before it ("left")."""
        p = self.p
        for row, since in self.legs or ():
            begins = self.t[row]
            if begins < t or (begins == t and side == "right") or row == 0:
                p = since
        return p

    def words(self, times: FloatArray, side: Side) -> SignArray:
        """The word at each of these times, array (times, m); at the very time of an event, that after it or before it."""
        flips = self.flips
        count = np.searchsorted(flips["t"], times, side=side)
        out = np.empty((times.size, self.word_end.size), dtype=np.int8)
        word, done = self.word_start.astype(np.int8), 0
        for q in np.argsort(count, kind="stable"):
            for flip in flips[done : count[q]]:
                word[flip["guard"]] = flip["sign"]
            done = max(done, count[q])
            out[q] = word
        return out

    @property
    def source(self) -> int:
        """The address of the workspace that its integration has left as it was at the end; 0 if that is gone."""
        workspace = self.__dict__.get("_workspace")
        return 0 if workspace is None else workspace.address

    @lazy
    def placed(self) -> Placed:
        """The arrays that a replay needs, with their addresses."""
        workspace = self.__dict__.get("_workspace")
        if workspace is not None:
            return workspace.placed(self.steps, self.states, self.events)
        return Placed.of(self.steps, self.states, self.events, self.breaks, *self.parameters)

    def learn(self, found: int, word_start: FloatArray) -> None:
        """Keep what the core has found in it (see `core.tangents.prepare`): many microseconds less than NumPy takes for that."""
        known = self.__dict__
        if "word_start" not in known:
            known["word_start"] = word_start.copy() if self.word_before is None else self.word_before
            if found:
                known["spans"], known["stiff"] = bool(found & HAS_SPANS), bool(found & HAS_STIFF_STEPS)
                known["jumps_at_grazes"] = bool(found & JUMPS_AT_GRAZES)
            else:
                known.update(_NOTHING_SPECIAL)

    def copy(self) -> Record:
        """A copy, which does not change when the integration goes on."""
        rows = {name: getattr(self, name).copy() for name in ("steps", "states", "events", "word_end")}
        return replace(self, **rows)

    def behind_jumps(self, times: FloatArray, out: FloatArray) -> None:
        """Of states ``out`` at these times, replace those at the very time of a jump by the state behind it."""
        rows = np.searchsorted(self.t, times, side="right") - 1
        here = (self.t[rows] == times) & (self.steps["kind"][rows] == JUMP)
        out[here] = self.states[rows[here]]


def record_of(stepper: Stepper) -> Record:
    """The record in the workspace of an integration."""
    memory = stepper._memory
    s, legs = memory.s, stepper._legs
    rows = s.rows.records
    record = object.__new__(Record)  # (its own constructor sets one attribute after the other, in three times the time)
    record.__dict__.update(
        steps=memory.steps[:rows],
        states=memory.states[:rows],
        events=memory.events[: s.rows.events],
        word_end=memory.g.b,
        breaks=memory.breaks,
        p=stepper._p.copy(),
        legs=None if legs is None else tuple(legs),
        # (whose table knows where these arrays are)
        _workspace=memory if legs is None and isinstance(memory, IntegrationMemory) else None,
    )
    return record


def word_after(word: FloatArray, events: RecordArray) -> FloatArray:
    """The word after these rows of ``events``, starting from ``word``. (Of several flips of one guard the last one counts.)"""
    word = word.copy()
    if len(events):
        guard, sign, flips = events["guard"], events["sign"], events["shown"] != MARGIN
        if not flips.all():
            guard, sign = guard[flips], sign[flips]
        word[guard] = sign
    return word
