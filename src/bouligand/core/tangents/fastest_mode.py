"""How fast the fastest mode is along a record: what the steps of a trajectory need not show, and those of its perturbations do.

Where nothing happens (a robot that falls with its legs held, a swing at rest) steps grow far beyond the time of a mode that
is not excited. A perturbation excites it. So before a derivative goes along a record, the size of Df is looked at here, by a
power iteration that is carried along: at both ends of a step and inside it, where the word or the field has changed, and else
at every few records, as long as nothing changes from one look to the next. Two digits of a rate are plenty: a look is three
evaluations of f, or one of Df where that is given.
"""

import math

from ..compiler.intrinsics import call, compact, row_address
from ..compiler.jit import core
from ..evaluate import eval_f
from ..state import BACK, CAP, CTX, DF, HOP, KE, KP, R_KIND, R_T, R_X, SPAN, XG, XM, XN, B, K, X
from ..steps.dense import before, catch_up
from .prepare import difference_steps, settle

EVERY = 8  # records between looks, at most
STEADY = 1.25  # rates that differ by less are one: the next look may be later
PLACES = 32  # looks at least that a whole trajectory is worth, however few its steps are
U, JU, UNIT = 35, 36, XG  # rows of V: the vector that is iterated on, Df times it, and 1 / Q
PAIRS = 3  # of rounds, at most: the first mostly turns the vector, and may grow by more than a mode does
FAR = 4.0  # steps that are that many times shorter than they may be (hops: shorter at all) are looked at less closely


@core(entry=True)
def liveliness(fn, dfn, P, legs, S, I, V, H, JX, R, E, breaks, bounds, Q, rtol, atol, out):
    """``out`` = the size of Df's largest eigenvalue, about, in the step to each record. Returns how many times too long the worst
    step is; negative if f failed.

    H[B] holds the word at the start, and is changed along the way. ``bounds[kind]`` is how long a step of that kind may be, in
    units of 1 / rate. JX has room for Df if that is to be used.
    """
    compact()
    settle(S, I, V, R, rtol, atol)
    difference_steps(P, S, V, R, Q)
    n, whole, given = V.shape[1], R[R.shape[0] - 1, R_T] - R[0, R_T], JX.shape[0] > 0
    event, leg, rate, ahead, worst = 0, 0, 0.0, 0.0, 0.0
    last, wait, length, changed, seen, until = -EVERY, 1, 0.0, True, -1, R[0, R_T]
    for i in range(n):
        V[U, i], V[UNIT, i] = 0.0, 1.0 / Q[i]
    for step in range(1, R.shape[0]):
        known, held = event, leg
        event, leg = catch_up(H, E, legs, event, leg, step)
        t, s = R[step - 1, R_T], R[step, R_T] - R[step - 1, R_T]
        S[CAP] = 1e300
        for moment in breaks:
            changed = changed or moment == t
            if moment == R[step, R_T]:
                S[CAP] = before(moment)
        changed = changed or event != known or leg != held
        kind, change = int(R[step, R_KIND]) % BACK, 0.0
        if changed or step - last >= wait or s > 1.5 * length or PLACES * (t + s - until) > whole:
            if changed:
                stir(V)
            enough, inside = bounds[kind] / s, int(PLACES * s / whole)
            brief = kind != SPAN and inside == 0
            touch = brief and HOP <= kind < SPAN
            # --- at its start (where the last look may have been), at its end, and inside
            low, rate, place, behind = math.inf, 0.0, 0, 0.0
            if seen == step - 1 and not changed:
                low, rate, place, behind = ahead, ahead, 1, ahead
                for i in range(n):
                    V[K, i] = V[XN, i]
            last, length, changed, until = step, s, kind == SPAN, t + s
            while place <= inside + 1:
                if place == 1:
                    if brief and (1.0 if touch else FAR) * rate < enough:
                        break  # far from too long, or hardly a step: the start will do
                    if kind == SPAN:  # behind the crossings that it spans
                        event, leg = catch_up(H, E, legs, event, leg, step + 1)
                        stir(V)
                c = go_to(V, R, step, s, place, inside)
                slope = K if place == 0 else XN if place == 1 else KP
                here = look(fn, dfn, P[leg], S, I, V, H, JX, t + c * s, enough if brief or place > 0 else 0.0, slope)
                if given and (place == 1 or (place == 0 and not touch)):  # for the cubic, of this step or the next
                    here = -1.0 if eval_f(fn, P[leg], S, I, V, H, min(t + c * s, S[CAP]), X, slope) else here
                if here >= 0.0:
                    low, rate = min(low, here), max(rate, here)
                elif place < 2:  # (the cubic may be where f has no value)
                    return -1.0
                if place == 1:
                    ahead, seen = here, step
                    inside = max(inside, 1) if rate > STEADY * low and not touch else inside
                elif here >= 0.0:
                    change = max(change, apart(s * behind, s * here) if place > 0 else 0.0)
                    behind = here
                place += 1
            # (from place to place of a long step, Df itself is to be followed as well)
            change = 0.0 if brief else max(change, apart(s * behind, s * ahead)) * (inside + 1.0) / s
            wait = min(2 * wait, EVERY) if rate <= STEADY * low else 1
        out[step] = max(rate, change)
        worst = max(worst, s * out[step] / bounds[kind])
    return worst


