"""The working memory of sliding modes, in the context (SPACE): what stands where."""

from numba import njit

from ..compiler.wrapping import NO_WRAPPERS
from ..state import DUAL


def layout(n, m, parameters):
    """Places, in numbers, of fields (behind a mode), dual numbers (t, x, p, h), a copy of the parameters with forces
    at rest; and the size of all."""
    fields = m
    duals = fields + 2 * n
    forces = duals + DUAL * (1 + n + max(parameters, 1) + m)
    return fields, duals, forces, forces + parameters


compiled_layout = njit(**NO_WRAPPERS)(layout)
