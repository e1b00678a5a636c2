"""Bouligand: differential equations that switch on many surfaces at once.

>>> import bouligand as bd
>>> sol = bd.solve(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0], rtol=1e-8)
>>> len(sol.events)
4
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from . import (
    _main_interpreter,  # noqa: F401  (first: an error where NumPy's own would be no help)
    _undivided,
)

with _undivided.undivided():  # (NumPy cannot be imported again after half an import)
    from . import errors
    from .errors import *  # noqa: F403  (errors.__all__: a new one is named there alone)
    from .integration.solve import solve
    from .integration.stepper import Stepper
    from .solution.events import Events
    from .solution.solution import Solution
    from .system.system import System

if TYPE_CHECKING:
    from . import blocks, bridges, models, planning, plot
    from .cycles.branch import Bifurcation, Branch
    from .cycles.continuation import continue_cycle
    from .cycles.cycle import Cycle
    from .cycles.find import find_cycle
    from .derivative.at_times import BDerivativeAtTimes
    from .derivative.bderivative import BDerivative
    from .derivative.corner import Corner
    from .derivative.fit import Fit
    from .derivative.rollout import Rollout, rollout
    from .derivative.saltation_matrix import saltation
    from .derivative.shooting import Shooting
    from .ensembles.ensemble import Ensemble
    from .ensembles.events import EnsembleEvents
    from .ensembles.inputs import Grid, grid
    from .ensembles.solve_many import solve_many
    from .estimation.filter import Filter
    from .estimation.fit import FitResult, fit
    from .estimation.particles import particle_filter
    from .estimation.track import Track
    from .paper import integrate
    from .solution.files import load
    from .system.check import check, normalised
    from .system.schedule import Schedule

__version__ = "0.1.0"

__all__ = [
    "BDerivative",
    "BDerivativeAtTimes",
    "Bifurcation",
    "Branch",
    "Corner",
    "Cycle",
    "Ensemble",
    "EnsembleEvents",
    "Events",
    "Filter",
    "Fit",
    "FitResult",
    "Grid",
    "Rollout",
    "Schedule",
    "Shooting",
    "Solution",
    "Stepper",
    "System",
    "Track",
    "blocks",
    "bridges",
    "check",
    "continue_cycle",
    "find_cycle",
    "fit",
    "grid",
    "integrate",
    "load",
    "models",
    "normalised",
    "particle_filter",
    "planning",
    "plot",
    "rollout",
    "saltation",
    "solve",
    "solve_many",
]
__all__ += errors.__all__

# imported when first used, which halves the time of ``import bouligand``: folders, and the modules of names
_FOLDERS = ("blocks", "bridges", "models", "planning", "plot")
_MODULES = {
    "BDerivative": "derivative.bderivative",
    "BDerivativeAtTimes": "derivative.at_times",
    "Bifurcation": "cycles.branch",
    "Branch": "cycles.branch",
    "Corner": "derivative.corner",
    "Cycle": "cycles.cycle",
    "Ensemble": "ensembles.ensemble",
    "EnsembleEvents": "ensembles.events",
    "Filter": "estimation.filter",
    "Fit": "derivative.fit",
    "FitResult": "estimation.fit",
    "Grid": "ensembles.inputs",
    "Rollout": "derivative.rollout",
    "Schedule": "system.schedule",
    "Shooting": "derivative.shooting",
    "Track": "estimation.track",
    "check": "system.check",
    "continue_cycle": "cycles.continuation",
    "find_cycle": "cycles.find",
    "fit": "estimation.fit",
    "grid": "ensembles.inputs",
    "integrate": "paper",
    "load": "solution.files",
    "normalised": "system.check",
    "particle_filter": "estimation.particles",
    "rollout": "derivative.rollout",
    "saltation": "derivative.saltation_matrix",
    "solve_many": "ensembles.solve_many",
}

if not TYPE_CHECKING:  # (a type checker would take any misspelt name for one of these)

    def __getattr__(name):
        if name not in _FOLDERS and name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        with _undivided.undivided():
            if name in _FOLDERS:
                return _import_module(f".{name}", __name__)
            value = globals()[name] = getattr(_import_module(f".{_MODULES[name]}", __name__), name)
            return value


def __dir__() -> list[str]:
    return [*sorted(__all__), "__version__"]
