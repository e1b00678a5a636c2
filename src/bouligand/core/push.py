"""Along the record with tangents (``push``), or back with a gradient (``pull``): steps and isolated crossings.

The trajectory is the recorded one; nothing is decided again. Both stop at corners, where the derivative is not linear and
somebody has to say which piece is wanted.
"""

from .dense import before
from .evaluate import eval_f
from .jit import compact, core
from .layout import (
    AT_EVENT,
    AT_LEG,
    AT_RECORD,
    CAP,
    CULPRIT,
    E_GUARD,
    E_RECORD,
    E_RESIDUAL,
    E_SHOWN,
    E_SIGN,
    E_T,
    FIRST,
    GO_ON,
    GRAZING,
    HD,
    MANY,
    NEAR_END,
    OBSERVER,
    R_KIND,
    R_T,
    R_X,
    STATUS,
    T0,
    TF,
    WANTED,
    B,
    K,
    L,
    T,
    X,
)
from .rows import approach, guard_row, unsure
from .variation import formula, take_adjoint, take_tangents

AT_CORNER = 1  # beside GO_ON (the end was reached) and the codes of failures
LONGEST = 1e-3  # of an uncertain time: where a guard is only grazed, nobody knows when
MARGIN = 2.0  # rows of E that are not changes of the word


@core(entry=True)
def push(fn, dfn, P, legs, S, I, V, H, C, R, E, breaks, Q, JH, JHP, D, PW, TV, JX, JP, N, TIMES, merge):
    """Take the tangents D on to the next corner, or to the last record.

    ``merge`` is the time within which crossings are one corner; negative: where they cannot be told apart. If TIMES has
    rows, each crossing on the way leaves the derivative of its time there. Returns a code; C says where it stopped.
    """
    compact()
    last, n, tangents = R.shape[0] - 1, V.shape[1], D.shape[0]
    slot, looked, u = (
        0,
        -1,
        0.0,
    )  # the crossing that has been looked at: its row is N[slot], its x' before V[L + 1 + slot]
    known = False  # K holds x' at this record
    while True:
        record, event = C[AT_RECORD], C[AT_EVENT]
        place(S, V, R, record)
        if event < E.shape[0] and E[event, E_RECORD] == record:
            # --- crossings at this record
            p = P[C[AT_LEG]]
            if looked != event and not passive(H, E, event):
                u = look(fn, dfn, p, S, I, V, H, C, Q, JH, JHP, breaks, E, event, record, N, slot)
                looked = event
                if u < 0.0:
                    return I[STATUS]
            if passive(H, E, event) or u == 0.0:
                if E[event, E_SHOWN] != MARGIN and E[event, E_T] == S[T] and event == C[WANTED]:
                    C[FIRST], C[MANY], C[NEAR_END] = event, 1, 0
                    return AT_CORNER
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
            C[NEAR_END] = 1 if R[last, R_T] - t <= u else 0
            stop = C[NEAR_END] == 1 or (event <= C[WANTED] < event + width)
            # --- is the next one as near as can be told?
            following, other = event + width, 0.0
            while following < E.shape[0] and passive(H, E, following):
                following += 1
            if following < E.shape[0] and not repeats(E, event, following):
                there, gap = int(E[following, E_RECORD]), E[following, E_T] - E[event, E_T]
                together = there == record or gap <= merge
                if not together and merge < 0.0:
                    for q in range(event, following):
                        take_word(H, E, q)
                    place(S, V, R, there)
                    other = look(fn, dfn, p, S, I, V, H, C, Q, JH, JHP, breaks, E, following, there, N, 1 - slot)
                    for q in range(following - 1, event - 1, -1):
                        take_back(H, E, q)
                    place(S, V, R, record)
                    if other < 0.0:
                        return I[STATUS]
                    together = gap <= u + other
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
        if record == last or (C[WANTED] >= 0 and event > C[WANTED]):
            return GO_ON
        # --- the next step
        while C[AT_LEG] + 1 < legs.shape[0] and legs[C[AT_LEG] + 1] <= record:
            C[AT_LEG] += 1
            known = False
        s = R[record + 1, R_T] - R[record, R_T]
        cap_at_break(S, R, breaks, record + 1)
        kind = formula(int(R[record + 1, R_KIND]))
        if take_tangents(fn, dfn, P[C[AT_LEG]], S, I, V, H, Q, D, PW, TV, JX, JP, kind, s, known):
            return I[STATUS]
        C[AT_RECORD] = record + 1
        known = False


@core(inline=True)
def time_of(D, a, N, slot):
    """When tangent a crosses, times hdot."""
    s = 0.0
    for i in range(D.shape[1]):
        s -= N[slot, i] * D[a, i]
    return s


@core
def grow(fn, dfn, p, S, I, V, H, C, Q, JH, JHP, breaks, R, E, N, u, merge):
    """A corner of at least two crossings begins at C[FIRST]: how far does it go? Words are left as they were."""
    compact()
    first = C[FIRST]
    last = first + C[MANY]
    taken = first
    code = AT_CORNER
    while last < E.shape[0]:
        there = int(E[last, E_RECORD])
        if passive(H, E, last):
            last += 1
            continue
        if repeats(E, first, last):
            break
        gap = E[last, E_T] - E[first, E_T]
        if gap > merge and there != int(E[first, E_RECORD]):
            if merge >= 0.0:
                break
            while taken < last:
                take_word(H, E, taken)
                taken += 1
            place(S, V, R, there)
            other = look(fn, dfn, p, S, I, V, H, C, Q, JH, JHP, breaks, E, last, there, N, 1)
            if other < 0.0:
                code = I[STATUS]
                break
            if gap > u + other:
                break
        last += slaves(E, last)
    for q in range(taken - 1, first - 1, -1):
        take_back(H, E, q)
    C[MANY] = last - first
    place(S, V, R, int(E[first, E_RECORD]))
    if C[NEAR_END] == 0 and R[R.shape[0] - 1, R_T] - E[last - 1, E_T] <= max(u, merge):
        C[NEAR_END] = 1
    return code


