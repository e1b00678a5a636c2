"""The state inside a stiff step: its extension, from its stages (see `schemes.ros34pw2`)."""

from ..compiler.intrinsics import compact
from ..compiler.jit import core
from ..schemes.ros34pw2 import EXTENSION, STAGES


@core(inline=True)
def weight(q, theta):
    """The weight of stage q at theta of the step."""
    return theta * (EXTENSION[q, 0] + theta * (EXTENSION[q, 1] + theta * EXTENSION[q, 2]))


@core
def inside_stiff(v, theta, length, whole, out):
    """out = the state at ``theta`` (0 to 1) of a step that took ``whole``, its first part ``length``.

    What its end was moved by, onto a guard, is spread over the step.
    """
    compact()
    place, end = theta * whole / length, whole / length
    ramp = theta * theta * (3.0 - 2.0 * theta)
    for i in range(v.width):
        out[i] = v.x[i] + ramp * (v.x_end[i] - v.x[i])
    for q in range(STAGES):
        share = length * (weight(q, place) - ramp * weight(q, end))
        for i in range(v.width):
            out[i] += share * v.stages[q + 1, i]


@core
def end_derivatives(v, length):
    """v.second and v.third at the end of a step."""
    compact()
    for i in range(v.width):
        second, third = 0.0, 0.0
        for q in range(STAGES):
            second += (2.0 * EXTENSION[q, 1] + 6.0 * EXTENSION[q, 2]) * v.stages[q + 1, i]
            third += 6.0 * EXTENSION[q, 2] * v.stages[q + 1, i]
        v.second[i] = second / length
        v.third[i] = third / (length * length)
