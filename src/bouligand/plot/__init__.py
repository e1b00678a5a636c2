"""Figures and animations. Functions that draw take an ``ax`` (or make one) and return it; matplotlib is imported when needed.

``plt.style.use(bd.plot.STYLE)`` gives your figures the look of those in the docs.

`trajectory` (states over time), `contacts` (gait diagram), `cycle` and `branch` (periodic motions), `residuals` and `track`
(fits and filters), `perturbations` and `fan` (the derivative), `map` and `fan`
(ensembles), `animate` (an animation of a mechanism, by a function that draws one instant: `mechanisms` has those of the ready
models).

>>> import bouligand as bd
>>> from matplotlib.figure import Figure
>>> sol = bd.solve(bd.models.hopper(), (0.0, 2.0), [2.0, 0.0])
>>> ax = bd.plot.trajectory(sol, ["z"], ax=Figure().subplots())
>>> len(ax.lines) > 0
True
"""

from . import mechanisms
from .animation import animate
from .curves import fan, perturbations, trajectory
from .cycles import branch, cycle
from .estimates import residuals, track
from .gait import contacts, stretches
from .maps import map  # noqa: A004  (plot.map)
from .style import style as _style

STYLE = _style()

__all__ = [
    "STYLE",
    "animate",
    "branch",
    "contacts",
    "cycle",
    "fan",
    "map",
    "mechanisms",
    "perturbations",
    "residuals",
    "stretches",
    "track",
    "trajectory",
]


def __dir__() -> list[str]:
    return sorted(__all__)
