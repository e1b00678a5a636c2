"""A robot with six articulated legs (examples/six_legs.xml: a body and 6 x 3 joints), pushed, comes to rest 4 cm further.

    python examples/six_legs.py [FOLDER]

The actuators of the robot file are position servos; the controls of the plan are their targets.
"""

import pathlib
import sys

import numpy as np

import bouligand as bd
from bouligand.bridges import mujoco as mj

FILE = pathlib.Path(__file__).parent / "six_legs.xml"
STAND = np.tile([0.0, 0.5, -1.8], 6)


def robot():
    """The robot through the bridge: feet with a spring and a damper, and smoothed dry friction."""
    return mj.load(
        str(FILE),
        contacts="*_foot",
        law=mj.Spring(4000.0, 40.0),
        friction=mj.Coulomb(mu=0.8, slip_speed=0.1),
        control=mj.Hold(),
    )


def weights(six):
    """Of the tangent coordinates: the base's height, attitude and velocity, a little of the joints."""
    nv = six.model.nv
    out = np.zeros(six.tangents)
    out[:6], out[6:nv] = [20.0, 20.0, 200.0, 20.0, 20.0, 20.0], 0.5
    out[nv : nv + 6], out[nv + 6 :] = [2.0, 2.0, 2.0, 0.5, 0.5, 0.5], 0.002
    return out


def aim(six):
    """Standing, 5 cm further to the left."""
    x = six.neutral("stand")
    x[1] += 0.05
    x[2] -= 0.001
    return x


def make(six, quick=True, nodes=20, horizon=0.5):
    """The plan over half a second.

    Errors of positions make forces of stiff feet, and by these feet lift off: a tenth of a millimetre is allowed, and 3 cm/s. No
    step is longer than 5 ms: explicit ones would be rejected every second time.
    """
    P, target = bd.planning, aim(six)
    errors = np.where(np.arange(six.n) < six.model.nq, 1e-4, 3e-2)
    return P.Plan(
        six,
        np.linspace(0.0, horizon, nodes + 1),
        running=P.Quadratic(target, x=weights(six), u=0.05, rest=STAND),
        end=P.Quadratic(target, x=0.5 * weights(six)),
        limits=(STAND - 0.6, STAND + 0.6),
        p=dict(zip(six._held_inputs, STAND.tolist(), strict=True)),
        quick=quick,
        method="bosh3",
        rtol=1e-3,
        atol=errors,
        max_step=5e-3,
    )


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "results/six_legs")
    folder.mkdir(parents=True, exist_ok=True)
    six = robot()
    start = six.neutral("stand")
    start[six.model.nq + 1] = 0.3  # pushed to the left
    plan = make(six)
    found = plan.solve(start, STAND, iterations=40, progress=True)
    print(found)
    print("moved to", found.x[-1, :3].round(3))
    from bouligand.bridges.mujoco import pictures

    pictures.film(six, found.solution, folder / "six_legs.gif")
