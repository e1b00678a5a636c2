"""The paper's mode: bands of fixed width in front of the guards, in which the trajectory is projected."""

from ..compiler.jit import core
from ..restart import tried


@core(inline=True)
def set_levels(g):
    """With bands: aim at the edges of the bands that are still ahead. True inside a band: then aim at the guards themselves."""
    inside = False
    for k in range(g.width):
        a = g.watched[k] * g.h[k]
        if a > 1.001 * g.eps[k]:
            g.band[k] = g.eps[k]
        g.level[k] = 0.0
        if a > (1.0 + 1e-6) * g.band[k]:
            g.level[k] = g.band[k]
        elif g.watched[k] * g.hdot[k] < 0.0 and g.held[k] == 0.0 and g.band[k] > 0.0:
            inside = True
    if inside:
        for k in range(g.width):
            g.level[k] = 0.0
    return inside


@core
def shrink_bands(w):
    """Halve, and in the end remove, the bands around a trajectory that may recede inside them, so that it is integrated there."""
    s, g = w.s, w.g
    tried(s)
    for k in range(g.width):
        near = g.watched[k] * g.h[k]
        if near <= (1.0 + 1e-6) * g.band[k] and g.watched[k] * g.hdot[k] < 0.0:
            g.band[k] = 0.5 * near if near > 1e-3 * g.eps[k] else 0.0
