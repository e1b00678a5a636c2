"""Three blocks in a stack on a table that is shaken, with dry friction on each of the three surfaces.

        [  3  ]           m_k v_k' = F_k - F_(k+1)          F_k: friction from below, at most mu_k times the weight above it
       [   2   ]          F_k = -mu_k g (m_k + ... + m_3) sign(v_k - v_(k-1))
      [    1    ]         guards: h_k = v_k - v_(k-1); v_0 = speed cos(w t) is the table
    ===============
       <- table ->        sliding modes of up to three guards at once: what sticks together moves together

Every block is either carried by the table or has a constant acceleration, so that the motion is elementary between the events. A
block sticks to what is below it as long as the friction that this takes is within its limit.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..system.system import System
from .admissible import ANY, NOT_NEGATIVE, POSITIVE, Reals, takes
from .drawing import BODY, EDGE, FLOOR, FREE, TOUCHING, frame
from .model import Model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from .._typing import FloatArray, SignArray

START = np.array([0.0, 0.0, 0.0, 0.2, 0.1, 0.0])


def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    load, above = 0.0, 0.0  # weight over g of the blocks from this one upwards; friction at the top of this one
    for k in range(2, -1, -1):
        load += p[k]
        below = -p[3 + k] * p[6] * load * b[k]
        dx[k] = x[3 + k]
        dx[3 + k] = (below - above) / p[k]
        above = below


def guards(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    out[0] = x[3] - p[7] * math.cos(p[8] * t)
    out[1] = x[4] - x[3]
    out[2] = x[5] - x[4]


LIMITS = {
    "masses": Reals(POSITIVE, 3),
    "mu": Reals(NOT_NEGATIVE, 3),
    "g": NOT_NEGATIVE,
    "speed": ANY,
    "w": NOT_NEGATIVE,
}


@takes(LIMITS)
def three_blocks(
    masses: Sequence[float] = (3.0, 2.0, 1.0),
    mu: Sequence[float] = (0.6, 0.4, 0.2),
    g: float = 9.81,
    speed: float = 0.8,
    w: float = 2.0 * math.pi,
) -> System:
    """Three blocks in a stack on a table that is shaken, with dry friction on each of the three surfaces.

    The usual start, START in this file, has every block slower than what is below it.

    Parameters
    ----------
    masses, mu : sequences of three numbers
        Of the blocks, and the coefficient of friction below each, from the lowest one upwards.
    g : float
        Gravity.
    speed, w : float
        The table has the velocity speed cos(w t).

    Returns
    -------
    System
        States x1, x2, x3 and v1, v2, v3; guards "slip 1", "slip 2", "slip 3", with sliding modes: blocks that stick.

    Examples
    --------
    >>> import bouligand as bd
    >>> sol = bd.solve(bd.models.three_blocks(), (0.0, 0.5), [0.0] * 6)
    >>> list(sol.events.name[:2]), sol.word(sol.events.t[1])
    (['slip 1', 'slip 2'], array([ 0,  0, -1], dtype=int8))
    """
    params = {f"m{k + 1}": float(m) for k, m in enumerate(masses)}
    params.update({f"mu{k + 1}": float(value) for k, value in enumerate(mu)})
    return System(
        field,
        guards,
        states=("x1", "x2", "x3", "v1", "v2", "v3"),
        guards=("slip 1", "slip 2", "slip 3"),
        params={**params, "g": g, "speed": speed, "w": w},
        sliding="filippov",
        name="three blocks",
    )


def draw(ax: Axes, t: float, x: FloatArray, b: SignArray, p: FloatArray) -> None:
    """The stack on its table; surfaces that stick are red."""
    table = p[7] * t * np.sinc(p[8] * t / math.pi)
    ax.fill(table + np.array([-0.8, 0.8, 0.8, -0.8]), [-0.1, -0.1, 0.0, 0.0], facecolor=FLOOR, edgecolor=FLOOR)
    for k, half in enumerate((0.3, 0.22, 0.14)):
        low = 0.2 * k
        corners = x[k] + half * np.array([-1.0, 1.0, 1.0, -1.0])
        ax.fill(corners, [low, low, low + 0.2, low + 0.2], facecolor=BODY, edgecolor=EDGE, lw=1.5)
        ax.plot([x[k] - half, x[k] + half], [low, low], color=TOUCHING if b[k] == 0 else FREE, lw=3.0)
    frame(ax, t, (-1.1, 1.1), (-0.2, 0.8), floor=False)


MODEL = Model(
    about="a stack of three blocks on a table that is shaken",
    make=three_blocks,
    start=START,
    tf=3.0,
    draw=draw,
    speed=0.5,
    units={"t": "s", "x": "m", "v": "m/s"},
)
