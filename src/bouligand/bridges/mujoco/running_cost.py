"""Compiled: a running cost as one more state, and how its rate changes with the state and the parameters.

The cost may depend on the inputs, and these on the state: both are varied together, by central differences of the user's
function alone (no motion is computed for that).
"""

from ...core.compiler.intrinsics import call
from .entries import displace, rows_for, step_of_difference, width_of_difference
from .inputs import held_now, inputs_at
from .table import HOLD, NO_CONTROL, core


@core
def add_cost(r, t, x, p, dx):
    """The rate of the cost, at the inputs that were set last. Returns the status of its function."""
    if r.control.cost < 0:
        return 0
    status = _cost(r, t, x, p, r.inputs)
    dx[r.control.cost] = r.cost_rate[0]
    return status


@core
def _cost(r, t, x, p, u):
    """The rate, into ``r.cost_rate``. Returns the status of the user's function."""
    status: int = call(r.control.cost_function, t, (x, p, u, r.cost_rate), r.control.context)
    return status


@core
def _cost_at(r, t, x, p, u):
    """The same at a state and parameters, with the inputs there."""
    for i in range(r.sizes.nu):
        u[i] = 0.0
    if r.control.kind != NO_CONTROL:
        status = inputs_at(r, t, x, p, u)
        if status != 0:
            return status
    return _cost(r, t, x, p, u)


@core
def cost_row(r, seeds, t, x, p, varied, out):
    """The row of the cost in ``out``: its rate by ``varied`` (see `input_jacobian`), the state or the parameters."""
    cost = r.control.cost
    if cost < 0:
        return 0
    source, count, is_state = varied
    copy, u = r.varied, r.inputs_low
    first, stop, here_first, here_stop = 0, 0, 0, 0
    if not is_state and seeds.shape[0] == 0 and r.control.kind == HOLD:  # inputs of other intervals have no effect
        first, inputs = r.control.held, r.sizes.nu
        stop, here_first = first + r.times.shape[0] * inputs, first + held_now(r, t)
        here_stop = here_first + inputs
    for i in range(count):
        copy[i] = source[i]
    for j in range(rows_for(seeds, count)):
        step, change = step_of_difference(seeds, j, source, count), 0.0
        if step == 0.0 or (first <= j < stop and not here_first <= j < here_stop):
            continue
        for side in (-1.0, 1.0):
            displace(seeds, j, source, count, side * step, copy)
            status = _cost_at(r, t, copy, p, u) if is_state else _cost_at(r, t, x, copy, u)
            if status != 0:
                return status
            change += side * r.cost_rate[0]
        displace(seeds, j, source, count, 0.0, copy)
        out[cost, j] += change / width_of_difference(seeds, j, source, step)
    return 0
