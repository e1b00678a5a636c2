"""Which steps to take: explicit ones, or stiff ones where the stability of explicit ones would limit them.

Stability limits an explicit step to about three times the time of the fastest mode, 1 / rate. Stiff steps cost more each, and are
of order 3: they are worth their cost where the tolerance would let them be longer than that.

- Without A at hand, a cheap estimate of the rate from the last stages of a step is looked at every few steps; where that raises
  suspicion, the caller is asked (`codes.WEIGH`): the rate is measured (`weigh`), and Jacobians are provided.
- With A at hand, it decides after each event, too: x''' is about A A x', which tells the length of a stiff step. Where A is
  cheap (a bridge's own), its rate is looked at every few steps: at loose tolerances the cheap estimate sees nothing.
- Explicit steps at their limit leave something of the fast modes in the state, about a tolerance. The first stiff steps are
  as short, until that has decayed: only then their length tells whether they are worth their cost.
"""

from .. import codes
from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.tables import work
from ..evaluate import restore_status
from ..restart import answered
from ..schemes import STIFF, table
from ..state import AT_HAND
from .asking import EVERY, LIMITED, cheap
from .jacobian import after_f, renew, step_number
from .rate import measure_by_differences, measure_rate, natural_step

# length of a step times rate, where A is cheap and where it is not: from which on stiff steps are taken after an event,
WORTH, WORTH_IF_DEAR = 0.5, 4.0
# and below which they are not, of one behind the first few;
NOT_WORTH, NOT_WORTH_IF_DEAR = 1.0, 2.0
TOO_SHORT = 0.5  # the same of these, and of one that was rejected (the next may be longer again)
FEW = 3  # stiff steps until what explicit ones left has decayed
EVERY_OF_A = 6  # steps between two looks at A itself, at first,
LONGEST = 512  # and at most
SHORT = 3.0  # steps: legs up to there go on with the scheme that was used last
FAILED = -1.0  # instead of a factor: a function failed


@core
def look_again(w, length):
    """After an explicit step that looked like one that stability limits: ask A at its start. Sets s.stiff.weigh_at."""
    compact()
    s = w.s
    if renew(w):
        return  # (the Jacobian fails here: explicit steps go on)
    measure_rate(w)
    if length * s.stiff.rate > LIMITED * table.STABLE[s.next.scheme]:
        try_stiff_steps(s, length)
    else:
        later(w)


@core
def look_at_A(w, length):
    """The same after any explicit step where A is cheap, by A at its end, where f was evaluated last."""
    compact()
    s, v = w.s, w.v
    s.stiff.weigh_at = s.counts.steps + EVERY_OF_A
    if after_f(w, min(s.now.t + length, s.run.cap), v.x_end):
        return
    measure_rate(w)
    if length * s.stiff.rate > LIMITED * table.STABLE[s.next.scheme]:
        s.stiff.A_at = step_number(s, 1)
        try_stiff_steps(s, length)
    else:
        s.stiff.A_at = -1
        later(w)


@core(entry=True)
def weigh(pointer):
    """Answer codes.WEIGH: the same if stability limits explicit steps and stiff ones follow, for which the caller is to provide;
    GO_ON if not; F_FAILED if f fails near here (explicit steps go on, and find out)."""
    compact()
    w = work(pointer)
    s = w.s
    answered(s)
    restore_status(s, codes.GO_ON)
    rate = measure_by_differences(w)
    if rate * s.next.dt > LIMITED * table.STABLE[s.next.scheme]:
        s.stiff.allowed, s.stiff.rate = AT_HAND, rate
        try_stiff_steps(s, s.next.dt)
        return codes.WEIGH
    later(w)
    restore_status(s, codes.GO_ON)
    return codes.GO_ON if rate >= 0.0 else codes.F_FAILED


@core(inline=True)
def try_stiff_steps(s, length):
    """Go on with stiff steps; explicit ones had this length."""
    s.next.scheme, s.stiff.dt_explicit, s.stiff.run = STIFF, length, 0


@core(inline=True)
def later(w):
    """Look again later, and then still later."""
    s = w.s
    s.stiff.wait = min(max(2 * s.stiff.wait, 2 * EVERY_OF_A) if cheap(w) else max(2 * s.stiff.wait, 4 * EVERY), LONGEST)
    s.stiff.weigh_at = s.counts.steps + s.stiff.wait


@core
def choose_scheme(w, length):
    """After an event, with A at hand: stiff or explicit steps. Returns a factor by which to change the length at once, or 0."""
    compact()
    s = w.s
    if s.now.stop - s.now.t <= SHORT * s.next.dt and s.counts.steps > 0:
        return 0.0  # (a leg of few steps, as in a loop that holds its controls for a millisecond: A would cost more)
    if s.stiff.A_at == step_number(s, 0):
        return 0.0  # (chosen before: this is another trial)
    if renew(w):
        return FAILED
    measure_rate(w)
    s.stiff.run = 0
    if cheap(w):
        s.stiff.wait, s.stiff.weigh_at = 0, s.counts.steps + EVERY_OF_A
    natural = min(natural_step(w), s.options.dt_max)
    if not natural * s.stiff.rate > (WORTH if cheap(w) else WORTH_IF_DEAR):
        s.next.scheme = s.stiff.explicit
        return 0.0
    s.next.scheme = STIFF
    most = s.now.stop - s.now.t
    if s.step.tries == 0 and (
        natural < 0.5 * length or (length >= 0.999 * s.next.dt and min(natural, most) > 2.0 * length)
    ):
        s.next.reach = min(natural, most)
        return min(natural, most) / length
    return 0.0


@core
def after_stiff(w, error, following):
    """After a trial of a stiff step, with the length of the following one: go on with explicit ones if that is too short.

    Returns the length of the following step: that of the explicit ones before, if hardly any stiff one was accepted since.
    """
    compact()
    s = w.s
    if s.stiff.allowed != AT_HAND:
        return following
    few = s.stiff.run < FEW
    if error <= 1.0:
        s.stiff.run += 1
        if s.counts.steps % 4 == 0:
            measure_rate(w)
    not_worth = NOT_WORTH if cheap(w) else NOT_WORTH_IF_DEAR
    if following * s.stiff.rate >= (not_worth if error <= 1.0 and not few else TOO_SHORT):
        if not few:
            s.stiff.dt_explicit, s.stiff.wait = 0.0, 0
        return following
    if error > 1.0 and s.here.fresh == 1:
        return following
    s.next.scheme = s.stiff.explicit
    if s.stiff.dt_explicit > 0.0:
        following = max(following, s.stiff.dt_explicit)
        later(w)
    else:
        s.stiff.weigh_at = s.counts.steps + EVERY
    return following
