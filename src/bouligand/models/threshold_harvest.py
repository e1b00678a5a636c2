"""A fish stock that is harvested only above a threshold (Collie_Spencer_1993).

x' = r x (1 - x / K) - E x [x > T]        guard: h = x - T
y' = E x [x > T]                          the yield

Below the threshold the stock recovers along the logistic curve. If fishing at full effort takes more than grows at T, the
stock then stays at T, a sliding mode in which only the part r (1 - T / K) / E of the effort is used, and the yield grows by
r T (1 - T / K) a year. All of it is in closed form, see `exact`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..system.system import System
from .admissible import NOT_NEGATIVE, NUMBERS, POSITIVE, takes
from .model import Model

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import FloatArray

START = np.array([0.1, 0.0])


def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    catch = p[2] * x[0] if b[0] > 0 else 0.0 * x[0]
    dx[0] = p[0] * x[0] * (1.0 - x[0] / p[1]) - catch
    dx[1] = catch


def guard(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    out[0] = x[0] - p[3]


LIMITS = {"r": POSITIVE, "K": POSITIVE, "effort": NOT_NEGATIVE, "threshold": POSITIVE}


@takes(LIMITS)
def threshold_harvest(r: float = 0.8, K: float = 1.0, effort: float = 0.6, threshold: float = 0.5) -> System:
    """A fish stock that is harvested only above a threshold.

    Parameters
    ----------
    r, K : float
        Growth rate of a small stock, and the stock that the water supports.
    effort : float
        E, the part of the stock that is caught a year.
    threshold : float
        T, below which nothing is caught.

    Returns
    -------
    System
        States x (stock) and yield; guard "threshold", with a sliding mode.

    Examples
    --------
    >>> import bouligand as bd
    >>> sol = bd.solve(bd.models.threshold_harvest(), (0.0, 10.0), [0.1, 0.0], rtol=1e-9)
    >>> float(sol.x[-1, 0]), sol.b[-1].tolist()
    (0.5, [0])
    """
    return System(
        field,
        guard,
        states=("x", "yield"),
        guards=("threshold",),
        params={"r": r, "K": K, "effort": effort, "threshold": threshold},
        sliding="filippov",
        name="threshold harvesting",
    )


@takes(LIMITS, x0=POSITIVE)
def arrival(x0: float, r: float = 0.8, K: float = 1.0, threshold: float = 0.5) -> float:
    """When a stock below the threshold reaches it."""
    if not x0 < threshold < K:
        raise ValueError(f"x0 must be less than threshold, and that less than K; got {x0:g}, {threshold:g}, {K:g}")
    return math.log(threshold * (K - x0) / (x0 * (K - threshold))) / r


@takes(LIMITS, t=NUMBERS, x0=POSITIVE)
def exact(
    t: ArrayLike, x0: float = 0.1, r: float = 0.8, K: float = 1.0, effort: float = 0.6, threshold: float = 0.5
) -> FloatArray:
    """(x, yield) at the times t, shape (len(t), 2), from below a threshold at which the stock then stays."""
    if not 0.0 < r * (1.0 - threshold / K) < effort:
        raise ValueError("the stock stays at the threshold only if 0 < r (1 - threshold / K) < effort")
    t = np.atleast_1d(np.asarray(t, dtype=float))
    reached = arrival(x0, r, K, threshold)
    free = K / (1.0 + (K / x0 - 1.0) * np.exp(-r * np.minimum(t, reached)))
    stock = np.where(t < reached, free, threshold)
    caught = r * threshold * (1.0 - threshold / K) * np.maximum(t - reached, 0.0)
    return np.column_stack([stock, caught])


MODEL = Model(about="a fish stock, harvested above a threshold", make=threshold_harvest, start=START, tf=10.0)
