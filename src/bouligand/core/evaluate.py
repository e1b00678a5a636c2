"""Evaluations of the user's functions, and the size of a vector in tolerances.

Each returns True when the function failed; its arguments are then kept for the message.
"""

import math

from . import codes
from .compiler.intrinsics import address, apart, call, compact
from .compiler.jit import core


@core(inline=True)
def count_f(s, calls):
    """f was called, by this file or by a loop that does not come back to Python or to `eval_f` between its calls."""
    s.counts.f_calls += calls


@core(inline=True)
def count_anew(s, f_calls, h_calls):
    """Back to these counts, as before calls that do not belong to the integration."""
    s.counts.f_calls, s.counts.h_calls = f_calls, h_calls


@core(inline=True)
def eval_f(w, t, x, out):
    """out = f(t, x, b, p); before a breakpoint, as it is before the break."""
    compact()
    s, fn = w.s, w.fn
    t = min(t, s.run.cap)
    count_f(s, 1)
    if call(fn.f, t, (address(x), address(w.g.b), address(w.p), address(out)), fn.context) == 0:
        return False
    return failed(w, codes.F_FAILED, t, x)


@core(inline=True)
def eval_h(w, t, x, out):
    """out = h(t, x, p); on the leg before a breakpoint, h before the breakpoint."""
    compact()
    s, fn = w.s, w.fn
    t = min(t, s.run.cap)
    s.counts.h_calls += 1
    if call(fn.h, t, (address(x), address(w.p), address(out)), fn.context) == 0:
        return False
    return failed(w, codes.H_FAILED, t, x)


@core(inline=True)
def eval_fh(w, t, x, out):
    """out = f and g.h_end = h at the same state, by the user's function fh."""
    compact()
    s, g, fn = w.s, w.g, w.fn
    count_f(s, 1)
    s.counts.h_calls += 1
    arguments = (address(x), address(g.b), address(w.p), address(out), address(g.h_end))
    if call(fn.fh, t, arguments, fn.context) == 0:
        return False
    return failed(w, codes.F_FAILED, t, x)


@core(inline=True)
def eval_Dh(w, t, x):
    """w.Dh = the whole (m, n) matrix Dh(t, x, p)."""
    compact()
    fn = w.fn
    w.s.counts.Dh_calls += 1
    if call(fn.Dh, t, (address(x), address(w.p), address(w.Dh)), fn.context) == 0:
        return False
    return failed(w, codes.DH_FAILED, t, x)


@core
def eval_jump(w, k, x, out):
    """out = the state behind the jump of guard k alone, from x. (The function writes only what it changes.)"""
    compact()
    s, g, fn = w.s, w.g, w.fn
    if fn.jump_many != 0:
        before, g.fired[k] = g.fired[k], 1.0
        bad = eval_jumps(w, x, out)
        g.fired[k] = before
    else:
        copy_state(x, out)
        bad = call(w.jumps[k], s.now.t, (address(x), address(g.b), address(w.p), address(out)), fn.context) != 0
        bad = bad and failed(w, codes.JUMP_FAILED, s.now.t, x)
    if bad:
        blame(s, k)
    return bad


@core
def eval_jumps(w, x, out):
    """out = the state behind the jumps of all guards in g.fired, by the one function for them."""
    compact()
    s, g, fn = w.s, w.g, w.fn
    copy_state(x, out)
    arguments = (address(x), address(g.fired), address(g.b), address(w.p), address(out))
    if call(fn.jump_many, s.now.t, arguments, fn.context) == 0:
        return False
    return failed(w, codes.JUMP_FAILED, s.now.t, x)


@core
def project_onto_guards(w, t, x):
    """Move a state onto the guards that it slides on, as far as f can be evaluated there. (v.scratch is used.)"""
    compact()
    v, fn = w.v, w.fn
    arguments = (address(x), address(w.g.b), address(w.p), address(v.scratch))
    if call(fn.project, min(t, w.s.run.cap), arguments, fn.context) == 0:
        copy_state(v.scratch, x)


@core
def let_stay(w, stays):
    """From now on f and h know sliding modes and rest; or, where the trajectory stays on no guard, they are the user's own, which
    would give the same, in two thirds of the time for a small f."""
    compact()
    fn = w.fn
    if fn.f_staying != 0:
        fn.f = fn.f_staying if stays else fn.f_moving
        fn.h = fn.h_staying if stays else fn.h_moving


@core(inline=True)
def restore_status(s, status):
    """After trials whose failures do not matter."""
    s.run.status = status


@core(inline=True)
def blame(s, guard):
    """If something is refused or fails now, it is about this guard (NO_GUARD: about none)."""
    s.run.culprit = guard


@core
def failed(w, code, t, x):
    """Keep the time and state at which a function failed; returns True."""
    compact()
    apart()
    s, v = w.s, w.v
    s.run.status, s.run.t_failed = code, t
    for i in range(v.width):
        v.x_failed[i] = x[i]
    return True


@core(inline=True)
def in_tolerances(w, change, x, y):
    """Largest component of ``change`` in units of its tolerance, ``atol + rtol max(|x|, |y|)``; inf when not finite."""
    atol, rtol = w.v.atol, w.s.options.rtol
    largest = 0.0
    total = 0.0
    for i in range(w.v.width):
        ratio = abs(change[i]) / (atol[i] + rtol * max(abs(x[i]), abs(y[i])))
        total += ratio
        if ratio > largest:
            largest = ratio
    return largest if total < math.inf else math.inf


@core(inline=True)
def nudge(w, x, y, out):
    """out = x with every component moved by about its tolerance, to either side. (y is a state before, whose size counts too.)

    The change of h there shows, roughly and with one evaluation, which values of h are zero within the tolerance.
    """
    compact()
    s, v = w.s, w.v
    for i in range(v.width):
        size = v.atol[i] + s.options.rtol * max(abs(x[i]), abs(y[i]))
        out[i] = x[i] + (size if i % 3 == 0 else -0.7 * size)


@core
def clear_bend(w):
    """Behind a jump of x or x' nothing is known of higher derivatives: they are zero until the next step has measured them."""
    compact()
    v = w.v
    for i in range(v.width):
        v.second[i] = 0.0
        v.third[i] = 0.0
    w.s.hop.measured_over = 0.0


@core(inline=True)
def copy_state(source, target):
    """target = source, for two states: for a few numbers a loop is faster than a call of memcpy."""
    compact()
    for i in range(source.shape[0]):
        target[i] = source[i]
