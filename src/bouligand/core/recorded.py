"""The record of steps: writing a row; and replaying it: the word, the parameters and the breakpoint of a recorded step."""

from .compiler.intrinsics import compact
from .compiler.jit import core
from .state import MARGIN


@core(inline=True)
def write_step(w, row, t, kind, length, back, correction):
    """Row ``row`` of the record: a step of that kind, which ended at t, and the lengths of its parts."""
    step = w.steps[row]
    step.t, step.kind = t, kind
    step.length, step.back, step.correction = length, back, correction


@core(inline=True)
def next_row(s):
    """The number of a new row of the record."""
    row = s.rows.records
    s.rows.records = row + 1
    return row


@core(inline=True)
def before(t):
    """The latest time before a breakpoint t at which f may be evaluated."""
    return t - 4e-16 * abs(t) if t != 0.0 else -1e-300


@core(inline=True)
def no_cap(s):
    """f and h may be evaluated at any time."""
    s.run.cap = 1e300


@core(inline=True)
def cap_before(s, moment):
    """f and h are evaluated before this breakpoint, as they are there."""
    s.run.cap = before(moment)


@core(inline=True)
def cap_leg(w):
    """Nothing that is evaluated on the present leg, not even to look ahead, may see what is behind the breakpoint at its end."""
    s = w.s
    s.run.cap = before(s.now.stop) if s.rows.breaks < w.breaks.shape[0] else 1e300


@core(inline=True)
def cap_at_break(w, row):
    """The same for a recorded step: the breakpoint that ends its leg is the first after its start."""
    s, start = w.s, w.steps[row - 1].t
    no_cap(s)
    for moment in w.breaks:
        if moment > start:
            cap_before(s, moment)
            break


@core(inline=True)
def restore_cap(s, cap):
    """As it was before `no_cap`."""
    s.run.cap = cap


@core(inline=True)
def stand_at(w, row):
    """Replay goes on from a row of the record: at its time."""
    w.s.now.t = w.steps[row].t


@core(inline=True)
def replay_whole(w):
    """A record is replayed from its start to its end, with nothing to be seen behind."""
    s, steps = w.s, w.steps
    no_cap(s)
    s.now.t0, s.now.tf = steps[0].t, steps[steps.shape[0] - 1].t


@core
def catch_up(w, event, leg, row):
    """Bring the word up to the start of a recorded step; returns the next row of ``events`` and the leg in force."""
    g, events, legs = w.g, w.events, w.legs
    while event < events.shape[0] and events[event].record < row:
        if events[event].shown != MARGIN:
            g.b[events[event].guard] = events[event].sign
        event += 1
    while leg + 1 < legs.shape[0] and legs[leg + 1] < row:
        leg += 1
    return event, leg


@core
def use_parameters(w, leg):
    """w.p = the parameters of a leg."""
    compact()
    for i in range(w.p.shape[0]):
        w.p[i] = w.leg_p[leg, i]
