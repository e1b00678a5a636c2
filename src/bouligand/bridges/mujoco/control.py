"""What drives a robot: inputs held constant between given times, a feedback function, or a PD towards a gait.

Inputs are MuJoCo's ``ctrl`` where the file has actuators, and torques (forces) on its hinges (slides) where it has none, as a
URDF.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from ...system.functions import UserFunction
from . import layout as at
from .given import finite
from .inputs import PD_COLUMNS

HINGE, SLIDE = int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)


@dataclass(frozen=True)
class PiecewiseConstant:
    """Row i of ``u`` from ``times[i]`` on (the first one also before): steps end at these times."""

    times: tuple
    u: tuple

    def __init__(self, times, u):
        times, u = np.asarray(times, dtype=float), np.asarray(u, dtype=float)
        if times.ndim != 1 or not times.size or not np.isfinite(times).all() or (np.diff(times) <= 0).any():
            raise ValueError(f"PiecewiseConstant: times must be finite and increasing; got {times!r}")
        if u.ndim != 2 or len(u) != len(times) or not np.isfinite(u).all():
            raise ValueError(
                f"PiecewiseConstant: u must have a row of inputs for each of {len(times)} times; got shape {u.shape}"
            )
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "u", u)


@dataclass(frozen=True)
class PD:
    """Towards a gait: ``torque = kp (q_gait - q) + kd (v_gait - v)`` on each joint that ``target`` names.

    ``target`` is a mapping from joint to an angle, or to a ``Sinusoid``; or one of these for all joints that have an input; or a
    sequence, one for each of these joints in the order of the robot's ``inputs``. ``kp`` and ``kd`` become parameters of the
    system.
    """

    target: object
    kp: float
    kd: float = 0.0

    def __post_init__(self):
        finite("PD: kp", self.kp)
        finite("PD: kd", self.kd)


@dataclass(frozen=True)
class Sinusoid:
    """``centre + amplitude sin(2 pi frequency t + phase)``: one joint's part of a gait, in rad (m), Hz, rad."""

    centre: float = 0.0
    amplitude: float = 0.0
    frequency: float = 1.0
    phase: float = 0.0

    def __post_init__(self):
        for name in ("centre", "amplitude", "frequency", "phase"):
            finite(f"Sinusoid: {name}", getattr(self, name))


class Driver:
    """A control, made ready for a model: its kind, its table, its parameters and breakpoints."""

    def __init__(self, model, control, first_parameter):
        self.torques = model.nu == 0
        self.names, self.dofs = _inputs(model)
        self.kind, self.table, self.size = at.NO_CONTROL, np.zeros(1), 0
        self.params: dict = {}
        self.breakpoints: np.ndarray = np.empty(0)
        self.function: Any = None  # a UserFunction, for a feedback
        if control is None:
            return
        if not self.names:
            raise ValueError("control: the model has neither actuators nor hinges or slides to drive")
        if isinstance(control, PiecewiseConstant):
            self._hold(model, control)
        elif isinstance(control, PD):
            self._pursue(model, control, first_parameter)
        elif callable(control):
            self.kind, self.function = at.FEEDBACK, UserFunction("control", control)
        else:
            raise TypeError(
                f"control must be None, a PiecewiseConstant, a PD, or a function control(t, x, p, u); got {control!r}"
            )

    def try_out(self, sizes, x, p):
        """Call a feedback function once from Python: what it raises, or a wrong number of inputs, is told at once."""
        try:
            values = self.function(sizes, 0.0, x, p)
            self.function.check_shape(sizes, values, 0.0, x)
        except Exception as error:
            error.add_note(f"in control(t = 0, x = {x}), called once to check it; inputs: {', '.join(self.names)}")
            raise

    def _hold(self, model, control):
        if control.u.shape[1] != len(self.names):
            raise ValueError(
                f"control: u has {control.u.shape[1]} columns; the robot has {len(self.names)} inputs: {', '.join(self.names)}"
            )
        if not self.torques and np.any(model.actuator_ctrllimited):
            low, high = np.where(
                np.asarray(model.actuator_ctrllimited, dtype=bool)[:, None], model.actuator_ctrlrange, [-np.inf, np.inf]
            ).T
            if (control.u < low - 1e-12).any() or (control.u > high + 1e-12).any():
                worst = int(np.argmax(np.maximum(low - control.u, control.u - high).max(axis=0)))
                raise ValueError(f"control: u of {self.names[worst]!r} leaves its range [{low[worst]}, {high[worst]}]")
        self.kind, self.size, self.breakpoints = at.CONSTANT, len(control.times), control.times
        self.table = np.concatenate([control.times, control.u.ravel()])

    def _pursue(self, model, control, first_parameter):
        self.kind, self.size = at.PD, len(self.names)
        self.params = {"kp": float(control.kp), "kd": float(control.kd)}
        table = np.zeros((len(self.names), PD_COLUMNS))
        table[:, 2] = -1.0
        joints, factors = _driven_joints(model, self.torques)
        names = [_joint_name(model, joint) for joint in joints]
        for name, gait in _targets(control.target, list(dict.fromkeys(names))).items():
            if name not in names:
                raise ValueError(f"control: PD: no input drives a joint {name!r}; driven joints: {', '.join(names)}")
            if not isinstance(gait, Sinusoid):
                gait = Sinusoid(centre=finite(f"control: PD: the target of {name!r}, if it is no Sinusoid,", gait))
            row = names.index(name)
            joint = joints[row]
            table[row] = (
                model.jnt_qposadr[joint],
                model.nq + model.jnt_dofadr[joint],
                first_parameter,
                first_parameter + 1,
                factors[row],
                gait.frequency,
                gait.centre,
                gait.amplitude,
                gait.phase,
            )
        self.table = table.ravel()


