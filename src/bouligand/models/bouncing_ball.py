"""A ball that falls on a hard floor and bounces: at each impact its speed is reversed and multiplied by the restitution e.

         ( )                   z > 0:   z'' = -g
          |                    guard:   h = z
          v                    jump:    vz -> -e vz
    -------------
    /////////////

The motion is known in closed form. With e < 1 infinitely many bounces end at a finite time, see `rest_time`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..system.system import System
from .admissible import COUNT, FRACTION, NOT_NEGATIVE, NUMBERS, POSITIVE, takes
from .drawing import BODY, EDGE, frame
from .model import Model

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from .._typing import FloatArray, SignArray

START = np.array([1.0, 0.0])


def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    dx[0] = x[1]
    dx[1] = -p[0]


def guard(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    out[0] = x[0]


def bounce(t: float, x: FloatArray, b: FloatArray, p: FloatArray, xnew: FloatArray) -> None:
    xnew[1] = -p[1] * x[1]


LIMITS = {"g": NOT_NEGATIVE, "e": FRACTION}


@takes(LIMITS)
def bouncing_ball(g: float = 9.81, e: float = 0.8) -> System:
    """A ball that falls on a hard floor and bounces.

    The usual start, START in this file, is at rest one metre above the floor.

    Parameters
    ----------
    g : float
        Gravity.
    e : float
        Restitution: speed behind an impact over the speed before it.

    Returns
    -------
    System
        States z and vz, guard "floor" with a jump of vz.

    Examples
    --------
    >>> import bouligand as bd
    >>> sol = bd.solve(bd.models.bouncing_ball(e=0.5), (0.0, 1.0), [1.0, 0.0])
    >>> len(sol.events), bool(abs(sol.events.x_after[0, 1] + 0.5 * sol.events.x[0, 1]) < 1e-12)
    (2, True)
    """
    return System(
        field,
        guard,
        states=("z", "vz"),
        guards=("floor",),
        params={"g": g, "e": e},
        jumps={"floor": bounce},
        name="bouncing ball",
    )


@takes(LIMITS, count=COUNT, z0=POSITIVE, g=POSITIVE)
def bounces(count: int, z0: float = 1.0, g: float = 9.81, e: float = 0.8) -> FloatArray:
    """Times of the first impacts, from rest at the height z0."""
    fall = math.sqrt(2.0 * z0 / g)
    flights = 2.0 * fall * e ** np.arange(1, count)
    return fall + np.concatenate([[0.0], np.cumsum(flights)])


@takes(LIMITS, z0=POSITIVE, g=POSITIVE)
def rest_time(z0: float = 1.0, g: float = 9.81, e: float = 0.8) -> float:
    """The time at which the bounces end: infinity for e = 1."""
    return math.inf if e == 1.0 else math.sqrt(2.0 * z0 / g) * (1.0 + e) / (1.0 - e)


@takes(LIMITS, t=NUMBERS, z0=POSITIVE, g=POSITIVE)
def exact(t: ArrayLike, z0: float = 1.0, g: float = 9.81, e: float = 0.8) -> FloatArray:
    """(z, vz) at the times t, shape (len(t), 2), from rest at z0; behind the bounces it is at rest on the floor."""
    t = np.atleast_1d(np.asarray(t, dtype=float))
    fall = math.sqrt(2.0 * z0 / g)
    out = np.zeros((t.size, 2))
    for row, now in zip(out, t, strict=True):
        if now < fall:
            row[:] = z0 - 0.5 * g * now**2, -g * now
        elif e >= 1.0 or now < rest_time(z0, g, e):
            since, speed = now - fall, e * g * fall
            while since >= 2.0 * speed / g:
                since -= 2.0 * speed / g
                speed *= e
            row[:] = since * (speed - 0.5 * g * since), speed - g * since
    return out


def draw(ax: Axes, t: float, x: FloatArray, b: SignArray, p: FloatArray) -> None:
    """The ball above the floor."""
    ax.plot([0.0], [x[0] + 0.06], "o", ms=20, color=BODY, mec=EDGE, mew=1.5)
    frame(ax, t, (-0.8, 0.8), (-0.1, 1.2))


MODEL = Model(
    about="a ball that bounces on a hard floor",
    make=bouncing_ball,
    start=START,
    tf=3.0,
    draw=draw,
    speed=0.5,
    units={"t": "s", "z": "m", "vz": "m/s"},
)
