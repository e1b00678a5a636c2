"""The judge: decides rare cases, above all whether the integration can continue. An entry of its own, compiled when needed.

The loop only detects such a case (a guard that is not being left, one that suddenly recedes, one that was barely touched) and
sets s.question. Sliding, grazing and corners that are not event-selected are refused by name; where the outcome cannot
change by more than the tolerance, the integration continues, and the margin is recorded.
"""

import math

from .. import codes
from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.tables import work
from ..evaluate import copy_state, in_tolerances
from ..guards import hold
from ..state import MARGIN, SHOWN, SWITCH
from .crossing import note, note_graze, uncount
from .grazing import bend_along, dwell_time, other_word, rate_along, second_rate, tolerance_of_guard
from .leg import start_anew
from .refill import refill
from .verdict import jump_vanishes, verdict

SOON = 100.0  # steps for which a verdict on a graze holds at most


@core(entry=True)
def judge(table):
    """Answer s.question (about the guard s.target): GO_ON, a refusal, or a failed evaluation."""
    compact()
    w = work(table)
    s = w.s
    question = s.question
    s.question = 0
    if question == codes.CHANGED:
        return start_anew(w)
    if question == codes.REFILL:
        return refill(w)
    if question == codes.NEAR:  # (that was inside the last step, and says nothing of the guards at hand)
        return near(w)
    if question == codes.BARELY:
        return barely_crossed(w, s.target)
    s.judged = 1
    if question != codes.STUCK and question != codes.TURNED:
        return crossed_back(w, s.target)
    answer = stuck(w, s.target) if question == codes.STUCK else turned_away(w, s.target)
    return others_coming_back(w) if answer == codes.GO_ON else answer


@core
def stuck(w, j):
    """Guard j was crossed and is not being left: sliding, a corner that is not event-selected, or a graze.

    The crossing is undone if it was a graze that makes no difference.
    """
    compact()
    s, v, g, events = w.s, w.v, w.g, w.events
    if g.t_last[j] != s.t:
        g.held[j] = 0.0  # the trajectory stayed on the guard and now approaches it again: an ordinary approach
        return codes.GO_ON
    before, least, failed = other_word(w, j, j)
    if failed:
        return s.status
    rate, failed = rate_along(w, s.t, j, v.x, v.f, s.probe * s.dt)
    if failed:
        return s.status
    if g.b[j] * rate > least:
        bend, unsure = second_rate(w, j, v.f), tolerance_of_guard(w, s.t, v.x, j)
        if bend < 0.0 or unsure < 0.0:
            return s.status
        if 0.5 * rate * rate > unsure * bend:
            g.hdot[j] = rate  # it is being left, by more than a tolerance, and will be crossed back at once
            return codes.GO_ON
    if g.b[j] * before > least and g.b[j] * g.hdot[j] < -least:
        if s.may_slide == 1:
            s.question = codes.SLIDE
            return codes.GO_ON
        vanishes = jump_vanishes(w, j)
        if vanishes < 0:
            return s.status
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
    for row in range(s.event_count - 1, -1, -1):
        if events[row].guard == j and events[row].shown != MARGIN:
            if events[row].shown == SHOWN:
                uncount(w, j)
            events[row].shown = SWITCH
            break
    g.b[j] = -g.b[j]
    g.watched[j] = g.b[j]
    hold(w, j)
    g.t_last[j] = -math.inf
    note(w, s.t, j, g.b[j], g.h[j], SWITCH)
    note_graze(w, s.t, j, g.b[j], g.b[j] * g.h[j])
    copy_state(v.hop_stages[0], v.f)
    s.rates_known = 0
    return codes.GO_ON


@core
def slides(w, j):
    """The code of a trajectory that cannot leave guard j, across which f jumps, to either side."""
    compact()
    s, g = w.s, w.g
    for k in range(g.width):
        if k != j and g.t_last[k] == s.t:
            return codes.NOT_EVENT_SELECTED
    # (at a terminal event it does not matter what would come after it)
    return codes.GO_ON if s.ending == 1 and s.ended_by == j else codes.SLIDING


