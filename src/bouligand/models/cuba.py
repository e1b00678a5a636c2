"""A random network of integrate-and-fire neurons with synaptic currents and a refractory time (Brette_2007, benchmark 2).

20 ms v' = ge + gi - (v + 49)       guard "neuron i": v = -50.  Jump: v -> -60, held for 5 ms; ge or gi of all targets jumps
 5 ms ge' = -ge                     guard "release i": t = release_i, a state that a spike sets to t + 5
10 ms gi' = -gi

Potentials and currents in mV, times in ms. Four of five neurons are excitatory (a spike adds 1.62 mV to ge of its targets), the
others inhibitory (-9 mV to gi). Between events v is a sum of three exponentials. The connections are drawn at random, by a seed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..system.system import System
from .admissible import FRACTION, Whole, takes
from .model import Model

if TYPE_CHECKING:
    from .._typing import FloatArray, IntArray

MOST_NEURONS = 10_000  # a random number is drawn for each pair
REST, THRESHOLD, RESET = -49.0, -50.0, -60.0


def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    count = x.size // 4
    for i in range(count):
        v, ge, gi = x[i], x[count + i], x[2 * count + i]
        dx[i] = (ge + gi - (v - REST)) / p[0] if b[count + i] > 0 else 0.0 * v
        dx[count + i] = -ge / p[1]
        dx[2 * count + i] = -gi / p[2]
        dx[3 * count + i] = 0.0


def guards(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    count = x.size // 4
    for i in range(count):
        out[i] = x[i] - THRESHOLD
        out[count + i] = t - x[3 * count + i]


LIMITS = {"count": Whole(1, MOST_NEURONS), "probability": FRACTION, "seed": Whole(0, 2**32 - 1)}


@takes(LIMITS)
def connections(count: int, probability: float, seed: int) -> tuple[IntArray, IntArray]:
    """Targets of all neurons in one array, and where those of each begin in it."""
    chosen = np.random.default_rng(seed).random((count, count)) < probability
    targets = np.nonzero(chosen)[1].astype(np.int64)
    begins = np.concatenate([[0], np.cumsum(chosen.sum(axis=1))]).astype(np.int64)
    return targets, begins


@takes(LIMITS)
def cuba(count: int = 100, probability: float = 0.1, seed: int = 1) -> System:
    """A random network of integrate-and-fire neurons with synaptic currents and a refractory time.

    Parameters
    ----------
    count : int
        Number of neurons; the first four fifths of them are excitatory.
    probability : float
        Of a connection from one neuron to another.
    seed : int
        Of the random numbers that draw the connections.

    Returns
    -------
    System
        States v0, v1, ..., then ge, gi and the times of release of each; guards "neuron 0", ... and "release 0", ...

    Examples
    --------
    >>> import bouligand as bd
    >>> system, x0 = bd.models.available()["cuba"].build(10)
    >>> sol = bd.solve(system, (0.0, 50.0), x0)
    >>> sorted({name.split()[0] for name in sol.events.name})
    ['neuron', 'release']
    """
    targets, begins = connections(count, probability, seed)
    excitatory = (4 * count) // 5

    def fire(t: float, x: FloatArray, fired: FloatArray, b: FloatArray, p: FloatArray, xnew: FloatArray) -> None:
        for i in range(count):
            if fired[i] > 0:
                xnew[i] = RESET
                xnew[3 * count + i] = t + p[5]
                for q in range(begins[i], begins[i + 1]):
                    j = targets[q]
                    if i < excitatory:
                        xnew[count + j] += p[3]
                    else:
                        xnew[2 * count + j] += p[4]

    neurons = tuple(f"neuron {i}" for i in range(count))
    releases = tuple(f"release {i}" for i in range(count))
    return System(
        field,
        guards,
        states=tuple(f"{kind}{i}" for kind in ("v", "ge", "gi", "release") for i in range(count)),
        guards=(*neurons, *releases),
        params={"tau": 20.0, "tau_e": 5.0, "tau_i": 10.0, "we": 1.62, "wi": -9.0, "refractory": 5.0},
        direction=dict.fromkeys(releases, 1),
        jumps=neurons,
        jump_many=fire,
        name=f"network of {count} neurons",
    )


def _start(count: int) -> FloatArray:
    """Potentials between reset and threshold, no currents, nobody refractory."""
    spread = RESET + (THRESHOLD - RESET) * np.linspace(0.0, 0.99, count)
    return np.r_[spread, np.zeros(2 * count), np.full(count, -1.0)]


MODEL = Model(
    about="a network of neurons with synaptic currents",
    make=cuba,
    start=_start,
    tf=100.0,
    size=10,
    units={"t": "ms", "v": "mV", "ge": "mV", "gi": "mV", "release": "ms"},
)
