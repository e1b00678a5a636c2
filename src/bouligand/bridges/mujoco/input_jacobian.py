"""Compiled: how the joint forces of inputs, actuators, springs and dampers of joints change with the state."""

import math

from ...core.compiler.intrinsics import call, read, read_int, write
from ...core.compiler.jit import core
from . import layout as at
from .inputs import FACTOR, KD, KP, PD_COLUMNS, Q_INDEX, V_INDEX, interval, of_gait

STEP = 6e-6  # of differences of a feedback function, relative to max(1, |x|): the cube root of the unit round-off


@core(inline=True)
def _add(where, i, value):
    write(where, i, read(where, i) + value)


@core
def add_joints(w):
    """Springs and dampers of joints."""
    forces, nq, nv = read_int(w, at.FORCES), read_int(w, at.NQ), read_int(w, at.NV)
    stiffness, damping, column = read_int(w, at.STIFFNESS), read_int(w, at.DAMPING), read_int(w, at.COLUMN)
    for k in range(nv):
        _add(forces, nv * read_int(column, k) + k, -read(stiffness, k))
        _add(forces, nv * (nq + k) + k, -read(damping, k))


@core(inline=True)
def _inside(value, low, high):
    return low < value < high


@core
def _gain(w, i, x):
    """Of actuator i: what drives it (input or activation), the gain on that, and the force, both before any limits."""
    row = read_int(w, at.ACTUATORS) + 8 * at.ACTUATOR_DOUBLES * i
    gear, dof = read(row, at.GEAR), int(read(row, at.DRIVEN))
    length = gear * read(x, int(read(row, at.DRIVEN_Q)))
    speed = gear * read(x, read_int(w, at.NQ) + dof)
    act = int(read(row, at.ACTIVATION))
    drive = read(x, act) if act >= 0 else _limited(w, i)
    gain = read(row, at.GAIN) + read(row, at.GAIN + 1) * length + read(row, at.GAIN + 2) * speed
    bias = read(row, at.BIAS) + read(row, at.BIAS + 1) * length + read(row, at.BIAS + 2) * speed
    return drive, gain, gain * drive + bias


@core
def _limited(w, i):
    """Input i, inside its limits."""
    row = read_int(w, at.ACTUATORS) + 8 * at.ACTUATOR_DOUBLES * i
    return min(max(read(read_int(w, at.INPUTS), i), read(row, at.INPUT_RANGE)), read(row, at.INPUT_RANGE + 1))


@core
def passed_on(w, i, x):
    """Of actuator i: gear, drive and gain if its force passes all limits, otherwise zeros."""
    row = read_int(w, at.ACTUATORS) + 8 * at.ACTUATOR_DOUBLES * i
    drive, gain, force = _gain(w, i, x)
    if not _inside(force, read(row, at.FORCE_RANGE), read(row, at.FORCE_RANGE + 1)):
        return 0.0, 0.0, 0.0
    low, high = read(row, at.JOINT_RANGE), read(row, at.JOINT_RANGE + 1)
    if high < math.inf:  # the sum over all actuators of that joint
        total, dof = 0.0, read(row, at.DRIVEN)
        for q in range(read_int(w, at.NU)):
            other = read_int(w, at.ACTUATORS) + 8 * at.ACTUATOR_DOUBLES * q
            if read(other, at.DRIVEN) == dof:
                _, _, one = _gain(w, q, x)
                one = min(max(one, read(other, at.FORCE_RANGE)), read(other, at.FORCE_RANGE + 1))
                total += read(other, at.GEAR) * one
        if not _inside(total, low, high):
            return 0.0, 0.0, 0.0
    return read(row, at.GEAR), drive, gain


@core
def add_actuators(w, x, out, n):
    """Actuators by lengths, speeds and activations; rows of the activations themselves in ``out`` (n, n)."""
    if read_int(w, at.HAS_ACTUATORS) == 0:
        return
    forces, nq, nv = read_int(w, at.FORCES), read_int(w, at.NQ), read_int(w, at.NV)
    for i in range(read_int(w, at.NU)):
        row = read_int(w, at.ACTUATORS) + 8 * at.ACTUATOR_DOUBLES * i
        gear, drive, gain = passed_on(w, i, x)
        dof, act = int(read(row, at.DRIVEN)), int(read(row, at.ACTIVATION))
        by_length = read(row, at.GAIN + 1) * drive + read(row, at.BIAS + 1)
        by_speed = read(row, at.GAIN + 2) * drive + read(row, at.BIAS + 2)
        _add(forces, nv * int(read(row, at.DRIVEN_Q)) + dof, gear * gear * by_length)
        _add(forces, nv * (nq + dof) + dof, gear * gear * by_speed)
        if act >= 0:
            _add(forces, nv * act + dof, gear * gain)
            _add(out, n * act + act, -read(row, at.FOLLOWS))


