"""Crossings on the record that are near each other: which of them belong together, as one corner."""

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import eval_f
from ..state import (
    AT_CORNER,
    AT_EVENT,
    CAP,
    E_GUARD,
    E_RECORD,
    E_RESIDUAL,
    E_SHOWN,
    E_SIGN,
    E_T,
    END,
    FIRST,
    GO_ON,
    MANY,
    NEAR_END,
    OBSERVER,
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
from .guard_rows import approach, guard_row, unsure

LONGEST = 1e-3  # of an uncertain time: where a guard is only grazed, nobody knows when
MOST_NEAR = 16  # crossings after one that are looked at: is its order with one of them open, and does it matter?
MARGIN = 2.0  # rows of E that are not changes of the word


@core
def independent(fn, p, S, I, V, H, E, event, other, N, slot, spot):
    """Whether two crossings can be taken in either order: neither's jump changes the other's speed, or its jump. Feet that
    touch by position and push on velocities are like that; they need no corner however near they are. -1: f failed."""
    compact()
    n, bad = V.shape[1], False
    for which in range(1, 4):  # x' with the first crossed, with the second, with both
        flip_back_and_forth(H, E, event, other, which, 1.0)
        bad = bad or eval_f(fn, p, S, I, V, H, S[T], X, K + which)
        flip_back_and_forth(H, E, event, other, which, -1.0)
    if bad:
        return -1
    size, rest, on_second, on_first, speed1, speed2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        start, one, two, end = V[L + 1 + slot, i], V[K + 1, i], V[K + 2, i], V[K + 3, i]
        size = max(size, abs(one - start), abs(two - start))
        rest = max(rest, abs(end - one - two + start))
        on_second += N[spot, i] * (one - start)
        on_first += N[slot, i] * (two - start)
        speed1 += abs(N[slot, i] * start)
        speed2 += abs(N[spot, i] * start)
    return 1 if rest <= 1e-9 * size and abs(on_second) <= 1e-9 * speed2 and abs(on_first) <= 1e-9 * speed1 else 0


@core
def flip_back_and_forth(H, E, event, other, which, direction):
    """Change the word by the first crossing (which = 1), the second (2) or both (3), or back (direction -1)."""
    for q in range(event, event + slaves(E, event)):
        if which != 2:
            H[B, int(E[q, E_GUARD])] = direction * E[q, E_SIGN]
    for q in range(other, other + slaves(E, other)):
        if which != 1:
            H[B, int(E[q, E_GUARD])] = direction * E[q, E_SIGN]


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
        if passive(H, C, E, last):
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
    if C[WANTED] < 0 and R[C[END], R_T] - E[last - 1, E_T] <= max(u, merge):
        C[NEAR_END] = 1
    return code


@core
def beyond(fn, dfn, p, S, I, V, H, C, Q, JH, JHP, breaks, R, E, N, merge):
    """At the end: is a crossing behind it as near as can be told? Then the end is at a corner."""
    compact()
    event = C[AT_EVENT]
    while event < E.shape[0] and passive(H, C, E, event):
        event += 1
    if event >= E.shape[0]:
        return GO_ON
    there, gap = int(E[event, E_RECORD]), E[event, E_T] - R[C[END], R_T]
    place(S, V, R, there)
    u = look(fn, dfn, p, S, I, V, H, C, Q, JH, JHP, breaks, E, event, there, N, 0)
    place(S, V, R, C[END])
    if u < 0.0:
        return I[STATUS]
    if gap > max(u, merge):
        return GO_ON
    C[FIRST], C[MANY], C[NEAR_END] = event, slaves(E, event), 1
    return grow(fn, dfn, p, S, I, V, H, C, Q, JH, JHP, breaks, R, E, N, u, merge)


@core
def look(fn, dfn, p, S, I, V, H, C, Q, JH, JHP, breaks, E, event, record, N, slot):
    """`look_here`, for those that seldom do."""
    return look_here(fn, dfn, p, S, I, V, H, C, Q, JH, JHP, breaks, E, event, record, N, slot)


@core(inline=True)
def look_here(fn, dfn, p, S, I, V, H, C, Q, JH, JHP, breaks, E, event, record, N, slot):
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
def passive(H, C, E, event):
    """Rows of E that change nothing here: margins, and observers but for the one whose state is asked for."""
    return E[event, E_SHOWN] == MARGIN or (H[OBSERVER, int(E[event, E_GUARD])] != 0.0 and event != C[WANTED])


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


@core(inline=True)
def place(S, V, R, record):
    """Go to a record: its time and state."""
    S[T], S[CAP] = R[record, R_T], 1e300
    for i in range(V.shape[1]):
        V[X, i] = R[record, R_X + i]
