"""Taking a step: a hop that lands on a guard, or a smooth step that is moved onto the guard it passed.

A hop is taken by exactly the predicted time; a smooth step that turns out to have passed a guard hops back to it from its
end. Either way the end is then corrected along the flow, with h evaluated again until what is left is far below the
tolerance: without that check near-grazing landings would stall at an error that no tolerance cures.
"""

import math

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import eval_h, in_tolerances
from ..guards import passed, suspects
from ..state import (
    BACK,
    DT,
    DTMAX,
    FH,
    HD,
    HELD,
    HN,
    HOP,
    HX,
    KE,
    KF,
    KIND,
    KP,
    LAM,
    LAND1,
    LAND2,
    LAND3,
    LEFT,
    LEVEL,
    METHOD,
    NREJECTED,
    RATE,
    RTOL,
    T0,
    TARGET,
    TF,
    WB,
    XF,
    XN,
    K,
    L,
    T,
    W,
    X,
)
from .hop import hop, natural_step
from .inside import locate
from .smooth import FAILED as STEP_FAILED
from .smooth import smooth_step

# outcomes
FAILED = -1  # the user's function failed
REFUSED = 0  # try again, shorter
STEPPED = 1  # a step without a landing
LANDED = 2  # on the guard TARGET (or the edge of its band)
TURNS = 3  # a projection found its guard receding
NOT_FINITE = 4


@core(inline=True)
def take_step(fn, p, S, I, V, H, s, landing, fixed):
    """Go s ahead from X to XN: with ``landing`` by a hop onto the guard TARGET, else (or where no hop fits) smoothly.

    ``fixed`` is the rung of the paper's projections, 0 where the tolerance decides. The parts of the step are left in
    LAND1 (the hop or smooth step), LAND2 (the way back to a guard that was passed) and LAND3 (the correction).
    """
    compact()
    t, n = S[T], V.shape[1]
    hopping, tries = landing, 0
    base, length, share = X, s, part(S, s, 2.0)
    start = H[WB, I[TARGET]] * H[HX, I[TARGET]] if landing else 0.0
    S[LAND2], S[LAND3], S[LEFT] = 0.0, 0.0, 0.0
    while True:
        # --- the hop, forwards or (from XF, the end of the smooth step) back; or the smooth step
        if hopping:
            for i in range(n):
                V[L, i] = V[K, i] if base == X else V[KF, i]
            rung = hop(fn, p, S, I, V, H, t if base == X else t + s, base, length, share, fixed)
            if rung < 0:
                return FAILED
            if rung == 0:
                if base == XF:
                    return shorten(S, I, s, length)
                hopping = False
                if s > 1.1 * S[DT]:
                    s, landing = S[DT], False
                continue
            if base == X:
                s = length
                I[KIND] = HOP + rung
            else:
                I[KIND] = I[METHOD] + BACK * rung
                S[LAM] = 0.0
                S[LAND2] = length
            known = False
        else:
            error, factor = smooth_step(fn, p, S, I, V, H, s)
            if error == STEP_FAILED:
                return FAILED
            if error > 1.0:
                S[DT] = s * factor
                I[NREJECTED] += 1 if factor < 1.0 else 0
                return NOT_FINITE if error == math.inf else REFUSED
            natural = min(s * factor, S[DTMAX])
            S[DT] = max(S[DT], natural) if landing or s < 0.999 * S[DT] else natural
            I[KIND] = I[METHOD]
            S[LAM] = 0.0
            share = part(S, s, 2.0)
            known = fn[FH] != 0
        S[LAND1] = s

        # --- what it passed
        whole = s + S[LAND2]
        if not known and eval_h(fn, p, S, I, V, H, t + whole, XN, HN):
            return FAILED
        short = hopping and base == X
        shift, j, finite = passed(H, whole, I[TARGET] if landing else -1, short, 1e-6 * S[DT] if short else 0.0)
        if not finite:
            S[DT] = 0.1 * s
            I[NREJECTED] += 1
            return NOT_FINITE
        if fixed == 1:
            # the paper's tangent: it ends where it ends, and what is left of h is reported
            return LANDED if abs(H[HN, I[TARGET]]) <= 0.5 * start else TURNS
        if j < 0:
            return STEPPED if base == X else shorten(S, I, whole, 0.0)

        # --- near enough to correct along the flow?
        if fixed > 0:
            near = abs(shift) <= (1e-3 if tries < 3 else 0.05) * s  # Newton on the time, with the whole hop
        elif short:
            near = bend_of(S, V, shift) * max(S[LAM] * s, 0.01) <= 0.3 * share
        else:
            near = bend_of(S, V, shift) <= 0.05
        if base == X:
            for i in range(n):
                V[XF, i] = V[XN, i]
                V[KF, i] = V[KE, i]
        if near:
            S[LAND3], settled = settle(fn, p, S, I, V, H, whole, j, shift, 1e-9 if fixed > 0 else share)
            if settled < 0:
                return FAILED
            if settled > 0:
                I[TARGET] = j
                if short and fixed == 0 and I[KIND] > HOP + 2 and S[RATE] > 0.0:
                    S[DT] = max(min(S[DT], natural_step(S[RATE], S[LAM], I[METHOD])), s)
                return LANDED
            S[LAND3] = 0.0
            for i in range(n):
                V[XN, i] = V[XF, i]
                V[KE, i] = V[KF, i]
        if shift > 0.0 and fixed == 0 and base == X:
            # not there yet, and too far to guess the rest: an ordinary step
            return FAILED if near and eval_h(fn, p, S, I, V, H, t + s, XN, HN) else STEPPED

        # --- else hop again, or back: by the guard's parabola at first, then to where h along the step says
        tries += 1
        aim = s + S[LAND2] + shift
        if near or tries > 1:
            if base == XF:
                for i in range(n):
                    V[XN, i] = V[XF, i]
                    V[KE, i] = V[KF, i]
            where, k = locate(fn, p, S, I, V, H, s)
            if where == -2.0:
                return FAILED
            if k >= 0:
                aim, j = where * s, k
        if tries > 4 or (not short and aim < 0.4 * s):
            return TURNS if fixed > 0 else shorten(S, I, s, (aim if tries <= 4 else 0.5 * aim) - s)
        if short:
            I[NREJECTED] += 1
            length = max(aim, 0.1 * s)
            s = length
            share = part(S, s, 2.0)
            continue
        I[TARGET] = j
        landing = True
        hopping, base = True, XF
        length = aim - s
        share = part(S, length, 0.5)


