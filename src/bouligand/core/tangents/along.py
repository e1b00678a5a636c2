"""Tangents along the record, forwards (``push``), and the adjoint, backwards (``pull``): steps and isolated crossings.

The recorded steps are replayed, without step size control. Both stop at corners, where the derivative is not linear: the caller
takes the tangents through those (see ``corner_passage``).

Times of the stretch may be requested (``t_eval``, as in an integration): then ``push`` writes the tangents at these times to
x_eval, a row for each tangent, and ``pull`` adds gradients given there.
"""

from .. import codes
from ..clock import time_to_look
from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.tables import rows_of, work
from ..evaluate import eval_f
from ..jacobians import spread_parameters
from ..part_states import is_ahead
from ..recorded import cap_at_break, use_parameters
from ..schemes import STIFF
from ..state import BACK, MARGIN, SHOWN, SWITCH, TANGENT_ROWS
from ..stiff.tangents import pull_stiff, push_stiff
from ..unit import without_scaling
from .crossing_rows import apply_event, go_to_record, passive, rows_of_crossing, undo_event
from .formulas import formula_of
from .frozen import end_of_span, propagate_frozen
from .guard_rows import time_of
from .large_states import MANY_STATES, subtract_jump
from .near_ties import HERE, corner_at_end, examine, examine_inline, extend_corner, may_be_corner
from .onto_guards import begins_to_slide, move_tangents
from .states_ahead import find_state
from .step_tangents import propagate_adjoint, propagate_tangents

tangent_rows = rows_of(TANGENT_ROWS)


@core(entry=True)
def push(table, D, of_p, tv, times, crossings, merge, halt, quiet, frozen):
    """Propagate the tangents D to the next corner, to the record ``halt`` (-1: none), or to the last record.

    ``merge`` is the time within which crossings are one corner; negative: where the tolerances do not determine their order. If
    ``times`` has rows, the derivative of the time of each crossing is written there; if ``crossings`` has, what the adjoint
    needs: its row of Dh, then the jump of f over hdot; last the uncertainty of its time. Rows of ``events`` before ``quiet`` only
    change the word: the caller handles their corner. ``frozen``: 1: one Jacobian for a few steps (see `frozen`). Returns a code;
    w.tangents.at is the position where it stopped.
    """
    compact()
    w = work(table)
    s, steps, events, at = w.s, w.steps, w.events, w.tangents.at
    tv = tangent_rows(tv)
    use_parameters(w, at.leg)
    spread_parameters(w)
    known, here = False, -1  # v.f is x' at this record; the record whose state is in v.x
    while True:
        record, event = at.record, at.event
        if here != record:
            go_to_record(w, record)
            here = record
        if event < events.shape[0] and events[event].record == record:
            # --- a crossing at this record
            u, takes_part = 0.0, event >= quiet
            if takes_part and not passive(w, event):
                u = examine_inline(w, event, record, HERE)
                if u < 0.0:
                    return s.run.status
            if u == 0.0:
                if takes_part and times.shape[0] > 0 and note_time(w, D, times, event, record):
                    return s.run.status
                apply_event(w, event)
                at.event = event + 1
                known = False
                continue
            if crossings.shape[0] > 0:
                crossings[event, crossings.shape[1] - 1] = u
            together = may_be_corner(w, event, record, u, merge)
            if together < 0:
                return s.run.status
            if together > 0:
                return extend_corner(w, u, merge)
            if at.near_end == 1 or event <= at.wanted < event + at.many:
                return codes.AT_CORNER
            code = cross(w, D, times, crossings, event, frozen)
            if code != codes.GO_ON:
                return code
            known = True
            at.event = event + at.many
            continue
        inside = requested_from(w, D, record) if s.rows.requested < w.t_eval.shape[0] else 0
        if record == at.end and halt < 0 and at.wanted < 0:
            return corner_at_end(w, merge)
        if record == at.end or record == halt or (at.wanted >= 0 and event > at.wanted):
            return codes.GO_ON
        # --- the next step
        if s.counts.f_calls >= s.clock.look_at and time_to_look(w):
            return codes.LOOK
        while at.leg + 1 < w.legs.shape[0] and w.legs[at.leg + 1] <= record:
            at.leg += 1
            use_parameters(w, at.leg)
            spread_parameters(w)
            known = False
        length = steps[record + 1].t - steps[record].t
        cap_at_break(w, record + 1)
        kind, reached = steps[record + 1].kind, record + 1
        if (D.shape[0] == 0 or frozen == 1) and is_ahead(w.states, reached) and find_state(w, reached):
            return s.run.status
        if frozen == 1 and kind % BACK != STIFF:
            reached, parts = end_of_span(w, record, halt)
            if propagate_frozen(w, D, of_p, tv, record, reached, parts):
                return s.run.status
        elif kind % BACK == STIFF:
            if push_stiff(w, D, of_p, tv, length, inside):
                return s.run.status
        elif propagate_tangents(w, D, of_p, tv, formula_of(kind), length, known, inside):
            return s.run.status
        at.record = reached
        s.rows.requested += inside
        known = False
        if w.units.shape[0] > 0:
            go_to_record(w, reached)
            for a in range(D.shape[0]):
                without_scaling(w, w.v.x, D[a])


@core
def requested_from(w, D, record):
    """Write the tangents at a record, if its time is requested. Returns how many of the next requested times are inside the
    step from there."""
    s, steps, t_eval, tangents = w.s, w.steps, w.t_eval, D.shape[0]
    while s.rows.requested < t_eval.shape[0] and t_eval[s.rows.requested] <= steps[record].t:
        for a in range(tangents):
            for i in range(w.v.width):
                w.x_eval[s.rows.requested * tangents + a, i] = D[a, i]
        s.rows.requested += 1
    last = s.rows.requested
    if record + 1 < steps.shape[0]:
        while last < t_eval.shape[0] and t_eval[last] < steps[record + 1].t:
            last += 1
    return last - s.rows.requested


