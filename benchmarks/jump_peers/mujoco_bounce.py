"""MuJoCo: a sphere on a plane, its restitution by a soft contact, as far as MuJoCo has restitution.

There is no coefficient of restitution in MuJoCo. A contact is a spring and a damper that push but do not pull; the damping
ratio is the one for which such a contact returns the part e of the speed, the stiffness as high as the time step allows (20
steps a contact). Contacts take time, so that the error is that of the model: it falls with the time step, as the stiffness
rises.
"""

import math
from types import SimpleNamespace

import mujoco
import numpy as np
from scipy.optimize import brentq

from benchmarks import jump_problems as q

from . import arm

SCENE = """
<mujoco><option timestep="{dt}" gravity="0 0 -{g}" integrator="RK4"/>
<default><geom friction="0 0 0" solref="-{k} -{c}" solimp="0.9999 0.9999 1e-6"/></default>
<worldbody><geom type="plane" size="1 1 1" condim="1"/>
<body pos="0 0 1.1"><joint type="slide" axis="0 0 1"/><geom type="sphere" size="0.1" mass="1" condim="1"/></body>
</worldbody></mujoco>"""


def returned(z):
    """The part of the speed that a spring and damper of damping ratio z return, which are let go where they would pull."""
    root = math.sqrt(1.0 - z * z)
    return math.exp(-z / root * (math.pi - math.atan2(2.0 * z * root, 1.0 - 2.0 * z * z)))


def build(problem, dt):
    z = brentq(lambda z: returned(z) - q.E, 1e-6, 0.5)
    w = math.pi / (20.0 * dt)
    model = mujoco.MjModel.from_xml_string(SCENE.format(dt=dt, g=q.G, k=w * w, c=2.0 * z * w))
    data = mujoco.MjData(model)
    steps = round(problem.tf / dt)

    def solve():
        mujoco.mj_resetData(model, data)
        times, touching = [], False
        for _ in range(steps):
            before = data.qpos[0]
            mujoco.mj_step(model, data)
            below = data.qpos[0] < -1.0
            if below and not touching:  # linear between the steps
                times.append(data.time - dt * (-1.0 - data.qpos[0]) / (before - data.qpos[0]))
            touching = below
        return times, np.array([data.qpos[0] + 1.0, data.qvel[0]])

    return arm(problem, f"dt={dt * 1e3:.2g} ms", solve)


PEERS = [
    SimpleNamespace(
        NAME="MuJoCo",
        PACKAGE="mujoco",
        GIVEN="a sphere on a plane, RK4; restitution by the damping of a contact that takes 20 steps",
        settings=lambda problem: [2e-3, 5e-4, 1e-4] if problem.key == "ball" else [],
        build=build,
    )
]
