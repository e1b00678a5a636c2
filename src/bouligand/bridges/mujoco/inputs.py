"""Compiled: the inputs of a robot at a time and state, into MuJoCo's ctrl or onto the joints."""

import math

from ...core.compiler.intrinsics import call, read, read_int, write
from ...core.compiler.jit import core
from . import layout as at


@core
def set_inputs(w, t, x, p):
    """u into ctrl, or added to qfrc_applied where the file has no actuators. Returns the status of a feedback function."""
    kind = read_int(w, at.CONTROL)
    if kind == at.NO_CONTROL:
        return 0
    u, count = read_int(w, at.INPUTS), read_int(w, at.NU)
    status = inputs_at(w, t, x, p, u)
    if status != 0:
        return status
    dofs = read_int(w, at.INPUT_DOFS)
    if dofs != 0:
        applied = read_int(w, at.APPLIED)
        for i in range(count):
            dof = read_int(dofs, i)
            write(applied, dof, read(applied, dof) + read(u, i))
    return 0


@core
def inputs_at(w, t, x, p, u):
    """u, of any control but none. Returns the status of a feedback function."""
    kind, count = read_int(w, at.CONTROL), read_int(w, at.NU)
    table, size = read_int(w, at.CONTROL_TABLE), read_int(w, at.CONTROL_SIZE)
    if kind == at.CONSTANT or kind == at.HOLD:
        # (rows of inputs: behind the times in the table, or in p)
        rows = table + 8 * size if kind == at.CONSTANT else p + 8 * read_int(w, at.HELD)
        first = count * interval(t, table, size)
        for i in range(count):
            write(u, i, read(rows, first + i))
    elif kind == at.PD:
        _towards_gait(t, x, table, size, u, count, p)
    else:
        for i in range(count):
            write(u, i, 0.0)
        status: int = call(read_int(w, at.CONTROL_FN), t, (x, p, u), read_int(w, at.CONTROL_CTX))
        return status
    return 0


@core
def interval(t, times, size):
    """The number of the interval that t lies in: number i begins at time i, the first also holds before its time."""
    low, high = 0, size
    while high - low > 1:
        middle = (low + high) // 2
        if t >= read(times, middle):
            low = middle
        else:
            high = middle
    return low


# columns of an input's row in the table of a PD: indices of its angle and speed in x, of kp and kd in p, a factor from torque to
# input, then a gait: frequency, and (centre, amplitude, phase)
Q_INDEX, V_INDEX, KP, KD, FACTOR, FREQUENCY, CENTRE, AMPLITUDE, PHASE = range(9)
PD_COLUMNS = 9


@core(inline=True)
def of_gait(t, row):
    """The angle and the speed that a row of the table asks for. (A posture that is held needs no sines, a twentieth of f.)"""
    amplitude = read(row, AMPLITUDE)
    if amplitude == 0.0:
        return read(row, CENTRE), 0.0
    turn = 2.0 * math.pi * read(row, FREQUENCY)
    angle = turn * t + read(row, PHASE)
    return read(row, CENTRE) + amplitude * math.sin(angle), amplitude * turn * math.cos(angle)


@core
def _towards_gait(t, x, table, size, u, count, p):
    """``kp (q_gait - q) + kd (v_gait - v)`` for each input, with q_gait = centre + amplitude sin(2 pi frequency t + phase)."""
    for i in range(count):
        row = table + 8 * PD_COLUMNS * i
        kp = read(row, KP)
        if kp < 0.0:  # an input that is not held
            write(u, i, 0.0)
            continue
        wanted, speed = of_gait(t, row)
        torque = read(p, int(kp)) * (wanted - read(x, int(read(row, Q_INDEX))))
        torque += read(p, int(read(row, KD))) * (speed - read(x, int(read(row, V_INDEX))))
        write(u, i, read(row, FACTOR) * torque)
