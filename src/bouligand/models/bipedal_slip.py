r"""A walker: a mass on two massless spring legs, the swinging one of which lands at a fixed angle (bipedal SLIP).

          o  -->  vx         one leg:   (x, y)'' = push(x, y) - (0, g),     push(z) = k / m (rest / |z| - 1) z
         / \                 both:      (x, y)'' = push(x, y) + push(x - ahead, y) - (0, g)
        /   \ springs        touchdown: y = rest sin(angle), behind mid-stance;  ahead = x + rest cos(angle)
     --/-----\-------        lift-off:  |(x, y)| = rest in double support;  x is then measured from the other foot

x is measured from the foot that was put down first. The state ``phase`` is constant between events: 0 on one leg before
mid-stance (x = 0), 1 on one leg behind it, 2 on both legs; jumps change it. Energy is kept, so that gaits form families. With
springs as soft as these, one model walks and (on one leg after the other, see `slip`) runs, with the forces that people show:
H. Geyer, A. Seyfarth and R. Blickhan, Compliant leg behaviour explains basic dynamics of walking and running, Proceedings of
the Royal Society B 273 (2006) 2861-2867, whose leg, mass and angle are the usual parameters here.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..system.system import System
from .admissible import ACUTE, NOT_NEGATIVE, POSITIVE, takes
from .drawing import BODY, EDGE, contact_colour, frame, spring
from .model import Model

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .._typing import FloatArray, SignArray

START = np.array([0.0, 0.971, 1.1, 0.0, 0.0, 1.0])  # at mid-stance
BEFORE, BEHIND, DOUBLE = 0.0, 1.0, 2.0
AWAY = 10.0  # what a guard is that does not belong to the phase


def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    push = p[1] / p[2] * (p[3] / math.sqrt(x[0] * x[0] + x[1] * x[1]) - 1.0)
    dx[0] = x[2]
    dx[1] = x[3]
    dx[2] = push * x[0]
    dx[3] = push * x[1] - p[0]
    dx[4] = 0.0
    dx[5] = 0.0
    if x[5] == DOUBLE:
        behind = x[0] - x[4]
        push = p[1] / p[2] * (p[3] / math.sqrt(behind * behind + x[1] * x[1]) - 1.0)
        dx[2] += push * behind
        dx[3] += push * x[1]


def guards(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    out[0] = x[0] if x[5] == BEFORE else -AWAY
    out[1] = p[3] * math.sin(p[4]) - x[1] if x[5] == BEHIND else -AWAY
    out[2] = math.sqrt(x[0] * x[0] + x[1] * x[1]) - p[3] if x[5] == DOUBLE else -AWAY


def pass_mid_stance(t: float, x: FloatArray, b: FloatArray, p: FloatArray, xnew: FloatArray) -> None:
    xnew[5] = BEHIND


def land(t: float, x: FloatArray, b: FloatArray, p: FloatArray, xnew: FloatArray) -> None:
    xnew[4] = x[0] + p[3] * math.cos(p[4])
    xnew[5] = DOUBLE


def leave(t: float, x: FloatArray, b: FloatArray, p: FloatArray, xnew: FloatArray) -> None:
    xnew[0] = x[0] - x[4]
    xnew[4] = 0.0
    xnew[5] = BEFORE


LIMITS = {"g": NOT_NEGATIVE, "stiffness": POSITIVE, "mass": POSITIVE, "rest": POSITIVE, "angle": ACUTE}


@takes(LIMITS)
def bipedal_slip(
    g: float = 9.81, stiffness: float = 14e3, mass: float = 80.0, rest: float = 1.0, angle: float = math.radians(69.0)
) -> System:
    """A walker: a mass on two massless spring legs, the swinging one of which lands at a fixed angle.

    The usual start, START in this file, is a mid-stance.

    Parameters
    ----------
    g : float
        Gravity.
    stiffness, rest : float
        Of each leg: its stiffness, and its length without load.
    mass : float
    angle : float
        Of the swinging leg at touchdown, from the ground.

    Returns
    -------
    System
        States x (from the foot that was put down first), y, vx, vy, ahead (the place of the other foot, in double support),
        phase; guards "mid-stance", "touchdown" and "lift-off", with jumps.

    Examples
    --------
    >>> import bouligand as bd
    >>> from bouligand.models.bipedal_slip import START
    >>> sol = bd.solve(bd.models.bipedal_slip(), (0.0, 0.5), START)
    >>> list(sol.events.name)
    ['touchdown', 'lift-off', 'mid-stance']
    """
    return System(
        field,
        guards,
        states=("x", "y", "vx", "vy", "ahead", "phase"),
        guards=("mid-stance", "touchdown", "lift-off"),
        params={"g": g, "k": stiffness, "m": mass, "rest": rest, "angle": angle},
        direction=1,
        jumps={"mid-stance": pass_mid_stance, "touchdown": land, "lift-off": leave},
        name="bipedal SLIP",
    )


def energy(x: FloatArray, p: FloatArray) -> FloatArray:
    """Energy over mass of states (..., 6), which no motion changes."""
    first = p[3] - np.hypot(x[..., 0], x[..., 1])
    second = np.where(x[..., 5] == DOUBLE, p[3] - np.hypot(x[..., 0] - x[..., 4], x[..., 1]), 0.0)
    kinetic: FloatArray = 0.5 * (x[..., 2] ** 2 + x[..., 3] ** 2)
    return kinetic + p[0] * x[..., 1] + 0.5 * p[1] / p[2] * (first**2 + second**2)


def draw(ax: Axes, t: float, x: FloatArray, b: SignArray, p: FloatArray) -> None:
    """The mass in the middle; the swinging leg points to where it will land."""
    double = x[5] == DOUBLE
    swinging = (x[4] - x[0], 0.0) if double else (p[3] * math.cos(p[4]), x[1] - p[3] * math.sin(p[4]))
    for foot, down in (((-x[0], 0.0), True), (swinging, double)):
        colour = contact_colour(1.0 if down else -1.0)
        ax.plot(*spring(foot, (0.0, x[1])), color=colour, lw=1.6)
        ax.plot([foot[0]], [foot[1]], "o", ms=5, color=colour)
    ax.plot([0.0], [x[1]], "o", ms=22, color=BODY, mec=EDGE, mew=1.5)
    frame(ax, t, (-1.0, 1.0), (-0.1, 1.4))


MODEL = Model(
    about="a walker on two spring legs",
    make=bipedal_slip,
    start=START,
    tf=3.0,
    draw=draw,
    speed=0.4,
    units={"t": "s", "x": "m", "y": "m", "vx": "m/s", "vy": "m/s", "ahead": "m", "phase": "-"},
    cycle={"section": "mid-stance"},
)
