"""Where a cycle is cut into segments: times that are far from events, so that the state there has a plain derivative."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .. import _typing as ty
    from ..solution.solution import Solution


def event_times(solution: Solution) -> ty.FloatArray:
    """The times of all events of a solution but those of observers, each once."""
    events = solution.events
    return np.unique(events.t[~solution.system.observers[events.guard]])


def clear_time(solution: Solution, first: float, last: float) -> float:
    """The middle of the longest stretch without events between two times, outside of sliding modes if there is one."""
    events = event_times(solution)
    marks = np.concatenate([[first], events[(events > first) & (events < last)], [last]])
    middles, lengths = 0.5 * (marks[1:] + marks[:-1]), np.diff(marks)
    sliding = (solution.word(middles) == 0).any(axis=1)
    if not sliding.all():
        lengths[sliding] = 0.0
    return float(middles[lengths.argmax()])


def fractions(events: ty.FloatArray, start: float, period: float, segments: int) -> ty.FloatArray:
    """The times of the nodes, as fractions of a period behind ``start``: 0, ..., 1. Each is moved away from the nearest
    events, to
    between a fifth and four fifths of the stretch that it is in."""
    marks = np.concatenate([[start], events[(events > start) & (events < start + period)], [start + period]])
    out = np.linspace(0.0, 1.0, segments + 1)
    for q in range(1, segments):
        moment = start + out[q] * period
        k = int(np.clip(np.searchsorted(marks, moment) - 1, 0, len(marks) - 2))
        gap = marks[k + 1] - marks[k]
        out[q] = (np.clip(moment, marks[k] + 0.2 * gap, marks[k + 1] - 0.2 * gap) - start) / period
    return np.unique(out)


def near_an_event(solution: Solution, moments: ty.FloatArray, period: float) -> bool:
    """Whether one of these times is nearer to an event than a hundredth of a period, so that another mesh is better."""
    events = event_times(solution)
    if not events.size:
        return False
    distance = np.abs(events[:, None] - np.asarray(moments)[None, :]) / period
    distance = np.abs(distance - np.round(distance))
    spacing = np.diff(np.sort(np.mod(events, period))).tolist() + [period]
    return bool(distance.min() < min(0.01, 0.1 * max(spacing) / period))
