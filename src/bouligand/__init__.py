"""Bouligand: differential equations that switch on many surfaces at once.

>>> import bouligand as bd
>>> sol = bd.solve(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0], rtol=1e-8)
>>> len(sol.events)
4
"""

from . import bridges, models, plot
from .check import check, normalised
from .corner import Corner, saltation
from .derivative import BDerivative
from .errors import (
    BouligandError,
    ChatteringError,
    DerivativeError,
    FunctionError,
    GrazingError,
    NotEventSelectedError,
    NotFiniteError,
    PerformanceWarning,
    SlidingError,
    SolveError,
    StartError,
    StepSizeError,
    StiffnessError,
    TooManyPiecesError,
    TooManyStepsError,
)
from .events import Events
from .paper import integrate
from .shooting import Shooting
from .solution import Solution
from .solve import solve
from .stepper import Stepper
from .system import System

__version__ = "0.1.0"

__all__ = [
    "BDerivative",
    "BouligandError",
    "ChatteringError",
    "Corner",
    "DerivativeError",
    "Events",
    "FunctionError",
    "GrazingError",
    "NotEventSelectedError",
    "NotFiniteError",
    "PerformanceWarning",
    "Shooting",
    "SlidingError",
    "Solution",
    "SolveError",
    "StartError",
    "StepSizeError",
    "Stepper",
    "StiffnessError",
    "System",
    "TooManyPiecesError",
    "TooManyStepsError",
    "bridges",
    "check",
    "integrate",
    "models",
    "normalised",
    "plot",
    "saltation",
    "solve",
]
