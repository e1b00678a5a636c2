"""DART: the hopper as a mass on a prismatic joint; the one-sided spring's force is set from Python before every step.

DART's own joint springs act both ways, and its contacts are rigid: the law needs the loop in Python, which is most of the time.
"""

import dartpy as dart
import numpy as np

from . import stepped

NAME, PACKAGE = "DART", "dartpy"
TIES = 2e-3  # its setting in the table of ties
GIVEN = "hopper: prismatic joint, the spring's force set from Python before every step"


def settings(problem):
    return [2e-3, 1e-3, 2e-4] if problem.kind == "balls" and problem.m == 1 else []


def build(problem, dt):
    g, stiffness, rest = problem.p
    world = dart.simulation.World()
    world.setTimeStep(dt)
    world.setGravity([0.0, 0.0, -g])
    skeleton = dart.dynamics.Skeleton("hopper")
    joint, body = skeleton.createPrismaticJointAndBodyNodePair()
    joint.setAxis([0.0, 0.0, 1.0])
    inertia = body.getInertia()
    inertia.setMass(1.0)
    body.setInertia(inertia)
    world.addSkeleton(skeleton)

    def reset():
        joint.setPosition(0, problem.x0[0])
        joint.setVelocity(0, problem.x0[1])

    def advance(steps):
        for _ in range(steps):
            depth = rest - joint.getPosition(0)
            joint.setForce(0, stiffness * depth if depth > 0.0 else 0.0)
            world.step()

    def state():
        return np.array([joint.getPosition(0), joint.getVelocity(0)])

    return stepped(problem, dt, reset, advance, state)
