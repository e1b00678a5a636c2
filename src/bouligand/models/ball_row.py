"""Balls in a row that hit one another, as in Newton's cradle.

    ( )->   ( )    <-( )        x_i'' = 0        guard i: h = x_(i+1) - x_i
                                jump: momentum is kept, the relative speed is reversed and multiplied by the restitution e

Equal elastic balls exchange their speeds, so that at any time the balls are where they would be if they passed through one
another, in order: `exact`. Where a ball is hit from both sides at the same instant the outcome depends on the order of the
two impacts; that is refused (`JumpOrderError`), unless an order is declared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..system.system import System
from .admissible import FRACTION, NUMBERS, VECTOR, Whole, takes
from .drawing import BODY, EDGE, frame
from .model import Model

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from .._typing import FloatArray, Guard, SignArray


def field(t: float, x: FloatArray, b: FloatArray, p: FloatArray, dx: FloatArray) -> None:
    count = x.size // 2
    for i in range(count):
        dx[i] = x[count + i]
        dx[count + i] = 0.0


def guards(t: float, x: FloatArray, p: FloatArray, out: FloatArray) -> None:
    for i in range(out.size):
        out[i] = x[i + 1] - x[i]


def _impact(i: int, count: int) -> Callable[..., None]:
    """The impact of balls i and i + 1."""

    def impact(t: float, x: FloatArray, b: FloatArray, p: FloatArray, xnew: FloatArray) -> None:
        mine, other = p[1 + i], p[2 + i]
        change = (1.0 + p[0]) * (x[count + i + 1] - x[count + i]) / (mine + other)
        xnew[count + i] = x[count + i] + other * change
        xnew[count + i + 1] = x[count + i + 1] - mine * change

    return impact


LIMITS = {"count": Whole(2), "restitution": FRACTION}


@takes(LIMITS)
def ball_row(count: int = 3, restitution: float = 1.0, order: Iterable[Guard] | None = None) -> System:
    """Balls in a row that hit one another.

    Parameters
    ----------
    count : int
        Their number, at least 2.
    restitution : float
        Relative speed behind an impact over that before it.
    order : sequence of guards, optional
        The order of impacts at the same instant; without it they are refused where the order matters.

    Returns
    -------
    System
        States x0, x1, ..., v0, v1, ...; guards "0-1", "1-2", ..., with jumps; parameters e and the masses m0, m1, ...

    Examples
    --------
    >>> import bouligand as bd
    >>> sol = bd.solve(bd.models.ball_row(2), (0.0, 2.0), [0.0, 1.0, 1.0, 0.0])
    >>> sol.x[-1].round(9).tolist()  # the second one goes on with the speed of the first
    [1.0, 2.0, 0.0, 1.0]
    """
    names = tuple(f"{i}-{i + 1}" for i in range(count - 1))
    jumps: dict[Any, Callable[..., None]] = {name: _impact(i, count) for i, name in enumerate(names)}
    return System(
        field,
        guards,
        states=(*(f"x{i}" for i in range(count)), *(f"v{i}" for i in range(count))),
        guards=names,
        params={"e": restitution, **{f"m{i}": 1.0 for i in range(count)}},
        jumps=jumps,
        order=order,
        name=f"{count} balls in a row",
    )


@takes(LIMITS, t=NUMBERS, x0=VECTOR)
def exact(t: ArrayLike, x0: ArrayLike) -> FloatArray:
    """Positions of equal elastic balls at the times t, shape (len(t), count): those of balls that pass through one another."""
    start = np.asarray(x0, dtype=float)
    if start.size % 2:
        raise ValueError(f"x0 must have a place and a speed for each ball; got {start.size} values")
    places, speeds = np.split(start, 2)
    return np.sort(places + np.atleast_1d(np.asarray(t, dtype=float))[:, None] * speeds, axis=1)


def draw(ax: Axes, t: float, x: FloatArray, b: SignArray, p: FloatArray) -> None:
    """The balls."""
    count = len(x) // 2
    ax.plot(x[:count], np.zeros(count), "o", ms=14, color=BODY, mec=EDGE, mew=1.5)
    frame(ax, t, (-2.0, count + 1.1), (-0.5, 0.5))


def _start(count: int) -> FloatArray:
    """The first one comes fast, the last one slowly, the others are at rest."""
    speeds = np.zeros(count)
    speeds[0], speeds[-1] = 1.0, -0.3
    return np.r_[np.arange(float(count)), speeds]


MODEL = Model(
    about="balls in a row that hit one another",
    make=ball_row,
    start=_start,
    tf=4.0,
    size=3,
    draw=draw,
    units={"t": "s", "x": "m", "v": "m/s"},
)
