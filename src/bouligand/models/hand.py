"""A hand with n fingers that closes on a disc, in the plane of a table.

            o hinge                disc: (x, y, theta), mass M, radius R, on an oil film (drag)
             \\                     finger i: one link of length l about a hinge, opened by the angle q_i, moved by
       l, q_i \\    .---.                      J q'' = -torque_i - stiffness q - damping q'
               ( )/     \\         its round tip (radius rho) touches the disc where d_i > 0, on the way in along a radius:
             tip |   +   |           d = R + rho - |tip - centre|
                  \\     /         it pushes with N = k d + c d', and drags by T = -mu N v / sqrt(v^2 + slip^2),
             ( )   '-. .'             v the speed at which the surfaces slip: Coulomb's law, smoothed over the speed `slip`
              /      ( )---o
             o                     guards, two a finger:   touches = d,   pushes = k d + c d'

A finger acts on the disc while it touches *and* pushes: a tip never pulls, and a guard ensures that, not a condition inside f.
At touchdown the force jumps to c d'; where the force ends it is zero, without a jump. The hinges stand at the angles 2 pi i / n,
so that all n contacts happen at the same instant if the disc is in the middle and all fingers are open by the same angle.

Under a constant load the smoothed friction lets the disc creep, at up to the speed `slip`. The rate mu N / (slip M) is the
fastest of the system (a few thousand per second), and steps of an explicit method cannot be longer than a few times its inverse.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ..system.system import System
from .admissible import ANY, COUNT, NOT_NEGATIVE, NUMBERS, POSITIVE, takes
from .drawing import BODY, EDGE, FREE, contact_colour, frame
from .model import Model

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from .._typing import FloatArray, SignArray

OPEN = 0.5  # rad: opening angle of the fingers at the usual start
DEFAULTS = {
    "mass": 0.1,
    "radius": 0.04,
    "drag": 0.05,
    "length": 0.08,
    "tip": 0.01,
    "inertia": 2e-4,
    "stiffness": 0.3,
    "damping": 0.02,
    "k": 2000.0,
    "c": 0.5,
    "mu": 0.8,
    "slip": 0.02,
}
FIXED = len(DEFAULTS)  # parameters before the torques
CLOSED = 0.05  # m: distance of a tip from the middle when q = 0: disc and tip just touch


def contact(x: FloatArray, k: int, m: int, p: FloatArray) -> tuple[float, float, float, float, float, float, float]:
    """Finger k of m: unit vectors to the disc's centre (nx, ny) and along the link (wx, wy), depth d, its rate, speed of slip."""
    angle = 2.0 * math.pi * k / m + x[3 + k]
    ex, ey = math.cos(angle - x[3 + k]), math.sin(angle - x[3 + k])
    wx, wy = math.sin(angle), -math.cos(angle)  # from the hinge to the tip
    length, turning = p[3], x[6 + m + k]
    apart_x = x[0] - CLOSED * ex + length * ey - length * wx
    apart_y = x[1] - CLOSED * ey - length * ex - length * wy
    distance = math.sqrt(apart_x * apart_x + apart_y * apart_y)
    nx, ny = apart_x / distance, apart_y / distance
    vx, vy = (
        x[3 + m] + length * turning * wy,
        x[4 + m] - length * turning * wx,
    )  # velocity of the disc's centre relative to the tip
    slipping = vy * nx - vx * ny - x[5 + m] * p[1] - turning * p[4]
    return nx, ny, wx, wy, p[1] + p[4] - distance, -(vx * nx + vy * ny), slipping


