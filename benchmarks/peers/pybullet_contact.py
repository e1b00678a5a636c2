"""PyBullet: the hopper as a sphere that falls onto a plane with contact stiffness; its own C loop over substeps.

Bullet puts the stiffnesses of both bodies in series, so that each has twice the spring's. Its implicit contact damps: a bounce
loses height in proportion to the step. The other problems' laws cannot be written with it.
"""

import numpy as np
import pybullet as pb

from . import Arm

NAME, PACKAGE = "PyBullet", "pybullet"
TIES = 2e-3  # its setting in the table of ties
GIVEN = (
    "hopper: sphere on a plane, contact stiffness 2k on both bodies, no damping, restitution or friction; substeps in C"
)
RADIUS = 0.5


def settings(problem):
    return [2e-3, 1e-3, 2e-4, 2e-5] if problem.kind == "balls" and problem.m == 1 else []


def build(problem, dt):
    g, stiffness, rest = problem.p
    world = {"physicsClientId": pb.connect(pb.DIRECT)}
    pb.setGravity(0.0, 0.0, -g, **world)
    plane = pb.createMultiBody(
        0.0, pb.createCollisionShape(pb.GEOM_PLANE, **world), basePosition=[0.0, 0.0, rest - RADIUS], **world
    )
    ball = pb.createMultiBody(
        1.0, pb.createCollisionShape(pb.GEOM_SPHERE, radius=RADIUS, **world), basePosition=[0.0, 0.0, 2.0], **world
    )
    for body in (plane, ball):
        pb.changeDynamics(
            body,
            -1,
            contactStiffness=2.0 * stiffness,
            contactDamping=0.0,
            lateralFriction=0.0,
            linearDamping=0.0,
            angularDamping=0.0,
            restitution=0.0,
            **world,
        )

    def reset():
        pb.resetBasePositionAndOrientation(ball, [0.0, 0.0, problem.x0[0]], [0.0, 0.0, 0.0, 1.0], **world)
        pb.resetBaseVelocity(ball, [0.0, 0.0, problem.x0[1]], [0.0, 0.0, 0.0], **world)

    def state():
        height = pb.getBasePositionAndOrientation(ball, **world)[0][2]
        return np.array([height, pb.getBaseVelocity(ball, **world)[0][2]])

    def advance(span):
        steps = round(span / dt)
        pb.setPhysicsEngineParameter(fixedTimeStep=span, numSubSteps=steps if steps > 1 else 0, **world)
        pb.stepSimulation(**world)

    def run():
        reset()
        advance(problem.tf)
        return state()

    def sample():
        reset()
        out = np.empty((len(problem.times), 2))
        for row in out:
            advance(problem.tf / len(problem.times))
            row[:] = state()
        return out

    return Arm(f"dt={dt * 1e3:.2g} ms", run, sample)
