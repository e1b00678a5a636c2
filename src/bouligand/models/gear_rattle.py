"""A loose gear that rattles between the teeth of a gear that vibrates (Karagiannis_Pfeiffer_1991).

     |<- gap ->|<- gap ->|          e(t) = A sin(w t): the teeth, which are walls that move
     |        (x)        |          x = e + s;  s'' = -e'' - drag (e' + s')        between impacts
     |<-   both walls  ->|          guards: h = s + gap, s - gap
           move with e              jump: s' -> -r s', with the restitution r

Without drag there is a periodic motion with one impact on each side in every period, known in closed form: `periodic`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..system.system import System
from .admissible import FRACTION, NOT_NEGATIVE, POSITIVE, Real, takes
from .drawing import BODY, EDGE, FREE, frame
from .model import Model

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .._typing import FloatArray, SignArray

START = np.array([0.0, 3.0])


def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    A, w, drag = p[0], p[1], p[4]
    dx[0] = x[1]
    dx[1] = A * w * w * math.sin(w * t) - drag * (A * w * math.cos(w * t) + x[1])


def guards(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    out[0] = x[0] + p[2]
    out[1] = x[0] - p[2]


def hit(t: float, x: FloatArray, b: FloatArray, p: FloatArray, xnew: FloatArray) -> None:
    xnew[1] = -p[3] * x[1]


LIMITS = {"amplitude": NOT_NEGATIVE, "w": POSITIVE, "gap": POSITIVE, "restitution": FRACTION, "drag": NOT_NEGATIVE}


@takes(LIMITS)
def gear_rattle(
    amplitude: float = 1.0, w: float = 1.0, gap: float = 2.0, restitution: float = 0.6, drag: float = 0.0
) -> System:
    """A loose gear that rattles between the teeth of a gear that vibrates.

    Parameters
    ----------
    amplitude, w : float
        Of the vibration, e = amplitude sin(w t).
    gap : float
        Half of the play between the teeth.
    restitution : float
        Relative speed behind an impact over that before it.
    drag : float
        Rate at which the loose gear slows down between impacts.

    Returns
    -------
    System
        States s and v = s', both relative to the teeth; guards "left" and "right", with jumps.

    Examples
    --------
    >>> import bouligand as bd
    >>> sol = bd.solve(bd.models.gear_rattle(), (0.0, 20.0), [0.0, 3.0])
    >>> sol.events.name[:4].tolist()
    ['right', 'left', 'right', 'left']
    """
    return System(
        field,
        guards,
        states=("s", "v"),
        guards=("left", "right"),
        params={"amplitude": amplitude, "w": w, "gap": gap, "restitution": restitution, "drag": drag},
        jumps={"left": hit, "right": hit},
        name="gear rattle",
    )


@takes(LIMITS, amplitude=POSITIVE, restitution=Real(0.0, 1.0, open=True))
def periodic(amplitude: float = 1.0, w: float = 1.0, gap: float = 2.0, restitution: float = 0.6) -> tuple[float, float]:
    """The periodic motion without drag: the phase w t of the impacts on the left, and the speed |x'| between impacts.

    On the left the speed is reversed if speed = (1 + r) / (1 - r) amplitude w cos(phase). In half a period it has to go 2 gap -
    2 amplitude sin(phase), where it finds the same on the right.
    """
    factor = math.pi * (1.0 + restitution) / (1.0 - restitution)
    reach = 2.0 * gap / (amplitude * math.hypot(factor, 2.0))
    if reach > 1.0:
        raise ValueError(f"the gap {gap} is too wide for a periodic motion with one impact on each side")
    phase = math.atan2(2.0, factor) - math.acos(reach)
    return phase, factor / math.pi * amplitude * w * math.cos(phase)


def draw(ax: Axes, t: float, x: FloatArray, b: SignArray, p: FloatArray) -> None:
    """The loose gear between the walls."""
    wall, gap = p[0] * math.sin(p[1] * t), p[2]
    for side in (-1.0, 1.0):
        edge = wall + side * (gap + 0.3)
        ax.fill(edge + side * np.array([0.0, 0.4, 0.4, 0.0]), [-0.6, -0.6, 0.6, 0.6], facecolor=FREE, edgecolor=EDGE)
    ax.plot([wall + x[0]], [0.0], "o", ms=22, color=BODY, mec=EDGE, mew=1.5)
    frame(ax, t, (-p[0] - gap - 1.0, p[0] + gap + 1.0), (-1.0, 1.0), floor=False)


MODEL = Model(
    about="a loose gear that rattles between teeth",
    make=gear_rattle,
    start=START,
    tf=20.0,
    draw=draw,
    units={"t": "s", "s": "mm", "v": "mm/s"},
)
