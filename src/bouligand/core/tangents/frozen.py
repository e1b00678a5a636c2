"""Tangents over a few steps with one Jacobian, that in their middle: for planners, whose changes are larger than its errors.

Over a time h the tangents obey ``X' = Df X + Dp_f dp``, with Df and Dp_f taken as constant. The implicit midpoint rule solves
``(1 - h/2 Df) Y = X + h/2 Dp_f dp`` and goes on from ``2 Y - X``, with an error of order ``h^3``. Fast modes need no shorter
steps. Df costs much more than f: it is evaluated once for a span of a few recorded steps, and the rule is applied to either half
of that, with the same factors. Crossings are as exact as ever.
"""

from ..compiler.intrinsics import address, compact, read, write
from ..compiler.jit import core
from ..compiler.vectors import add_row, add_rows, clear, scaled
from ..jacobians import by_duals, jacobian
from ..schemes import STIFF
from ..state import BACK

LEAST = 1e-9  # pivots are not smaller
MOST = 8  # steps that a span has, and one


@core(inline=True)
def something_happens(w, record, halt):
    """Whether a span must end at a record: at a crossing, a change of parameters, a breakpoint (s.run.cap), before a stiff step,
    or at ``halt``, where the caller wants to stop."""
    steps, events, at = w.steps, w.events, w.tangents.at
    met = at.event < events.shape[0] and events[at.event].record <= record
    changes = at.leg + 1 < w.legs.shape[0] and w.legs[at.leg + 1] <= record
    if met or changes or record == at.end or record == halt or steps[record].t >= w.s.run.cap:
        return True
    return steps[record + 1].kind % BACK == STIFF


@core
def end_of_span(w, record, halt):
    """The record up to which one Jacobian serves, and into how many parts the time until then is divided.

    A span is up to twice as long as its last step. (Short steps behind an event may be followed by a long one, whose length the
    tolerance allows; behind a long one they are short for a reason. What ends where something happens was cut there.)
    """
    compact()
    steps = w.steps
    start, last = steps[record].t, record + 1
    before = steps[last].t - start
    ends = something_happens(w, last, halt)
    for _ in range(MOST):
        if ends:
            break
        length = steps[last + 1].t - steps[last].t
        ends = something_happens(w, last + 1, halt)
        if steps[last + 1].t - start > 2.0 * (max(length, before) if ends else length):
            break
        last, before = last + 1, length
    return last, 1 if steps[last].t - start <= 1.2 * before else 2


@core(inline=True)
def middle_state(w, record, last):
    """v.x_trial = the state in the middle of a span, between two records. Returns its time."""
    steps, states, v = w.steps, w.states, w.v
    middle = 0.5 * (steps[record].t + steps[last].t)
    while record + 1 < last and steps[record + 1].t < middle:
        record += 1
    length = steps[record + 1].t - steps[record].t
    share = (middle - steps[record].t) / length if length > 0.0 else 0.5
    for i in range(v.width):
        v.x_trial[i] = states[record, i] + share * (states[record + 1, i] - states[record, i])
    return middle


@core(inline=True)
def frozen_jacobians(w, of_p, t, x):
    """Df, and of Dp_f the columns of parameters along which a tangent has a component. True if a function failed."""
    jac, steps, Dp_f, n = w.tangents.jacobians, w.tangents.differences, w.tangents.Dp_f, w.v.width
    if jacobian(w, jac.Df, x, steps, w.tangents.Df, t, x):
        return True
    if of_p.shape[0] == 0 or jac.Dp_f != 0 or jac.f_dual == 0:
        return of_p.shape[0] > 0 and jacobian(w, jac.Dp_f, w.p, steps[n:], Dp_f, t, x)
    first, last = Dp_f.shape[1], 0
    for q in range(of_p.shape[0]):
        first, last = min(first, of_p[q, 1]), max(last, of_p[q, 1])
    return by_duals(w, True, Dp_f, t, x, first, last + 1)


@core
def factorise(F, half):
    """F = the factors of 1 - half F, row by row; on the diagonal is one over the pivot. (No pivoting: the matrix is near the unit
    matrix, or damped.)"""
    compact()
    scaled(F, -half, F)
    n = F.shape[0]
    for i in range(n):
        F[i, i] += 1.0
        for k in range(i):
            if F[i, k] != 0.0:
                factor = -F[i, k] * F[k, k]
                F[i, k] = factor
                add_row(F, i, k, k + 1, n, factor)
        F[i, i] = 1.0 / F[i, i] if abs(F[i, i]) > LEAST else 1.0 / LEAST


@core
def solve(F, rows):
    """Solve with these factors for all columns of ``rows``, a matrix with as many rows as F, in place."""
    compact()
    n = F.shape[0]
    room = rows.shape[0] // n
    for i in range(n):
        add_rows(F, i, 0, i, 1.0, rows)
    for i in range(n - 1, -1, -1):
        add_rows(F, i, i + 1, n, -1.0, rows)
        row = rows[i * room : (i + 1) * room]
        scaled(row, F[i, i], row)


@core
def sum_of(a, factor, b, other, out):
    """out = factor a + other b, of vectors of the same length. (Not compact: it becomes vector code.)"""
    for q in range(out.shape[0]):
        out[q] = factor * a[q] + other * b[q]


@core
def propagate_frozen(w, D, of_p, tv, record, last, parts):
    """Propagate all tangents from a record to a later one. ``of_p``: the entries (tangent, parameter) of D that are not zero.
    True if a function failed."""
    compact()
    s, v, F, Dp_f = w.s, w.v, w.tangents.Df, w.tangents.Dp_f
    n, tangents = v.width, D.shape[0]
    if tangents == 0:
        return False
    middle = middle_state(w, record, last)
    if frozen_jacobians(w, of_p, min(middle, s.run.cap), v.x_trial):
        return True
    half = 0.5 * (w.steps[last].t - w.steps[record].t) / parts
    # rows of tv: a row of the state for all tangents, then the next one
    own, moved, driven, room = tv.own, tv.state, tv.slopes[0], tv.width // n
    now, effect = address(own), address(driven)
    for a in range(tangents):
        for i in range(n):
            write(now, i * room + a, D[a, i])
    clear(driven, 0, n * room)
    for q in range(of_p.shape[0]):
        a, j = of_p[q, 0], of_p[q, 1]
        size = half * D[a, n + j]
        for i in range(n):
            place = i * room + a
            write(effect, place, read(effect, place) + size * Dp_f[i, j])
    factorise(F, half)
    for _ in range(parts):
        sum_of(own, 1.0, driven, 1.0, moved)
        solve(F, moved)
        sum_of(moved, 2.0, own, -1.0, own)
    for a in range(tangents):
        for i in range(n):
            D[a, i] = read(now, i * room + a)
    return False
