"""The Jacobians of a robot that the core calls: Df, Dp_f, Dp_h and Dt_h, by formulas; and Dh, where two geoms touch. (For a few
directions, `directions` has the product of Df and Dp_f with these.)

FORCES gets a row for each state: the joint forces by which ``M qacc = forces`` is out of balance when that state changes and
qacc does not. qacc then changes by M^-1 times that, with the factors of M that f has left in MuJoCo's data.
"""

from ...core.compiler.compiling import compiling
from ...core.compiler.intrinsics import read, read_int, write
from ...core.compiler.jit import core
from ...core.state import DUAL
from . import laws
from . import layout as at
from .compiled import USER_DATA, compile_entry, guards_jacobian, look, motion, move_with_inputs
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
    pushes,
    three_of,
)
from .coupled import couple, fold_columns, substituted
from .directions import along
from .entries import COLUMNS
from .guard_jacobian import add_closing_rows
from .input_jacobian import add_actuators, add_control, add_control_parameters, add_joints, held_now, parameter_rows
from .joint_friction import add_joint_friction_parameters, add_joint_friction_slopes
from .law_jacobian import column_of_law, force_by_parameter, force_slopes, normal_by_parameters, numbers_of_laws
from .mechanics import clear, quaternion_product
from .running_cost import cost_row
from .smooth_jacobian import bodies, subtract_motion, velocities
from .sticking_jacobian import add_products, add_sticking_rows
from .symbols import solve_inertia
from .touching import closing, place, slip


@core
def _positions(w, x, out, n):
    """The rows of q' in Df."""
    nq, scalars, quats = read_int(w, at.NQ), read_int(w, at.SCALARS), read_int(w, at.QUATS)
    for i in range(read_int(w, at.SCALAR_COUNT)):
        write(out, n * read_int(scalars, 2 * i) + nq + read_int(scalars, 2 * i + 1), 1.0)
    for i in range(read_int(w, at.QUAT_COUNT)):
        j, v = read_int(quats, 2 * i), nq + read_int(quats, 2 * i + 1)
        for c in range(4):  # q' = q (0, omega) / 2 is linear in q, and in omega
            a, b = 0.5 * (c == 0), 0.5 * (c == 1)
            g, d = 0.5 * (c == 2), 0.5 * (c == 3)
            column = out + 8 * (n * j + j + c)
            quaternion_product(a, b, g, d, read(x, v), read(x, v + 1), read(x, v + 2), column, n)
        a, b, g, d = 0.5 * read(x, j), 0.5 * read(x, j + 1), 0.5 * read(x, j + 2), 0.5 * read(x, j + 3)
        for c in range(3):
            column = out + 8 * (n * j + v + c)
            quaternion_product(a, b, g, d, 1.0 * (c == 0), 1.0 * (c == 1), 1.0 * (c == 2), column, n)


@core
def _lift(w, x):
    """FORCES in the four coordinates of each quaternion, from three rows in tangent coordinates (see ``lift_row``)."""
    forces, nv, quats = read_int(w, at.FORCES), read_int(w, at.NV), read_int(w, at.QUATS)
    for i in range(read_int(w, at.QUAT_COUNT)):
        j = read_int(quats, 2 * i)
        a, b, c, d = read(x, j), read(x, j + 1), read(x, j + 2), read(x, j + 3)
        over = 2.0 / (a * a + b * b + c * c + d * d)
        rows = forces + 8 * nv * j
        for k in range(nv):
            p, q, r = over * read(rows, k), over * read(rows, nv + k), over * read(rows, 2 * nv + k)
            write(rows, k, -b * p - c * q - d * r)
            write(rows, nv + k, a * p + c * r - d * q)
            write(rows, 2 * nv + k, a * q + d * p - b * r)
            write(rows, 3 * nv + k, a * r + b * q - c * p)


@core
def _solve_rows(w, rows):
    """SOLVED = M^-1 of so many rows of FORCES. (Rows of zeros, as of a body that nothing touches, are not solved for.)"""
    model, data, nv = read_int(w, at.MODEL), read_int(w, at.DATA), read_int(w, at.NV)
    forces, solved = read_int(w, at.FORCES), read_int(w, at.SOLVED)
    first = 0
    for i in range(rows + 1):
        if i < rows and _any(forces + 8 * nv * i, nv):
            continue
        if i > first:
            solve_inertia(model, data, solved + 8 * nv * first, forces + 8 * nv * first, i - first)
        if i < rows:
            clear(solved + 8 * nv * i, nv)
        first = i + 1


