"""Figures and animations. Functions that draw take an ``ax`` (or make one) and return it; matplotlib is imported when needed.

`trajectory` (states over time), `contacts` (gait diagram), `perturbations` and `fan` (the derivative), `animate` (an animation
of a mechanism, by a function that draws one instant: `mechanisms` has those of the ready models).
"""

from . import mechanisms
from .animation import animate
from .curves import fan, perturbations, trajectory
from .gait import contacts, select, stretches

__all__ = ["animate", "contacts", "fan", "mechanisms", "perturbations", "select", "stretches", "trajectory"]
