"""Tangents of a stiff step, and their adjoint: the same method applied to the variational equation.

A is held fixed, which is right to the order of the method: that is the same for every A, also in the variational equation, whose
own A has this one on its diagonal. So no second derivatives are needed, and fast modes do not limit these steps either.
"""

from .. import codes
from ..compiler.intrinsics import address, call, compact
from ..compiler.jit import core
from ..compiler.vectors import multiply
from ..evaluate import count_f, eval_f, failed
from ..jacobians import eval_along, jacobian, without_tangents
from ..part_states import awaited, keep_result
from ..schemes.ros34pw2 import ALPHA, GAMMA, STAGES, WEIGHTS
from ..state import DUAL, LANES, MOST_ALONG
from .dense import weight
from .linear import solve_many, solve_transposed
from .step import place, with_A


@core
def stages_again(w, length):
    """The stages of a recorded step from v.x, and its factors, with Df in place of A. True if a function failed."""
    compact()
    s, v = w.s, w.v
    return eval_f(w, s.now.t, v.x, v.f) or Df_at(w, min(s.now.t, s.run.cap), v.x) or with_A(w, length)


@core(inline=True)
def Df_at(w, t, x):
    """w.stiff.A = Df (its factors are at hand: from then on A serves as memory). True if a function failed."""
    return jacobian(w, w.tangents.jacobians.Df, x, w.tangents.differences, w.stiff.A, t, x)


@core(inline=True)
def Dp_f_at(w, t, x):
    """w.tangents.Dp_f, if it has columns. True if a function failed."""
    J = w.tangents.Dp_f
    return J.shape[1] > 0 and jacobian(w, w.tangents.jacobians.Dp_f, w.p, w.tangents.differences[w.v.width :], J, t, x)


