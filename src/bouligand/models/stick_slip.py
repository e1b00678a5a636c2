r"""A mass on a moving belt, held by a spring: it sticks, is carried along, tears off, slides back, sticks again.

    |            ___              x'' = -k x - b (friction - weakening |v - belt|),  b = sign(v - belt)
    |/\/\/\/\/\/|   |                 = -k x - b friction + weakening (v - belt)           (per unit of mass)
    |        (o)=====(o) -->      guard: h = v - belt
               belt               sliding mode: v = belt while |k x| < friction, the mass sticks

Friction becomes weaker with the speed of sliding, which makes the steady sliding unstable. Whatever its start, once the mass has
stuck it tears off at the same point, so that it is on the periodic cycle from then on. Both parts of the cycle are linear, see
`cycle`. (The law holds while |v - belt| < friction / weakening.)
"""

from __future__ import annotations

import cmath
from typing import TYPE_CHECKING

import numpy as np

from ..system.system import System
from .admissible import ANY, NOT_NEGATIVE, POSITIVE, takes
from .drawing import BODY, EDGE, FLOOR, FREE, TOUCHING, frame, spring
from .model import Model

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .._typing import FloatArray, SignArray

START = np.array([0.0, 0.0])


def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    dx[0] = x[1]
    dx[1] = -p[0] * x[0] - p[1] * b[0] + p[2] * (x[1] - p[3])


def guard(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    out[0] = x[1] - p[3]


LIMITS = {"k": POSITIVE, "friction": NOT_NEGATIVE, "weakening": NOT_NEGATIVE, "belt": ANY}


@takes(LIMITS)
def stick_slip(k: float = 1.0, friction: float = 1.0, weakening: float = 0.2, belt: float = 0.5) -> System:
    """A mass on a moving belt, held by a spring, that sticks and slips by turns.

    The usual start, START in this file, is at rest with the spring relaxed.

    Parameters
    ----------
    k : float
        Stiffness of the spring over mass.
    friction : float
        Dry friction at rest over mass.
    weakening : float
        By how much friction over mass falls with the speed of sliding.
    belt : float
        Speed of the belt.

    Returns
    -------
    System
        States x and v, guard "belt", with a sliding mode: the mass sticks to the belt.

    Examples
    --------
    >>> import bouligand as bd
    >>> sol = bd.solve(bd.models.stick_slip(), (0.0, 30.0), [0.0, 0.0], rtol=1e-9)
    >>> stuck, tears = sol.events.t[:2]
    >>> sol.word(0.5 * (stuck + tears)), round(float(sol(tears)[0]), 6)
    (array([0], dtype=int8), 1.0)
    """
    return System(
        field,
        guard,
        states=("x", "v"),
        guards=("belt",),
        params={"k": k, "friction": friction, "weakening": weakening, "belt": belt},
        sliding="filippov",
        name="stick-slip",
    )


@takes(LIMITS, belt=POSITIVE)
def cycle(
    k: float = 1.0, friction: float = 1.0, weakening: float = 0.2, belt: float = 0.5
) -> tuple[float, float, float]:
    """The periodic cycle: how long it slips, how long it sticks, and where it sticks first.

    It tears off at x = friction / k with the speed of the belt. Then, about ``centre``, y'' = weakening y' - k y.
    """
    tears = friction / k
    centre = (friction - weakening * belt) / k
    root = cmath.sqrt(weakening**2 / 4.0 - k)
    one, other = weakening / 2.0 + root, weakening / 2.0 - root
    first = (belt - other * (tears - centre)) / (one - other)
    second = tears - centre - first

    def slipping(s: float) -> tuple[float, float]:
        y, v = first * cmath.exp(one * s), second * cmath.exp(other * s)
        return centre + (y + v).real, (one * y + other * v).real

    turn = 2.0 * np.pi / abs(root.imag)
    low, high = 0.5 * turn, turn  # v is below that of the belt at half a turn, and above it before a turn is complete
    while low < (middle := 0.5 * (low + high)) < high:
        if slipping(middle)[1] < belt:
            low = middle
        else:
            high = middle
    sticks = slipping(high)[0]
    return high, (tears - sticks) / belt, sticks


def draw(ax: Axes, t: float, x: FloatArray, b: SignArray, p: FloatArray) -> None:
    """The mass on its spring; red while it sticks. The marks move with the belt."""
    colour = TOUCHING if b[0] == 0 else FREE
    ax.plot([-2.0, -2.0], [0.0, 0.7], color=FREE, lw=2.0)
    ax.plot(*spring((-2.0, 0.25), (x[0] - 0.25, 0.25), width=0.1), color=colour, lw=1.4)
    ax.fill(x[0] + np.array([-0.25, 0.25, 0.25, -0.25]), [0.0, 0.0, 0.5, 0.5], facecolor=BODY, edgecolor=EDGE, lw=1.5)
    ax.plot([x[0] - 0.25, x[0] + 0.25], [0.0, 0.0], color=colour, lw=3.0)
    for mark in -1.8 + np.mod(p[3] * t + np.arange(0.0, 4.0, 0.5), 4.0):
        ax.plot([mark, mark - 0.1], [0.0, -0.12], color=FLOOR, lw=1.2)
    frame(ax, t, (-2.2, 2.4), (-0.4, 1.1))


MODEL = Model(
    about="a mass on a moving belt that sticks and slips",
    make=stick_slip,
    start=START,
    tf=30.0,
    draw=draw,
    speed=3.0,
    units={"t": "s", "x": "m", "v": "m/s"},
    cycle={"section": "belt", "settle": 30.0},
)
