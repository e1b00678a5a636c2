"""The functions that the core calls: f, h, both at once, and Dh. One set serves every robot; sizes come at run time.

They call MuJoCo's C functions piece by piece rather than ``mj_forward``: what only its contacts, constraints, cameras and
sensors need is left out, and h needs the kinematics alone.
"""

import ctypes
import pathlib

from ...core.compiler import settings, sources
from ...core.compiler.compiling import compiling
from ...core.compiler.intrinsics import read, read_int, write
from ...core.compiler.jit import core
from ...core.compiler.wrapping import c_entry
from . import layout as at
from .coupled import couple, fold_columns, prepare_couplings, substituted
from .guard_jacobian import guard_rows
from .inputs import inputs_at, set_inputs
from .joint_friction import add_joint_friction, speed_guards
from .mechanics import is_here, note_here, position_rates, set_positions, set_velocities
from .running_cost import add_cost
from .symbols import (
    acceleration,
    actuation,
    com_pos,
    com_vel,
    factor_inertia,
    kinematics,
    make_inertia,
    tendon,
    transmission,
    velocity,
)
from .touching import contact_forces, guards

_HERE = pathlib.Path(__file__).parent
STAMP = sources.stamp_of(pathlib.Path(sources.__file__).parents[1], _HERE)
USER_DATA = 3  # in the context


@core
def move_to(w, x):
    """MuJoCo's data at a state: all that positions and velocities determine."""
    model, data = read_int(w, at.MODEL), read_int(w, at.DATA)
    set_positions(w, x)
    set_velocities(w, x)
    kinematics(model, data)
    com_pos(model, data)
    if read_int(w, at.HAS_TENDON) != 0:
        tendon(model, data)
    make_inertia(model, data)
    factor_inertia(model, data)
    if read_int(w, at.HAS_ACTUATORS) != 0:
        transmission(model, data)
    velocity(model, data)
    note_here(w, x)


@core
def move_with_inputs(w, t, x, p):
    """The same, with the inputs there: all that Jacobians in parameters need. Returns the status of a feedback function."""
    if not is_here(w, x):
        move_to(w, x)
    if read_int(w, at.COUPLING_COUNT) != 0:
        prepare_couplings(w)
    return inputs_at(w, t, x, p, read_int(w, at.INPUTS)) if read_int(w, at.CONTROL) != at.NO_CONTROL else 0


@core
def motion(w, t, x, b, p, dx):
    """dx = f, with MuJoCo's data left at that state."""
    model, data = read_int(w, at.MODEL), read_int(w, at.DATA)
    nq, nv, na = read_int(w, at.NQ), read_int(w, at.NV), read_int(w, at.NA)
    if not is_here(w, x):
        move_to(w, x)
    applied = read_int(w, at.APPLIED)
    for i in range(nv):
        write(applied, i, 0.0)
    contact_forces(w, x, b, p, dx)
    add_joint_friction(w, x, b, p, dx)
    status = set_inputs(w, t, x, p)
    if status != 0:
        return status
    if read_int(w, at.HAS_ACTUATORS) != 0:
        act = read_int(w, at.ACT)
        for i in range(na):
            write(act, i, read(x, nq + nv + i))
        actuation(model, data)
    acceleration(model, data)
    position_rates(w, x, dx)
    qacc = read_int(w, at.QACC)
    if read_int(w, at.COUPLING_COUNT) != 0:
        prepare_couplings(w)
        couple(w, qacc, 1)
    for i in range(nv):
        write(dx, nq + i, read(qacc, i))
    if na > 0:
        rates = read_int(w, at.ACT_DOT)
        for i in range(na):
            write(dx, nq + nv + i, read(rates, i))
    return add_cost(w, t, x, p, dx)


@core
def look(w, x):
    """MuJoCo's data at a state, as far as guards need it."""
    if is_here(w, x):
        return
    data, ropes = read_int(w, at.DATA), read_int(w, at.NEEDS_TENDON) != 0
    model = read_int(w, at.MODEL if ropes else at.LIGHT_MODEL)
    set_positions(w, x)
    set_velocities(w, x)
    kinematics(model, data)
    if ropes:
        com_pos(model, data)
        tendon(model, data)


def _f(t, x, b, p, dx, ctx):
    w = read_int(ctx, USER_DATA)
    return motion(w, t, substituted(w, x), b, p, dx)


@core
def h(w, x, p, out):
    """All guards at a state."""
    look(w, x)
    guards(w, x, p, out)
    speed_guards(w, x, out)


def _h(t, x, p, out, ctx):
    w = read_int(ctx, USER_DATA)
    h(w, substituted(w, x), p, out)
    return 0


def _fh(t, x, b, p, dx, out, ctx):
    w = read_int(ctx, USER_DATA)
    x = substituted(w, x)
    status = motion(w, t, x, b, p, dx)
    if status == 0:
        guards(w, x, p, out)
        speed_guards(w, x, out)
    return status


@core
def guards_jacobian(w, x, p, out, n, m):
    """Dh, with MuJoCo's data left at that state."""
    for i in range(n * m):
        write(out, i, 0.0)
    if not is_here(w, x):
        model, data = read_int(w, at.MODEL), read_int(w, at.DATA)
        set_positions(w, x)
        set_velocities(w, x)
        kinematics(model, data)
        com_pos(model, data)
        com_vel(model, data)
        if read_int(w, at.NEEDS_TENDON) != 0:
            tendon(model, data)
    guard_rows(w, x, p, out, n)


def _Dh(t, x, p, out, ctx):
    w, n, m = read_int(ctx, USER_DATA), read_int(ctx, 0), read_int(ctx, 1)
    guards_jacobian(w, substituted(w, x), p, out, n, m)
    fold_columns(w, out, m, n)
    return 0


_FUNCTIONS = {"f": (_f, 4), "h": (_h, 3), "fh": (_fh, 5), "Dh": (_Dh, 3)}  # with their numbers of addresses
_entries: dict = {}
_keep: list = []  # what the addresses belong to


def compile_entry(function, count, what="what robots need"):
    """A function of t, ``count`` addresses and the context as a ctypes function, compiled or read from the cache."""
    if not settings.JIT:
        raise RuntimeError("the MuJoCo bridge runs as compiled code only; unset NUMBA_DISABLE_JIT")
    compiled = c_entry(count, STAMP, what)(function)
    _keep.append(compiled)
    entry = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_double, *[ctypes.c_int64] * (count + 1))(compiled.address)
    entry.argtypes = [ctypes.c_double] + [ctypes.c_int64] * (count + 1)
    return entry


def entries():
    """f, h, fh and Dh as ``{name: ctypes function}``, compiled or read from the cache at first use."""
    with compiling():
        if not _entries:
            _entries.update({name: compile_entry(*what) for name, what in _FUNCTIONS.items()})
    return _entries


def addresses():
    """Of f, h, fh and Dh, as integers."""
    return [ctypes.cast(entry, ctypes.c_void_p).value for entry in entries().values()]