@core
def look(fn, dfn, p, S, I, V, H, C, Q, JH, JHP, breaks, E, event, record, N, slot):
    """The row, speed and x' of a crossing at the present state and word. Returns how uncertain its time is; 0 where the word
    was changed by a jump of h at a breakpoint, which no perturbation moves; -1 on failure."""
    compact()
    k, t = int(E[event, E_GUARD]), S[T]
    if guard_row(fn, dfn, p, S, I, V, H, C, Q, JH, JHP, breaks, t, k, record, N, slot):
        return -1.0
    if eval_f(fn, p, S, I, V, H, t, X, L + 1 + slot):
        return -1.0
    hdot = approach(V, H, k, N, slot, L + 1 + slot)
    u, off = unsure(S, V, N, slot, hdot, t), abs(E[event, E_RESIDUAL]) / max(abs(hdot), 1e-300)
    for moment in breaks:
        if moment == E[event, E_T] and off > 1e3 * u:
            return 0.0
    return min(u + off, LONGEST * (S[TF] - S[T0]))


@core(inline=True)
def passive(H, E, event):
    """Rows of E that change nothing here: margins, observers."""
    return E[event, E_SHOWN] == MARGIN or H[OBSERVER, int(E[event, E_GUARD])] != 0.0


@core(inline=True)
def slaves(E, event):
    """How many rows of E are one crossing: guards that were armed again by it, at the same instant, go with it."""
    count = 1
    while (
        event + count < E.shape[0]
        and E[event, E_SHOWN] == 1.0
        and E[event + count, E_SHOWN] == 0.0
        and E[event + count, E_T] == E[event, E_T]
        and E[event + count, E_RECORD] == E[event, E_RECORD]
    ):
        count += 1
    return count


@core
def repeats(E, first, last):
    """Whether the guard of row ``last`` is among those from ``first`` on: it cannot be twice in one corner."""
    found = False
    for q in range(first, last):
        found = found or (E[q, E_GUARD] == E[last, E_GUARD] and E[q, E_SHOWN] != MARGIN)
    return found


@core(inline=True)
def take_word(H, E, event):
    if E[event, E_SHOWN] != MARGIN:
        H[B, int(E[event, E_GUARD])] = E[event, E_SIGN]


@core(inline=True)
def take_back(H, E, event):
    if E[event, E_SHOWN] != MARGIN:
        H[B, int(E[event, E_GUARD])] = -E[event, E_SIGN]


@core
def place(S, V, R, record):
    """Go to a record: its time and state."""
    S[T], S[CAP] = R[record, R_T], 1e300
    for i in range(V.shape[1]):
        V[X, i] = R[record, R_X + i]


@core(inline=True)
def cap_at_break(S, R, breaks, record):
    """The step to this record must not see what is behind a breakpoint that it ends on."""
    for moment in breaks:
        if moment == R[record, R_T]:
            S[CAP] = before(moment)


@core(entry=True)
def pull(fn, dfn, P, legs, S, I, V, H, C, R, E, breaks, Q, JH, JHP, w, TV, JX, JP, N, stop_record, stop_event):
    """Take the gradient w back from where C says to ``stop_record`` and ``stop_event``, over steps and isolated crossings.

    H[B] is the word there, after the events before C[AT_EVENT].
    """
    compact()
    n = V.shape[1]
    while True:
        record, event = C[AT_RECORD], C[AT_EVENT] - 1
        p = P[C[AT_LEG]]
        if event >= stop_event and E[event, E_RECORD] == record:
            place(S, V, R, record)
            # the first row of this crossing
            first = event
            while first > stop_event and slaves(E, first - 1) > event - first + 1:
                first -= 1
            if passive(H, E, event):
                take_back(H, E, event)
                C[AT_EVENT] = event
                continue
            k, t = int(E[first, E_GUARD]), S[T]
            if eval_f(fn, p, S, I, V, H, t, X, L):
                return I[STATUS]
            for q in range(event, first - 1, -1):
                take_back(H, E, q)
            u = look(fn, dfn, p, S, I, V, H, C, Q, JH, JHP, breaks, E, first, record, N, 0)
            if u < 0.0:
                return I[STATUS]
            if u > 0.0 and H[B, k] * H[HD, k] < 0.0:
                weight = 0.0
                for i in range(n):
                    weight += (V[L, i] - V[L + 1, i]) * w[i]
                weight /= H[HD, k]
                for i in range(w.shape[0]):
                    w[i] += N[0, i] * weight
            C[AT_EVENT] = first
            continue
        if record == stop_record:
            return GO_ON
        while C[AT_LEG] > 0 and legs[C[AT_LEG]] > record - 1:
            C[AT_LEG] -= 1
        place(S, V, R, record - 1)
        s = R[record, R_T] - R[record - 1, R_T]
        cap_at_break(S, R, breaks, record)
        kind = formula(int(R[record, R_KIND]))
        if take_adjoint(fn, dfn, P[C[AT_LEG]], S, I, V, H, Q, w, TV, JX, JP, kind, s):
            return I[STATUS]
        C[AT_RECORD] = record - 1
