"""Inside a step: states between its ends, and where on the way a guard was crossed first.

Only h is evaluated here. States are those of the cubic through both ends and their slopes: good enough to look and to aim; what
is found is then landed on by a hop of its own.
"""

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import eval_h
from ..guards import halfway, wrong_at
from ..state import HD, HE, HM, HN, HP, HX, KE, LEVEL, WB, XM, XN, K, T, X


@core
def between(V, theta, s, out):
    """V[out] = the cubic through both ends of the step and their slopes, at theta."""
    compact()
    u = 1.0 - theta
    for i in range(V.shape[1]):
        rise = V[XN, i] - V[X, i]
        ends = u * (s * V[K, i] - rise) - theta * (s * V[KE, i] - rise)
        V[out, i] = V[X, i] + theta * (rise + u * ends)


@core
def locate(fn, p, S, I, V, H, s):
    """Where in the step (0 to 1), and by which guard, the first crossing that can be seen is: bracketed, h only.

    Returns -1, -1 if no guard is on the wrong side at the end, and -2, -1 if h failed.
    """
    compact()
    m = H.shape[1]
    if eval_h(fn, p, S, I, V, H, S[T] + s, XN, HE):
        return -2.0, -1
    j = wrong_at(H, HE)
    if j < 0:
        return -1.0, -1
    for k in range(m):
        H[HM, k] = H[HX, k]
    low, high = 0.0, 1.0
    for turn in range(60):
        ahead = H[WB, j] * H[HM, j] - H[LEVEL, j]
        behind = H[WB, j] * H[HE, j] - H[LEVEL, j]
        part = ahead / (ahead - behind) if ahead > 0.0 else 0.5
        if high - low < 1e-4 * high:
            return low + part * (high - low), j
        # a secant, kept away from the ends, in turn with halving
        part = 0.5 if turn % 3 == 2 else min(max(part, 0.02), 0.98)
        theta = low + part * (high - low)
        between(V, theta, s, XM)
        if eval_h(fn, p, S, I, V, H, S[T] + theta * s, XM, HP):
            return -2.0, -1
        k = wrong_at(H, HP)
        if k >= 0:
            high, j = theta, k
        else:
            low = theta
        row = HE if k >= 0 else HM
        for q in range(m):
            H[row, q] = H[HP, q]
    return high, j


@core
def passed_before(fn, p, S, I, V, H, s, target):
    """Whether, on the way to a landing on ``target``, some guard was crossed: where (0: no; -1: h failed).

    h halfway tells; where it is not what the guard's parabola says of that place, compared to its distance, more places do.
    """
    compact()
    between(V, 0.5, s, XM)
    if eval_h(fn, p, S, I, V, H, S[T] + 0.5 * s, XM, HP):
        return -1.0
    wrong, rough = halfway(H, s)
    if wrong > 0.0:
        return 0.5
    # the target itself ends at no distance: it is rough if it was before
    b = H[WB, target]
    start, middle = b * H[HX, target] - H[LEVEL, target], b * H[HP, target] - H[LEVEL, target]
    end = b * H[HN, target] - H[LEVEL, target]
    off = 4.0 * abs(middle - 0.75 * start - 0.25 * (s * b * H[HD, target] + end))
    if off > end and off <= min(start, middle):
        rough -= 1.0
    return look_closely(fn, p, S, I, V, H, s) if rough > 0.0 else 0.0


@core
def look_closely(fn, p, S, I, V, H, s):
    """Sixteen places in a step along which h varies too fast to be told by its ends: the first on a wrong side, or 0.

    (-1: h failed.)
    """
    compact()
    for q in range(1, 16):
        between(V, q / 16.0, s, XM)
        if eval_h(fn, p, S, I, V, H, S[T] + q / 16.0 * s, XM, HP):
            return -1.0
        if wrong_at(H, HP) >= 0:
            return q / 16.0
    return 0.0
