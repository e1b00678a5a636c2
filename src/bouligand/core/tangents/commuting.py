"""Whether crossings that are near each other commute: then they form no corner, however near they are.

That holds for feet that touch by position and push on velocities: the jump of none changes another's rate or jump.
"""

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import eval_f
from .crossing_rows import passive, restore_word, rows_of_crossing, undo_events

HERE, THERE = 0, 1  # rows of what is known of the crossing at hand, and of another one
MOST_SETS = 64  # of crossings, behind all of which f is evaluated: of six crossings beside the one at hand
EQUAL = 1e-9  # jumps of f, and changes of rates, are the same up to round-off


@core
def independent(w, event, other):
    """Whether two crossings commute at the present word: the jump of neither changes the other's hdot or jump. -1: f failed."""
    compact()
    s, v, rows, N = w.s, w.v, w.tangents.rows, w.tangents.guard_rows
    n, bad = v.width, False
    for which in range(1, 4):  # x' with the first crossed, with the second, with both
        flip_crossings(w, event, other, which, 1.0)
        bad = bad or eval_f(w, s.now.t, v.x, v.stages[which])
        if w.fn.multipliers == 0:
            flip_crossings(w, event, other, which, -1.0)
        else:
            restore_word(w)
    if bad:
        return -1
    size, rest, on_second, on_first, speed1, speed2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        start, one, two, end = rows.f_before[HERE, i], v.stages[1, i], v.stages[2, i], v.stages[3, i]
        size = max(size, abs(one - start), abs(two - start))
        rest = max(rest, abs(end - one - two + start))
        on_second += N[THERE, i] * (one - start)
        on_first += N[HERE, i] * (two - start)
        speed1 += abs(N[HERE, i] * start)
        speed2 += abs(N[THERE, i] * start)
    same = rest <= EQUAL * size
    return 1 if same and abs(on_second) <= EQUAL * speed2 and abs(on_first) <= EQUAL * speed1 else 0


@core
def flip_crossings(w, event, other, which, direction):
    """Apply the first crossing (which = 1), the second (2) or both (3) to the word, or undo them (direction -1)."""
    g, events = w.g, w.events
    for q in range(event, event + rows_of_crossing(w, event)):
        if which != 2:
            g.b[events[q].guard] = direction * events[q].sign
    for q in range(other, other + rows_of_crossing(w, other)):
        if which != 1:
            g.b[events[q].guard] = direction * events[q].sign


@core
def independent_of_all(w, event, last, others):
    """Whether a crossing commutes with each set of ``others`` crossings, which follow it up to the row ``last``. -1: f failed.

    `independent` asks pairs at the present word. That is enough where f is a sum over guards; else a jump may need two of them,
    as that of a relay which closes when the last of three contacts does.
    """
    compact()
    s, v, rows, N, fn = w.s, w.v, w.tangents.rows, w.tangents.guard_rows, w.fn
    if fn.g != 0 or fn.g_many != 0:
        return 1
    if 1 << others > MOST_SETS:
        return 0
    for chosen in range(1 << others):
        apply_chosen(w, event, last, chosen)
        bad = eval_f(w, s.now.t, v.x, v.stages[2])
        apply_rows(w, event, event + rows_of_crossing(w, event))
        bad = bad or eval_f(w, s.now.t, v.x, v.stages[3])
        undo_events(w, event, last)
        if bad:
            return -1
        size, off, change, speed = 0.0, 0.0, 0.0, 0.0
        for i in range(v.width):
            start, before, behind = rows.f_before[HERE, i], v.stages[2, i], v.stages[3, i]
            if chosen == 0:
                v.stages[1, i] = behind - before
            jump = v.stages[1, i]
            size = max(size, abs(jump), abs(before - start))
            off = max(off, abs(behind - before - jump))
            change += N[HERE, i] * (before - start)
            speed += abs(N[HERE, i] * start)
        if off > EQUAL * size or abs(change) > EQUAL * speed:
            return 0
    return 1


@core
def apply_chosen(w, event, last, chosen):
    """Apply those of the crossings between ``event`` and ``last`` whose bits are set to the word."""
    other, bit = event + rows_of_crossing(w, event), 1
    while other < last:
        if passive(w, other):
            other += 1
            continue
        width = rows_of_crossing(w, other)
        if chosen & bit != 0:
            apply_rows(w, other, other + width)
        bit *= 2
        other += width


@core(inline=True)
def apply_rows(w, first, last):
    """Apply rows of ``events`` to the word."""
    for q in range(first, last):
        w.g.b[w.events[q].guard] = w.events[q].sign
