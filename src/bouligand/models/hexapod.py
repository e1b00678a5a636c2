"""A hexapod like RHex: a rigid body on six rotating legs, in an alternating tripod gait.

          FL___________ ML __________ RL          z up, x ahead, y to the left; hips at the body's two sides, the middle
          /|\\           |            |            ones twice as far out (so that equal loads on a tripod do not roll it)
         / | \\   body (x, y, z), m    |            tripod 0: front left, middle right, rear left
        o  |  o         |             o           tripod 1: the other three, half a turn behind
       feet turn about their hips: gamma(t)       foot i in the body's frame: hip_i + l (-sin gamma_i, 0, -cos gamma_i)
    _______________________________________

State: position (x, y, z) of the centre of mass in the world, roll, pitch and yaw (R = Rz(yaw) Ry(pitch) Rx(roll)), velocity
in the world, angular velocity (wx, wy, wz) in the body's frame. The angles are singular at pitch = +-90 degrees, far
from what happens while it runs.

    phi = 2 pi t / period + phase (+ pi for tripod 1),    gamma = phi - swing sin phi:  slow on the ground, fast in the air
    r_i = position + R (foot i)                            v_i = its velocity, the leg's own turning included
    N_i = k h_i + c hdot_i,  h_i = -z of r_i               the foot is a spring and a damper below the ground's level, z = 0
    T_i = -mu N_i v / sqrt(|v|^2 + slip^2)                 Coulomb friction, smoothed at sliding speeds below ``slip``
    m a = sum (T_i, N_i) - m g,     I w' = sum R^T ((r_i - position) x F_i) - w x I w        over touching feet (h_i > 0)

The legs have no mass, and their angles follow gamma(t) exactly. A foot may pull for a moment before it lifts off, as the plate's
springs do; with ``pulling=False`` each foot has a second guard, N_i = 0, which removes the force where it would pull.

What is known: momentum and energy in flight; from a level start the three feet of a tripod land at the same instant; and the
same equations derived by SymPy from r_i alone (tests/models/test_hexapod.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..system.system import System
from .admissible import ANY, FLAG, NOT_NEGATIVE, POSITIVE, Reals, takes
from .drawing import BODY, EDGE, contact_colour, frame, project
from .model import Model

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from .._typing import FloatArray, SignArray

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

# indices of the parameters
G, MASS, IX, IY, IZ, LENGTH, WIDTH, LEG, K, C, MU, SLIP, PERIOD, SWING, PHASE = range(15)

VIEW = (-1.25, 0.28)  # rad: azimuth and elevation from which the drawing looks

START = np.zeros(12)
START[2], START[6] = 0.18, 0.9


LIMITS = {
    "mass": POSITIVE, "body": Reals(POSITIVE, 3), "leg": POSITIVE, "stiffness": POSITIVE, "damping": NOT_NEGATIVE,
    "friction": NOT_NEGATIVE, "slip": POSITIVE, "period": POSITIVE, "swing": ANY, "phase": ANY, "g": NOT_NEGATIVE,
    "pulling": FLAG,
}  # fmt: skip


@takes(LIMITS)
def hexapod(
    mass: float = 7.0,
    body: Sequence[float] = (0.5, 0.25, 0.12),
    leg: float = 0.175,
    stiffness: float = 2500.0,
    damping: float = 120.0,
    friction: float = 0.8,
    slip: float = 0.1,
    period: float = 0.5,
    swing: float = 0.84,
    phase: float = -1.1,
    g: float = 9.81,
    pulling: bool = True,
) -> System:
    """A hexapod like RHex: a rigid body on six rotating legs, in an alternating tripod gait.

    The usual start, START in this file, is level in the air and moving forward, with the first tripod about to land.

    Parameters
    ----------
    mass, g : float
        Mass of the body, and gravity.
    body : (length, width, height)
        Box that gives the moments of inertia; the hips are at its corners, and at the middle of its sides twice as far out.
    leg : float
        Length of the legs.
    stiffness, damping : float
        Of a foot on the ground.
    friction, slip : float
        Coefficient of friction, and the sliding speed below which it is smoothed.
    period, swing, phase : float
        Of the rotation of the legs: duration of a turn, modulation of its speed, and angle at t = 0.
    pulling : bool
        Whether a foot may pull for a moment before it lifts off; if not, each foot has a second guard.

    Returns
    -------
    System
        States x, y, z, roll, pitch, yaw, vx, vy, vz, wx, wy and wz; a guard for each foot (with ``pulling=False`` two).

    Examples
    --------
    >>> import bouligand as bd
    >>> len(bd.models.hexapod().guards), len(bd.models.hexapod(pulling=False).guards)
    (6, 12)
    """
    from . import _hexapod_compiled as compiled

    long, wide, high = map(float, body)
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
    known: dict[str, Any] = (
        {"f0": compiled.free, "g": compiled.contact, "Dh_row": compiled.guard_row, "Dt_h": compiled.guards_by_time}
        if pulling
        else {}
    )
    return System(
        compiled.field,
        compiled.guards,
        states=("x", "y", "z", "roll", "pitch", "yaw", "vx", "vy", "vz", "wx", "wy", "wz"),
        guards=FEET if pulling else FEET + tuple(f"{foot} pushes" for foot in FEET),
        params=params,
        name="hexapod",
        **known,
    )


def draw(ax: Axes, t: float, x: FloatArray, b: SignArray, p: FloatArray) -> None:
    """From the side; the camera moves with the robot, past a floor that does not move."""
    from . import _hexapod_compiled as compiled

    turn, centre = np.array(compiled.rotation(x)), np.array([0.0, 0.0, x[2]])
    length, width, height = p[LENGTH], p[WIDTH], 0.35 * p[LEG]

    def line(points: ArrayLike, **style: Any) -> None:
        ax.plot(*project(np.asarray(points), *VIEW).T, **style)

    for place in np.arange(np.ceil((x[0] - 2.0) / 0.25) * 0.25, x[0] + 2.0, 0.25) - x[0]:
        line([[place, -1.0, 0.0], [place, 1.0, 0.0]], color="0.88", lw=1.0, zorder=0)
    for place in np.arange(-1.0, 1.01, 0.25):
        line([[-2.0, place, 0.0], [2.0, place, 0.0]], color="0.88", lw=1.0, zorder=0)
    corners = np.array([[sx * length, sy * width, 0.0] for sx, sy in ((1, 1), (1, -1), (-1, -1), (-1, 1), (1, 1))])
    low, high = (centre + (corners + [0.0, 0.0, level]) @ turn.T for level in (-0.5 * height, 0.5 * height))
    side = np.vstack([low[[1, 2]], high[[2, 1]]])
    ax.fill(*project(side, *VIEW).T, facecolor=EDGE, edgecolor=EDGE, zorder=3)
    ax.fill(*project(high, *VIEW).T, facecolor=BODY, edgecolor=EDGE, lw=1.2, zorder=3)
    for i in range(6):
        hip = np.array([length * ALONG[i], width * ACROSS[i], 0.0])
        beside = [hip[0], np.copysign(width, hip[1]), 0.0]  # on the body's side: the middle hips are farther out
        foot = compiled.leg(i, compiled.clock(t, i // 3, p), p)[0]
        beside, hip, foot = centre + np.array([beside, hip, foot]) @ turn.T
        colour, order = contact_colour(b[i]), (4 if ACROSS[i] < 0 else 2)  # legs on the right are in front of the body
        line([beside, hip], color=EDGE, lw=2.0, zorder=order)
        line([hip, foot], color=colour, lw=3.0, solid_capstyle="round", zorder=order)
        line([foot], ls="", marker="o", ms=5, color=colour, zorder=order)
    frame(ax, t, (-0.6, 0.6), (-0.2, 0.5), floor=False)


MODEL = Model(
    about="a hexapod in an alternating tripod gait",
    make=hexapod,
    start=START,
    tf=1.5,
    draw=draw,
    speed=0.4,
    units={
        "t": "s",
        **dict.fromkeys(("x", "y", "z"), "m"),
        **dict.fromkeys(("roll", "pitch", "yaw"), "rad"),
        **dict.fromkeys(("vx", "vy", "vz"), "m/s"),
        **dict.fromkeys(("wx", "wy", "wz"), "rad/s"),
    },
    cycle={"period": 0.5, "drift": ("x", "y"), "settle": 2.5},
)
