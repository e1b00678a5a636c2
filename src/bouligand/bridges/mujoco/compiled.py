"""The functions that the core calls: f, h, both at once, and Dh. One set serves every robot; sizes come at run time.

They call MuJoCo's C functions piece by piece rather than ``mj_forward``: what only its contacts, constraints, cameras and
sensors need is left out, and h needs the kinematics alone.
"""

import ctypes
import pathlib

from ...core.compiler import settings, sources
from ...core.compiler.compiling import compiling
from ...core.compiler.tables import matrix_at, vector_at
from ...core.compiler.wrapping import c_entry
from .coupled import couple, fold_columns, prepare_couplings, substituted
from .guard_jacobian import guard_rows
from .inputs import inputs_at, set_inputs
from .joint_friction import add_joint_friction, speed_guards
from .mechanics import clear, is_here, note_here, position_rates, set_positions, set_velocities
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
from .table import NO_CONTROL, core, opened
from .touching import contact_forces, guards

_HERE = pathlib.Path(__file__).parent
STAMP = sources.stamp_of(pathlib.Path(sources.__file__).parents[1], _HERE)


@core(inline=True)
def move_to(r, x):
    """MuJoCo's data at a state: all that positions and velocities determine."""
    model, data = r.mujoco.model, r.mujoco.data
    set_positions(r, x)
    set_velocities(r, x)
    kinematics(model, data)
    com_pos(model, data)
    if r.sizes.tendons != 0:
        tendon(model, data)
    make_inertia(model, data)
    factor_inertia(model, data)
    if r.sizes.actuators != 0:
        transmission(model, data)
    velocity(model, data)
    note_here(r, x)


@core
def move_with_inputs(r, t, x, p):
    """The same, with the inputs there: all that Jacobians in parameters need. Returns the status of a feedback function."""
    if not is_here(r, x):
        move_to(r, x)
    if r.couplings.dofs.shape[0] != 0:
        prepare_couplings(r)
    return inputs_at(r, t, x, p, r.inputs) if r.control.kind != NO_CONTROL else 0


@core(inline=True)
def motion(r, t, x, b, p, dx):
    """dx = f, with MuJoCo's data left at that state."""
    model, data, applied, nq, nv = r.mujoco.model, r.mujoco.data, r.applied, r.sizes.nq, r.sizes.nv
    if not is_here(r, x):
        move_to(r, x)
    for i in range(nv):
        applied[i] = 0.0
    contact_forces(r, x, b, p, dx)
    add_joint_friction(r, x, b, p, dx)
    status = set_inputs(r, t, x, p)
    if status != 0:
        return status
    if r.sizes.actuators != 0:
        act = r.act
        for i in range(act.shape[0]):
            act[i] = x[nq + nv + i]
        actuation(model, data)
    acceleration(model, data)
    position_rates(r, x, dx)
    qacc, act_dot = r.qacc, r.act_dot
    if r.couplings.dofs.shape[0] != 0:
        prepare_couplings(r)
        couple(r, qacc)
    for i in range(nv):
        dx[nq + i] = qacc[i]
    for i in range(act_dot.shape[0]):
        dx[nq + nv + i] = act_dot[i]
    return add_cost(r, t, x, p, dx)


@core
def look(r, x):
    """MuJoCo's data at a state, as far as guards need it."""
    if is_here(r, x):
        return
    data, ropes = r.mujoco.data, r.sizes.tendon_guards != 0
    model = r.mujoco.model if ropes else r.mujoco.light_model
    set_positions(r, x)
    set_velocities(r, x)
    kinematics(model, data)
    if ropes:
        com_pos(model, data)
        tendon(model, data)


def _f(t, x, b, p, dx, ctx):
    r, n, m, count = opened(ctx)
    return motion(r, t, vector_at(substituted(r, x), n), vector_at(b, m), vector_at(p, count), vector_at(dx, n))


@core(inline=True)
def h(r, x, p, out):
    """All guards at a state."""
    look(r, x)
    guards(r, x, p, out)
    speed_guards(r, x, out)


def _h(t, x, p, out, ctx):
    r, n, m, count = opened(ctx)
    h(r, vector_at(substituted(r, x), n), vector_at(p, count), vector_at(out, m))
    return 0


def _fh(t, x, b, p, dx, out, ctx):
    r, n, m, count = opened(ctx)
    here, numbers, values = vector_at(substituted(r, x), n), vector_at(p, count), vector_at(out, m)
    status = motion(r, t, here, vector_at(b, m), numbers, vector_at(dx, n))
    if status == 0:
        guards(r, here, numbers, values)
        speed_guards(r, here, values)
    return status


@core(inline=True)
def guards_jacobian(r, x, p, out):
    """Dh, with MuJoCo's data left at that state."""
    clear(out, out.shape[0])
    if not is_here(r, x):
        model, data = r.mujoco.model, r.mujoco.data
        set_positions(r, x)
        set_velocities(r, x)
        kinematics(model, data)
        com_pos(model, data)
        com_vel(model, data)
        if r.sizes.tendon_guards != 0:
            tendon(model, data)
    guard_rows(r, x, p, out)


def _Dh(t, x, p, out, ctx):
    r, n, m, count = opened(ctx)
    rows = matrix_at(out, m, n)
    guards_jacobian(r, vector_at(substituted(r, x), n), vector_at(p, count), rows)
    fold_columns(r, rows)
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
