"""Dense output inside spanning steps: the step is replayed with its recorded crossings."""

from ..clock import time_to_look
from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.tables import work
from ..evaluate import copy_state, eval_f
from ..recorded import cap_at_break, catch_up, stand_at, use_parameters
from ..state import MARGIN
from ..unit import make_unit
from .crossings import into_intervals
from .jumps import RUNNING, add_crossings_before, chunk_size, clear_running_sums, sum_jumps
from .stages import HALFWAY, flip_listed, inside, stages

PASSES = 2


@core(entry=True)
def sample_spans(table):
    """As ``sample``, for times (increasing) that lie inside spanning steps. Returns the number of times done."""
    compact()
    w = work(table)
    s, v, steps, t_eval = w.s, w.v, w.steps, w.t_eval
    step, event, ready, leg, found, passed = 1, 0, -1, 0, 0, 0
    n, at_once = v.width, chunk_size(w) if chunk_size(w) > 1 else 0
    for q in range(t_eval.shape[0]):
        while steps[step].t < t_eval[q]:
            step += 1
        length = steps[step].length
        if ready != step:
            if s.counts.f_calls >= s.clock.look_at and time_to_look(w):
                return q
            event, leg = catch_up(w, event, leg, step)
            use_parameters(w, leg)
            found = list_recorded(w, event, step, steps[step - 1].t, length)
            if retake_span(w, found, step):
                return q
            clear_running_sums(w)
            ready, passed = step, 0
        theta = (t_eval[q] - s.now.t) / length
        # (the replay has evaluated g of all of them, unless these were too many for once)
        passed = add_crossings_before(w, passed, found, theta, length, found <= at_once)
        if passed < 0:
            return q
        x = w.x_eval[q]
        inside(w, theta, RUNNING, length, x)
        ramp = theta * theta * (3.0 - 2.0 * theta)
        for i in range(n):
            x[i] += ramp * v.x_smooth[i]
        make_unit(w, x)
    return t_eval.shape[0]


@core
def list_recorded(w, event, step, t, length):
    """The crossings inside a recorded step, from its rows in the event table, into the list; returns their number."""
    events, c, numbers = w.events, w.spans.crossings, w.spans.numbers
    found = 0
    while event < events.shape[0] and events[event].record == step:
        if events[event].shown != MARGIN and found < numbers.width:
            numbers.guard[found] = events[event].guard
            c.tau[found] = min(max((events[event].t - t) / length, 0.0), 1.0)
            c.sign[found] = events[event].sign
            found += 1
        event += 1
    into_intervals(w, found)
    return found


@core
def retake_span(w, found, step):
    """Replay a recorded step; v.x_smooth is how much its recorded end differs from the replay. True if a function failed."""
    compact()
    s, v, steps = w.s, w.v, w.steps
    n, length = v.width, steps[step].length
    stand_at(w, step - 1)
    cap_at_break(w, step)
    copy_state(w.states[step - 1], v.x)
    copy_state(w.states[step], v.x_end)
    # the middle at first from x' at both ends
    flip_listed(w, 0, found)
    failed = eval_f(w, min(s.now.t + length, s.run.cap), v.x_end, v.f_end)
    flip_listed(w, 0, found)
    if failed or eval_f(w, s.now.t, v.x, v.f):
        return True
    for i in range(n):
        v.x_middle[i] = 0.5 * (v.x[i] + v.x_end[i]) + 0.125 * length * (v.f[i] - v.f_end[i])
    for again in range(PASSES):
        if again:
            inside(w, 0.5, HALFWAY, length, v.x_middle)
        if sum_jumps(w, found, length) or stages(w, length, False, v.x_smooth):
            return True
    for i in range(n):
        v.x_smooth[i] = v.x_end[i] - v.x_smooth[i]
    return False
