"""Replay of recorded steps, for dense output: their stages give the states inside them."""

from ..clock import time_to_look
from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.tables import work
from ..evaluate import copy_state, eval_f
from ..recorded import cap_at_break, catch_up, stand_at, use_parameters
from ..restart import no_first_step
from ..schemes import STIFF
from ..state import BACK, HOP
from ..stiff.step import replay
from ..unit import make_unit
from . import outcomes
from .dense import interpolate, prepare
from .hop import hop
from .smooth import EVALUATION_FAILED, smooth_step


@core(entry=True)
def sample(table):
    """x_eval = the states at the times t_eval (increasing), from the record: each step that is needed is replayed.

    g.b holds the word at the start, and is changed along the way. Returns the number of times done: fewer where f failed, or
    some time has passed.
    """
    compact()
    w = work(table)
    s, v, steps, t_eval = w.s, w.v, w.steps, w.t_eval
    row, event, ready, leg = 1, 0, -1, 0
    for q in range(t_eval.shape[0]):
        x = w.x_eval[q]
        while row < steps.shape[0] - 1 and steps[row].t < t_eval[q]:
            row += 1
        at = row if t_eval[q] == steps[row].t else row - 1
        if t_eval[q] == steps[at].t:
            copy_state(w.states[at], x)
            continue
        if ready != row:
            if s.counts.f_calls >= s.clock.look_at and time_to_look(w):
                return q
            event, leg = catch_up(w, event, leg, row)
            use_parameters(w, leg)
            if retake(w, row):
                return q
            ready = row
        whole = steps[row].t - steps[row - 1].t
        interpolate(v, s.step.kind, (t_eval[q] - s.now.t) / whole, steps[row].length, whole, x)
        make_unit(w, x)
    return t_eval.shape[0]


@core
def retake(w, row):
    """Replay a recorded step, without step size control, so that its stages are available again. True if f failed."""
    compact()
    s, v, steps = w.s, w.v, w.steps
    kind, length = steps[row].kind, steps[row].length
    stand_at(w, row - 1)
    cap_at_break(w, row)
    no_first_step(s)
    s.next.dt, s.stiff.weigh_at = length, s.counts.steps + 1
    copy_state(w.states[row - 1], v.x)
    if eval_f(w, s.now.t, v.x, v.f):
        return True
    base = kind % BACK
    if base == STIFF:
        if replay(w, length):
            return True
    elif base < HOP:
        s.next.scheme = base
        error, _ = smooth_step(w, length)
        if error == EVALUATION_FAILED or prepare(w, kind, length):
            return True
    else:
        copy_state(v.f, v.hop_stages[0])
        if hop(w, s.now.t, v.x, length, 0.0, base - HOP) == outcomes.RUNG_FAILED:
            return True
        for i in range(v.width):
            v.f_end[i] += steps[row].correction * v.second[i]
    s.step.kind = kind
    copy_state(w.states[row], v.x_end)
    return False
