"""The judge: rare questions, above all whether a trajectory may go on, answered in a compiled function of their own.

The loop only notices that something is odd (a guard that is not being left, one that recedes all of a sudden, one that was
barely touched) and asks. Sliding, grazing and corners that are not event-selected are refused by name; what cannot
change the outcome by more than the tolerance goes on, and its margin is noted.
"""

import math

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import eval_f, eval_h, in_tolerances
from ..guards import hold
from ..state import (
    ASK,
    ASK_ANEW,
    ASK_NEAR,
    ASK_REFILL,
    ASK_STUCK,
    ASK_TURNED,
    ATOL,
    BEND,
    CAP,
    CHATTERING,
    DT,
    E_GUARD,
    E_SHOWN,
    E_T,
    FRESH,
    GO_ON,
    GRAZING,
    HD,
    HELD,
    HP,
    HX,
    JUDGED,
    KE,
    LAST,
    MARGIN,
    NEVENTS,
    NOT_EVENT_SELECTED,
    OBSERVER,
    RATES,
    RTOL,
    SIGMA,
    SLIDING,
    SOON,
    STALE,
    STATUS,
    TARGET,
    TLAST,
    VALUE,
    WB,
    WHEN,
    XG,
    XM,
    B,
    K,
    L,
    T,
    W,
    X,
)
from .crossing import cross, note


@core
def other_word(fn, p, S, I, V, H, last, k):
    """hdot of guard k if ``last`` had not been crossed, and the size below which a hdot cannot be told from zero.

    Leaves f under that word in V[L]. Returns also whether an evaluation failed.
    """
    compact()
    H[B, last] = -H[B, last]
    failed = eval_f(fn, p, S, I, V, H, S[T], X, L)
    H[B, last] = -H[B, last]
    if failed:
        return 0.0, 0.0, True
    sigma = S[SIGMA] * S[DT]
    for i in range(V.shape[1]):
        V[XM, i] = V[X, i] + sigma * V[L, i]
    if eval_h(fn, p, S, I, V, H, S[T] + sigma, XM, HP):
        return 0.0, 0.0, True
    rate = (H[HP, k] - H[HX, k]) / sigma
    # what hdot would be if its terms did not cancel: the components of f with signs that have nothing to do with it
    largest = 0.0
    for turn in range(2):
        for i in range(V.shape[1]):
            V[XM, i] = V[X, i] + sigma * V[L, i] * (1.0 if (i * 7 + turn * 3) % 4 < 2 else -1.0)
        if eval_h(fn, p, S, I, V, H, S[T] + sigma, XM, HP):
            return 0.0, 0.0, True
        largest = max(largest, abs(H[HP, k] - H[HX, k]) / sigma)
    return rate, 1e-8 * max(largest, abs(rate)), False


@core(entry=True)
def judge(fn, p, S, I, V, H, E, reset):
    """Answer the question in ASK (about the guard TARGET): GO_ON, a refusal, or a failed evaluation."""
    compact()
    question = I[ASK]
    I[ASK] = 0
    if question == ASK_ANEW:
        return anew(fn, p, S, I, V, H, E, reset)
    if question == ASK_REFILL:
        return refill(fn, p, S, I, V, H, E)
    I[JUDGED] = 1
    if question == ASK_STUCK:
        return stuck(fn, p, S, I, V, H, E, I[TARGET])
    if question == ASK_TURNED:
        return turned_away(fn, p, S, I, V, H, I[TARGET])
    if question == ASK_NEAR:
        return near(fn, p, S, I, V, H, E, I[TARGET])
    return back(fn, p, S, I, V, H, E, I[TARGET])


@core
def stuck(fn, p, S, I, V, H, E, j):
    """Guard j was crossed and is not being left: sliding, a corner that is not event-selected, or a graze.

    A graze that does not matter is taken back.
    """
    compact()
    if H[TLAST, j] != S[T]:
        H[HELD, j] = 0.0  # it sat on the guard, and turns back to it: an approach like any other
        return GO_ON
    before, least, failed = other_word(fn, p, S, I, V, H, j, j)
    if failed:
        return I[STATUS]
    if H[B, j] * before > least and H[B, j] * H[HD, j] < -least:
        for k in range(H.shape[1]):
            if k != j and H[TLAST, k] == S[T]:
                return NOT_EVENT_SELECTED
        return SLIDING
    matters = graze_matters(fn, p, S, I, V, H, j)
    if matters != GO_ON:
        return matters
    # take the crossing back: the trajectory touched the guard and stays on its side
    for row in range(I[NEVENTS] - 1, -1, -1):
        if E[row, E_GUARD] == j:
            E[row, E_SHOWN] = 0.0
            break
    H[B, j] = -H[B, j]
    H[WB, j] = H[B, j]
    hold(I, H, j)
    H[TLAST, j] = -math.inf
    note(S, I, E, S[T], j, H[B, j], H[HX, j], 0.0)
    note(S, I, E, S[T], j, H[B, j], H[HX, j], 2.0)
    for i in range(V.shape[1]):
        V[K, i] = V[L, i]
    I[RATES] = 0
    return GO_ON


