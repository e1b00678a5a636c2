"""A hexapod like RHex: a rigid body on six legs that go round and round, in an alternating tripod gait.

          FL___________ ML __________ RL          z up, x ahead, y to the left; hips at the body's two sides, the middle
          /|\\           |            |            ones twice as far out (so that equal loads on a tripod do not roll it)
         / | \\   body (x, y, z), m    |            tripod 0: front left, middle right, rear left
        o  |  o         |             o           tripod 1: the other three, half a turn behind
       feet turn about their hips: gamma(t)       foot i in the body's frame: hip_i + l (-sin gamma_i, 0, -cos gamma_i)
    _______________________________________

State: position (x, y, z) of the centre of mass in the world, roll, pitch and yaw (R = Rz(yaw) Ry(pitch) Rx(roll)), velocity
in the world, angular velocity (wx, wy, wz) in the body's frame. The angles are singular at pitch = +-90 degrees: a robot
that runs is far from it.

    phi = 2 pi t / period + phase (+ pi for tripod 1),    gamma = phi - swing sin phi:  slow on the ground, fast in the air
    r_i = position + R (foot i)                            v_i = its velocity, the leg's own turning included
    N_i = k h_i + c hdot_i,  h_i = -z of r_i               the foot is a spring and a damper below the ground's level, z = 0
    T_i = -mu N_i v / sqrt(|v|^2 + slip^2)                 Coulomb friction, smoothed at sliding speeds below ``slip``
    m a = sum (T_i, N_i) - m g,     I w' = sum R^T ((r_i - position) x F_i) - w x I w        over touching feet (h_i > 0)

Legs have no mass, and motors that hold them to the clock. A foot may pull for a moment before it lets go, as the plate's
springs do; with ``pulling=False`` a second guard for each foot, N_i = 0, takes the force off where it would.

Known answers: momentum and energy in flight; from a level start the three feet of a tripod land at one instant; and the
same equations derived by SymPy from r_i alone (tests/test_hexapod.py).
"""

import numpy as np

from ..system.system import System

FEET = (
    "front left",
    "middle right",
    "rear left",
    "front right",
    "middle left",
    "rear right",
)  # tripod 0, then tripod 1
ALONG = np.array([1.0, 0.0, -1.0, 1.0, 0.0, -1.0])  # hip_i = (length ALONG_i, width ACROSS_i, 0)
ACROSS = np.array([1.0, -2.0, 1.0, -1.0, 2.0, -1.0])

# places of the parameters
G, MASS, IX, IY, IZ, LENGTH, WIDTH, LEG, K, C, MU, SLIP, PERIOD, SWING, PHASE = range(15)

START = np.zeros(12)
START[2], START[6] = 0.18, 0.9


def hexapod(
    mass=7.0,
    body=(0.5, 0.25, 0.12),
    leg=0.175,
    stiffness=2500.0,
    damping=120.0,
    friction=0.8,
    slip=0.1,
    period=0.5,
    swing=0.84,
    phase=-1.1,
    g=9.81,
    pulling=True,
):
    """The hexapod; its usual start, START, is level in the air and running ahead, the first tripod about to land.

    ``body``: length, width and height of the box that gives the moments of inertia; the hips are at its corners, and at the
    middle of its sides twice as far out. ``pulling=False``: feet that do not pull, with a second guard each.
    """
    from . import feet

    long, wide, high = body
    params = {
        "g": g,
        "mass": mass,
        "Ix": mass * (wide**2 + high**2) / 12,
        "Iy": mass * (long**2 + high**2) / 12,
        "Iz": mass * (long**2 + wide**2) / 12,
        "length": long / 2,
        "width": wide / 2,
        "leg": leg,
        "k": stiffness,
        "c": damping,
        "mu": friction,
        "slip": slip,
        "period": period,
        "swing": swing,
        "phase": phase,
    }
    known = (
        {"f0": feet.free, "g": feet.contact, "Dh_row": feet.guard_row, "Dt_h": feet.guards_by_time} if pulling else {}
    )
    return System(
        feet.field,
        feet.guards,
        states=("x", "y", "z", "roll", "pitch", "yaw", "vx", "vy", "vz", "wx", "wy", "wz"),
        guards=FEET if pulling else FEET + tuple(f"{foot} pushes" for foot in FEET),
        params=params,
        name="hexapod",
        **known,
    )