@cache
def _functions() -> tuple[Callable[..., None], Callable[..., None]]:
    """f and h, which share `contact`: compiled once, for any number of fingers."""
    from numba import njit

    look = njit(contact, nogil=True, error_model="numpy")

    def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
        m = b.size // 2
        force_x, force_y, moment = 0.0, 0.0, 0.0
        for k in range(m):
            dx[3 + k] = x[6 + m + k]
            torque = -p[FIXED + k] - p[6] * x[3 + k] - p[7] * x[6 + m + k]
            if b[k] > 0.0 and b[m + k] > 0.0:
                nx, ny, wx, wy, depth, rate, slipping = look(x, k, m, p)
                push = p[8] * depth + p[9] * rate
                drag = -p[10] * push * slipping / math.sqrt(slipping * slipping + p[11] * p[11])
                fx, fy = push * nx - drag * ny, push * ny + drag * nx
                force_x += fx
                force_y += fy
                moment -= p[1] * drag
                torque -= (p[3] * wx + p[4] * nx) * fy - (p[3] * wy + p[4] * ny) * fx
            dx[6 + m + k] = torque / p[5]
        dx[0] = x[3 + m]
        dx[1] = x[4 + m]
        dx[2] = x[5 + m]
        dx[3 + m] = (force_x - p[2] * x[3 + m]) / p[0]
        dx[4 + m] = (force_y - p[2] * x[4 + m]) / p[0]
        dx[5 + m] = (2.0 * moment / (p[1] * p[1]) - p[2] * x[5 + m]) / p[0]

    def guards(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
        m = out.size // 2
        for k in range(m):
            _, _, _, _, depth, rate, _ = look(x, k, m, p)
            out[k] = depth
            out[m + k] = p[8] * depth + p[9] * rate

    return field, guards


LIMITS = {
    "fingers": COUNT, "torque": NUMBERS, "mass": POSITIVE, "radius": POSITIVE, "drag": NOT_NEGATIVE,
    "length": POSITIVE, "tip": NOT_NEGATIVE, "inertia": POSITIVE, "stiffness": NOT_NEGATIVE, "damping": NOT_NEGATIVE,
    "k": POSITIVE, "c": NOT_NEGATIVE, "mu": NOT_NEGATIVE, "slip": POSITIVE,
}  # fmt: skip


@takes(LIMITS)
def hand(fingers: int = 3, torque: ArrayLike = 0.16, **params: float) -> System:
    """A hand that closes on a disc, in the plane of a table.

    The usual start is ``start(fingers)`` in this file. If the disc is off the middle, the contacts are nearly simultaneous, not
    exactly.

    Parameters
    ----------
    fingers : int
        Number of fingers, at least 1.
    torque : float or array (fingers,)
        Closing torque of all fingers, or of each.
    **params : float
        Those that differ from DEFAULTS: mass, radius, drag, length, tip, inertia, stiffness, damping, k, c, mu, slip.

    Returns
    -------
    System
        States x, y, theta (disc), q0, q1, ... (fingers), and their rates; two guards for each finger, "touches" and "pushes".

    Raises
    ------
    ValueError
        If a parameter is unknown, or the number of fingers or torques is wrong.

    Examples
    --------
    >>> import bouligand as bd
    >>> hand = bd.models.hand(4, mu=0.5)
    >>> hand.guards[3], hand.guards[7]
    ('finger3 touches', 'finger3 pushes')
    """
    unknown = set(params) - set(DEFAULTS)
    if unknown:
        raise ValueError(f"hand does not know {sorted(unknown)}; parameters: torque, {', '.join(DEFAULTS)}")
    torque = np.asarray(torque)
    if torque.size not in (1, fingers):
        raise ValueError(f"torque must be a number, or one for each of the {fingers} fingers; got {torque!r}")
    field, guards = _functions()
    every = range(int(fingers))
    torques = {f"torque{i}": float(value) for i, value in enumerate(np.broadcast_to(torque, fingers))}
    return System(
        field,
        guards,
        states=("x", "y", "theta", *(f"q{i}" for i in every), "vx", "vy", "omega", *(f"u{i}" for i in every)),
        guards=(*(f"finger{i} touches" for i in every), *(f"finger{i} pushes" for i in every)),
        params={**DEFAULTS, **params, **torques},
        name=f"hand with {fingers} fingers",
    )


@takes(LIMITS, x=ANY, y=ANY, opened=ANY)
def start(fingers: int = 3, x: float = 0.0, y: float = 0.0, opened: float = OPEN) -> FloatArray:
    """The state in which all fingers are open by the same angle and at rest, and the disc lies at rest at (x, y)."""
    out = np.zeros(2 * (3 + fingers))
    out[:2] = x, y
    out[3 : 3 + fingers] = opened
    return out


def draw(ax: Axes, t: float, x: FloatArray, b: SignArray, p: FloatArray) -> None:
    """From above: the disc with a radial mark on it, and the fingers around it."""
    fingers = len(b) // 2
    radius, length, tip = p[1], p[3], p[4]
    circle = np.linspace(0.0, 2.0 * np.pi, 121)
    ax.fill(x[0] + radius * np.cos(circle), x[1] + radius * np.sin(circle), facecolor=BODY, edgecolor=EDGE, lw=1.5)
    mark = radius * np.array([0.3, 0.9])
    ax.plot(x[0] + mark * np.cos(x[2]), x[1] + mark * np.sin(x[2]), color=EDGE)
    for i in range(fingers):
        angle = 2.0 * math.pi * i / fingers
        hinge = CLOSED * np.array([math.cos(angle), math.sin(angle)])
        hinge += length * np.array([-math.sin(angle), math.cos(angle)])
        end = hinge + length * np.array([math.sin(angle + x[3 + i]), -math.cos(angle + x[3 + i])])
        ax.plot([hinge[0], end[0]], [hinge[1], end[1]], color=FREE, lw=6, solid_capstyle="round", zorder=2)
        ax.plot(*hinge, "o", ms=10, color="0.95", mec=FREE, mew=2, zorder=3)
        ax.fill(end[0] + tip * np.cos(circle), end[1] + tip * np.sin(circle), color=contact_colour(b[i]), zorder=4)
    frame(ax, t, (-0.13, 0.13), (-0.13, 0.13), floor=False)


MODEL = Model(
    about="a hand that closes on a disc",
    make=hand,
    start=lambda fingers: start(fingers, 0.002, 0.001),
    tf=0.12,
    draw=draw,
    size=3,
    speed=0.03,
    units={
        "t": "s",
        "x": "m",
        "y": "m",
        "theta": "rad",
        "q": "rad",
        "vx": "m/s",
        "vy": "m/s",
        "omega": "rad/s",
        "u": "rad/s",
    },
)
