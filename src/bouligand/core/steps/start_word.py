"""The word (mode) at the start if a guard is exactly zero there. An entry of its own, compiled when needed.

A word is consistent if the flow in that mode moves every such guard, within a short time, to the side that the word has
for it; or does not move it, where f is the same on both sides (a joint that rests on its limit: the force of its stop
begins at zero). One consistent word, or several under which f is the same: the first is used. None: the trajectory
would slide from the start on. Several others: the start is ambiguous, and the user has to give ``b0``. Of contacts on
which the trajectory may rest (`System(rest=)`) and that have no rate, `sliding.modes` finds out which are left.

A sign in ``b0`` settles the side of a guard. A 0 there says that an earlier integration ended on it: it must be zero then, as
far as the tolerances tell, and whether the trajectory stays on it is found out as where nothing was given.

Rows used: g.given marks guards whose sides ``b0`` settles, g.suspect the open ones, whose signs are looked for; g.moves_to has
the sides to which they move; g.b_found the first consistent word; v.second x' in that mode.
"""

from .. import codes
from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.tables import work
from ..evaluate import blame, copy_state, count_anew, eval_f, eval_h, nudge
from ..restart import post
from ..state import FOUND, GIVEN
from .sleep import sleep_at_start

MOST_OPEN = 10  # number of open guards up to which all 2^k words are tried
AT_ZERO = 10.0  # of what a tolerance of the state changes h by: a guard that b0 says is zero may be off by so much
MOST_PASSES = 50  # from all -1 or all +1, of more


@core(entry=True)
def find_word(table):
    """Decide the word at the start, where guards are zero (g.held).

    Returns GO_ON, NO_WORD, SEVERAL_WORDS (s.run.culprit is how many) or the code of a function that failed.
    """
    compact()
    w = work(table)
    s, g = w.s, w.g
    evaluated = s.counts.f_calls, s.counts.h_calls
    code = choose(w)
    count_anew(s, evaluated[0], evaluated[1])  # (those of the integration are counted)
    if code == codes.NO_WORD and s.options.may_slide == 1:
        for k in range(g.width - 1, -1, -1):
            if g.held[k] != 0.0 and g.given[k] == 0.0:
                g.b[k] = 1.0
                post(s, codes.SLIDE, k)
        code = codes.GO_ON
    for k in range(g.width):
        g.suspect[k] = 0.0
    s.options.word_given = FOUND if code == codes.GO_ON else 0
    return code


@core
def choose(w):
    """The same, without sliding from the start on."""
    compact()
    s, v, g = w.s, w.v, w.g
    code = look_at_given(w)
    if code != codes.GO_ON:
        return code
    if eval_f(w, s.now.t, v.x, v.f):
        return s.run.status
    scale = short_time(w)
    count = 0
    for k in range(g.width):
        g.suspect[k] = 0.0
        if g.held[k] != 0.0 and g.observer[k] == 0.0 and g.given[k] == 0.0:
            if g.rest[k] != 0.0:
                g.b[k] = 1.0  # (open: one that is approached has its event at once)
            else:
                g.suspect[k] = 1.0
                count += 1
    if contacts_without_rate(w, scale):
        return s.run.status
    if count > 0:
        code = try_all(w, count, scale) if count <= MOST_OPEN else iterate(w, scale)
        if code != codes.GO_ON:
            return code
    return s.run.status if sides_of_observers(w, scale) else codes.GO_ON


@core
def look_at_given(w):
    """g.given = 1 for guards whose sides ``b0`` settles. WRONG_WORD where one that it says is zero is not; a failure; GO_ON."""
    compact()
    s, v, g = w.s, w.v, w.g
    stays = False
    for k in range(g.width):
        g.given[k] = 1.0 if s.options.word_given == GIVEN and g.b[k] != 0.0 else 0.0
        stays = stays or g.b[k] == 0.0
    if not stays:
        return codes.GO_ON
    nudge(w, v.x, v.x, v.x_smooth)
    if eval_h(w, s.now.t, v.x_smooth, g.h_trial):
        return s.run.status
    for k in range(g.width):
        if g.b[k] == 0.0:
            if abs(g.h[k]) > AT_ZERO * abs(g.h_trial[k] - g.h[k]):
                blame(s, k)
                return codes.WRONG_WORD
            g.b[k] = 1.0
    if s.options.dependent > 0:  # (those that matter while a contact rests are looked at when that is known)
        sleep_at_start(w)
    return codes.GO_ON


