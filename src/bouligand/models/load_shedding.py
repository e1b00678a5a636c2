"""A power system that has lost a part of its generation, and relays that shed load at low frequency (Kundur_1994, chapter 11).

f' = -f0 / (2 H) (deficit - shed - damping (f0 - f) / f0)       guards: h = f - threshold_k, one-sided, of falling frequency

Each relay that is reached switches off its part of the load, once and for ever. Relays with equal thresholds act together:
exact ties. The frequency is a chain of exponentials (of straight lines without damping), see `shedding`. In the usual case
a deficit of 30 % is met by three stages of 10 %, and the frequency stays at the last threshold. (Where a part of a tied
stage would be enough to turn the frequency round, the outcome depends on who is first, and is refused:
`NotEventSelectedError`.)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..system.system import System
from .admissible import ANY, NOT_NEGATIVE, POSITIVE, Whole, takes
from .model import Model

if TYPE_CHECKING:
    from .._typing import FloatArray

STAGES = 3
START = np.array([60.0])


def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    lacking = p[1] - p[3] * (p[4] - x[0]) / p[4]
    for k in range(b.size):
        if b[k] < 0:
            lacking -= p[2] * STAGES / b.size  # (those of one stage share its part)
    dx[0] = -p[4] / (2.0 * p[0]) * lacking


def guards(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    for k in range(out.size):
        stage = k * STAGES // out.size
        out[k] = x[0] - (p[5] - p[6] * stage)


LIMITS = {
    "relays": Whole(STAGES), "inertia": POSITIVE, "deficit": ANY, "stage": NOT_NEGATIVE, "damping": NOT_NEGATIVE,
    "nominal": POSITIVE, "first": POSITIVE, "step": NOT_NEGATIVE,
}  # fmt: skip


@takes(LIMITS)
def load_shedding(
    relays: int = 6,
    inertia: float = 4.0,
    deficit: float = 0.3,
    stage: float = 0.1,
    damping: float = 0.0,
    nominal: float = 60.0,
    first: float = 59.5,
    step: float = 0.2,
) -> System:
    """A power system that has lost generation, and relays that shed load at low frequency.

    The usual start, START in this file, is at the nominal frequency, just behind the loss.

    Parameters
    ----------
    relays : int
        Their number, a multiple of three: they are in three stages, those of a stage have the same threshold.
    inertia : float
        H, the energy that rotates over the power, in seconds.
    deficit : float
        Power that is missing, over all power.
    stage : float
        Load that a stage sheds, over all load.
    damping : float
        By how much load falls with frequency, both relative.
    nominal, first, step : float
        Frequency at the start, threshold of the first stage, and between stages, in Hz.

    Returns
    -------
    System
        State f, guards "relay 0", "relay 1", ...

    Examples
    --------
    >>> import bouligand as bd
    >>> sol = bd.solve(bd.models.load_shedding(), (0.0, 1.0), [60.0])
    >>> sol.events.guard.tolist(), len(set(sol.events.t)), round(float(sol.x[-1, 0]), 6)
    ([0, 1, 2, 3, 4, 5], 3, 59.1)
    """
    if relays % STAGES:
        raise ValueError(f"relays must be a multiple of {STAGES}, the number of stages; got {relays}")
    return System(
        field,
        guards,
        states=("f",),
        guards=tuple(f"relay {k}" for k in range(relays)),
        params={
            "H": inertia,
            "deficit": deficit,
            "stage": stage,
            "damping": damping,
            "nominal": nominal,
            "first": first,
            "step": step,
        },
        direction=-1,
        reset=np.zeros((relays, relays)),  # what is shed stays shed
        name="load shedding",
    )


@takes(LIMITS)
def shedding(
    inertia: float = 4.0,
    deficit: float = 0.3,
    stage: float = 0.1,
    damping: float = 0.0,
    nominal: float = 60.0,
    first: float = 59.5,
    step: float = 0.2,
) -> FloatArray:
    """Closed form: the times at which the stages act, as many as do."""
    t, f, times = 0.0, nominal, []
    for k in range(STAGES):
        lacking, goal = deficit - k * stage, first - k * step
        if damping > 0.0:
            rest = nominal * (1.0 - lacking / damping)  # where the frequency would come to rest
            if rest >= goal:
                break
            t += 2.0 * inertia / damping * math.log((f - rest) / (goal - rest))
        else:
            if lacking <= 0.0:
                break
            t += (f - goal) * 2.0 * inertia / (nominal * lacking)
        f = goal
        times.append(t)
    return np.array(times)


MODEL = Model(
    about="relays that shed load at low frequency, in pairs",
    make=load_shedding,
    start=START,
    tf=1.0,
    units={"t": "s", "f": "Hz"},
)
