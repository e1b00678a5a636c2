"""A mass on a massless spring leg that hops vertically without loss of energy.

              (   )            z > rest:   z'' = -g                       (flight)
                |              z < rest:   z'' = -g + k (rest - z)        (stance; k is stiffness over mass)
              spring
                |              guard: h = rest - z, positive while the leg is compressed
          ------+------
          /////////////

The motion is periodic and known in closed form: parabolas and arcs of a sine.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..system.system import System
from .admissible import ANY, NOT_NEGATIVE, NUMBERS, POSITIVE, listed, takes
from .drawing import BODY, EDGE, contact_colour, frame, spring
from .model import Model

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from .._typing import FloatArray, SignArray

START = np.array([2.0, 0.0])


def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    push = p[1] * (p[2] - x[0]) if b[0] > 0.0 else 0.0
    dx[0] = x[1]
    dx[1] = push - p[0]


def guard(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    out[0] = p[2] - x[0]


def guard_rows(t: float, x: FloatArray, k: int, p: FloatArray, out: FloatArray) -> None:
    out[0] = -1.0
    out[1] = 0.0


def field_jacobian(t: float, x: FloatArray, b: FloatArray, p: FloatArray, out: FloatArray) -> None:
    out[0, 0] = 0.0
    out[0, 1] = 1.0
    out[1, 0] = -p[1] if b[0] > 0.0 else 0.0
    out[1, 1] = 0.0


LIMITS = {"g": NOT_NEGATIVE, "k": POSITIVE, "rest": NOT_NEGATIVE}


@takes(LIMITS)
def hopper(g: float = 9.81, k: float = 1000.0, rest: float = 1.0) -> System:
    """A mass on a massless spring leg that hops vertically without loss of energy.

    The usual start, START in this file, is at rest with the foot one metre above the ground.

    Parameters
    ----------
    g : float
        Gravity.
    k : float
        Stiffness of the spring over mass.
    rest : float
        Length of the unloaded leg.

    Returns
    -------
    System
        States z and vz, guard "foot" (positive while the leg is compressed).

    Examples
    --------
    >>> import bouligand as bd
    >>> bd.solve(bd.models.hopper(), (0.0, 1.0), [2.0, 0.0]).events.direction
    array([ 1, -1], dtype=int8)
    """
    return System(
        field,
        guard,
        states=("z", "vz"),
        guards=("foot",),
        params={"g": g, "k": k, "rest": rest},
        Dh_row=guard_rows,
        Df=field_jacobian,
        name="hopper",
    )


@takes(LIMITS, t=NUMBERS, z0=POSITIVE, g=POSITIVE)
def exact(t: ArrayLike, z0: float = 2.0, g: float = 9.81, k: float = 1000.0, rest: float = 1.0) -> FloatArray:
    """(z, vz) at the times t, shape (len(t), 2), from rest at z0 > rest."""
    fall, stance = _durations(z0, g, k, rest)
    w = math.sqrt(k)
    speed = -g * fall
    sag = g / k
    phase = np.mod(np.atleast_1d(np.asarray(t, dtype=float)), 2 * fall + stance)
    out = np.empty((phase.size, 2))
    for row, s in zip(out, phase, strict=True):
        if s <= fall:
            row[:] = z0 - 0.5 * g * s * s, -g * s
        elif s <= fall + stance:
            s -= fall
            row[0] = rest - sag + sag * math.cos(w * s) + speed / w * math.sin(w * s)
            row[1] = -sag * w * math.sin(w * s) + speed * math.cos(w * s)
        else:
            s = 2 * fall + stance - s
            row[:] = z0 - 0.5 * g * s * s, g * s
    return out


@takes(LIMITS, tf=ANY, z0=POSITIVE, g=POSITIVE)
def crossings(tf: float, z0: float = 2.0, g: float = 9.81, k: float = 1000.0, rest: float = 1.0) -> FloatArray:
    """Times up to tf at which the foot touches and leaves, alternating."""
    fall, stance = _durations(z0, g, k, rest)
    period = 2 * fall + stance
    out: list[float] = []
    touch = fall
    while touch <= tf:
        out += [t for t in (touch, touch + stance) if t <= tf]
        touch += period
        listed(out)
    return np.array(out)


def _durations(z0: float, g: float, k: float, rest: float) -> tuple[float, float]:
    """Time to fall from rest at z0 to the touch, and time from touch to release."""
    if not z0 > rest:
        raise ValueError(f"z0 must be greater than rest; got z0 = {z0:g}, rest = {rest:g}")
    fall = math.sqrt(2 * (z0 - rest) / g)
    w, sag, speed = math.sqrt(k), g / k, -g * fall
    half = math.atan2(speed / w, sag)  # phase of the lowest point is half + pi
    return fall, 2 * (half + math.pi if half < 0 else half) / w


def draw(ax: Axes, t: float, x: FloatArray, b: SignArray, p: FloatArray) -> None:
    """The mass on its leg; in flight the foot hangs below it."""
    rest, z = p[2], x[0]
    foot = 0.0 if b[0] > 0 else z - rest
    colour = contact_colour(b[0])
    ax.plot(*spring((0.0, foot), (0.0, z)), color=colour, lw=1.6)
    ax.plot([0.0], [foot], "o", ms=6, color=colour)
    ax.plot([0.0], [z], "o", ms=26, color=BODY, mec=EDGE, mew=1.5)
    frame(ax, t, (-1.2, 1.2), (-0.15, 2.3))


MODEL = Model(
    about="a mass on a spring leg",
    make=hopper,
    start=START,
    tf=2.0,
    draw=draw,
    speed=0.5,
    units={"t": "s", "z": "m", "vz": "m/s"},
    cycle={"section": "foot"},
)
