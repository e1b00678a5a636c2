"""A transformer that changes its ratio in steps to hold the voltage, with a dead band and a timer (Hiskens_Pai_2000).

V = n E / sqrt(1 + (n^2 X G)^2)          the network, eliminated: source E behind a line X, transformer of ratio n, load G
T G' = P - V^2 G                         the load recovers its power slowly
timer' = 1 outside the dead band, else 0

guards: V leaves or enters the dead band (the timer jumps to 0); timer = delay (n jumps by one step, the timer to 0)

The start is just behind a dip of the source's voltage: the load falls with the voltage, the transformer raises it step by
step, and each step lets the load come back. For a load that does not recover (recovery = inf would be it) all is known:
steps at multiples of the delay.
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

GOAL = 1.0


LIMITS = {
    "source": POSITIVE, "X": NOT_NEGATIVE, "power": NOT_NEGATIVE, "recovery": POSITIVE, "band": POSITIVE,
    "delay": POSITIVE, "step": POSITIVE,
}  # fmt: skip


@takes(LIMITS, n=POSITIVE, G=NOT_NEGATIVE, E=POSITIVE)
def voltage(n: float, G: float, E: float, X: float) -> float:
    """At the load."""
    return n * E / math.sqrt(1.0 + (n * n * X * G) ** 2)


@takes(LIMITS, P=NOT_NEGATIVE, E=POSITIVE)
def conductance(P: float = 0.8, E: float = 1.05, X: float = 0.3) -> float:
    """Of a load that takes the power P behind the line, at n = 1: of the two solutions the one with the higher voltage."""
    if 2.0 * X * P > E * E:
        raise ValueError(
            f"the line cannot carry so much: 2 X P must be at most E^2; got P = {P:g}, E = {E:g}, X = {X:g}"
        )
    return P / (0.5 * (E * E + math.sqrt(E**4 - 4.0 * (X * P) ** 2)))


START = np.array([conductance(), 1.0, 0.0])


def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    G, n, E, X = x[0], x[1], p[0], p[1]
    V = n * E / math.sqrt(1.0 + (n * n * X * G) ** 2)
    dx[0] = (p[2] - V * V * G) / p[3]
    dx[1] = 0.0
    dx[2] = 1.0 if b[0] < 0 or b[1] > 0 else 0.0


def guards(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    G, n, E, X = x[0], x[1], p[0], p[1]
    V = n * E / math.sqrt(1.0 + (n * n * X * G) ** 2)
    out[0] = V - GOAL + p[4]
    out[1] = V - GOAL - p[4]
    out[2] = x[2] - p[5]


def wait(t: float, x: FloatArray, b: FloatArray, p: FloatArray, xnew: FloatArray) -> None:
    xnew[2] = 0.0


def change(t: float, x: FloatArray, b: FloatArray, p: FloatArray, xnew: FloatArray) -> None:
    xnew[1] = x[1] + p[6] if b[0] < 0 else x[1] - p[6]
    xnew[2] = 0.0


@takes(LIMITS)
def tap_changer(
    source: float = 0.95,
    X: float = 0.3,
    power: float = 0.8,
    recovery: float = 60.0,
    band: float = 0.02,
    delay: float = 30.0,
    step: float = 0.02,
) -> System:
    """A transformer that changes its ratio in steps to hold the voltage, with a dead band and a timer.

    The usual start, START in this file, is at rest with a source of 1.05, just behind its dip.

    Parameters
    ----------
    source, X : float
        Voltage of the source, and reactance of the line.
    power, recovery : float
        Power of the load, and the time constant with which it comes back, in seconds.
    band : float
        The dead band is from 1 - band to 1 + band.
    delay, step : float
        Seconds outside the dead band before a change, and the change of the ratio.

    Returns
    -------
    System
        States G, n, timer; guards "low" and "high" (ends of the dead band) and "change", with jumps.

    Examples
    --------
    >>> import bouligand as bd
    >>> from bouligand.models.tap_changer import START
    >>> sol = bd.solve(bd.models.tap_changer(), (0.0, 600.0), START, rtol=1e-9)
    >>> bool(sol.x[-1, 1] > 1.0), sol.t_events[2][:2].round(6).tolist()
    (True, [30.0, 60.0])
    """
    return System(
        field,
        guards,
        states=("G", "n", "timer"),
        guards=("low", "high", "change"),
        params={
            "source": source,
            "X": X,
            "power": power,
            "recovery": recovery,
            "band": band,
            "delay": delay,
            "step": step,
        },
        jumps={"low": wait, "high": wait, "change": change},
        name="tap changer",
    )


MODEL = Model(
    about="a transformer that holds the voltage in steps",
    make=tap_changer,
    start=START,
    tf=600.0,
    units={"t": "s", "G": "p.u.", "n": "-", "timer": "s"},
)