@core
def stays_or_crosses(w, j):
    """The verdict on guard j, which was crossed with hdot near zero, seen from the side before.

    The dwell time beyond the guard is uncertain by the time a parabola with the present h'' takes through the tolerance of h.
    """
    compact()
    s, v, g = w.s, w.v, w.g
    g.b[j] = -g.b[j]
    bend = second_rate(w, j, v.hop_stages[0])
    unsure = tolerance_of_guard(w, s.t, v.x, j)
    answer = s.status
    if unsure >= 0.0 and bend >= 0.0:
        s.margin = abs(g.h[j])
        dwell = min(dwell_time(unsure, bend), 2.0 * unsure / max(abs(g.hdot[j]), 1e-300))
        answer = verdict(w, s.t, v.x, j, bend, unsure, dwell)
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
    rate, failed = rate_along(w, s.t, j, v.x, v.f_end, s.probe * s.dt)
    if failed:
        return s.status
    bend, failed = bend_along(w, j, v.f_end)
    if failed:
        return s.status
    bend *= g.b[j]
    if g.b[j] * rate >= 0.0 or bend <= 0.0 or (s.ending == 1 and s.ended_by == j):
        return codes.GO_ON
    s.margin = 0.5 * rate * rate / bend
    unsure = tolerance_of_guard(w, s.t, v.x, j)
    if unsure < 0.0 or s.margin > unsure:
        return s.status if unsure < 0.0 else codes.GO_ON
    answer = verdict(w, s.t, v.x, j, bend, unsure, dwell_time(unsure, bend))
    if answer == codes.ESCAPES:
        note_graze(w, s.t, j, g.b[j], -s.margin)
    if answer == codes.GRAZING and g.jump[j] == 0.0:
        return codes.GO_ON
    return answer


@core
def turned_away(w, k):
    """Guard k, within the tolerance, recedes since another was crossed. If it was approached before, the corner is not
    event-selected."""
    compact()
    s, g = w.s, w.g
    last, soon = s.last, s.soon
    if last < 0 or last == k or g.t_last[last] != s.t or s.t - g.t_last[k] <= 10.0 * soon:
        return codes.GO_ON
    if g.jump[last] != 0.0 or s.may_slide == 1:
        return codes.GO_ON  # (a jump may turn others away; and what slides is found out otherwise)
    before, least, failed = other_word(w, last, k)
    if failed:
        return s.status
    if g.watched[k] * before < -least and g.watched[k] * g.h[k] <= soon * -g.watched[k] * before:
        vanishes = jump_vanishes(w, last)
        if vanishes < 1:
            return codes.NOT_EVENT_SELECTED if vanishes == 0 else s.status
    return codes.GO_ON


@core
def others_coming_back(w):
    """A landing may end where another guard is a little beyond its surface and on its way back: a graze, if that is within its
    tolerance. (No shorter step would find it on the right side.)"""
    compact()
    s, v, g = w.s, w.v, w.g
    for k in range(g.width):
        s.margin = -g.watched[k] * g.h[k]
        if g.held[k] != 0.0 or s.margin <= 0.0 or g.watched[k] * g.hdot[k] <= 0.0:
            continue
        bend = second_rate(w, k, v.f)
        unsure = tolerance_of_guard(w, s.t, v.x, k)
        if bend < 0.0 or unsure < 0.0:
            return s.status
        if s.margin > unsure:
            continue
        answer = verdict(w, s.t, v.x, k, bend, unsure, dwell_time(unsure, bend))
        if s.event_count < w.events.shape[0]:
            note_graze(w, s.t, k, g.b[k], -s.margin)
        hold(w, k)
        if answer != codes.GO_ON:
            s.target = k
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
            if s.event_count + 2 > w.events.shape[0]:  # (hundreds may come near at once: the rest, when there is room)
                s.question = codes.NEAR
                return codes.EVENTS_FULL
            answer = came_near(w, k, g.near[k], g.near_bend[k])
            s.target = k if answer != codes.GO_ON else s.target
        g.near_bend[k] = 0.0  # (all of them, also behind a refusal: the memory is used again)
    return answer


