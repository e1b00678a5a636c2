"""Which derivative is asked for: from which time on, and of the state at which time or event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import DerivativeError
from ..system.arguments import index, number
from .sliding_exit import exits_among

if TYPE_CHECKING:
    from ..solution.solution import Solution


@dataclass(slots=True)
class Outcome:
    """The start ``since`` and the time ``t`` of the outcome. ``event``: at which it is taken, if not at a fixed time, as a number
    among the solution's events; ``row``: the same, as a row of the record's table."""

    since: float
    t: float
    event: int | None
    row: int | None


def outcome_of(solution: Solution, t: float | None, since: float | None, event: int | None) -> Outcome:
    """The outcome that these arguments of `Solution.bderivative` ask for, checked."""
    if not solution.success and t is None and event is None:
        raise DerivativeError(
            f"the solution did not reach its end ({solution.message}); there is no outcome to take the derivative of. "
            "Give t, a time that it did reach."
        )
    record, row = solution.record, None
    if not len(record):
        raise DerivativeError("the integration did not start: there is no trajectory whose derivative could be taken")
    first, last = float(record.t[0]), float(record.t[-1])
    begin = first if since is None else _time("since", since, first, last)
    if event is None and t is None and solution.status == "terminated":
        event = _terminal_event(solution)
    if event is None:
        end = last if t is None else _time("t", t, first, last)
    else:
        shown = np.flatnonzero(record.shown)
        if t is not None:
            raise ValueError("give t or event, not both: the state is taken at a fixed time, or at an event")
        event = index("event", event)
        if not -len(shown) <= event < len(shown):
            raise ValueError(f"event must be one of the solution's {len(shown)} events; got {event!r}")
        event %= len(shown)
        row = int(shown[event])
        end = float(record.events["t"][row])
        if solution.system._stays and record.events["jumped"][row] and row not in exits_among(solution, record.events):
            raise DerivativeError(
                f"event {event} is the end of a sliding mode at the start, at a breakpoint or because another guard is crossed: "
                "the derivative of the state at such an event is not implemented. Give a fixed time t, or the event of that guard"
            )
    stands = event is None and first == last and not len(record.events)  # (over no time: the identity)
    if not end > begin and not stands:
        raise ValueError(f"t must be after since; got t = {end:g}, since = {begin:g}")
    return Outcome(begin, end, event, row)


def check_options(
    solution: Solution, params: bool, merge: float | None, rtol: float | None, since: float, until: float
) -> None:
    """Raise an exception if other arguments of `Solution.bderivative` are wrong, from ``since`` to ``until``."""
    if params and solution.record.legs is not None:
        changed = [solution.record.t[row] for row, _ in solution.record.legs[1:]]
        inside = [t for t in changed if since < t < until]
        if inside:
            raise DerivativeError(
                f"the parameters were changed on the way, at t = {inside[0]:g}: there is no derivative in them (params=True); "
                "give since and t so that none lies between"
            )
    if merge is not None and not number("merge", merge) >= 0.0:
        raise ValueError(f"merge must be a time, zero or more; got {merge!r}")
    if rtol is not None and not 0.0 < number("rtol", rtol) < 1.0:
        raise ValueError(f"rtol must be between 0 and 1, such as 1e-6; got {rtol!r}")


def _terminal_event(solution: Solution) -> int:
    """Number of the terminal event: the last one of the guard that ended the integration."""
    guards = solution.events.guard
    return int(np.flatnonzero(guards == solution.ended_by)[-1])


def _time(name: str, value: float, first: float, last: float) -> float:
    """The argument ``name``, checked to lie within the trajectory."""
    value = number(name, value)
    if not first <= value <= last:
        raise ValueError(f"{name} must lie within the trajectory, [{first:g}, {last:g}]; got {value:g}")
    return value
