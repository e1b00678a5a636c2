"""Figures and films. Functions take the axes to draw on (or make new ones) and return them; matplotlib is imported when needed.

`trajectory` draws states over time, `contacts` a gait diagram, `perturbations` and `fan` the derivative, `animate` saves a
film of a planar mechanism, with a drawing of `mechanisms` or one of your own. `select` and `stretches` are the data behind a
gait diagram.
"""

from . import mechanisms
from .animation import animate
from .curves import fan, perturbations, trajectory
from .gait import contacts, select, stretches

__all__ = ["animate", "contacts", "fan", "mechanisms", "perturbations", "select", "stretches", "trajectory"]
