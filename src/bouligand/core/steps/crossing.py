"""Crossings: the flip of a sign, ties, and what is not event-selected.

A guard is crossed by flipping its sign on the spot; f is evaluated with the new word before anything else happens. The
guards that are then at hand are looked at again, one at a time: that is how a corner is resolved.
"""

import math

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import eval_f, eval_h, nudge
from ..guards import hold
from ..state import (
    ASK,
    ASK_BACK,
    BEND,
    BURST,
    CHATTERING,
    DIRECTION,
    DT,
    E_GUARD,
    E_RECORD,
    E_RESIDUAL,
    E_SHOWN,
    E_SIGN,
    E_T,
    ENDED_BY,
    ENDING,
    EPS,
    FRESH,
    GO_ON,
    HD,
    HELD,
    HP,
    HX,
    LAST,
    MARK,
    NEVENTS,
    NRECORDS,
    ONE_SIDED,
    PENDING,
    POOL,
    RATES,
    SHRUNK,
    STATUS,
    T0,
    TARGET,
    TERMINAL,
    TF,
    TLAST,
    VALUE,
    WB,
    XM,
    B,
    K,
    T,
    X,
)

MOST_IN_A_BURST = 100  # crossings of one guard within BURST_TIME of the whole interval: chattering
BURST_TIME = 1e-10


@core
def note(S, I, E, t, k, sign, residual, shown):
    """Write a row of the event table."""
    row = I[NEVENTS]
    E[row, E_T] = t
    E[row, E_GUARD] = k
    E[row, E_SIGN] = sign
    E[row, E_RESIDUAL] = residual
    E[row, E_RECORD] = I[NRECORDS] - 1
    E[row, E_SHOWN] = shown
    I[NEVENTS] = row + 1


@core
def cross(S, I, H, E, reset, j):
    """Flip guard j at the present time and state. Returns GO_ON or CHATTERING."""
    compact()
    t = S[T]
    latched = reset.shape[0] > 0 or I[POOL] == 1
    if I[ONE_SIDED] > 0:
        j = firing_partner(H, j)
    flip(S, I, H, E, j, latched)
    H[TLAST, j] = t
    I[LAST] = j
    if I[ONE_SIDED] > 0:
        arm_again(S, I, H, E, reset, j)
    I[FRESH] = 1
    I[RATES] = 0
    # a guard that is crossed again and again in no time would never let the integration end
    if t - H[MARK, j] > BURST_TIME * (S[TF] - S[T0]) + 1e-14 * abs(t):
        H[MARK, j] = t
        H[BURST, j] = 0.0
    H[BURST, j] += 1.0
    if H[BURST, j] > MOST_IN_A_BURST:
        I[TARGET] = j
        return CHATTERING
    return GO_ON


@core(inline=True)
def flip(S, I, H, E, k, latched):
    """Change the sign of guard k, write it down, and count it if it is an event."""
    sign = -H[B, k]
    fires = H[DIRECTION, k] == 0.0 or sign == H[DIRECTION, k]
    H[B, k] = sign
    H[WB, k] = 0.0 if latched and fires and H[DIRECTION, k] != 0.0 else sign
    H[PENDING, k] = 0.0
    hold(I, H, k)
    H[SHRUNK, k] = H[EPS, k]
    # an event at the very start belongs to the open interval behind it
    t = S[T] if S[T] > S[T0] else math.nextafter(S[T0], math.inf)
    note(S, I, E, t, k, sign, H[HX, k], 1.0 if fires else 0.0)
    if fires and H[TERMINAL, k] > 0.0:
        H[TERMINAL, k] -= 1.0
        if H[TERMINAL, k] == 0.0:
            I[ENDING], I[ENDED_BY] = 1, k


@core(inline=True)
def tied(H, j, k):
    """Whether guard k is as near to its crossing as guard j, on which the trajectory has just landed."""
    return abs(H[HX, k] * H[HD, j]) <= 2.0 * abs(H[HX, j] * H[HD, k])


@core
def firing_partner(H, j):
    """If the flip of the one-sided guard j would only arm it again: the guard that fires at the same instant, if any.

    Of a pair h, -h, both change sign at once, and f must never see one without the other.
    """
    compact()
    if H[DIRECTION, j] != 0.0 and H[B, j] == H[DIRECTION, j]:
        for k in range(H.shape[1]):
            armed = H[DIRECTION, k] != 0.0 and H[WB, k] == -H[DIRECTION, k]
            if armed and H[WB, k] * H[HD, k] < 0.0 and tied(H, j, k):
                return k
    return j


@core
def arm_again(S, I, H, E, reset, j):
    """After the crossing of j, arm the one-sided guards that may be armed: at once where h has left their side."""
    compact()
    by_matrix = reset.shape[0] > 0
    for k in range(H.shape[1]):
        direction = H[DIRECTION, k]
        if k == j or direction == 0.0 or H[B, k] != direction:
            continue
        if by_matrix:
            if reset[j, k] == 0.0 and H[PENDING, k] == 0.0:
                continue
            H[PENDING, k] = 1.0
            H[WB, k] = direction
        leaving = direction * H[HD, k] < 0.0 and tied(H, j, k)
        if I[POOL] == 1:
            if leaving:
                flip(S, I, H, E, k, True)
                H[WB, k] = 0.0  # its sign follows h, but it is not armed
            continue
        left = H[HELD, k] == 0.0 or not tied(H, j, k)
        if leaving or (by_matrix and direction * H[HX, k] < 0.0 and left):
            flip(S, I, H, E, k, by_matrix)


@core
def cross_and_evaluate(fn, p, S, I, V, H, E, reset, j):
    """Flip guard j at the present state, and evaluate f with the new word (KE keeps it under the old one)."""
    compact()
    since = S[T] - H[TLAST, j]
    code = cross(S, I, H, E, reset, j)
    if code != GO_ON:
        return code
    if eval_f(fn, p, S, I, V, H, S[T], X, K):
        return I[STATUS]
    if since < 0.3 * S[DT]:
        # crossed back so soon: was it more than a graze?
        nudge(S, V, X, XM)
        if eval_h(fn, p, S, I, V, H, S[T], XM, HP):
            return I[STATUS]
        unsure, sigma = 30.0 * abs(H[HP, j] - H[HX, j]), 0.01 * since
        for i in range(V.shape[1]):
            V[XM, i] = V[X, i] + sigma * V[K, i]
        if eval_h(fn, p, S, I, V, H, S[T] + sigma, XM, HP):
            return I[STATUS]
        speed = abs(H[HP, j] - H[HX, j]) / max(sigma, 1e-300)
        if 0.25 * speed * since < unsure:
            I[ASK], I[TARGET] = ASK_BACK, j
            S[VALUE], S[BEND] = since, speed
    return GO_ON
