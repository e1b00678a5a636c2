r"""The simplest walker: two massless legs and a heavy hip, which walks down a slope by itself (Garcia and others, 1998).

          hip (M)              theta'' = sin(theta - gamma)                                             the leg that stands
          /\                   phi''   = theta'' + theta'^2 sin phi - cos(theta - gamma) sin phi        the leg that swings
         /  \  phi             (lengths in legs, times in sqrt(l / g))
  theta /    \
       /      o                heel strike: phi = 2 theta, while phi - 2 theta grows (when the legs pass each other it shrinks;
    __o_________ gamma         that the foot scuffs the ground there is ignored). Then the legs change roles:

    theta -> -theta,  theta' -> cos(2 theta) theta',  phi -> -2 theta,  phi' -> cos(2 theta) (1 - cos(2 theta)) theta'

For small slopes there are two gaits. The longer one is stable up to gamma = 0.0151, where its period doubles. At gamma = 0.009
its states and multipliers are in the literature: GAIT, MULTIPLIERS.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..system.system import System
from .admissible import SLOPE, takes
from .drawing import BODY, EDGE, FLOOR, FREE, TOUCHING, frame
from .model import Model

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .._typing import FloatArray, SignArray

GAMMA = 0.009
# behind a heel strike at the usual slope: theta, theta' (Garcia, Chatterjee, Ruina and Coleman, 1998)
GAIT = (0.200310900544287, -0.199832473004977)
MULTIPLIERS = (complex(-0.190, 0.558), complex(-0.190, -0.558))
START = np.array([0.2, -0.2, 0.4, -0.0158])


def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    stance = math.sin(x[0] - p[0])
    dx[0] = x[1]
    dx[1] = stance
    dx[2] = x[3]
    dx[3] = stance + x[1] * x[1] * math.sin(x[2]) - math.cos(x[0] - p[0]) * math.sin(x[2])


def guard(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    out[0] = x[2] - 2.0 * x[0]


def strike(t: float, x: FloatArray, b: FloatArray, p: FloatArray, xnew: FloatArray) -> None:
    c = math.cos(2.0 * x[0])
    xnew[0] = -x[0]
    xnew[1] = c * x[1]
    xnew[2] = -2.0 * x[0]
    xnew[3] = c * (1.0 - c) * x[1]


LIMITS = {"gamma": SLOPE}


@takes(LIMITS)
def simplest_walker(gamma: float = GAMMA) -> System:
    """The simplest walker: two massless legs and a heavy hip, which walks down a slope by itself.

    Parameters
    ----------
    gamma : float
        Angle of the slope.

    Returns
    -------
    System
        States theta and dtheta of the leg that stands, phi and dphi of the one that swings; guard "heel strike", with a jump.

    Examples
    --------
    >>> import bouligand as bd
    >>> from bouligand.models.simplest_walker import START
    >>> cycle = bd.find_cycle(bd.models.simplest_walker(), START, section="heel strike")
    >>> abs(cycle.multipliers[:2]).round(3)
    array([0.589, 0.589])
    """
    return System(
        field,
        guard,
        states=("theta", "dtheta", "phi", "dphi"),
        guards=("heel strike",),
        params={"gamma": gamma},
        direction=1,
        jumps={"heel strike": strike},
        name="simplest walker",
    )


def draw(ax: Axes, t: float, x: FloatArray, b: SignArray, p: FloatArray) -> None:
    """Both legs below a hip that stays in the middle; the slope passes below."""
    theta, phi = x[0], x[2]
    down = np.array([math.cos(p[0]), -math.sin(p[0])])
    up = np.array([math.sin(p[0]), math.cos(p[0])])
    stance = -(math.cos(theta) * up - math.sin(theta) * down)
    swing = -(math.cos(theta - phi) * up - math.sin(theta - phi) * down)
    for foot, colour, width in ((swing, FREE, 2.0), (stance, TOUCHING, 3.0)):
        ax.plot([0.0, foot[0]], [0.0, foot[1]], color=colour, lw=width, solid_capstyle="round")
    ax.plot([0.0], [0.0], "o", ms=18, color=BODY, mec=EDGE, mew=1.5)
    ax.plot(*np.transpose([stance - 1.5 * down, stance + 1.5 * down]), color=FLOOR, lw=1.2, zorder=0)
    frame(ax, t, (-0.9, 0.9), (-1.2, 0.25), floor=False)


MODEL = Model(
    about="two legs that walk down a slope by themselves",
    make=simplest_walker,
    start=START,
    tf=20.0,
    draw=draw,
    speed=2.0,
    units={"t": "sqrt(l/g)", "theta": "rad", "dtheta": "sqrt(g/l)", "phi": "rad", "dphi": "sqrt(g/l)"},
    cycle={"section": "heel strike"},
)
