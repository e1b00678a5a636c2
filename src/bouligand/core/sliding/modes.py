"""Where a sliding mode, or rest, begins, ends or changes: which guards the trajectory stays on from there on. An entry.

The guards that the state is on are brought into a mode in which each is left, or stayed on. A guard towards which the flow points
on both sides is slid on; one whose multiplier is beyond -1 or +1 is left to that side; one that is approached, and left on the
other side, is crossed. On a contact that the state is on without a rate it rests if the force there presses, and is left if the
rate grows.
"""

from .. import codes
from ..compiler.intrinsics import address, call, compact
from ..compiler.jit import core
from ..compiler.tables import work
from ..evaluate import (
    blame,
    clear_bend,
    copy_state,
    count_f,
    eval_f,
    eval_h,
    failed,
    in_tolerances,
    let_stay,
    project_onto_guards,
)
from ..guards import BARELY, hold, rates
from ..restart import after_jump, answered, forget_A, new_field, no_first_step, no_landing, post
from ..state import NO_GUARD, SHOWN, SWITCH, WITH_CROSSING
from ..steps.crossing import note, too_often
from ..steps.sleep import wake
from .contacts import caught
from .field import NO_FORCE_STATUS, NOT_AFFINE_STATUS, TURNS_STATUS

BEYOND = 1e-9  # by which a multiplier is beyond 1 if it is
AT_FIRST = 0.01  # of a step, or a tenth of that of the time at rest: the first step behind it, which does not land on the contact
TOO_EARLY = 0.999  # multipliers below that are not at their limit
SHORTEST = 1e-9  # of the whole time: a step that is tried behind a change of the mode
MOST_CANDIDATES = 3**6  # modes that are tried one by one


@core(entry=True)
def slide(table):
    """Find the mode behind the crossing of guard s.ask.about, or behind the end of its sliding; behind a breakpoint (NO_GUARD).
    Returns GO_ON, a full table, or a failure."""
    compact()
    w = work(table)
    let_stay(w, True)
    code = change_mode(w)
    let_stay(w, w.s.here.kept > 0)
    return code


@core
def change_mode(w):
    """The same, with f and h that know sliding modes and rest."""
    compact()
    s, g = w.s, w.g
    if s.rows.events + 4 * g.width + 4 > w.events.shape[0]:
        post(s, codes.SLIDE, s.ask.about)  # (again, when there is room)
        return codes.EVENTS_FULL
    answered(s)
    j = s.ask.about
    blame(s, j)  # (if there is no mode)
    for k in range(g.width):
        # (Where two guards are at their limits together, none begins again because the other ends.)
        ended = (
            g.rest[k] == 0.0 and g.b[k] != 0.0 and s.now.t - g.t_ended[k] <= max(1e-9 * s.next.dt, 4e-16 * abs(s.now.t))
        )
        g.just_ended[k] = 1.0 if ended else 0.0
        g.b_before[k] = 0.0 if g.left[k] != 0.0 else g.b[k]
        g.left[k] = 0.0
        if g.b[k] == 0.0:
            hold(w, k)
            g.still[k] = g.rest[k]
    if s.options.dependent > 0 and wake(w):
        return s.run.status
    ends = j != NO_GUARD and g.b[j] == 0.0
    if ends and too_often(w, j):
        return codes.CHATTERING  # (it begins and ends at the same instant, over and over)
    if ends:
        code = find_multipliers(w)
        if code != codes.GO_ON:
            return code
        if g.rest[j] == 0.0 and abs(g.multiplier[j]) < TOO_EARLY and s.now.t < s.now.stop:
            return go_on_sliding(w)
        leave(w, j)
    found = 0
    for _ in range(g.width + 1):
        code = find_mode(w)
        if code == codes.GO_ON:
            code = begin(w, ends or j == NO_GUARD)
        if code != codes.GO_ON:
            return code
        # (moved onto the guards that it stays on, the state may have lost the rates of others)
        before, found = found, caught(w, j if ends else -1)
        if found < 0:
            return s.run.status
        for k in range(g.width):
            g.b_before[k] = g.b[k]
            g.still[k] = g.rest[k] if g.b[k] == 0.0 else g.still[k]
        # (and guards may matter now that a contact rests, or no longer as it has opened)
        if s.options.dependent > 0 and wake(w):
            return s.run.status
        if found == before and not some_woken(g):
            break
    for k in range(g.width):
        g.still[k], g.woken[k], g.b_before[k] = 0.0, 0.0, 0.0
    return codes.GO_ON


