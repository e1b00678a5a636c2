"""An ensemble as an ``xarray.Dataset``: arrays with named dimensions."""

from __future__ import annotations

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
    "b": ("guard_name",),
    "counts": ("count",),
    "states": ("time", "state"),
    "B": ("state", "input"),
    "gradient": ("input",),
    "x0": ("state",),
    "p": ("parameter",),
}


def coordinates(problem: Problem) -> dict[str, Any]:
    """The names and times along the dimensions of the rows."""
    system = problem.system
    out: dict[str, Any] = {"state": list(system.states), "guard_name": list(system.guards), "count": list(COUNTS)}
    if system.params:
        out["parameter"] = list(system.params)
    if problem.t_eval.size:
        out["time"] = problem.t_eval
    if problem.derivative:
        out["input"] = list(problem.wrt_names)
    return out


def meanings() -> dict[str, Any]:
    """The attributes of ``outcome`` that say what its numbers mean (as the CF conventions have it)."""
    return {"flag_values": list(range(len(outcomes.NAMES))), "flag_meanings": " ".join(outcomes.NAMES)}


def dataset(xarray: Any, ensemble: Ensemble) -> Any:
    """The arrays of an ensemble with their dimensions."""
    source, dims = ensemble._source, ensemble.dims
    known = coordinates(ensemble._problem)
    variables: dict[str, Any] = {}
    for name in source.names:
        if name.startswith("event_") or name in ("x0", "p"):
            continue
        more = DIMENSIONS.get(name, ())
        # (the times of the ends have another name where "t" is an axis)
        label = {"t": "t_end", "b": "word", "guard": "guard_index"}.get(name, name)
        variables[label] = (
            (*dims, *more),
            ensemble.on_grid(source.array(name)),
            meanings() if name == "outcome" else {},
        )
    variables["success"] = dims, ensemble.on_grid(ensemble.success)
    if "event_count" in source.names:
        events = ensemble.events
        variables["event_count"] = dims, ensemble.on_grid(np.diff(events.offsets))
        variables["event_t"] = "event", events.t
        variables["event_guard"] = "event", events.guard
        variables["event_direction"] = "event", events.direction
        variables["event_trajectory"] = "event", np.repeat(np.arange(len(ensemble)), np.diff(events.offsets))
    used = {dimension for value in variables.values() for dimension in (value[0] if isinstance(value[0], tuple) else ())}
    axes = {name: values for name, values in known.items() if name in used and name not in dims}
    return xarray.Dataset(
        variables, coords={**axes, **ensemble.coords}, attrs={"system": ensemble.system.name or "", "t_span": ensemble._problem.t_span}
    )
