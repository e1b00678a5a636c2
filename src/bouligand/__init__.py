"""Bouligand: differential equations that switch on many surfaces at once.

>>> import bouligand as bd
>>> sol = bd.solve(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0], rtol=1e-8)
>>> len(sol.events)
4
"""

from . import bridges, errors, models, plot
from .derivative.at_times import BDerivativeAtTimes
from .derivative.bderivative import BDerivative
from .derivative.corner import Corner
from .derivative.fit import Fit
from .derivative.saltation_matrix import saltation
from .derivative.shooting import Shooting
from .ensembles.ensemble import Ensemble, EnsembleEvents
from .ensembles.inputs import Grid, grid
from .ensembles.solve_many import solve_many
from .errors import *  # noqa: F403  (errors.__all__: a new one is named there alone)
from .integration.solve import solve
from .integration.stepper import Stepper
from .paper import integrate
from .solution.events import Events
from .solution.solution import Solution
from .system.check import check, normalised
from .system.system import System

__version__ = "0.1.0"

__all__ = [
    "BDerivative",
    "BDerivativeAtTimes",
    "Corner",
    "Ensemble",
    "EnsembleEvents",
    "Events",
    "Fit",
    "Grid",
    "Shooting",
    "Solution",
    "Stepper",
    "System",
    "bridges",
    "check",
    "grid",
    "integrate",
    "models",
    "normalised",
    "plot",
    "saltation",
    "solve",
    "solve_many",
]
__all__ += errors.__all__
