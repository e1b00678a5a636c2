"""A ring of genes, each of which switches the next one off (Glass_Pasternack_1978).

x_i' = -x_i - sign(x_(i-1))       guard i: h = x_i; gene 0 follows on the last one

A product x_i decays, and is made at one of two rates, by whether the gene before it is active. Each component is an
exponential between events, see `path`. With an odd number of genes the ring oscillates: with three the period is 6 log of
the golden ratio. With an even number it comes to rest, in one of two states.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..system.system import System
from .admissible import NOT_NEGATIVE, POSITIVE, VECTOR, Whole, listed, takes
from .model import Model

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import FloatArray

PERIOD = 6.0 * math.log(0.5 * (1.0 + math.sqrt(5.0)))  # of three genes


def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    for i in range(x.size):
        dx[i] = -p[0] * (x[i] + b[i - 1])


def guards(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    for i in range(x.size):
        out[i] = x[i]


LIMITS = {"count": Whole(2), "rate": POSITIVE}


@takes(LIMITS)
def glass_ring(count: int = 3, rate: float = 1.0) -> System:
    """A ring of genes, each of which switches the next one off.

    Parameters
    ----------
    count : int
        Their number, at least 2. Odd: the ring oscillates.
    rate : float
        At which the products decay.

    Returns
    -------
    System
        States x0, x1, ..., with a guard each, "gene 0", "gene 1", ...

    Examples
    --------
    >>> import bouligand as bd
    >>> from bouligand.models.glass_ring import PERIOD
    >>> sol = bd.solve(bd.models.glass_ring(3), (0.0, 40.0), [0.9, -0.4, 0.1], rtol=1e-9)
    >>> on = sol.t_events[0][-5::2]  # every other crossing is upwards
    >>> bool(abs(on[-1] - on[-2] - PERIOD) < 1e-7)
    True
    """
    return System(
        field,
        guards,
        states=tuple(f"x{i}" for i in range(count)),
        guards=tuple(f"gene {i}" for i in range(count)),
        params={"rate": rate},
        name=f"ring of {count} genes",
    )


@takes(LIMITS, tf=NOT_NEGATIVE, x0=VECTOR)
def path(tf: float, x0: ArrayLike, rate: float = 1.0) -> tuple[FloatArray, list[int], FloatArray]:
    """Closed form from event to event: the times of the crossings up to tf, who crosses, and the state at tf."""
    x = np.array(x0, dtype=float)
    signs = np.where(x > 0.0, 1.0, -1.0)
    t = 0.0
    times: list[float] = []
    which: list[int] = []
    while True:
        target = -np.roll(signs, 1)
        waits = np.full(x.size, np.inf)
        towards = target * signs < 0.0  # only these come to zero
        waits[towards] = np.log1p(np.abs(x[towards])) / rate
        k = int(np.argmin(waits))
        if t + waits[k] > tf:
            return np.array(times), which, target + (x - target) * math.exp(-rate * (tf - t))
        x = target + (x - target) * math.exp(-rate * waits[k])
        x[k], signs[k] = 0.0, -signs[k]
        t += waits[k]
        times.append(t)
        listed(times)
        which.append(k)


def _start(count: int) -> FloatArray:
    """Near the cycle: signs by turns, one of them about to change."""
    return np.where(np.arange(count) % 2 == 0, 1.0, -1.0) * np.linspace(0.9, 0.1, count)


MODEL = Model(about="genes that switch one another off in a ring", make=glass_ring, start=_start, tf=20.0, size=3)