@core(inline=True)
def note_time(w, D, times, event, record):
    """Write the derivative of the time of an observer's crossing, which changes nothing else; True if a function failed."""
    compact()
    row = w.events[event]
    if row.shown == MARGIN or row.t != w.s.now.t:
        return False
    if examine(w, event, record, HERE) < 0.0:
        return True
    for a in range(D.shape[0]):
        times[event, a] = time_of(w, HERE, D, a) / w.g.hdot[row.guard]
    return False


@core(inline=True)
def cross(w, D, times, crossings, event, frozen):
    """An isolated crossing: one saltation for all tangents. GO_ON, GRAZING, or a failed evaluation.

    Where Jacobians are frozen, tangents pass a grazed guard as they are.
    """
    compact()
    s, v, events, at = w.s, w.v, w.events, w.tangents.at
    row, before, n = w.tangents.guard_rows[HERE], w.tangents.rows.f_before[HERE], v.width
    for q in range(event, event + at.many):
        apply_event(w, q)
    if eval_f(w, s.now.t, v.x, v.f):
        return s.run.status
    hdot = w.g.hdot[events[event].guard]
    crosses = events[event].sign * hdot > 0.0
    if not crosses and frozen == 0 and jumps(before, v.f):
        at.culprit = events[event].guard
        return codes.GRAZING
    if crossings.shape[0] > 0:
        for i in range(D.shape[1]):
            crossings[event, i] = row[i]
        for i in range(n):
            crossings[event, D.shape[1] + i] = (v.f[i] - before[i]) / hdot if crosses else 0.0
    for a in range(D.shape[0]):
        when = time_of(w, HERE, D, a) / hdot
        if times.shape[0] > 0:
            times[event, a] = when
        if crosses and n >= MANY_STATES:
            subtract_jump(D[a], before, v.f, when)
        elif crosses:
            for i in range(n):
                D[a, i] -= (v.f[i] - before[i]) * when
    if w.fn.project != 0 and begins_to_slide(w, event) and move_tangents(w, D):
        return codes.F_FAILED
    return codes.GO_ON


@core
def jumps(before, behind):
    """Whether two values of x' differ by more than round-off."""
    compact()
    size, change = 0.0, 0.0
    for i in range(before.shape[0]):
        size = max(size, abs(before[i]), abs(behind[i]))
        change = max(change, abs(behind[i] - before[i]))
    return change > 1e-13 * size


@core(entry=True)
def pull(table, gradient, tv, Df, Dp_f, crossings, stop_record, stop_event, quiet):
    """Propagate a gradient backwards (the adjoint), from the position w.tangents.at to ``stop_record`` and ``stop_event``, over
    steps and isolated crossings, whose saltations ``push`` has left in ``crossings``.

    g.b is the word at that position, after the events before at.event. Rows of ``events`` from ``quiet`` on only change the word.
    """
    compact()
    w = work(table)
    s, steps, events, at = w.s, w.steps, w.events, w.tangents.at
    tv = tangent_rows(tv)
    use_parameters(w, at.leg)
    while True:
        record, event = at.record, at.event - 1
        inside = requested_before(w, gradient, record) if s.rows.requested > 0 else 0
        if event >= stop_event and events[event].record == record:
            first = first_row(w, event, record, stop_event)
            if passive(w, event) or event >= quiet:
                undo_event(w, event)
                at.event = event
                continue
            for q in range(event, first - 1, -1):
                undo_event(w, q)
            weight = 0.0
            for i in range(w.v.width):
                weight += crossings[first, gradient.shape[0] + i] * gradient[i]
            for i in range(gradient.shape[0]):
                gradient[i] += crossings[first, i] * weight
            at.event = first
            continue
        if record == stop_record:
            return codes.GO_ON
        if s.counts.f_calls >= s.clock.look_at and time_to_look(w):
            return codes.LOOK
        while at.leg > 0 and w.legs[at.leg] > record - 1:
            at.leg -= 1
            use_parameters(w, at.leg)
        go_to_record(w, record)
        without_scaling(w, w.v.x, gradient)
        go_to_record(w, record - 1)
        length = steps[record].t - steps[record - 1].t
        cap_at_break(w, record)
        kind = steps[record].kind
        if kind % BACK == STIFF:
            if pull_stiff(w, gradient, tv, length, inside):
                return s.run.status
        elif propagate_adjoint(w, gradient, tv, Df, Dp_f, formula_of(kind), length, inside):
            return s.run.status
        at.record = record - 1
        s.rows.requested -= inside


@core
def requested_before(w, gradient, record):
    """Add the gradient that is given for the time of a record. Returns how many of the requested times before it are inside the
    step that ends there."""
    s, steps, t_eval = w.s, w.steps, w.t_eval
    while s.rows.requested > 0 and t_eval[s.rows.requested - 1] >= steps[record].t:
        s.rows.requested -= 1
        for i in range(w.v.width):
            gradient[i] += w.x_eval[s.rows.requested, i]
    first = s.rows.requested
    if record > 0:
        while first > 0 and t_eval[first - 1] > steps[record - 1].t:
            first -= 1
    return s.rows.requested - first


@core(inline=True)
def first_row(w, event, record, stop_event):
    """The first row of the crossing whose last row is ``event``."""
    compact()
    events = w.events
    first, back = event, event
    while back > stop_event and events[back].shown == SWITCH and events[back - 1].record == record:
        back -= 1
        if events[back].shown == SHOWN and back + rows_of_crossing(w, back) > event:
            first = back
    return first
