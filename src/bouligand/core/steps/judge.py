"""The judge: decides rare cases, above all whether the integration can continue. An entry of its own, compiled when needed.

The loop only detects such a case (a guard that is not being left, one that suddenly recedes, one that was barely touched) and
sets s.ask.question. Sliding, grazing and corners that are not event-selected are refused by name; where the outcome cannot
change by more than the tolerance, the integration continues, and the margin is recorded.
"""

import math

from .. import codes
from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.tables import work
from ..evaluate import blame, copy_state, in_tolerances
from ..guards import hold
from ..restart import answered, forget_rates, post
from ..state import MARGIN, SHOWN, SWITCH
from .crossing import note, note_graze, uncount
from .grazing import bend_along, dwell_time, other_word, rate_along, second_rate, tolerance_of_guard
from .leg import start_anew
from .refill import refill
from .verdict import jump_vanishes, verdict

SOON = 100.0  # steps for which a verdict on a graze holds at most


@core(entry=True)
def judge(table):
    """Answer s.ask.question (about the guard s.ask.about): GO_ON, a refusal, or a failed evaluation."""
    compact()
    w = work(table)
    s = w.s
    question = s.ask.question
    answered(s)
    blame(s, s.ask.about)  # (if it is refused)
    if question == codes.CHANGED:
        return start_anew(w)
    if question == codes.REFILL:
        return refill(w)
    if question == codes.NEAR:  # (that was inside the last step, and says nothing of the guards at hand)
        return near(w)
    if question == codes.BARELY:
        return barely_crossed(w, s.ask.about)
    s.ask.judged = 1
    if question != codes.STUCK and question != codes.TURNED:
        return crossed_back(w, s.ask.about)
    answer = stuck(w, s.ask.about) if question == codes.STUCK else turned_away(w, s.ask.about)
    return others_coming_back(w) if answer == codes.GO_ON else answer


@core
def stuck(w, j):
    """Guard j was crossed and is not being left: sliding, a corner that is not event-selected, or a graze.

    The crossing is undone if it was a graze that makes no difference.
    """
    compact()
    s, v, g, events = w.s, w.v, w.g, w.events
    if g.t_last[j] != s.now.t:
        g.held[j] = 0.0  # the trajectory stayed on the guard and now approaches it again: an ordinary approach
        return codes.GO_ON
    before, least, failed = other_word(w, j, j)
    if failed:
        return s.run.status
    rate, failed = rate_along(w, s.now.t, j, v.x, v.f, s.options.probe * s.next.dt)
    if failed:
        return s.run.status
    if g.b[j] * rate > least:
        bend, unsure = second_rate(w, j, v.f), tolerance_of_guard(w, s.now.t, v.x, j)
        if bend < 0.0 or unsure < 0.0:
            return s.run.status
        if 0.5 * rate * rate > unsure * bend:
            g.hdot[j] = rate  # it is being left, by more than a tolerance, and will be crossed back at once
            return codes.GO_ON
    if g.b[j] * before > least and g.b[j] * g.hdot[j] < -least:
        if s.options.may_slide == 1:
            post(s, codes.SLIDE, j)
            return codes.GO_ON
        vanishes = jump_vanishes(w, j)
        if vanishes < 0:
            return s.run.status
        if vanishes == 0:
            return slides(w, j)
        if g.b[j] * g.h[j] > 0.0:
            # (on its side, by what the landing has left: whether it is approached from there is seen later)
            g.held[j] = 0.0
            return codes.GO_ON
    answer = stays_or_crosses(w, j)
    if answer != codes.GO_ON:
        return answer
    # undo the crossing: the trajectory touched the guard and stays on its side
    for row in range(s.rows.events - 1, -1, -1):
        if events[row].guard == j and events[row].shown != MARGIN:
            if events[row].shown == SHOWN:
                uncount(w, j)
            events[row].shown = SWITCH
            break
    g.b[j] = -g.b[j]
    g.watched[j] = g.b[j]
    hold(w, j)
    g.t_last[j] = -math.inf
    note(w, s.now.t, j, g.b[j], g.h[j], SWITCH)
    note_graze(w, s.now.t, j, g.b[j], g.b[j] * g.h[j])
    copy_state(v.hop_stages[0], v.f)
    forget_rates(s)
    return codes.GO_ON


@core
def slides(w, j):
    """The code of a trajectory that cannot leave guard j, across which f jumps, to either side."""
    compact()
    s, g = w.s, w.g
    for k in range(g.width):
        if k != j and g.t_last[k] == s.now.t:
            return codes.NOT_EVENT_SELECTED
    # (at a terminal event it does not matter what would come after it)
    return codes.GO_ON if s.run.ended_by == j else codes.SLIDING


