"""Through a corner: several guards crossed together, and the piece of the derivative that a perturbation falls in.

Near the corner the field is taken as constant: one vector for each word, its value at the corner. The perturbed trajectory is
followed through these, as by the paper's projection: the guard that is reached first is crossed, the field is evaluated under
the new word, and so on. With ``delta`` the perturbation extrapolated along its present straight line to the time of the corner,
each crossing is one saltation,

    s = -(e + N delta) / (N F + D_t h)        when guard k is crossed (e: how far from the corner it is, usually 0)
    delta -= (F' - F) s                       F, F' before and after,

so that a piece is a product of saltations in the order in which the leading tangent crosses; the others follow in that
order. It takes as many evaluations of f as there are guards, although there are m! orders.
"""

import math

from .. import codes
from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.tables import work
from ..evaluate import eval_f
from ..state import AT_END, AT_START, TO_GUARD

BEYOND = 2  # done, but not by a crossing: a perturbed start is behind that guard


@core(entry=True)
def pass_corner(table, D, dt0, order, times, jumps):
    """Propagate the tangents D through a corner; the first one decides the order. v.x is its state, g.b the word before it.

    The crossings are recorded in ``order``, ``times`` (units, tangents) and, if it has rows, ``jumps``, from which the caller
    forms the adjoint. Returns a code and the number of crossings.
    """
    compact()
    w = work(table)
    s, v, corner = w.s, w.v, w.corner
    plan, done, offset = corner.plan, corner.done, corner.offset
    n, tangents, t, mode = v.width, D.shape[0], plan.t, plan.mode
    crossed = 0
    for u in range(done.shape[0]):
        done[u] = 0
    if mode == AT_START:
        # guards that the perturbed start, at its own time, is already beyond are not crossed again
        for u in range(done.shape[0]):
            if corner.side[u] * (offset[u] + row_times(corner, u, D[0]) + corner.Dt_h[u] * dt0[0]) <= 0.0:
                flip(w, u)
                done[u] = BEYOND
    if eval_f(w, t, v.x, v.f):
        return s.run.status, crossed
    if mode == AT_START:
        for a in range(tangents):
            for i in range(n):
                D[a, i] -= v.f[i] * dt0[a]
    while True:
        best, soonest, rate = next_crossing(w, D[0])
        if rate == 0.0:
            return codes.NOT_EVENT_SELECTED, crossed
        if best < 0 or (mode == AT_END and soonest > plan.end):
            break
        for a in range(tangents):
            times[crossed, a] = -row_times(corner, best, D[a]) / rate
        times[crossed, 0] -= offset[best] / rate
        order[crossed] = best
        if jumps.shape[0] > 0:
            jumps[crossed, n] = rate
        if mode == TO_GUARD and best == plan.target:
            for i in range(n):
                if jumps.shape[0] > 0:
                    jumps[crossed, i] = -v.f[i]
                for a in range(tangents):
                    D[a, i] += v.f[i] * times[crossed, a]
            return codes.GO_ON, crossed + 1
        flip(w, best)
        done[best] = 1
        if eval_f(w, t, v.x, v.f_end):
            return s.run.status, crossed
        for i in range(n):
            jump = v.f_end[i] - v.f[i]
            v.f[i] = v.f_end[i]
            if jumps.shape[0] > 0:
                jumps[crossed, i] = jump
            if jump != 0.0:
                for a in range(tangents):
                    D[a, i] -= jump * times[crossed, a]
        crossed += 1
    if mode == AT_END:
        # (the perturbation at the end, not extrapolated to the time of the corner)
        for i in range(n):
            D[0, i] += v.f[i] * plan.end
    return codes.GO_ON, crossed


@core(inline=True)
def next_crossing(w, leader):
    """The unit that is crossed next (-1: none), when, and its hdot; hdot = 0 where the corner is not event-selected."""
    compact()
    v, corner = w.v, w.corner
    done = corner.done
    best, soonest, rate = -1, math.inf, 1.0
    for u in range(done.shape[0]):
        if done[u] == 1:
            continue
        # (a guard that the start is beyond must be left behind, under every word on the way: else it is crossed back)
        hdot = corner.Dt_h[u]
        for q in range(corner.count[u]):
            if corner.index[u, q] < v.width:
                hdot += corner.value[u, q] * v.f[corner.index[u, q]]
        if not corner.side[u] * hdot < 0.0:
            # not approached: allowed only if f does not change there
            if field_jumps(w, u):
                corner.plan.culprit = corner.flips[corner.firsts[u]]
                return u, 0.0, 0.0
            if done[u] != BEYOND:
                flip(w, u)
            done[u] = 1
            continue
        if done[u] == BEYOND:
            continue
        when = -(corner.offset[u] + row_times(corner, u, leader)) / hdot
        if when < soonest:
            best, soonest, rate = u, when, hdot
    return best, soonest, rate


@core(inline=True)
def row_times(corner, u, tangent):
    """The row of unit u times a tangent."""
    total = 0.0
    for q in range(corner.count[u]):
        total += corner.value[u, q] * tangent[corner.index[u, q]]
    return total


@core(inline=True)
def flip(w, u):
    """Cross unit u: change the signs of its guards."""
    compact()
    b, flips, firsts = w.g.b, w.corner.flips, w.corner.firsts
    for q in range(firsts[u], firsts[u + 1]):
        b[flips[q]] = -b[flips[q]]


@core
def field_jumps(w, u):
    """Whether f (now in v.f) changes when unit u is crossed; a failing f counts as yes."""
    v = w.v
    flip(w, u)
    bad = eval_f(w, w.corner.plan.t, v.x, v.f_end)
    flip(w, u)
    if bad:
        return True
    change, size = 0.0, 0.0
    for i in range(v.width):
        change = max(change, abs(v.f_end[i] - v.f[i]))
        size = max(size, abs(v.f_end[i]), abs(v.f[i]))
    return not change <= 1e-13 * size
