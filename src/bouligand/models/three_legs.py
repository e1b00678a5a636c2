"""A body that hops on three preloaded legs (after the robot of the paper's Figure 1), in space.

            ___________           body: a disc of mass m, inertia (I1, I1, I3), its centre at the height z
        ___/     z     \\___      legs i = 0, 1, 2 along the body's axis, 120 degrees apart at the radius r, length L
       |        |         |      s_i = -(z + u . a_i) / u_z: how far a leg is pushed in,
       $        $         $            with a_i = (r cos, r sin, -L) its free foot and u the vertical, both in body axes
       |        |         |      F_i = preload + k s_i + c s_i' along the leg while it touches (b_i > 0)
      _o_______ o ________o_     the floor is smooth: it pushes straight up, by F_i / u_z, at the foot a_i + s_i (0, 0, 1)

In flight a cable holds each leg compressed, so that it pushes with a finite force at the instant of touchdown: the contact force
is affine in s, which a linear complementarity problem cannot express. For the integrator it is a jump of the acceleration, and
three of them at the same instant when the body lands level.

The state is (z, roll, pitch, vz, wx, wy, wz): height, tilt, and the rates in body axes. On a smooth floor the heading and the
horizontal position have no effect. u = (-sin pitch, cos pitch sin roll, cos pitch cos roll) turns with u' = u x w.

With 3 preload > m g a body with damping cannot come to rest on its legs: it would slide along the surface where they just touch.
Its bounces become ever shorter until the integration stops with an error that names the feet. It also stops when the body falls
over: at 90 degrees a leg along the body's axis does not reach the floor.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..system.arguments import finite_numbers
from ..system.system import System
from .admissible import NOT_NEGATIVE, NUMBERS, POSITIVE, takes
from .drawing import BODY, EDGE, contact_colour, frame, project, spring
from .model import Model

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from .._typing import FloatArray, SignArray

START = np.array([0.7, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])  # level, at rest
TILTED = np.array([0.7, 0.03, -0.02, 0.0, 0.0, 0.0, 0.0])  # feet land within 4 ms
DEFAULTS = {"g": 9.81, "mass": 3.0, "I1": 0.03, "I3": 0.05, "r": 0.2, "L": 0.4, "k": 1500.0, "c": 10.0, "preload": 8.0}
TURN = 2.0 * math.pi / 3.0
MANY = 10_000  # crossings after which `exact` gives up
VIEW = (0.35, 0.22)  # rad: azimuth and elevation from which the drawing looks


def free(t: float, x: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    """Flight: Euler's equations of an axisymmetric body, and how roll and pitch follow the rates."""
    turning = x[5] * math.sin(x[1]) + x[6] * math.cos(x[1])
    dx[0] = x[3]
    dx[1] = x[4] + turning * math.tan(x[2])
    dx[2] = x[5] * math.cos(x[1]) - x[6] * math.sin(x[1])
    dx[3] = -p[0]
    spin = (p[2] - p[3]) / p[2] * x[6]
    dx[4] = spin * x[5]
    dx[5] = -spin * x[4]
    dx[6] = 0.0


def contact(t: float, x: FloatArray, k: int, p: FloatArray, dx: FloatArray) -> None:
    """What leg k adds: its force along the leg, hence F / u_z upwards, with a moment about the centre."""
    ux, uy, uz = -math.sin(x[2]), math.cos(x[2]) * math.sin(x[1]), math.cos(x[2]) * math.cos(x[1])
    ax, ay = p[4] * math.cos(k * TURN), p[4] * math.sin(k * TURN)
    s = p[5] - (x[0] + ux * ax + uy * ay) / uz
    az = s - p[5]  # where the foot is
    # u' = u x w at the foot
    rise = (uy * x[6] - uz * x[5]) * ax + (uz * x[4] - ux * x[6]) * ay + (ux * x[5] - uy * x[4]) * az
    rate = -(x[3] + rise) / uz
    push = (p[8] + p[6] * s + p[7] * rate) / uz
    dx[3] += push / p[1]
    dx[4] += push * (ay * uz - az * uy) / p[2]
    dx[5] += push * (az * ux - ax * uz) / p[2]
    dx[6] += push * (ax * uy - ay * ux) / p[3]


