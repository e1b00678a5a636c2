"""Along the record with tangents (``push``), or back with a gradient (``pull``): steps and isolated crossings.

The trajectory is the recorded one; nothing is decided again. Both stop at corners, where the derivative is not linear and
somebody has to say which piece is wanted.
"""

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import eval_f
from ..state import (
    AT_CORNER,
    AT_EVENT,
    AT_LEG,
    AT_RECORD,
    CAP,
    CULPRIT,
    E_GUARD,
    E_RECORD,
    E_SHOWN,
    E_SIGN,
    E_T,
    END,
    FIRST,
    GO_ON,
    GRAZING,
    HALT,
    HD,
    MANY,
    NEAR_END,
    QUIET,
    R_KIND,
    R_T,
    STATUS,
    UNITS,
    WANTED,
    K,
    L,
    T,
    X,
)
from ..steps.dense import before
from ..unit import without_scaling
from .near_ties import (
    MARGIN,
    MOST_NEAR,
    beyond,
    grow,
    independent,
    look,
    look_here,
    passive,
    place,
    repeats,
    slaves,
    take_back,
    take_word,
)
from .step_tangents import formula, take_adjoint, take_tangents


@core(entry=True)
def push(fn, dfn, P, legs, S, I, V, H, C, R, E, breaks, Q, JH, JHP, D, OF_P, PW, TV, JX, JP, N, TIMES, G, merge):
    """Take the tangents D on to the next corner, or to the last record.

    ``merge`` is the time within which crossings are one corner; negative: where they cannot be told apart. If TIMES has
    rows, each crossing on the way leaves the derivative of its time there; if G has, what the way back needs: its row of Dh, then
    how much each state jumps, over hdot. Returns a code; C says where it stopped.
    """
    compact()
    last, n, tangents = C[END], V.shape[1], D.shape[0]
    # the crossing that has been looked at: its row is N[slot], its x' before V[L + 1 + slot]
    slot, looked, u = 0, -1, 0.0
    known = False  # K holds x' at this record
    while True:
        record, event = C[AT_RECORD], C[AT_EVENT]
        place(S, V, R, record)
        if event < E.shape[0] and E[event, E_RECORD] == record:
            # --- crossings at this record
            p = P[C[AT_LEG]]
            if event < C[QUIET]:
                take_word(H, E, event)
                C[AT_EVENT] = event + 1
                known = False
                continue
            if looked != event and not passive(H, C, E, event):
                u = look(fn, dfn, p, S, I, V, H, C, Q, JH, JHP, breaks, E, event, record, N, slot)
                looked = event
                if u < 0.0:
                    return I[STATUS]
            if passive(H, C, E, event) or u == 0.0:
                if E[event, E_SHOWN] != MARGIN and E[event, E_T] == S[T] and TIMES.shape[0] > 0:
                    if look(fn, dfn, p, S, I, V, H, C, Q, JH, JHP, breaks, E, event, record, N, 2) < 0.0:
                        return I[STATUS]
                    for a in range(tangents):
                        TIMES[event, a] = time_of(D, a, N, 2) / H[HD, int(E[event, E_GUARD])]
                take_word(H, E, event)
                C[AT_EVENT] = event + 1
                known = False
                continue
            k, t, width = int(E[event, E_GUARD]), S[T], slaves(E, event)
            C[FIRST], C[MANY] = event, width
            # (at the end, and before the event that is asked for, all that is near belongs together)
            C[NEAR_END] = 1 if C[WANTED] < 0 and R[last, R_T] - t <= u else 0
            close = C[NEAR_END] == 1 or (C[WANTED] >= event and E[max(C[WANTED], 0), E_T] - t <= u)
            stop = C[NEAR_END] == 1 or (event <= C[WANTED] < event + width)
            # --- is the next one as near as can be told?
            following, other = event + width, 0.0
            while following < E.shape[0] and passive(H, C, E, following):
                following += 1
            together, ahead = False, following
            for others in range(MOST_NEAR):
                if ahead >= E.shape[0] or repeats(E, event, ahead):
                    break
                there, gap = int(E[ahead, E_RECORD]), E[ahead, E_T] - E[event, E_T]
                together = there == record or gap <= merge
                if together or merge >= 0.0:
                    break
                for q in range(event, ahead):
                    take_word(H, E, q)
                place(S, V, R, there)
                spot = 1 - slot if others == 0 else 2
                unsure_too = look_here(fn, dfn, p, S, I, V, H, C, Q, JH, JHP, breaks, E, ahead, there, N, spot)
                for q in range(ahead - 1, event - 1, -1):
                    take_back(H, E, q)
                place(S, V, R, record)
                if unsure_too < 0.0:
                    return I[STATUS]
                if others == 0:
                    other = unsure_too
                if gap > u + unsure_too:
                    break
                apart = independent(fn, p, S, I, V, H, E, event, ahead, N, slot, spot)
                if apart < 0:
                    return I[STATUS]
                together = apart == 0 or close
                if together:
                    break
                ahead += slaves(E, ahead)
                while ahead < E.shape[0] and passive(H, C, E, ahead):
                    ahead += 1
            if together:
                return grow(fn, dfn, p, S, I, V, H, C, Q, JH, JHP, breaks, R, E, N, u, merge)
            if stop:
                return AT_CORNER
            # --- alone: one saltation for all tangents
            for q in range(event, event + width):
                take_word(H, E, q)
            if eval_f(fn, p, S, I, V, H, t, X, K):
                return I[STATUS]
            known = True
            hdot, size, change = H[HD, k], 0.0, 0.0
            for i in range(n):
                first = V[L + 1 + slot, i]
                size = max(size, abs(first), abs(V[K, i]))
                change = max(change, abs(V[K, i] - first))
            crosses = E[event, E_SIGN] * hdot > 0.0
            if not crosses and change > 1e-13 * size:
                C[CULPRIT] = k
                return GRAZING
            if G.shape[0] > 0:
                for i in range(D.shape[1]):
                    G[event, i] = N[slot, i]
                for i in range(n):
                    G[event, D.shape[1] + i] = (V[K, i] - V[L + 1 + slot, i]) / hdot if crosses else 0.0
            for a in range(tangents):
                s = time_of(D, a, N, slot) / hdot
                if TIMES.shape[0] > 0:
                    TIMES[event, a] = s
                if crosses:
                    for i in range(n):
                        D[a, i] -= (V[K, i] - V[L + 1 + slot, i]) * s
            C[AT_EVENT] = event + width
            if other > 0.0:
                slot, looked, u = 1 - slot, following, other
            continue
        if record == last and C[HALT] < 0 and C[WANTED] < 0:
            return beyond(fn, dfn, P[C[AT_LEG]], S, I, V, H, C, Q, JH, JHP, breaks, R, E, N, merge)
        if record == last or record == C[HALT] or (C[WANTED] >= 0 and event > C[WANTED]):
            return GO_ON
        # --- the next step
        while C[AT_LEG] + 1 < legs.shape[0] and legs[C[AT_LEG] + 1] <= record:
            C[AT_LEG] += 1
            known = False
        s = R[record + 1, R_T] - R[record, R_T]
        cap_at_break(S, R, breaks, record + 1)
        kind = formula(int(R[record + 1, R_KIND]))
        if take_tangents(fn, dfn, P[C[AT_LEG]], S, I, V, H, Q, D, OF_P, PW, TV, JX, JP, kind, s, known):
            return I[STATUS]
        C[AT_RECORD] = record + 1
        known = False
        if fn[UNITS] > 0:
            place(S, V, R, record + 1)
            for a in range(tangents):
                without_scaling(fn, V, X, D[a])