def _inputs(model):
    """Names of the inputs; for torques also their dofs."""
    if model.nu:
        names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_ACTUATOR, i) or f"actuator{i}" for i in range(model.nu)]
        return names, np.zeros(0, dtype=np.int64)
    single = [j for j in range(model.njnt) if int(model.jnt_type[j]) in (HINGE, SLIDE)]
    names = [_joint_name(model, j) for j in single]
    return names, np.array([model.jnt_dofadr[j] for j in single], dtype=np.int64)


def _joint_name(model, joint):
    return mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, int(joint)) or f"joint{joint}"


def _targets(target: Any, joints):
    """{joint: angle or Sinusoid}, of a mapping, a sequence in the order of the joints, or one for all."""
    if isinstance(target, Mapping):
        return target
    if isinstance(target, str) or not np.iterable(target):
        return dict.fromkeys(joints, target)
    target = list(target)
    if len(target) != len(joints):
        raise ValueError(
            f"control: PD: target has {len(target)} values for {len(joints)} driven joints: {', '.join(joints)}; "
            "or give a mapping {joint: angle}"
        )
    return dict(zip(joints, target, strict=True))


def driven(model):
    """The names of the joints that a PD can hold."""
    return [_joint_name(model, joint) for joint in _driven_joints(model, model.nu == 0)[0]]


def _driven_joints(model, torques):
    """The joint that each input drives, and the factor from torque to input. Only plain motors make a torque of an input."""
    if torques:
        _, dofs = _inputs(model)
        return [int(joint) for joint in model.dof_jntid[dofs]], [1.0] * len(dofs)
    joints, factors = [], []
    for i in range(model.nu):
        joint, factor = int(model.actuator_trnid[i, 0]), model.actuator_gear[i, 0] * model.actuator_gainprm[i, 0]
        plain = (
            model.actuator_trntype[i] == int(mujoco.mjtTrn.mjTRN_JOINT)
            and model.actuator_dyntype[i] == int(mujoco.mjtDyn.mjDYN_NONE)
            and model.actuator_gaintype[i] == int(mujoco.mjtGain.mjGAIN_FIXED)
            and model.actuator_biastype[i] == int(mujoco.mjtBias.mjBIAS_NONE)
            and int(model.jnt_type[joint]) in (HINGE, SLIDE)
            and factor != 0.0
        )
        if not plain:
            name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_ACTUATOR, i) or f"number {i}"
            raise ValueError(
                f"control: PD works on motors of hinges and slides; the actuator {name!r} is none (or its gear is 0): give a "
                "function control(t, x, p, u)"
            )
        joints.append(joint)
        factors.append(1.0 / factor)
    return joints, factors
