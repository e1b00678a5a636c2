"""What spanning steps need besides the integrator's own workspace, and when they are possible at all."""

import numpy as np

from .core import layout as at

CHUNK = 128  # contacts evaluated at once
MOST_SPARE = 4  # workspaces kept
TIGHTEST = 1e-8  # below this tolerance hops are cheaper: a spanning step is of third order in its jumps


class Contacts:
    """The workspace of spanning steps of a system (see ``core.layout``), and a context for ``g_many``."""

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


def possible(I, H, S, method):
    """Whether crossings may be spanned: guards that only flip signs, no bands, and a tolerance that is not very tight."""
    plain = I[at.ONE_SIDED] == 0 and I[at.OBSERVERS] == 0 and I[at.BANDS] == 0 and I[at.POOL] == 0
    return bool(plain and method in ("auto", "dopri5") and S[at.RTOL] >= TIGHTEST and not H[at.TERMINAL].any())