@core
def some_woken(g):
    """Whether some guard has been woken, or put to sleep."""
    compact()
    found = False
    for k in range(g.width):
        found = found or g.woken[k] != 0.0
    return found


@core
def go_on_sliding(w):
    """The end of a sliding mode was landed on too early, as events within a few digits left no step to land with: the next step
    is not to land. Returns a code."""
    compact()
    s, v, g = w.s, w.v, w.g
    for k in range(g.width):
        if g.b[k] == 0.0:
            g.held[k], g.still[k] = 0.0, 0.0
    s.next.dt = max(s.next.dt, min(SHORTEST * (s.now.tf - s.now.t0), s.now.stop - s.now.t))
    clear_bend(w)
    no_landing(s)
    new_field(w)
    return s.run.status if eval_f(w, s.now.t, v.x, v.f) else codes.GO_ON


@core
def find_multipliers(w):
    """g.multiplier = the multipliers of guards that are stayed on, and how fast the rates of other contacts change. Returns a
    code.

    Where nothing is left of g at the state itself (friction at the very instant at which a contact closes), those a little ahead.
    """
    compact()
    s, v, g, fn = w.s, w.v, w.g, w.fn
    count_f(s, 1)
    t = min(s.now.t, s.run.cap)
    status = call(fn.multipliers, t, (address(v.x), address(g.b), address(w.p), address(g.multiplier)), fn.context)
    unknown = False
    for k in range(g.width):
        unknown = unknown or (g.b[k] == 0.0 and g.rest[k] == 0.0 and not abs(g.multiplier[k]) < 1e300)
    if unknown and status == 0:
        if eval_f(w, s.now.t, v.x, v.f):
            return codes.F_FAILED
        ahead = min(1.0 / max(in_tolerances(w, v.f, v.x, v.x), 1e-300), 1e-3 * s.next.dt)
        for i in range(v.width):
            v.x_trial[i] = v.x[i] + ahead * v.f[i]
        t = min(s.now.t + ahead, s.run.cap)
        status = call(
            fn.multipliers, t, (address(v.x_trial), address(g.b), address(w.p), address(g.multiplier)), fn.context
        )
    if status == NOT_AFFINE_STATUS:
        return codes.NOT_AFFINE
    if status == NO_FORCE_STATUS:
        return codes.NO_FORCE
    if status == TURNS_STATUS:
        return codes.JUMP_TURNS
    if status != 0:
        failed(w, codes.F_FAILED, t, v.x)
        return codes.F_FAILED
    return codes.GO_ON


@core(inline=True)
def leave(w, k):
    """Sliding on guard k ends, to the side of its multiplier (g.multiplier); or rest."""
    g = w.g
    g.b[k] = 1.0 if g.multiplier[k] > 0.0 or g.rest[k] != 0.0 else -1.0
    g.just_ended[k] = 1.0


@core
def find_mode(w):
    """The mode of the guards that the state is on: of few, the first that is consistent, beginning with the present one.

    Returns a code.
    """
    compact()
    g = w.g
    candidates, none = 1, codes.NO_SLIDING_MODE
    for k in range(g.width):
        g.b_present[k] = g.b[k]
        if on_guard(w, k) and candidates <= MOST_CANDIDATES:
            candidates *= 3
    if candidates > MOST_CANDIDATES:
        return find_mode_of_many(w)
    for number in range(candidates):
        digits = number
        for k in range(g.width):
            if on_guard(w, k):
                g.b[k] = candidate(g, k, digits % 3)
                digits //= 3
        code = find_multipliers(w)
        if code == codes.NOT_AFFINE or code == codes.NO_FORCE:
            none = code  # (refused only if no other mode fits)
            continue
        if code != codes.GO_ON:
            return code
        if contradicted(w) < 0:
            k = pushed_into(w)
            if k == -1:
                return codes.GO_ON
            if k < -1:
                return w.s.run.status
    for k in range(g.width):
        g.b[k] = g.b_present[k]
    return none