@core(inline=True)
def apart(one, other):
    """By how much two rates (times a step) differ, as a logarithm, where they are fast at all."""
    return abs(math.log((1.0 + one) / (1.0 + other)))


@core(inline=True)
def go_to(V, R, step, s, place, inside):
    """V[X] = the state at a place of a step: 0 its start, 1 its end, from 2 on inside, on a cubic. Returns where that is."""
    c = float(place) if place < 2 else (place - 1.0) / (inside + 1.0)
    for i in range(V.shape[1]):
        a, z = R[step - 1, R_X + i], R[step, R_X + i]
        if place < 2:
            V[X, i] = a if place == 0 else z
        else:
            bow = (1.0 - c) * (s * V[K, i] - (z - a)) - c * (s * V[XN, i] - (z - a))
            V[X, i] = a + c * (z - a) + c * (1.0 - c) * bow
    return c


@core(inline=True)
def stir(V):
    """Bring something of every state into V[U]: the fastest mode may be another one from now on."""
    for i in range(V.shape[1]):
        some = (0.3 + 0.1 * (i * 7 % 5)) / V[UNIT, i]
        V[U, i] = 0.3 * V[U, i] + (some if i % 2 == 0 else -some)


@core(inline=True)
def look(fn, dfn, p, S, I, V, H, JX, t, enough, slope):
    """The rate of the fastest mode at V[X]; without Df, V[slope] = f there. Negative if a function failed.

    Two rounds make a rate, since one takes a length to a speed and the other back. A rate above ``enough`` is looked at again.
    """
    t, rate, last = min(t, S[CAP]), 0.0, 1.0
    if JX.shape[0] > 0:
        state, word, parameters = row_address(V, X), row_address(H, B), row_address(p, 0)
        if call(dfn[DF], t, (state, word, parameters, row_address(JX, 0)), fn[CTX]) != 0:
            return -1.0
    elif eval_f(fn, p, S, I, V, H, t, X, slope):
        return -1.0
    for q in range(2 * PAIRS):
        # (a little of what it was, after each pair: a vector that Df takes to zero must not be lost)
        growth = turn_and_measure(fn, p, S, I, V, H, JX, t, slope, 0.01 * (q % 2))
        if growth < 0.0:
            return -1.0
        if q % 2 == 1:
            rate = math.sqrt(growth * last)
            if rate <= enough:
                break
        last = growth
    return rate


@core(inline=True)
def turn_and_measure(fn, p, S, I, V, H, JX, t, slope, kept):
    """V[U] = Df V[U], scaled to length 1 in units of Q; returns what it was scaled by. Negative if f failed.

    The part ``kept`` of V[U] stays in it.
    """
    n, size = V.shape[1], 0.0
    if JX.shape[0] > 0:
        for i in range(n):
            total = 0.0
            for j in range(n):
                total += JX[i, j] * V[U, j]
            V[JU, i] = total
    else:
        for i in range(n):
            V[XM, i] = V[X, i] + V[U, i]
        if eval_f(fn, p, S, I, V, H, t, XM, KE):
            return -1.0
        for i in range(n):
            V[JU, i] = V[KE, i] - V[slope, i]
    for i in range(n):
        size = max(size, abs(V[JU, i]) * V[UNIT, i])
    if not 1e-12 < size < 1e300:
        return 0.0
    scale = 1.0 / size
    for i in range(n):
        V[U, i] = scale * V[JU, i] + kept * V[U, i]
    return size
