"""How fast the fastest mode is, and how long stiff steps could be: what A, or a few evaluations of f, tell before a step."""

import math

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..compiler.vectors import row_product
from ..evaluate import eval_f, in_tolerances

PAIRS = 6  # of products: most of them,
PAIRS_OF_CALLS = 3  # and most where each one takes an evaluation of f
STEADY = 0.2  # two rates that differ by no more than this part are equal


@core
def measure_rate(w):
    """s.stiff.rate = the size of the largest eigenvalue of A, to a digit or two; the vector of the iteration is kept."""
    compact()
    w.s.stiff.rate = power_iteration(w, w.stiff.rows.mode, w.stiff.rows.image, True)


@core
def measure_by_differences(w):
    """The same by differences of f at the present state. Returns the rate; negative if f failed."""
    compact()
    mode = w.v.hop_stages[0]
    for i in range(w.v.width):
        mode[i] = 0.0
    return power_iteration(w, mode, w.v.hop_stages[1], False)


@core
def power_iteration(w, mode, image, by_A):
    """The growth of a vector that is multiplied by Df again and again; negative if f failed.

    Pairs of products count: in an oscillation one maps positions to velocities, the next one back. The first pairs say little:
    a stiff spring makes large velocities of any positions, whatever mode they belong to.
    """
    compact()
    s, v = w.s, w.v
    n, product, rate = v.width, 1.0, 0.0
    for i in range(n):  # something of every component: the fastest mode may be another one now
        some = (0.3 + 0.1 * (i * 7 % 5)) * (v.atol[i] + s.options.rtol * abs(v.x[i]))
        mode[i] = 0.3 * mode[i] + (some if i % 2 == 0 else -some)
    for turn in range(2 * (PAIRS if by_A else PAIRS_OF_CALLS)):
        before = in_tolerances(w, mode, v.x, v.x)
        if by_A:
            for i in range(n):
                image[i] = row_product(w.stiff.A, i, 0, n, mode)
        elif difference(w, mode, 0.1 / before, image):
            return -1.0
        after = in_tolerances(w, image, v.x, v.x)
        if not 1e-300 < after < math.inf or before == 0.0:
            for i in range(n):
                mode[i] = 0.0
            return 0.0
        for i in range(n):
            mode[i] = image[i] / after
        if turn % 2 == 0:
            product = after / before
            continue
        last, rate = rate, math.sqrt(product * after / before)
        if turn > 3 and abs(rate - last) < STEADY * rate:
            break
    return rate


@core
def difference(w, mode, scale, image):
    """image = Df mode, by a difference over ``scale`` times mode. True if f failed."""
    compact()
    v = w.v
    for i in range(v.width):
        v.x_trial[i] = v.x[i] + scale * mode[i]
    if eval_f(w, w.s.now.t, v.x_trial, image):
        return True
    for i in range(v.width):
        image[i] = (image[i] - v.f[i]) / scale
    return False


@core
def natural_step(w):
    """The length of a stiff step whose error would be the tolerance, before one is taken: x''' is about A A x'."""
    compact()
    v, A, rows = w.v, w.stiff.A, w.stiff.rows
    for i in range(v.width):
        rows.before[i] = row_product(A, i, 0, v.width, v.f)
    for i in range(v.width):
        rows.image[i] = row_product(A, i, 0, v.width, rows.before)
    third = in_tolerances(w, rows.image, v.x, v.x)
    return 3.0 / max(third, 1e-300) ** (1.0 / 3.0) if third < math.inf else 0.0
