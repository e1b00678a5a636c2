"""An ensemble as an ``xarray.Dataset``, arrays with named dimensions; and as a table of pandas."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import outcomes
from .problem import COUNTS

if TYPE_CHECKING:
    from .ensemble import Ensemble
    from .problem import Problem

# dimensions of the rows of an array, after those of the trajectories
DIMENSIONS = {
    "x": ("state",),
    "b": ("guard",),
    "counts": ("count",),
    "states": ("time", "state"),
    "B": ("state", "input"),
    "gradient": ("input",),
    "x0": ("state",),
    "p": ("parameter",),
}

# what arrays are called where they have names beside those of states and parameters
LABELS = {"x": "x_end", "t": "t_end", "b": "word_end", "guard": "guard_number"}


def label(name: str, axes: tuple[str, ...]) -> str:
    """What an array is called in a dataset whose axes have these names already."""
    return beside(LABELS.get(name, name), axes)


def beside(dimension: str, axes: tuple[str, ...]) -> str:
    """What a dimension is called beside these axes."""
    return dimension + "_" if dimension in axes else dimension


def dimensions(name: str, axes: tuple[str, ...]) -> tuple[str, ...]:
    """The dimensions of an array that has a row for each trajectory."""
    return (*axes, *(beside(dimension, axes) for dimension in DIMENSIONS.get(name, ())))


def coordinates(problem: Problem, arrays: Iterable[str]) -> dict[str, Any]:
    """The names and times along the dimensions of the rows of these arrays."""
    system = problem.system
    known = {
        "state": system.states,
        "guard": system.guards,
        "count": COUNTS,
        "parameter": system.params,
        "time": problem.t_eval,
        "input": problem.wrt_names if problem.derivative else (),
    }
    used = dict.fromkeys(dimension for name in arrays for dimension in DIMENSIONS.get(name, ()))
    return {name: np.asarray(known[name]) for name in used if len(known[name])}


def meanings() -> dict[str, Any]:
    """The attributes of ``outcome`` that say what its numbers mean (as the CF conventions have it)."""
    return {"flag_values": list(range(len(outcomes.NAMES))), "flag_meanings": " ".join(outcomes.NAMES)}


def dataset(xarray: Any, ensemble: Ensemble) -> Any:
    """The arrays of an ensemble with their dimensions."""
    source, axes = ensemble._source, ensemble.dims
    names = [name for name in source.names if not name.startswith("event_") and name not in ("x0", "p")]
    variables: dict[str, Any] = {
        label(name, axes): (
            dimensions(name, axes),
            ensemble.on_grid(source.array(name)),
            meanings() if name == "outcome" else {},
        )
        for name in names
    }
    variables[label("success", axes)] = axes, ensemble.on_grid(ensemble.success)
    if "event_count" in source.names:
        events = ensemble.events
        variables["event_count"] = axes, ensemble.on_grid(np.diff(events.offsets))
        variables["event_t"] = "event", events.t
        variables["event_guard"] = "event", events.guard
        variables["event_direction"] = "event", events.direction
        variables["event_trajectory"] = "event", np.repeat(np.arange(len(ensemble)), np.diff(events.offsets))
    coords = {beside(name, axes): values for name, values in coordinates(ensemble._problem, names).items()}
    about = {"system": ensemble.system.name or "", "t_span": ensemble._problem.t_span}
    return xarray.Dataset(variables, coords={**coords, **ensemble.coords}, attrs=about)


def table(pandas: Any, ensemble: Ensemble) -> Any:
    """A data frame with a row for each trajectory: what differs between them, and how each ended."""
    system, kept = ensemble.system, ensemble._source.names
    columns: dict[str, Any] = {}
    for names, rows in ((system.params, ensemble.p), (system.states, ensemble.x0)):
        for name, values in zip(names, rows.T, strict=True):
            if name in ensemble.coords or (values != values[0]).any():
                columns[beside(name, tuple(columns))] = values
    columns |= {"status": ensemble.status, "t_end": ensemble.t}
    if "event_count" in kept:
        columns["events"] = np.diff(ensemble.events.offsets)
    if "x" in kept:
        columns |= {f"{name}_end": values for name, values in zip(system.states, ensemble.x.T, strict=True)}
    return pandas.DataFrame(columns)
