"""Chua's circuit: two capacitors, a coil, and a resistor that is linear in three pieces (Matsumoto_Chua_Komuro_1985).

x' = alpha (y - x - g(x))         g(x) = inner x for |x| < 1, slope outer beyond
y' = x - y + z                    guards: h = x + 1, x - 1
z' = -beta y

With the usual values the motion is chaotic, on the double scroll. In each of the three pieces the circuit is linear.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..system.system import System
from .admissible import ANY, POSITIVE, takes
from .model import Model

if TYPE_CHECKING:
    from .._typing import FloatArray

START = np.array([0.1, 0.0, 0.0])


def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    alpha, beta, inner, outer = p[0], p[1], p[2], p[3]
    if b[0] < 0:
        current = outer * x[0] + outer - inner
    elif b[1] > 0:
        current = outer * x[0] - outer + inner
    else:
        current = inner * x[0]
    dx[0] = alpha * (x[1] - x[0] - current)
    dx[1] = x[0] - x[1] + x[2]
    dx[2] = -beta * x[1]


def guards(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    out[0] = x[0] + 1.0
    out[1] = x[0] - 1.0


LIMITS = {"alpha": POSITIVE, "beta": POSITIVE, "inner": ANY, "outer": ANY}


@takes(LIMITS)
def chua(alpha: float = 9.0, beta: float = 100.0 / 7.0, inner: float = -8.0 / 7.0, outer: float = -5.0 / 7.0) -> System:
    """Chua's circuit, with a resistor that is linear in three pieces.

    Parameters
    ----------
    alpha, beta : float
        Ratio of the capacitors, and of one of them to the coil, without dimensions.
    inner, outer : float
        Slopes of the resistor, for ``|x| < 1`` and beyond.

    Returns
    -------
    System
        States x, y, z (two voltages, a current), guards "left" and "right".

    Examples
    --------
    >>> import bouligand as bd
    >>> sol = bd.solve(bd.models.chua(), (0.0, 50.0), [0.1, 0.0, 0.0], rtol=1e-9)
    >>> bool(len(sol.events) > 20 and abs(sol.x).max() < 6.0)
    True
    """
    return System(
        field,
        guards,
        states=("x", "y", "z"),
        guards=("left", "right"),
        params={"alpha": alpha, "beta": beta, "inner": inner, "outer": outer},
        name="Chua's circuit",
    )


MODEL = Model(about="Chua's circuit, on the double scroll", make=chua, start=START, tf=50.0)
