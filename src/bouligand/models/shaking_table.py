"""A ball of clay on a table that moves up and down: it lies on the table until that falls away faster than the ball would.

          ( )                  z'' = -g, or at rest on the table
       =========  ^            guard:   h = z - A sin(w t)
          | |     | A sin(w t)
       -------------           jump:    vz -> speed of the table, and it stays there

With A w^2 > g it is thrown up once a period (or less often), flies, and lands without a bounce. The time at which it leaves is
known in closed form, see `leaves_at`; that at which it lands is a root of one equation, see `lands_at`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..system.system import System
from .admissible import NOT_NEGATIVE, POSITIVE, takes
from .drawing import BODY, EDGE, frame
from .model import Model

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .._typing import FloatArray, SignArray

START = np.array([0.0, 0.75])


def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    dx[0] = x[1]
    dx[1] = -p[0]


def guard(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    out[0] = x[0] - p[1] * math.sin(p[2] * t)


def land(t: float, x: FloatArray, b: FloatArray, p: FloatArray, xnew: FloatArray) -> None:
    xnew[1] = p[1] * p[2] * math.cos(p[2] * t)


LIMITS = {"g": NOT_NEGATIVE, "A": NOT_NEGATIVE, "w": POSITIVE}


@takes(LIMITS)
def shaking_table(g: float = 9.81, A: float = 0.05, w: float = 15.0) -> System:
    """A ball of clay on a table that moves up and down.

    The usual start, START in this file, is on the table, with its speed.

    Parameters
    ----------
    g : float
        Gravity.
    A, w : float
        Amplitude and angular frequency of the table.

    Returns
    -------
    System
        States z and vz, guard "table" with a jump of vz, on which the ball comes to rest.

    Examples
    --------
    >>> import bouligand as bd
    >>> sol = bd.solve(bd.models.shaking_table(), (0.0, 0.2), [0.0, 0.75])
    >>> bool(abs(sol.events.t[0] - 0.070618) < 1e-4), sol.b[:, 0].tolist()[0]
    (True, 0)
    """
    return System(
        field,
        guard,
        states=("z", "vz"),
        guards=("table",),
        params={"g": g, "A": A, "w": w},
        jumps={"table": land},
        rest="table",
        name="shaking table",
    )


@takes(LIMITS, A=POSITIVE)
def leaves_at(g: float = 9.81, A: float = 0.05, w: float = 15.0) -> float:
    """The time in the first period at which the ball leaves the table."""
    if g > A * w * w:
        raise ValueError(f"A w^2 must be greater than g, or the ball stays on the table; got {A * w * w:g}, g = {g:g}")
    return math.asin(g / (A * w * w)) / w


@takes(LIMITS, A=POSITIVE)
def lands_at(g: float = 9.81, A: float = 0.05, w: float = 15.0) -> float:
    """The time at which the ball that has left the table in the first period lands on it again."""
    from scipy.optimize import brentq

    begin = leaves_at(g, A, w)
    z, v = A * math.sin(w * begin), A * w * math.cos(w * begin)

    def height(t: float) -> float:
        return z + v * (t - begin) - 0.5 * g * (t - begin) ** 2 - A * math.sin(w * t)

    later = begin + np.linspace(0.02, 4.0 * v / g + 2.0 * math.pi / w, 2000)
    first = next(q for q, t in enumerate(later) if height(t) < 0.0)
    return float(brentq(height, later[first - 1], later[first], xtol=1e-15))


def draw(ax: Axes, t: float, x: FloatArray, b: SignArray, p: FloatArray) -> None:
    """The ball on the table, or above it."""
    level = p[1] * math.sin(p[2] * t)
    ax.plot([-0.12, 0.12], [level, level], color=EDGE, lw=4.0, solid_capstyle="round")
    ax.plot([0.0], [x[0] + 0.012], "o", ms=18, color=BODY, mec=EDGE, mew=1.5)
    frame(ax, t, (-0.2, 0.2), (-0.08, 0.16))


MODEL = Model(
    about="a ball of clay on a table that moves up and down",
    make=shaking_table,
    start=START,
    tf=1.5,
    draw=draw,
    speed=0.2,
    units={"t": "s", "z": "m", "vz": "m/s"},
)