@core
def short_time(w):
    """A short time of the problem, from the size of the state and of x' (v.f)."""
    s, v = w.s, w.v
    size, speed = 1e-3, 1e-9
    for i in range(v.width):
        size, speed = max(size, abs(v.x[i])), max(speed, abs(v.f[i]))
    scale = 1e-4 * size / speed
    return min(scale, 1e-4 * (s.now.tf - s.now.t0)) if s.now.tf > s.now.t0 else scale


@core
def contacts_without_rate(w, scale):
    """Mark the contacts at hand on which the trajectory may rest, and whose rates are zero within the tolerances: s.ask.question.
    True if f or h failed."""
    compact()
    s, v, g = w.s, w.v, w.g
    some = False
    for k in range(g.width):
        some = some or (g.held[k] != 0.0 and g.rest[k] != 0.0 and g.given[k] == 0.0)
    if not some:
        return False
    nudge(w, v.x, v.x, v.x_smooth)
    if rates_around(w, v.x, scale, g.near) or rates_around(w, v.x_smooth, scale, g.near_bend):
        return True
    for k in range(g.width - 1, -1, -1):
        open_contact = g.held[k] != 0.0 and g.rest[k] != 0.0 and g.given[k] == 0.0
        if open_contact and abs(g.near[k]) <= abs(g.near_bend[k] - g.near[k]):
            g.still[k] = 1.0
            post(s, codes.SLIDE, k)
    for k in range(g.width):
        g.near[k], g.near_bend[k] = 0.0, 0.0
    return False


@core
def rates_around(w, x, scale, out):
    """out = the rates of all guards at a state, by differences of fourth order along the flow. True if f or h failed."""
    compact()
    s, v, g = w.s, w.v, w.g
    if eval_f(w, s.now.t, x, v.f):
        return True
    for k in range(g.width):
        out[k] = 0.0
    for step, weight in ((1.0, 8.0), (-1.0, -8.0), (2.0, -1.0), (-2.0, 1.0)):
        for i in range(v.width):
            v.x_trial[i] = x[i] + step * scale * v.f[i]
        if eval_h(w, s.now.t + step * scale, v.x_trial, g.h_trial):
            return True
        for k in range(g.width):
            out[k] += weight * g.h_trial[k] / (12.0 * scale)
    return False


@core
def try_all(w, count, scale):
    """Try every word of the open guards. Returns a code; g.b is then the first that is consistent."""
    compact()
    s, g = w.s, w.g
    found, differ = 0, False
    for number in range(1 << count):
        place = count
        for k in range(g.width):
            if g.suspect[k] != 0.0:
                place -= 1
                g.b[k] = 1.0 if (number >> place) & 1 else -1.0
        answer = is_consistent(w, scale)
        if answer < 0:
            return s.run.status
        if answer == 1:
            differ = keep(w, found) or differ
            found += 1
    return decide(w, found, differ)


@core
def iterate(w, scale):
    """Follow the sides to which many open guards move, from all -1 and from all +1. Returns a code, as `try_all`."""
    compact()
    s, g = w.s, w.g
    found, differ = 0, False
    for begin in range(2):
        for k in range(g.width):
            if g.suspect[k] != 0.0:
                g.b[k] = 2.0 * begin - 1.0
        for _ in range(MOST_PASSES):
            if find_sides(w, scale):
                return s.run.status
            changes = False
            for k in range(g.width):
                if g.suspect[k] != 0.0 and g.moves_to[k] != 0.0 and g.moves_to[k] != g.b[k]:
                    g.b[k] = g.moves_to[k]
                    changes = True
            if not changes:
                break
        same_end = begin == 1
        for k in range(g.width):
            same_end = same_end and (g.suspect[k] == 0.0 or g.b[k] == g.h_before[0, k])
            g.h_before[0, k] = g.b[k]
        answer = 0 if same_end else is_consistent(w, scale)
        if answer < 0:
            return s.run.status
        if answer == 1:
            differ = keep(w, found) or differ
            found += 1
    return decide(w, found, differ)


