"""A slender block that rocks on a rigid floor, first on one edge of its base, then on the other (Housner, 1963).

      ____
     /   /        theta > 0: it stands on one edge, theta < 0: on the other
    /   /         theta'' = rate^2 (theta - alpha sign(theta)),   rate^2 = 3 g / (4 R)      (slender: sin alpha = alpha)
   /   /          guard: h = theta
  /___/           jump:  omega -> restitution omega: angular momentum about the new edge is kept
  o_________

alpha is the angle between a side and the diagonal, R half of the diagonal: at theta = alpha the block tips over. From rest at
theta0 < alpha it comes down after acosh(1 / (1 - theta0 / alpha)) / rate. Each impact takes energy, and the amplitude behind it
is known, see `amplitudes`: the swings become faster as they become smaller.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..system.system import System
from .admissible import ACUTE, COUNT, FRACTION, POSITIVE, takes
from .drawing import BODY, EDGE, TOUCHING, frame
from .model import Model

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .._typing import FloatArray, SignArray

START = np.array([0.15, 0.0])


def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    dx[0] = x[1]
    dx[1] = p[0] ** 2 * (x[0] - p[1] * b[0])


def guard(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    out[0] = x[0]


def impact(t: float, x: FloatArray, b: FloatArray, p: FloatArray, xnew: FloatArray) -> None:
    xnew[1] = p[2] * x[1]


LIMITS = {"rate": POSITIVE, "alpha": ACUTE, "restitution": FRACTION}


@takes(LIMITS)
def rocking_block(rate: float = 2.0, alpha: float = 0.2, restitution: float | None = None) -> System:
    """A slender block that rocks on a rigid floor, first on one edge of its base, then on the other.

    The usual start, START in this file, is at rest, tilted by three quarters of the angle at which it would tip over.

    Parameters
    ----------
    rate : float
        sqrt(3 g / (4 R)), R half of the diagonal: 2 / s is a block of nearly 4 m.
    alpha : float
        Angle between a side and the diagonal.
    restitution : float, optional
        omega behind an impact over that before it. Default: Housner's, by the angular momentum, 1 - 1.5 sin(alpha)^2.

    Returns
    -------
    System
        States theta and omega, guard "impact" with a jump of omega.

    Examples
    --------
    >>> import bouligand as bd
    >>> sol = bd.solve(bd.models.rocking_block(), (0.0, 3.0), [0.15, 0.0])
    >>> sol.events.direction
    array([-1,  1], dtype=int8)
    """
    if restitution is None:
        restitution = 1.0 - 1.5 * math.sin(alpha) ** 2
    return System(
        field,
        guard,
        states=("theta", "omega"),
        guards=("impact",),
        params={"rate": rate, "alpha": alpha, "restitution": restitution},
        jumps={"impact": impact},
        name="rocking block",
    )


@takes(LIMITS, count=COUNT, theta0=POSITIVE)
def amplitudes(count: int, theta0: float, alpha: float, restitution: float) -> FloatArray:
    """The greatest |theta| of the first swings, from rest at theta0: (1 - theta / alpha)^2 is known from impact to impact."""
    squares = [(1.0 - theta0 / alpha) ** 2]
    for _ in range(count - 1):
        squares.append(1.0 - restitution**2 * (1.0 - squares[-1]))
    return alpha * (1.0 - np.sqrt(squares))


@takes(LIMITS, count=COUNT, theta0=POSITIVE)
def impacts(count: int, theta0: float, rate: float, alpha: float, restitution: float) -> FloatArray:
    """Times of the first impacts, from rest at theta0."""
    quarters = np.arccosh(1.0 / (1.0 - amplitudes(count, theta0, alpha, restitution) / alpha)) / rate
    return np.cumsum(quarters) + np.concatenate([[0.0], np.cumsum(quarters[1:])])


def draw(ax: Axes, t: float, x: FloatArray, b: SignArray, p: FloatArray) -> None:
    """The block, and the edge on which it stands in red."""
    theta, alpha = x[0], p[1]
    wide, high = 2.0 * math.sin(alpha), 2.0 * math.cos(alpha)
    side = 1.0 if theta >= 0.0 else -1.0  # theta > 0: it leans to the right, on its right edge
    corners = np.array([[0.0, 0.0], [-side * wide, 0.0], [-side * wide, high], [0.0, high]])
    c, s = math.cos(theta), math.sin(theta)
    corners = corners @ np.array([[c, -s], [s, c]]) + [0.5 * side * wide, 0.0]
    ax.fill(corners[:, 0], corners[:, 1], facecolor=BODY, edgecolor=EDGE, lw=1.5)
    ax.plot([0.5 * side * wide], [0.0], "o", ms=7, color=TOUCHING)
    frame(ax, t, (-1.2, 1.2), (-0.2, 2.3))


MODEL = Model(
    about="a block that rocks on its edges",
    make=rocking_block,
    start=START,
    tf=6.0,
    draw=draw,
    units={"t": "s", "theta": "rad", "omega": "rad/s"},
)
