"""A linear plant of third order under a relay, whose output stays at zero for a part of each period.

x' = A x - B sign(y),   y = x_0        guard: h = y        sliding mode: y = 0, where the relay would switch infinitely often

        | -(2 z w + 1)     1  0 |       |    1     |       poles of the plant: -1, and a pair of frequency w and damping z
    A = | -(2 z w + w^2)   0  1 |,  B = | -2 sigma |       zeros: twice sigma
        | -w^2             0  0 |       | sigma^2  |

(The family of Johansson, Rantzer and Astrom, 1999.) The relay keeps y = 0 while |x_1| < 1: then y' = x_1 - sign(y) points towards
it on both sides. Each mode is linear, so that all is known by matrix exponentials.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..system.system import System
from .admissible import ANY, POSITIVE, takes
from .model import Model

if TYPE_CHECKING:
    from .._typing import FloatArray

START = np.array([0.5, 3.0, 0.1])


def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    w, z, sigma = p[0], p[1], p[2]
    dx[0] = -(2.0 * z * w + 1.0) * x[0] + x[1] - b[0]
    dx[1] = -(2.0 * z * w + w * w) * x[0] + x[2] + 2.0 * sigma * b[0]
    dx[2] = -w * w * x[0] - sigma * sigma * b[0]


def guard(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    out[0] = x[0]


LIMITS = {"w": POSITIVE, "z": ANY, "sigma": ANY}


@takes(LIMITS)
def relay_feedback(w: float = 25.0, z: float = 0.05, sigma: float = 1.0) -> System:
    """A linear plant of third order under a relay, whose output stays at zero for a part of each period.

    Parameters
    ----------
    w, z : float
        Frequency and damping of a pair of poles of the plant; the third pole is -1.
    sigma : float
        Its double zero.

    Returns
    -------
    System
        States y, x1 and x2; guard "relay", with a sliding mode.

    Examples
    --------
    >>> import bouligand as bd
    >>> from bouligand.models.relay_feedback import START
    >>> sol = bd.solve(bd.models.relay_feedback(), (0.0, 10.0), START, rtol=1e-9)
    >>> 0 in sol.b
    True
    """
    return System(
        field,
        guard,
        states=("y", "x1", "x2"),
        guards=("relay",),
        params={"w": w, "z": z, "sigma": sigma},
        sliding="filippov",
        name="relay feedback",
    )


MODEL = Model(
    about="a relay that keeps its output at zero for a while",
    make=relay_feedback,
    start=START,
    tf=10.0,
    cycle={"section": "phase", "period": 5.96, "settle": 40.1},
)