@core(inline=True)
def on_guard(w, k):
    """Whether the state is on guard k, so that its mode is to be found. (Of one whose sliding has just ended it is known.)"""
    g = w.g
    may_stay = g.still[k] != 0.0 if g.jump[k] != 0.0 else w.s.options.may_slide == 1
    return may_stay and g.held[k] != 0.0 and g.observer[k] == 0.0 and g.just_ended[k] == 0.0 and g.asleep[k] == 0.0


@core(inline=True)
def candidate(g, k, digit):
    """The sign of guard k: the present one, then sliding, then the other side. A contact is open or at rest."""
    b = g.b_present[k]
    if g.rest[k] != 0.0:
        return b if digit == 0 else 1.0 if b == 0.0 else 0.0
    if b != 0.0:
        return b if digit == 0 else 0.0 if digit == 1 else -b
    return 0.0 if digit == 0 else 1.0 if digit == 1 else -1.0


@core(inline=True)
def contradicted(w):
    """The guard whose multiplier (g.multiplier) contradicts its mode most; -1: none.

    One that is slid on has a multiplier between -1 and 1; one at rest a force that presses, an open one a rate that grows.
    """
    g = w.g
    largest = 1e-300
    for i in range(w.v.width):
        largest = max(largest, 1e-3 * abs(w.v.f[i]))  # (of forces that balance only round-off is left)
    for k in range(g.width):
        if g.still[k] != 0.0:
            largest = max(largest, abs(g.multiplier[k]))
    worst, beyond = -1, BEYOND
    for k in range(g.width):
        off = 0.0
        if g.still[k] != 0.0 and g.just_ended[k] == 0.0:
            off = -g.multiplier[k] / largest
        elif g.b[k] == 0.0:
            off = abs(g.multiplier[k]) - 1.0
        if not off <= beyond:
            worst, beyond = k, off
    return worst


@core
def find_mode_of_many(w):
    """The same for many guards: one after the other is left, slid on or crossed, until nothing is wrong. Returns a code."""
    compact()
    s, v, g = w.s, w.v, w.g
    for _ in range(4 * g.width + 8):
        code = find_multipliers(w)
        if code != codes.GO_ON:
            return code
        k = contradicted(w)
        if k >= 0:
            blame(s, k)
            if g.still[k] != 0.0 and g.b[k] != 0.0:
                g.b[k] = 0.0
                continue
            if not abs(g.multiplier[k]) < 1e300 or g.just_ended[k] != 0.0:
                return codes.NO_SLIDING_MODE
            leave(w, k)
            continue
        k = pushed_into(w)
        if k == -1:
            return codes.GO_ON
        if k < -1:
            return s.run.status
        blame(s, k)
        # --- what does the flow do on the other side?
        g.b[k] = -g.b[k]
        if eval_h(w, s.now.t, v.x, g.h) or eval_f(w, s.now.t, v.x, v.f) or rates(w, False, 0.0):
            return s.run.status
        if g.b[k] * g.hdot[k] < 0.0:
            g.b[k] = 0.0
    return codes.NO_SLIDING_MODE


@core
def pushed_into(w):
    """A guard that the state is on, towards which the flow points: its number; -1: none; -2: a function failed."""
    compact()
    s, v, g = w.s, w.v, w.g
    if eval_h(w, s.now.t, v.x, g.h) or eval_f(w, s.now.t, v.x, v.f) or rates(w, False, 0.0):
        return -2
    for k in range(g.width):
        if on_guard(w, k) and g.still[k] == 0.0 and g.b[k] * g.hdot[k] < 0.0:  # (b is 0 where it slides)
            return k
    return -1


