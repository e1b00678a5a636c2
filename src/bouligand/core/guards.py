"""What the guards do along a step: how fast they are approached, which comes first, which was passed.

Everything asks ``a = b h - level``: positive on the side where the trajectory is, zero where a landing aims (the guard,
or the edge of its band). A guard is being approached when ``b hdot < 0``. Guards that do not count have WB = 0.
"""

import math

from .evaluate import eval_Dh, eval_h
from .jit import core
from .layout import DT, HD, HE, HELD, HN, HP, HX, KE, LEVEL, SIGMA, STOP, USE_DH, WB, XM, XN, K, T, X

NEVER = 1e300


@core(inline=True)
def rates(fn, p, S, I, V, H, jacobian, at_end, s):
    """hdot of every guard, at the present state (into HD) or at the end of the step of length s (into HE).

    It is one difference of h along the flow: guards that move with time are included, and Dh is not needed. Where the
    user gave Dh and the guards do not move, the matrix is used.
    """
    t = S[T] + (s if at_end else 0.0)
    x, k = (XN, KE) if at_end else (X, K)
    h, out = (HN, HE) if at_end else (HX, HD)
    if I[USE_DH] == 1:
        if eval_Dh(fn, p, S, I, V, jacobian, t, x):
            return True
        for j in range(H.shape[1]):
            total = 0.0
            for i in range(V.shape[1]):
                total += jacobian[j, i] * V[k, i]
            H[out, j] = total
        return False
    sigma = S[SIGMA] * S[DT]
    if t + sigma > S[STOP]:
        sigma = -sigma
    for i in range(V.shape[1]):
        V[XM, i] = V[x, i] + sigma * V[k, i]
    if eval_h(fn, p, S, I, V, H, t + sigma, XM, HP):
        return True
    scale = 1.0 / sigma
    for j in range(H.shape[1]):
        H[out, j] = (H[HP, j] - H[h, j]) * scale
    return False


@core(inline=True)
def ahead(H, soon):
    """The guard that is reached first if nothing bends: its arrival time and number.

    Also a guard that the trajectory sits on and does not leave, and one that is nearer than ``soon`` but receding
    (it may have been turned away); -1 for none.
    """
    first, j, stuck, turned = NEVER, -1, -1, -1
    for k in range(H.shape[1]):
        speed = H[WB, k] * H[HD, k]
        if speed < 0.0:
            if H[HELD, k] != 0.0:
                stuck = k
            else:
                arrival = (H[WB, k] * H[HX, k] - H[LEVEL, k]) / -speed
                if arrival < first:
                    first, j = arrival, k
        elif H[WB, k] * H[HX, k] < soon * speed and H[HELD, k] == 0.0:
            turned = k
    return first, j, stuck, turned


@core(inline=True)
def refined(H, tau):
    """The first arrival again, with h known at a state about ``tau`` ahead (in HP): a parabola for each guard."""
    first, j = NEVER, -1
    scale = 1.0 / (tau * tau)
    for k in range(H.shape[1]):
        b = H[WB, k]
        start = b * H[HX, k] - H[LEVEL, k]
        end = b * H[HP, k] - H[LEVEL, k]
        if b != 0.0 and end < 0.5 * start and H[HELD, k] == 0.0:
            speed = b * H[HD, k]
            bend = (end - start - speed * tau) * scale
            root = first_root(start, speed, bend)
            if root < first:
                first, j = root, k
    return first, j


@core(inline=True)
def first_root(start, speed, bend):
    """Smallest positive root of ``start + speed t + bend t^2``; NEVER if there is none."""
    inside = speed * speed - 4.0 * bend * start
    if inside < 0.0:
        return NEVER
    q = -0.5 * (speed - math.sqrt(inside)) if speed <= 0.0 else -0.5 * (speed + math.sqrt(inside))
    # with speed <= 0, q >= 0 and start/q is the nearer root; with speed > 0 the only positive root is q/bend
    if speed <= 0.0:
        return start / q if q > 0.0 else NEVER
    return q / bend if bend < 0.0 else NEVER


