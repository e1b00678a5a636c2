"""Planning: controls for a system or a robot that minimise a cost, through any number of events.

>>> import bouligand as bd
>>> import numpy as np
>>> quad = bd.planning.Quadratic([1.5, 0.0], x=1.0)
>>> plan = bd.planning.Plan(bd.models.hopper(), np.linspace(0.0, 0.4, 9), end=quad, inputs="g")
>>> bool(plan.solve([2.0, 0.0]).cost < 1e-6)
True
"""

from .costs import Cost, Quadratic
from .functions import Residuals, Smooth
from .mpc import MPC, Statistics
from .plan import Plan, PlanResult
from .shooting import MultipleShooting
from .tracking import Tracking

__all__ = [
    "MPC",
    "Cost",
    "MultipleShooting",
    "Plan",
    "PlanResult",
    "Quadratic",
    "Residuals",
    "Smooth",
    "Statistics",
    "Tracking",
]


def __dir__() -> list[str]:
    return sorted(__all__)
