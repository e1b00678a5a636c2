"""Periodic motions: gaits and limit cycles of systems with events, their stability, and how they change with a parameter.

`find_cycle` closes a trajectory by Newton's method with B-derivatives (`problem`, `newton`), over one or more segments (`mesh`);
the result is a `Cycle` with its Floquet multipliers (`stability`). `continue_cycle` follows it along a parameter.
"""

from .branch import Bifurcation, Branch
from .continuation import continue_cycle
from .cycle import Cycle
from .find import find_cycle

__all__ = ["Bifurcation", "Branch", "Cycle", "continue_cycle", "find_cycle"]
