r"""A wheel of spokes without a rim that rolls down a slope: the simplest machine that walks.

         \ | /          angle of the spoke that stands, from the vertical:   theta'' = (g / l) sin theta
        --( )--         the next spoke lands:  theta = gamma + alpha, and the angle goes on from gamma - alpha,
         / | \                                  omega -> cos(2 alpha) omega (the impact keeps no other part)
    -------+-------     rolling back the same, the other way round.
     slope gamma

alpha is half the angle between two spokes. On a slope that is steep enough there is one gait, and it is stable: with
K = 4 (g / l) sin(alpha) sin(gamma), the square of omega behind an impact goes to c (omega^2 + K) in one step, c = cos^2(2 alpha).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..system.system import System
from .admissible import ACUTE, ANY, COUNT, NOT_NEGATIVE, POSITIVE, SLOPE, takes
from .drawing import BODY, EDGE, FLOOR, FREE, TOUCHING, frame
from .model import Model

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .._typing import FloatArray, SignArray

ALPHA, GAMMA = math.pi / 8, 0.08
START = np.array([GAMMA - ALPHA, 1.5])  # a spoke has just landed


def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    dx[0] = x[1]
    dx[1] = p[0] / p[1] * math.sin(x[0])


def guards(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    out[0] = x[0] - (p[3] + p[2])
    out[1] = (p[3] - p[2]) - x[0]


def forward(t: float, x: FloatArray, b: FloatArray, p: FloatArray, xnew: FloatArray) -> None:
    xnew[0] = p[3] - p[2]  # (exactly on the other guard: theta - 2 alpha would be a rounding error beside it)
    xnew[1] = math.cos(2.0 * p[2]) * x[1]


def backward(t: float, x: FloatArray, b: FloatArray, p: FloatArray, xnew: FloatArray) -> None:
    xnew[0] = p[3] + p[2]
    xnew[1] = math.cos(2.0 * p[2]) * x[1]


LIMITS = {"g": NOT_NEGATIVE, "length": POSITIVE, "alpha": ACUTE, "gamma": SLOPE}


@takes(LIMITS)
def rimless_wheel(g: float = 9.81, length: float = 1.0, alpha: float = ALPHA, gamma: float = GAMMA) -> System:
    """A wheel of spokes without a rim that rolls down a slope.

    The usual start, START in this file, is a spoke that has just landed, faster than in the periodic gait.

    Parameters
    ----------
    g : float
        Gravity.
    length : float
        Of a spoke.
    alpha : float
        Half the angle between two spokes.
    gamma : float
        Angle of the slope.

    Returns
    -------
    System
        States theta and omega of the spoke that stands; guards "forward" and "backward", the landings of its neighbours.

    Examples
    --------
    >>> import bouligand as bd
    >>> from bouligand.models.rimless_wheel import START
    >>> sol = bd.solve(bd.models.rimless_wheel(), (0.0, 2.0), START)
    >>> list(sol.events.name)
    ['forward', 'forward']
    """
    return System(
        field,
        guards,
        states=("theta", "omega"),
        guards=("forward", "backward"),
        params={"g": g, "length": length, "alpha": alpha, "gamma": gamma},
        direction=1,
        jumps={"forward": forward, "backward": backward},
        name="rimless wheel",
    )


@takes(LIMITS, gamma=ACUTE)
def gait(g: float = 9.81, length: float = 1.0, alpha: float = ALPHA, gamma: float = GAMMA) -> float:
    """omega behind an impact in the periodic gait: the fixed point of omega^2 -> c (omega^2 + K)."""
    c = math.cos(2.0 * alpha) ** 2
    return math.sqrt(4.0 * g / length * math.sin(alpha) * math.sin(gamma) * c / (1.0 - c))


@takes(LIMITS, count=COUNT, omega=ANY)
def steps(count: int, omega: float = START[1], g: float = 9.81, length: float = 1.0) -> FloatArray:
    """omega behind each of the next steps of the usual wheel, from omega behind an impact, if it is enough to go over the top."""
    squares = [omega**2]
    for _ in range(count):
        gained = 4.0 * g / length * math.sin(ALPHA) * math.sin(GAMMA)
        squares.append(math.cos(2.0 * ALPHA) ** 2 * (squares[-1] + gained))
    return np.sqrt(squares[1:])


def draw(ax: Axes, t: float, x: FloatArray, b: SignArray, p: FloatArray) -> None:
    """The spokes around a hub that stays in the middle; the slope passes below."""
    length, alpha, gamma = p[1], p[2], p[3]
    for k in range(round(math.pi / alpha)):
        angle = x[0] + 2.0 * alpha * k  # of the hub, seen from the end of this spoke
        colour, width = (TOUCHING, 2.4) if k == 0 else (FREE, 1.6)
        ax.plot([0.0, -length * math.sin(angle)], [0.0, -length * math.cos(angle)], color=colour, lw=width)
    ax.plot([0.0], [0.0], "o", ms=14, color=BODY, mec=EDGE, mew=1.5)
    foot = np.array([-length * math.sin(x[0]), -length * math.cos(x[0])])
    down = 1.5 * np.array([math.cos(gamma), -math.sin(gamma)])
    ax.plot(*np.transpose([foot - down, foot + down]), color=FLOOR, lw=1.2, zorder=0)
    frame(ax, t, (-1.3 * length, 1.3 * length), (-1.25 * length, 1.1 * length), floor=False)


MODEL = Model(
    about="a wheel of spokes that rolls down a slope",
    make=rimless_wheel,
    start=START,
    tf=5.0,
    draw=draw,
    speed=0.5,
    units={"t": "s", "theta": "rad", "omega": "rad/s"},
    cycle={"section": "forward"},
)
