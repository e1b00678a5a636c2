"""A control made ready for a model: which inputs there are, and what the compiled functions need to set them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from ...system.frozen import schedules_of
from ...system.functions import UserFunction
from ...system.schedule import Schedule
from . import table
from .control import PD, Hold, Sinusoid, default_inputs

if TYPE_CHECKING:
    from ..._typing import FloatArray, Function, IntArray, RecordArray

HINGE, SLIDE = int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)


class Driver:
    """A control, made ready for a model: its kind, its numbers, its parameters and breakpoints."""

    def __init__(
        self, model: mujoco.MjModel, control: Schedule | Hold | PD | Function | None, first_parameter: int
    ) -> None:
        self.torques = model.nu == 0
        self.names, self.dofs = _inputs(model)
        self.kind = table.NO_CONTROL
        self.times: FloatArray = np.empty(0)  # at which constant inputs change,
        self.schedule: FloatArray = np.empty((0, len(self.names)))  # and these
        self.gaits: RecordArray = np.zeros(0, table.GAIT)
        self.params: dict[str, float] = {}
        self.breakpoints: FloatArray = np.empty(0)
        self.function: Any = None  # a UserFunction, for a feedback
        self.held = slice(0, 0)  # of the parameters, the inputs that are held
        if control is None:
            return
        if not self.names:
            raise ValueError("control: the model has neither actuators nor hinges or slides to drive")
        if isinstance(control, Schedule):
            self._follow(model, control)
        elif isinstance(control, Hold):
            self._hold(control, first_parameter)
        elif isinstance(control, PD):
            self._pursue(model, control, first_parameter)
        elif callable(control):
            self.kind, self.function = table.FEEDBACK, UserFunction("control", control)
            self.breakpoints = np.unique([time for schedule in schedules_of(control) for time in schedule.times])
        else:
            raise TypeError(
                f"control must be None, a Hold, a Schedule, a PD, or a function control(t, x, p, u); got {control!r}"
            )

    def _hold(self, control: Hold, first_parameter: int) -> None:
        self.kind, self.breakpoints = table.HOLD, control.times
        self.times = control.times if len(control.times) else np.zeros(1)
        values = default_inputs(control, (len(self.times), len(self.names)), self.names)
        labels = [f"u{k}" for k in range(len(self.times))] if len(control.times) else ["u"]
        names = [f"{label}:{name}" for label in labels for name in self.names]
        self.params = dict(zip(names, values.ravel().tolist(), strict=True))
        self.held = slice(first_parameter, first_parameter + len(names))

    def _follow(self, model: mujoco.MjModel, control: Schedule) -> None:
        if control.kind != "constant":
            raise ValueError(
                "control: a Schedule of kind 'linear' is not for robots; give a constant one with more times, or a function "
                "control(t, x, p, u) that calls it"
            )
        u = control.values if control.values.ndim == 2 else control.values[:, None]
        if u.shape[1] != len(self.names):
            raise ValueError(
                f"control: u has {u.shape[1]} columns; the robot has {len(self.names)} inputs: {', '.join(self.names)}"
            )
        if not self.torques and np.any(model.actuator_ctrllimited):
            low, high = np.where(
                np.asarray(model.actuator_ctrllimited, dtype=bool)[:, None], model.actuator_ctrlrange, [-np.inf, np.inf]
            ).T
            if (u < low - 1e-12).any() or (u > high + 1e-12).any():
                worst = int(np.argmax(np.maximum(low - u, u - high).max(axis=0)))
                raise ValueError(f"control: u of {self.names[worst]!r} leaves its range [{low[worst]}, {high[worst]}]")
        self.kind, self.breakpoints = table.CONSTANT, control.times
        self.times, self.schedule = np.array(control.times, dtype=float), np.array(u, dtype=float)

    def _pursue(self, model: mujoco.MjModel, control: PD, first_parameter: int) -> None:
        self.kind = table.PD
        self.params = {"kp": float(control.kp), "kd": float(control.kd)}
        self.gaits = np.zeros(len(self.names), table.GAIT)
        self.gaits["kp"] = -1
        joints, factors = _driven_joints(model, self.torques)
        names = [_joint_name(model, joint) for joint in joints]
        for name, gait in _targets(control.target, list(dict.fromkeys(names))).items():
            if name not in names:
                raise ValueError(f"control: PD: no input drives a joint {name!r}; driven joints: {', '.join(names)}")
            if not isinstance(gait, Sinusoid):
                gait = Sinusoid(centre=float(gait))
            row = names.index(name)
            joint = joints[row]
            self.gaits[row] = (
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


def _inputs(model: mujoco.MjModel) -> tuple[list[str], IntArray]:
    """Names of the inputs; for torques also their dofs."""
    if model.nu:
        names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_ACTUATOR, i) or f"actuator{i}" for i in range(model.nu)]
        return names, np.zeros(0, dtype=np.int64)
    single = [j for j in range(model.njnt) if int(model.jnt_type[j]) in (HINGE, SLIDE)]
    names = [_joint_name(model, j) for j in single]
    return names, np.array([model.jnt_dofadr[j] for j in single], dtype=np.int64)


def _joint_name(model: mujoco.MjModel, joint: int) -> str:
    return mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, int(joint)) or f"joint{joint}"


def _targets(target: Any, joints: list[str]) -> Mapping[str, float | Sinusoid]:
    """{joint: angle or Sinusoid}, of a mapping, a sequence in the order of the joints, or one for all."""
    if isinstance(target, Mapping):
        return target
    if isinstance(target, str) or not np.iterable(target):
        same: dict[str, Any] = dict.fromkeys(joints, target)
        return same
    target = list(target)
    if len(target) != len(joints):
        raise ValueError(
            f"control: PD: target has {len(target)} values for {len(joints)} driven joints: {', '.join(joints)}; "
            "or give a mapping {joint: angle}"
        )
    return dict(zip(joints, target, strict=True))


def driven(model: mujoco.MjModel) -> list[str]:
    """The names of the joints that a PD can hold."""
    return [_joint_name(model, joint) for joint in _driven_joints(model, model.nu == 0)[0]]


def _driven_joints(model: mujoco.MjModel, torques: bool) -> tuple[list[int], list[float]]:
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
