"""A, the matrix of stiff steps: Df at the present state where it is given or comes from dual numbers, else forward differences.

It is evaluated at each step: feet that stick or slide change it by orders of magnitude without an event, and with the A of
another state the method may be unstable, which its error estimate does not show. Forward differences, which take n evaluations
of f, are kept for a few steps.
"""

from .. import codes
from ..compiler.intrinsics import address, call, compact
from ..compiler.jit import core
from ..evaluate import copy_state, eval_f, failed
from ..jacobians import jacobian

KEPT = 4  # steps for which differences are kept, unless one is rejected
STEP = 1.5e-8  # of a difference, relative to the size of a component


@core(inline=True)
def step_number(s, ahead):
    """A number for the present place of the integration, or that behind so many more steps: steps, then events."""
    return ((s.counts.steps + ahead) << 32) + s.rows.events


@core
def renew(w):
    """w.stiff.A at the present state. True if a function failed."""
    compact()
    s, v, jac = w.s, w.v, w.tangents.jacobians
    now = step_number(s, 0)
    if jac.A != 0:
        if s.stiff.A_at == now:
            return False
        s.stiff.A_at = now
        return eval_f(w, s.now.t, v.x, v.scratch) or after_f(w, min(s.now.t, s.run.cap), v.x)
    exact = jac.Df != 0 or jac.f_dual != 0
    if s.stiff.A_at == now or (
        not exact
        and s.here.fresh == 0
        and s.step.tries == 0
        and s.stiff.A_at >= 0
        and s.counts.steps < (s.stiff.A_at >> 32) + KEPT
    ):
        return False
    s.stiff.A_at = now
    if exact:
        return jacobian(w, jac.Df, v.x, w.tangents.differences, w.stiff.A, min(s.now.t, s.run.cap), v.x)
    return forward_differences(w)


@core(inline=True)
def after_f(w, t, x):
    """A by the bridge's function, directly after f at the same state. True if it failed."""
    if (
        call(w.tangents.jacobians.A, t, (address(x), address(w.g.b), address(w.p), address(w.stiff.A)), w.fn.context)
        == 0
    ):
        return False
    return failed(w, codes.DF_FAILED, t, x)


@core
def forward_differences(w):
    """A by one evaluation of f for each component. True if f failed."""
    compact()
    s, v, A = w.s, w.v, w.stiff.A
    copy_state(v.x, v.x_trial)
    for j in range(v.width):
        size = max(abs(v.x[j]), v.atol[j] / s.options.rtol)
        v.x_trial[j] = v.x[j] + (STEP * size if v.f[j] >= 0.0 else -STEP * size)
        step = v.x_trial[j] - v.x[j]
        if eval_f(w, s.now.t, v.x_trial, v.scratch):
            return True
        v.x_trial[j] = v.x[j]
        for i in range(v.width):
            A[i, j] = (v.scratch[i] - v.f[i]) / step
    return False
