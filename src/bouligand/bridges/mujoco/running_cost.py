"""Compiled: a running cost as one more state, and how its rate changes with the state and the parameters.

The cost may depend on the inputs, and these on the state: both are varied together, by central differences of the user's
function alone (no motion is computed for that).
"""

from ...core.compiler.intrinsics import call, read, read_int, write
from ...core.compiler.jit import core
from . import layout as at
from .entries import displace, rows_for, step_of_difference, width_of_difference
from .inputs import inputs_at, interval


@core
def add_cost(w, t, x, p, dx):
    """The rate of the cost, at the inputs that were set last. Returns the status of its function."""
    i = read_int(w, at.COST)
    if i < 0:
        return 0
    status: int = call(read_int(w, at.COST_FN), t, (x, p, read_int(w, at.INPUTS), dx + 8 * i), read_int(w, at.COST_CTX))
    return status


@core
def _cost_at(w, t, x, p, u, out):
    """The rate at a state and parameters, with the inputs there. Returns the status of a function that failed."""
    for i in range(read_int(w, at.NU)):
        write(u, i, 0.0)
    if read_int(w, at.CONTROL) != at.NO_CONTROL:
        status = inputs_at(w, t, x, p, u)
        if status != 0:
            return status
    failed: int = call(read_int(w, at.COST_FN), t, (x, p, u, out), read_int(w, at.COST_CTX))
    return failed


@core
def cost_row(w, seeds, t, x, p, varied, out, stride):
    """The row of the cost in ``out`` (n, stride): its rate by ``varied`` (see `input_jacobian`), the state or the parameters."""
    cost = read_int(w, at.COST)
    if cost < 0:
        return 0
    source, count, is_state = varied
    copy, row = read_int(w, at.SHIFTED), out + 8 * stride * cost
    u, rate = copy + 8 * count, copy + 8 * (count + read_int(w, at.NU))
    first, stop, here_first, here_stop = 0, 0, 0, 0
    if (
        not is_state and seeds[2] == 0 and read_int(w, at.CONTROL) == at.HOLD
    ):  # inputs of other intervals have no effect
        times, size = read_int(w, at.CONTROL_TABLE), read_int(w, at.CONTROL_SIZE)
        first, inputs = read_int(w, at.HELD), read_int(w, at.NU)
        stop, here_first = first + size * inputs, first + inputs * interval(t, times, size)
        here_stop = here_first + inputs
    for i in range(count):
        write(copy, i, read(source, i))
    for j in range(rows_for(seeds, count)):
        step, change = step_of_difference(seeds, j, source, count), 0.0
        if step == 0.0 or (first <= j < stop and not here_first <= j < here_stop):
            continue
        for side in (-1.0, 1.0):
            displace(seeds, j, source, count, side * step, copy)
            status = _cost_at(w, t, copy, p, u, rate) if is_state else _cost_at(w, t, x, copy, u, rate)
            if status != 0:
                return status
            change += side * read(rate, 0)
        displace(seeds, j, source, count, 0.0, copy)
        write(row, j, read(row, j) + change / width_of_difference(seeds, j, source, step))
    return 0
