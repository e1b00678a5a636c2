"""What round-off hides: whether h is zero as far as the digits of the state tell."""

from .compiler.intrinsics import compact
from .compiler.jit import core
from .evaluate import eval_h

_STEP = 2.0**-24


@core
def shake(v):
    """v.x_trial = the state with every component changed, to either side, by about a tenth of a millionth of itself."""
    compact()
    for i in range(v.width):
        v.x_trial[i] = v.x[i] * (1.0 + _STEP * (1.0 + 0.1 * (i * 7 % 5)) * (1.0 if i % 2 == 0 else -1.0))


@core
def shaken_h(w, t):
    """g.h_trial = h at the shaken state, at a time that is changed as much: a guard that moves is known to the digits of t only.

    True if h failed.
    """
    compact()
    shake(w.v)
    return eval_h(w, time_beside(w, t), w.v.x_trial, w.g.h_trial)


@core(inline=True)
def time_beside(w, t):
    """A time near t on the same leg; t itself where the leg is too short for that."""
    s = w.s
    begins = w.breaks[s.rows.breaks - 1] if s.rows.breaks > 0 else s.now.t0
    before, after = t - _STEP * abs(t), t + _STEP * abs(t)
    return before if before > begins else after if after < min(s.run.cap, s.now.tf) else t


@core(inline=True)
def near_zero(g, k):
    """Whether h_k is zero to round-off, with h at the shaken state in g.h_trial: that scales down to round-off."""
    return abs(g.h[k]) <= round_off(g, k) + 1e-300


@core(inline=True)
def round_off(g, k):
    """What the last digits of the state and of time do to h_k, with h beside them in g.h_trial (`shaken_h`)."""
    return 8.0 * 2.2e-16 / _STEP * abs(g.h_trial[k] - g.h[k])


@core
def on_surface(w, k, tau):
    """Whether the present state is on guard k, which is ``tau`` ahead, to round-off. 1 yes, 0 no, -1: h failed.

    It is where no component of the state moves by more than a few units in the last place until then, or where h is zero as
    near as they tell. g.h_trial is used.
    """
    compact()
    v = w.v
    moves = False
    for i in range(v.width):
        moves = moves or abs(tau * v.f[i]) > 8.0 * 2.2e-16 * abs(v.x[i])
    if not moves:
        return 1
    if shaken_h(w, w.s.now.t):
        return -1
    return 1 if near_zero(w.g, k) else 0