@core
def stays_or_crosses(w, j):
    """The verdict on guard j, which was crossed with hdot near zero, seen from the side before.

    The dwell time beyond the guard is uncertain by the time a parabola with the present h'' takes through the tolerance of h.
    """
    compact()
    s, v, g = w.s, w.v, w.g
    g.b[j] = -g.b[j]
    bend = second_rate(w, j, v.hop_stages[0])
    unsure = tolerance_of_guard(w, s.now.t, v.x, j)
    answer = s.run.status
    if unsure >= 0.0 and bend >= 0.0:
        s.verdict.margin = abs(g.h[j])
        dwell = min(dwell_time(unsure, bend), 2.0 * unsure / max(abs(g.hdot[j]), 1e-300))
        answer = verdict(w, s.now.t, v.x, j, bend, unsure, dwell)
    g.b[j] = -g.b[j]
    return answer


@core
def barely_crossed(w, j):
    """Guard j was crossed, and would have turned back soon: refuse if it may not have been crossed at all and does not come back.

    (If it does, that is judged when it is crossed back.) v.f_end is f before the crossing.
    """
    compact()
    g = w.g
    g.b[j] = -g.b[j]
    answer = from_before(w, j)
    g.b[j] = -g.b[j]
    return answer


@core
def from_before(w, j):
    """See `barely_crossed`: with the sign that guard j had before."""
    compact()
    s, v, g = w.s, w.v, w.g
    rate, failed = rate_along(w, s.now.t, j, v.x, v.f_end, s.options.probe * s.next.dt)
    if failed:
        return s.run.status
    bend, failed = bend_along(w, j, v.f_end)
    if failed:
        return s.run.status
    bend *= g.b[j]
    if g.b[j] * rate >= 0.0 or bend <= 0.0 or s.run.ended_by == j:
        return codes.GO_ON
    s.verdict.margin = 0.5 * rate * rate / bend
    unsure = tolerance_of_guard(w, s.now.t, v.x, j)
    if unsure < 0.0 or s.verdict.margin > unsure:
        return s.run.status if unsure < 0.0 else codes.GO_ON
    answer = verdict(w, s.now.t, v.x, j, bend, unsure, dwell_time(unsure, bend))
    if answer == codes.ESCAPES:
        note_graze(w, s.now.t, j, g.b[j], -s.verdict.margin)
    if answer == codes.GRAZING and g.jump[j] == 0.0:
        return codes.GO_ON
    return answer


@core
def turned_away(w, k):
    """Guard k, within the tolerance, recedes since another was crossed. If it was approached before, the corner is not
    event-selected."""
    compact()
    s, g = w.s, w.g
    last, soon = s.here.last, s.ask.soon
    if last < 0 or last == k or g.t_last[last] != s.now.t or s.now.t - g.t_last[k] <= 10.0 * soon:
        return codes.GO_ON
    if g.jump[last] != 0.0 or s.options.may_slide == 1:
        return codes.GO_ON  # (a jump may turn others away; and what slides is found out otherwise)
    before, least, failed = other_word(w, last, k)
    if failed:
        return s.run.status
    if g.watched[k] * before < -least and g.watched[k] * g.h[k] <= soon * -g.watched[k] * before:
        vanishes = jump_vanishes(w, last)
        if vanishes < 1:
            return codes.NOT_EVENT_SELECTED if vanishes == 0 else s.run.status
    return codes.GO_ON


@core
def others_coming_back(w):
    """A landing may end where another guard is a little beyond its surface and on its way back: a graze, if that is within its
    tolerance. (No shorter step would find it on the right side.)"""
    compact()
    s, v, g = w.s, w.v, w.g
    for k in range(g.width):
        s.verdict.margin = -g.watched[k] * g.h[k]
        if g.held[k] != 0.0 or s.verdict.margin <= 0.0 or g.watched[k] * g.hdot[k] <= 0.0:
            continue
        bend = second_rate(w, k, v.f)
        unsure = tolerance_of_guard(w, s.now.t, v.x, k)
        if bend < 0.0 or unsure < 0.0:
            return s.run.status
        if s.verdict.margin > unsure:
            continue
        answer = verdict(w, s.now.t, v.x, k, bend, unsure, dwell_time(unsure, bend))
        if s.rows.events < w.events.shape[0]:
            note_graze(w, s.now.t, k, g.b[k], -s.verdict.margin)
        hold(w, k)
        if answer != codes.GO_ON:
            blame(s, k)
            return answer
    return codes.GO_ON


