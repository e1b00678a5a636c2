"""Compiled: how the joint forces of inputs, actuators, springs and dampers of joints change with the state."""

import math

from ...core.compiler.intrinsics import call
from .entries import add_force, add_rate, displace, rows_for, step_of_difference, width_of_difference
from .inputs import held_now, of_gait
from .table import FEEDBACK, HOLD, PD, core


@core(inline=True)
def add_joints(r, seeds):
    """Springs and dampers of joints. (Balls have no springs here: see `formulas`.)"""
    stiffness, damping, column, nq = r.stiffness, r.damping, r.dof_column, r.sizes.nq
    for k in range(stiffness.shape[0]):
        if stiffness[k] != 0.0:
            add_force(r, seeds, column[k], k, -stiffness[k])
        if damping[k] != 0.0:
            add_force(r, seeds, nq + k, k, -damping[k])


@core(inline=True)
def _inside(value, limits):
    return limits[0] < value < limits[1]


@core(inline=True)
def _clipped(value, limits):
    return min(max(value, limits[0]), limits[1])


@core
def _gain(r, i, x):
    """Of actuator i: what drives it (input or activation), the gain on that, and the force, both before any limits."""
    row = r.actuators[i]
    gain, bias, gear = row.gain, row.bias, row.gear
    length, speed = gear * x[row.place], gear * x[r.sizes.nq + row.dof]
    drive = x[row.activation] if row.activation >= 0 else _clipped(r.inputs[i], row.input_range)
    slope = gain[0] + gain[1] * length + gain[2] * speed
    return drive, slope, slope * drive + (bias[0] + bias[1] * length + bias[2] * speed)


@core
def passed_on(r, i, x):
    """Of actuator i: gear, drive and gain if its force passes all limits, otherwise zeros."""
    row = r.actuators[i]
    drive, gain, force = _gain(r, i, x)
    if not _inside(force, row.force_range):
        return 0.0, 0.0, 0.0
    if row.joint_range[1] < math.inf:  # the sum over all actuators of that joint
        total = 0.0
        for q in range(r.actuators.shape[0]):
            other = r.actuators[q]
            if other.dof == row.dof:
                _, _, one = _gain(r, q, x)
                total += other.gear * _clipped(one, other.force_range)
        if not _inside(total, row.joint_range):
            return 0.0, 0.0, 0.0
    return row.gear, drive, gain


@core(inline=True)
def add_actuators(r, seeds, x, out):
    """Actuators by lengths, speeds and activations; rows of the activations themselves in ``out``."""
    for i in range(r.actuators.shape[0]):
        row = r.actuators[i]
        gear, drive, gain = passed_on(r, i, x)
        dof, act = row.dof, row.activation
        by_length = row.gain[1] * drive + row.bias[1]
        by_speed = row.gain[2] * drive + row.bias[2]
        add_force(r, seeds, row.place, dof, gear * gear * by_length)
        add_force(r, seeds, r.sizes.nq + dof, dof, gear * gear * by_speed)
        if act >= 0:
            add_force(r, seeds, act, dof, gear * gain)
            add_rate(seeds, out, act, act, -row.follows)


@core
def input_weight(r, i, x):
    """What one unit of input i changes: the dof that it drives, the force there, the activation (or -1), the rate of that."""
    if r.input_dofs.shape[0] > 0:
        return r.input_dofs[i], 1.0, -1, 0.0
    row = r.actuators[i]
    if not _inside(r.inputs[i], row.input_range):
        return row.dof, 0.0, -1, 0.0
    if row.activation >= 0:
        return row.dof, 0.0, row.activation, row.follows if row.follows > 0.0 else 1.0
    gear, _, gain = passed_on(r, i, x)
    return row.dof, gear * gain, -1, 0.0


@core
def _add_input(r, seeds, i, x, column, value, out):
    """What a change of input i by one state or parameter does: to ``r.forces``, or to the row of its activation in ``out``."""
    dof, weight, act, rate = input_weight(r, i, x)
    if act >= 0:
        add_rate(seeds, out, act, column, rate * value)
    else:
        add_force(r, seeds, column, dof, weight * value)


@core(inline=True)
def add_control(r, seeds, t, x, p, out):
    """The inputs by the state. Returns the status of a feedback function."""
    kind = r.control.kind
    if kind == PD:
        for i in range(r.gaits.shape[0]):
            gait = r.gaits[i]
            if gait.kp >= 0:
                by_angle, by_speed = -gait.factor * p[gait.kp], -gait.factor * p[gait.kd]
                _add_input(r, seeds, i, x, gait.angle, by_angle, out)
                _add_input(r, seeds, i, x, gait.speed, by_speed, out)
    elif kind == FEEDBACK:
        return _vary(r, seeds, t, x, p, (x, r.sizes.n, True), out)
    return 0


@core
def add_control_parameters(r, seeds, t, x, p, count, out):
    """The inputs by the parameters. Returns the status of a feedback function."""
    kind = r.control.kind
    if kind == PD:
        for i in range(r.gaits.shape[0]):
            gait = r.gaits[i]
            if gait.kp >= 0:
                wanted, speed = of_gait(t, gait)
                late, slow = wanted - x[gait.angle], speed - x[gait.speed]
                _add_input(r, seeds, i, x, gait.kp, gait.factor * late, out)
                _add_input(r, seeds, i, x, gait.kd, gait.factor * slow, out)
    elif kind == HOLD:
        first = r.control.held
        here = first + held_now(r, t)
        for i in range(r.sizes.nu):
            dof, weight, act, rate = input_weight(r, i, x)
            if act >= 0:
                add_rate(seeds, out, act, here + i, rate)
            else:  # (``r.forces`` has rows for the inputs of one interval only: see `parameter_rows`)
                add_force(r, seeds, here + i if seeds.shape[0] > 0 else first + i, dof, weight)
    elif kind == FEEDBACK:
        return _vary(r, seeds, t, x, p, (p, count, False), out)
    return 0


@core
def parameter_rows(r, count):
    """Rows of ``r.forces`` for so many parameters. Of inputs that are held only those of the present interval have an effect."""
    return r.control.held + r.sizes.nu if r.control.kind == HOLD else count


@core
def _vary(r, seeds, t, x, p, varied, out):
    """A feedback function by central differences in ``varied``: the state or the parameters, their number, whether it is the
    state. It alone is called, not f."""
    source, count, is_state = varied
    copy, low, high, inputs = r.varied, r.inputs_low, r.inputs_high, r.sizes.nu
    for i in range(count):
        copy[i] = source[i]
    for row in range(rows_for(seeds, count)):
        step = step_of_difference(seeds, row, source, count)
        if step == 0.0:
            continue
        for side in range(2):
            u = low if side == 0 else high
            displace(seeds, row, source, count, -step if side == 0 else step, copy)
            for i in range(inputs):
                u[i] = 0.0
            arguments = (copy, p, u) if is_state else (x, copy, u)
            status: int = call(r.control.function, t, arguments, r.control.context)
            if status != 0:
                return status
        displace(seeds, row, source, count, 0.0, copy)
        over = 1.0 / width_of_difference(seeds, row, source, step)
        for i in range(inputs):
            change = over * (high[i] - low[i])
            if change != 0.0:
                _add_input(r, r.columns, i, x, row, change, out)
    return 0