@core
def came_near(w, k, lowest, bend):
    """Guard k came as near as ``lowest`` with |h''| = bend: its margin is noted; refused where being beyond would matter."""
    compact()
    s, v, g = w.s, w.v, w.g
    when = s.asked_t
    if g.b[k] == 0.0:
        return codes.GO_ON  # (of a guard that is slid on, h is another function)
    unsure = tolerance_of_guard(w, when, v.x_near, k)
    if unsure < 0.0:
        return s.status
    if lowest > 10.0 * unsure:
        return codes.GO_ON
    dwell = dwell_time(max(unsure, lowest), bend)
    until = when + min(dwell, SOON * s.dt)
    if lowest > unsure:
        note(w, when, k, g.b[k], lowest, MARGIN)
        g.settled[k], g.settled_h[k] = until, lowest
        return codes.GO_ON
    s.margin = lowest
    answer = codes.GO_ON
    if when <= g.settled[k] and g.settled_h[k] <= unsure:
        s.effect, s.returns = 0.0, 1
    else:
        answer = verdict(w, when, v.x_near, k, bend, unsure, dwell)
    note_graze(w, when, k, g.b[k], lowest)
    if answer == codes.GO_ON and s.effect == 0.0:
        # (f has no jump there, which will not change soon)
        g.settled[k], g.settled_h[k] = until, lowest
    return answer


@core
def crossed_back(w, j):
    """Guard j was crossed back after the time s.asked_value: refuse if it may not have been crossed at all, and that matters."""
    compact()
    s, v, g, events = w.s, w.v, w.g, w.events
    for i in range(v.width):
        v.scratch[i] = v.f[i] - v.f_end[i]
    if in_tolerances(w, v.scratch, v.x, v.x) * s.asked_value <= 1.0:
        return codes.GO_ON
    # how deep it was, and how deep it would have been without what crossing it does (the force of a stiff contact,
    # say): a graze only if both are zero within the tolerance
    bend = second_rate(w, j, v.f)
    if bend < 0.0:
        return s.status
    s.margin = max(0.25 * s.asked_bend * s.asked_value, 0.5 * s.asked_bend * s.asked_bend / max(bend, 1e-300))
    unsure = tolerance_of_guard(w, s.t, v.x, j)
    if unsure < 0.0:
        return s.status
    if s.margin > unsure:
        return codes.GO_ON
    when = s.t - 0.5 * s.asked_value
    recorded_at(w, when, v.x_near)
    answer = verdict(w, when, v.x_near, j, bend, unsure, s.asked_value)
    note_graze(w, when, j, g.b[j], -s.margin)
    if answer != codes.GRAZING and answer != codes.ESCAPES:
        return answer
    # crossed repeatedly at ever shorter intervals, until they are below the tolerance?
    crossings = 0
    for row in range(max(s.event_count - 40, 0), s.event_count):
        if events[row].guard == j and events[row].shown != MARGIN and events[row].t > s.t - 20.0 * s.asked_value:
            crossings += 1
    return codes.CHATTERING if crossings >= 4 else answer


@core
def recorded_at(w, t, out):
    """out = the state at a time not long ago, on the straight line between the recorded ones before and after it.

    (Where a guard was beyond for a moment, that is as near to its surface as it is far from it.)
    """
    compact()
    steps, states = w.steps, w.states
    row = w.s.record_count - 1
    while row > 1 and steps[row - 1].t > t:
        row -= 1
    before, after = steps[row - 1].t, steps[row].t
    part = (t - before) / (after - before) if after > before else 1.0
    for i in range(out.shape[0]):
        out[i] = states[row - 1, i] + part * (states[row, i] - states[row - 1, i])
