"""Which steps are too long for perturbations, into how many parts each is divided, and, where these are many, eigenvalues of Df.

The eigenvalues show whether the fastest modes are damped: then fewer parts do (see `graded_steps`).
"""

import math

from .. import codes
from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.tables import work
from ..evaluate import copy_state
from ..jacobians import jacobian
from ..recorded import cap_at_break, catch_up, use_parameters
from ..schemes import METHODS
from ..state import BACK, HOP, MOST_SAMPLES, SMALL, SPAN, WORTH
from .eigenvalues import eigenvalues_of

MANY = 1.5  # times as many steps after division: fewer might do, which the eigenvalues of Df show
FEW = 12.0  # parts of a stretch, of which eigenvalues, that take as long as some of them, would save a third at most
BEYOND = 1e12  # no step has more parts: that is more than is accepted
_DOPRI5 = METHODS["dopri5"]


@core(entry=True)
def find_long_steps(table):
    """Which steps of the record that is open are too long for perturbations: their ``long`` and ``parts``; and the
    eigenvalues of Df at ``plan.samples`` places. Returns a code.

    g.b holds the word at the start, and is changed along the way.
    """
    compact()
    w = work(table)
    rows, plan = w.tangents.division.rows, w.tangents.division.plan
    plan.samples = 0
    if count_parts(w) <= MANY * rows.shape[0] or w.v.width > SMALL:
        return codes.GO_ON
    mark_stretches(w)
    for _ in range(MOST_SAMPLES):
        if not choose_stretch(rows):
            break
    return sample_modes(w)


@core
def count_parts(w):
    """Into how many parts each step is divided; returns how many steps that makes. A hop, which is short, is replaced by a step
    of higher order first."""
    compact()
    steps, rows, accurate = w.steps, w.tangents.division.rows, w.tangents.division.limits.accurate
    rows[0].kind, rows[0].parts, rows[0].long = 0, 1.0, 0  # (no step leads to the start)
    total = 1.0
    for q in range(1, rows.shape[0]):
        row, base = rows[q], rows[q].kind % BACK
        length, bound = (steps[q].t - steps[q - 1].t) * row.rate, accurate[base]
        if HOP < base < SPAN and length > WORTH * bound:
            row.kind, bound = _DOPRI5, accurate[_DOPRI5]
        row.parts, row.long = 1.0, 0
        if length > WORTH * bound:
            row.parts, row.long = float(math.ceil(min(length / bound, BEYOND))), 1
        total += row.parts
    return total


@core
def mark_stretches(w):
    """Where the stretch of each step begins: at the start, at an event or a breakpoint. What a perturbation excites begins to
    decay there. And how many steps of it are too long, and how many more dividing them makes."""
    compact()
    steps, events, rows = w.steps, w.events, w.tangents.division.rows
    last, turn, begin = rows.shape[0] - 1, 0, 0
    for q in range(last + 1):
        rows[q].sample, rows[q].more, rows[q].many = 0, 0.0, 0
    rows[0].sample = 1
    for q in range(events.shape[0]):
        rows[events[q].record].sample = 1
    for moment in w.breaks:
        while turn < last and steps[turn].t < moment:
            turn += 1
        rows[turn].sample = 1  # (at the last row nothing begins)
    for q in range(1, last + 1):
        if rows[q - 1].sample == 1:
            begin = q - 1
        rows[q - 1].sample = -1
        rows[q].begin = begin
        if rows[q].long == 1:
            rows[begin].more += rows[q].parts - 1.0
            rows[begin].many += 1


@core(inline=True)
def choose_stretch(rows):
    """Choose, of the stretches that are not chosen, the one that gets the most steps by division. False: none gets many."""
    best, most = -1, 0.0
    for q in range(rows.shape[0] - 1):
        if rows[q].sample < 0 and rows[q].more > most:
            best, most = q, rows[q].more
    if most < FEW:
        return False
    rows[best].sample = 0
    return True


@core
def sample_modes(w):
    """The eigenvalues of Df in each stretch that was chosen, at the start of the middle one of its long steps, or before, where
    the rate of that one was measured. Returns a code. (Where they are not found, nothing is known of the modes: its steps are
    divided evenly.)"""
    compact()
    s, v, rows, plan = w.s, w.v, w.tangents.division.rows, w.tangents.division.plan
    Df, memory, eigenvalues = w.tangents.Df, w.tangents.rows.image, w.tangents.division.eigenvalues
    event, leg, count = 0, 0, 0
    for begin in range(rows.shape[0] - 1):
        if rows[begin].sample < 0:
            continue
        row, left = begin, rows[begin].many // 2 + 1
        while left > 0:
            row += 1
            left -= rows[row].long
        while row > begin + 1 and rows[row].measured == 0:
            row -= 1
        event, leg = catch_up(w, event, leg, row)
        use_parameters(w, leg)
        cap_at_break(w, row)
        copy_state(w.states[row - 1], v.x)
        t = min(w.steps[row - 1].t, s.run.cap)
        if jacobian(w, w.tangents.jacobians.Df, v.x, w.tangents.differences, Df, t, v.x):
            return s.run.status
        rows[begin].sample = -1
        if not eigenvalues_of(Df, memory, eigenvalues[count]):
            rows[begin].sample, w.tangents.division.samples[count] = count, row
            count += 1
    plan.samples = count
    return codes.GO_ON
