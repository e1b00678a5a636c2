"""Pictures. Every function takes an ``ax`` (or makes one) and returns it; matplotlib is imported when needed.

`trajectory` (states over time), `contacts` (a gait diagram), `perturbations` and `fan` (the derivative), `animate` (a film of a
planar mechanism, with a drawing of `mechanisms`).
"""

from . import mechanisms
from .animation import animate
from .curves import fan, perturbations, trajectory
from .gait import contacts, select, stretches

__all__ = ["animate", "contacts", "fan", "mechanisms", "perturbations", "select", "stretches", "trajectory"]
