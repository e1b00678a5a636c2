"""The exciter of a generator without load, whose output has limits and does not wind up (SEXS, limits as in IEEE_421.5).

T_d V' = E - V                              V: voltage of the generator,  E: that of its exciter
T_a E' = K (wanted - V) - E                 within lowest <= E <= highest: a limited integrator

A high gain asks for more than there is: at a step of the wanted voltage E rises to its limit and stays there, exactly, a
sliding mode, while V follows an exponential. E leaves the limit where the regulator asks for less, at V = wanted - highest
/ K (see `leaves`); it has nothing to unwind. Each mode is linear. Written with `bouligand.blocks`, see
`_exciter_compiled.py`.
"""

from __future__ import annotations

import math

import numpy as np

from ..system.system import System
from .admissible import ANY, POSITIVE, ordered, takes
from .model import Model

START = np.array([0.9, 0.9])


LIMITS = {"gain": POSITIVE, "lag": POSITIVE, "wanted": ANY, "field_lag": POSITIVE, "lowest": ANY, "highest": ANY}


@takes(LIMITS)
def exciter(
    gain: float = 100.0,
    lag: float = 0.05,
    wanted: float = 1.05,
    field_lag: float = 5.0,
    lowest: float = 0.0,
    highest: float = 4.0,
) -> System:
    """The exciter of a generator without load, whose output has limits and does not wind up.

    The usual start, START in this file, is just behind a step of the wanted voltage.

    Parameters
    ----------
    gain, lag : float
        K and T_a of the regulator, the lag in seconds.
    wanted : float
        Voltage that is wanted.
    field_lag : float
        T_d, time constant of the generator's field, in seconds.
    lowest, highest : float
        Limits of the exciter's voltage.

    Returns
    -------
    System
        States V and E; guards "lowest" and "highest", with sliding modes.

    Examples
    --------
    >>> import bouligand as bd
    >>> sol = bd.solve(bd.models.exciter(), (0.0, 1.0), [0.9, 0.9], rtol=1e-9)
    >>> float(sol(0.1)[1]), sol.events.name[:2].tolist()
    (4.0, ['highest', 'highest'])
    """
    from ._exciter_compiled import field, guards

    ordered("lowest", lowest, "highest", highest)

    return System(
        field,
        guards,
        states=("V", "E"),
        guards=("lowest", "highest"),
        params={
            "gain": gain,
            "lag": lag,
            "wanted": wanted,
            "field_lag": field_lag,
            "lowest": lowest,
            "highest": highest,
        },
        sliding="filippov",
        name="exciter",
    )


@takes(LIMITS, V=ANY)
def leaves(V: float, gain: float = 100.0, wanted: float = 1.05, field_lag: float = 5.0, highest: float = 4.0) -> float:
    """How long E is at its upper limit, if the voltage was V when it came there."""
    if not wanted - highest / gain < highest or not highest > V:
        raise ValueError(
            f"V must be below highest, and wanted - highest / gain too; got V = {V:g}, highest = {highest:g}"
        )
    return field_lag * math.log((highest - V) / (highest - wanted + highest / gain))


MODEL = Model(
    about="an exciter with limits and without windup",
    make=exciter,
    start=START,
    tf=1.0,
    units={"t": "s", "V": "p.u.", "E": "p.u."},
)
