"""Tangents of a step: the Runge-Kutta formula applied to perturbations, forwards and backwards.

A step is a smooth function of its start and of the parameters, as long as its word is frozen. Its derivative is the same
formula over ``dK = Df dX + Dp_f dp``, stage by stage. Each row of ``D`` is a tangent: n components of the state, then
those of the parameters, which do not change. With a given Df that is a product (of a few tangents, by a function of its own where
a bridge has one); else the formula is applied to dual numbers, which carry eight tangents at a time, or two, or one. Where f has
neither (it is no Numba code, or does not compile for dual numbers), Df comes from central differences, column by column; for a
large state the step is replayed a little to either side of the trajectory, and the difference is the tangent.

A hop uses the formula of its rung: without that the derivative would only be of first order in the hop's length. A step that
was cut at a guard, or corrected to end on it, is replayed as one step of its final length.

Tangents at requested times inside a step (``inside`` of w.t_eval, from s.rows.requested on) come from the formula's extension,
and so does their adjoint.
"""

from .. import codes
from ..compiler.intrinsics import address, call, compact
from ..compiler.jit import core
from ..compiler.vectors import add_transposed, clear, multiply
from ..evaluate import count_f, eval_f, failed
from ..jacobians import eval_along, evaluate_jacobians, spread
from ..part_states import awaited, keep_result
from ..state import DUAL, FEW_DUAL, LANES, MOST_ALONG, ONE_DUAL, SMALL
from .formulas import (
    FIRST,
    STAGES,
    TIMES,
    WEIGHTS,
    combine,
    combine_back,
    combine_wide,
    stages_of,
    weight_inside,
)
from .large_states import MANY_STATES, add_tangents, weave


@core
def combine_tangents(tv, length, row):
    """tv.state = the tangents at a row of the formulas: a stage, or the result. (A function, because the code for all formulas is
    long: it is compiled once, not wherever it is needed.)"""
    compact()
    combine_wide(tv.own, tv.slopes, length, tv.state, row)


@core
def combine_stages(v, length, row):
    """v.x_trial = the state at a row of the formulas."""
    compact()
    combine(v.x, v.stages, length, v.x_trial, row)


@core
def write_inside(w, D, first, last, tv, step, layout):
    """x_eval = the tangents D[first:last], at the start of a step, propagated to the times inside it that are requested.

    ``step``: (formula, length, number of these times). ``layout``: (start, per_state, per_tangent); the slope of tangent a in
    state i is tv.slopes[stage, start + i per_state + (a - first) per_tangent].
    """
    compact()
    s, n, tangents, slopes = w.s, w.v.width, D.shape[0], tv.slopes
    (formula, length, inside), (start, per_state, per_tangent) = step, layout
    for q in range(s.rows.requested, s.rows.requested + inside):
        theta, row = (w.t_eval[q] - s.now.t) / length, q * tangents
        for a in range(first, last):
            for i in range(n):
                w.x_eval[row + a, i] = D[a, i]
        for stage in range(stages_of(formula, inside)):
            weight = length * weight_inside(formula, stage, theta)
            for a in range(first, last):
                place = start + (a - first) * per_tangent
                for i in range(n):
                    w.x_eval[row + a, i] += weight * slopes[stage, place + i * per_state]


@core(inline=True)
def propagate_duals(w, D, first, tv, formula, length, inside):
    """Propagate some tangents, from row ``first`` on, over a step from v.x: the formula applied to dual numbers, whose values are
    the state and whose tangents are those of D. Where tv has no room for eight of these, it has for those of D, one or two. True
    if f failed."""
    s, v, fn, P, jac = w.s, w.v, w.fn, w.tangents.plain_p, w.tangents.jacobians
    n, size, f_dual = v.width, DUAL, jac.f_dual
    if tv.width < DUAL * n:
        size, f_dual, P = FEW_DUAL, jac.f_few, w.tangents.few_p
        if D.shape[0] == 1:
            size, f_dual, P = ONE_DUAL, jac.f_one, w.tangents.one_p
    many = min(size - 1, D.shape[0] - first)
    if D.shape[1] > n:
        P = w.tangents.dual_p
        spread(w.p, P, size)
        for q in range(many):
            for i in range(n, D.shape[1]):
                P[size * (i - n) + 1 + q] = D[first + q, i]
    if size == ONE_DUAL:
        weave(v.x, D[first], tv.own)
    else:
        spread(v.x, tv.own, size)
        for q in range(many):
            for i in range(n):
                tv.own[size * i + 1 + q] = D[first + q, i]
    b, p, stages = address(w.g.b), address(P), stages_of(formula, inside)
    for stage in range(stages):
        when, state = min(s.now.t + TIMES[formula, stage] * length, s.run.cap), tv.own
        if stage > 0:
            combine_tangents(tv, length, FIRST[formula] + stage)
            state = tv.state
        if call(f_dual, when, (address(state), b, p, address(tv.slopes[stage])), fn.context) != 0:
            for i in range(n):
                v.x_trial[i] = state[size * i]
            return failed(w, codes.F_FAILED, when, v.x_trial)
    count_f(s, stages)
    if inside > 0:
        write_inside(w, D, first, first + many, tv, (formula, length, inside), (1, size, 1))
    if size == ONE_DUAL and n >= MANY_STATES and not awaited(w):
        add_tangents(tv.slopes, WEIGHTS[formula, STAGES[formula], : STAGES[formula]], length, D[first, :n])
        return False
    combine_tangents(tv, length, FIRST[formula] + STAGES[formula])
    if awaited(w):
        keep_result(w, tv.state, size)
    for q in range(many):
        for i in range(n):
            D[first + q, i] = tv.state[size * i + 1 + q]
    return False


