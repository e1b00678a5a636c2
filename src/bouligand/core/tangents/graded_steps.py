"""Where long steps are divided for perturbations: evenly, or with steps that grow as damped modes decay.

A perturbation excites all modes where it begins: at the start, and at each crossing. A damped one decays from there, and once it
is smaller than the tolerance its steps need not be accurate, only stable: what the slow modes then make of it is right anyhow
(over a decay at the rate a, the sum of its steps is 1/a exactly, whatever their length). Until then steps may grow as it decays.
So while stiff contacts hold, they may be as long as those of the trajectory itself. Modes that swing, or grow, always need
accurate steps.

What a step makes wrong of a damped mode decays with it, until the stretch ends; only as far as Df has changed in the meantime
other modes have got some of it. So such an error may be larger than the tolerance, by as much as will decay, but no more than
PARDON times.

A stretch is what the trajectory does in one mode; the rate for which steps must be accurate becomes smaller along it as modes
decay. It is tabulated at some places of the stretch, times since its begin in which modes are those that were sampled. Between
two places the density of steps, rate / longest step, is a straight line in its integral.
"""

import math

import numpy as np

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.tables import work
from ..schemes import METHODS, STIFF
from ..state import BACK, DAMPED, DENSITY_PLACES, SPAN, WORTH
from .long_steps import BEYOND

MARGIN = 1.5  # eigenvalues are sampled: by this factor they may be larger elsewhere
PLACES = np.concatenate([[0.0], np.geomspace(1e-4, 1.0, DENSITY_PLACES - 1)])  # parts of the longest place of a stretch
PARDON = 16.0  # errors of damped modes may be larger than the tolerance by this factor
_DOPRI5 = METHODS["dopri5"]


@core(entry=True)
def divide_steps(table):
    """division.times = the times at which long steps are divided, in order, as far as there is room; ``plan.count``: how many
    these are, ``plan.total``: how many steps that makes. ``kind`` of a stiff step becomes that of an explicit one where fewer of
    these do."""
    compact()
    w = work(table)
    steps, rows, plan, times = w.steps, w.tangents.division.rows, w.tangents.division.plan, w.tangents.division.times
    for sample in range(plan.samples):
        row = rows[w.tangents.division.samples[sample]]
        if not 0.0 < row.rate <= MARGIN * open_modes(w, sample):
            rows[row.begin].sample = -1  # it is not an eigenvalue that limits the step, but a change of Df
    order = highest_order(w)
    plan.total, plan.count, plan.longest = 1.0, 0, 0
    opened, fastest = -1, 0.0
    for q in range(1, rows.shape[0]):
        row, sample, scale = rows[q], -1, 1.0
        if row.long == 1 and plan.samples > 0:
            sample = rows[row.begin].sample
        if sample >= 0:
            if sample != opened:
                opened, fastest = sample, open_modes(w, sample)
                tabulate_rates(w, row.begin, fastest, order)
            scale = row.rate / fastest
            grade(w, q, fastest, scale)
        inner = int(row.parts) - 1
        if inner > 0 and plan.count + inner <= times.shape[0]:
            out = times[plan.count : plan.count + inner]
            if sample >= 0:
                divide_between(w, q, fastest, scale, out)
            else:
                divide_evenly(steps[q - 1].t, steps[q].t, row.parts, out)
        plan.count += inner
        plan.total += row.parts
        if row.parts > rows[plan.longest].parts:
            plan.longest = q


@core
def open_modes(w, sample):
    """rows.sizes and rows.decays = those of the modes at a sample. Returns the rate of the fastest."""
    compact()
    sizes, decays, values = w.tangents.rows.sizes, w.tangents.rows.decays, w.tangents.division.eigenvalues[sample]
    fastest = 0.0
    for i in range(w.v.width):
        real, imaginary = values[2 * i], values[2 * i + 1]
        sizes[i], decays[i] = math.hypot(real, imaginary), -real
        if abs(imaginary) > DAMPED * max(-real, 0.0):
            decays[i] = 0.0
        fastest = max(fastest, sizes[i])
    return fastest


@core(inline=True)
def kind_of_part(kind):
    """Of a recorded step, the kind of its parts."""
    base = kind % BACK
    return _DOPRI5 if base == SPAN else base


@core
def highest_order(w):
    """Of the steps that are graded."""
    compact()
    rows, order, highest = w.tangents.division.rows, w.tangents.division.limits.order, 0.0
    for q in range(1, rows.shape[0]):
        if rows[q].long == 1 and rows[rows[q].begin].sample >= 0:
            kind = kind_of_part(rows[q].kind)
            highest = max(highest, order[kind], order[_DOPRI5] if kind == STIFF else 0.0)
    return highest


