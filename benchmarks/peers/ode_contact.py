"""The Open Dynamics Engine: the hopper as a mass whose contact with a plane has stiffness, by ERP and CFM.

There is no wheel for it: Debian's python3-pyode has the binding. With ERP 1 and CFM 1/(dt k) its contact is an implicit spring,
which damps in proportion to the step.
"""

import numpy as np
import ode

from . import stepped

NAME, PACKAGE = "ODE", None
TIES = 2e-3  # its setting in the table of ties
GIVEN = (
    "hopper: a contact joint with ERP 1 and CFM 1/(dt k) while the mass is below the spring's length, set from Python"
)


def settings(problem):
    return [2e-3, 1e-3, 2e-4] if problem.kind == "balls" and problem.m == 1 else []


def build(problem, dt):
    g, stiffness, rest = problem.p
    world = ode.World()
    world.setGravity((0.0, 0.0, -g))
    mass = ode.Mass()
    mass.setSphere(1.0, 0.1)
    mass.adjust(1.0)  # setSphereTotal of this binding takes a density
    body = ode.Body(world)
    body.setMass(mass)
    group = ode.JointGroup()
    contact = ode.Contact()
    contact.setMu(0.0)
    contact.setBounce(0.0)
    contact.setMode(ode.ContactSoftERP + ode.ContactSoftCFM)
    contact.setSoftERP(1.0)
    contact.setSoftCFM(1.0 / (dt * stiffness))

    def reset():
        body.setPosition((0.0, 0.0, problem.x0[0]))
        body.setLinearVel((0.0, 0.0, problem.x0[1]))

    def advance(steps):
        for _ in range(steps):
            depth = rest - body.getPosition()[2]
            if depth > 0.0:
                contact.setContactGeomParams((0.0, 0.0, rest), (0.0, 0.0, 1.0), depth)
                ode.ContactJoint(world, group, contact).attach(body, None)
            world.step(dt)
            group.empty()

    def state():
        return np.array([body.getPosition()[2], body.getLinearVel()[2]])

    return stepped(problem, dt, reset, advance, state)