@core
def _any(where, count):
    """Whether there is a number that is not zero."""
    for i in range(count):
        if read(where, i) != 0.0:
            return True
    return False


@core
def _accelerate(w, count, rows, first, shift, out):
    """The rows of qacc in ``out`` (n, count): M^-1 of so many rows of FORCES, those from ``first`` on further right."""
    solved, nq, nv = read_int(w, at.SOLVED), read_int(w, at.NQ), read_int(w, at.NV)
    _solve_rows(w, rows)
    couple(w, solved, rows)
    for i in range(nv):
        row = out + 8 * count * (nq + i)
        for j in range(rows):
            write(row, j + shift if j >= first else j, read(solved, nv * j + i))


@core
def _with_inputs(w, t, x, p, out, n):
    """The rest, once FORCES has bodies, contacts and joints: dry friction of joints, actuators, control, what all of it does to
    qacc, and the running cost."""
    add_joint_friction_slopes(w, COLUMNS, x, p, out, n)
    _lift(w, x)
    # (what follows are derivatives in x itself, not in tangent coordinates)
    add_actuators(w, COLUMNS, x, out, n)
    status = add_control(w, COLUMNS, t, x, p, out, n)
    if status == 0:
        _accelerate(w, n, n, n, 0, out)
        status = cost_row(w, COLUMNS, t, x, p, (x, n, True), out, n)
        fold_columns(w, out, n, n)
    return status


def _Df(t, x, b, p, out, ctx):
    w, n = read_int(ctx, USER_DATA), read_int(ctx, 0)
    x = substituted(w, x)
    status = motion(w, t, x, b, p, read_int(w, at.SOLVED))
    if status != 0:
        return status
    clear(out, n * n)
    clear(read_int(w, at.FORCES), n * read_int(w, at.NV))
    _positions(w, x, out, n)
    velocities(w)
    bodies(w)
    add_contacts(w, x, b, p, out, n)
    add_gravity_compensation(w)
    subtract_motion(w)
    add_joints(w, COLUMNS)
    return _with_inputs(w, t, x, p, out, n)


def _A(t, x, b, p, out, ctx):
    """Df without what changes slowly, the inertia of the bodies in motion: for stiff steps, directly after f."""
    w, n = read_int(ctx, USER_DATA), read_int(ctx, 0)
    x = substituted(w, x)
    clear(out, n * n)
    clear(read_int(w, at.FORCES), n * read_int(w, at.NV))
    _positions(w, x, out, n)
    if any_pushes(w, b):
        velocities(w)
    add_contacts(w, x, b, p, out, n)
    add_joints(w, COLUMNS)
    return _with_inputs(w, t, x, p, out, n)


@core
def _add_law_parameters(w, x, contact, spot, p, out, count):
    """To FORCES the effect of the parameters of one contact that pushes; to ``out`` (n, count) that on its bristles."""
    s, forces, nv = read_int(w, at.SCRATCH), read_int(w, at.FORCES), read_int(w, at.NV)
    if read_int(contact, at.KIND) == at.LIMIT:
        add_stop_parameters(w, COLUMNS, contact, spot, read(s, at.DEPTH), closing(w, contact, spot), p)
        return
    one, two = read_int(contact, at.BODY1), read_int(contact, at.BODY2)
    slipping, where = slip(w, contact), three_of(s + 8 * at.WHERE)
    load, e = force_slopes(w, x, contact, spot, slipping, p)
    r1, r2 = arm(w, one, where), arm(w, two, where)
    for which in range(numbers_of_laws(contact)):
        column = column_of_law(contact, which)
        a, b, c, bend, bow = force_by_parameter(w, x, contact, spot, slipping, which, load, e, p)
        if read_int(contact, at.FRICTION) == laws.LUGRE:
            z = count * read_int(contact, at.BRISTLE) + column
            write(out, z, bend)
            write(out, z + count, bow)
        add_to_chain(w, one, at_origin((a, b, c), r1), 1.0, forces + 8 * nv * column)
        if two != 0:
            add_to_chain(w, two, at_origin((a, b, c), r2), -1.0, forces + 8 * nv * column)


