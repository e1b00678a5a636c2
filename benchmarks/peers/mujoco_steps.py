"""MuJoCo: the hopper exactly (a tendon with a deadband), the plate on pads; its own C loop over steps.

On the plate it integrates another contact law (see `bouligand.reproduce.mujoco_models`): the error here is against the
law that was asked for, and levels off at the difference.
"""

import numpy as np

from bouligand.reproduce import mujoco_models

from . import Arm

mujoco_models.need("mujoco", "bench")  # or this peer is skipped
NAME, PACKAGE = "MuJoCo, pads", "mujoco"
TIES = 2e-3  # its setting in the table of ties
GIVEN = "hopper: tendon with a spring deadband (the exact law); plate: pads on slide joints, CG solver; `mj_step(nstep=...)`"


def name(problem):
    """The hopper has no pads."""
    return NAME if problem.kind == "plate" else "MuJoCo"


def settings(problem):
    if problem.kind == "balls":
        return [2e-3, 1e-3, 2e-4, 2e-5]
    return [2e-3, 1e-3, 2e-4] if problem.kind == "plate" else []


def build(problem, dt):
    if problem.kind == "plate":
        return stepping_arm(problem, mujoco_models.pads(problem.m, dt), dt)
    return stepping_arm(problem, mujoco_models.hopper(dt, problem.m), dt)


def stepping_arm(problem, model, dt):
    stepping = mujoco_models.Stepping(model, problem.x0, problem.tf)
    return Arm(f"dt={dt * 1e3:.2g} ms", stepping.run, lambda: np.array(stepping.sample(len(problem.times))))
