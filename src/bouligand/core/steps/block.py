"""Many trajectories, one after the other in the same memory, without Python between them: the compiled loop of an ensemble.

Each begins with the memory as a single integration finds it, and is integrated by the same machine code: entries are called by
their addresses. So it ends with the same bits, whatever was integrated before it, in whichever block.

The loop returns where a single integration does (a full buffer, a word to be decided, time to look), where an entry has
to be compiled first, and where Python has to name a failure. Called again, it goes on with the same trajectory.
"""

from .. import codes
from ..clock import LONG
from ..compiler.intrinsics import call_entry, compact, seconds
from ..compiler.jit import core
from ..compiler.tables import block, work
from ..state import RUNNING, SHOWN, TO_BEGIN, TO_KEEP, WORK

X_EVAL = WORK.places["x_eval"]


@core(entry=True)
def run_block(table):
    """Integrate the trajectories of a block: GO_ON when all are done, or the code of what the caller has to do before it
    calls again."""
    compact()
    o = block(table)
    plan = o.plan
    w = work(plan.work)
    since = seconds()
    while plan.next < plan.count:
        if plan.phase == TO_BEGIN:
            if seconds() - since > LONG:
                return codes.LOOK
            begin(o, w)
            plan.phase = RUNNING
        if plan.phase == RUNNING:
            code = advance(plan)
            if code != codes.FINISHED and code != codes.TERMINATED and not plain_failure(code):
                return code
            plan.code = code
            plan.guard = (
                w.s.run.ended_by if code == codes.TERMINATED else w.s.run.culprit if plain_failure(code) else -1
            )
            plan.phase = TO_KEEP
        if not keep(o, w):
            return codes.EVENTS_KEPT
        plan.next += 1
        plan.phase = TO_BEGIN
    return codes.GO_ON


@core
def begin(o, w):
    """The memory as it is before the start, and the present trajectory's start in it."""
    compact()
    plan = o.plan
    scalars, image = o.scalars, o.scalars_start
    for q in range(image.size):
        scalars[q] = image[q]
    guards, rows = o.guards, o.guards_start
    for r in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            guards[r, k] = rows[r, k]
    x0, p, v = o.x0, o.p, w.v
    row = plan.first + plan.next
    for i in range(v.width):
        v.x[i] = x0[plan.x0_step * row, i]
    for i in range(w.p.size):
        w.p[i] = p[plan.p_step * row, i]
    o.work_table[X_EVAL, 0] = plan.x_eval + 8 * plan.next * w.t_eval.size * v.width


@core
def advance(plan):
    """Integrate the present trajectory until there is something to report."""
    compact()
    code = codes.GO_ON
    while code == codes.GO_ON:
        code = call_entry(plan.run, plan.work)
        if code == codes.NEED_WORD and plan.find_word != 0:
            code = call_entry(plan.find_word, plan.work)
        if code == codes.NEED_SPAN and plan.span != 0:
            code = call_entry(plan.span, plan.work)
        if code >= codes.FIRST_QUESTION and code <= codes.LAST_QUESTION and plan.judge != 0:
            code = call_entry(plan.judge, plan.work)
    return code


@core
def plain_failure(code):
    """Whether the code and the guard s.run.culprit alone say which error it is; other codes need f or h to be called again."""
    return code == codes.SLIDING or code == codes.NOT_EVENT_SELECTED or code == codes.CHATTERING


@core
def keep(o, w):
    """Write what is kept of the present trajectory; False if there is no room for its events."""
    compact()
    plan, s, v, g, events = o.plan, w.s, w.v, w.g, w.events
    i, row = plan.next, plan.events
    event_t, event_guard, event_sign = o.event_t, o.event_guard, o.event_sign
    shown = 0
    for q in range(s.rows.events):
        shown += events[q].shown == SHOWN
    if event_t.size > 0:
        if row + shown > event_t.size:
            return False
        for q in range(s.rows.events):
            if events[q].shown == SHOWN:
                event_t[row] = events[q].t
                event_guard[row] = events[q].guard
                event_sign[row] = events[q].sign
                row += 1
        plan.events = row
    t, x, b, outcome, counts, t_eval, x_eval = o.t, o.x, o.b, o.outcome, o.counts, w.t_eval, w.x_eval
    t[i] = s.now.t
    for q in range(v.width):
        x[i, q] = v.x[q]
    for k in range(g.width):
        b[i, k] = g.b[k]
    outcome[i, 0], outcome[i, 1] = plan.code, plan.guard
    counts[i, 0], counts[i, 1], counts[i, 2] = s.counts.f_calls, s.counts.h_calls, s.counts.Dh_calls
    counts[i, 3], counts[i, 4], counts[i, 5] = s.counts.steps, s.counts.rejected, s.counts.hops
    counts[i, 6], counts[i, 7] = s.counts.spans, shown
    if s.rows.records > 0:  # (a requested time at the very end may not have been written by a step)
        for q in range(s.rows.requested, t_eval.size):
            if t_eval[q] <= s.now.t:
                for k in range(v.width):
                    x_eval[q, k] = v.x[k]
    return True
