"""What the models' drawings share: colours, a spring, a parallel projection, the frame around the picture.

A drawing is a function ``draw(ax, t, x, b, p)`` that draws one instant on matplotlib's axes, see `bouligand.plot.animate`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._optional import need
from ..system.arguments import finite_numbers, instance
from .admissible import ANY, COUNT, FLAG, Reals, takes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from .._typing import FloatArray

BODY, EDGE, FLOOR = "#b9c7e0", "#33508c", "#8c8c8c"
FREE, TOUCHING = "#5c6b7a", "#c1272d"  # of legs, springs and fingers


def contact_colour(sign: float) -> str:
    """Red while it touches (the sign of its guard is positive)."""
    return TOUCHING if sign > 0 else FREE


POINT = Reals(size=2)


@takes({"start": POINT, "stop": POINT, "coils": COUNT, "width": ANY})
def spring(start: ArrayLike, stop: ArrayLike, coils: int = 7, width: float = 0.05) -> tuple[FloatArray, FloatArray]:
    """Points (x, y) of a coil spring between two points of the plane."""
    start, stop = np.asarray(start, dtype=float), np.asarray(stop, dtype=float)
    along = np.concatenate([[0.0], np.linspace(0.12, 0.88, 4 * coils + 1), [1.0]])
    across = np.concatenate([[0.0], width * np.sin(0.5 * np.pi * np.arange(4 * coils + 1)), [0.0]])
    way = stop - start
    side = np.array([-way[1], way[0]]) / (np.hypot(*way) or 1.0)
    return start[0] + along * way[0] + across * side[0], start[1] + along * way[1] + across * side[1]


@takes({"azimuth": ANY, "elevation": ANY})
def project(points: FloatArray, azimuth: float, elevation: float) -> FloatArray:
    """Points of space, shape (count, 3), in a parallel projection along this direction (radians): shape (count, 2)."""
    points = finite_numbers("points", points)
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError(f"points must have three columns; got shape {points.shape}")
    across = -np.sin(azimuth) * points[:, 0] + np.cos(azimuth) * points[:, 1]
    near = np.cos(azimuth) * points[:, 0] + np.sin(azimuth) * points[:, 1]
    return np.column_stack([across, np.cos(elevation) * points[:, 2] - np.sin(elevation) * near])


@takes({"t": ANY, "across": POINT, "up": POINT, "floor": FLAG})
def frame(ax: Axes, t: float, across: tuple[float, float], up: tuple[float, float], floor: bool = True) -> None:
    """Limits of the picture in metres, the same scale both ways, no axes, the time on top, and a line for the floor."""
    instance("ax", ax, need("matplotlib.axes", "plot").Axes, "plt.subplots()")
    if floor:
        ax.axhline(0.0, color=FLOOR, lw=1.2, zorder=0)
    ax.set_xlim(*across)
    ax.set_ylim(*up)
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.text(0.5, 1.0, f"t = {t:.3f}", transform=ax.transAxes, family="monospace", ha="center", va="bottom")
