"""What a MuJoCo model may contain: what the bridge does not compute is refused, all of it in one error, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_DYNAMICS = ("mjDYN_NONE", "mjDYN_INTEGRATOR", "mjDYN_FILTER", "mjDYN_FILTEREXACT")
_GAINS = ("mjGAIN_FIXED", "mjGAIN_AFFINE")
_BIASES = ("mjBIAS_NONE", "mjBIAS_AFFINE")
_TRANSMISSIONS = ("mjTRN_JOINT", "mjTRN_JOINTINPARENT", "mjTRN_TENDON", "mjTRN_SITE")


class UnsupportedFeatureError(ValueError):
    """A model contains something that the bridge does not compute.

    Attributes
    ----------
    features : tuple of str
        What it is, and what to do about it, where something can be done.
    """

    def __init__(self, features: Sequence[str]) -> None:
        self.features = tuple(features)
        lines = "\n".join(f"  - {feature}" for feature in features)
        super().__init__(f"the model contains what the MuJoCo bridge does not compute:\n{lines}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.features,)


def refuse(model: mujoco.MjModel, limits: object, unusable: Callable[[mujoco.MjModel, int], str | None]) -> None:
    """Raise an UnsupportedFeatureError if a part of the model would have no effect on the computed motion.

    ``unusable(model, i)`` is why equality constraint i would have none (see `couplings`), or None.
    """
    found = [*_constraints(model, limits, unusable), *_actuators(model), *_others(model)]
    if found:
        raise UnsupportedFeatureError(found)


def name_of(model: mujoco.MjModel, kind: Any, index: int) -> str:
    """The name of an element of a model, or its kind and number if it has none."""
    return mujoco.mj_id2name(model, kind, int(index)) or f"{kind.name.removeprefix('mjOBJ_').lower()}{int(index)}"


def _named(model: mujoco.MjModel, kind: Any, which: ArrayLike) -> str:
    names = [repr(name_of(model, kind, int(i))) for i in np.flatnonzero(which)]
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def _constraints(
    model: mujoco.MjModel, limits: object, unusable: Callable[[mujoco.MjModel, int], str | None]
) -> Iterator[str]:
    joint, tendon = mujoco.mjtObj.mjOBJ_JOINT, mujoco.mjtObj.mjOBJ_TENDON
    limited = np.asarray(model.jnt_limited, dtype=bool)
    if limits == "refuse" and limited.any():
        yield f"limits of the joints {_named(model, joint, limited)}; give limits=Stops() or limits='ignore'"
    if limits == "refuse" and np.any(model.tendon_limited):
        yield f"limits of the tendons {_named(model, tendon, model.tendon_limited)}; give limits=Stops() or limits='ignore'"
    balls = limited & (model.jnt_type == int(mujoco.mjtJoint.mjJNT_BALL))
    if limits not in ("refuse", "ignore") and balls.any():
        yield f"limits of the ball joints {_named(model, joint, balls)}; limits='ignore' leaves all limits out"
    for i in range(model.neq):
        reason = unusable(model, i) if model.eq_active0[i] else None
        if reason is not None:
            yield f"the equality constraint {name_of(model, mujoco.mjtObj.mjOBJ_EQUALITY, i)!r} ({reason})"
    if model.ntendon:
        idle = np.asarray(model.tendon_limited, dtype=bool) & (model.tendon_invweight0 < 1e-10)
        if limits not in ("refuse", "ignore") and idle.any():
            yield (
                f"limits of the tendons {_named(model, tendon, idle)}, which nothing makes longer in the reference pose: the "
                "inertia of such a limit is not known; change that pose (qpos0, ref), or limits='ignore' leaves all limits out"
            )
        if np.any(model.tendon_frictionloss > 0):
            yield (
                f"dry friction (frictionloss) of the tendons {_named(model, tendon, model.tendon_frictionloss > 0)}; give it to "
                "the joints, or edit= removes it"
            )
    wraps = (mujoco.mjtWrap.mjWRAP_SPHERE, mujoco.mjtWrap.mjWRAP_CYLINDER)
    if np.isin(model.wrap_type, [int(wrap) for wrap in wraps]).any():
        yield "tendons that wrap around geoms; edit= may lead them over sites, or remove them"


def _actuators(model: mujoco.MjModel) -> Iterator[str]:
    """(Models of MuJoCo before 4 have nu actuators, later ones nactuator.)"""
    for i in range(getattr(model, "nactuator", model.nu)):
        name = name_of(model, mujoco.mjtObj.mjOBJ_ACTUATOR, i)
        dynamics = mujoco.mjtDyn(int(model.actuator_dyntype[i])).name
        kinds = {
            "dynamics": (dynamics, _DYNAMICS),
            "gain": (mujoco.mjtGain(int(model.actuator_gaintype[i])).name, _GAINS),
            "bias": (mujoco.mjtBias(int(model.actuator_biastype[i])).name, _BIASES),
            "transmission": (mujoco.mjtTrn(int(model.actuator_trntype[i])).name, _TRANSMISSIONS),
        }
        for what, (kind, known) in kinds.items():
            if kind not in known:
                yield f"the {what} {kind.partition('_')[2].lower()!r} of the actuator {name!r}"
        if dynamics != "mjDYN_NONE" and model.actuator_actlimited[i]:
            yield f"the limits of the activation (actrange) of the actuator {name!r}"
        if model.actuator_actearly[i]:
            yield f"actearly of the actuator {name!r}: it depends on the length of MuJoCo's time step"
        if hasattr(model, "actuator_delay") and model.actuator_delay[i] > 0:
            yield f"the delay of the actuator {name!r}"


def _others(model: mujoco.MjModel) -> Iterator[str]:
    for size, what in {
        "nflex": "flexes (deformable bodies)",
        "nplugin": "plugins",
        "nmocap": "mocap bodies",
        "nplastic": "plastic springs",
    }.items():
        if getattr(model, size, 0):
            yield f"{what}: {getattr(model, size)}"
