"""Compiled: how the joint forces of inputs, actuators, springs and dampers of joints change with the state."""

import math

from ...core.compiler.intrinsics import call, read, read_int, write
from ...core.compiler.jit import core
from . import layout as at
from .entries import COLUMNS, add_force, add_rate, displace, rows_for, step_of_difference, width_of_difference
from .inputs import FACTOR, KD, KP, PD_COLUMNS, Q_INDEX, V_INDEX, interval, of_gait


@core
def add_joints(w, seeds):
    """Springs and dampers of joints. (Balls have no springs here: see `formulas`.)"""
    stiffness, damping, column = read_int(w, at.STIFFNESS), read_int(w, at.DAMPING), read_int(w, at.COLUMN)
    for k in range(read_int(w, at.NV)):
        if read(stiffness, k) != 0.0:
            add_force(w, seeds, read_int(column, k), k, -read(stiffness, k))
        if read(damping, k) != 0.0:
            add_force(w, seeds, read_int(w, at.NQ) + k, k, -read(damping, k))


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
def add_actuators(w, seeds, x, out, stride):
    """Actuators by lengths, speeds and activations; rows of the activations themselves in ``out`` (n, stride)."""
    if read_int(w, at.HAS_ACTUATORS) == 0:
        return
    for i in range(read_int(w, at.NU)):
        row = read_int(w, at.ACTUATORS) + 8 * at.ACTUATOR_DOUBLES * i
        gear, drive, gain = passed_on(w, i, x)
        dof, act = int(read(row, at.DRIVEN)), int(read(row, at.ACTIVATION))
        by_length = read(row, at.GAIN + 1) * drive + read(row, at.BIAS + 1)
        by_speed = read(row, at.GAIN + 2) * drive + read(row, at.BIAS + 2)
        add_force(w, seeds, int(read(row, at.DRIVEN_Q)), dof, gear * gear * by_length)
        add_force(w, seeds, read_int(w, at.NQ) + dof, dof, gear * gear * by_speed)
        if act >= 0:
            add_force(w, seeds, act, dof, gear * gain)
            add_rate(seeds, out, stride, act, act, -read(row, at.FOLLOWS))


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
def _add_input(w, seeds, i, x, column, value, out, stride):
    """The effect of a change of input i by one state or parameter: on FORCES, or on the row of its activation in ``out``."""
    dof, weight, act, rate = input_weight(w, i, x)
    if act >= 0:
        add_rate(seeds, out, stride, act, column, rate * value)
    else:
        add_force(w, seeds, column, dof, weight * value)


@core
def add_control(w, seeds, t, x, p, out, stride):
    """The inputs by the state. Returns the status of a feedback function."""
    kind = read_int(w, at.CONTROL)
    if kind == at.PD:
        table = read_int(w, at.CONTROL_TABLE)
        for i in range(read_int(w, at.NU)):
            row = table + 8 * PD_COLUMNS * i
            if read(row, KP) >= 0.0:
                factor = read(row, FACTOR)
                by_angle, by_speed = -factor * read(p, int(read(row, KP))), -factor * read(p, int(read(row, KD)))
                _add_input(w, seeds, i, x, int(read(row, Q_INDEX)), by_angle, out, stride)
                _add_input(w, seeds, i, x, int(read(row, V_INDEX)), by_speed, out, stride)
    elif kind == at.FEEDBACK:
        return _vary(w, seeds, t, x, p, (x, read_int(w, at.N), True), out, stride)
    return 0


@core
def add_control_parameters(w, seeds, t, x, p, count, out, stride):
    """The inputs by the parameters. Returns the status of a feedback function."""
    kind = read_int(w, at.CONTROL)
    if kind == at.PD:
        table = read_int(w, at.CONTROL_TABLE)
        for i in range(read_int(w, at.NU)):
            row = table + 8 * PD_COLUMNS * i
            if read(row, KP) >= 0.0:
                wanted, speed = of_gait(t, row)
                late, slow = wanted - read(x, int(read(row, Q_INDEX))), speed - read(x, int(read(row, V_INDEX)))
                _add_input(w, seeds, i, x, int(read(row, KP)), read(row, FACTOR) * late, out, stride)
                _add_input(w, seeds, i, x, int(read(row, KD)), read(row, FACTOR) * slow, out, stride)
    elif kind == at.HOLD:
        first = read_int(w, at.HELD)
        here = first + held_now(w, t)
        for i in range(read_int(w, at.NU)):
            dof, weight, act, rate = input_weight(w, i, x)
            if act >= 0:
                add_rate(seeds, out, stride, act, here + i, rate)
            else:  # (FORCES has rows for the inputs of one interval only: see `parameter_rows`)
                add_force(w, seeds, here + i if seeds[2] > 0 else first + i, dof, weight)
    elif kind == at.FEEDBACK:
        return _vary(w, seeds, t, x, p, (p, count, False), out, stride)
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
def _vary(w, seeds, t, x, p, varied, out, stride):
    """A feedback function by central differences in ``varied``: the state or the parameters, their number, whether it is the
    state. It alone is called, not f."""
    source, count, is_state = varied
    inputs, copy = read_int(w, at.NU), read_int(w, at.SHIFTED)
    high, low = copy + 8 * count, copy + 8 * (count + inputs)
    for i in range(count):
        write(copy, i, read(source, i))
    for row in range(rows_for(seeds, count)):
        step = step_of_difference(seeds, row, source, count)
        if step == 0.0:
            continue
        for side in range(2):
            u = low if side == 0 else high
            displace(seeds, row, source, count, -step if side == 0 else step, copy)
            for i in range(inputs):
                write(u, i, 0.0)
            arguments = (copy, p, u) if is_state else (x, copy, u)
            status: int = call(read_int(w, at.CONTROL_FN), t, arguments, read_int(w, at.CONTROL_CTX))
            if status != 0:
                return status
        displace(seeds, row, source, count, 0.0, copy)
        over = 1.0 / width_of_difference(seeds, row, source, step)
        for i in range(inputs):
            change = over * (read(high, i) - read(low, i))
            if change != 0.0:
                _add_input(w, COLUMNS, i, x, row, change, out, stride)
    return 0
