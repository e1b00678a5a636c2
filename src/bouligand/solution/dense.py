"""Along the record of a solution once more: the states at any time, from steps that are taken again as they were taken."""

import numpy as np

from ..core import state as at
from ..core.entries import Kernel
from ..memory.spans import borrow, give_back

_sample = Kernel("steps.dense", "sample", "dense output")
_sample_spans = Kernel("spans.dense_span", "sample_spans", "dense output across many contacts")
_FIRST_LEG = np.zeros(1, dtype=np.int64)


def sample(solution, ordered, out):
    """Write the states at increasing times, all within the trajectory, into ``out``."""
    R = solution._R
    if len(R) == 1:
        out[:] = R[0, at.R_X :]
        return
    step = np.searchsorted(R[:, at.R_T], ordered).clip(1)
    spans = (R[step, at.R_KIND] == at.SPAN) & (R[step, at.R_T] > ordered) & (R[step - 1, at.R_T] < ordered)
    if not spans.any():
        _take_again(solution, ordered, out, spanning=False)
        return
    for which, spanning in ((spans, True), (~spans, False)):
        if which.any():
            part = np.empty((np.count_nonzero(which), solution.system.n))
            _take_again(solution, ordered[which], part, spanning)
            out[which] = part


def _take_again(solution, ordered, out, spanning):
    """The states at these times, all inside spanning steps or all not."""
    system = solution.system
    V, H, S, I, P, first = workspace(solution)
    lease = system._bind().lease(system)
    work = S, I, V, H, solution._R, solution._E, solution._breaks, ordered, out
    if spanning:
        c = borrow(system, lease)
        done = _sample_spans(lease.fn, c.ctx, P, first, *work, c.N, c.Z, c.M, c.G)
        give_back(system, c)
    else:
        done = _sample(lease.fn, P, first, *work)
    lease.give_back()
    if done < len(ordered):
        fail(solution, S)


def workspace(solution):
    """V, H (with the word at the start), S, I, and the parameters with the records from which on they held."""
    system = solution.system
    V, H = np.zeros((at.V_ROWS, system.n)), np.zeros((at.H_ROWS, system.m))
    S, I = np.zeros(at.S_SIZE), np.zeros(at.I_SIZE, dtype=np.int64)
    S[at.RTOL], S[at.CAP], V[at.ATOL] = 1.0, 1e300, 1.0
    H[at.B] = solution._word_start
    return V, H, S, I, *parameters(solution)


def parameters(solution):
    """The parameters, a row for each time that they were changed, and the records from which on they held."""
    legs = solution._legs
    if legs is None:
        return solution._p.reshape(1, -1).copy(), _FIRST_LEG
    return np.array([p for _, p in legs]).reshape(len(legs), -1), np.array([r for r, _ in legs], dtype=np.int64)


def fail(solution, S):
    """Raise what a function raised when it was called again along the record."""
    bound = solution.system._bind()
    failures, bound.failures[:] = list(bound.failures), []
    raise failures[0] if failures else RuntimeError(f"f failed at t = {S[at.T_FAIL]} when a step was taken again")
