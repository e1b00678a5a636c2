"""The guards along a step: how fast they are approached, which is reached first, which was passed.

All functions use ``a = b h - level``: positive on the side where the trajectory is, zero where a landing aims (the guard,
or the edge of its band). A guard is being approached when ``b hdot < 0``. Guards that are not to be crossed have watched = 0.
"""

import math

from .compiler.jit import core
from .compiler.vectors import minimum
from .evaluate import eval_Dh, eval_h

NEVER = 1e300
BARELY = 1e-290  # in place of the rate of a guard that is just being left where sliding on it ends: it begins at zero, and grows

# The loops over all guards are the cost of a corner of many contacts beside f and h. They are written so that they become
# vector code: no branches, minima and counts only; which guard it was is searched afterwards, if anything was found.
BLOCK = 64
FEW = 8  # guards for which a plain loop is faster
QUICK = {"nnan", "nsz", "reassoc", "contract"}


@core(inline=True)
def rates(w, at_end, length):
    """hdot of every guard, at the present state (into g.hdot) or at the end of the step (into g.hdot_end).

    It is one difference of h along the flow, which includes guards that move with time and does not need Dh. Where the
    user gave Dh and the guards do not move, Dh f is used.
    """
    s, v, g = w.s, w.v, w.g
    t = s.now.t + (length if at_end else 0.0)
    x, k = (v.x_end, v.f_end) if at_end else (v.x, v.f)
    h, out = (g.h_end, g.hdot_end) if at_end else (g.h, g.hdot)
    if s.options.use_Dh == 1:
        if eval_Dh(w, t, x):
            return True
        for j in range(g.width):
            total = 0.0
            for i in range(v.width):
                total += w.Dh[j, i] * k[i]
            out[j] = total
        return False
    sigma = s.options.probe * s.next.dt
    if t + sigma > s.now.stop:
        sigma = within_leg(w, t, sigma)
    for i in range(v.width):
        v.x_trial[i] = x[i] + sigma * k[i]
    if eval_h(w, t + sigma, v.x_trial, g.h_trial):
        return True
    difference(g, h, out, 1.0 / sigma)
    return False


@core
def within_leg(w, t, sigma):
    """A difference in time that stays within the leg: backwards, or shorter where a breakpoint is near there too."""
    s = w.s
    behind = t - w.breaks[s.rows.breaks - 1] if s.rows.breaks > 0 else NEVER
    if sigma <= behind:
        return -sigma
    ahead = s.now.stop - t
    return 0.5 * ahead if ahead >= behind else -0.5 * behind


@core(inline=True)
def bias_of_rates(s, length):
    """How much of the change of hdot in a step of this length its differences may be off (see `rates`); 0 where none are taken.

    By half their step, if h bends evenly; four times that, since it need not.
    """
    sigma = s.options.probe * s.next.dt
    return 2.0 * sigma / length if s.options.use_Dh == 0 and s.now.t + length + sigma <= s.now.stop else 0.0


@core
def difference(g, h, out, scale):
    """out = (g.h_trial - h) * scale."""
    for k in range(g.width):
        out[k] = (g.h_trial[k] - h[k]) * scale


@core(fastmath=QUICK)
def arrivals(g, soon):
    """Into g.arrival: when each guard is reached if hdot stays constant. Returns how many are stuck or turned, see
    `first_arrival`."""
    odd = 0.0
    for k in range(g.width):
        b = g.watched[k]
        speed = b * g.hdot[k]
        a = b * g.h[k]
        comes = speed < 0.0
        free = g.held[k] == 0.0
        g.arrival[k] = (g.level[k] - a) / speed if comes & free else NEVER
        odd += 1.0 if (comes != free) & (comes | (a < soon * speed)) else 0.0
    return odd


