"""The Jacobians of a robot that the core calls: Df, Dp_f, Dp_h and Dt_h, by formulas; and Dh, where two geoms touch. (For a few
directions, `directions` has the product of Df and Dp_f with these.)

``r.forces`` gets a row for each state: the joint forces by which ``M qacc = forces`` is out of balance when that state changes
and qacc does not. qacc then changes by M^-1 times that, with the factors of M that f has left in MuJoCo's data.
"""

from ...core.compiler.compiling import compiling
from ...core.compiler.intrinsics import address
from ...core.compiler.tables import matrix_at, vector_at
from ...core.state import DUAL
from . import laws
from .compiled import compile_entry, guards_jacobian, look, motion, move_with_inputs
from .compiled import h as guards_of
from .contact_jacobian import (
    add_contacts,
    add_gravity_compensation,
    add_relaxation_parameters,
    add_stop_parameters,
    add_to_chain,
    any_pushes,
    arm,
    at_origin,
)
from .coupled import couple, fold_columns, substituted
from .directions import along
from .guard_jacobian import add_closing_rows
from .input_jacobian import add_actuators, add_control, add_control_parameters, add_joints, parameter_rows
from .inputs import held_now
from .joint_friction import add_joint_friction_parameters, add_joint_friction_slopes
from .law_jacobian import column_of_law, force_by_parameter, force_slopes, normal_by_parameters, numbers_of_laws
from .mechanics import clear, quaternion_product
from .running_cost import cost_row
from .smooth_jacobian import bodies, subtract_motion, velocities
from .spatial import three_of
from .sticking_jacobian import add_products, add_sticking_rows
from .symbols import solve_inertia
from .table import LIMIT, core, opened
from .touching import closing, place, pushes, slip


@core(inline=True)
def _positions(r, x, out):
    """The rows of q' in Df."""
    nq, scalars, quats = r.sizes.nq, r.scalars, r.quats
    for i in range(scalars.shape[0]):
        out[scalars[i, 0], nq + scalars[i, 1]] = 1.0
    for i in range(quats.shape[0]):
        j, k = quats[i, 0], nq + quats[i, 1]
        for q in range(4):  # q' = q (0, omega) / 2 is linear in q, and in omega
            a, b, c, d = 0.5 * (q == 0), 0.5 * (q == 1), 0.5 * (q == 2), 0.5 * (q == 3)
            quaternion_product(a, b, c, d, x[k], x[k + 1], x[k + 2], out, j, j + q)
        a, b, c, d = 0.5 * x[j], 0.5 * x[j + 1], 0.5 * x[j + 2], 0.5 * x[j + 3]
        for q in range(3):
            quaternion_product(a, b, c, d, 1.0 * (q == 0), 1.0 * (q == 1), 1.0 * (q == 2), out, j, k + q)


@core(inline=True)
def _lift(r, x):
    """``r.forces`` in the four coordinates of each quaternion, from three rows in tangent coordinates (see ``lift_row``)."""
    quats = r.quats
    for i in range(quats.shape[0]):
        j = quats[i, 0]
        a, b, c, d = x[j], x[j + 1], x[j + 2], x[j + 3]
        over = 2.0 / (a * a + b * b + c * c + d * d)
        one, two, three, four = r.forces[j], r.forces[j + 1], r.forces[j + 2], r.forces[j + 3]
        for k in range(one.shape[0]):
            u, v, w = over * one[k], over * two[k], over * three[k]
            one[k] = -b * u - c * v - d * w
            two[k] = a * u + c * w - d * v
            three[k] = a * v + d * u - b * w
            four[k] = a * w + b * v - c * u


@core(inline=True)
def _solve_rows(r, rows):
    """M^-1 of so many rows of ``r.forces``. (Rows of zeros, as of a body that nothing touches, are not solved for.)"""
    forces, solved = r.forces, r.solved
    first = 0
    for i in range(rows + 1):
        if i < rows and _any(forces[i]):
            continue
        if i > first:
            solve_inertia(r.mujoco.model, r.mujoco.data, address(solved[first]), address(forces[first]), i - first)
        if i < rows:
            for j in range(solved.shape[1]):
                solved[i, j] = 0.0
        first = i + 1


@core
def _any(row):
    """Whether there is a number that is not zero."""
    for i in range(row.shape[0]):
        if row[i] != 0.0:
            return True
    return False