@core
def input_weight(w, i, x):
    """What one unit of input i changes: the dof that it drives, the force there, the activation (or -1), the rate of that."""
    row, dofs = read_int(w, at.ACTUATORS) + 8 * at.ACTUATOR_DOUBLES * i, read_int(w, at.INPUT_DOFS)
    if dofs != 0:
        return read_int(dofs, i), 1.0, -1, 0.0
    dof, act = int(read(row, at.DRIVEN)), int(read(row, at.ACTIVATION))
    given = read(read_int(w, at.INPUTS), i)
    if not _inside(given, read(row, at.INPUT_RANGE), read(row, at.INPUT_RANGE + 1)):
        return dof, 0.0, -1, 0.0
    if act >= 0:
        follows = read(row, at.FOLLOWS)
        return dof, 0.0, act, follows if follows > 0.0 else 1.0
    gear, _, gain = passed_on(w, i, x)
    return dof, gear * gain, -1, 0.0


@core
def _add_input(w, i, x, column, value, out, width):
    """The effect of a change of input i by one state or parameter: on FORCES, or on the row of its activation in ``out``."""
    dof, weight, act, rate = input_weight(w, i, x)
    if act >= 0:
        _add(out, width * act + column, rate * value)
    else:
        _add(read_int(w, at.FORCES), read_int(w, at.NV) * column + dof, weight * value)


@core
def add_control(w, t, x, p, out, n):
    """The inputs by the state. Returns the status of a feedback function."""
    kind = read_int(w, at.CONTROL)
    if kind == at.PD:
        table = read_int(w, at.CONTROL_TABLE)
        for i in range(read_int(w, at.NU)):
            row = table + 8 * PD_COLUMNS * i
            if read(row, KP) >= 0.0:
                factor = read(row, FACTOR)
                _add_input(w, i, x, int(read(row, Q_INDEX)), -factor * read(p, int(read(row, KP))), out, n)
                _add_input(w, i, x, int(read(row, V_INDEX)), -factor * read(p, int(read(row, KD))), out, n)
    elif kind == at.FEEDBACK:
        return _vary(w, t, x, p, n, x, n, out, True)
    return 0


@core
def add_control_parameters(w, t, x, p, out, n, parameters):
    """The inputs by the parameters. Returns the status of a feedback function."""
    kind = read_int(w, at.CONTROL)
    if kind == at.PD:
        table = read_int(w, at.CONTROL_TABLE)
        for i in range(read_int(w, at.NU)):
            row = table + 8 * PD_COLUMNS * i
            if read(row, KP) >= 0.0:
                wanted, speed = of_gait(t, row)
                late, slow = wanted - read(x, int(read(row, Q_INDEX))), speed - read(x, int(read(row, V_INDEX)))
                _add_input(w, i, x, int(read(row, KP)), read(row, FACTOR) * late, out, parameters)
                _add_input(w, i, x, int(read(row, KD)), read(row, FACTOR) * slow, out, parameters)
    elif kind == at.HOLD:
        first = read_int(w, at.HELD)
        here = first + held_now(w, t)
        for i in range(read_int(w, at.NU)):
            dof, weight, act, rate = input_weight(w, i, x)
            if act >= 0:
                _add(out, parameters * act + here + i, rate)
            else:  # (FORCES has rows for the inputs of one interval only: see `parameter_rows`)
                _add(read_int(w, at.FORCES), read_int(w, at.NV) * (first + i) + dof, weight)
    elif kind == at.FEEDBACK:
        return _vary(w, t, x, p, n, p, parameters, out, False)
    return 0


@core
def held_now(w, t):
    """Where the inputs of the present interval begin, among all that are held."""
    return read_int(w, at.NU) * interval(t, read_int(w, at.CONTROL_TABLE), read_int(w, at.CONTROL_SIZE))


@core
def parameter_rows(w, count):
    """Rows of FORCES for so many parameters. Of inputs that are held only those of the present interval have an effect."""
    return read_int(w, at.HELD) + read_int(w, at.NU) if read_int(w, at.CONTROL) == at.HOLD else count


@core
def _vary(w, t, x, p, n, source, count, out, is_state):
    """A feedback function by central differences in the state or in the parameters. It alone is called, not f."""
    inputs, copy = read_int(w, at.NU), read_int(w, at.SHIFTED)
    high, low = copy + 8 * count, copy + 8 * (count + inputs)
    for i in range(count):
        write(copy, i, read(source, i))
    for column in range(count):
        here = read(source, column)
        step = STEP * max(1.0, math.fabs(here))
        over = 1.0 / ((here + step) - (here - step))
        for side in range(2):
            u = low if side == 0 else high
            write(copy, column, here - step if side == 0 else here + step)
            for i in range(inputs):
                write(u, i, 0.0)
            arguments = (copy, p, u) if is_state else (x, copy, u)
            status: int = call(read_int(w, at.CONTROL_FN), t, arguments, read_int(w, at.CONTROL_CTX))
            if status != 0:
                return status
        write(copy, column, here)
        for i in range(inputs):
            change = over * (read(high, i) - read(low, i))
            if change != 0.0:
                _add_input(w, i, x, column, change, out, count)
    return 0