@core
def turned_away(fn, p, S, I, V, H, k):
    """Guard k, about to be crossed, recedes since another was crossed: that corner is not event-selected."""
    compact()
    last, soon = I[LAST], S[SOON]
    if last < 0 or last == k or H[TLAST, last] != S[T] or S[T] - H[TLAST, k] <= 10.0 * soon:
        return GO_ON
    before, least, failed = other_word(fn, p, S, I, V, H, last, k)
    if failed:
        return I[STATUS]
    if H[WB, k] * before < -least and H[WB, k] * H[HX, k] <= soon * -H[WB, k] * before:
        return NOT_EVENT_SELECTED
    return GO_ON


@core
def near(fn, p, S, I, V, H, E, k):
    """Guard k came near (the state is in XG) and turned back: could it have been touched, and would that matter?"""
    compact()
    when, lowest = S[WHEN], S[VALUE]
    unsure = tolerance_of_guard(fn, p, S, I, V, H, when, XG, k)
    if unsure < 0.0:
        return I[STATUS]
    if lowest > 10.0 * unsure:
        return GO_ON
    note(S, I, E, when, k, H[B, k], lowest, 2.0)
    if lowest > unsure:
        return GO_ON
    jump = jump_on_guard(fn, p, S, I, V, H, when, XG, k, H[B, k] * lowest, unsure)
    if jump < 0.0:
        return I[STATUS]
    S[MARGIN] = lowest
    return GRAZING if jump * dwell_time(unsure, S[BEND]) > 1.0 else GO_ON


@core
def back(fn, p, S, I, V, H, E, j):
    """Guard j was crossed back after the time VALUE: refuse if it cannot be told whether it was crossed, and it matters."""
    compact()
    for i in range(V.shape[1]):
        V[W, i] = V[K, i] - V[KE, i]
    if in_tolerances(S, V, W, X, X) * S[VALUE] <= 1.0:
        return GO_ON
    # how deep it would have gone without the contact: only if that cannot be told from zero was it a graze
    bend = second_rate(fn, p, S, I, V, H, j, K)
    if bend < 0.0:
        return I[STATUS]
    S[MARGIN] = 0.5 * S[BEND] * S[BEND] / max(bend, 1e-300)
    unsure = tolerance_of_guard(fn, p, S, I, V, H, S[T], X, j)
    if unsure < 0.0:
        return I[STATUS]
    if S[MARGIN] > unsure:
        return GO_ON
    jump = jump_on_guard(fn, p, S, I, V, H, S[T], X, j, H[HX, j], unsure)
    if jump * S[VALUE] <= 1.0:
        return I[STATUS] if jump < 0.0 else GO_ON
    # crossed again and again at ever shorter intervals, until the tolerance hides it?
    crossings = 0
    for row in range(max(I[NEVENTS] - 40, 0), I[NEVENTS]):
        if E[row, E_GUARD] == j and E[row, E_T] > S[T] - 20.0 * S[VALUE]:
            crossings += 1
    return CHATTERING if crossings >= 4 else GRAZING


@core(inline=True)
def dwell_time(depth, bend):
    """Time that a parabola with this second derivative spends beyond a guard that it passes by this depth."""
    return 2.0 * math.sqrt(2.0 * depth / max(bend, 1e-300))


@core
def tolerance_of_guard(fn, p, S, I, V, H, t, x, j):
    """How much h_j changes when every component of V[x] changes by its tolerance: what cannot be told from zero.

    V[W] is left as the change of that size that raises h_j most.
    """
    compact()
    if eval_h(fn, p, S, I, V, H, t, x, HP):
        return -1.0
    here, total = H[HP, j], 0.0
    for i in range(V.shape[1]):
        V[XM, i] = V[x, i]
    for i in range(V.shape[1]):
        size = V[ATOL, i] + S[RTOL] * abs(V[x, i])
        step = max(size, 1e-8 * abs(V[x, i]))
        V[XM, i] = V[x, i] + step
        if eval_h(fn, p, S, I, V, H, t, XM, HP):
            return -1.0
        V[XM, i] = V[x, i]
        total += abs(H[HP, j] - here) * size / step
        V[W, i] = size if H[HP, j] >= here else -size
    return total