@core
def smallest(g, row):
    """The smallest value of a row and its index: the minimum of each block, then a search in the block that has it."""
    m = g.width
    first, block = NEVER, -1
    for begin in range(0, m, BLOCK):
        lowest = minimum(row, begin, min(begin + BLOCK, m), NEVER)
        if lowest < first:
            first, block = lowest, begin
    if block >= 0:
        for k in range(block, min(block + BLOCK, m)):
            if row[k] == first:
                return first, k
    return NEVER, -1


@core
def first_arrival(g, soon):
    """The guard that is reached first if hdot stays constant: its arrival time and number.

    Also a guard that the trajectory is on and does not leave (stuck), and one that is nearer than the time ``soon`` but
    receding (turned: a crossing may have reversed its rate); -1 for none.
    """
    first, j, stuck, turned = NEVER, -1, -1, -1
    few = g.width <= FEW
    odd = 1.0
    if not few:
        odd = arrivals(g, soon)
        first, j = smallest(g, g.arrival)
    if odd > 0.0:
        for k in range(g.width):
            speed, a = g.watched[k] * g.hdot[k], g.watched[k] * g.h[k]
            if speed < 0.0:
                if g.held[k] != 0.0:
                    stuck = k
                elif few and g.level[k] - a > first * speed:
                    first, j = (g.level[k] - a) / speed, k
            elif g.held[k] == 0.0 and a < soon * speed:
                turned = k
    return first, j, stuck, turned


@core(fastmath=QUICK)
def arriving(g, time):
    """After `first_arrival`: how many guards are reached within a time, if hdot stays constant."""
    count = 0.0
    for k in range(g.width):
        count += 1.0 if g.arrival[k] < time else 0.0
    return count


@core
def refine_arrival(g, tau):
    """The first arrival by parabolas: from h and hdot now, and h at a state about ``tau`` ahead (in g.h_trial).

    A guard that the trajectory is on and leaves is included, if it returns.
    """
    first, j = NEVER, -1
    scale = 1.0 / (tau * tau)
    for k in range(g.width):
        b = g.watched[k]
        start = b * g.h[k] - g.level[k]
        end = b * g.h_trial[k] - g.level[k]
        speed = b * g.hdot[k]
        if b != 0.0 and end < 0.5 * start and (g.held[k] == 0.0 or (end < 0.0 and speed > BARELY)):
            bend = (end - start - speed * tau) * scale
            root = first_root(start, speed, bend)
            if root < first:
                first, j = root, k
    return first, j


@core(inline=True)
def first_root(start, speed, bend):
    """Smallest positive root of ``start + speed t + bend t^2``; NEVER if there is none."""
    inside = speed * speed - 4.0 * bend * start
    if inside < 0.0:
        return NEVER
    q = -0.5 * (speed - math.sqrt(inside)) if speed <= 0.0 else -0.5 * (speed + math.sqrt(inside))
    # with speed <= 0, q >= 0 and start/q is the nearer root; with speed > 0 the only positive root is q/bend
    if speed <= 0.0:
        return start / q if q > 0.0 else NEVER
    return q / bend if bend < 0.0 else NEVER


@core(inline=True, fastmath=QUICK)
def suspects(g, length, short):
    """How many guards, after a step of this length, are on the wrong side or may have been in between; and the sum of all h.

    "In between" is found in ``short`` steps only, by the parabola of each guard.
    """
    count, total = 0.0, 0.0
    ratio = length if short else 0.0
    for k in range(g.width):
        b = g.watched[k]
        total += g.h_end[k]
        end = b * g.h_end[k] - g.level[k]
        start = b * g.h[k] - g.level[k]
        fall = b * g.hdot[k] * ratio
        bend = end - start - fall
        dips = (fall < 0.0) & (-0.5 * fall < bend) & (fall * fall > 4.0 * bend * start)
        count += 1.0 if (((end < 0.0) & (b != 0.0)) | dips) else 0.0
    return count, total


