"""Compiled: the inputs of a robot at a time and state, into MuJoCo's ctrl or onto the joints."""

import math

from ...core.compiler.intrinsics import call
from .table import CONSTANT, HOLD, NO_CONTROL, PD, core


@core(inline=True)
def set_inputs(r, t, x, p):
    """u into ctrl, or added to qfrc_applied where the file has no actuators. Returns the status of a feedback function."""
    if r.control.kind == NO_CONTROL:
        return 0
    u, dofs, applied = r.inputs, r.input_dofs, r.applied
    status = inputs_at(r, t, x, p, u)
    if status != 0:
        return status
    for i in range(dofs.shape[0]):
        applied[dofs[i]] += u[i]
    return 0


@core
def inputs_at(r, t, x, p, u):
    """u, of any control but none. Returns the status of a feedback function."""
    kind, count = r.control.kind, r.sizes.nu
    if kind == CONSTANT:
        row = interval(t, r.times)
        for i in range(count):
            u[i] = r.schedule[row, i]
    elif kind == HOLD:
        first = r.control.held + held_now(r, t)
        for i in range(count):
            u[i] = p[first + i]
    elif kind == PD:
        _towards_gait(r, t, x, u, p)
    else:
        for i in range(count):
            u[i] = 0.0
        status: int = call(r.control.function, t, (x, p, u), r.control.context)
        return status
    return 0


@core
def interval(t, times):
    """The number of the interval that t lies in: number i begins at time i, the first also holds before its time."""
    low, high = 0, times.shape[0]
    while high - low > 1:
        middle = (low + high) // 2
        if t >= times[middle]:
            low = middle
        else:
            high = middle
    return low


@core
def held_now(r, t):
    """Where the inputs of the present interval begin, among all that are held."""
    return r.sizes.nu * interval(t, r.times)


@core(inline=True)
def of_gait(t, gait):
    """The angle and the speed that a gait asks for. (A posture that is held needs no sines, a twentieth of f.)"""
    amplitude = gait.amplitude
    if amplitude == 0.0:
        return gait.centre, 0.0
    turn = 2.0 * math.pi * gait.frequency
    angle = turn * t + gait.phase
    return gait.centre + amplitude * math.sin(angle), amplitude * turn * math.cos(angle)


@core
def _towards_gait(r, t, x, u, p):
    """``kp (q_gait - q) + kd (v_gait - v)`` for each input, with q_gait = centre + amplitude sin(2 pi frequency t + phase)."""
    for i in range(r.gaits.shape[0]):
        gait = r.gaits[i]
        if gait.kp < 0:  # an input that is not held
            u[i] = 0.0
            continue
        wanted, speed = of_gait(t, gait)
        torque = p[gait.kp] * (wanted - x[gait.angle])
        torque += p[gait.kd] * (speed - x[gait.speed])
        u[i] = gait.factor * torque
