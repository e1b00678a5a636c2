"""What spanning steps need besides the integrator's own workspace, and when they are possible at all."""

import numpy as np

from ..core import state as at

CHUNK = 128  # contacts evaluated at once
MOST_SPARE = 4  # workspaces kept
# Below these tolerances hops take less time to the same error: a spanning step is of third order in its jumps, and a hop passes
# over all guards. (The second is over the cube of the number of guards; measured on the plate with 100 and 200 springs.)
TIGHTEST, TIGHTEST_OF_FEW = 1e-8, 0.3


class Contacts:
    """The workspace of spanning steps of a system (see ``core.state``), and a context for ``g_many``."""

    def __init__(self, system):
        bound = system._bind()
        bound.contacts(system)
        n, most = system.n, 2 * system.m + 8
        self.ctx = np.append(bound.ctx, 0)
        self.N = np.zeros((at.N_ROWS, most), dtype=np.int64)
        self.Z = np.empty((at.Z_ROWS, most))
        self.M = np.empty((at.M_ROWS, n))
        self.G = np.empty(3 * n * max(1, min(CHUNK, 200_000 // n)))


def borrow(system, lease):
    """A workspace: one that an earlier integration of this system has given back (its memory is warm), or a new one."""
    try:
        contacts = system._bind().spare.pop()
    except IndexError:
        contacts = Contacts(system)
    contacts.ctx[at.USER_DATA] = lease.ctx[at.USER_DATA]
    return contacts


def give_back(system, contacts):
    spare = system._bind().spare
    if len(spare) < MOST_SPARE:
        spare.append(contacts)


def possible(system, rtol, method):
    """Whether crossings may be spanned where all guards only flip signs (no bands, none terminal): a tolerance that is not very
    tight, and no scheme that was asked for instead."""
    return rtol >= max(TIGHTEST, TIGHTEST_OF_FEW / max(system.m, 1) ** 3) and method in ("auto", "dopri5")
