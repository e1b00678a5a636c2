"""Prey, and predators that are hunted only while they are many: the threshold policy of Meza_2005.

x' = r x (1 - x / K) - a x y                    x: prey
y' = y (e a x - m - E [y > T])                  y: predators;  guard: h = y - T

Where the predators would grow below T and shrink above it, which is for m < e a x < m + E, they stay at T: a sliding mode.
The prey then follows a logistic curve with the rate r - a T, see `prey_while_sliding`, towards K (1 - a T / r). If that is
within the limits, everything ends there. Else the prey leaves them, and so does y.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..system.system import System
from .admissible import NOT_NEGATIVE, NUMBERS, POSITIVE, takes
from .model import Model

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import FloatArray

START = np.array([1.0, 0.3])


def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    r, K, a, e, m, effort = p[0], p[1], p[2], p[3], p[4], p[5]
    hunted = effort if b[0] > 0 else 0.0 * effort
    dx[0] = r * x[0] * (1.0 - x[0] / K) - a * x[0] * x[1]
    dx[1] = x[1] * (e * a * x[0] - m - hunted)


def guard(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    out[0] = x[1] - p[6]


LIMITS = {
    "r": POSITIVE, "K": POSITIVE, "a": POSITIVE, "e": POSITIVE, "m": NOT_NEGATIVE, "effort": NOT_NEGATIVE,
    "threshold": POSITIVE,
}  # fmt: skip


@takes(LIMITS)
def predator_prey(
    r: float = 1.0,
    K: float = 4.0,
    a: float = 1.0,
    e: float = 0.5,
    m: float = 0.4,
    effort: float = 0.8,
    threshold: float = 0.6,
) -> System:
    """Prey, and predators that are hunted only while they are many.

    Parameters
    ----------
    r, K : float
        Growth rate of few prey, and the prey that the land supports.
    a, e : float
        Rate at which a predator finds prey, and predators that are made of one prey.
    m : float
        Rate at which predators die.
    effort, threshold : float
        E, the part of the predators that is hunted while they are more than T.

    Returns
    -------
    System
        States x (prey) and y (predators); guard "threshold", with a sliding mode.

    Examples
    --------
    >>> import bouligand as bd
    >>> sol = bd.solve(bd.models.predator_prey(), (0.0, 60.0), [1.0, 0.3], rtol=1e-9)
    >>> sol.b[-1].tolist(), sol.x[-1].round(6).tolist()  # at rest at x = K (1 - a T / r), y = T
    ([0], [1.6, 0.6])
    """
    return System(
        field,
        guard,
        states=("x", "y"),
        guards=("threshold",),
        params={"r": r, "K": K, "a": a, "e": e, "m": m, "effort": effort, "threshold": threshold},
        sliding="filippov",
        name="predators and prey",
    )


@takes(LIMITS, t=NUMBERS, x0=POSITIVE)
def prey_while_sliding(
    t: ArrayLike, x0: float, r: float = 1.0, K: float = 4.0, a: float = 1.0, threshold: float = 0.6
) -> FloatArray:
    """x after a time t of sliding that began with x0: a logistic curve."""
    rate, rest = r - a * threshold, K * (1.0 - a * threshold / r)
    return rest / (1.0 + (rest / x0 - 1.0) * np.exp(-rate * np.asarray(t, dtype=float)))


MODEL = Model(about="prey, and predators that are hunted while they are many", make=predator_prey, start=START, tf=60.0)