@core
def put_onto_guards(w):
    """Put the state onto the guards that it stays on; and onto contacts that it leaves from rest, so that no rate is left that
    leads back to them."""
    compact()
    s, v, g = w.s, w.v, w.g
    several = s.here.kept
    for k in range(g.width):
        if g.still[k] != 0.0 and g.b[k] != 0.0 and g.just_ended[k] == 0.0:
            g.b[k], g.still[k] = 0.0, 2.0
            several += 1
    if several > 0:
        project_onto_guards(w, s.now.t, v.x)
        copy_state(v.x, w.states[s.rows.records - 1])
    for k in range(g.width):
        if g.still[k] == 2.0:
            g.b[k] = 1.0


@core
def begin(w, ends):
    """Write what has changed to the event table, put the state onto the guards that it stays on, and evaluate all there.

    ``ends``: because sliding ends there, where f is continuous, or at a breakpoint; else because of a crossing, to which all
    other changes belong.
    """
    compact()
    s, v, g = w.s, w.v, w.g
    s.here.kept = 0
    for k in range(g.width):
        if g.b[k] == 0.0:
            s.here.kept += 1
            g.watched[k] = 1.0
            if g.b_before[k] != 0.0:
                if g.woken[k] > 0.0:  # (it was not crossed; but the sign before is read from the row before)
                    note(w, s.now.t, k, -g.b_before[k], g.h[k], SWITCH)
                note(w, s.now.t, k, 0.0, g.h[k], SWITCH)
                # (at the start: perturbations are projected there, not taken through a crossing)
                w.events[s.rows.events - 1].jumped = 1 if s.rows.records == 1 else 0
    for k in range(g.width):
        if g.woken[k] > 0.0 and g.b[k] != 0.0:
            g.watched[k] = g.b[k]  # (also if its sign is the one that it had while it was asleep)
        if g.b[k] != 0.0 and g.b[k] != g.b_before[k]:
            g.watched[k] = g.b[k] if g.asleep[k] == 0.0 else 0.0
            note(w, s.now.t, k, g.b[k], 0.0, SHOWN if g.woken[k] == 0.0 else SWITCH)
            # (where sliding ends by itself perturbations pass unchanged)
            w.events[s.rows.events - 1].jumped = 1 if ends else WITH_CROSSING
    if s.rows.records > 0:
        put_onto_guards(w)
    # (events within a few digits of each other leave no step from which rates could be told)
    s.next.dt = max(s.next.dt, min(SHORTEST * (s.now.tf - s.now.t0), s.now.stop - s.now.t))
    if eval_h(w, s.now.t, v.x, g.h) or eval_f(w, s.now.t, v.x, v.f) or rates(w, False, 0.0):
        return s.run.status
    rested = 0.0  # for how long, on a contact that opens now
    for k in range(g.width):
        if g.b[k] == 0.0:
            g.held[k] = 0.0
            g.t_last[k] = s.now.t
        elif g.just_ended[k] != 0.0 or g.still[k] != 0.0:
            if g.just_ended[k] != 0.0:
                g.t_ended[k] = s.now.t
            if g.just_ended[k] != 0.0 and g.rest[k] != 0.0:
                rested = max(rested, min(s.now.t - g.t_last[k], s.now.t - s.now.t0))
            hold(w, k)
            g.hdot[k] = g.b[k] * max(g.b[k] * g.hdot[k], BARELY)
            g.t_last[k] = -1e300
        g.just_ended[k] = 0.0
        g.b_before[k] = 0.0
        g.still[k] = 0.0
    after_jump(w, 1)
    forget_A(s)
    if rested > 0.0:
        # A contact opens with the third power of time: at first h is nothing but round-off, and so is its rate. (Not fresh: that
        # step is not to be made longer; f has no jump.)
        s.next.dt = max(AT_FIRST * s.next.dt, 0.1 * AT_FIRST * rested)
        no_landing(s)
        no_first_step(s)
    return codes.GO_ON