@core
def keep(w, found):
    """The present word is consistent: keep it if it is the first that was ``found``, else say if f differs under the two."""
    v, g = w.v, w.g
    if found > 0:
        return not same(w, v.f, v.second)
    copy_state(v.f, v.second)
    for k in range(g.width):
        g.b_found[k] = g.b[k]
    return False


@core
def decide(w, found, differ):
    """The first word that was ``found``, if there is one, and if f does not ``differ`` under the others. A code."""
    s, g = w.s, w.g
    if found == 0:
        return codes.NO_WORD
    if differ:
        blame(s, found)
        return codes.SEVERAL_WORDS
    for k in range(g.width):
        if g.suspect[k] != 0.0:
            g.b[k] = g.b_found[k]
        g.b_found[k] = 0.0
    return codes.GO_ON


@core
def is_consistent(w, scale):
    """Whether the word g.b is: 1 or 0; -1 if f or h failed. v.f is then x' in that mode."""
    compact()
    s, v, g = w.s, w.v, w.g
    if find_sides(w, scale):
        return -1
    for k in range(g.width):
        if g.suspect[k] != 0.0 and g.moves_to[k] != 0.0 and g.moves_to[k] != g.b[k]:
            return 0
    for k in range(g.width):
        if g.suspect[k] != 0.0 and g.moves_to[k] == 0.0:  # it is not moved: f must be the same on both sides
            g.b[k] = -g.b[k]
            bad = eval_f(w, s.now.t, v.x, v.third)
            g.b[k] = -g.b[k]
            if bad:
                return -1
            if not same(w, v.f, v.third):
                return 0
    return 1


@core
def find_sides(w, scale):
    """g.moves_to = the signs of the open guards after the time ``scale`` in the mode g.b; 0 where rounding errors hide the sign.
    True if f or h failed."""
    compact()
    s, v, g = w.s, w.v, w.g
    if eval_f(w, s.now.t, v.x, v.f):
        return True
    for i in range(v.width):
        v.x_trial[i] = v.x[i] + scale * v.f[i]
    if eval_f(w, s.now.t + scale, v.x_trial, v.f_end):
        return True
    for i in range(v.width):
        bend = (v.f_end[i] - v.f[i]) / scale
        v.x_end[i] = v.x[i] + scale * v.f[i] + 0.5 * scale**2 * bend
        v.scratch[i] = v.x[i] + scale * (abs(v.f[i]) + scale * abs(bend))
    if eval_h(w, s.now.t + scale, v.x_end, g.h_trial) or eval_h(w, s.now.t + scale, v.scratch, g.h_end):
        return True
    for k in range(g.width):
        change = g.h_trial[k] - g.h[k]
        moves = abs(change) > max(1e-9 * abs(g.h_end[k]), 1e-300)
        g.moves_to[k] = 0.0 if not moves else 1.0 if change > 0.0 else -1.0
    return False


@core
def same(w, one, other):
    """Whether two values of x' are equal, to round-off."""
    largest, apart = 1e-300, 0.0
    for i in range(w.v.width):
        largest = max(largest, abs(one[i]), abs(other[i]))
        apart = max(apart, abs(one[i] - other[i]))
    return apart <= 1e-12 * largest


@core
def sides_of_observers(w, scale):
    """Observers that are zero are on the side to which they move, as where no guard is zero. True if f or h failed."""
    compact()
    s, v, g = w.s, w.v, w.g
    some = False
    for k in range(g.width):
        some = some or (g.held[k] != 0.0 and g.observer[k] != 0.0)
    if not some:
        return False
    if eval_f(w, s.now.t, v.x, v.f):
        return True
    for i in range(v.width):
        v.x_trial[i] = v.x[i] + scale * v.f[i]
    if eval_h(w, s.now.t + scale, v.x_trial, g.h_trial):
        return True
    for k in range(g.width):
        if g.held[k] != 0.0 and g.observer[k] != 0.0 and g.given[k] == 0.0:
            g.b[k] = 1.0 if g.h_trial[k] > 0.0 else -1.0
    return False
