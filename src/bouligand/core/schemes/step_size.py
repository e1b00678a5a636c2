"""Step size control: what an error means for the length of the next step."""

from ..compiler.intrinsics import rough_power
from ..compiler.jit import core
from .table import ORDER, THREES, TWOS


@core(inline=True)
def step_factor(error, scheme):
    """The factor by which a step with this error (in tolerances) could be longer: ``error ** (-1 / order)``, to half a percent.

    A rough guess and one Newton step take a quarter of the time of a power, which would delay the next step.
    """
    order = ORDER[scheme]
    y = 0.966 * rough_power(error, -1.0 / order)
    power = 1.0  # y ** order
    for _ in range(TWOS[scheme]):
        power *= y * y
    for _ in range(THREES[scheme]):
        power *= y * y * y
    return y * ((order + 1.0) - error * power) / order