@core
def tabulate_rates(w, begin, fastest, order):
    """division.density = places of the stretch that begins at a row, and the rates for which steps must be accurate there.

    The error of a step may be the tolerance; that of a mode which has decayed by a factor may be larger by this factor, so that
    steps grow like the ``order + 1``-th root of it, and by what is pardoned. A mode of which less than the tolerance is left
    counts no more."""
    compact()
    steps, rows, density = w.steps, w.tangents.division.rows, w.tangents.division.density
    places, rates = density[0], density[1]
    sizes, decays = w.tangents.rows.sizes, w.tangents.rows.decays
    longest, q = 0.0, begin + 1
    while q < rows.shape[0] and rows[q].begin == begin:
        if rows[q].long == 1:
            longest = max(longest, (steps[q].t - steps[begin].t) * (rows[q].rate / fastest))
        q += 1
    first, last, pardon = math.log(MARGIN), math.log(w.tangents.division.plan.rtol), math.log(PARDON)
    for j in range(DENSITY_PLACES):
        places[j], rate = longest * PLACES[j], 0.0
        for i in range(sizes.shape[0]):
            if sizes[i] > rate:
                left = first - places[j] * decays[i]
                if left >= last:
                    left -= min(longest * decays[i], pardon)
                    rate = max(rate, sizes[i] * math.exp(min(left, 0.0) / (order + 1.0)))
        rates[j] = min(MARGIN * rate, fastest)


@core(inline=True)
def ends_of(w, q, scale):
    """The places at which the step to a row begins and ends."""
    steps, since = w.steps, w.steps[w.tangents.division.rows[q].begin].t
    return (steps[q - 1].t - since) * scale, (steps[q].t - since) * scale


@core
def grade(w, q, fastest, scale):
    """``parts`` and ``kind`` of the step to a row of the stretch that is tabulated."""
    compact()
    row = w.tangents.division.rows[q]
    kind = kind_of_part(row.kind)
    row.parts = steps_between(w, q, kind, fastest, scale)
    if kind == STIFF:
        explicit = steps_between(w, q, _DOPRI5, fastest, scale)
        if explicit < row.parts:
            row.kind, row.parts = _DOPRI5, explicit


@core
def steps_between(w, q, kind, fastest, scale):
    """The number of steps of a kind that take the place of that to a row; one where it is accurate but for the factor WORTH."""
    compact()
    density, limits = w.tangents.division.density, w.tangents.division.limits
    accurate, stable = limits.accurate[kind], limits.stable[kind]
    first, last = ends_of(w, q, scale)
    exact, needed = 0.0, 0.0
    for j in range(DENSITY_PLACES - 1):
        part = overlap(density[0], j, first, last)
        if part > 0.0:
            exact += part * piece(density, j, accurate, 0.0)
            needed += part * piece(density, j, accurate, fastest / stable)
    if exact <= WORTH and (last - first) * fastest <= stable:
        return 1.0
    return max(float(math.ceil(min(needed, BEYOND))), 1.0)


@core
def divide_between(w, q, fastest, scale, out):
    """out = the times that divide the step to a row into steps of equal weight."""
    compact()
    density, limits, row = w.tangents.division.density, w.tangents.division.limits, w.tangents.division.rows[q]
    kind = kind_of_part(row.kind)
    accurate, least = limits.accurate[kind], fastest / limits.stable[kind]
    places, since, (first, last) = density[0], w.steps[row.begin].t, ends_of(w, q, scale)
    whole = 0.0
    for j in range(DENSITY_PLACES - 1):
        whole += overlap(places, j, first, last) * piece(density, j, accurate, least)
    passed, k, steps = 0.0, 0, out.shape[0] + 1
    for j in range(DENSITY_PLACES - 1):
        part = overlap(places, j, first, last)
        weight = part * piece(density, j, accurate, least)
        begin, width = max(places[j], first), part * (places[j + 1] - places[j])
        while k < out.shape[0] and weight > 0.0 and (k + 1.0) / steps * whole <= passed + weight:
            out[k] = since + (begin + width * ((k + 1.0) / steps * whole - passed) / weight) / scale
            k += 1
        passed += weight
    while k < out.shape[0]:  # (round-off)
        out[k] = since + last / scale
        k += 1


@core
def divide_evenly(begin, end, parts, out):
    """out = the times that divide a step into equal parts."""
    for k in range(out.shape[0]):
        out[k] = begin + (k + 1.0) / parts * (end - begin)


@core(inline=True)
def overlap(places, j, first, last):
    """The part of the way from a place to the next that is between two others."""
    width = places[j + 1] - places[j]
    return max(min(places[j + 1], last) - max(places[j], first), 0.0) / width if width > 0.0 else 0.0


@core(inline=True)
def piece(density, j, accurate, least):
    """The number of steps from a place to the next; their density is at least ``least``."""
    total = max(density[1, j] / accurate, least) + max(density[1, j + 1] / accurate, least)
    return 0.5 * total * (density[0, j + 1] - density[0, j])