def guards(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    ux, uy, uz = -math.sin(x[2]), math.cos(x[2]) * math.sin(x[1]), math.cos(x[2]) * math.cos(x[1])
    for k in range(out.size):
        out[k] = p[5] - (x[0] + p[4] * (ux * math.cos(k * TURN) + uy * math.sin(k * TURN))) / uz


def guard_row(t: float, x: FloatArray, k: int, p: FloatArray, out: FloatArray) -> None:
    """ds = -(dz + du . foot) / u_z, the foot being where the leg ends now."""
    sr, cr, sp, cp = math.sin(x[1]), math.cos(x[1]), math.sin(x[2]), math.cos(x[2])
    ax, ay = p[4] * math.cos(k * TURN), p[4] * math.sin(k * TURN)
    az = -(x[0] - sp * ax + cp * sr * ay) / (cp * cr)
    for i in range(out.size):
        out[i] = 0.0
    out[0] = -1.0 / (cp * cr)
    out[1] = -(cr * ay - sr * az) / cr
    out[2] = (cp * ax + sp * sr * ay + sp * cr * az) / (cp * cr)


LIMITS = {
    "g": NOT_NEGATIVE, "mass": POSITIVE, "I1": POSITIVE, "I3": POSITIVE, "r": POSITIVE, "L": POSITIVE, "k": POSITIVE,
    "c": NOT_NEGATIVE, "preload": NOT_NEGATIVE,
}  # fmt: skip


@takes(LIMITS)
def three_legs(**params: float) -> System:
    """A body that hops on three preloaded legs, in space.

    Usual starts in this file: START (level, so that all feet land together) and TILTED.

    Parameters
    ----------
    **params : float
        Those that differ from DEFAULTS: g, mass, I1, I3 (moments of inertia), r, L (radius and length of the legs), k, c
        (stiffness and damping), preload.

    Returns
    -------
    System
        States z, roll, pitch, vz, wx, wy and wz; guards foot0, foot1 and foot2.

    Raises
    ------
    ValueError
        If a parameter is unknown.

    Examples
    --------
    >>> import bouligand as bd
    >>> sol = bd.solve(bd.models.three_legs(c=0.0), (0.0, 0.3), [0.7, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    >>> list(sol.events.name)
    ['foot0', 'foot1', 'foot2']
    """
    unknown = set(params) - set(DEFAULTS)
    if unknown:
        raise ValueError(f"three_legs does not know {sorted(unknown)}; parameters: {', '.join(DEFAULTS)}")
    return System(
        None,
        guards,
        f0=free,
        g=contact,
        states=("z", "roll", "pitch", "vz", "wx", "wy", "wz"),
        guards=("foot0", "foot1", "foot2"),
        params={**DEFAULTS, **params},
        Dh_row=guard_row,
        name="three preloaded legs",
    )


@takes(LIMITS)
def energy(x: ArrayLike, touching: ArrayLike, **params: float) -> FloatArray:
    """Kinetic, of height, and in the springs: constant without damping. ``touching``: which feet do, e.g. ``sol.b > 0``."""
    p = {**DEFAULTS, **params}
    touching, x = np.atleast_2d(touching), np.atleast_2d(finite_numbers("x", x))
    if touching.shape[-1] != 3 or x.shape[-1] != 7:
        raise ValueError(f"x must have 7 columns, touching 3; got {x.shape[-1]} and {touching.shape[-1]}")
    z, roll, pitch, vz, wx, wy, wz = x.T
    u = np.array([-np.sin(pitch), np.cos(pitch) * np.sin(roll), np.cos(pitch) * np.cos(roll)])
    angle = TURN * np.arange(3)[:, None]
    s = p["L"] - (z + p["r"] * (u[0] * np.cos(angle) + u[1] * np.sin(angle))) / u[2]
    springs = np.sum(np.where(touching.T, p["preload"] * s + 0.5 * p["k"] * s**2, 0.0), axis=0)
    turning = p["I1"] * (wx**2 + wy**2) + p["I3"] * wz**2
    return 0.5 * (p["mass"] * vz**2 + turning) + p["mass"] * p["g"] * z + springs


@takes(LIMITS, t=NUMBERS, z0=POSITIVE, g=POSITIVE)
def exact(t: ArrayLike, z0: float = START[0], **params: float) -> tuple[FloatArray, FloatArray]:
    """(z, vz) at the times t, shape (len(t), 2), of the level body dropped from rest at z0 > L; and when it touches and leaves.

    On its feet it is a damped oscillator about the height at which the springs would carry it without their stop:
    m z'' = 3 (preload + k (L - z) - c z') - m g. Only the time of leaving needs a root.
    """
    from scipy.optimize import brentq

    p = {**DEFAULTS, **params}
    t = np.atleast_1d(np.asarray(t, dtype=float))
    out = np.empty((t.size, 2))
    crossings: list[float] = []
    stiffness, damping = 3.0 * p["k"] / p["mass"], 1.5 * p["c"] / p["mass"]
    if z0 <= p["L"] or damping**2 >= stiffness:
        raise ValueError(f"exact: the body starts above its feet (z0 > L = {p['L']:g}) and its legs are not overdamped")
    centre = (3.0 * p["preload"] / p["mass"] - p["g"]) / stiffness  # above L
    w = math.sqrt(stiffness - damping**2)

    def flight(s: Any, z: float, v: float) -> Any:
        return z + v * s - 0.5 * p["g"] * s * s, v - p["g"] * s

    def stance(s: Any, z: float, v: float) -> Any:
        y, fade = z - p["L"] - centre, np.exp(-damping * s)
        sine = (v + damping * y) / w
        y_s = fade * (y * np.cos(w * s) + sine * np.sin(w * s))
        v_s = fade * ((w * sine - damping * y) * np.cos(w * s) - (w * y + damping * sine) * np.sin(w * s))
        return p["L"] + centre + y_s, v_s

    def leaving(z: float, v: float) -> float:
        """How long a stance lasts: from its lowest point on, the height rises for half a period."""
        y = z - p["L"] - centre
        lowest = math.atan2(v, w * y + damping * (v + damping * y) / w) % math.pi / w
        top = lowest + math.pi / w
        if stance(top, z, v)[0] <= p["L"]:
            return math.inf  # it stays
        return brentq(lambda s: stance(s, z, v)[0] - p["L"], lowest, top, xtol=1e-16, rtol=1e-15)

    since, z, v, move, last = 0.0, z0, 0.0, flight, np.max(t, initial=0.0)
    while since <= last:
        if move is flight:
            length = (v + math.sqrt(v * v + 2.0 * p["g"] * (z - p["L"]))) / p["g"]
        else:
            length = leaving(z, v)
        inside = (t >= since) & (t <= since + length)
        out[inside] = np.column_stack(move(t[inside] - since, z, v))
        if length == math.inf:
            break
        since, (z, v) = since + length, move(length, z, v)
        z, move = p["L"], stance if move is flight else flight
        if since <= last:
            crossings.append(since)
        if len(crossings) > MANY:
            raise ValueError(
                f"exact: more than {MANY} crossings by t = {since:g}: 3 preload > m g, and the bounces run out"
            )
    return out, np.array(crossings)


def draw(ax: Axes, t: float, x: FloatArray, b: SignArray, p: FloatArray) -> None:
    """From the side and a little above. The heading is no state and is drawn as constant."""
    roll, pitch = x[1], x[2]
    cr, sr, cp, sp = math.cos(roll), math.sin(roll), math.cos(pitch), math.sin(pitch)
    turn = np.array([[cp, sp * sr, sp * cr], [0.0, cr, -sr], [-sp, cp * sr, cp * cr]])  # from body axes to the world's
    radius, length = p[4], p[5]
    angle = TURN * np.arange(3)
    hips = radius * np.column_stack([np.cos(angle), np.sin(angle), np.zeros(3)])
    centre = np.array([0.0, 0.0, x[0]])
    tops = centre + hips @ turn.T
    legs = np.where(b[:, None] > 0, tops[:, 2:] / turn[2, 2], length)  # pushed in until the foot is on the floor
    feet = tops - legs * turn[:, 2]
    circle = np.linspace(0.0, 2.0 * np.pi, 61)
    rim = 1.15 * radius * np.column_stack([np.cos(circle), np.sin(circle), np.zeros(61)])
    shadow = centre * [1, 1, 0] + (rim @ turn.T) * [1, 1, 0]
    ax.fill(*project(shadow, *VIEW).T, color="0.88", lw=0, zorder=0)
    for i in np.argsort(feet @ [np.cos(VIEW[0]), np.sin(VIEW[0]), 0.0]):  # the farthest first
        colour = contact_colour(b[i])
        foot, hip = project(feet[i : i + 1], *VIEW)[0], project(tops[i : i + 1], *VIEW)[0]
        ax.plot(*spring(foot, hip, width=0.018), color=colour, lw=1.5, zorder=2)
        ax.plot(*foot, "o", ms=7, color=colour, zorder=2)
    thickness = 0.05 * turn[:, 2]
    low, high = centre + rim @ turn.T - 0.3 * thickness, centre + rim @ turn.T + 0.7 * thickness
    for layer, shade in ((low, EDGE), (high, BODY)):
        ax.fill(*project(layer, *VIEW).T, facecolor=shade, edgecolor=EDGE, lw=1.2, zorder=3)
    frame(ax, t, (-0.42, 0.42), (-0.12, 0.84), floor=False)


MODEL = Model(
    about="a body on three preloaded legs",
    make=three_legs,
    start=TILTED,
    tf=1.5,
    draw=draw,
    speed=0.4,
    units={
        "t": "s",
        "z": "m",
        "roll": "rad",
        "pitch": "rad",
        "vz": "m/s",
        **dict.fromkeys(("wx", "wy", "wz"), "rad/s"),
    },
)