@core
def near(w):
    """Guards came near at v.x_near and turned back: could they have been touched, and would that matter?"""
    compact()
    s, g = w.s, w.g
    answer = codes.GO_ON
    for k in range(g.width):
        if g.near_bend[k] > 0.0 and answer == codes.GO_ON:
            if s.rows.events + 2 > w.events.shape[0]:  # (hundreds may come near at once: the rest, when there is room)
                post(s, codes.NEAR, s.ask.about)
                return codes.EVENTS_FULL
            answer = came_near(w, k, g.near[k], g.near_bend[k])
            if answer != codes.GO_ON:
                blame(s, k)
        g.near_bend[k] = 0.0  # (all of them, also behind a refusal: the memory is used again)
    return answer


@core
def came_near(w, k, lowest, bend):
    """Guard k came as near as ``lowest`` with |h''| = bend: its margin is noted; refused where being beyond would matter."""
    compact()
    s, v, g = w.s, w.v, w.g
    when = s.ask.t
    if g.b[k] == 0.0:
        return codes.GO_ON  # (of a guard that is slid on, h is another function)
    unsure = tolerance_of_guard(w, when, v.x_near, k)
    if unsure < 0.0:
        return s.run.status
    if lowest > 10.0 * unsure:
        return codes.GO_ON
    dwell = dwell_time(max(unsure, lowest), bend)
    until = when + min(dwell, SOON * s.next.dt)
    if lowest > unsure:
        note(w, when, k, g.b[k], lowest, MARGIN)
        g.settled[k], g.settled_h[k] = until, lowest
        return codes.GO_ON
    s.verdict.margin = lowest
    answer = codes.GO_ON
    if when <= g.settled[k] and g.settled_h[k] <= unsure:
        s.verdict.effect, s.verdict.returns = 0.0, 1
    else:
        answer = verdict(w, when, v.x_near, k, bend, unsure, dwell)
    note_graze(w, when, k, g.b[k], lowest)
    if answer == codes.GO_ON and s.verdict.effect == 0.0:
        # (f has no jump there, which will not change soon)
        g.settled[k], g.settled_h[k] = until, lowest
    return answer


@core
def crossed_back(w, j):
    """Guard j was crossed back after the time s.ask.since: refuse if it may not have been crossed at all, and that matters."""
    compact()
    s, v, g, events = w.s, w.v, w.g, w.events
    for i in range(v.width):
        v.scratch[i] = v.f[i] - v.f_end[i]
    if in_tolerances(w, v.scratch, v.x, v.x) * s.ask.since <= 1.0:
        return codes.GO_ON
    # how deep it was, and how deep it would have been without what crossing it does (the force of a stiff contact,
    # say): a graze only if both are zero within the tolerance
    bend = second_rate(w, j, v.f)
    if bend < 0.0:
        return s.run.status
    s.verdict.margin = max(0.25 * s.ask.speed * s.ask.since, 0.5 * s.ask.speed * s.ask.speed / max(bend, 1e-300))
    unsure = tolerance_of_guard(w, s.now.t, v.x, j)
    if unsure < 0.0:
        return s.run.status
    if s.verdict.margin > unsure:
        return codes.GO_ON
    when = s.now.t - 0.5 * s.ask.since
    recorded_at(w, when, v.x_near)
    answer = verdict(w, when, v.x_near, j, bend, unsure, s.ask.since)
    note_graze(w, when, j, g.b[j], -s.verdict.margin)
    if answer != codes.GRAZING and answer != codes.ESCAPES:
        return answer
    # crossed repeatedly at ever shorter intervals, until they are below the tolerance?
    crossings = 0
    for row in range(max(s.rows.events - 40, 0), s.rows.events):
        if events[row].guard == j and events[row].shown != MARGIN and events[row].t > s.now.t - 20.0 * s.ask.since:
            crossings += 1
    return codes.CHATTERING if crossings >= 4 else answer


@core
def recorded_at(w, t, out):
    """out = the state at a time not long ago, on the straight line between the recorded ones before and after it.

    (Where a guard was beyond for a moment, that is as near to its surface as it is far from it.)
    """
    compact()
    steps, states = w.steps, w.states
    row = w.s.rows.records - 1
    while row > 1 and steps[row - 1].t > t:
        row -= 1
    before, after = steps[row - 1].t, steps[row].t
    part = (t - before) / (after - before) if after > before else 1.0
    for i in range(out.shape[0]):
        out[i] = states[row - 1, i] + part * (states[row, i] - states[row - 1, i])
