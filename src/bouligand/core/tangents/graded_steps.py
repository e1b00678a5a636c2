"""How many steps perturbations need where damped modes decay, and where: the integral of their density along a stretch.

See `derivative.damping`. A stretch is what the trajectory does in one mode; the rate for which steps must be accurate becomes
smaller along it as modes decay. It is tabulated at some places of each stretch, times since its begin. Between two places the
density of steps, rate / longest step, is a straight line in its integral.
"""

import math

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..schemes import METHODS, STIFF

_DOPRI5 = METHODS["dopri5"]


@core(entry=True)
def grade_steps(
    sizes, decays, places, order, margin, least, table, stable, worth, ends, stretch, kinds, rates, parts, times
):
    """``parts[q]`` = the number of steps from ``ends[0, q]`` to ``ends[1, q]`` of a stretch, and ``times`` = the places between
    them, those of all in order, as far as there is room. Returns how many of these there are.

    ``sizes``, ``decays``: of each eigenvalue of each stretch, its size and how fast it decays (0: not at all); a mode of which
    less than ``least`` is left (or ``margin``, a factor, less) counts no more. ``kinds``: of each step; a stiff one becomes an
    explicit one where that takes fewer. ``table``, ``stable``: for each kind the longest step that is accurate, and stable, in
    units of a mode's time; one step is enough if it is too long by less than ``worth``. ``rates``: work space, a row for each
    stretch.
    """
    compact()
    for s in range(sizes.shape[0]):
        rates_of_stretch(sizes[s], decays[s], places[s], order, margin, least, rates[s])
    count = 0
    for q in range(stretch.shape[0]):
        s, first, last = stretch[q], ends[0, q], ends[1, q]
        fastest = rates[s, places.shape[1]]
        parts[q] = steps_between(places[s], rates[s], fastest, table[kinds[q]], stable[kinds[q]], worth, first, last)
        if kinds[q] == STIFF:
            explicit = steps_between(places[s], rates[s], fastest, table[_DOPRI5], stable[_DOPRI5], worth, first, last)
            if explicit < parts[q]:
                kinds[q], parts[q] = _DOPRI5, explicit
        if parts[q] > 1 and count + parts[q] - 1 <= times.shape[0]:
            longest = table[kinds[q]], stable[kinds[q]]
            divide_between(places[s], rates[s], fastest, longest, first, last, times[count : count + parts[q] - 1])
        count += parts[q] - 1
    return count


@core
def rates_of_stretch(sizes, decays, places, order, margin, least, rates):
    """rates = the rate for which steps must be accurate at each place, and behind them that of the fastest mode, decayed or not.

    The error of a step may be the tolerance; that of a mode which has decayed by a factor may be larger by this factor, so that
    steps grow like the ``order + 1``-th root of it."""
    compact()
    fastest, count = 0.0, places.shape[0]
    begin, end = math.log(margin), math.log(least)
    for i in range(sizes.shape[0]):
        fastest = max(fastest, sizes[i])
    for j in range(count):
        rate = 0.0
        for i in range(sizes.shape[0]):
            if sizes[i] > rate:
                left = begin - places[j] * decays[i]
                if left >= end:
                    rate = max(rate, sizes[i] * math.exp(min(left, 0.0) / (order + 1.0)))
        rates[j] = min(margin * rate, fastest)
    rates[count] = fastest


@core
def steps_between(places, rates, fastest, accurate, stable, worth, first, last):
    """The number of steps between two places; one where it is accurate but for the factor ``worth``."""
    compact()
    exact, needed = 0.0, 0.0
    for j in range(places.shape[0] - 1):
        part = overlap(places, j, first, last)
        if part > 0.0:
            exact += part * piece(places, rates, j, accurate, 0.0)
            needed += part * piece(places, rates, j, accurate, fastest / stable)
    if exact <= worth and (last - first) * fastest <= stable:
        return 1
    return max(math.ceil(needed), 1)


@core
def divide_between(places, rates, fastest, longest, first, last, out):
    """out = the places that divide the way between two places into steps of equal weight."""
    compact()
    accurate, stable = longest
    whole = 0.0
    for j in range(places.shape[0] - 1):
        whole += overlap(places, j, first, last) * piece(places, rates, j, accurate, fastest / stable)
    passed, q, steps = 0.0, 0, out.shape[0] + 1
    for j in range(places.shape[0] - 1):
        part = overlap(places, j, first, last)
        weight = part * piece(places, rates, j, accurate, fastest / stable)
        begin, width = max(places[j], first), part * (places[j + 1] - places[j])
        while q < out.shape[0] and weight > 0.0 and (q + 1.0) / steps * whole <= passed + weight:
            out[q] = begin + width * ((q + 1.0) / steps * whole - passed) / weight
            q += 1
        passed += weight
    while q < out.shape[0]:  # (round-off)
        out[q] = last
        q += 1


@core(inline=True)
def overlap(places, j, first, last):
    """The part of the way from a place to the next that is between two others."""
    width = places[j + 1] - places[j]
    return max(min(places[j + 1], last) - max(places[j], first), 0.0) / width if width > 0.0 else 0.0


@core(inline=True)
def piece(places, rates, j, accurate, least):
    """The number of steps from a place to the next; their density is at least ``least``."""
    density = max(rates[j] / accurate, least) + max(rates[j + 1] / accurate, least)
    return 0.5 * density * (places[j + 1] - places[j])
