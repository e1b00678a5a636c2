"""Planning: controls for a system or a robot that minimise a cost, through any number of events."""

from .costs import Cost, Quadratic, Residuals, Smooth
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
