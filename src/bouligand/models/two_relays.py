"""Two relays that act on each other's state: a sliding mode on the intersection of two surfaces.

x' = a t - 2 sign(x) - sign(y)          guards: h = x, y
y' = -sign(x) / 2 - 3/2 sign(y)

(The field is affine in the signs, so that the sliding mode of codimension two is unique.) From (1, 1), with
a = 1: x is reached first, then both are slid on, at rest at the origin, until the drift a t exceeds what the relays can hold, at
t = 5 / (3 a); from there on x grows, and y stays. See `exact`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..system.system import System
from .admissible import ANY, NOT_NEGATIVE, takes
from .model import Model

if TYPE_CHECKING:
    from .._typing import FloatArray

START = np.array([1.0, 1.0])


def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    dx[0] = p[0] * t - 2.0 * b[0] - b[1]
    dx[1] = -0.5 * b[0] - 1.5 * b[1]


def guards(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    out[0] = x[0]
    out[1] = x[1]


LIMITS = {"drift": ANY}


@takes(LIMITS)
def two_relays(drift: float = 1.0) -> System:
    """Two relays that act on each other's state, with a sliding mode of codimension two.

    Parameters
    ----------
    drift : float
        a, by which the push against the first relay grows with time.

    Returns
    -------
    System
        States x and y; guards "first" and "second", with sliding modes.

    Examples
    --------
    >>> import bouligand as bd
    >>> sol = bd.solve(bd.models.two_relays(), (0.0, 3.0), [1.0, 1.0], rtol=1e-9)
    >>> sol.word(1.0).tolist(), bool(abs(sol.x[-1] - [8.0 / 9.0, 0.0]).max() < 1e-7)
    ([0, 0], True)
    """
    return System(
        field,
        guards,
        states=("x", "y"),
        guards=("first", "second"),
        params={"a": drift},
        sliding="filippov",
        name="two relays",
    )


@takes(LIMITS, tf=NOT_NEGATIVE)
def exact(tf: float = 3.0) -> tuple[FloatArray, FloatArray]:
    """The times of the three events from (1, 1) with a = 1, and the state at a time behind them.

    First x = 1 - 3 t + t^2 / 2. While x slides, its relay stands for u = (t - sign(y)) / 2, so that y' = -t / 4 - 5 / 4.
    Behind the exit y slides, and its relay stands for -1/3: x' = t - 5 / 3.
    """
    first = 3.0 - math.sqrt(7.0)
    at_first = 1.0 - 2.0 * first
    # at_first = (t^2 - first^2) / 8 + 5 (t - first) / 4
    second = -5.0 + math.sqrt(25.0 + 8.0 * (at_first + first * first / 8.0 + 1.25 * first))
    last = 5.0 / 3.0
    return np.array([first, second, last]), np.array([0.5 * (tf - last) ** 2, 0.0])


MODEL = Model(about="two relays, and a sliding mode on both", make=two_relays, start=START, tf=3.0)