@core(inline=True)
def _accelerate(r, rows, first, shift, out):
    """The rows of qacc in ``out``: M^-1 of so many rows of ``r.forces``, those from ``first`` on further right."""
    solved, nq = r.solved, r.sizes.nq
    _solve_rows(r, rows)
    if r.couplings.dofs.shape[0] != 0:
        for j in range(rows):
            couple(r, solved[j])
    for i in range(solved.shape[1]):
        row = out[nq + i]
        for j in range(rows):
            row[j + shift if j >= first else j] = solved[j, i]


@core(inline=True)
def _with_inputs(r, t, x, p, out):
    """The rest, once ``r.forces`` has bodies, contacts and joints: dry friction of joints, actuators, control, what all of it
    does to qacc, and the running cost."""
    n = out.shape[0]
    add_joint_friction_slopes(r, r.columns, x, p, out)
    _lift(r, x)
    # (what follows are derivatives in x itself, not in tangent coordinates)
    add_actuators(r, r.columns, x, out)
    status = add_control(r, r.columns, t, x, p, out)
    if status == 0:
        _accelerate(r, n, n, 0, out)
        status = cost_row(r, r.columns, t, x, p, (x, n, True), out)
        fold_columns(r, out)
    return status


def _Df(t, x, b, p, out, ctx):
    r, n, m, count = opened(ctx)
    here, mode, numbers, rows = (
        vector_at(substituted(r, x), n),
        vector_at(b, m),
        vector_at(p, count),
        matrix_at(out, n, n),
    )
    status = motion(r, t, here, mode, numbers, r.rates)
    if status != 0:
        return status
    clear(rows, n)
    clear(r.forces, n)
    _positions(r, here, rows)
    velocities(r)
    bodies(r)
    add_contacts(r, here, mode, numbers, rows)
    add_gravity_compensation(r)
    subtract_motion(r)
    add_joints(r, r.columns)
    return _with_inputs(r, t, here, numbers, rows)


def _A(t, x, b, p, out, ctx):
    """Df without what changes slowly, the inertia of the bodies in motion: for stiff steps, directly after f."""
    r, n, m, count = opened(ctx)
    here, mode, numbers, rows = (
        vector_at(substituted(r, x), n),
        vector_at(b, m),
        vector_at(p, count),
        matrix_at(out, n, n),
    )
    clear(rows, n)
    clear(r.forces, n)
    _positions(r, here, rows)
    if any_pushes(r, mode):
        velocities(r)
    add_contacts(r, here, mode, numbers, rows)
    add_joints(r, r.columns)
    return _with_inputs(r, t, here, numbers, rows)


@core
def _add_law_parameters(r, x, contact, p, out):
    """To ``r.forces`` the effect of the parameters of one contact that pushes; to ``out`` that on its bristles."""
    forces = r.forces
    if contact.kind == LIMIT:
        add_stop_parameters(r, r.columns, contact, r.placed.depth, closing(r, contact), p)
        return
    one, two = contact.body1, contact.body2
    slipping, where = slip(r, contact), three_of(r.placed.where)
    load, e = force_slopes(r, x, contact, slipping, p)
    reach, reach_too = arm(r, one, where), arm(r, two, where)
    for which in range(numbers_of_laws(contact)):
        column = column_of_law(contact, which)
        a, b, c, bend, bow = force_by_parameter(r, x, contact, slipping, which, load, e, p)
        if contact.friction == laws.LUGRE:
            out[contact.bristle, column] = bend
            out[contact.bristle + 1, column] = bow
        add_to_chain(r, one, at_origin((a, b, c), reach), 1.0, forces[column])
        if two != 0:
            add_to_chain(r, two, at_origin((a, b, c), reach_too), -1.0, forces[column])


