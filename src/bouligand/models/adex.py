"""Neurons with an exponential rise and adaptation, alone or coupled by pulses (Brette_Gerstner_2005).

C V' = g (E - V) + g width exp((V - VT) / width) - w + I         guard: h = V - cut
tau w' = a (V - E) - w                                           jump: V -> reset, w -> w + b, V of all others rises by the pulse

Units: mV, ms, pF, nS, pA. With the published values and a current of 1 nA a neuron fires five times in 100 ms, at growing
intervals. The rise is so steep that spike times are off by far more than a step of the grid on which most simulators place
them. In a population a pulse may lift others over the cut, which fire at the same instant (those that have fired take no
pulses then).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..system.system import System
from .admissible import ANY, COUNT, takes
from .model import Model

if TYPE_CHECKING:
    from .._typing import FloatArray

PARAMETERS = {
    "C": 281.0,
    "g": 30.0,
    "E": -70.6,
    "VT": -50.4,
    "width": 2.0,
    "tau": 144.0,
    "a": 4.0,
    "b": 80.5,
    "reset": -70.6,
    "cut": -40.4,
}


def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    C, g, E, VT, width, tau, a, current = p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[10]
    count = b.size
    for i in range(count):
        V, w = x[i], x[count + i]
        dx[i] = (g * (E - V) + g * width * math.exp((V - VT) / width) - w + current) / C
        dx[count + i] = (a * (V - E) - w) / tau


def guards(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    for i in range(out.size):
        out[i] = x[i] - p[9]


def guard_row(t: float, x: FloatArray, k: int, p: FloatArray, out: FloatArray) -> None:
    for i in range(out.size):
        out[i] = 0.0
    out[k] = 1.0


def fire(t: float, x: FloatArray, fired: FloatArray, b: FloatArray, p: FloatArray, xnew: FloatArray) -> None:
    count, pulses = b.size, 0.0
    for i in range(count):
        if fired[i] > 0:
            pulses += p[11]
    for i in range(count):
        if fired[i] > 0:
            xnew[i] = p[8]
            xnew[count + i] = x[count + i] + p[7]
        elif x[i] != p[8]:  # (exactly there only if it has fired at this very instant)
            xnew[i] = x[i] + pulses


LIMITS = {"count": COUNT, "current": ANY, "pulse": ANY}


@takes(LIMITS)
def adex(count: int = 1, current: float = 1000.0, pulse: float = 0.0) -> System:
    """Neurons with an exponential rise and adaptation, alone or coupled by pulses.

    Parameters
    ----------
    count : int
        Their number.
    current : float
        I, into every neuron, in pA.
    pulse : float
        By which a spike lifts the potential of every other neuron, in mV.

    Returns
    -------
    System
        States V0, V1, ... and w0, w1, ...; a guard for each neuron, "neuron 0", "neuron 1", ...

    Examples
    --------
    >>> import bouligand as bd
    >>> sol = bd.solve(bd.models.adex(), (0.0, 100.0), [-70.6, 0.0], rtol=1e-9)
    >>> sol.events.t.round(3).tolist()
    [11.729, 25.249, 41.003, 59.517, 81.321]
    """
    return System(
        field,
        guards,
        states=(*(f"V{i}" for i in range(count)), *(f"w{i}" for i in range(count))),
        guards=tuple(f"neuron {i}" for i in range(count)),
        params={**PARAMETERS, "I": current, "pulse": pulse},
        Dh_row=guard_row,
        jump_many=fire,
        name="AdEx neuron" if count == 1 else f"{count} AdEx neurons",
    )


def _start(count: int) -> FloatArray:
    """At rest, those of a population at different potentials."""
    return np.r_[PARAMETERS["E"] + np.linspace(0.0, 15.0, count), np.zeros(count)]


MODEL = Model(
    about="neurons with adaptation (Brette and Gerstner 2005)",
    make=adex,
    start=_start,
    tf=100.0,
    size=1,
    units={"t": "ms", "V": "mV", "w": "pA"},
)
