r"""A runner: a mass on a massless spring leg, which swings forward in flight to a fixed angle (SLIP).

        o  -->  vx           flight:  x'' = 0, y'' = -g
         \                   stance:  (x, y)'' = k / m (rest / l - 1) (x, y) - (0, g),    l = |(x, y)|
          \ spring           touchdown: y = rest sin(angle), on the way down; x jumps to -rest cos(angle),
     -------\-------         so that the foot is at x = 0;  lift-off: l = rest

x is measured from the last foothold. The state ``phase`` is constant between events: 0 falling, 1 stance, 2 rising; jumps
change it. Energy is kept, so that gaits form families; across the flow and the family one multiplier is left, of the height
from apex to apex. For many angles there are two gaits, one of them stable: running on a spring leg stabilises itself
(Blickhan, 1989; Seyfarth, 2002).
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

START = np.array([0.0, 1.0, 5.0, 0.0, 0.0])  # at the apex
FALLING, STANCE, RISING = 0.0, 1.0, 2.0
AWAY = 10.0  # what a guard is that does not belong to the phase


def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    dx[0] = x[2]
    dx[1] = x[3]
    dx[2] = 0.0
    dx[3] = -p[0]
    dx[4] = 0.0
    if x[4] == STANCE:
        push = p[1] / p[2] * (p[3] / math.sqrt(x[0] * x[0] + x[1] * x[1]) - 1.0)
        dx[2] += push * x[0]
        dx[3] += push * x[1]


def guards(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    out[0] = p[3] * math.sin(p[4]) - x[1] if x[4] == FALLING else -AWAY
    out[1] = math.sqrt(x[0] * x[0] + x[1] * x[1]) - p[3] if x[4] == STANCE else -AWAY
    out[2] = -x[3] if x[4] == RISING else -AWAY


def land(t: float, x: FloatArray, b: FloatArray, p: FloatArray, xnew: FloatArray) -> None:
    xnew[0] = -p[3] * math.cos(p[4])
    xnew[4] = STANCE


def leave(t: float, x: FloatArray, b: FloatArray, p: FloatArray, xnew: FloatArray) -> None:
    xnew[4] = RISING


def turn(t: float, x: FloatArray, b: FloatArray, p: FloatArray, xnew: FloatArray) -> None:
    xnew[4] = FALLING


LIMITS = {"g": NOT_NEGATIVE, "stiffness": POSITIVE, "mass": POSITIVE, "rest": POSITIVE, "angle": ACUTE}


@takes(LIMITS)
def slip(
    g: float = 9.81, stiffness: float = 20e3, mass: float = 80.0, rest: float = 1.0, angle: float = math.radians(68.0)
) -> System:
    """A runner: a mass on a massless spring leg, which swings forward in flight to a fixed angle.

    The usual start, START in this file, is an apex at 5 m/s.

    Parameters
    ----------
    g : float
        Gravity.
    stiffness, rest : float
        Of the leg: its stiffness, and its length without load.
    mass : float
    angle : float
        Of the leg at touchdown, from the ground.

    Returns
    -------
    System
        States x (from the last foothold), y, vx, vy, phase; guards "touchdown", "lift-off" and "apex", with jumps.

    Examples
    --------
    >>> import bouligand as bd
    >>> from bouligand.models.slip import START
    >>> sol = bd.solve(bd.models.slip(), (0.0, 0.6), START)
    >>> list(sol.events.name)[:4]
    ['touchdown', 'lift-off', 'apex', 'touchdown']
    """
    return System(
        field,
        guards,
        states=("x", "y", "vx", "vy", "phase"),
        guards=("touchdown", "lift-off", "apex"),
        params={"g": g, "k": stiffness, "m": mass, "rest": rest, "angle": angle},
        direction=1,
        jumps={"touchdown": land, "lift-off": leave, "apex": turn},
        name="SLIP",
    )


def energy(x: FloatArray, p: FloatArray) -> FloatArray:
    """Energy over mass of states (..., 5), which no motion changes."""
    length = np.where(x[..., 4] == STANCE, np.hypot(x[..., 0], x[..., 1]), p[3])
    kinetic: FloatArray = 0.5 * (x[..., 2] ** 2 + x[..., 3] ** 2)
    return kinetic + p[0] * x[..., 1] + 0.5 * p[1] / p[2] * (p[3] - length) ** 2


def draw(ax: Axes, t: float, x: FloatArray, b: SignArray, p: FloatArray) -> None:
    """The mass in the middle; in flight the leg points to where it will land."""
    down = x[4] == STANCE
    foot = (-x[0], 0.0) if down else (p[3] * math.cos(p[4]), x[1] - p[3] * math.sin(p[4]))
    colour = contact_colour(1.0 if down else -1.0)
    ax.plot(*spring(foot, (0.0, x[1])), color=colour, lw=1.6)
    ax.plot([foot[0]], [foot[1]], "o", ms=5, color=colour)
    ax.plot([0.0], [x[1]], "o", ms=22, color=BODY, mec=EDGE, mew=1.5)
    frame(ax, t, (-1.0, 1.0), (-0.1, 1.4))


MODEL = Model(
    about="a runner on a spring leg",
    make=slip,
    start=START,
    tf=3.0,
    draw=draw,
    speed=0.4,
    units={"t": "s", "x": "m", "y": "m", "vx": "m/s", "vy": "m/s", "phase": "-"},
    cycle={"section": "apex"},
)