@core
def push_stiff(w, D, of_p, tv, length, inside):
    """Propagate all tangents over a stiff step from v.x (see `tangents.step_tangents`). True if a function failed."""
    compact()
    n, tangents, jac = w.v.width, D.shape[0], w.tangents.jacobians
    if tangents == 0:
        return False
    if stages_again(w, length):
        return True
    by_duals = jac.Df == 0 and jac.f_dual != 0 and (jac.Dp_f == 0 or D.shape[1] == n)
    many = min(LANES, tv.width // n) if by_duals else tv.width // n
    for first in range(0, tangents, many):
        last = min(first + many, tangents)
        for i in range(n):
            for a in range(many):
                tv.own[i * many + a] = D[first + a, i] if first + a < last else 0.0
        for q in range(STAGES):
            if push_stage(w, D, of_p, tv, length, (q, first, last, many), by_duals):
                return True
        for i in range(n * many):
            total = 0.0
            for r in range(STAGES):
                total += WEIGHTS[r] * tv.slopes[r, i]
            tv.state[i] = tv.own[i] + length * total
        if inside > 0:
            write_inside(w, D, tv, length, inside, (first, last, many))
        for a in range(first, last):
            for i in range(n):
                D[a, i] = tv.state[i * many + a - first]
    if awaited(w):
        step_result(w.v, length)
        keep_result(w, w.v.x_trial, 1)
    return False


@core
def step_result(v, length):
    """v.x_trial = the state behind a step whose stages are at hand."""
    compact()
    for i in range(v.width):
        total = 0.0
        for q in range(STAGES):
            total += WEIGHTS[q] * v.stages[q + 1, i]
        v.x_trial[i] = v.x[i] + length * total


@core
def push_stage(w, D, of_p, tv, length, which, by_duals):
    """tv.slopes[q] = a stage of the tangents: ``which`` are q, the first tangent, the last, and how many there are in a row."""
    compact()
    q, first, last, many = which
    out, width = tv.slopes[q], w.v.width * many
    for i in range(width):
        state, total = 0.0, 0.0
        for r in range(q):
            state += ALPHA[q, r] * tv.slopes[r, i]
            total += GAMMA[q, r] * tv.slopes[r, i]
        tv.state[i] = tv.own[i] + length * state
        tv.weight[i] = total
    if slopes(w, D, of_p, tv, out, place(w, q, length), (first, last, many), by_duals):
        return True
    for i in range(width):
        out[i] += tv.weight[i]
    solve_many(w.stiff, out, many)
    for i in range(width):
        out[i] -= tv.weight[i]
    return False


@core
def slopes(w, D, of_p, tv, out, t, which, by_duals):
    """out = Df(v.x_trial) tv.state + Dp_f dp. True if a function failed."""
    compact()
    v, n, J = w.v, w.v.width, w.tangents.Dp_f
    first, last, many = which
    if by_duals:
        return slopes_by_duals(w, D, tv, out, t, which)
    if w.tangents.jacobians.along != 0 and D.shape[0] <= MOST_ALONG:
        return eval_f(w, t, v.x_trial, v.scratch) or eval_along(w, D, of_p, t, v.x_trial, tv.state, out)
    if Df_at(w, t, v.x_trial) or (of_p.shape[0] > 0 and Dp_f_at(w, t, v.x_trial)):
        return True
    multiply(w.stiff.A, tv.state, out)
    for q in range(of_p.shape[0]):
        a, j = of_p[q, 0], of_p[q, 1]
        if first <= a < last:
            for i in range(n):
                out[i * many + a - first] += J[i, j] * D[a, n + j]
    return False


@core
def slopes_by_duals(w, D, tv, out, t, which):
    """The same by f of dual numbers, which carry the tangents."""
    compact()
    v, fn, X, P, Y = w.v, w.fn, w.tangents.dual_x, w.tangents.dual_p, w.tangents.dual_out
    n = v.width
    first, last, many = which
    without_tangents(v.x_trial, X)
    without_tangents(w.p, P)
    for a in range(last - first):
        for i in range(n):
            X[DUAL * i + 1 + a] = tv.state[i * many + a]
        for i in range(n, D.shape[1]):
            P[DUAL * (i - n) + 1 + a] = D[first + a, i]
    count_f(w.s, 1)
    if call(w.tangents.jacobians.f_dual, t, (address(X), address(w.g.b), address(P), address(Y)), fn.context) != 0:
        return failed(w, codes.F_FAILED, t, v.x_trial)
    for i in range(n):
        for a in range(many):
            out[i * many + a] = Y[DUAL * i + 1 + a] if a < last - first else 0.0
    return False


@core
def write_inside(w, D, tv, length, inside, which):
    """x_eval = the tangents at the requested times inside the step, by its extension."""
    compact()
    s, tangents = w.s, D.shape[0]
    first, last, many = which
    for q in range(s.rows.requested, s.rows.requested + inside):
        theta = (w.t_eval[q] - s.now.t) / length
        for a in range(first, last):
            for i in range(w.v.width):
                k, total = i * many + a - first, 0.0
                for r in range(STAGES):
                    total += weight(r, theta) * tv.slopes[r, k]
                w.x_eval[q * tangents + a, i] = tv.own[k] + length * total


@core
def pull_stiff(w, gradient, tv, length, inside):
    """The adjoint of a stiff step from v.x, applied to a gradient (see `step_tangents.propagate_adjoint`)."""
    compact()
    s, v = w.s, w.v
    n = v.width
    if stages_again(w, length):
        return True
    for q in range(STAGES):
        for i in range(n):
            tv.slopes[q, i] = length * WEIGHTS[q] * gradient[i]
    for q in range(s.rows.requested - inside, s.rows.requested):
        theta = (w.t_eval[q] - s.now.t) / length
        for i in range(n):
            gradient[i] += w.x_eval[q, i]
            for r in range(STAGES):
                tv.slopes[r, i] += length * weight(r, theta) * w.x_eval[q, i]
    for q in range(STAGES - 1, -1, -1):
        if pull_stage(w, gradient, tv, length, q):
            return True
    return False


@core
def pull_stage(w, gradient, tv, length, q):
    """The adjoint of one stage: tv.slopes[q] is its weight; those of the stages before it are changed."""
    compact()
    n, share = w.v.width, tv.slopes[q]
    for i in range(n):
        tv.weight[i] = share[i]
        tv.state[i] = 0.0
    solve_transposed(w.stiff, share)
    for r in range(q):
        for i in range(n):
            tv.slopes[r, i] += GAMMA[q, r] * (share[i] - tv.weight[i])
    when = place(w, q, length)
    if pull_slope(w, gradient, share, tv.state, when):
        return True
    for i in range(n):
        gradient[i] += tv.state[i]
        for r in range(q):
            tv.slopes[r, i] += length * ALPHA[q, r] * tv.state[i]
    return False


@core
def pull_slope(w, gradient, share, out, t):
    """out += Df(v.x_trial)' share, and to the gradient in the parameters Dp_f' share. True if a function failed."""
    compact()
    v, A, J = w.v, w.stiff.A, w.tangents.Dp_f
    n = v.width
    if Df_at(w, t, v.x_trial) or (gradient.shape[0] > n and Dp_f_at(w, t, v.x_trial)):
        return True
    for j in range(n):
        if share[j] != 0.0:
            for i in range(n):
                out[i] += A[j, i] * share[j]
            for i in range(gradient.shape[0] - n):
                gradient[n + i] += J[j, i] * share[j]
    return False
