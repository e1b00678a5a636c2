"""The table of events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from .._made import Made
from .._optional import need
from ..core.state import SHOWN, SWITCH
from ..memory.tables import selected
from ..system.arguments import short
from ..system.declarations import guard_index
from .dense import sample
from .lazy import lazy
from .printing import fitted, html_table
from .record import Record, record_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._typing import BoolArray, FloatArray, IntArray, RecordArray, SignArray
    from ..integration.stepper import Stepper
    from ..system.system import System

FIELDS = ("t", "guard", "direction", "x")
SHOWN_ROWS = 10  # of many events only the first are printed


class Events(metaclass=Made, by="Solution.events"):
    """The events (crossings of guards) of a solution, in the order in which they happened: ``sol.events``.

    An index selects rows of the structured array ``events.array``: ``events[0]`` is the first event, ``events[0]["t"]`` its
    time, ``events["t"]`` the times of all, ``events["foot"]`` the events of one guard, ``events["foot"]["t"]`` their times.
    ``len(events)`` is their number.

    Attributes
    ----------
    t : array (ne,)
        Times.
    guard : array (ne,) of int
        Numbers of the guards.
    name : array (ne,) of str
        Names of the guards.
    direction : array (ne,) of int8
        The sign after the crossing: +1 if h went from - to +.
    x : array (ne, n)
        States.
    x_after : array (ne, n)
        States after the jumps, for guards that have one; else the same as x. (If guards fire together: after all their jumps.)
    residual : array (ne,)
        The values of h that were left at the landings.
    before, after : array (ne, m) of int8
        The modes before and after each event.
    array : structured array (ne,)
        ``t``, ``guard``, ``direction`` and ``x`` together.

    Examples
    --------
    >>> import bouligand as bd
    >>> sol = bd.solve(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0], rtol=1e-8)
    >>> sol.events
    Events: 2
      t = 0.451523641  foot         +1  x = [ 1.       -4.429447]
      t = 0.55529175   foot         -1  x = [1.       4.429447]
    >>> sol.events.t.round(6)
    array([0.451524, 0.555292])
    >>> [int(event["direction"]) for event in sol.events]
    [1, -1]
    >>> sol.events[sol.events.direction > 0]["guard"]
    array([0])
    >>> sol.events["foot"]["t"].round(6)
    array([0.451524, 0.555292])
    """

    def __init__(self, system: System, source: Stepper | Record) -> None:
        # (not the solution, which has these events: two objects that hold each other wait for the garbage collector)
        self._system, self._source = system, source

    @lazy
    def t(self) -> FloatArray:
        """Times, array (ne,)."""
        source = self._source
        if isinstance(source, Record):
            return source.events["t"][source.shown]
        # (of an integration that has finished: what is asked for most often, without making a Record)
        memory = source._memory
        return memory.event_times[: memory.s.rows.shown].copy()

    @lazy
    def _record(self) -> Record:
        source = self._source
        return source if isinstance(source, Record) else record_of(source)

    @lazy
    def _rows(self) -> RecordArray:
        return selected(self._record.events, self._record.shown)

    @lazy
    def guard(self) -> IntArray:
        """Numbers of the guards, array (ne,) of int."""
        return self._rows["guard"].astype(np.int64)

    @property
    def name(self) -> NDArray[np.object_]:
        """Names of the guards, array (ne,) of str."""
        return np.array([self._system.guards[k] for k in self.guard], dtype=object)

    @lazy
    def direction(self) -> SignArray:
        """The sign after each crossing, array (ne,) of int8: +1 if h went from - to +."""
        return self._rows["sign"].astype(np.int8)

    @property
    def residual(self) -> FloatArray:
        """The values of h that were left at the landings, array (ne,)."""
        return self._rows["residual"]

    @lazy
    def x(self) -> FloatArray:
        """States, array (ne, n)."""
        record, rows = self._record, self._rows["record"]
        states = record.states[rows]
        between = record.t[rows] > self.t
        if between.any():
            inside = np.empty((np.count_nonzero(between), self._system.n))
            sample(self._system, self._record, self.t[between], inside)
            states[between] = inside
        return states

    @lazy
    def x_after(self) -> FloatArray:
        """States after the jumps, array (ne, n); the same as x where there is none."""
        states, record = self.x.copy(), self._record
        jumped = record.jump_rows
        if jumped.size:
            behind = self._rows["record"] + 1
            has = self._system.jumps.has[self.guard] & np.isin(behind, jumped)
            states[has] = record.states[behind[has]]
        return states

    def _words(self, after: bool) -> SignArray:
        """The word before each event, or after it (including guards that were re-armed at the same time)."""
        record = self._record
        flips = record.flips
        out = np.empty((len(self), self._system.m), dtype=np.int8)
        word, q = record.word_start.astype(np.int8), 0
        for i, flip in enumerate(flips):
            event = flip["shown"] == SHOWN
            if event and not after:
                out[q] = word
                q += 1
            word[flip["guard"]] = flip["sign"]
            if event and after:
                out[q] = word
                for armed in flips[i + 1 :]:
                    if armed["shown"] != SWITCH or armed["t"] != flip["t"]:
                        break
                    out[q, armed["guard"]] = armed["sign"]
                q += 1
        return out

    @property
    def before(self) -> SignArray:
        """The mode just before each event, array (ne, m) of int8."""
        return self._words(after=False)

    @property
    def after(self) -> SignArray:
        """The mode just after each event, array (ne, m) of int8."""
        return self._words(after=True)

    @property
    def array(self) -> RecordArray:
        """All events as a structured array (ne,) with the fields ``t``, ``guard``, ``direction`` and ``x``."""
        n = self._system.n
        kind = [("t", float), ("guard", np.int64), ("direction", np.int8), ("x", float, (n,))]
        out: RecordArray = np.empty(len(self), dtype=kind)
        for field in FIELDS:
            out[field] = getattr(self, field)
        return out

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[np.void]:
        return iter(self.array)

    @overload
    def __getitem__(self, key: int | np.integer[Any]) -> np.void: ...

    @overload
    def __getitem__(self, key: Literal["t", "x"]) -> FloatArray: ...

    @overload
    def __getitem__(self, key: Literal["guard"]) -> IntArray: ...

    @overload
    def __getitem__(self, key: Literal["direction"]) -> SignArray: ...

    @overload
    def __getitem__(self, key: slice | list[int] | list[bool] | list[str] | IntArray | BoolArray) -> RecordArray: ...

    @overload
    def __getitem__(self, key: str) -> Any: ...

    def __getitem__(self, key: Any) -> Any:
        """Events by number, slice, mask or list of numbers; one of the fields ``t, guard, direction, x``; those of a guard.

        Raises
        ------
        IndexError
            If there are not so many events.
        TypeError, ValueError
            If the key is none of these, or no guard is called so.
        """
        if isinstance(key, str) and key not in FIELDS:
            k = guard_index(self._system.guards, key, "key")
            return self.array[self.guard == k]
        try:
            return self.array[_chosen(key, len(self))]
        except IndexError:
            raise IndexError(f"key: there are {len(self)} events; got {short(key)}") from None
        except Exception:
            raise TypeError(
                f"key: events[...] takes a number, a slice, a list of numbers, a mask, a guard's name, or one of the fields "
                f"{', '.join(FIELDS)}; got {short(key)}"
            ) from None

    def to_pandas(self) -> Any:
        """A table with a row for each event: time, name of the guard, direction, and the states at the event.

        Returns
        -------
        pandas.DataFrame

        Examples
        --------
        >>> import bouligand as bd
        >>> sol = bd.solve(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0], rtol=1e-8)
        >>> sol.events.to_pandas().round(4)
                t guard  direction    z      vz
        0  0.4515  foot          1  1.0 -4.4294
        1  0.5553  foot         -1  1.0  4.4294
        """
        pandas = need("pandas", "data")
        head = {"t": self.t, "guard": self.name, "direction": self.direction}
        states = {name: self.x[:, i] for i, name in enumerate(self._system.states)}
        clash = {name: f"{name}_" for name in states if name in head}
        return pandas.DataFrame(head | {clash.get(name, name): column for name, column in states.items()})

    def __repr__(self) -> str:
        if not len(self):
            return "Events: none"
        lines = [f"Events: {len(self)}"]
        for q in range(min(len(self), SHOWN_ROWS)):
            state = " ".join(np.array2string(self.x[q], precision=6, threshold=6, max_line_width=1000).split("\n"))
            lines.append(fitted(f"  t = {self.t[q]:<12.9g} {self.name[q]:<12} {self.direction[q]:+d}  x = {state}"))
        if len(self) > SHOWN_ROWS:
            lines.append(f"  ... and {len(self) - SHOWN_ROWS} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """For notebooks: the first events as a table."""
        states = self._system.states[:6]
        rows: list[list[object]] = [
            [
                f"{self.t[q]:.9g}",
                self.name[q],
                f"{self.direction[q]:+d}",
                *(f"{v:.6g}" for v in self.x[q, : len(states)]),
            ]
            for q in range(min(len(self), SHOWN_ROWS))
        ]
        if len(self) > SHOWN_ROWS:
            rows.append([f"... and {len(self) - SHOWN_ROWS} more"])
        return html_table(f"{len(self)} events", ("t", "guard", "direction", *states), rows)


def _chosen(key: Any, count: int) -> Any:
    """The key of a structured array of so many rows: numbers, a slice, a mask or names of fields; a TypeError if it is none."""
    if isinstance(key, str | slice) or (isinstance(key, list) and key and all(isinstance(name, str) for name in key)):
        return key
    rows = np.asarray(key)
    numbers = rows.dtype.kind in "iu" and rows.ndim <= 1
    mask = rows.dtype.kind == "b" and rows.shape == (count,)
    if not numbers and not mask and not (isinstance(key, list) and not key):
        raise TypeError
    return rows.astype(np.int64)[()] if numbers else rows if mask else key
