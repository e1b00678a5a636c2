"""A corner at which the trajectory begins to slide on guards at the same instant as others are crossed: feet that land without
slip, two feet that stop together.

A perturbed trajectory slips for a while, of the size of the perturbation, before it slides. That changes it along the g_k of the
guards that it then slides on, and along these it is moved onto them. So it does not matter how long it slips, nor with which
signs of these guards the corner is passed: perturbations pass the crossings, and are then moved onto the guards. An exception are
guards whose crossing itself depends on the g_k, which is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.state import SWITCH, WHOLE
from ..errors import DerivativeError
from .sliding_start import onto_guards

if TYPE_CHECKING:
    from .._typing import BoolArray, FloatArray, RecordArray
    from .trajectory_corners import TrajectoryCorner
    from .walk import Walk

NO_CHANGE = 1e-6  # of the rate of a guard, by the slip before sliding


def begins_to_slide(events: RecordArray) -> BoolArray:
    """The rows of events at which the trajectory begins to slide on a guard (or to rest on it)."""
    begins: BoolArray = (events["shown"] == SWITCH) & (events["sign"] == 0.0)
    return begins


def slide_behind(walk: Walk, corner: TrajectoryCorner, events: RecordArray, word: FloatArray) -> None:
    """Let perturbations behind the crossings of a corner, which has these rows of events, be moved onto the guards on which the
    trajectory stays in the mode ``word`` behind it."""
    system, n = walk.system, walk.n
    slid = [int(k) for k in dict.fromkeys(events["guard"][begins_to_slide(events)])]
    names = ", ".join(repr(system.guards[k]) for k in slid)
    when = f"at t = {corner.t:.10g} the trajectory begins to stay on {names} at the same instant as another event"
    if corner.mode != WHOLE or system.rests[slid].any():
        if {unit[0] for unit in corner._units} <= {*slid} and len(slid) == 1:
            return  # (the event of one guard alone: perturbations are those before it slides, or moved by its jump)
        raise DerivativeError(
            f"{when}: where it rests there, or the derivative is taken at that instant, the derivative is not implemented. Ask "
            "for another time, or move the start a little"
        )
    onto = onto_guards(system, corner.t, corner.x, word, corner._p, walk.width)
    lost = np.eye(n) - onto[:n]  # rows: what a unit perturbation loses by the move
    for u, unit in enumerate(corner._units):
        row = corner._rows[u, :n]
        if unit[0] not in slid and np.abs(lost @ row).max() > NO_CHANGE * np.abs(row).max():
            raise DerivativeError(
                f"{when}, the crossing of {corner.guards[u]!r}, which depends on how long it slips before: the derivative "
                "through that is not implemented. Move the start a little, so that they are met one after the other"
            )
    corner._onto = onto
