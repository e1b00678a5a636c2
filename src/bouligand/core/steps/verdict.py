"""The verdict on a graze: may the integration go on, although nobody can tell whether a guard was crossed?

Near a graze the trajectory spends a short time beyond the guard, or none. How much that changes the outcome depends on
the jump of f where a neighbouring trajectory, within the tolerances, just grazes the guard: where h and hdot are both
zero.

- The jump vanishes there (the force of a spring ends at depth zero, that of a damper at speed zero): the outcome
  depends on the depth without a break, and so continuously on the state, as anywhere else. Whichever side was computed
  is right to the tolerance.
- The jump is finite: the outcome changes like the square root of the depth, or, if the flow beyond the guard leads away
  from it, by something finite. That cannot be decided at this tolerance.
- The jump is finite, but the flow beyond the guard leads straight back and may slide on it (dry friction on a belt): what
  reaches the guard a little before slides to this very point and leaves it here, so that the outcome changes in proportion
  to the depth, as where the jump vanishes.

A jump that is smaller than what f changes by within the tolerances counts as none. As the tolerances shrink, that
vanishes and a finite jump stays.
"""

from .. import codes
from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..evaluate import copy_state, eval_f, eval_h, eval_jump, in_tolerances
from .grazing import rate_along, tolerance_of_guard

MOST_TURNS = 4  # of the iteration to the graze
FARTHEST = 3.0  # tolerances by which the state is moved onto the guard at most,
FARTHER = 100.0  # and from there to where hdot is zero
VANISHING = 1e-3  # of the jump beside a guard: what is left of it on the guard, if f does not jump across it


@core
def verdict(w, t, x, k, bend, unsure, dwell):
    """Guard k, on its side g.b[k], may be grazed near x, with |h''| = bend: GO_ON, GRAZING, ESCAPES, or a failed evaluation.

    ``dwell`` is the time that it may be beyond the guard. To be called after `tolerance_of_guard`, which gave
    ``unsure``. Leaves in s.verdict.effect what crossing it or not makes a difference of, in tolerances (0: no jump that can be
    told), and in s.verdict.returns whether a trajectory beyond the guard would come back.
    """
    compact()
    s = w.s
    s.verdict.effect, s.verdict.returns = 0.0, 1
    if w.g.jump[k] != 0.0:
        return verdict_on_jump(w, k, x)
    left = max(s.now.tf - t, dwell)
    copy_state(x, w.v.x_graze)
    if onto_guard(w, t, k, unsure, 0.0) < -FARTHEST:
        return s.run.status
    jump = jump_across(w, t, x, k)
    if jump < 0.0:
        return s.run.status
    if jump * left <= 1.0:
        return codes.GO_ON
    # --- on the guard, but not where it is grazed: what f changes by within the tolerances anyway
    spread = spread_of_f(w, t, x, k, jump)
    if spread < 0.0 or jump <= spread:
        return s.run.status if spread < 0.0 else codes.GO_ON
    # --- where it is grazed
    when, jump = to_graze(w, t, x, k, jump, bend, unsure, dwell)
    if jump < 0.0:
        return s.run.status
    if jump <= spread or jump * left <= 1.0:
        return codes.GO_ON
    back = comes_back(w, when, k, dwell)
    if back < 0:
        return s.run.status
    if s.options.may_slide == 1:
        # --- does the jump of f lead back to the guard? Then it would slide to where it leaves, which is here (however small the
        # jump is: the friction of a contact that is about to open)
        toward, failed = rate_along(w, when, k, w.v.x_graze, w.v.f_jump, 1.0 / jump)
        if not failed and w.g.b[k] * toward <= 0.0 and w.g.needs[k] > 0.0:
            # --- (what it needs may be beyond its own guard there, but is not at x)
            copy_state(x, w.v.x_graze)
            nearer = jump_across(w, t, x, k)
            if nearer == 0.0:
                return codes.GO_ON
            toward, failed = rate_along(w, t, k, x, w.v.f_jump, 1.0 / nearer)
            failed = failed or nearer < 0.0
            jump = nearer
        if failed:
            return s.run.status
        if w.g.b[k] * toward > 0.0:
            s.verdict.effect = jump * unsure / (w.g.b[k] * toward)
            return codes.GO_ON
    if back == 0 or jump * dwell > 1.0:
        spread = spread_of_f(w, when, x, k, jump)
        if spread < 0.0 or jump <= spread:
            return s.run.status if spread < 0.0 else codes.GO_ON
    s.verdict.effect, s.verdict.returns = jump * (dwell if back == 1 else left), back
    if back == 0:
        return codes.ESCAPES
    return codes.GO_ON if s.verdict.effect <= 1.0 or s.options.on_graze == 1 else codes.GRAZING


