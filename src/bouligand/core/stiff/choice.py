"""Which steps to take: explicit ones, or stiff ones where the stability of explicit ones would limit them.

Stability limits an explicit step to about three times the time of the fastest mode, 1 / rate. Stiff steps cost more each, and are
of order 3: they are worth their cost where the tolerance would let them be several times longer than that.

- Without A at hand, a cheap estimate of the rate from the last stages of a step is looked at every few steps; where that raises
  suspicion, the caller is asked (`codes.WEIGH`): it measures the rate and provides Jacobians.
- With A at hand, it decides after each event, too: x''' is about A A x', which tells the length of a stiff step.
"""

import math

from .. import codes
from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.tables import work
from ..evaluate import eval_f, in_tolerances
from ..schemes import STIFF, table
from ..state import AT_HAND
from .jacobian import measure_rate, natural_step, renew

WORTH = 4.0  # length of a step times rate from which on stiff steps are taken,
NOT_WORTH = 2.0  # and below which they are not;
SHORT = 3.0  # steps: legs up to there go on with the scheme that was used last
TOO_SHORT = 0.5  # the same, of one that was rejected (the next may be longer again)
SUSPECT = 1.0  # by the cheap estimate: stability may limit explicit steps
LIMITED = 2.0  # and by a measurement
EVERY = 8  # steps between two looks, at first
LONGEST = 4_096  # and at most
FAILED = -1.0  # instead of a factor: a function failed


@core
def look_for_stiffness(w, length):
    """After an explicit step, with the state of its last stage in v.x_trial: does stability limit the steps? Sets s.weigh_at."""
    compact()
    s, v = w.s, w.v
    last = table.LAST[s.scheme]
    for i in range(v.width):
        v.scratch[i] = v.stages[last, i] - v.stages[last - 1, i]
        v.x_trial[i] = v.x_end[i] - v.x_trial[i]
    change, apart = in_tolerances(w, v.scratch, v.x, v.x_end), in_tolerances(w, v.x_trial, v.x, v.x_end)
    s.weigh_at = s.step_count + EVERY
    if not length * change > SUSPECT * apart:
        return
    if s.stiffness != AT_HAND:
        s.question = codes.WEIGH
        return
    if renew(w):
        return  # (the Jacobian fails here: explicit steps go on)
    measure_rate(w)
    if length * s.rate > LIMITED:
        s.scheme, s.dt_explicit = STIFF, length
    else:
        later(s)


@core(inline=True)
def later(s):
    """Look again later, and then still later."""
    s.wait = min(4 * max(s.wait, EVERY), LONGEST)
    s.weigh_at = s.step_count + s.wait


@core
def choose_scheme(w, length):
    """After an event, with A at hand: stiff or explicit steps. Returns a factor by which to change the length at once, or 0."""
    compact()
    s = w.s
    if s.stop - s.t <= SHORT * s.dt and s.step_count > 0:
        return 0.0  # (a leg of few steps, as in a loop that holds its controls for a millisecond: A would cost more)
    if renew(w):
        return FAILED
    measure_rate(w)
    natural = min(natural_step(w), s.dt_max)
    if not natural * s.rate > WORTH:
        s.scheme = s.explicit
        return 0.0
    s.scheme = STIFF
    most = s.stop - s.t
    if s.tries == 0 and (natural < 0.5 * length or (length >= 0.999 * s.dt and min(natural, most) > 2.0 * length)):
        s.reach = min(natural, most)
        return min(natural, most) / length
    return 0.0


@core
def after_stiff(w, error, following):
    """After a trial of a stiff step, with the length of the following one: go on with explicit ones if that is too short.

    Returns the length of the following step: that of the explicit ones before, if no stiff one was accepted since.
    """
    compact()
    s = w.s
    if s.stiffness != AT_HAND:
        return following
    if error <= 1.0:
        s.dt_explicit, s.wait = 0.0, 0
    if error <= 1.0 and s.step_count % 4 == 0:
        measure_rate(w)
    if following * s.rate >= (NOT_WORTH if error <= 1.0 else TOO_SHORT):
        return following
    s.scheme = s.explicit
    if s.dt_explicit > 0.0:
        following = max(following, s.dt_explicit)
        later(s)
    else:
        s.weigh_at = s.step_count + EVERY
    return following


@core(entry=True)
def measure_by_differences(pointer):
    """The rate of the fastest mode at the present state, by a power iteration with differences of f; negative if f failed."""
    compact()
    w = work(pointer)
    s, v = w.s, w.v
    mode, image, product = v.hop_stages[0], v.hop_stages[1], 1.0
    for i in range(v.width):
        some = (0.3 + 0.1 * (i * 7 % 5)) * (v.atol[i] + s.rtol * abs(v.x[i]))
        mode[i] = some if i % 2 == 0 else -some
    for turn in range(6):
        size = in_tolerances(w, mode, v.x, v.x)
        for i in range(v.width):
            v.x_trial[i] = v.x[i] + 0.1 / size * mode[i]
        if eval_f(w, s.t, v.x_trial, image):
            return -1.0
        for i in range(v.width):
            mode[i] = 10.0 * size * (image[i] - v.f[i])
        after = in_tolerances(w, mode, v.x, v.x)
        if not 1e-300 < after < math.inf:
            return 0.0
        product = after / size if turn % 2 == 0 else product * after / size
        for i in range(v.width):
            mode[i] /= after
    return math.sqrt(product)
