"""A business cycle: investment that follows the growth of income, with a floor and a ceiling (Goodwin_1951).

eps theta y'' + (eps + (1 - alpha) theta) y' - phi(y') + (1 - alpha) y = 0

phi(v) = kappa v between floor and ceiling: induced investment can be no smaller than what is not replaced, and no larger
than what can be produced. Guards: kappa v - floor, kappa v - ceiling. y is income over its equilibrium, v = y'.

The equilibrium is unstable, the limits keep the oscillation finite: from any start comes the same cycle, with long
booms and short slumps. Between events the equation is linear.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..system.system import System
from .admissible import ANY, FRACTION, POSITIVE, ordered, takes
from .model import Model

if TYPE_CHECKING:
    from .._typing import FloatArray

START = np.array([1.0, 1.0])


def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    eps, theta, alpha, kappa, floor, ceiling = p[0], p[1], p[2], p[3], p[4], p[5]
    if b[0] < 0:
        invested = floor
    elif b[1] > 0:
        invested = ceiling
    else:
        invested = kappa * x[1]
    dx[0] = x[1]
    dx[1] = (invested - (eps + (1.0 - alpha) * theta) * x[1] - (1.0 - alpha) * x[0]) / (eps * theta)


def guards(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    out[0] = p[3] * x[1] - p[4]
    out[1] = p[3] * x[1] - p[5]


LIMITS = {"eps": POSITIVE, "theta": POSITIVE, "alpha": FRACTION, "kappa": POSITIVE, "floor": ANY, "ceiling": ANY}


@takes(LIMITS)
def goodwin(
    eps: float = 0.5,
    theta: float = 1.0,
    alpha: float = 0.6,
    kappa: float = 2.0,
    floor: float = -3.0,
    ceiling: float = 9.0,
) -> System:
    """A business cycle: investment that follows the growth of income, with a floor and a ceiling.

    Parameters
    ----------
    eps, theta : float
        Lags, in years: of spending behind income, and between decisions to invest and outlays.
    alpha : float
        Part of income that is spent.
    kappa : float
        Capital that is wanted for a unit of income: the acceleration coefficient.
    floor, ceiling : float
        Least and most induced investment.

    Returns
    -------
    System
        States y (income over its equilibrium) and v (its growth), guards "floor" and "ceiling".

    Examples
    --------
    >>> import bouligand as bd
    >>> sol = bd.solve(bd.models.goodwin(), (0.0, 60.0), [1.0, 1.0], rtol=1e-9)
    >>> booms = sol.t_events[1][::2]  # the ceiling is reached
    >>> bool(abs(booms[-1] - 2.0 * booms[-2] + booms[-3]) < 1e-5)  # periodic
    True
    """
    ordered("floor", floor, "ceiling", ceiling)
    return System(
        field,
        guards,
        states=("y", "v"),
        guards=("floor", "ceiling"),
        params={"eps": eps, "theta": theta, "alpha": alpha, "kappa": kappa, "floor": floor, "ceiling": ceiling},
        name="Goodwin's business cycle",
    )


MODEL = Model(
    about="a business cycle with floor and ceiling (Goodwin 1951)",
    make=goodwin,
    start=START,
    tf=40.0,
    units={"t": "years", "y": "income", "v": "income/year"},
)
