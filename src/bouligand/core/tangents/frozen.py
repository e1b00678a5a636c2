"""Tangents of a step with one Jacobian, that in its middle: for planners, whose steps are larger than what that neglects.

Over a step of length h the tangents obey ``X' = Df X + Dp_f dp`` with Df and Dp_f taken as constant: ``X(h) = exp(h Df) X + ...``,
as a power series, in parts where it would not converge quickly. The error is that of the midpoint rule, ``h^3`` for each step;
fast modes need no shorter steps, and an evaluation of Df, which costs much more than one of f, is needed once for a step instead
of for each of its stages. Crossings are as exact as ever.
"""

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.vectors import multiply
from ..jacobians import evaluate_jacobians

MOST_TERMS = 10
MOST_PARTS = 64
ENOUGH = 1e-3  # the last term of the series, relative to the sum


@core
def propagate_frozen(w, D, of_p, tv, record, length):
    """Propagate all tangents from a record to the next. ``of_p``: the entries (tangent, parameter) of D that are not zero. True if a
    function failed."""
    compact()
    s, v, Df, Dp_f = w.s, w.v, w.tangents.Df, w.tangents.Dp_f
    n, tangents = v.width, D.shape[0]
    if tangents == 0:
        return False
    for i in range(n):
        v.x_trial[i] = 0.5 * (w.states[record, i] + w.states[record + 1, i])
    if evaluate_jacobians(w, Df, Dp_f, min(s.t + 0.5 * length, s.cap), v.x_trial):
        return True
    room, parts = tv.width // n, 1
    while True:
        for a in range(tangents):
            for i in range(n):
                tv.own[i * room + a] = D[a, i]
        done = True
        for _ in range(parts):
            done = done and add_series(w, D, of_p, tv, room, length / parts)
        if done or parts >= MOST_PARTS:
            break
        parts *= 2
    for a in range(tangents):
        for i in range(n):
            D[a, i] = tv.own[i * room + a]
    return False


@core
def add_series(w, D, of_p, tv, room, length):
    """tv.own = the tangents a time ``length`` later. False if the series does not converge quickly."""
    n, Df, Dp_f = w.v.width, w.tangents.Df, w.tangents.Dp_f
    own, term, out = tv.own, tv.state, tv.slopes[0]
    for i in range(own.shape[0]):
        term[i] = own[i]
    for power in range(1, MOST_TERMS + 1):
        multiply(Df, term, out)
        if power == 1:
            for q in range(of_p.shape[0]):
                a, j = of_p[q, 0], of_p[q, 1]
                for i in range(n):
                    out[i * room + a] += Dp_f[i, j] * D[a, n + j]
        factor, largest, size = length / power, 0.0, 0.0
        for i in range(own.shape[0]):
            term[i] = factor * out[i]
            own[i] += term[i]
            largest = max(largest, abs(term[i]))
            size = max(size, abs(own[i]))
        if largest <= ENOUGH * size:
            return True
        if not largest < 1e300:
            return False
    return False