def _Dp_f(t, x, b, p, out, ctx):
    r, n, m, count = opened(ctx)
    here, mode, numbers = vector_at(substituted(r, x), n), vector_at(b, m), vector_at(p, count)
    by_p = matrix_at(out, n, count)
    status = move_with_inputs(r, t, here, numbers)
    if status != 0:
        return status
    clear(by_p, n)
    rows = parameter_rows(r, count)
    clear(r.forces, rows)
    for k in range(r.contacts.shape[0]):
        contact = r.contacts[k]
        if pushes(contact, mode):
            place(r, here, contact)
            _add_law_parameters(r, here, contact, numbers, by_p)
        else:
            add_relaxation_parameters(r.columns, contact, here, numbers, by_p)
    add_joint_friction_parameters(r, r.columns, here, numbers, by_p)
    status = add_control_parameters(r, r.columns, t, here, numbers, count, by_p)
    if status == 0:
        _accelerate(r, rows, r.control.held, held_now(r, t) if rows < count else 0, by_p)
        status = cost_row(r, r.columns, t, here, numbers, (numbers, count, False), by_p)
    return status


def _Dp_h(t, x, p, out, ctx):
    r, n, m, count = opened(ctx)
    by_p = matrix_at(out, m, count)
    clear(by_p, m)
    _guards_by_parameters(r, vector_at(substituted(r, x), n), vector_at(p, count), by_p)
    return 0


@core
def _guards_by_parameters(r, x, p, out):
    """Dp_h, whose memory has been cleared. (What parameters add to the slip of open contacts has no effect, and is left out.)"""
    look(r, x)
    for k in range(r.contacts.shape[0]):
        contact = r.contacts[k]
        pull, first = contact.pull, contact.p_normal
        if pull >= 0:  # (depths do not depend on parameters)
            place(r, x, contact)
            rate = closing(r, contact)
            if contact.normal == laws.SPRING:
                by = normal_by_parameters(contact, r.placed.depth, rate, p)
                for q in range(3):
                    out[pull, first + q] = by[q]
            else:
                out[pull, first + 1] = rate


def _Dt_h(t, x, p, out, ctx):
    _, _, m, _ = opened(ctx)
    clear(matrix_at(out, 1, m), 1)
    return 0


def _Dh_of_pairs(t, x, p, out, ctx):
    """Dh of robots with guards that are forces between two geoms."""
    r, n, m, count = opened(ctx)
    here, numbers, rows = vector_at(substituted(r, x), n), vector_at(p, count), matrix_at(out, m, n)
    guards_jacobian(r, here, numbers, rows)
    add_closing_rows(r, here, numbers, rows)
    fold_columns(r, rows)
    return 0


def _h_dual(t, times, states, parameters, out, ctx):
    """h of dual numbers, of robots with friction that sticks exactly: the values, then Dh and Dp_h times the tangents."""
    r, n, m, count = opened(ctx)
    of_x, of_p, of_h = matrix_at(states, n, DUAL), matrix_at(parameters, count, DUAL), matrix_at(out, m, DUAL)
    x, p, h, rows, by_p = r.varied, r.guard_p, r.guard_h, r.guards_by_x, r.guards_by_p
    by_parameters = False
    for i in range(n):
        x[i] = of_x[i, 0]
    for i in range(count):
        p[i] = of_p[i, 0]
        for q in range(1, DUAL):
            by_parameters = by_parameters or of_p[i, q] != 0.0
    here = vector_at(substituted(r, address(x)), n)
    guards_of(r, here, p, h)
    for k in range(m):
        of_h[k, 0] = h[k]
        for q in range(1, DUAL):
            of_h[k, q] = 0.0
    guards_jacobian(r, here, p, rows)
    add_closing_rows(r, here, p, rows)
    add_sticking_rows(r, here, rows)
    fold_columns(r, rows)
    add_products(rows, of_x, of_h)
    if by_parameters:
        clear(by_p, m)
        _guards_by_parameters(r, here, p, by_p)
        add_products(by_p, of_p, of_h)
    return 0


# with their numbers of addresses
_FUNCTIONS = {
    "Dh": (_Dh_of_pairs, 3),
    "Df": (_Df, 4),
    "A": (_A, 4),
    "along": (along, 9),
    "Dp_f": (_Dp_f, 4),
    "Dp_h": (_Dp_h, 3),
    "Dt_h": (_Dt_h, 3),
    "h_dual": (_h_dual, 4),
}
NAMES = tuple(_FUNCTIONS)
_entries: dict = {}


def entry(name):
    """One of them as a ctypes function, compiled or read from the cache at first use: many robots are never differentiated."""
    with compiling():
        if name not in _entries:
            _entries[name] = compile_entry(*_FUNCTIONS[name], "Jacobians of robots")
        return _entries[name]
