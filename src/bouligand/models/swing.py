"""A generator on a long line, a short circuit that relays clear, and a relay against loss of step (Kundur_1994, example 13.1).

delta' = w                                  guards: t - fault, t - fault - clearing (the circuit breakers),
2 H / w0 w' = P - P_max sin(delta) - D w            delta - trip (the generator is disconnected, for ever)

P_max is that of the network before, during and after the fault: two lines, a short circuit (0), one line. The network is
algebraic, and eliminated: only its P_max is left. Without damping the generator keeps in step if the fault is cleared in time,
which the equal area criterion has in closed form (`critical_time`): 87 ms here.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..system.system import System
from .admissible import ANY, NOT_NEGATIVE, POSITIVE, takes
from .drawing import BODY, EDGE, FREE, TOUCHING, frame
from .model import Model

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .._typing import FloatArray, SignArray

W0 = 120.0 * math.pi
START = np.array([math.asin(0.9 / 1.351), 0.0])


def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    H, P, D = p[0], p[1], p[2]
    most = p[3] if b[0] < 0 else (p[4] if b[1] < 0 else p[5])
    if b[2] > 0:
        most = 0.0 * most
    dx[0] = x[1]
    dx[1] = 0.5 * W0 / H * (P - most * math.sin(x[0]) - D * x[1])


def guards(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    out[0] = t - p[6]
    out[1] = t - p[6] - p[7]
    out[2] = x[0] - p[8]


LIMITS = {
    "H": POSITIVE, "power": ANY, "damping": NOT_NEGATIVE, "before": NOT_NEGATIVE, "during": NOT_NEGATIVE,
    "after": NOT_NEGATIVE, "fault": NOT_NEGATIVE, "clearing": NOT_NEGATIVE, "trip": ANY,
}  # fmt: skip


@takes(LIMITS)
def swing(
    H: float = 3.5,
    power: float = 0.9,
    damping: float = 0.0,
    before: float = 1.351,
    during: float = 0.0,
    after: float = 1.1024,
    fault: float = 0.1,
    clearing: float = 0.07,
    trip: float = math.pi,
) -> System:
    """A generator on a long line, with a short circuit that is cleared, and a relay against loss of step.

    The usual start, START in this file, is at rest before the fault.

    Parameters
    ----------
    H : float
        Inertia: kinetic energy over power, in seconds.
    power, damping : float
        Mechanical power P, and damping torque D over speed.
    before, during, after : float
        P_max, the most that the network can take, before, during and after the fault.
    fault, clearing : float
        Time of the fault, and how long it lasts, in seconds.
    trip : float
        Angle at which the generator is disconnected.

    Returns
    -------
    System
        States delta (angle) and w (speed over that of the network), guards "fault", "cleared", "trip".

    Examples
    --------
    >>> import bouligand as bd
    >>> from bouligand.models.swing import START, critical_time
    >>> late = bd.solve(bd.models.swing(clearing=1.01 * critical_time()), (0.0, 2.0), START)
    >>> late.events.name.tolist()
    ['fault', 'cleared', 'trip']
    """
    return System(
        field,
        guards,
        states=("delta", "w"),
        guards=("fault", "cleared", "trip"),
        params={
            "H": H,
            "P": power,
            "D": damping,
            "before": before,
            "during": during,
            "after": after,
            "fault": fault,
            "clearing": clearing,
            "trip": trip,
        },
        direction=1,
        reset=np.zeros((3, 3)),
        name="swing equation",
    )


@takes(LIMITS, power=POSITIVE, before=POSITIVE, after=POSITIVE)
def critical_angle(power: float = 0.9, before: float = 1.351, during: float = 0.0, after: float = 1.1024) -> float:
    """Angle at which the fault has to be cleared at the latest: equal areas (no damping)."""
    first, last = math.asin(power / before), math.pi - math.asin(power / after)
    cosine = (power * (last - first) + after * math.cos(last) - during * math.cos(first)) / (after - during)
    return math.acos(cosine)


@takes(LIMITS, power=POSITIVE, before=POSITIVE, after=POSITIVE)
def critical_time(H: float = 3.5, power: float = 0.9, before: float = 1.351, after: float = 1.1024) -> float:
    """How long a fault may last during which no power is transmitted: the angle is a parabola then."""
    first = math.asin(power / before)
    return math.sqrt(4.0 * H * (critical_angle(power, before, 0.0, after) - first) / (W0 * power))


def draw(ax: Axes, t: float, x: FloatArray, b: SignArray, p: FloatArray) -> None:
    """The rotor against the rotating field of the network; red during the fault."""
    around = np.linspace(0.0, 2.0 * np.pi, 100)
    ax.fill(np.cos(around), np.sin(around), facecolor=BODY, edgecolor=EDGE, lw=1.5)
    ax.plot([0.0, 0.0], [0.0, 1.2], color=FREE, lw=1.2, ls=":")
    short = b[0] > 0 and b[1] < 0
    ax.plot([0.0, math.sin(x[0])], [0.0, math.cos(x[0])], color=TOUCHING if short else EDGE, lw=3.0)
    frame(ax, t, (-1.5, 1.5), (-1.2, 1.4), floor=False)


MODEL = Model(
    about="a generator that swings behind a short circuit",
    make=swing,
    start=START,
    tf=3.0,
    draw=draw,
    units={"t": "s", "delta": "rad", "w": "rad/s"},
)
