"""A rigid plate that falls onto a bed of springs (the paper's section 5.2), in the plane.

                 \\
          ________\\__ theta          state (x, z, theta, vx, vz, omega), mass, length; inertia m l^2 / 12
         /  (x, z)                   spring i stands at s_i, its free top at height L0
        |   |   |   |                h_i = L0 + tan(theta) (x - s_i) - z: how deep its top would be
        $   $   $   $  springs       F_i = k h_i + c hdot_i along the plate's normal (-sin theta, cos theta)
      __|___|___|___|__  s_i         while it touches (b_i > 0)

Just before it releases, a spring may pull for a moment (where c hdot < 0 outweighs k h): release is where h = 0, as in the paper.
Each spring has a guard. The field is a sum over contacts, and declared as one (`f0`, `g`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..system.system import System
from .admissible import COUNT, NOT_NEGATIVE, POSITIVE, VECTOR, takes
from .drawing import EDGE, contact_colour, frame, spring
from .model import Model

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from .._typing import FloatArray, IntArray, SignArray

LENGTH = 2.0
START = np.array([0.0, 2.637, -0.046, 0.0, 0.0, 0.0])
FIXED = 6  # parameters before the positions: g, mass, inertia, L0, k, c


def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    """f: force and moment are sums over the springs, of powers of the distance d between spring and centre of mass."""
    sine, cosine = math.sin(x[2]), math.cos(x[2])
    slope, stretch = sine / cosine, 1.0 / (cosine * cosine)
    k, c = p[4], p[5]
    at_zero = k * (p[3] - x[1]) + c * (slope * x[3] - x[4])  # the force of a contact at d = 0 ...
    per_d = k * slope + c * stretch * x[5]  # ... and its increase with d
    force = 0.0
    moment = 0.0
    for i in range(b.size):
        touching = 0.5 * (1.0 + b[i])
        d = x[0] - p[FIXED + i]
        push = touching * (at_zero + per_d * d)
        force += push
        moment += push * d
    dx[0] = x[3]
    dx[1] = x[4]
    dx[2] = x[5]
    dx[3] = -force * sine / p[1]
    dx[4] = force * cosine / p[1] - p[0]
    dx[5] = -moment / (cosine * p[2])


def field_jacobian(t: float, x: FloatArray, b: FloatArray, p: FloatArray, out: FloatArray) -> None:
    """Df: the same sums, up to the second power of d."""
    sine, cosine = math.sin(x[2]), math.cos(x[2])
    slope, stretch = sine / cosine, 1.0 / (cosine * cosine)
    k, c = p[4], p[5]
    at_zero = k * (p[3] - x[1]) + c * (slope * x[3] - x[4])
    per_d = k * slope + c * stretch * x[5]
    s0 = 0.0
    s1 = 0.0
    s2 = 0.0
    for i in range(b.size):
        touching = 0.5 * (1.0 + b[i])
        d = x[0] - p[FIXED + i]
        s0 += touching
        s1 += touching * d
        s2 += touching * d * d
    turn0, turn1 = c * stretch * x[3], k * stretch + 2.0 * c * stretch * slope * x[5]
    # force and moment by each state
    force = (per_d * s0, -k * s0, turn0 * s0 + turn1 * s1, c * slope * s0, -c * s0, c * stretch * s1)
    moment = (
        at_zero * s0 + 2.0 * per_d * s1,
        -k * s1,
        turn0 * s1 + turn1 * s2,
        c * slope * s1,
        -c * s1,
        c * stretch * s2,
    )
    for i in range(3):
        for j in range(6):
            out[i, j] = 1.0 if j == i + 3 else 0.0
    along, across, turning = -sine / p[1], cosine / p[1], -1.0 / (cosine * p[2])
    for j in range(6):
        out[3, j] = force[j] * along
        out[4, j] = force[j] * across
        out[5, j] = moment[j] * turning
    whole, torque = at_zero * s0 + per_d * s1, at_zero * s1 + per_d * s2
    out[3, 2] -= whole * across
    out[4, 2] += whole * along
    out[5, 2] += torque * slope * turning


def field_by_parameters(t: float, x: FloatArray, b: FloatArray, p: FloatArray, out: FloatArray) -> None:
    """Dp_f, in the order g, mass, inertia, L0, k, c, positions."""
    sine, cosine = math.sin(x[2]), math.cos(x[2])
    slope, stretch = sine / cosine, 1.0 / (cosine * cosine)
    k, c = p[4], p[5]
    depth, rate = p[3] - x[1], slope * x[3] - x[4]
    at_zero, per_d = k * depth + c * rate, k * slope + c * stretch * x[5]
    s0 = 0.0
    s1 = 0.0
    s2 = 0.0
    for i in range(6):
        for j in range(p.size):
            out[i, j] = 0.0
    for i in range(b.size):
        touching = 0.5 * (1.0 + b[i])
        d = x[0] - p[FIXED + i]
        s0 += touching
        s1 += touching * d
        s2 += touching * d * d
        out[3, FIXED + i] = touching * per_d * sine / p[1]
        out[4, FIXED + i] = -touching * per_d * cosine / p[1]
        out[5, FIXED + i] = touching * (at_zero + 2.0 * per_d * d) / (cosine * p[2])
    force, moment = at_zero * s0 + per_d * s1, at_zero * s1 + per_d * s2
    out[4, 0] = -1.0
    out[3, 1] = force * sine / (p[1] * p[1])
    out[4, 1] = -force * cosine / (p[1] * p[1])
    out[5, 2] = moment / (cosine * p[2] * p[2])
    by = (
        (3, k * s0, k * s1),
        (4, depth * s0 + slope * s1, depth * s1 + slope * s2),
        (5, rate * s0 + stretch * x[5] * s1, rate * s1 + stretch * x[5] * s2),
    )
    for j, push, turn in by:
        out[3, j] = -push * sine / p[1]
        out[4, j] = push * cosine / p[1]
        out[5, j] = -turn / (cosine * p[2])


def guards_by_parameters(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    slope = math.tan(x[2])
    for i in range(out.shape[0]):
        for j in range(p.size):
            out[i, j] = 0.0
        out[i, 3] = 1.0
        out[i, FIXED + i] = -slope


def free(t: float, x: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    dx[0] = x[3]
    dx[1] = x[4]
    dx[2] = x[5]
    dx[3] = 0.0
    dx[4] = -p[0]
    dx[5] = 0.0


def contact(t: float, x: FloatArray, k: int, p: FloatArray, dx: FloatArray) -> None:
    sine, cosine = math.sin(x[2]), math.cos(x[2])
    d = x[0] - p[FIXED + k]
    depth = p[3] + sine / cosine * d - x[1]
    rate = sine / cosine * x[3] - x[4] + d * x[5] / (cosine * cosine)
    push = p[4] * depth + p[5] * rate
    dx[3] -= push * sine / p[1]
    dx[4] += push * cosine / p[1]
    dx[5] -= push * d / (cosine * p[2])


def contact_many(t: float, x: FloatArray, ks: IntArray, p: FloatArray, out: FloatArray) -> None:
    """Several contacts at once: the angle's sine and cosine are the same for all."""
    sine, cosine = math.sin(x[2]), math.cos(x[2])
    slope = sine / cosine
    at_zero = p[4] * (p[3] - x[1]) + p[5] * (slope * x[3] - x[4])
    per_d = p[4] * slope + p[5] * x[5] / (cosine * cosine)
    along, across, turning = -sine / p[1], cosine / p[1], -1.0 / (cosine * p[2])
    for i in range(ks.size):
        d = x[0] - p[FIXED + ks[i]]
        push = at_zero + per_d * d
        out[3, i] = push * along
        out[4, i] = push * across
        out[5, i] = push * d * turning