@core
def jump_on_guard(fn, p, S, I, V, H, t, x, k, value, unsure):
    """The jump of f, in tolerances per time, on guard k itself: at the state nearest to V[x], where h_k is ``value``.

    That is within a tolerance or so in every component, for what cannot be told from zero. It matters where f is
    continuous across the guard (a spring, a force that ends where it is zero): beside the guard there seems to be a jump. To
    be called after tolerance_of_guard. Negative if f failed.
    """
    compact()
    part = 0.0
    for _ in range(3):
        part = min(max(part + value / max(unsure, 1e-300), -3.0), 3.0)
        for i in range(V.shape[1]):
            V[XM, i] = V[x, i] - part * V[W, i]
        if eval_h(fn, p, S, I, V, H, t, XM, HP):
            return -1.0
        value = H[HP, k]
    if eval_f(fn, p, S, I, V, H, t, XM, L + 1):
        return -1.0
    H[B, k] = -H[B, k]
    failed = eval_f(fn, p, S, I, V, H, t, XM, L + 2)
    H[B, k] = -H[B, k]
    if failed:
        return -1.0
    for i in range(V.shape[1]):
        V[W, i] = V[L + 2, i] - V[L + 1, i]
    return in_tolerances(S, V, W, x, XM)


@core
def graze_matters(fn, p, S, I, V, H, j):
    """At the present state, on guard j with hdot near zero: GRAZING if crossing or not makes a difference above the tolerance.

    The dwell time beyond the guard is uncertain by the time a parabola with the present h'' takes through the tolerance of h.
    """
    compact()
    bend = second_rate(fn, p, S, I, V, H, j, L)
    unsure = tolerance_of_guard(fn, p, S, I, V, H, S[T], X, j)
    if unsure < 0.0 or bend < 0.0:
        return I[STATUS]
    jump = jump_on_guard(fn, p, S, I, V, H, S[T], X, j, H[HX, j], unsure)
    if jump < 0.0:
        return I[STATUS]
    S[MARGIN] = abs(H[HX, j])
    dwell = min(dwell_time(unsure, bend), 2.0 * unsure / max(abs(H[HD, j]), 1e-300))
    return GRAZING if jump * dwell > 1.0 else GO_ON


@core
def second_rate(fn, p, S, I, V, H, j, k):
    """|h''| of guard j along the flow that starts with x' in V[k]: a second difference of h. Negative if a function failed."""
    compact()
    sigma = 0.01 * S[DT]
    for i in range(V.shape[1]):
        V[XM, i] = V[X, i] + sigma * V[k, i]
    if eval_f(fn, p, S, I, V, H, S[T] + sigma, XM, W):
        return -1.0
    for i in range(V.shape[1]):
        V[XM, i] = V[X, i] + 0.5 * sigma * (V[k, i] + V[W, i])
    if eval_h(fn, p, S, I, V, H, S[T] + sigma, XM, HP):
        return -1.0
    once = H[HP, j]
    for i in range(V.shape[1]):
        V[XM, i] = V[X, i] + 2.0 * sigma * V[W, i]
    if eval_h(fn, p, S, I, V, H, S[T] + 2.0 * sigma, XM, HP):
        return -1.0
    return abs(H[HP, j] - 2.0 * once + H[HX, j]) / (sigma * sigma)


@core
def anew(fn, p, S, I, V, H, E, reset):
    """Forget what was saved from the last step: f or h may have changed with time or with the parameters.

    A guard that has jumped across the trajectory is crossed on the spot.
    """
    compact()
    S[CAP] = 1e300
    I[STALE] = 0
    if eval_h(fn, p, S, I, V, H, S[T], X, HX):
        return I[STATUS]
    for k in range(H.shape[1]):
        if H[B, k] * H[HX, k] < 0.0 and H[HELD, k] == 0.0 and (H[WB, k] != 0.0 or H[OBSERVER, k] != 0.0):
            observed = H[WB, k] == 0.0
            cross(S, I, H, E, reset, k)
            H[HELD, k] = 0.0  # it was not reached but jumped: the trajectory does not sit on it
            if observed:
                H[WB, k] = 0.0
    if eval_f(fn, p, S, I, V, H, S[T], X, K):
        return I[STATUS]
    I[RATES] = 0
    I[FRESH] = 1
    return GO_ON


@core
def refill(fn, p, S, I, V, H, E):
    """The paper's printed rule, after an integrated step: guards with h < 0 are armed when all have been crossed.

    The signs of those that are not armed follow h, as in the listing, but only from step to step.
    """
    compact()
    all_crossed = True
    changed = False
    for k in range(H.shape[1]):
        if H[WB, k] != 0.0:
            all_crossed = False
        elif H[B, k] * H[HX, k] < 0.0:
            H[B, k] = -H[B, k]
            note(S, I, E, S[T], k, H[B, k], H[HX, k], 0.0)
            changed = True
    for k in range(H.shape[1]):
        if all_crossed and H[HX, k] < 0.0:
            H[WB, k] = -1.0
            H[HELD, k] = 0.0
    if changed and eval_f(fn, p, S, I, V, H, S[T], X, K):
        return I[STATUS]
    I[RATES] = 0
    return GO_ON
