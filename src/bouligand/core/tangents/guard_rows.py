"""Rows of Dh, and the uncertainty of the time of a crossing."""

from .. import codes
from ..compiler.intrinsics import address, call, compact
from ..compiler.jit import core
from ..compiler.tables import work
from ..compiler.vectors import row_product
from ..evaluate import eval_h, failed
from ..jacobians import seed, spread_parameters, without_tangents
from ..recorded import no_cap, restore_cap, use_parameters
from ..state import DUAL, LANES, TIMELESS
from .large_states import MANY_STATES, blocks_of_zeros
from .sparse_rows import eval_h_dual, evaluate_by_colours, row_by_colours


@core(inline=True)
def guard_row(w, t, k, place, out):
    """out = (Dh_k, Dp_h_k) at the state v.x; D_t h_k is in w.tangents.Dt_h. ``place`` identifies the state: matrices of all
    guards are evaluated again only when it changes. True if a function failed."""
    compact()
    v, at, jac = w.v, w.tangents.at, w.tangents.jacobians
    Dh, Dp_h, n = w.tangents.Dh, w.tangents.Dp_h, v.width
    by_duals, by_duals_p = w.tangents.dual_rows, w.tangents.dual_rows_p
    if at.rows_at != place:
        if all_rows(w, t):
            return True
        at.rows_at = place
    if w.tangents.row_starts.shape[0] > 0:
        if row_by_colours(w, t, k, out):
            return True
    elif jac.Dh_row != 0:
        if call(jac.Dh_row, t, (address(v.x), k, address(w.p), address(out)), w.fn.context) != 0:
            return failed(w, codes.DH_FAILED, t, v.x)
    elif by_duals.shape[0] > 0:
        for i in range(n):
            out[i] = by_duals[i // LANES, DUAL * k + 1 + i % LANES]
    else:
        for i in range(n):
            out[i] = Dh[k, i]
    if by_duals_p.shape[0] > 0:
        for i in range(out.shape[0] - n):
            out[n + i] = by_duals_p[i // LANES, DUAL * k + 1 + i % LANES]
    else:
        for i in range(Dp_h.shape[1]):
            out[n + i] = Dp_h[k, i]
    return False


@core(inline=True)
def guard_value(w, t, k, place):
    """h_k at the state v.x, and whether a function failed. ``place``: as for `guard_row`."""
    compact()
    at, duals = w.tangents.at, w.tangents.dual_rows
    if duals.shape[0] == 0:
        bad = eval_h(w, t, w.v.x, w.g.h_trial)
        return w.g.h_trial[k], bad
    if at.rows_at != place:
        if all_rows(w, t):
            return 0.0, True
        at.rows_at = place
    return duals[0, duals.shape[1] // w.g.width * k], False


@core(entry=True)
def corner_rows(table, t, leg, guards, out, slopes_in_time):
    """The rows of several guards at the state v.x, and D_t h of each. True if a function failed."""
    compact()
    w = work(table)
    use_parameters(w, leg)
    spread_parameters(w)
    w.tangents.at.rows_at = -1
    for q in range(guards.shape[0]):
        if guard_row(w, t, guards[q], 0, out[q]):
            return True
        slopes_in_time[q] = w.tangents.Dt_h[guards[q]]
    return False


@core(inline=True)
def all_rows(w, t):
    """Evaluate the matrices of all guards: D_t h, and Dh and Dp_h where there is no function for a single row."""
    compact()
    v, fn, jac, differences = w.v, w.fn, w.tangents.jacobians, w.tangents.differences_h
    x, p, Dh, Dp_h = address(v.x), address(w.p), w.tangents.Dh, w.tangents.Dp_h
    if slopes_in_time(w, t):
        return True
    if jac.Dh_row == 0 and jac.Dh != 0:
        if call(jac.Dh, t, (x, p, address(Dh)), fn.context) != 0:
            return failed(w, codes.DH_FAILED, t, v.x)
    elif w.tangents.row_starts.shape[0] > 0:
        if evaluate_by_colours(w, t):
            return True
    elif w.tangents.dual_rows.shape[0] > 0:
        if rows_by_duals(w, False, t):
            return True
    elif jac.Dh_row == 0 and jacobian_of_h(w, v.x, differences, Dh, t):
        return True
    if w.tangents.dual_rows_p.shape[0] > 0:
        return rows_by_duals(w, True, t)
    if Dp_h.shape[1] == 0:
        return False
    if jac.Dp_h != 0:
        if call(jac.Dp_h, t, (x, p, address(Dp_h)), fn.context) != 0:
            return failed(w, codes.DH_FAILED, t, v.x)
        return False
    return jacobian_of_h(w, w.p, differences[v.width :], Dp_h, t)


@core(inline=True)
def slopes_in_time(w, t):
    """D_t h of every guard; True if a function failed."""
    compact()
    s, v, g, out, jac = w.s, w.v, w.g, w.tangents.Dt_h, w.tangents.jacobians
    if jac.Dt_h == TIMELESS:
        return False  # (it is zero)
    if jac.Dt_h != 0:
        if call(jac.Dt_h, t, (address(v.x), address(w.p), address(out)), w.fn.context) != 0:
            return failed(w, codes.DH_FAILED, t, v.x)
        return False
    if jac.h_dual != 0:
        without_tangents(v.x, w.tangents.dual_x)
        w.tangents.dual_t[1] = 1.0
        bad = eval_h_dual(w, t, w.tangents.dual_x, w.tangents.plain_p, w.tangents.dual_out)
        w.tangents.dual_t[1] = 0.0
        for k in range(g.width):
            out[k] = w.tangents.dual_out[DUAL * k + 1]
        return bad
    # by a difference: not across a breakpoint, where h may jump
    step, cap = w.tangents.differences_h[w.tangents.differences_h.shape[0] - 1], s.run.cap
    low, high = t - step, t + step
    for moment in w.breaks:
        if low < moment < t:
            low = moment
        elif t <= moment <= high:
            high = moment - 4e-16 * abs(moment)
    no_cap(s)
    if eval_h(w, high, v.x, g.h_trial) or eval_h(w, low, v.x, g.h_end):
        return True
    restore_cap(s, cap)
    per_time = 1.0 / (high - low)
    for k in range(g.width):
        out[k] = (g.h_trial[k] - g.h_end[k]) * per_time
    return False


@core
def rows_by_duals(w, of_p, t):
    """The derivative of h at v.x in the state (or in p) by dual numbers, LANES columns at a time; `guard_row` takes what it needs
    of it. True if h failed."""
    compact()
    X, P, columns = w.tangents.dual_x, w.tangents.dual_p, w.p.shape[0] if of_p else w.v.width
    seeded, rows = (P, w.tangents.dual_rows_p) if of_p else (X, w.tangents.dual_rows)
    without_tangents(w.v.x, X)
    if of_p:
        without_tangents(w.p, P)
    else:
        P = w.tangents.plain_p
    for q in range(rows.shape[0]):
        many = min(LANES, columns - LANES * q)
        seed(seeded, LANES * q, many, 1.0)
        if eval_h_dual(w, t, X, P, rows[q]):
            return True
        seed(seeded, LANES * q, many, 0.0)
    return False


@core
def jacobian_of_h(w, varied, steps, J, t):
    """J = the derivative of h at v.x in ``varied`` (the state itself, or p) by central differences. True if h failed."""
    compact()
    v, g = w.v, w.g
    for i in range(varied.shape[0]):
        here = varied[i]
        high, low = here + steps[i], here - steps[i]
        varied[i] = high
        bad = eval_h(w, t, v.x, g.h_trial)
        varied[i] = low
        bad = bad or eval_h(w, t, v.x, g.h_end)
        varied[i] = here
        if bad:
            return True
        for k in range(g.width):
            J[k, i] = (g.h_trial[k] - g.h_end[k]) / (high - low)
    return False


@core(inline=True)
def find_reach(w, slot):
    """w.tangents.reach of a row: a guard may depend on a few of a thousand states, and sums leave out the others."""
    row, reach, first, last = w.tangents.guard_rows[slot], w.tangents.reach[slot], 0, w.v.width
    if last > MANY_STATES:
        first = blocks_of_zeros(row, 0, last, 1)
        last -= blocks_of_zeros(row, first, last, -1)
    reach[0], reach[1] = first, last


@core(inline=True)
def approach(w, k, slot):
    """hdot of guard k, from its row and x' before the crossing, which are in a slot; kept in g.hdot."""
    row, slope, reach = w.tangents.guard_rows[slot], w.tangents.rows.f_before[slot], w.tangents.reach[slot]
    total = w.tangents.Dt_h[k]
    for i in range(reach[0], reach[1]):
        total += row[i] * slope[i]
    w.g.hdot[k] = total
    return total


@core(inline=True)
def time_of(w, slot, D, a):
    """The derivative of the crossing time along tangent a, times hdot; the guard's row is in a slot."""
    row, reach = w.tangents.guard_rows[slot], w.tangents.reach[slot]
    total = 0.0
    for i in range(reach[0], reach[1]):
        total -= row[i] * D[a, i]
    return total - row_product(D, a, w.v.width, D.shape[1], row)


@core(inline=True)
def error_of(w, slot):
    """The change of h over the error of the state; the guard's row is in a slot. (The error of a state is relative to its largest
    value so far, not to the present one.)"""
    s, v, largest = w.s, w.v, w.tangents.rows.largest
    row, reach, size = w.tangents.guard_rows[slot], w.tangents.reach[slot], 0.0
    for i in range(reach[0], reach[1]):
        size += abs(row[i]) * (v.atol[i] + s.options.rtol * largest[i])
    return size


@core(inline=True)
def uncertainty(w, slot, hdot, t):
    """The uncertainty of a crossing time: the error of h, divided by |hdot|, plus the relative tolerance of time itself."""
    return error_of(w, slot) / max(abs(hdot), 1e-300) + w.s.options.rtol * (t - w.s.now.t0) + 8e-16 * abs(t)