def guards(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    slope = math.tan(x[2])
    top = p[3] + slope * x[0] - x[1]
    for i in range(out.size):
        out[i] = top - slope * p[FIXED + i]


def guard_row(t: float, x: FloatArray, k: int, p: FloatArray, out: FloatArray) -> None:
    cosine = math.cos(x[2])
    for i in range(out.size):
        out[i] = 0.0
    out[0] = math.tan(x[2])
    out[1] = -1.0
    out[2] = (x[0] - p[FIXED + k]) / (cosine * cosine)


@cache
def _sums_in_any_order(function: Callable[..., None]) -> Any:
    """Compiled so that its sums may be reordered, and so become vector code: four times faster with 500 contacts."""
    from numba import njit

    return njit(function, nogil=True, error_model="numpy", fastmath={"reassoc", "nsz", "contract"})


LIMITS = {
    "contacts": COUNT, "stiffness": NOT_NEGATIVE, "damping": NOT_NEGATIVE, "mass": POSITIVE, "g": NOT_NEGATIVE,
    "L0": NOT_NEGATIVE, "positions": VECTOR,
}  # fmt: skip


@takes(LIMITS)
def plate(
    contacts: int = 2,
    stiffness: float = 2000.0,
    damping: float = 5.0,
    mass: float = 1.0,
    g: float = 9.81,
    L0: float = 1.0,
    positions: ArrayLike | None = None,
) -> System:
    """A rigid plate that falls onto a bed of springs, in the plane (the paper's section 5.2).

    The usual start is START in this file.

    Parameters
    ----------
    contacts : int
        Number of springs, evenly spaced along the plate.
    stiffness, damping : float
        Of all springs together; each has an equal share.
    mass, g : float
        Mass of the plate, and gravity.
    L0 : float
        Height of an unloaded spring.
    positions : array, optional
        Positions of the springs, instead of their number.

    Returns
    -------
    System
        States x, z, theta, vx, vz and omega; guards spring0, spring1, ... The field is declared as a sum over contacts.

    Raises
    ------
    ValueError
        If there is no spring.

    Examples
    --------
    >>> import bouligand as bd
    >>> plate = bd.models.plate(100)
    >>> plate.n, plate.m, plate.guards[-1]
    (6, 100, 'spring99')
    """
    if positions is None:
        positions = np.linspace(-LENGTH / 2, LENGTH / 2, contacts) if contacts > 1 else np.zeros(1)
    positions = np.asarray(positions)
    contacts = positions.size
    params = {
        "g": g,
        "mass": mass,
        "inertia": mass * LENGTH**2 / 12,
        "L0": L0,
        "k": stiffness / contacts,
        "c": damping / contacts,
        **{f"s{i}": s for i, s in enumerate(positions)},
    }
    return System(
        _sums_in_any_order(field),
        guards,
        states=("x", "z", "theta", "vx", "vz", "omega"),
        guards=tuple(f"spring{i}" for i in range(contacts)),
        params=params,
        f0=free,
        g=contact,
        g_many=contact_many,
        Dh_row=guard_row,
        Df=_sums_in_any_order(field_jacobian),
        Dp_f=field_by_parameters,
        Dp_h=guards_by_parameters,
        name=f"plate on {contacts} springs",
    )


def draw(ax: Axes, t: float, x: FloatArray, b: SignArray, p: FloatArray) -> None:
    """The plate, seen along its edge, over the springs."""
    sine, cosine = math.sin(x[2]), math.cos(x[2])
    positions = p[FIXED:]
    for s, sign in zip(positions, b, strict=True):
        top = p[3] if sign < 0 else x[1] + sine / cosine * (s - x[0])
        if len(positions) <= 20:
            ax.plot(*spring((s, 0.0), (s, top), width=0.03), color=contact_colour(sign), lw=1.2)
        else:  # too many for coils
            ax.plot([s, s], [0.0, top], color=contact_colour(sign), lw=0.8)
    ends = np.array([-0.5, 0.5]) * LENGTH
    ax.plot(x[0] + ends * cosine, x[1] + ends * sine, color=EDGE, lw=5, solid_capstyle="round")
    frame(ax, t, (-1.5, 1.5), (-0.1, 2.8))


MODEL = Model(
    about="a plate that falls onto springs",
    make=plate,
    start=START,
    tf=2.0,
    draw=draw,
    size=10,
    speed=0.5,
    units={"t": "s", "x": "m", "z": "m", "theta": "rad", "vx": "m/s", "vz": "m/s", "omega": "rad/s"},
)
