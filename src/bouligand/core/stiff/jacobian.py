"""A, the matrix of stiff steps: Df at the present state where it is given or comes from dual numbers, else forward differences.

It is evaluated at each step: feet that stick or slide change it by orders of magnitude without an event, and with the A of
another state the method may be unstable, which its error estimate does not show. Forward differences, which take n evaluations
of f, are kept for a few steps.
"""

import math

from .. import codes
from ..compiler.intrinsics import address, call, compact
from ..compiler.jit import core
from ..compiler.vectors import row_product
from ..evaluate import copy_state, eval_f, failed, in_tolerances
from ..jacobians import jacobian

KEPT = 4  # steps for which differences are kept, unless one is rejected
STEP = 1.5e-8  # of a difference, relative to the size of a component


@core
def renew(w):
    """w.stiff.A at the present state. True if a function failed."""
    compact()
    s, v, jac = w.s, w.v, w.tangents.jacobians
    now = s.step_count + s.event_count
    if jac.A != 0:
        if s.A_at == now:
            return False
        s.A_at = now
        return eval_f(w, s.t, v.x, v.scratch) or after_f(w, min(s.t, s.cap), v.x)
    exact = jac.Df != 0 or jac.f_dual != 0
    if s.A_at == now or (not exact and s.fresh == 0 and s.tries == 0 and s.A_at >= 0 and now < s.A_at + KEPT):
        return False
    s.A_at = now
    if exact:
        return jacobian(w, jac.Df, v.x, w.tangents.differences, w.stiff.A, min(s.t, s.cap), v.x)
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
        size = max(abs(v.x[j]), v.atol[j] / s.rtol)
        v.x_trial[j] = v.x[j] + (STEP * size if v.f[j] >= 0.0 else -STEP * size)
        step = v.x_trial[j] - v.x[j]
        if eval_f(w, s.t, v.x_trial, v.scratch):
            return True
        v.x_trial[j] = v.x[j]
        for i in range(v.width):
            A[i, j] = (v.scratch[i] - v.f[i]) / step
    return False


@core
def measure_rate(w):
    """s.rate = the size of the largest eigenvalue of A, to a digit or two, by a power iteration whose vector is kept.

    Pairs of products count: in an oscillation one maps positions to velocities, the next one back.
    """
    compact()
    v, A, rows = w.v, w.stiff.A, w.stiff.rows
    n, product = v.width, 1.0
    for i in range(n):  # something of every component: the fastest mode may be another one now
        some = (0.3 + 0.1 * (i * 7 % 5)) * (v.atol[i] + w.s.rtol * abs(v.x[i]))
        rows.mode[i] = 0.3 * rows.mode[i] + (some if i % 2 == 0 else -some)
    for turn in range(4):
        for i in range(n):
            rows.image[i] = row_product(A, i, 0, n, rows.mode)
        before, after = in_tolerances(w, rows.mode, v.x, v.x), in_tolerances(w, rows.image, v.x, v.x)
        if not 1e-300 < after < math.inf or before == 0.0:
            w.s.rate = 0.0
            for i in range(n):
                rows.mode[i] = 0.0
            return
        product = after / before if turn % 2 == 0 else product * after / before
        for i in range(n):
            rows.mode[i] = rows.image[i] / after
    w.s.rate = math.sqrt(product)


@core
def natural_step(w):
    """The length of a stiff step whose error would be the tolerance, before one is taken: x''' is about A A x'."""
    compact()
    v, A, rows = w.v, w.stiff.A, w.stiff.rows
    for i in range(v.width):
        rows.before[i] = row_product(A, i, 0, v.width, v.f)
    for i in range(v.width):
        rows.image[i] = row_product(A, i, 0, v.width, rows.before)
    third = in_tolerances(w, rows.image, v.x, v.x)
    return 3.0 / max(third, 1e-300) ** (1.0 / 3.0) if third < math.inf else 0.0
