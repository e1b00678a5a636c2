"""Numbers of a model that no robot has: not finite, negative where nothing is, limits of which the lower is the higher.

MuJoCo takes most of them: a negative armature makes its mass matrix singular, crossed limits are left out without a word.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np

from .features import name_of

_OBJECTS = {
    "joint": mujoco.mjtObj.mjOBJ_JOINT,
    "tendon": mujoco.mjtObj.mjOBJ_TENDON,
    "actuator": mujoco.mjtObj.mjOBJ_ACTUATOR,
    "body": mujoco.mjtObj.mjOBJ_BODY,
    "geom": mujoco.mjtObj.mjOBJ_GEOM,
}
_NOT_NEGATIVE = {  # arrays of MjModel: whose they are, and what they are called in a file
    "jnt_stiffness": ("joint", "stiffness"),
    "dof_damping": ("dof", "damping"),
    "dof_armature": ("dof", "armature"),
    "dof_frictionloss": ("dof", "frictionloss"),
    "tendon_stiffness": ("tendon", "stiffness"),
    "tendon_damping": ("tendon", "damping"),
    "tendon_armature": ("tendon", "armature"),
    "tendon_frictionloss": ("tendon", "frictionloss"),
    "actuator_damping": ("actuator", "damping"),
    "actuator_armature": ("actuator", "armature"),
    "body_mass": ("body", "mass"),
    "body_inertia": ("body", "inertia"),
    "geom_friction": ("geom", "friction"),
}
_LIMITS = {
    "jnt_range": ("joint", "range"),
    "jnt_actfrcrange": ("joint", "actuatorfrcrange"),
    "tendon_range": ("tendon", "range"),
    "tendon_actfrcrange": ("tendon", "actuatorfrcrange"),
    "tendon_lengthspring": ("tendon", "springlength"),
    "actuator_ctrlrange": ("actuator", "ctrlrange"),
    "actuator_forcerange": ("actuator", "forcerange"),
    "actuator_actrange": ("actuator", "actrange"),
}
_FILTERS = [int(mujoco.mjtDyn.mjDYN_FILTER), int(mujoco.mjtDyn.mjDYN_FILTEREXACT)]
MOST_NAMED = 8


def refuse_impossible(model: mujoco.MjModel, what: object) -> None:
    """An error if a number of the model is not finite, or one that no robot has; it names the joint, or whatever has it."""
    for owner in (model, model.opt):
        for name in dir(owner):
            values = None if name.startswith("_") else getattr(owner, name, None)
            if isinstance(values, float | np.ndarray):
                values = np.asarray(values)
                if values.dtype.kind == "f" and not np.isfinite(values).all():
                    raise ValueError(f"{what} cannot be read: {name} is not finite")
    found = list(dict.fromkeys((*_negative(model), *_crossed(model))))
    if found:
        more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
        raise ValueError(
            f"{what} cannot be read: {'; '.join(found[:MOST_NAMED])}{more}. Correct the file, or the spec with edit="
        )


def _negative(model: mujoco.MjModel) -> Iterator[str]:
    for name, (kind, called) in _NOT_NEGATIVE.items():
        for i, value in _rows(model, name, lambda row: (row < 0).any()):
            yield f"{_owner(model, kind, i)} has the {called} {_shown(value[value < 0][:1])}, which must not be negative"
    filters = np.isin(model.actuator_dyntype, _FILTERS)
    for i in np.flatnonzero(filters & (model.actuator_dynprm[:, 0] < 0)).tolist():
        seconds = _shown(model.actuator_dynprm[i, :1])
        yield f"{_owner(model, 'actuator', i)} has the time constant (dynprm) {seconds}, which must not be negative"
    for called in ("density", "viscosity"):
        if getattr(model.opt, called) < 0:
            yield f"the option {called} is {getattr(model.opt, called):g}, which must not be negative"


def _crossed(model: mujoco.MjModel) -> Iterator[str]:
    for name, (kind, called) in _LIMITS.items():
        for i, value in _rows(model, name, lambda row: row[0] > row[1]):
            yield f"{_owner(model, kind, i)} has the {called} {_shown(value)}, of which the first must be the smaller"


def _rows(model: mujoco.MjModel, name: str, wrong: Any) -> Iterator[tuple[int, Any]]:
    """The rows of an array that are wrong. (Older versions of MuJoCo do not have all.)"""
    values = np.asarray(getattr(model, name, ()), dtype=float)
    for i, row in enumerate(values.reshape(len(values), -1) if len(values) else ()):
        if wrong(row):
            yield i, row


def _owner(model: mujoco.MjModel, kind: str, i: int) -> str:
    if kind == "dof":
        kind, i = "joint", int(model.dof_jntid[i])
    return f"the {kind} {name_of(model, _OBJECTS[kind], i)!r}"


def _shown(values: Any) -> str:
    return " ".join(f"{value:.4g}" for value in values)
