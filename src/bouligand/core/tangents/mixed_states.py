"""A vector in which all states are mixed, with components of different sizes and signs, so that it has some of each mode."""

from ..compiler.jit import core


@core(inline=True)
def mixed(i):
    """The component of state i, in the unit of that state."""
    size = 0.3 + 0.1 * (i * 7 % 5)
    return size if i % 2 == 0 else -size
