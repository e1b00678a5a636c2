"""Ensembles: many trajectories of one system, on threads and executors, in memory or in a store.

`solve_many` is what a user calls; `inputs` broadcasts starts and parameters, `layout` cuts them into blocks. `worker` integrates
a few trajectories in the compiled loop of `core.steps.block`, `threads` those of a block, `executors` many blocks; `runs` puts
them together, in memory or in a `store`. `ensemble` is the result.
"""

from .ensemble import Ensemble
from .events import EnsembleEvents
from .inputs import Grid, grid
from .solve_many import solve_many

__all__ = ["Ensemble", "EnsembleEvents", "Grid", "grid", "solve_many"]
