"""MuJoCo: the plate on fixed supports with its own soft contact at direct stiffness; the cheapest it can be."""

from bouligand.reproduce import mujoco_models

from .mujoco_steps import stepping_arm

mujoco_models.need("mujoco", "bench")  # or this peer is skipped
NAME, PACKAGE = "MuJoCo, soft contact", "mujoco"
TIES = 2e-3  # its setting in the table of ties
GIVEN = "plate: fixed supports, negative `solref`, impedance 1e-4, CG solver; `mj_step(nstep=...)`"


def settings(problem):
    return [2e-3, 1e-3, 2e-4] if problem.kind == "plate" else []


def build(problem, dt):
    return stepping_arm(problem, mujoco_models.soft(problem.m, dt), dt)
