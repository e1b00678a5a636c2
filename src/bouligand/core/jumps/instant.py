"""One instant at which the state jumps. An entry of its own, compiled when needed.

Guards whose events change the state are marked when they fire (g.fired), with all others that are reached at the same instant
within the tolerance. Here their jumps are applied, and every guard is evaluated at the new state: one that the jumps have carried
across fires at the same instant, in the next generation, until none does. Each generation is a row of the record, at the same
time as the row before, which has the state before it.
"""

from .. import codes
from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.tables import work
from ..evaluate import blame, copy_state, eval_h, eval_jump, eval_jumps, in_tolerances, let_stay
from ..guards import hold
from ..recorded import next_row, write_step
from ..restart import post
from ..state import FIRED, JUMP, NO_GUARD, WAITS
from ..unit import make_unit
from .sides import settle_sides

MOST_GENERATIONS = 1000  # where impacts between contacts at rest may go to and fro, less and less


@core(entry=True)
def jump(table):
    """Apply the jumps of all guards that have fired at this instant. Returns GO_ON, a full table, or a failure."""
    compact()
    w = work(table)
    s = w.s
    while s.jump.on == 1:
        code = next_generation(w)
        if code != codes.GO_ON:
            return code
    for k in range(w.g.width):
        if w.g.still[k] != 0.0 or w.g.left[k] != 0.0:
            post(s, codes.SLIDE, k)  # which of these guards does it stay on?
    if s.options.dependent > 0 and s.ask.question != codes.SLIDE:
        post(s, codes.SLIDE, NO_GUARD)  # and which matter now?
    return codes.GO_ON


@core
def next_generation(w):
    """Apply the jumps of the guards in g.fired, and find those that fire next."""
    compact()
    s, v, g = w.s, w.v, w.g
    if s.rows.records >= w.steps.shape[0]:
        return codes.RECORDS_FULL
    if s.rows.events + 3 * g.width + 4 > w.events.shape[0]:
        return codes.EVENTS_FULL
    first, count = firing(g)
    blame(s, first)
    if s.jump.generation > (MOST_GENERATIONS if w.fn.contact_rates != 0 else 2 * g.width + 10):
        return codes.CASCADE
    if s.here.kept > 0 and release(w):
        return s.run.status
    for k in range(g.width):
        g.hdot_end[k] = g.hdot[k]  # (before the jump)
    code = apply_all(w, count)
    if code != codes.GO_ON:
        return code
    make_unit(w, v.x_end)
    for i in range(v.width):
        v.scratch[i] = v.x_end[i] - v.x[i]
    change = in_tolerances(w, v.scratch, v.x, v.x_end)
    if not change < 1e300:
        return codes.JUMP_NOT_FINITE
    row = next_row(s)
    write_step(w, row, s.now.t, JUMP, 0.0, 0.0, 0.0)
    copy_state(v.x_end, w.states[row])
    copy_state(v.x_end, v.x)
    s.jump.generation += 1
    # (a requested time at the instant is answered with the state behind it)
    q = s.rows.requested - 1
    while q >= 0 and w.t_eval[q] == s.now.t:
        copy_state(v.x, w.x_eval[q])
        q -= 1
    return settle_sides(w, change, w.fn.jump_many != 0 and count > 1)


@core
def release(w):
    """The trajectory no longer stays on the guards that it stayed on: behind the jumps that is to be found out again. True if h
    failed."""
    compact()
    s, v, g = w.s, w.v, w.g
    for k in range(g.width):
        if g.b[k] == 0.0:
            g.b[k], g.watched[k], g.left[k], g.hdot[k] = 1.0, 1.0, 1.0, 0.0
            hold(w, k)
    s.here.kept = 0
    let_stay(w, False)
    return eval_h(w, s.now.t, v.x, g.h)  # (theirs was another function)


@core
def firing(g):
    """The first guard that fires in this generation, and how many do."""
    first, count = -1, 0
    for k in range(g.width):
        if g.fired[k] == FIRED:
            first = k if count == 0 else first
            count += 1
    return first, count


@core
def apply_all(w, count):
    """v.x_end = the state behind the jumps of this generation. Returns a code."""
    compact()
    s, v, g = w.s, w.v, w.g
    if w.fn.jump_many != 0:
        return codes.JUMP_FAILED if eval_jumps(w, v.x, v.x_end) else codes.GO_ON
    if count > 1 and s.options.order_given == 0:
        code = compare_orders(w)
        if code != codes.GO_ON:
            return code
    copy_state(v.x, v.x_end)
    applied = False
    for q in range(g.width):
        k = w.jump_order[q]
        if g.fired[k] == FIRED and applied and s.options.order_given == 1:
            g.fired[k] = WAITS  # in the next generation, if it is still to be
        elif g.fired[k] == FIRED:
            copy_state(v.x_end, v.x_trial)
            if eval_jump(w, k, v.x_trial, v.x_end):
                return codes.JUMP_FAILED
            applied = True
    return codes.GO_ON


@core
def compare_orders(w):
    """Whether the jumps of this generation commute, each pair of them: then any order gives the same state. Returns a code.

    Where a pair does not, s.run.culprit and s.run.other are its guards, v.x_end and v.x_smooth the two outcomes.
    """
    compact()
    s, v, g = w.s, w.v, w.g
    for j in range(g.width):
        for k in range(j + 1, g.width):
            if g.fired[j] == FIRED and g.fired[k] == FIRED:
                bad = eval_jump(w, j, v.x, v.x_trial) or eval_jump(w, k, v.x_trial, v.x_end)
                bad = bad or eval_jump(w, k, v.x, v.x_trial) or eval_jump(w, j, v.x_trial, v.x_smooth)
                if bad:
                    return codes.JUMP_FAILED
                for i in range(v.width):
                    v.scratch[i] = v.x_end[i] - v.x_smooth[i]
                if in_tolerances(w, v.scratch, v.x_end, v.x_smooth) > 1.0:
                    blame(s, j)
                    s.run.other = k
                    return codes.JUMP_ORDER
    return codes.GO_ON