@core(inline=True)
def part(S, s, factor):
    """The part of the tolerance a landing step of length s may use: in proportion to time, so that many add up to one."""
    return factor * min(max(abs(s) / S[DT], 1e-3), 1.05)


@core(inline=True)
def bend_of(S, V, shift):
    """Size, in tolerances, of the second-order term of a correction along the flow."""
    for i in range(V.shape[1]):
        V[W, i] = 0.5 * shift * shift * V[KP, i]
    return in_tolerances(S, V, W, X, XN)


@core(inline=True)
def shorten(S, I, s, shift):
    """Give the step up and try one that ends about where the guard is."""
    S[DT] = max(s + min(shift, 0.0), 0.05 * s)
    I[NREJECTED] += 1
    return REFUSED


@core
def settle(fn, p, S, I, V, H, s, j, shift, share):
    """Move the end of a step of length s onto guard j, first by ``shift``. Returns the whole shift, and 1 if it is there.

    A secant iteration on h along the flow; HN is h where it ends. It is there when the time that is left moves the state by
    less than a hundredth of ``share`` tolerances (and is itself within the relative tolerance as a time), judged by a slope
    that two evaluations agree on; or when only round-off is left. 0: h along the flow is not what was expected, or another
    guard is passed by more than that; -1: h failed.
    """
    compact()
    n, total = V.shape[1], 0.0
    speed = max(in_tolerances(S, V, KE, X, XN), 1.0 / (S[RTOL] * max(abs(S[T]), S[TF] - S[T0])))
    goal = 0.01 * share / speed
    noise = max(1e-9 * s, 1e-14 * max(abs(S[T]), S[DT]))
    level, b = H[LEVEL, j], H[WB, j]
    now = b * H[HN, j] - level
    slope = -now / shift if shift != 0.0 else 0.0
    steepest = slope
    there = now == 0.0 or abs(shift) <= 0.1 * goal
    for _ in range(40):
        if there:
            break
        last, before = now, slope
        for i in range(n):
            V[XN, i] += shift * (V[KE, i] + 0.5 * shift * V[KP, i])
            V[KE, i] += shift * V[KP, i]
        total += shift
        if eval_h(fn, p, S, I, V, H, S[T] + s + total, XN, HN):
            return total, -1
        now = b * H[HN, j] - level
        slope = (now - last) / shift
        steepest = min(steepest, slope)
        following = -now / slope if slope < 0.0 else math.inf
        agrees = 2.0 * before <= slope <= 0.5 * before  # (both are negative)
        if now == 0.0 or abs(following) <= 1e-16 * max(abs(S[T]), s) or (agrees and abs(following) <= goal):
            there = True
        elif abs(following) >= abs(shift):
            # it does not get nearer: down at round-off, or h is no straight line here
            if abs(shift) > noise:
                return total, 0
            there = True
        else:
            shift = math.copysign(max(abs(following), 0.1 * goal), following)
    if not there:
        return total, 0
    # (a slope from the last digits of two landings may be anything; that which led there is not)
    S[LEFT] = abs(now / steepest) if steepest < 0.0 else 0.0
    return total, 0 if overtaken(H, s + total, j, 10.0 * goal) else 1


@core(inline=True)
def overtaken(H, s, j, time):
    """Whether, at a landing on guard j after a step of length s, another guard was passed more than ``time`` before."""
    count, _ = suspects(H, s, False)
    if count - (1.0 if H[WB, j] * H[HN, j] < H[LEVEL, j] else 0.0) <= 0.0:
        return False
    for k in range(H.shape[1]):
        b = H[WB, k]
        end, start = b * H[HN, k] - H[LEVEL, k], b * H[HX, k] - H[LEVEL, k]
        if k != j and b != 0.0 and end < 0.0 and start > 0.0 and H[HELD, k] == 0.0:
            slope = max(2.0 * (start - end) / s + b * H[HD, k], (start - end) / s)
            if -end > time * slope:
                return True
    return False
