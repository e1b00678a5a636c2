"""A trade cycle that creeps along its ceiling: multiplier, accelerator, full employment, idle capital (Hicks_1950).

y' = speed (I - saving y)                while y < ceiling; at the ceiling y stays while demand exceeds it: a sliding mode
I' = lag (accelerator y' - I)            but induced investment is at least -floor: guard accelerator y' + floor

y is output over its floor, I induced investment, both over a steady growth. Hicks has discrete periods; this is the same
story with continuous lags. At the ceiling output no longer grows, so that induced investment dies out, I = I_0 exp(-lag t),
until demand falls below the ceiling, at I = saving ceiling. That point is the same every time: from there on it is on the
cycle, whatever the start. All modes are linear.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..system.system import System
from .admissible import NOT_NEGATIVE, POSITIVE, takes
from .model import Model

if TYPE_CHECKING:
    from .._typing import FloatArray

START = np.array([0.1, 0.1])


def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    saving, speed, accelerator, lag, floor = p[0], p[1], p[2], p[3], p[4]
    growth = speed * (x[1] - saving * x[0])
    if b[0] > 0:  # beyond the ceiling there is nothing but the way back
        growth = -math.sqrt(1.0 + growth * growth)
    dx[0] = growth
    dx[1] = lag * (-floor - x[1]) if b[1] < 0 else lag * (accelerator * growth - x[1])


def guards(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    out[0] = x[0] - p[5]
    out[1] = p[2] * p[1] * (x[1] - p[0] * x[0]) + p[4]


LIMITS = {
    "saving": POSITIVE, "speed": POSITIVE, "accelerator": NOT_NEGATIVE, "lag": POSITIVE, "floor": NOT_NEGATIVE,
    "ceiling": POSITIVE,
}  # fmt: skip


@takes(LIMITS)
def hicks(
    saving: float = 0.25,
    speed: float = 1.0,
    accelerator: float = 2.0,
    lag: float = 1.0,
    floor: float = 0.5,
    ceiling: float = 1.0,
) -> System:
    """A trade cycle that creeps along its ceiling.

    Parameters
    ----------
    saving : float
        Part of output that is not spent.
    speed, lag : float
        Rates at which output follows demand, and investment what is wanted.
    accelerator : float
        Investment that growth induces. The cycle explodes if ``lag (accelerator speed - 1) > saving speed``, and needs its
        limits.
    floor : float
        Induced investment is at least minus this: capital that is not replaced.
    ceiling : float
        Most output.

    Returns
    -------
    System
        States y and I; guards "ceiling", with a sliding mode, and "floor".

    Examples
    --------
    >>> import bouligand as bd
    >>> sol = bd.solve(bd.models.hicks(), (0.0, 40.0), [0.1, 0.1], rtol=1e-9)
    >>> leaves = [k for k, side in enumerate(sol.events.direction) if sol.events.guard[k] == 0 and side < 0]
    >>> bool(abs(sol.events.x[leaves] - [1.0, 0.25]).max() < 1e-7)  # every time at I = saving ceiling
    True
    """
    return System(
        field,
        guards,
        states=("y", "I"),
        guards=("ceiling", "floor"),
        params={
            "saving": saving,
            "speed": speed,
            "accelerator": accelerator,
            "lag": lag,
            "floor": floor,
            "ceiling": ceiling,
        },
        sliding="filippov",
        name="Hicks's trade cycle",
    )


MODEL = Model(about="a trade cycle that creeps along its ceiling (Hicks 1950)", make=hicks, start=START, tf=40.0)