@core(inline=True)
def passed(H, s, target, short, tiny):
    """After a step of length s: the guard passed first, and the time from the end of the step to it (negative: back).

    Looked for are guards on the wrong side at the end; ``target``, on whatever side; and, in a ``short`` step, guards
    whose parabola dips below zero inside the step although both ends are on the right side. A guard the trajectory sat
    on at the start counts only if it has clearly come back: the residual of its own landing must not. (In a step below
    ``tiny`` nothing is clear.) The third value is False if some h is not finite.
    """
    best, j, total = NEVER, -1, 0.0
    scale = 1.0 / s
    for k in range(H.shape[1]):
        b = H[WB, k]
        total += H[HN, k]
        end = b * H[HN, k] - H[LEVEL, k]
        start = b * H[HX, k] - H[LEVEL, k]
        speed = b * H[HD, k]
        wrong = end < 0.0 and b != 0.0
        if wrong or k == target:
            if H[HELD, k] != 0.0 and (s < tiny or end > start - 1e-3 * abs(speed) * s):
                continue
            slope = 2.0 * (end - start) * scale - speed
            if slope >= 0.0:
                slope = (end - start) * scale
            back = -end / slope if slope != 0.0 else 0.0
            if back < -s:
                back = -0.5 * s
            if back < best:
                best, j = back, k
        elif short and speed < 0.0 and H[HELD, k] == 0.0:
            # both ends on the right side: does it dip in between?
            bend = (end - start) * scale - speed
            if -0.5 * speed < bend and speed * speed * s > 4.0 * bend * start:
                back = s * first_root(start, speed * s, bend * s) - s
                if back < best:
                    best, j = back, k
    return best, j, total - total == 0.0


@core(inline=True)
def dip(H, s):
    """After a smooth step whose ends are on the right side: where, 0 to 1, and which guard comes nearest to a crossing.

    From h and hdot at both ends and h in the middle (HP), each guard is a cubic on each half of the step. Only minima
    that come within a fifth of their drop are reported; the value is that of the cubic. (-1: none.)
    """
    where, which, lowest = 0.0, -1, NEVER
    for k in range(H.shape[1]):
        b = H[WB, k]
        if b == 0.0 or H[HELD, k] != 0.0:
            continue
        y0 = b * H[HX, k] - H[LEVEL, k]
        y1 = b * H[HP, k] - H[LEVEL, k]
        y2 = b * H[HN, k] - H[LEVEL, k]
        if y1 < 0.0:
            if y1 < lowest or lowest >= 0.0:
                where, which, lowest = 0.5, k, y1
            continue
        v0 = 0.5 * s * b * H[HD, k]
        v2 = 0.5 * s * b * H[HE, k]
        v1 = 0.75 * (y2 - y0) - 0.25 * (v0 + v2)
        if v0 < 0.0 and v1 > 0.0:
            place, value = cubic_minimum(y0, y1, v0, v1)
            if value < 0.2 * (y0 - value) and value < 0.2 * (y1 - value) and value < lowest:
                where, which, lowest = 0.5 * place, k, value
        if v1 < 0.0 and v2 > 0.0:
            place, value = cubic_minimum(y1, y2, v1, v2)
            if value < 0.2 * (y1 - value) and value < 0.2 * (y2 - value) and value < lowest:
                where, which, lowest = 0.5 + 0.5 * place, k, value
    return where, which, lowest


@core(inline=True)
def cubic_minimum(y0, y1, v0, v1):
    """Place and value of the minimum of the cubic on (0, 1) that falls at 0 and rises at 1."""
    a3 = 2.0 * (y0 - y1) + v0 + v1
    a2 = 3.0 * (y1 - y0) - 2.0 * v0 - v1
    inside = a2 * a2 - 3.0 * a3 * v0
    root = a2 + math.sqrt(max(inside, 0.0))
    place = min(max(-v0 / root if root > 0.0 else 0.5, 0.0), 1.0)
    return place, y0 + place * (v0 + place * (a2 + place * a3))