@core(inline=True)
def passed(g, length, target, short, tiny):
    """After a step of this length: the guard passed first, and the time from the end of the step to it (negative: back).

    Candidates are guards on the wrong side at the end; ``target``, on whatever side; and, in a ``short`` step, guards
    whose parabola dips below zero inside the step although both ends are on the right side. A guard that the trajectory
    was on at the start is one only if it has clearly returned, not by the residual of its own landing. (In a step shorter
    than ``tiny`` that cannot be decided.) The third value is False if some h is not finite.
    """
    count, total = suspects(g, length, short)
    finite = abs(total) < math.inf
    if not finite or (count == 0.0 and target < 0):
        return NEVER, -1, finite
    if count <= 1.0 and target >= 0 and g.watched[target] * g.h_end[target] < g.level[target]:
        count = 0.0  # the target is the only candidate
    best, j = NEVER, -1
    scale = 1.0 / length
    for k in range(g.width if count > 0.0 else 1):
        if count == 0.0:
            k = target
        b = g.watched[k]
        end = b * g.h_end[k] - g.level[k]
        start = b * g.h[k] - g.level[k]
        speed = b * g.hdot[k]
        wrong = end < 0.0 and b != 0.0
        if wrong or k == target:
            if g.held[k] != 0.0 and k != target and (length < tiny or end >= start):
                continue
            slope = 2.0 * (end - start) * scale - speed
            if slope >= 0.0:
                if not wrong and g.held[k] != 0.0:
                    continue  # (it left the guard that it was on, and has not come back)
                slope = (end - start) * scale
            back = -end / slope if slope != 0.0 else 0.0
            if back < -length:
                back = -0.5 * length
            if back < best:
                best, j = back, k
        elif short and speed < 0.0 and g.held[k] == 0.0:
            # both ends on the right side: does it dip in between?
            bend = (end - start) * scale - speed
            if -0.5 * speed < bend and speed * speed * length > 4.0 * bend * start:
                back = length * first_root(start, speed * length, bend * length) - length
                if back < best:
                    best, j = back, k
    return best, j, finite


@core(fastmath=QUICK)
def none_wrong(g, row):
    """Whether no guard is on the wrong side where h is ``row``."""
    count = 0.0
    for k in range(g.width):
        b = g.watched[k]
        count += 1.0 if (b != 0.0) & (b * row[k] < g.level[k]) else 0.0
    return count == 0.0


@core
def wrong_at(g, row):
    """Of the guards on the wrong side where h is ``row``: the number of the one that a straight line from the start crosses
    first (-1: all are on the right side).
    """
    best, j = NEVER, -1
    if none_wrong(g, row):
        return j
    for k in range(g.width):
        b = g.watched[k]
        a = b * row[k] - g.level[k]
        start = b * g.h[k] - g.level[k]
        if a < 0.0 and b != 0.0 and (g.held[k] == 0.0 or a < start):
            where = start / (start - a) if start > 0.0 else 0.0
            if where < best:
                best, j = where, k
    return j


@core(inline=True)
def advance_guards(w):
    """h at the end of a step becomes the present h; a guard that the trajectory has left may be crossed again."""
    s, g = w.s, w.g
    for k in range(g.width):
        g.h[k] = g.h_end[k]
    kept = 0
    for q in range(s.here.held):
        k = int(g.held_list[q])
        if g.b[k] * g.h_end[k] > 0.0:
            g.held[k] = 0.0
        elif g.held[k] != 0.0:
            g.held_list[kept] = k
            kept += 1
    s.here.held = kept


@core(inline=True)
def hold_none(s):
    """The list of guards that are held is empty."""
    s.here.held = 0


@core(inline=True)
def hold(w, k):
    """The trajectory is on guard k, which cannot be crossed again before the trajectory has left it."""
    s, g = w.s, w.g
    if g.held[k] == 0.0:
        g.held[k] = 1.0
        if s.here.held < g.width:
            g.held_list[s.here.held] = k
            s.here.held += 1
