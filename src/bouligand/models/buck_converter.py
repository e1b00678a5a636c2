r"""A DC-DC buck converter under voltage control: a switch, a coil, a capacitor, and a ramp that is compared with the error.

            switch     L                    v' = (i - v / R) / C
    Vin ---o/ o---+--nnnn--+-----+          i' = (Vin [closed] - v) / L
                  |        |     |          ramp = low + (high - low) tau / T
                 diode     C     R          guard "comparator": gain (v - Vref) = ramp; the switch is closed while below the ramp
                  |        |     |          guard "clock": tau = T, where tau jumps back to 0
    --------------+--------+-----+

The usual values are those of Fossas and Olivar (1996), and of di Bernardo and others after them. Its motion with the ramp's
period doubles that period near Vin = 24.5 V, on a way to chaos. Each mode is linear, so that the cycle with one pulse in each
period is known by matrix exponentials: `pulse`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..system.system import System
from .admissible import POSITIVE, takes
from .model import Model

if TYPE_CHECKING:
    from .._typing import ComplexArray, FloatArray

START = np.array([12.0, 0.55, 0.0])
VIN, L, C, R, VREF, GAIN, LOW, HIGH, PERIOD = 20.0, 20e-3, 47e-6, 22.0, 11.3, 8.4, 3.8, 8.2, 400e-6


def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    closed = 1.0 if b[0] < 0.0 else 0.0
    dx[0] = (x[1] - x[0] / p[3]) / p[2]
    dx[1] = (closed * p[0] - x[0]) / p[1]
    dx[2] = 1.0


def guards(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    out[0] = p[5] * (x[0] - p[4]) - (p[6] + (p[7] - p[6]) * x[2] / p[8])
    out[1] = (x[2] - p[8]) / p[8]


def restart(t: float, x: FloatArray, b: FloatArray, p: FloatArray, xnew: FloatArray) -> None:
    xnew[2] = 0.0


LIMITS = {"Vin": POSITIVE, "load": POSITIVE}


@takes(LIMITS)
def buck_converter(Vin: float = VIN, load: float = R) -> System:
    """A DC-DC buck converter under voltage control, whose motion doubles its period near Vin = 24.5 V.

    Parameters
    ----------
    Vin : float
        The voltage of the supply.
    load : float
        The resistance of the load.

    Returns
    -------
    System
        States v, i and tau (time since the ramp's restart); guards "comparator" and "clock", with a jump of tau.

    Examples
    --------
    >>> import bouligand as bd
    >>> from bouligand.models.buck_converter import START
    >>> sol = bd.solve(bd.models.buck_converter(), (0.0, 0.02), START)
    >>> int((sol.events.name == "clock").sum())
    50
    """
    values = (Vin, L, C, load, VREF, GAIN, LOW, HIGH, PERIOD)
    names = ("Vin", "L", "C", "R", "Vref", "gain", "low", "high", "T")
    return System(
        field,
        guards,
        states=("v", "i", "tau"),
        guards=("comparator", "clock"),
        params=dict(zip(names, values, strict=True)),
        direction={"clock": 1},
        jumps={"clock": restart},
        name="buck converter",
    )


@takes(LIMITS)
def pulse(Vin: float = VIN, load: float = R) -> tuple[float, FloatArray, ComplexArray]:
    """The cycle with one pulse in each period: the part of it at which the switch closes, (v, i) when the ramp restarts, and the
    multipliers; by matrix exponentials and a root of one variable.

    After a restart v is above the ramp, and the switch is open; it closes at the time d T, at which the ramp reaches the error.
    """
    from scipy.linalg import expm
    from scipy.optimize import brentq

    A = np.array([[-1.0 / (load * C), 1.0 / C], [-1.0 / L, 0.0]])
    push = np.array([0.0, Vin / L])

    def restart_state(d: float) -> FloatArray:
        after = expm(A * (1.0 - d) * PERIOD)
        driven = np.linalg.solve(A, (after - np.eye(2)) @ push)
        out: FloatArray = np.linalg.solve(np.eye(2) - after @ expm(A * d * PERIOD), driven)
        return out

    def above(d: float) -> float:
        v = (expm(A * d * PERIOD) @ restart_state(d))[0]
        return float(GAIN * (v - VREF) - (LOW + (HIGH - LOW) * d))

    if above(1e-6) * above(1.0 - 1e-6) > 0.0:
        raise ValueError(f"there is no cycle with one pulse in each period for Vin = {Vin:g} and load = {load:g}")
    d = brentq(above, 1e-6, 1.0 - 1e-6, xtol=1e-15)
    x = expm(A * d * PERIOD) @ restart_state(d)
    rate = GAIN * (A @ x)[0] - (HIGH - LOW) / PERIOD
    saltation = np.eye(2) + np.outer(push, [GAIN, 0.0]) / rate
    M = expm(A * (1.0 - d) * PERIOD) @ saltation @ expm(A * d * PERIOD)
    return d, restart_state(d), np.linalg.eigvals(M).astype(complex)


def doubling() -> float:
    """Vin at which a multiplier of the cycle with one pulse is -1."""
    from scipy.optimize import brentq

    def least(Vin: float) -> float:
        # (det(M + I), which is real where the multipliers are a pair, too)
        return float(np.prod(pulse(Vin)[2] + 1.0).real)

    return float(brentq(least, 20.0, 30.0, xtol=1e-13))


MODEL = Model(
    about="a switched power supply on its way to chaos",
    make=buck_converter,
    start=START,
    tf=0.01,
    units={"t": "s", "v": "V", "i": "A", "tau": "s"},
    cycle={"section": "clock", "settle": 0.02},
)
