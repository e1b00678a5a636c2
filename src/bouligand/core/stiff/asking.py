"""What the loop itself does about stiff steps: it looks for stiffness, and asks `stiff.entry` for all the rest.

That entry is compiled, and its address known, before A is at hand (`integration.stiff.provide`): who needs no stiff steps does
not wait for their machine code.
"""

from .. import codes
from ..compiler.intrinsics import call_entry, compact
from ..compiler.jit import core
from ..evaluate import in_tolerances
from ..restart import post
from ..schemes import table
from ..state import AT_HAND, NO_GUARD

LIMITED = 0.6  # of the longest stable step: from here on stability may limit explicit ones
EVERY = 8  # steps between two looks, at first
CHOOSE, STEP, LOOK_AT_A, LOOK_AGAIN = range(4)  # what the entry may be asked for


@core
def ask(w, task, length):
    """Ask the entry about a step of this length; its answers are s.stiff.error and, returned here, s.stiff.factor."""
    s = w.s
    s.stiff.task, s.stiff.length, s.stiff.factor = task, length, 0.0
    call_entry(w.fn.enter_stiff, w.address)
    return s.stiff.factor


@core(inline=True)
def cheap(w):
    """Whether A is at hand and costs no more than a few evaluations of f, whatever the number of states: that of a bridge."""
    return w.s.stiff.allowed == AT_HAND and w.tangents.jacobians.A != 0


@core
def look_for_stiffness(w, length):
    """After an explicit step, its last stage in v.x_trial: does stability limit the steps? Sets s.stiff.weigh_at."""
    compact()
    s, v = w.s, w.v
    if cheap(w):
        ask(w, LOOK_AT_A, length)
        return
    last = table.LAST[s.next.scheme]
    for i in range(v.width):
        v.scratch[i] = v.stages[last, i] - v.stages[last - 1, i]
        v.x_trial[i] = v.x_end[i] - v.x_trial[i]
    change, apart = in_tolerances(w, v.scratch, v.x, v.x_end), in_tolerances(w, v.x_trial, v.x, v.x_end)
    s.stiff.weigh_at = s.counts.steps + EVERY
    if not length * change > LIMITED * table.STABLE[s.next.scheme] * apart:
        return
    if s.stiff.allowed == AT_HAND:
        ask(w, LOOK_AGAIN, length)
    else:
        post(s, codes.WEIGH, NO_GUARD)
