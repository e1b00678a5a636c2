"""A hexapod like RHex whose legs are driven: six clocks and six lengths follow controls.

It is the hexapod of `hexapod.py`, body, feet and floor, with twelve more states: the phase of each leg's clock, which turns at
the rate that is its control, and its length, which follows its control with a lag.

    phi_i' = rate_i          gamma_i = phi_i - swing sin phi_i          l_i' = (reach_i - l_i) / lag

With equal rates, and the second tripod half a turn behind, it walks as the hexapod does (whose time is the clock of all legs);
legs that turn faster on one side turn it. The controls are parameters, held over intervals by `rollout` and `planning.Plan`.

What is known: with the rates of the hexapod and constant lengths its body moves as that one
(tests/planning/test_driven_hexapod.py).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..system.system import System
from .admissible import POSITIVE, takes
from .drawing import BODY, EDGE, contact_colour, frame, project
from .hexapod import ACROSS, FEET, LENGTH, VIEW, WIDTH, hexapod
from .hexapod import LIMITS as OF_THE_HEXAPOD
from .hexapod import START as BODY_START
from .model import Model

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .._typing import FloatArray, SignArray

RATES = tuple(f"rate{i}" for i in range(6))
REACHES = tuple(f"reach{i}" for i in range(6))
CONTROLS = (*RATES, *REACHES)
PHASE, LEG = -1.1, 0.175
START = np.concatenate([BODY_START, PHASE + math.pi * (np.arange(6) // 3), np.full(6, LEG)])


LIMITS = {**OF_THE_HEXAPOD, "lag": POSITIVE, "leg": POSITIVE, "period": POSITIVE}


@takes(LIMITS)
def driven_hexapod(lag: float = 0.03, leg: float = LEG, period: float = 0.5, **others: Any) -> System:
    """A hexapod like RHex whose legs are driven: six clocks and six lengths follow controls.

    The usual start, START in this file, is that of the hexapod.

    Parameters
    ----------
    lag : float
        Time in which a leg's length follows its control.
    leg, period : float
        Usual length of the legs, and duration of a turn, that the controls begin with.
    **others : float
        Those of `hexapod`: mass, stiffness, damping, friction, slip, swing, g.

    Returns
    -------
    System
        States of the hexapod, clock0 to clock5 and length0 to length5; guards of the six feet; controls rate0 to rate5 (rad/s)
        and reach0 to reach5 (m).

    Examples
    --------
    >>> import bouligand as bd
    >>> system = bd.models.driven_hexapod()
    >>> system.n, system.m, system.params[-12:-9]
    (24, 6, ('rate0', 'rate1', 'rate2'))
    """
    from . import _driven_hexapod_compiled as compiled

    plain = hexapod(leg=leg, period=period, **others)
    params = dict(zip(plain.params, plain.defaults.tolist(), strict=True))
    params["lag"] = lag
    params |= dict.fromkeys(RATES, 2.0 * math.pi / period) | dict.fromkeys(REACHES, leg)
    return System(
        compiled.field,
        compiled.guards,
        states=(*plain.states, *(f"clock{i}" for i in range(6)), *(f"length{i}" for i in range(6))),
        guards=FEET,
        params=params,
        name="driven hexapod",
        f0=compiled.free,
        g=compiled.contact,
        Dh_row=compiled.guard_row,
    )


def draw(ax: Axes, t: float, x: FloatArray, b: SignArray, p: FloatArray) -> None:
    """From the side; the camera moves with the robot, past lines across the floor that do not move."""
    from . import _driven_hexapod_compiled as compiled
    from ._hexapod_compiled import rotation

    turn, centre = np.array(rotation(x)), np.array([0.0, 0.0, x[2]])
    length, width, height = p[LENGTH], p[WIDTH], 0.06
    for along, span in ((0, 1), (1, 0)):  # a grid on the floor
        for place in np.arange(np.ceil((x[along] - 1.0) / 0.25) * 0.25, x[along] + 1.0, 0.25) - x[along]:
            ends = np.zeros((2, 3))
            ends[:, along], ends[:, span] = place, (-1.0, 1.0)
            ax.plot(*project(ends, *VIEW).T, color="0.88", lw=1.0, zorder=0)
    corners = np.array([[sx * length, sy * width, 0.0] for sx, sy in ((1, 1), (1, -1), (-1, -1), (-1, 1), (1, 1))])
    low, high = (centre + (corners + [0.0, 0.0, level]) @ turn.T for level in (-0.5 * height, 0.5 * height))
    for a, c in zip(range(4), range(1, 5), strict=True):
        side = np.vstack([low[[a, c]], high[[c, a]]])
        ax.fill(*project(side, *VIEW).T, facecolor=EDGE, edgecolor=EDGE, zorder=3)
    ax.fill(*project(high, *VIEW).T, facecolor=BODY, edgecolor=EDGE, lw=1.2, zorder=3)
    nose = centre + np.array([[0.8 * length, 0.0, 0.5 * height]]) @ turn.T
    ax.plot(*project(nose, *VIEW).T, "o", ms=5, color=EDGE, zorder=4)
    for i in range(6):
        place, _ = compiled.leg(i, x, p)
        hip = np.array([length * (1.0, 0.0, -1.0)[i % 3], width * ACROSS[i], 0.0])
        beside = [hip[0], np.copysign(width, hip[1]), 0.0]
        points = centre + np.array([beside, hip, place]) @ turn.T
        far = points[0] @ [np.cos(VIEW[0]), np.sin(VIEW[0]), 0.0] < 0.0
        colour = contact_colour(b[i])
        ax.plot(*project(points[:2], *VIEW).T, color=EDGE, lw=2.0, zorder=2 if far else 4)
        ax.plot(*project(points[1:], *VIEW).T, color=colour, lw=3.0, solid_capstyle="round", zorder=2 if far else 4)
        ax.plot(*project(points[2:], *VIEW).T, "o", ms=5, color=colour, zorder=2 if far else 4)
    frame(ax, t, (-0.6, 0.6), (-0.25, 0.5), floor=False)


MODEL = Model(
    about="a hexapod with a clock and a length for each leg, for planning",
    make=driven_hexapod,
    start=START,
    tf=1.5,
    draw=draw,
    speed=0.4,
    units={
        "t": "s",
        **dict.fromkeys(("x", "y", "z", *(f"length{i}" for i in range(6))), "m"),
        **dict.fromkeys(("roll", "pitch", "yaw", *(f"clock{i}" for i in range(6))), "rad"),
        **dict.fromkeys(("vx", "vy", "vz"), "m/s"),
        **dict.fromkeys(("wx", "wy", "wz"), "rad/s"),
    },
)
