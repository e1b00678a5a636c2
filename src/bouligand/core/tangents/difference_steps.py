"""Steps of central differences, for Jacobians that are neither given nor exact: a guess, and tables to measure them by."""

import math

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.tables import work
from ..evaluate import copy_state, eval_f, eval_h, restore_status
from ..recorded import catch_up, no_cap, use_parameters
from ..state import OF_T, OF_X, STEP_RATIO

EPS = 2.2e-16


@core
def guess_steps(w):
    """For each state, each parameter and time, the step at which the error of a central difference is least if nothing but the
    trajectory is known; and the largest value of each state. The whole trajectory is open.

    Its round-off is ``eps |x| / step``, its truncation error ``(step / scale)^2``; the scale is how far the trajectory moves.
    """
    compact()
    s, v, out, largest, states = w.s, w.v, w.tangents.differences, w.tangents.rows.largest, w.states
    eps, n, last = EPS, v.width, states.shape[0] - 1
    for i in range(n):
        high, low = states[0, i], states[0, i]
        for q in range(1, last + 1):
            high, low = max(high, states[q, i]), min(low, states[q, i])
        most = max(high, -low)
        largest[i] = most
        scale = max(high - low, 10.0 * v.atol[i] / s.options.rtol)
        if scale == 0.0:
            scale = most if most > 0.0 else 1.0
        out[i] = (eps * (scale + most) * scale * scale) ** (1.0 / 3.0)
    for i in range(n, out.shape[0] - 1):
        size = abs(w.leg_p[0, i - n])
        out[i] = eps ** (1.0 / 3.0) * (size if size > 0.0 else 1.0)
    step = (s.now.tf - s.now.t0) / max(last, 1)
    out[out.shape[0] - 1] = (eps * max(abs(s.now.t0), abs(s.now.tf), step) * step * step) ** (1.0 / 3.0)
    copy_state(out, w.tangents.differences_h)


@core(entry=True)
def tabulate_differences(table, of_h, what, rows, columns, tops, scratch, out):
    """Central differences of f (or, with ``of_h``, of h) at some records, over the steps ``tops[i] / STEP_RATIO^q`` of column i.

    For each of the ``columns`` (of the states, of the parameters, or of time: ``what``) the three tables of ``out`` are filled:
    ``size[i, q]`` is the largest entry at step q over all these records, ``apart[i, q]`` the largest difference to the entry at
    the step before, and ``rounded[i, q]`` what rounding the function may have changed an entry by; infinite where a function
    failed or is not finite. ``scratch`` has three rows of workspace. g.b holds the word at the start, and is changed on the way.
    """
    compact()
    w = work(table)
    s, v, g = w.s, w.v, w.g
    ahead, behind, moved = scratch[0], scratch[1], scratch[2]
    size, apart, rounded = out[0], out[1], out[2]
    event, leg, count, first = 0, 0, g.width if of_h else v.width, g.h_trial if of_h else v.f_end
    no_cap(s)
    for row in rows:
        event, leg = catch_up(w, event, leg, row + 1)
        use_parameters(w, leg)
        copy_state(w.states[row], v.x)
        t = w.steps[row].t
        for i in columns:
            step, follows = tops[i] * STEP_RATIO, False
            for q in range(size.shape[1]):
                step /= STEP_RATIO
                if what == OF_T and meets_break(w, t - step, t + step):
                    continue
                gap = difference(w, of_h, what, i, t, step, ahead)
                largest, change, noise = 0.0, 0.0, 0.0
                for k in range(count):
                    slope = ahead[k] / gap if gap > 0.0 else math.inf
                    # (a value that some step has changed is rounded by others, even where these change it no more)
                    moved[k] = 1.0 if slope != 0.0 or (follows and moved[k] == 1.0) else 0.0
                    noise = max(noise, moved[k] * EPS * abs(first[k]) / gap if gap > 0.0 else math.inf)
                    fits = math.isfinite(slope)
                    largest = max(largest, abs(slope)) if fits else math.inf
                    change = max(change, abs(slope - behind[k])) if fits and math.isfinite(behind[k]) else math.inf
                    behind[k] = slope
                size[i, q], rounded[i, q] = max(size[i, q], largest), max(rounded[i, q], noise)
                if follows:
                    apart[i, q] = max(apart[i, q], change)
                follows = True


@core(inline=True)
def meets_break(w, low, high):
    """Whether there is a breakpoint, at which h may jump, between two times."""
    for moment in w.breaks:
        if low <= moment <= high:
            return True
    return False


@core(inline=True)
def difference(w, of_h, what, i, t, step, out):
    """out = the difference of f or h over 2 steps of state or parameter i, or of time. Returns that distance, as it was rounded;
    0 if there is none, or a function failed."""
    v, g, status = w.v, w.g, w.s.run.status
    varied = v.x if what == OF_X else w.p
    here = t if what == OF_T else varied[i]
    high, low = here + step, here - step
    first, second = (g.h_trial, g.h_end) if of_h else (v.f_end, v.second)
    if what == OF_T:
        bad = eval_h(w, high, v.x, first) or eval_h(w, low, v.x, second)
    else:
        varied[i] = high
        bad = eval_h(w, t, v.x, first) if of_h else eval_f(w, t, v.x, first)
        varied[i] = low
        bad = bad or (eval_h(w, t, v.x, second) if of_h else eval_f(w, t, v.x, second))
        varied[i] = here
    restore_status(w.s, status)
    if bad:
        return 0.0
    for k in range(first.shape[0]):
        out[k] = first[k] - second[k]
    return high - low