def _Dp_f(t, x, b, p, out, ctx):
    w, n, count = read_int(ctx, USER_DATA), read_int(ctx, 0), read_int(ctx, 2)
    x = substituted(w, x)
    status = move_with_inputs(w, t, x, p)
    if status != 0:
        return status
    clear(out, n * count)
    rows = parameter_rows(w, count)
    clear(read_int(w, at.FORCES), rows * read_int(w, at.NV))
    contact, spot = read_int(w, at.CONTACTS), read_int(w, at.PLACES)
    for _ in range(read_int(w, at.CONTACT_COUNT)):
        if pushes(contact, b):
            place(w, x, contact, spot)
            _add_law_parameters(w, x, contact, spot, p, out, count)
        else:
            add_relaxation_parameters(COLUMNS, contact, x, p, out, count)
        contact, spot = contact + 8 * at.CONTACT_INTS, spot + 8 * at.CONTACT_DOUBLES
    add_joint_friction_parameters(w, COLUMNS, x, p, out, count)
    status = add_control_parameters(w, COLUMNS, t, x, p, count, out, count)
    if status == 0:
        shift = held_now(w, t) if rows < count else 0
        _accelerate(w, count, rows, read_int(w, at.HELD), shift, out)
        status = cost_row(w, COLUMNS, t, x, p, (p, count, False), out, count)
    return status


def _Dp_h(t, x, p, out, ctx):
    w, m, count = read_int(ctx, USER_DATA), read_int(ctx, 1), read_int(ctx, 2)
    clear(out, m * count)
    _guards_by_parameters(w, substituted(w, x), p, out, count)
    return 0


@core
def _guards_by_parameters(w, x, p, out, count):
    """Dp_h, whose memory has been cleared. (What parameters add to the slip of open contacts has no effect, and is left out.)"""
    look(w, x)
    contact, spot = read_int(w, at.CONTACTS), read_int(w, at.PLACES)
    for _ in range(read_int(w, at.CONTACT_COUNT)):
        pull, first = read_int(contact, at.PULL), read_int(contact, at.P_NORMAL)
        if pull >= 0:  # (depths do not depend on parameters)
            place(w, x, contact, spot)
            rate = closing(w, contact, spot)
            if read_int(contact, at.NORMAL) == laws.SPRING:
                by = normal_by_parameters(contact, read(read_int(w, at.SCRATCH), at.DEPTH), rate, p)
                for q in range(3):
                    write(out, count * pull + first + q, by[q])
            else:
                write(out, count * pull + first + 1, rate)
        contact, spot = contact + 8 * at.CONTACT_INTS, spot + 8 * at.CONTACT_DOUBLES


def _Dt_h(t, x, p, out, ctx):
    clear(out, read_int(ctx, 1))
    return 0


def _Dh_of_pairs(t, x, p, out, ctx):
    """Dh of robots with guards that are forces between two geoms."""
    w, n = read_int(ctx, USER_DATA), read_int(ctx, 0)
    x = substituted(w, x)
    guards_jacobian(w, x, p, out, n, read_int(ctx, 1))
    add_closing_rows(w, x, p, out, n)
    fold_columns(w, out, read_int(ctx, 1), n)
    return 0


def _h_dual(t, times, states, parameters, out, ctx):
    """h of dual numbers, of robots with friction that sticks exactly: the values, then Dh and Dp_h times the tangents."""
    w, n, m, count = read_int(ctx, USER_DATA), read_int(ctx, 0), read_int(ctx, 1), read_int(ctx, 2)
    x, rows = read_int(w, at.SHIFTED), read_int(w, at.GUARD_ROWS)
    p = rows + 8 * m * (n + count)
    h = p + 8 * count
    by_parameters = False
    for i in range(n):
        write(x, i, read(states, DUAL * i))
    for i in range(count):
        write(p, i, read(parameters, DUAL * i))
        for q in range(1, DUAL):
            by_parameters = by_parameters or read(parameters, DUAL * i + q) != 0.0
    here = substituted(w, x)
    guards_of(w, here, p, h)
    for k in range(m):
        write(out, DUAL * k, read(h, k))
        for q in range(1, DUAL):
            write(out, DUAL * k + q, 0.0)
    guards_jacobian(w, here, p, rows, n, m)
    add_closing_rows(w, here, p, rows, n)
    add_sticking_rows(w, here, rows, n)
    fold_columns(w, rows, m, n)
    add_products(rows, m, n, states, out)
    if by_parameters:
        clear(rows + 8 * m * n, m * count)
        _guards_by_parameters(w, here, p, rows + 8 * m * n, count)
        add_products(rows + 8 * m * n, m, count, parameters, out)
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
