"""The result of an integration: the trajectory, its events, and states between the steps."""

from .events import Events
from .solution import Solution

__all__ = ["Events", "Solution"]