@core(inline=True)
def difference_of_steps(w, D, a, tv, formula, length, inside):
    """Propagate tangent a over a step from v.x by a central difference of the step itself: the same stages on either side of
    the trajectory (side by side in the rows of tv), alternating, so that the processor can overlap them. The increments are
    subtracted, not the states, which would lose digits. True if f failed."""
    s, v, fn, p, steps, sides = w.s, w.v, w.fn, w.p, w.tangents.differences, w.tangents.sides
    n, d, first, stages = v.width, D.shape[1], FIRST[formula], stages_of(formula, inside)
    t, cap = s.now.t, s.run.cap
    largest = 0.0
    for i in range(d):
        largest = max(largest, abs(D[a, i]) / steps[i])
    if largest == 0.0:
        for q in range(s.rows.requested, s.rows.requested + inside):
            for i in range(n):
                w.x_eval[q * D.shape[0] + a, i] = 0.0
        return False
    sigma = 1.0 / largest
    for i in range(n):
        tv.own[i] = v.x[i] + sigma * D[a, i]
        tv.own[n + i] = v.x[i] - sigma * D[a, i]
    plus, minus = address(p), address(p)
    if d > n:
        for i in range(d - n):
            sides[0, i] = p[i] + sigma * D[a, n + i]
            sides[1, i] = p[i] - sigma * D[a, n + i]
        plus, minus = address(sides[0]), address(sides[1])
    b, bad, half = address(w.g.b), 0, 8 * n
    for stage in range(stages):
        when, state = min(t + TIMES[formula, stage] * length, cap), tv.own
        if stage > 0:
            combine_tangents(tv, length, first + stage)
            state = tv.state
        at, slope = address(state), address(tv.slopes[stage])
        bad += call(fn.f, when, (at, b, plus, slope), fn.context)
        bad += call(fn.f, when, (at + half, b, minus, slope + half), fn.context)
        if bad != 0:
            return failed(w, codes.F_FAILED, when, state)
    count_f(s, 2 * stages)
    for i in range(2 * n):
        tv.own[i] = 0.0
    combine_tangents(tv, length, first + STAGES[formula])
    if inside > 0:
        for stage in range(stages):
            for i in range(n):
                tv.slopes[stage, i] = 0.5 * largest * (tv.slopes[stage, i] - tv.slopes[stage, n + i])
        write_inside(w, D, a, a + 1, tv, (formula, length, inside), (0, 1, 0))
    if awaited(w):
        for i in range(n):
            v.x_trial[i] = v.x[i] + 0.5 * (tv.state[i] + tv.state[n + i])
        keep_result(w, v.x_trial, 1)
    for i in range(n):
        D[a, i] += 0.5 * largest * (tv.state[i] - tv.state[n + i])
    return False


