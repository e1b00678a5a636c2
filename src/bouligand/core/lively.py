"""How fast the fastest mode is along a record: what the steps of a trajectory need not show, and those of its perturbations do.

Where nothing happens (a robot that falls with its legs held, a swing at rest) steps grow far beyond the time of a mode that
is not excited. A perturbation excites it. So before a derivative goes along a record, the size of Df is looked at here, by a
power iteration that is carried along, with two rounds at every few records and where the word has changed.
"""

import math

from .dense import catch_up
from .evaluate import eval_f
from .jit import compact, core
from .layout import BACK, HOP, KE, KP, R_KIND, R_T, R_X, SPAN, XM, T, X
from .ready import difference_steps

EVERY = 8  # records
U, JU = 35, 36  # rows of V: the vector that is iterated on, and Df times it
FIRST = 2  # pairs of rounds at the start: the first of them mostly turns the vector
SHORT = 0.01  # hops that are shorter, in units of the fastest mode so far, need no look


@core(entry=True)
def liveliness(fn, P, legs, S, I, V, H, R, E, Q, out):
    """``out`` = the size of Df's largest eigenvalue, about, at the start of the step to each record. True if f failed.

    H[B] holds the word at the start, and is changed along the way.
    """
    compact()
    difference_steps(P, S, V, R, Q)
    for i in range(V.shape[1]):
        V[U, i] = Q[i] * (1.0 + 0.3 * (i * 7 % 5)) * (1.0 if i % 2 == 0 else -1.0)
    event, leg, rate, largest = 0, 0, 0.0, 0.0
    last, length, changed = -EVERY, 0.0, True
    for step in range(1, R.shape[0]):
        known = event
        event, leg = catch_up(H, E, legs, event, leg, step)
        changed = changed or event != known
        s = R[step, R_T] - R[step - 1, R_T]
        is_hop = HOP <= int(R[step, R_KIND]) % BACK < SPAN
        if (not is_hop or s * largest > SHORT) and (changed or step - last >= EVERY or s > 1.5 * length):
            S[T] = R[step - 1, R_T]
            for i in range(V.shape[1]):
                V[X, i] = R[step - 1, R_X + i]
            # (two rounds make a rate, since one takes a length to a speed and the other back)
            before = 1.0
            for _ in range(2 * FIRST if step == 1 else 2):
                growth = turn_and_measure(fn, P[leg], S, I, V, H, Q)
                if growth < 0.0:
                    return True
                rate = math.sqrt(growth * before)
                before = growth
            largest = max(rate, largest)
            last, length, changed = step, s, False
        out[step] = rate
    return False


@core
def turn_and_measure(fn, p, S, I, V, H, Q):
    """V[U] = Df V[U], scaled to length 1 in units of Q; returns what it was scaled by. Negative if f failed."""
    compact()
    n = V.shape[1]
    for i in range(n):
        V[XM, i] = V[X, i] + V[U, i]
    if eval_f(fn, p, S, I, V, H, S[T], XM, KE):
        return -1.0
    for i in range(n):
        V[XM, i] = V[X, i] - V[U, i]
    if eval_f(fn, p, S, I, V, H, S[T], XM, KP):
        return -1.0
    size = 0.0
    for i in range(n):
        V[JU, i] = 0.5 * (V[KE, i] - V[KP, i])
        size = max(size, abs(V[JU, i]) / Q[i])
    if not 1e-12 < size < 1e300:
        return 0.0
    for i in range(n):
        # (a little of what it was: a vector that Df takes to zero must not be lost)
        V[U, i] = V[JU, i] / size + 0.01 * V[U, i]
    return size