@core(inline=True)
def time_of(D, a, N, slot):
    """When tangent a crosses, times hdot."""
    s = 0.0
    for i in range(D.shape[1]):
        s -= N[slot, i] * D[a, i]
    return s


@core(inline=True)
def cap_at_break(S, R, breaks, record):
    """The step to this record must not see what is behind a breakpoint that it ends on."""
    for moment in breaks:
        if moment == R[record, R_T]:
            S[CAP] = before(moment)


@core(entry=True)
def pull(fn, dfn, P, legs, S, I, V, H, C, R, E, G, breaks, Q, w, TV, JX, JP, stop_record, stop_event):
    """Take the gradient w back from where C says to ``stop_record`` and ``stop_event``, over steps and isolated crossings, of
    which ``push`` has left in G what they do.

    H[B] is the word there, after the events before C[AT_EVENT]. Rows of E from C[QUIET] on only change the word.
    """
    compact()
    while True:
        record, event = C[AT_RECORD], C[AT_EVENT] - 1
        if event >= stop_event and E[event, E_RECORD] == record:
            # the first row of this crossing
            first, back = event, event
            while back > stop_event and E[back, E_SHOWN] == 0.0 and E[back - 1, E_RECORD] == record:
                back -= 1
                if E[back, E_SHOWN] == 1.0 and back + slaves(E, back) > event:
                    first = back
            if passive(H, C, E, event) or event >= C[QUIET]:
                take_back(H, E, event)
                C[AT_EVENT] = event
                continue
            for q in range(event, first - 1, -1):
                take_back(H, E, q)
            weight = 0.0
            for i in range(V.shape[1]):
                weight += G[first, w.shape[0] + i] * w[i]
            for i in range(w.shape[0]):
                w[i] += G[first, i] * weight
            C[AT_EVENT] = first
            continue
        if record == stop_record:
            return GO_ON
        while C[AT_LEG] > 0 and legs[C[AT_LEG]] > record - 1:
            C[AT_LEG] -= 1
        place(S, V, R, record)
        without_scaling(fn, V, X, w)
        place(S, V, R, record - 1)
        s = R[record, R_T] - R[record - 1, R_T]
        cap_at_break(S, R, breaks, record)
        kind = formula(int(R[record, R_KIND]))
        if take_adjoint(fn, dfn, P[C[AT_LEG]], S, I, V, H, Q, w, TV, JX, JP, kind, s):
            return I[STATUS]
        C[AT_RECORD] = record - 1
