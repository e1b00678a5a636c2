"""Df at some records of a trajectory, for its eigenvalues."""

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.tables import work
from ..evaluate import copy_state
from ..jacobians import jacobian
from ..recorded import cap_at_break, catch_up, use_parameters


@core(entry=True)
def sample_Df(table, rows, out):
    """``out[q]`` = Df at the start of the step to record ``rows[q]``. True if a function failed.

    g.b holds the word at the start, and is changed along the way; ``rows`` are sorted.
    """
    compact()
    w = work(table)
    event, leg = 0, 0
    for q in range(rows.shape[0]):
        row = rows[q]
        event, leg = catch_up(w, event, leg, row)
        use_parameters(w, leg)
        cap_at_break(w, row)
        copy_state(w.states[row - 1], w.v.x)
        t = min(w.steps[row - 1].t, w.s.cap)
        if jacobian(w, w.tangents.jacobians.Df, w.v.x, w.tangents.differences, out[q], t, w.v.x):
            return True
    return False
