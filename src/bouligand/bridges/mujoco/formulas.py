"""Which robots have Jacobians by formulas, and the numbers of their joints and actuators that these formulas need."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from .features import name_of
from .table import ACTUATOR

if TYPE_CHECKING:
    from ..._typing import FloatArray, RecordArray

_OFF = mujoco.mjtDisableBit
_JOINT, _ACTUATOR = mujoco.mjtObj.mjOBJ_JOINT, mujoco.mjtObj.mjOBJ_ACTUATOR
_SINGLE = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
_TO_JOINT = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))


def missing(model: mujoco.MjModel) -> list[str]:
    """What the model contains whose derivatives have no formula here: f is then differenced."""
    return [*_of_joints(model), *_of_actuators(model), *_of_others(model)]


def _of_joints(model: mujoco.MjModel) -> Iterator[str]:
    for joint in range(model.njnt):
        name = name_of(model, _JOINT, joint)
        if model.jnt_stiffness[joint] and int(model.jnt_type[joint]) not in _SINGLE:
            yield f"the spring of the joint {name!r}, which is a ball or free"
        if np.any(getattr(model, "jnt_stiffnesspoly", np.zeros((model.njnt, 1)))[joint]):
            yield f"the spring of the joint {name!r}, which is not linear"
    poly = getattr(model, "dof_dampingpoly", np.zeros((model.nv, 1)))
    for dof in range(model.nv):
        if np.any(poly[dof]):
            yield f"the damping of the joint {name_of(model, _JOINT, model.dof_jntid[dof])!r}, which is not linear"


def _of_actuators(model: mujoco.MjModel) -> Iterator[str]:
    count = getattr(model, "nactuator", model.nu)
    if model.nu != count or np.any(getattr(model, "actuator_ctrlnum", np.ones(count)) != 1):
        yield "actuators with several inputs, or without one"
        return
    for i in range(model.nu):
        name, joint = name_of(model, _ACTUATOR, i), int(model.actuator_trnid[i, 0])
        if int(model.actuator_trntype[i]) not in _TO_JOINT or int(model.jnt_type[joint]) not in _SINGLE:
            yield f"the actuator {name!r}, which does not drive a hinge or a slide"
        elif model.actuator_dyntype[i] != int(mujoco.mjtDyn.mjDYN_NONE) and model.actuator_actnum[i] != 1:
            yield f"the actuator {name!r}, which has several activations"
        for what in ("actuator_damping", "actuator_dampingpoly"):
            if np.any(getattr(model, what, np.zeros(model.nu))[i]):
                yield f"the damping of the actuator {name!r}"
    if model.nu and (model.opt.disableactuator or model.opt.disableflags & int(_OFF.mjDSBL_ACTUATION)):
        yield "actuators that are switched off"


def _of_others(model: mujoco.MjModel) -> Iterator[str]:
    if model.ntendon:
        yield "tendons"
    if model.opt.density or model.opt.viscosity:
        yield "a fluid around the robot (density, viscosity)"
    if np.any(model.body_gravcomp) and np.any(model.jnt_actgravcomp) and np.any(model.jnt_actfrclimited):
        yield "gravity compensation by joints whose force is limited"


class Constants:
    """Gravity and what compensates it, springs and dampers of each dof, and the actuators, all under their names in `table`."""

    def __init__(self, model: mujoco.MjModel) -> None:
        off = int(model.opt.disableflags)
        self.gravity: FloatArray = np.zeros(3) if off & int(_OFF.mjDSBL_GRAVITY) else np.array(model.opt.gravity)
        stiffness = model.jnt_stiffness[model.dof_jntid] * np.isin(model.jnt_type[model.dof_jntid], _SINGLE)
        self.stiffness: FloatArray = np.array(stiffness, dtype=float) * (not off & int(_OFF.mjDSBL_SPRING))
        self.damping: FloatArray = np.array(model.dof_damping, dtype=float) * (not off & int(_OFF.mjDSBL_DAMPER))
        self.compensated: FloatArray = np.array(model.body_mass * model.body_gravcomp, dtype=float)
        self.actuators: RecordArray = np.zeros(0 if missing(model) else model.nu, ACTUATOR)
        for i, row in enumerate(self.actuators):
            self._set_actuator(row, model, i)

    @staticmethod
    def _set_actuator(row: np.void, model: mujoco.MjModel, i: int) -> None:
        joint = int(model.actuator_trnid[i, 0])
        row["dof"], row["place"] = model.jnt_dofadr[joint], model.jnt_qposadr[joint]
        row["gear"] = model.actuator_gear[i, 0]
        numbers = 3 if model.actuator_gaintype[i] == int(mujoco.mjtGain.mjGAIN_AFFINE) else 1
        row["gain"][:numbers] = model.actuator_gainprm[i, :numbers]
        if model.actuator_biastype[i] == int(mujoco.mjtBias.mjBIAS_AFFINE):
            row["bias"] = model.actuator_biasprm[i, :3]
        clamped = not int(model.opt.disableflags) & int(_OFF.mjDSBL_CLAMPCTRL)
        for name, limited, bounds in (
            ("input_range", model.actuator_ctrllimited[i] and clamped, model.actuator_ctrlrange[i]),
            ("force_range", model.actuator_forcelimited[i], model.actuator_forcerange[i]),
            ("joint_range", model.jnt_actfrclimited[joint], model.jnt_actfrcrange[joint]),
        ):
            row[name] = bounds if limited else (-np.inf, np.inf)
        row["activation"] = -1
        if model.actuator_dyntype[i] != int(mujoco.mjtDyn.mjDYN_NONE):
            row["activation"] = model.nq + model.nv + model.actuator_actadr[i]
            if model.actuator_dyntype[i] != int(mujoco.mjtDyn.mjDYN_INTEGRATOR):
                row["follows"] = 1.0 / max(model.actuator_dynprm[i, 0], mujoco.mjMINVAL)