@core
def verdict_on_jump(w, k, x):
    """The same for a guard whose events change the state: by how much its jump would change x."""
    compact()
    s, v = w.s, w.v
    if eval_jump(w, k, x, v.x_graze):
        return s.run.status
    for i in range(v.width):
        v.scratch[i] = v.x_graze[i] - x[i]
    s.verdict.effect = in_tolerances(w, v.scratch, x, v.x_graze)
    # (on a contact on which it may rest, an impact without a rate changes nothing, and what is left of one is its rate)
    continuous = w.g.rest[k] != 0.0
    return codes.GO_ON if s.verdict.effect <= 1.0 or s.options.on_graze == 1 or continuous else codes.GRAZING


@core
def onto_guard(w, t, k, unsure, part):
    """Move v.x_graze to where h_k is zero, by the components that move h_k: within a few tolerances of where it began.

    The change is ``v.scratch``, of which ``part`` was applied before. Returns the part that then is; less than
    -FARTHEST: h failed.
    """
    compact()
    v, g = w.v, w.g
    for _ in range(3):
        if eval_h(w, t, v.x_graze, g.h_trial):
            return -2.0 * FARTHEST
        by = min(max(part + g.h_trial[k] / max(unsure, 1e-300), -FARTHEST), FARTHEST) - part
        if abs(by) <= 1e-12:
            break
        part += by
        for i in range(v.width):
            v.x_graze[i] -= by * v.scratch[i]
    return part


@core
def to_graze(w, t, x, k, jump, bend, unsure, dwell):
    """Move v.x_graze, on guard k, to the nearest state that just grazes it: hdot_k = 0, too. Its time, and the jump of f there.

    The state is moved along the jump of f itself, as the force of a contact would, for a short time, which changes the
    speed that the guard is approached with; or, where the jump does not change hdot, along the flow to where h_k turns.
    The jump is negative if a function failed.
    """
    compact()
    s, v, g = w.s, w.v, w.g
    sigma, part, when, moved = min(0.01 * dwell, 0.1 * s.next.dt), 0.0, t, 0.0
    rate, failed = rate_along(w, when, k, v.x_graze, v.f_here, sigma)
    for _ in range(MOST_TURNS):
        if failed:
            return when, -1.0
        if abs(rate) <= 1e-9 * bend * dwell:
            break
        # --- how much does hdot change, where the state moves along the jump by one tolerance?
        for i in range(v.width):
            v.x_moved[i] = v.x_graze[i] + v.f_jump[i] / jump
        if eval_f(w, when, v.x_moved, v.f_moved):
            return when, -1.0
        other, failed = rate_along(w, when, k, v.x_moved, v.f_moved, sigma)
        if failed:
            return when, -1.0
        by = rate / (rate - other) if other != rate else FARTHER
        before = rate
        if abs(moved + by) < FARTHER:
            moved += by
            for i in range(v.width):
                v.x_graze[i] += by * v.f_jump[i] / jump
        else:
            step = -rate / (g.b[k] * max(bend, 1e-300))
            if abs(when + step - t) > dwell:
                break
            for i in range(v.width):
                v.x_graze[i] += step * v.f_here[i]
            when += step
        part = onto_guard(w, when, k, unsure, part)
        if part < -FARTHEST:
            return when, -1.0
        jump = jump_across(w, when, x, k)
        if jump <= 0.0:
            break
        rate, failed = rate_along(w, when, k, v.x_graze, v.f_here, sigma)
        if abs(rate) > 0.5 * abs(before):
            break  # (no progress: it is as near as it gets)
    return when, -1.0 if failed else jump