@core(inline=True)
def propagate_tangents(w, D, of_p, tv, formula, length, known, inside):
    """Replay a step from v.x and propagate all tangents. ``known``: v.f has been evaluated. ``of_p``: the entries (tangent,
    parameter) of D that are not zero. ``inside``: how many of the requested times are inside. True if a function failed.

    A row of tv has all tangents: the first component of each, then the second of each, and so on.
    """
    compact()
    s, v, Df, Dp_f = w.s, w.v, w.tangents.Df, w.tangents.Dp_f
    n, tangents, t, first = v.width, D.shape[0], s.now.t, FIRST[formula]
    if tangents == 0:
        return False  # the caller only wants to find the corners
    jac, bad = w.tangents.jacobians, False
    if jac.Df == 0 and jac.f_dual != 0 and (jac.Dp_f == 0 or D.shape[1] == n or n > SMALL):
        for a in range(0, tangents, LANES):
            bad = bad or propagate_duals(w, D, a, tv, formula, length, inside)
        return bad
    if jac.Df == 0 and n > SMALL:
        for a in range(tangents):
            bad = bad or difference_of_steps(w, D, a, tv, formula, length, inside)
        return bad
    room, along = tv.width // n, jac.along != 0 and tangents <= MOST_ALONG
    for a in range(tangents):
        for i in range(n):
            tv.own[i * room + a] = D[a, i]
    for stage in range(stages_of(formula, inside)):
        when = min(t + TIMES[formula, stage] * length, s.run.cap)
        combine_stages(v, length, first + stage)
        if (stage > 0 or along or not known) and eval_f(w, when, v.x_trial, v.stages[stage]):
            return True
        out = tv.slopes[stage]
        combine_tangents(tv, length, first + stage)
        if along:
            if eval_along(w, D, of_p, when, v.x_trial, tv.state, out):
                return True
            continue
        if evaluate_jacobians(w, Df, Dp_f, when, v.x_trial):
            return True
        multiply(Df, tv.state, out)
        for q in range(of_p.shape[0]):
            a, j = of_p[q, 0], of_p[q, 1]
            for i in range(n):
                out[i * room + a] += Dp_f[i, j] * D[a, n + j]
    if inside > 0:
        write_inside(w, D, 0, tangents, tv, (formula, length, inside), (0, room, 1))
    if awaited(w):
        combine_stages(v, length, first + STAGES[formula])
        keep_result(w, v.x_trial, 1)
    combine_tangents(tv, length, first + STAGES[formula])
    for a in range(tangents):
        for i in range(n):
            D[a, i] = tv.state[i * room + a]
    return False


@core(inline=True)
def propagate_adjoint(w, gradient, tv, Df, Dp_f, formula, length, inside):
    """The adjoint of a step from v.x, applied to a gradient: its first n entries become those at the start of the step, the
    others accumulate the effect of the parameters. Df and Dp_f hold the Jacobians of all stages, or of one. ``inside``: how
    many of the requested times, the last ones before s.rows.requested, are inside; x_eval has their gradients.
    True if a function failed.
    """
    compact()
    s, v = w.s, w.v
    n, t, stages, first = v.width, s.now.t, stages_of(formula, inside), FIRST[formula]
    at_once = Df.shape[0] > 1
    for stage in range(stages):
        when = min(t + TIMES[formula, stage] * length, s.run.cap)
        combine_stages(v, length, first + stage)
        if eval_f(w, when, v.x_trial, v.stages[stage]):
            return True
        # (here, so that the processor can overlap them with the next stage)
        if at_once and evaluate_jacobians(w, Df[stage], Dp_f[stage], when, v.x_trial):
            return True
    for i in range(n):
        tv.own[i], tv.state[i] = 0.0, gradient[i]
    for q in range(s.rows.requested - inside, s.rows.requested):
        for i in range(n):
            gradient[i] += w.x_eval[q, i]
    for stage in range(stages - 1, -1, -1):
        place = stage if at_once else 0
        if not at_once:
            combine_stages(v, length, first + stage)
            if evaluate_jacobians(w, Df[0], Dp_f[0], min(t + TIMES[formula, stage] * length, s.run.cap), v.x_trial):
                return True
        # the weight of this stage in the result, and in the stages after it
        if stage < STAGES[formula]:
            combine_back(tv.own, tv.state_and_slopes, length, tv.weight, first + stage)
        else:
            for i in range(n):
                tv.weight[i] = 0.0
        if inside > 0:
            weigh_inside(w, tv, stage, formula, length, inside)
        slope = tv.slopes[stage]
        clear(slope, 0, n)
        add_transposed(Df[place], tv.weight, slope, 0)
        for i in range(n):
            gradient[i] += slope[i]
        if Dp_f.shape[2] > 0:
            add_transposed(Dp_f[place], tv.weight, gradient, n)
    return False


@core
def weigh_inside(w, tv, stage, formula, length, inside):
    """Add to the weight of a stage those that it has in the states inside the step, and in the stages that only these use."""
    compact()
    s, n = w.s, w.v.width
    for q in range(max(stage + 1, STAGES[formula]), stages_of(formula, inside)):
        for i in range(n):
            tv.weight[i] += length * WEIGHTS[formula, q, stage] * tv.slopes[q, i]
    for q in range(s.rows.requested - inside, s.rows.requested):
        weight = length * weight_inside(formula, stage, (w.t_eval[q] - s.now.t) / length)
        for i in range(n):
            tv.weight[i] += weight * w.x_eval[q, i]
