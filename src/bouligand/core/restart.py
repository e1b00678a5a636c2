"""Fields that are reset together: after a step, a crossing, a jump of the state, a change of f. One function for each occasion.

A new field that must be reset on such an occasion is added here, not at the places where the occasion arises.
"""

from .compiler.intrinsics import compact
from .compiler.jit import core
from .evaluate import clear_bend


@core(inline=True)
def new_field(w):
    """f or h may have changed: the guards' rates and the length of a first step are unknown."""
    s = w.s
    s.here.fresh, s.here.rates_known = 1, 0


@core(inline=True)
def new_leg(w):
    """f and h have changed, with time or with the parameters: what the caller changed is taken into account from here on."""
    s = w.s
    s.run.stale = 0
    forget_A(s)
    new_field(w)


@core(inline=True)
def after_crossing(w, j):
    """Guard j was crossed (-1: several were): f has changed, and nobody has judged the present state."""
    s = w.s
    s.here.last, s.ask.judged = j, 0
    new_field(w)


@core(inline=True)
def after_jump(w, known):
    """x has jumped, or stays on other guards than before: measurements along the way no longer hold.

    ``known`` is 1 where the guards' rates are those of the present state already; the judge has nothing to say about it then.
    """
    compact()
    s = w.s
    clear_bend(w)
    s.here.fresh, s.here.rates_known, s.ask.judged, s.ask.question = 1, known, known, 0
    s.landing.gap, s.next.reach = 0.0, 0.0


@core(inline=True)
def new_trial(s):
    """A trial step begins: it has no parts behind its first one, and nothing is known of its middle."""
    s.step.back, s.step.correction, s.landing.gap = 0.0, 0.0, 0.0
    s.step.middle_known, s.step.winding = 0, 0.0


@core(inline=True)
def forget_middle(s):
    """g.h_middle is used for something else."""
    s.step.middle_known = 0


@core(inline=True)
def step_taken(w):
    """A step was accepted."""
    s = w.s
    s.counts.steps += 1
    s.run.budget -= 1
    s.step.tries, s.ask.judged, s.landing.none = 0, 0, 0


@core(inline=True)
def count_rejection(s):
    """A trial was in vain."""
    s.counts.rejected += 1


@core(inline=True)
def refuse(s, dt):
    """A trial step is rejected; the next one is to be of this length."""
    s.next.dt = dt
    count_rejection(s)


@core(inline=True)
def forget_rates(s):
    """g.hdot is no longer that of the present state."""
    s.here.rates_known = 0


@core(inline=True)
def know_rates(s):
    """g.hdot is that of the present state."""
    s.here.rates_known = 1


@core(inline=True)
def post(s, question, about):
    """Pose a question about a guard (or NO_GUARD), to be answered before the next step."""
    s.ask.question, s.ask.about = question, about


@core(inline=True)
def answered(s):
    """The question is answered, or no longer matters."""
    s.ask.question = 0


@core(inline=True)
def no_first_step(s):
    """The next step goes on from the one before: what that has measured holds."""
    s.here.fresh = 0


@core(inline=True)
def no_landing(s):
    """The next step is not to land on a guard."""
    s.landing.none = 1


@core(inline=True)
def tried(s):
    """One more trial of the present step was in vain."""
    s.step.tries += 1


@core(inline=True)
def forget_growth(s):
    """How fast x'' changes is measured anew by the next hop."""
    s.hop.growth = 0.0


@core(inline=True)
def forget_A(s):
    """The Jacobian at hand is that of another state."""
    s.stiff.A_at = -1
