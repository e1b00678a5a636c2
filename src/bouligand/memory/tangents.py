"""The core's arrays for going along a record with perturbations, and their reuse by the next derivative of the same system."""

import numpy as np

from ..core import state as at

MOST_SPARE = 2  # of a system, kept for the next
MOST_KEPT = 100_000  # numbers in one that is kept


class Room:
    """The arrays of one derivative at a time: those of `core.state`, and

    Q          steps for differences: of each state, each parameter, and time
    JH, JHP    Dh and Dp_h;  JX, JP  Df and Dp_f;  N  rows of guards at hand;  PW  parameters to either side
    """

    def __init__(self, system, params):
        n, m, parameters = system.n, system.m, len(system.defaults)
        of_p = parameters if params else 0
        self.params = params
        self.arrays = {
            "V": np.zeros((at.V_ROWS, n)),
            "H": np.zeros((at.H_ROWS, m)),
            "S": np.zeros(at.S_SIZE),
            "I": np.zeros(at.I_SIZE, dtype=np.int64),
            "C": np.zeros(at.C_SIZE, dtype=np.int64),
            "Q": np.empty(n + of_p + 1),
            "JH": np.zeros((0 if system.has("Dh_row") else m, n)),
            "JHP": np.zeros((m, of_p)),
            "JX": np.zeros((n, n if n <= at.SMALL or system.has("Df") else 0)),
            "JP": np.zeros((n, of_p)),
            "N": np.zeros((3, n + of_p)),
            "PW": np.empty((2, parameters)),
        }
        self.arrays["H"][at.OBSERVER] = system.observers
        self.size = sum(array.size for array in self.arrays.values())


def borrow(system, params):
    """A room that an earlier derivative of this system has left, or a new one."""
    spare = system._bind().rooms[params]
    try:
        return spare.pop()  # (atomic)
    except IndexError:
        return Room(system, params)


def give_back(system, room):
    """For others to use."""
    spare = system._bind().rooms[room.params]
    if room.size <= MOST_KEPT and len(spare) < MOST_SPARE:
        spare.append(room)
