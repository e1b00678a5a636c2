"""Leaky integrate-and-fire neurons that excite one another by pulses (Mirollo and Strogatz, 1990).

v_i' = I - v_i          guard i: v_i = 1. A neuron that reaches it fires: its potential becomes 0, and that of every other
                        neuron rises at once by w. Whoever is lifted over its threshold by that fires at the same instant,
                        and so on. A neuron that has fired takes no pulses at that instant.

Between spikes all is an exponential: see `spikes`. Neurons that have fired together have equal potentials and stay together,
so that the population falls in step. Then all fire every log(I / (I - 1)).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..system.system import System
from .admissible import ANY, COUNT, NOT_NEGATIVE, VECTOR, Real, listed, takes
from .model import Model

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .._typing import FloatArray


def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    for i in range(x.size):
        dx[i] = p[0] - x[i]


def thresholds(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    for i in range(x.size):
        out[i] = x[i] - 1.0


def guard_row(t: float, x: FloatArray, k: int, p: FloatArray, out: FloatArray) -> None:
    for i in range(out.size):
        out[i] = 0.0
    out[k] = 1.0


def fire(t: float, x: FloatArray, fired: FloatArray, b: FloatArray, p: FloatArray, xnew: FloatArray) -> None:
    pulses = 0.0
    for i in range(x.size):
        if fired[i] > 0:
            pulses += p[1]
    for i in range(x.size):
        if fired[i] > 0:
            xnew[i] = 0.0
        elif x[i] != 0.0:  # (exactly zero only if it has fired at this very instant)
            xnew[i] = x[i] + pulses


LIMITS = {"count": COUNT, "current": ANY, "pulse": ANY}


@takes(LIMITS)
def neurons(count: int = 10, current: float = 1.5, pulse: float = 0.05) -> System:
    """Leaky integrate-and-fire neurons that excite one another by pulses.

    Parameters
    ----------
    count : int
        Their number.
    current : float
        I, the potential to which a neuron without a threshold would rise; they fire if it is greater than 1.
    pulse : float
        w, by which a spike lifts the potential of every other neuron.

    Returns
    -------
    System
        States v0, v1, ..., with a guard each, "neuron 0", "neuron 1", ...

    Examples
    --------
    >>> import bouligand as bd
    >>> sol = bd.solve(bd.models.neurons(3), (0.0, 0.1), [0.99, 0.5, 0.975])
    >>> list(sol.events.name), len(set(sol.events.t))
    (['neuron 0', 'neuron 2'], 1)
    """
    return System(
        field,
        thresholds,
        states=tuple(f"v{i}" for i in range(count)),
        guards=tuple(f"neuron {i}" for i in range(count)),
        params={"I": current, "w": pulse},
        Dh_row=guard_row,
        jump_many=fire,
        name=f"{count} neurons",
    )


@takes(LIMITS, current=Real(1.0, open=True))
def period(current: float = 1.5) -> float:
    """Time between the spikes of a neuron alone, or of a population in step."""
    return math.log(current / (current - 1.0))


@takes(LIMITS, tf=NOT_NEGATIVE, v0=VECTOR, current=Real(1.0, open=True))
def spikes(
    tf: float, v0: ArrayLike, current: float = 1.5, pulse: float = 0.05
) -> tuple[FloatArray, list[list[int]], FloatArray]:
    """Closed form from spike to spike: the instants up to tf, who fires at each, and the potentials at tf."""
    v = np.array(v0, dtype=float)
    if v.max() > 1.0:
        raise ValueError(f"v0 must be at most 1, the potential at which neurons fire; got {v.max():g}")
    t = 0.0
    times: list[float] = []
    firing: list[list[int]] = []
    while True:
        wait = math.log((current - v.max()) / (current - 1.0))
        if t + wait > tf:
            return np.array(times), firing, current + (v - current) * math.exp(t - tf)
        t += wait
        v = current + (v - current) * math.exp(-wait)
        fired = np.zeros(v.size, dtype=bool)
        new = v >= 1.0 - 1e-13  # (the first ones are there but for rounding errors)
        while new.any():
            v[~fired & ~new] += pulse * new.sum()
            fired |= new
            v[fired] = 0.0
            new = v >= 1.0
        times.append(t)
        listed(times)
        firing.append([int(i) for i in np.flatnonzero(fired)])


def _start(count: int) -> FloatArray:
    """Potentials along one period, at equal intervals of time."""
    return 1.5 * -np.expm1(-period() * np.arange(count) / count)


MODEL = Model(about="neurons that fire and excite one another", make=neurons, start=_start, tf=12.0, size=10)
