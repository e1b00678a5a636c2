"""Tangents of a step with one Jacobian, that in its middle: for planners, whose steps are larger than what that neglects.

Over a step of length h the tangents obey ``X' = Df X + Dp_f dp``, with Df and Dp_f taken as constant; the implicit midpoint rule
solves ``(1 - h/2 Df) Y = X + h/2 Dp_f dp`` and goes on from ``2 Y - X``. Its error is of order ``h^3`` for each step. Fast modes
need no shorter steps, and Df, which costs much more than f, is evaluated once for a step instead of for each of its stages.
Crossings are as exact as ever.
"""

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.vectors import add_row, add_rows
from ..jacobians import evaluate_jacobians

LEAST = 1e-9  # pivots are not smaller


@core
def propagate_frozen(w, D, of_p, tv, record, length):
    """Propagate all tangents from a record to the next. ``of_p``: the entries (tangent, parameter) of D that are not zero.
    True if a function failed."""
    compact()
    s, v, F, Dp_f, half = w.s, w.v, w.tangents.Df, w.tangents.Dp_f, 0.5 * length
    n, tangents, own = v.width, D.shape[0], tv.own
    if tangents == 0:
        return False
    for i in range(n):
        v.x_trial[i] = 0.5 * (w.states[record, i] + w.states[record + 1, i])
    if evaluate_jacobians(w, F, Dp_f, min(s.t + half, s.cap), v.x_trial):
        return True
    room = tv.width // n
    for i in range(n):
        for a in range(tangents):
            own[i * room + a] = D[a, i]
        for j in range(n):
            F[i, j] *= -half
        F[i, i] += 1.0
    for q in range(of_p.shape[0]):
        a, j = of_p[q, 0], of_p[q, 1]
        for i in range(n):
            own[i * room + a] += half * Dp_f[i, j] * D[a, n + j]
    # Gauss' elimination, row by row. (No pivoting: the matrix is near the unit matrix, or damped.)
    for i in range(n):
        for k in range(i):
            if F[i, k] != 0.0:
                factor = -F[i, k] / F[k, k]
                F[i, k] = factor
                add_row(F, i, k, k + 1, F.shape[1], factor)
        if abs(F[i, i]) < LEAST:
            F[i, i] = LEAST
        add_rows(F, i, 0, i, 1.0, own)
    for i in range(n - 1, -1, -1):
        add_rows(F, i, i + 1, n, -1.0, own)
        for a in range(tangents):
            own[i * room + a] /= F[i, i]
            D[a, i] = 2.0 * own[i * room + a] - D[a, i]
    return False