@core
def jump_across(w, t, x, k):
    """The jump of f across guard k at v.x_graze, in tolerances (of x) per time; negative if f failed.

    f on both sides and the jump are left in v.f_here, [2] and [3].
    """
    compact()
    v, g = w.v, w.g
    failed = eval_f(w, t, v.x_graze, v.f_here)
    g.b[k] = -g.b[k]
    failed = failed or eval_f(w, t, v.x_graze, v.f_beyond)
    g.b[k] = -g.b[k]
    if failed:
        return -1.0
    for i in range(v.width):
        v.f_jump[i] = v.f_beyond[i] - v.f_here[i]
    return in_tolerances(w, v.f_jump, x, v.x_graze)


@core
def jump_vanishes(w, k):
    """Whether f has no jump across guard k, which was just crossed, where h_k is zero: 1, 0, or -1 if a function failed.

    What a landing has left of h_k may turn hdot round: the force of a damper on a light leg, which ends at h_k = 0, changes its
    own rate by thousands of times itself. But nobody slides on a guard across which f does not jump.
    """
    compact()
    s, v = w.s, w.v
    unsure = tolerance_of_guard(w, s.now.t, v.x, k)
    copy_state(v.x, v.x_graze)
    here = jump_across(w, s.now.t, v.x, k)
    if unsure < 0.0 or here < 0.0 or onto_guard(w, s.now.t, k, unsure, 0.0) < -FARTHEST:
        return -1
    there = jump_across(w, s.now.t, v.x, k)
    if there < 0.0:
        return -1
    return 1 if there <= VANISHING * here else 0


@core
def spread_of_f(w, t, x, k, enough):
    """How much f changes at v.x_graze, in tolerances per time, on either side of guard k, where the state changes by
    its tolerances.

    The largest of a few such changes, or the first that is ``enough``. Negative if f failed.
    """
    compact()
    v, g = w.v, w.g
    spread = 0.0
    for turn in range(4):
        for i in range(v.width):
            size = v.off[i]
            if v.scratch[i] != 0.0:
                size = v.scratch[i]
            elif (i * 7 + turn * 3) % 4 >= 2:
                size = -size
            v.x_moved[i] = v.x_graze[i] + (size if turn < 2 else -size)
        for side in range(2):
            g.b[k] = -g.b[k] if side == 1 else g.b[k]
            failed = eval_f(w, t, v.x_moved, v.f_moved)
            g.b[k] = -g.b[k] if side == 1 else g.b[k]
            if failed:
                return -1.0
            for i in range(v.width):
                v.f_moved[i] -= v.hop_stages[1 + side, i]
            spread = max(spread, in_tolerances(w, v.f_moved, x, v.x_graze))
            if spread >= enough:
                return spread
    return spread


@core
def comes_back(w, t, k, dwell):
    """Whether the flow beyond guard k, from v.x_graze, leads back to it: 1, 0 (it is pulled on), or -1 if a function failed.

    v.f_beyond is f there beyond the guard; g.b[k] is the side before.
    """
    compact()
    s, v, g = w.s, w.v, w.g
    sigma, b = min(0.01 * s.next.dt, dwell), g.b[k]
    if eval_h(w, t, v.x_graze, g.h_trial):
        return -1
    here = g.h_trial[k]
    for i in range(v.width):
        v.x_trial[i] = v.x_graze[i] + sigma * v.f_beyond[i]
    g.b[k] = -b
    failed = eval_f(w, t + sigma, v.x_trial, v.f_smooth)
    g.b[k] = b
    for i in range(v.width):
        v.x_trial[i] = v.x_graze[i] + 0.5 * sigma * (v.f_beyond[i] + v.f_smooth[i])
    if failed or eval_h(w, t + sigma, v.x_trial, g.h_trial):
        return -1
    once = g.h_trial[k]
    for i in range(v.width):
        v.x_trial[i] = v.x_graze[i] + 2.0 * sigma * v.f_smooth[i]
    if eval_h(w, t + 2.0 * sigma, v.x_trial, g.h_trial):
        return -1
    bend = (g.h_trial[k] - 2.0 * once + here) / (sigma * sigma)
    rate = (once - here) / sigma - 0.5 * sigma * bend
    return 1 if b * (rate + 0.5 * dwell * bend) > 0.0 else 0
