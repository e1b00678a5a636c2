"""What must hold in a file of a solution before compiled code works on it.

Replays follow the indices, counts and kinds of a record without a look at bounds, as they may: an integration has written them.
A file can have been written by anybody, so that all of this is checked where one is read. Each function raises a ValueError that
names what does not hold.
"""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.schemes import STIFF
from ..core.state import BACK, EVENT, HOP, JUMP, MARGIN, NOT_JUDGED, SHOWN, SPAN, STEP, SWITCH, WITH_CROSSING
from .counts import Counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .record import Record

Arrays = dict[str, "NDArray[Any]"]

_FLOAT, _INT, _SIGNS = np.dtype(np.float64), np.dtype(np.int64), (-1.0, 0.0, 1.0)
_RUNGS = 5  # of a hop
_SMOOTH, _HOPS = tuple(range(1, STIFF + 1)), tuple(range(HOP + 1, HOP + _RUNGS + 1))
_CUT = [kind + BACK * rung for kind in (*_SMOOTH, *_HOPS) for rung in range(_RUNGS + 1)]
_KINDS = (*_CUT, SPAN, JUMP)
_STATUSES = ("finished", "terminated", "failed", "running")


def about(text: str, format: int) -> dict[str, Any]:
    """What a file says in words and small numbers, from JSON."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"its description is not JSON: {error}") from error
    _need(isinstance(found, dict), "its description is not one of a solution")
    theirs = found.get("format")
    _need(theirs == format, f"it has the format {theirs!r}; this version of bouligand reads {format}")
    for name, is_right in _ABOUT.items():
        _need(name in found and is_right(found[name]), f"in its description, {name!r} is missing or wrong")
    m = len(found["guards"])
    _need(all(0 <= k < m for k in found["jumps"]), "in its description, a jump is that of no guard")
    _need(found["ended_by"] is None or 0 <= found["ended_by"] < m, "in its description, it ended by no guard")
    return found


def arrays(kept: Arrays, about: dict[str, Any]) -> None:
    """The names, types and shapes of the arrays, and that their sizes belong together."""
    n, m, q = len(about["states"]), len(about["guards"]), kept["p"].size if "p" in kept else 0
    rows, events = (len(kept[name]) if name in kept and kept[name].ndim else 0 for name in ("steps", "events"))
    shown = int(np.count_nonzero(kept["events"]["shown"] == SHOWN)) if events and kept["events"].dtype == EVENT else 0
    wanted: dict[str, tuple[np.dtype[Any], tuple[int | None, ...]]] = {
        "steps": (STEP, (rows,)),
        "states": (_FLOAT, (rows, n)),
        "events": (EVENT, (events,)),
        "word_end": (_FLOAT, (m,)),
        "breaks": (_FLOAT, (None,)),
        "p": (_FLOAT, (q,)),
        "defaults": (_FLOAT, (q,)),
        "rtol": (_FLOAT, ()),
        "atol": (_FLOAT, (n,)),
        "event_x": (_FLOAT, (shown, n)),
        "event_x_after": (_FLOAT, (shown, n)),
    }
    if "leg_rows" in kept:
        wanted |= {"leg_rows": (_INT, (None,)), "leg_values": (_FLOAT, (kept["leg_rows"].size, q))}
    if "t_eval" in kept:
        times = kept["t_eval"].size
        wanted |= {"t_eval": (_FLOAT, (times,)), "x_eval": (_FLOAT, (times, n)), "done": (_INT, ())}
    for name in {**wanted, **kept}:
        _need(name in kept, f"its array {name!r} is missing")
        _need(name in wanted, f"its array {name!r} does not belong there")
        kind, shape = wanted[name]
        array = kept[name]
        _need(array.dtype == kind, f"its array {name!r} has the type {array.dtype}, not {kind}")
        fits = array.ndim == len(shape) and all(a == b or b is None for a, b in zip(array.shape, shape, strict=True))
        _need(fits, f"its array {name!r} has the shape {array.shape}")
    _need(not about["params"] or len(about["params"]) == q, f"it has {q} parameters, and other names")
    if "t_eval" in kept:
        _need(_increases(kept["t_eval"]), "t_eval does not increase")
        _need(bool(0 <= kept["done"] <= times), f"done is {kept['done']}, of {times} times")
    rtol, atol = float(kept["rtol"]), kept["atol"]
    positive = 0.0 < rtol < np.inf and (atol >= 0.0).all() and np.isfinite(atol).all()
    _need(bool(positive), "its tolerances are not positive")


def record(record: Record, has_jumps: bool) -> None:
    """The steps, events and parameters of a record: the right kinds, in order, of rows and guards that there are."""
    steps, events, rows = record.steps, record.events, len(record)
    _need(_is_one_of(record.word_end, _SIGNS), "word_end has other values than -1, 0 and 1")
    _need(_increases(record.breaks), "its breakpoints do not increase")
    _need(bool(np.isfinite(record.p).all()), "its parameters are not finite")
    _steps(steps, has_jumps)
    _need(rows > 0 or not len(events), "it has events without a trajectory")
    if len(events):
        _events(events, steps, record.word_end.size)
    if record.legs is not None:
        begins = np.array([row for row, _ in record.legs])
        _need(
            len(begins) > 0 and begins[0] == 0 and begins[-1] < max(rows, 1),
            "its parameters change at rows that are not there",
        )
        _need(bool((np.diff(begins) >= 0).all()), "its changes of parameters are not in order")
        _need(all(np.isfinite(p).all() for _, p in record.legs), "its parameters are not finite")


def _steps(steps: NDArray[Any], has_jumps: bool) -> None:
    t, kind = steps["t"], steps["kind"][1:]
    jumps, lasts = kind == JUMP, np.diff(t)
    _need(bool(np.isfinite(t).all()), "its times are not finite")
    _need(_is_one_of(kind, _KINDS), "a step has no known kind")
    _need(has_jumps or not jumps.any(), "its state jumps, but none of its guards has a jump")
    _need(bool((lasts[jumps] == 0.0).all() and (lasts[~jumps] > 0.0).all()), "its times do not increase")
    for name in ("length", "back", "correction"):
        _need(bool(np.isfinite(steps[name]).all()), f"the {name} of a step is not finite")
    _need(bool((steps["length"][1:][~jumps] > 0.0).all()), "a step has no length")


def _events(events: NDArray[Any], steps: NDArray[Any], m: int) -> None:
    t, row = events["t"], events["record"]
    _need(bool(((row >= 0) & (row < len(steps))).all()), "an event belongs to a step that is not there")
    _need(bool((np.diff(row) >= 0).all()), "its events are not in the order of the steps")
    _need(bool(((events["guard"] >= 0) & (events["guard"] < m)).all()), "an event is that of a guard that is not there")
    known = {
        "sign": _SIGNS,
        "shown": (SWITCH, SHOWN, MARGIN),
        "jumped": (0, 1, WITH_CROSSING),
        "returns": (NOT_JUDGED, 0, 1),
    }
    for name, values in known.items():
        _need(_is_one_of(events[name], values), f"the {name} of an event has an unknown value")
    jumped, shown = events["jumped"], events["shown"]
    follows = (np.diff(row, prepend=-1) == 0) & (np.diff(t, prepend=np.nan) == 0.0)
    _need(not jumped[shown == MARGIN].any(), "a near-grazing changes the word")
    begins_to_stay = (shown == SWITCH) & (events["sign"] == 0.0) & (jumped == 0)
    belongs = (jumped == WITH_CROSSING) | begins_to_stay  # to the crossing at the same instant
    _need(bool(follows[belongs].all()), "an event belongs to one that is not there")
    finite = np.isfinite(events["residual"]).all() and not np.isnan(events["effect"]).any()
    _need(bool(finite), "an event has numbers that are not finite")
    times = steps["t"]
    # (a near-grazing may be noted a little outside its step, and an event at the start just after it)
    first = np.where(shown == MARGIN, times[0], times[np.maximum(row - 1, 0)])
    last = np.where(shown == MARGIN, times[-1], np.maximum(times[row], np.nextafter(times[0], np.inf)))
    _need(bool(((t >= first) & (t <= last)).all()), "an event is outside its step")


def _need(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


def _is_one_of(values: NDArray[Any], known: tuple[float, ...]) -> bool:
    return bool(np.isin(values, known).all())


def _increases(times: NDArray[Any]) -> bool:
    return bool(np.isfinite(times).all() and (np.diff(times) >= 0.0).all())


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value)) and len(set(value)) == len(value)


def _are_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_text, value.values()))


_ABOUT: dict[str, Any] = {
    "name": lambda value: value is None or _is_text(value),
    "states": lambda value: _are_names(value) and len(value) > 0,
    "guards": _are_names,
    "params": _are_names,
    "jumps": lambda value: isinstance(value, list) and all(map(_is_int, value)),
    "status": lambda value: value in _STATUSES,
    "message": _is_text,
    "error": lambda value: value is None or (isinstance(value, list) and len(value) == 2 and all(map(_is_text, value))),
    "ended_by": lambda value: value is None or _is_int(value),
    "counts": lambda value: (
        isinstance(value, dict)
        and set(value) == {field.name for field in fields(Counts)}
        and all(_is_int(count) and count >= 0 for count in value.values())
    ),
    "source": _are_texts,
    "functions": lambda value: isinstance(value, dict) and all(one is None or _is_text(one) for one in value.values()),
    "python": _is_text,
}
