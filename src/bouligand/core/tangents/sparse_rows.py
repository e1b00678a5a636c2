"""Rows of Dh by dual numbers where there are many states: columns that no guard has in common share a tangent.

The pattern (see `derivative.patterns`) was found at one state. Where h takes another branch it may be another one; so one tangent
is used to check each row, and a row that fails is evaluated column by column. Where each guard depends on one state there is one
colour: dual numbers with two tangents are enough then.
"""

from .. import codes
from ..compiler.intrinsics import address, call, compact
from ..compiler.jit import core
from ..compiler.tables import work
from ..compiler.vectors import clear
from ..evaluate import copy_state, failed
from ..jacobians import seed, without_tangents
from ..recorded import use_parameters
from ..state import DUAL, FEW_DUAL, LANES
from .large_states import put_values


@core(inline=True)
def eval_h_dual(w, t, X, P, out):
    """out = h of the dual numbers X, with the time w.tangents.dual_t and the parameters P; True if it failed."""
    return eval_h_of(w, w.tangents.jacobians.h_dual, t, X, P, out)


@core(inline=True)
def eval_h_of(w, function, t, X, P, out):
    """The same by a function for dual numbers with so many tangents."""
    compact()
    tangents, when = w.tangents, min(t, w.s.run.cap)
    T = tangents.dual_t
    T[0] = when
    if call(function, when, (address(T), address(X), address(P), address(out)), w.fn.context) != 0:
        return failed(w, codes.DH_FAILED, t, w.v.x)
    return False


@core
def evaluate_by_colours(w, t):
    """All rows of Dh at v.x, a tangent for each colour, and the check of each. True if h failed. (The tangents are there.)"""
    compact()
    v, jac, rows, coloured = w.v, w.tangents.jacobians, w.tangents.dual_rows, w.tangents.coloured
    size, function, P = coloured.shape[1] // v.width, jac.h_dual, w.tangents.plain_p
    if size == FEW_DUAL:
        function, P = jac.h_few, w.tangents.few_p
    for q in range(rows.shape[0]):
        put_values(v.x, size, coloured[q])
        if eval_h_of(w, function, t, coloured[q], P, rows[q]):
            return True
    return False


@core
def row_by_colours(w, t, k, out):
    """out = row k of Dh, from what `evaluate_by_colours` has left; column by column if the pattern does not hold. True if h
    failed."""
    compact()
    starts, columns, colours = w.tangents.row_starts, w.tangents.columns, w.tangents.colours
    check, rows, tangents = w.tangents.check, w.tangents.dual_rows, w.tangents.coloured.shape[1] // w.v.width - 1
    first, at_once = (1 + tangents) * k, tangents - 1  # (the last tangent is for the check)
    total, size = 0.0, 0.0
    clear(out, 0, w.v.width)
    for place in range(starts[k], starts[k + 1]):
        i = columns[place]
        out[i] = rows[colours[i] // at_once, first + 1 + colours[i] % at_once]
        total += out[i] * check[i]
        size += abs(out[i] * check[i])
    known = rows[0, first + tangents]
    if abs(total - known) <= 1e-11 * (size + abs(known)):
        return False
    X, dual_out = w.tangents.dual_x, w.tangents.dual_out
    without_tangents(w.v.x, X)
    for first in range(0, w.v.width, LANES):
        many = min(LANES, w.v.width - first)
        seed(X, first, many, 1.0)
        if eval_h_dual(w, t, X, w.tangents.plain_p, dual_out):
            return True
        seed(X, first, many, 0.0)
        for q in range(many):
            out[first + q] = dual_out[DUAL * k + 1 + q]
    return False


@core(entry=True)
def mark_columns(table, first, many, mark):
    """w.tangents.dual_out = h at the first record, with the tangents ``mark`` in some columns: NaN shows which guards depend on
    them. True if h failed."""
    compact()
    w = work(table)
    use_parameters(w, 0)
    copy_state(w.states[0], w.v.x)
    without_tangents(w.v.x, w.tangents.dual_x)
    without_tangents(w.p, w.tangents.dual_p)
    seed(w.tangents.dual_x, first, many, mark)
    return eval_h_dual(w, w.steps[0].t, w.tangents.dual_x, w.tangents.dual_p, w.tangents.dual_out)
