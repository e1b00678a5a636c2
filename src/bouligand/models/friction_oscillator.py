r"""A mass on a spring that slides on a rough floor, until it sticks.

    |            ___         x'' = -k x - friction sign(v)          (per unit of mass)
    |/\/\/\/\/\/|   |        guard: h = v
    |___________|___|___     sliding mode: v = 0 while |k x| < friction, the mass sticks

The motion is known in closed form: half periods of cosines about x = -/+ friction / k, each pi / sqrt(k) long. Where a half
period ends within friction / k of zero the mass stays for ever.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..system.system import System
from .admissible import ANY, NOT_NEGATIVE, NUMBERS, POSITIVE, takes
from .drawing import BODY, EDGE, FREE, TOUCHING, frame, spring
from .model import Model

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from .._typing import FloatArray, SignArray

START = np.array([3.0, 0.0])
MANY = 100_000  # turns that are listed


def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    dx[0] = x[1]
    dx[1] = -p[0] * x[0] - p[1] * b[0]


def guard(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    out[0] = x[1]


LIMITS = {"k": POSITIVE, "friction": NOT_NEGATIVE}


@takes(LIMITS)
def friction_oscillator(k: float = 1.0, friction: float = 0.4) -> System:
    """A mass on a spring that slides on a rough floor, until it sticks.

    The usual start, START in this file, is at rest where the spring is stronger than the friction.

    Parameters
    ----------
    k : float
        Stiffness of the spring over mass.
    friction : float
        Dry friction over mass.

    Returns
    -------
    System
        States x and v, guard "reversal", with a sliding mode: the mass sticks.

    Examples
    --------
    >>> import bouligand as bd
    >>> sol = bd.solve(bd.models.friction_oscillator(), (0.0, 20.0), [3.0, 0.0], rtol=1e-9)
    >>> sol.b[-1], float(sol.x[-1, 1]), round(float(sol.x[-1, 0]), 6)
    (array([0], dtype=int8), 0.0, -0.2)
    """
    return System(
        field,
        guard,
        states=("x", "v"),
        guards=("reversal",),
        params={"k": k, "friction": friction},
        sliding="filippov",
        name="friction oscillator",
    )


@takes(LIMITS, x0=ANY, friction=POSITIVE)
def turns(x0: float = 3.0, k: float = 1.0, friction: float = 0.4) -> FloatArray:
    """Positions at which it turns, from rest at x0: the first is x0, at the last one it sticks."""
    reach = friction / k
    if abs(x0) > MANY * reach:
        raise ValueError(f"x0 must be at most {MANY} friction / k, or it turns too often; got {x0:g}")
    found = [float(x0)]
    while abs(found[-1]) > reach:
        found.append(-found[-1] + math.copysign(2.0 * reach, found[-1]))
    return np.array(found)


@takes(LIMITS, t=NUMBERS, x0=ANY, friction=POSITIVE)
def exact(t: ArrayLike, x0: float = 3.0, k: float = 1.0, friction: float = 0.4) -> FloatArray:
    """(x, v) at the times t, shape (len(t), 2), from rest at x0."""
    times: FloatArray = np.maximum(np.atleast_1d(np.asarray(t, dtype=float)), 0.0)  # (at rest before)
    w, at = math.sqrt(k), turns(x0, k, friction)
    out = np.zeros((times.size, 2))
    for row, phase in zip(out, w * times, strict=True):
        half = int(phase // math.pi)
        if half >= len(at) - 1:
            row[0] = at[-1]
        else:
            centre = math.copysign(friction / k, at[half])
            since = phase - half * math.pi
            row[0] = centre + (at[half] - centre) * math.cos(since)
            row[1] = -w * (at[half] - centre) * math.sin(since)
    return out


def draw(ax: Axes, t: float, x: FloatArray, b: SignArray, p: FloatArray) -> None:
    """The mass on its spring; red while it sticks."""
    colour = TOUCHING if b[0] == 0 else FREE
    ax.plot([-5.0, -5.0], [0.0, 1.4], color=FREE, lw=2.0)
    ax.plot(*spring((-5.0, 0.5), (x[0] - 0.5, 0.5), width=0.2), color=colour, lw=1.4)
    ax.fill(x[0] + np.array([-0.5, 0.5, 0.5, -0.5]), [0.0, 0.0, 1.0, 1.0], facecolor=BODY, edgecolor=EDGE, lw=1.5)
    ax.plot([x[0] - 0.5, x[0] + 0.5], [0.0, 0.0], color=colour, lw=3.0)
    frame(ax, t, (-5.3, 4.2), (-0.6, 2.2))


MODEL = Model(
    about="a mass on a spring with dry friction",
    make=friction_oscillator,
    start=START,
    tf=16.0,
    draw=draw,
    speed=2.0,
    units={"t": "s", "x": "m", "v": "m/s"},
)
