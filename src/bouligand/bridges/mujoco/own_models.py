"""The copies of a model that the compiled functions work with: what they do not ask for is not computed."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from .table import PAIR

if TYPE_CHECKING:
    from ..._typing import RecordArray


def smooth_copy(model: mujoco.MjModel) -> mujoco.MjModel:
    """A copy with everything off that is not part of the smooth motion."""
    model = copy.copy(model)
    off = mujoco.mjtDisableBit
    model.opt.disableflags |= int(off.mjDSBL_CONTACT | off.mjDSBL_CONSTRAINT | off.mjDSBL_SENSOR)
    model.opt.enableflags = 0
    model.opt.integrator = int(mujoco.mjtIntegrator.mjINT_EULER)
    model.opt.ccd_tolerance = 1e-12  # of distances between geoms that have no formula
    model.opt.ccd_iterations = 200
    return model


def place_few_geoms(model: mujoco.MjModel, contacts: RecordArray) -> None:
    """Let the kinematics leave geoms at their bodies' frames that nothing here depends on. (Pictures have another model.)"""
    if model.opt.density > 0.0 or model.opt.viscosity > 0.0:
        return  # (forces of a fluid act on geoms)
    pairs = contacts[contacts["kind"] == PAIR]
    needed = {int(geom) for name in ("geom1", "geom2") for geom in pairs[name]}
    on_geoms = (int(mujoco.mjtWrap.mjWRAP_SPHERE), int(mujoco.mjtWrap.mjWRAP_CYLINDER))
    needed |= {int(geom) for kind, geom in zip(model.wrap_type, model.wrap_objid, strict=True) if kind in on_geoms}
    for geom in set(range(model.ngeom)) - needed:
        model.geom_sameframe[geom] = int(mujoco.mjtSameFrame.mjSAMEFRAME_BODY)


def light_copy(model: mujoco.MjModel) -> mujoco.MjModel:
    """A copy whose kinematics leave out what guards do not ask for: the axes of inertia."""
    model, same = copy.copy(model), mujoco.mjtSameFrame
    by_inertia = np.isin(model.geom_sameframe, [int(same.mjSAMEFRAME_INERTIA), int(same.mjSAMEFRAME_INERTIAROT)])
    model.geom_sameframe[by_inertia] = int(same.mjSAMEFRAME_NONE)
    model.body_sameframe[:] = int(same.mjSAMEFRAME_BODY)
    return model
